"""Faults that fuzzing found, each as the smallest case that showed it."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import clover_sim as cs
from clover_sim.acceptance import from_rate
from clover_sim.cli import main

STEPS = '{"step_map": [1, 1, 2, 3], "block_size": 4}\n'
ABSURD = "1" + "0" * 30
MILLION = "1000000"
"""Absurd enough for a tree, and no danger to the machine where it is not refused."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_trace_without_texts_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jsonl").write_text(STEPS)
    assert main(["trace", "--trace", "t.jsonl"]) == 0
    table = capsys.readouterr().out
    assert all(f"\n{position:>3}  " in table for position in range(4))
    assert main(["trace", "--trace", "t.jsonl", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["texts"]) == len(document["classes"]) == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [('"stream"', '"strean"'), ('"options"', '"option"'), ('"tokens":', '"token":'), ('"target_passes":', '"target":'),
     ('"target_passes":', '"target_passes":9'), ('"block-diffusion"', "7")],
)  # fmt: skip
def test_a_changed_cell_is_no_result(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--vary", "threshold=0.9,0.95", "--tokens", "16", "--jobs", "1", "--resume", "cells.jsonl"]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert main(words) == 0 and capsys.readouterr().out == first
    cells = Path("cells.jsonl")
    cells.write_text(cells.read_text().replace(old, new))
    assert main(words) == 3
    assert "line 2 is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["price", "x" * 3000], ["x" * 3000], ["compare", "-s", "ar:" + "x" * 3000 + "=1"]])
def test_messages_are_about_a_thousand_characters_at_most(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert 900 < len(capsys.readouterr().err) < 1100


@pytest.mark.parametrize(
    "strategy",
    [
        f"eagle:speculative_num_draft_tokens={MILLION}", f"eagle-tree:speculative_eagle_topk={MILLION}",
        f"eagle-tree:speculative_num_steps={MILLION}", f"dflash2:speculative_num_draft_tokens={ABSURD}",
        f"speculative:num_speculative_tokens={ABSURD}", f"mtp:speculative_num_draft_tokens={ABSURD}",
    ],
)  # fmt: skip
def test_absurd_drafts_are_refused_by_the_name_of_their_option(
    strategy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--tokens", "8", "-s", strategy]) == 2
    assert "expected" in capsys.readouterr().err


def test_an_absurd_draft_length_of_a_log_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    timing = "llama_perf_context_print:        eval time =    8806.60 ms /   855 runs   (   10.30 ms "
    Path("server.log").write_text(f"n_draft   = 90000\nn_drafted = 912\nn_accept  = 313\ndraft:\n\n{timing}")
    assert main(["explain", "server.log", "--model", "qwen3-8b", "--gpu", "h100"]) in (2, 3)
    assert "90000" in capsys.readouterr().err


def test_a_block_beyond_any_number_of_json_is_decoded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--tokens", "8", "-s", f"block-diffusion:block_size={2**64}"]) == 0
    assert "block_size=18446744073709551616" in capsys.readouterr().out


def test_a_weight_beyond_any_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--tokens", "8", "-s", "dinfer-credit:credit_alpha=9223372036854775808"]) == 2
    assert "credit_alpha" in capsys.readouterr().err
    heaviest = "dinfer-credit:credit_alpha=100,decay_beta=1"
    assert main(["compare", "--tokens", "64", "--profile", "context", "-s", heaviest]) == 0


@pytest.mark.parametrize("accuracy", ["[]", '"x"', "nan", "-1", "{}", "true"])
def test_an_accuracy_that_is_no_number_is_named(accuracy: str, capsys: pytest.CaptureFixture[str]) -> None:
    quality = f"[quality]\naccuracy = {accuracy}\nscale = 0.04\ngrowth = 3.4\n"
    Path("mine.toml").write_text(f"[confidence]\nmu = 7.0\nsd = 3.7\n{quality}")
    assert main(["compare", "--tokens", "8", "--profile", "context:workload=mine.toml"]) == 3
    assert "accuracy" in capsys.readouterr().err


PACKED = gzip.compress(STEPS.encode(), mtime=0)


@pytest.mark.parametrize("packed", [PACKED, PACKED[:2], PACKED[:-9]], ids=["whole", "nothing", "cut"])
def test_a_packed_trace_is_closed(packed: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jsonl.gz").write_bytes(packed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        main(["compare", "--trace", "t.jsonl.gz", "-s", "ar"])
    assert [str(w.message) for w in said] == []


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\u2028"])
def test_messages_are_one_line_whatever_stands_in_them(end: str) -> None:
    with pytest.raises(cs.UsageError) as error:
        cs.build_strategy(f"p-eagle:clustering=a{end}b")
    assert len(str(error.value).splitlines()) == 1


ODD_CALLS: dict[str, Any] = {
    "no width": lambda: cs.price(widths=()),
    "no batch": lambda: cs.price(batch_sizes=()),
    "no context": lambda: cs.price(contexts=()),
    "width 0": lambda: cs.price(widths=(0,)),
    "huge width": lambda: cs.price(widths=(10**400,)),
    "negative batch": lambda: cs.price(batch_sizes=(-(10**30),)),
    "negative context": lambda: cs.price(contexts=(-1,)),
    "huge answer": lambda: cs.price(output_tokens=10**400),
    "no draft": lambda: cs.speculate(most_k=-1),
    "empty run of a schedule": lambda: cs.speculate(schedule=((),)),  # type: ignore[arg-type]
    "short run of a schedule": lambda: cs.speculate(schedule=((2, 1),)),  # type: ignore[arg-type]
    "huge cache": lambda: cs.speculate(context_tokens=10**400),
    "bushy tree": lambda: cs.speculate(None, "eagle-tree", "code", topk=10**5),
    "no ledger": lambda: serve(pool=0),
    "no users": lambda: serve(users_ladder=(0,)),
    "users beyond any ladder": lambda: serve(users_ladder=(5000,)),
    "no burst": lambda: serve(burst=0),
    "huge burst": lambda: serve(burst=10**400, rate_per_s=1.0),
    "thinking backwards": lambda: serve(users=2, think_s=float("-inf")),
    "a target that is never missed": lambda: serve(per_token_target_s=float("inf")),
    "a target that is no number": lambda: serve(first_token_target_s=float("nan")),
    "policy": lambda: serve(policy="x"),
    "rule of the cache": lambda: serve(cache_rule="x"),
    "chance of 100": lambda: agent(failure=cs.Failure(loop_per_1000=100.0)),
    "chance that is no number": lambda: agent(failure=cs.Failure(structural=float("nan"))),
    "huge batch": lambda: agent(batch_size=10**400),
    "huge chain": lambda: from_rate(0.5, 10**400),
    "huge text": lambda: cs.compare(["ar"], tokens=10**400),
}


def serve(**given: Any) -> Any:
    traffic = {name: given.pop(name) for name in [*given] if name in cs.Traffic.__slots__}
    return cs.serve(["ar"], cs.Traffic(**{"requests": 5, "users_ladder": (), **traffic}), **{"pool": 3, **given})


def agent(**keywords: Any) -> Any:
    return cs.agent("web-task", ["ar"], tasks=1, **keywords)


@pytest.mark.parametrize("call", ODD_CALLS.values(), ids=ODD_CALLS.keys())
def test_calls_refuse_what_the_command_line_refuses(call: Any) -> None:
    with pytest.raises((cs.UsageError, cs.InputError)):
        call()


def test_the_value_of_a_flag_before_the_command_is_not_taken_for_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--color", "serve", "auto"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_rate_that_is_none_is_refused_beside_users_too(rate: float) -> None:
    with pytest.raises(cs.UsageError, match="rate"):
        cs.serve(["ar"], cs.Traffic(requests=5, rate_per_s=rate, users=1, users_ladder=()), pool=3)


def test_a_page_of_two_files_of_one_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams, and yet no row differs in its tokens."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(f"{name[0]} word " * 40)
    assert main(["compare", "--tokens", "24", "--input", "a.txt", "b.txt", "--export", "out.html", "-q"]) == 0
    assert '"stream"' in Path("out.html").read_text()
