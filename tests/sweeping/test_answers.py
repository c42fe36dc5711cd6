"""The answer of a sweep: what may be best without a word, what is best where, and what a model was made for."""

from __future__ import annotations

import json
import math
import re
import statistics
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.comparison import compare
from clover_sim.errors import UsageError
from clover_sim.sweeping import sweep
from clover_sim.sweeping._judge import check_metric, parse_where

LOOSE: dict[str, Any] = {"vary": "threshold=0.5,0.7,0.9,0.99", "profile": "tool-call", "tokens": 256, "seeds": range(3)}


def rate(row: Any) -> float:
    return 1000 * row["locked_errors"] / row["tokens"]


def naive_best(rows: Any, key: str, most: float = float("inf")) -> int | None:
    """The first of those with the largest value among rows of at most so many errors."""
    allowed = [i for i, row in enumerate(rows) if rate(row) <= most]
    return max(allowed, key=lambda i: (rows[i][key], -i), default=None)


def test_without_a_word_the_best_has_few_errors() -> None:
    found = sweep(**LOOSE)
    assert any(rate(row) > 10 for row in found.rows) and any(rate(row) <= 10 for row in found.rows)
    assert found.best == naive_best(found.rows, "speedup_time", 10)
    out = sum(rate(row) > 10 for row in found.rows)
    said = " ".join(found.notes)
    assert f"may be best, which leaves out {out} of 4; --where none admits all." in said
    assert found.notes[-1].startswith("Best speedup_time with locked_errors_per_1k<=10: ")
    assert "best: at most 10 locked errors/1k" in str(found).partition("\n\n")[0]
    assert any(rate(found.rows[i]) > 10 for i in found.front)  # the front shows what errors would buy
    assert found.to_dict()["best"]["where"] == "locked_errors_per_1k<=10" and found.to_dict()["where"] == []


@pytest.mark.parametrize("none", ["none", (), ["None"]])
def test_that_can_be_lifted(none: Any) -> None:
    found = sweep(where=none, **LOOSE)
    assert found.best == naive_best(found.rows, "speedup_time") and rate(found.rows[found.best]) > 10
    assert not any("--where" in note for note in found.notes) and "at most 10" not in str(found)
    assert "where" not in found.to_dict()["best"]


