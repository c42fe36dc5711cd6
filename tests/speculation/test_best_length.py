"""The best draft length is one figure: in the table, in the verdict and in the schedule."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cli.harness import cli
from clover_sim.acceptance import from_alpha
from clover_sim.cost import Machine
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import Answer, preset, shape_of, speculate
from clover_sim.speculation.document import outline

TARGET = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("vllm"))


def answer(method: str = "eagle3", k: int = 3, alpha: float = 0.8, **given: Any) -> Answer:
    return speculate(TARGET, shape_of(method, k), from_alpha(alpha, k), **given)


def marked(found: Answer) -> list[int]:
    """Lengths that the table calls best."""
    rows = next(rows for title, rows, _ in outline(found) if title == "by draft length")
    return [int(name.split()[-1]) for name, _, remark in rows if "best" in remark]


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.6, 0.7, 0.8, 0.95])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_table_verdict_and_schedule_agree(alpha: float, k: int) -> None:
    found = answer(k=k, alpha=alpha)
    fastest = max(found.lengths, key=lambda p: p.speedup)
    best = fastest.k if fastest.speedup > 1 else 0
    assert found.best_k == best
    assert marked(found) == [best] * bool(best)
    assert found.schedule[0][0] == 1 and found.schedule[0][2] == best
    named = re.search(r"raft length (\d+) is best|raft (\d+) instead of", found.verdict)
    assert (int(named[1] or named[2]) if named else None) == (best if best not in (0, k) else None), found.verdict
    if best == k:
        assert "no other draft length is faster" in found.verdict.lower()


def test_a_best_at_the_end_says_so_and_how_to_go_on() -> None:
    found = answer(k=3, alpha=0.99)
    assert found.best_k == 7 == found.lengths[-1].k
    assert "the longest tried; --draft-lengths 14 goes further" in found.verdict
    further = answer(k=3, alpha=0.99, most_k=40)
    assert further.best_k < 40 and "longest tried" not in further.verdict


def test_a_block_is_no_longest_tried() -> None:
    found = answer("dflash", 7, 0.95)
    assert found.best_k == 7 and "the whole block" in found.verdict and "--draft-lengths" not in found.verdict


def test_a_longest_length_below_the_one_asked_for_still_holds_it() -> None:
    assert [p.k for p in answer(k=5, most_k=2).lengths] == [1, 2, 3, 4, 5]


def test_positions_that_were_given_are_not_drawn_on() -> None:
    """A list of five cut to two: the lengths three to five are those of the list."""
    accepted = from_alpha(0.9, 5, 0.5)
    found = speculate(TARGET, shape_of("eagle3", 2), accepted)
    assert [p.acceptance_length for p in found.lengths[:5]] == pytest.approx(
        [1 + sum(accepted.survival[:n]) for n in range(1, 6)]
    )
    assert found.known_k == 5


def test_losing_everywhere_and_losing_here() -> None:
    assert "leave it off" in answer(k=3, alpha=0.05).verdict
    mixture = Machine(load_model("qwen3-30b-a3b"), load_hardware("h200"), load_engine("sglang"))
    low = speculate(mixture, shape_of("eagle3", 3), from_alpha(0.4, 3), batch_size=2)
    first, _, k = low.schedule[1]
    assert low.schedule[0][2] == 0 and k
    assert f"from a batch of {first} on, draft length {k} pays" in low.verdict


def test_the_flag(tmp_path: Any) -> None:
    base = ("speculate", "--alpha", "0.95", "--num-speculative-tokens", "3", "--model", "llama-3.1-8b", "--gpu", "h100")
    found = json.loads(cli(*base, "--draft-lengths", "20", "--format", "json").stdout)
    assert len(found["lengths"]) == 20 == found["longest_num_speculative_tokens_tried"]
    assert cli(*base, "--draft-lengths", "0").returncode == 2
    done = cli(*base, "--draft-lengths", "100000")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tool-call", "the nearest is code"), ("thinking", "the nearest is math"), ("poems", "did you mean 'prose'"),
        ("zzz", "known: chat, code, math, prose, rag, random"),
    ],
)  # fmt: skip
def test_other_workloads_are_told_the_nearest(name: str, words: str) -> None:
    done = cli("speculate", "--workload", name, "--model", "llama-3.1-8b", "--gpu", "h100")
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


def test_every_profile_has_a_preset_or_a_nearest_one() -> None:
    from clover_sim.speculation.presets import NEAREST, WORKLOADS
    from clover_sim.streams.profiles import PROFILES

    assert set(NEAREST.values()) <= set(WORKLOADS)
    for name in {*PROFILES} - {"context"}:
        assert name in WORKLOADS or name in NEAREST, name
    assert preset("code", "eagle3", 3)[0].length > 1