def test_another_condition_takes_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    found = sweep(where="locked_errors_per_1k<=500", **LOOSE)
    assert found.best == naive_best(found.rows, "speedup_time", 500) and found.bound is None
    words = ["sweep", "--vary", "threshold=0.5,0.9", "--profile", "tool-call", "--tokens", "128", "--format", "json"]
    for more, most in (([], 10), (["--where", "none"], float("inf"))):
        assert main([*words, *more]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["best"]["row"] == naive_best(document["rows"], "speedup_time", most)


def test_nothing_is_said_where_it_leaves_nothing_out() -> None:
    found = sweep("eagle3", vary="num_speculative_tokens=1,3", tokens=64, machine={"model": "qwen3-8b"})
    assert not any("--where" in note for note in found.notes) and "at most" not in str(found)
    assert found.notes[-1].startswith("Best speedup_time: ")


def test_where_all_have_more_it_says_what_comes_closest() -> None:
    found = sweep(vary="threshold=0.5,0.6", profile="tool-call", tokens=256)
    assert found.best is None and "--where none admits all." in " ".join(found.notes)
    assert found.notes[-1].startswith("None of 2 rows has locked_errors_per_1k<=10; closest: block-diffusion, ")


PLACES: dict[str, Any] = {"vary": ["gpu=h100,b200", "batch_size=1,64"], "tokens": 128, "seeds": range(3),
                          "machine": {"model": "sdar-8b"}}  # fmt: skip


def test_the_best_of_each_machine_and_batch() -> None:
    found = sweep(["block-diffusion", "eagle3", "mtp:num_speculative_tokens=2"], **PLACES)
    wanted = []
    for gpu in ("h100", "b200"):
        for batch in (1, 64):
            here = [i for i, r in enumerate(found.rows) if r["varied"] == {"gpu": gpu, "batch_size": batch}]
            wanted.append(max(here, key=lambda i: found.rows[i]["tokens_per_s"]))
    assert found.places == ("gpu", "batch_size") and list(found.best_at) == wanted and found.best in wanted
    winners = [found.rows[i]["strategy"] for i in wanted]
    assert len(set(winners)) > 1  # else this test has nothing to show
    assert found.notes[-1].startswith("Best tokens_per_s, which changes with gpu and batch_size: ")
    for place, name in zip(("(h100, 1)", "(h100, 64)", "(b200, 1)", "(b200, 64)"), winners, strict=True):
        part = next(p for p in found.notes[-1].partition(": ")[2].split("; ") if place in p)
        assert part.startswith(f"{name} at ")
    document = found.to_dict()["best"]
    assert document["of_each"] == ["gpu", "batch_size"] and document["rows"] == wanted
    marks = [line.rstrip().endswith("best here") for line in str(found).splitlines()]
    close = []
    for gpu in ("h100", "b200"):
        for batch in (1, 64):
            here = [i for i, r in enumerate(found.rows) if r["varied"] == {"gpu": gpu, "batch_size": batch}]
            for i in here:
                one, top = (ratios(found.rows[j], gpu, batch) for j in (i, next(w for w in wanted if w in here)))
                gaps = [a - b for a, b in zip(one, top, strict=True)]  # tokens and seeds are the same for all
                half = 4.303 * statistics.stdev(gaps) / math.sqrt(3)
                close += [i] if i not in wanted and abs(statistics.mean(gaps)) <= half else []
    assert list(found.alike_at) == document["like_these"] == close
    assert sum(marks) == len(wanted) - 1 and found.notes[-2].startswith("Best tokens_per_s of all: ")


def ratios(row: Any, gpu: str, batch: int) -> list[float]:
    """Linearised tokens per second of a row seed by seed, from runs of each seed alone."""
    spec = row["strategy"] + (":num_speculative_tokens=2" if row["strategy"] == "mtp" else "")
    seconds = [
        compare(spec, model="sdar-8b", gpu=gpu, batch_size=batch, tokens=128, seeds=s).rows[0]["latency_s"]
        for s in range(3)
    ]
    rate = 3 * 128 / sum(seconds)
    return [rate + (128 - rate * s) / statistics.mean(seconds) for s in seconds]


def test_one_winner_everywhere_is_one_sentence() -> None:
    found = sweep(["ar", "mtp"], **PLACES)
    assert found.notes[-1] == "Best tokens_per_s at every gpu and batch_size: mtp."


def test_many_rows_show_the_best_of_each_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    words = ["sweep", "-s", "ar", "-s", "eagle3", "-s", "mtp", "--model", "qwen3-8b", "--tokens", "64",
             "--vary", "gpu=a100-80gb,h100,h200", "--vary", "batch_size=1,8,64"]  # fmt: skip
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "best at each gpu and batch_size: 9 rows of 27 (--all shows every row)" in " ".join(text.split())
    assert len(re.findall(r"(?m)best(?: here)?$", text)) == 9


def test_an_axis_of_one_value_is_named() -> None:
    found = sweep("ar", vary="gpu=rtx-4090", tokens=64, machine={"model": "qwen3-8b"})
    assert found.rows[0]["varied"] == {"gpu": "rtx-4090"} and found.to_dicts()[0]["gpu"] == "rtx-4090"
    head, _, rest = str(found).partition("\n\n")
    assert "qwen3-8b on rtx-4090" in head and "rtx-4090" in rest.partition("\n\n")[0]
    assert found.places == () and found.notes[-1].startswith("Best speedup_time: ar, gpu=rtx-4090: 1, ")


def test_flat_rows_have_what_the_answer_is_made_from() -> None:
    found = sweep(**LOOSE)
    for row, flat in zip(found.rows, found.to_dicts(), strict=True):
        assert flat["locked_errors_per_1k"] == pytest.approx(rate(row))
        assert flat["locked_errors_per_1k_ci95"] == pytest.approx(1000 * row["locked_errors_ci95"] / 256)
        again = compare(f"{flat['strategy']}:{flat['options']}", tokens=256, profile="tool-call", seeds=range(3))
        assert dict(again.rows[0]["options"]) == row["options"]
    assert [flat["best"] for flat in found.to_dicts()].index(True) == found.best


@pytest.mark.parametrize(("heading", "key"), [
    ("tok/s", "tokens_per_s"), ("speed-up time", "speedup_time"), ("locked errors/1k", "locked_errors_per_1k"),
    ("Tok/pass", "tokens_per_pass"), ("ms/pass", "ms_per_pass"), ("locked errors", "locked_errors"),
])  # fmt: skip
def test_headings_stand_for_their_figures(heading: str, key: str) -> None:
    assert check_metric(heading, "best") == key and parse_where(f"{heading}>=2").key == key


def test_all_names_are_listed() -> None:
    with pytest.raises(UsageError) as caught:
        check_metric("qqq", "best")
    listed = str(caught.value).partition("known: ")[2].split(", ")
    assert all(check_metric(name, "best") == name for name in listed) and len(listed) == len(set(listed)) > 20
    assert "tokens_per_s" in listed and "locked_errors_per_1k" in listed


def test_the_speed_is_that_of_the_condition() -> None:
    found = sweep(vary="threshold=0.9,0.95", tokens=64, where="tokens_per_s>=1")
    assert (found.speed, found.best_by) == ("tokens_per_s", "tokens_per_s")
    assert sweep(vary="threshold=0.9,0.95", tokens=64, where="locked_errors<=9").speed == "speedup_time"
    asked = sweep(vary="threshold=0.9,0.95", tokens=64, where="tokens_per_s>=1", best="tokens_per_pass")
    assert (asked.speed, asked.best_by) == ("tokens_per_pass", "tokens_per_pass")


@pytest.mark.parametrize(("model", "spec", "said"), [
    ("llama-3.1-8b", "block-diffusion", "llama-3.1-8b is not known as a diffusion model: the figures of block-diff"),
    ("clover-35b-a3b", "block-diffusion:block_size=64", "clover-35b-a3b is made for blocks of 32: what it writes in "
     "blocks of 64,"),
    ("sdar-8b", "block-diffusion", "sdar-8b is made for blocks of 4: what it writes in blocks of 32,"),
    ("llada2.0-mini", "eagle3", "llada2.0-mini is a diffusion model: the figures of eagle3 are those"),
    ("clover-35b-a3b", "block-diffusion", ""), ("llama-3.1-8b", "eagle3", ""), ("sdar-8b", "sdar", ""),
    ("clover-35b-a3b", "ar", ""),
])  # fmt: skip
def test_what_a_model_was_made_for(model: str, spec: str, said: str) -> None:
    for notes in (
        compare(spec, model=model, tokens=64).notes,
        sweep(spec, vary="batch_size=1,2", machine={"model": model}, tokens=64).notes,
        sweep(spec, vary=[f"model={model}"], tokens=64).notes,
    ):
        made = [note for note in notes if re.search("is made for blocks|diffusion model:", note)]
        assert [note.startswith(said) for note in made] == ([True] if said else [])


def test_nothing_is_said_of_a_model_known_by_its_size() -> None:
    notes = sweep("block-diffusion", vary="params_b=8,9", tokens=64).notes
    assert not any("diffusion model" in note for note in notes)


@pytest.mark.parametrize(("flag", "said"), [
    ("--schedule", "unknown flag --schedule; run with --help to see all"), ("--hlp", "did you mean '--help'?"),
    ("--wher", "did you mean '--where'?"),
])  # fmt: skip
def test_a_far_flag_is_not_help(flag: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", flag]) == 2
    assert capsys.readouterr().err.endswith(f"{said}\n")
