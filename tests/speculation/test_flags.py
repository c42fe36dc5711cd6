"""Flags of ``speculate``: none is dropped without a word, and 0 is a figure like any other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cli.harness import cli
from clover_sim.cost import Machine
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import Measured, cycle, drafter_model, shape_of

BASE = ("speculate", "--model", "qwen3-8b", "--gpu", "h100")


def asked(*flags: str) -> dict[str, Any]:
    done = cli(*BASE, *flags, "--format", "json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_no_prompt_is_not_the_default_prompt() -> None:
    none, one, usual = (
        asked("--alpha", "0.8", *flags) for flags in (("--prompt-tokens", "0"), ("--prompt-tokens", "1"), ())
    )
    assert (none["context_tokens"], usual["context_tokens"]) == (0, 1024)
    assert none["plain_step_s"] < one["plain_step_s"] < usual["plain_step_s"]


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--width-ms", "1:7,4:9", "--baseline", "130"), ("--baseline", "--width-ms")),
        (("--width-ms", "1:7,4:9", "--cycle-overhead-ms", "1"), ("--cycle-overhead-ms", "--width-ms")),
        (("--speculative-num-steps", "5", "--num-speculative-tokens", "3"), ("--speculative-num-steps 5", "tokens 3")),
        (("--method", "eagle-tree", "--rho", "0.9"), ("--rho", "eagle-tree")),
        (("--speculative-eagle-topk", "4"), ("--speculative-eagle-topk 4", "eagle-tree")),
        (("--method", "ngram", "--drafter", "qwen3-0.6b"), ("--drafter", "ngram")),
        (("--method", "suffix", "--drafter-precision", "int4"), ("--drafter-precision", "suffix")),
        (("--method", "ngram", "--draft-cost-ratio", "0.1"), ("--draft-cost-ratio", "ngram")),
    ],
)
def test_flags_that_would_be_dropped_are_refused(flags: tuple[str, ...], named: tuple[str, ...]) -> None:
    done = cli(*BASE, "--alpha", "0.8", *flags)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in named), done.stderr


def test_one_length_in_two_spellings_is_taken() -> None:
    both = asked("--alpha", "0.8", "--speculative-num-steps", "3", "--num-speculative-tokens", "3",
                 "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")  # fmt: skip
    assert both["speedup"] == asked("--alpha", "0.8", "--num-speculative-tokens", "3")["speedup"]


def test_a_plain_speed_beside_widths_that_lack_it() -> None:
    found = asked("--alpha", "0.8", "--width-ms", "2:8,4:9", "--baseline", "125")
    assert (found["plain_step_s"], found["verify_s"]) == pytest.approx((8e-3, 9e-3))


def test_widths_measured_at_one_batch_change_with_it_as_prices_do() -> None:
    """Plain steps and verify passes at the batch of the measurement are those measured; at others they grow."""
    widths = ("--alpha", "0.8", "--width-ms", "1:20,4:30", "--draft-cost-ratio", "0", "--batch-size", "8")
    found, priced = asked(*widths), asked("--alpha", "0.8", "--draft-cost-ratio", "0", "--batch-size", "8")
    assert (found["plain_step_s"], found["verify_s"]) == pytest.approx((20e-3, 30e-3))
    here = {row["batch_size"]: row["speedup"] for row in found["speedup_by_batch"]}
    assert here[8] == pytest.approx(found["tokens_per_cycle"] * 20 / 30)
    assert len(set(here.values())) == len(here)
    for batch in (1, 128):
        there = asked("--alpha", "0.8", "--draft-cost-ratio", "0", "--batch-size", str(batch))
        plain, verify = (20e-3, 30e-3)
        plain += there["plain_step_s"] - priced["plain_step_s"]  # both measured above their price
        verify += there["verify_s"] - priced["verify_s"]
        assert here[batch] == pytest.approx(found["tokens_per_cycle"] * plain / verify, rel=1e-6), batch


def test_widths_below_their_price_stay_above_nothing() -> None:
    """A tenth of the price at a large batch is a tenth of it at a batch of 1, not less than no time."""
    priced = asked("--alpha", "0.8", "--draft-cost-ratio", "0", "--batch-size", "256")
    plain, verify = (round(priced[key] * 100, 6) for key in ("plain_step_s", "verify_s"))
    found = asked("--alpha", "0.8", "--draft-cost-ratio", "0", "--batch-size", "256",
                  "--width-ms", f"1:{plain},4:{verify}")  # fmt: skip
    for low, full in zip(found["speedup_by_batch"], priced["speedup_by_batch"], strict=True):
        assert low["speedup"] == pytest.approx(full["speedup"], rel=1e-4)


def test_width_1_is_a_measured_plain_step() -> None:
    target = Machine(load_model("qwen3-8b"), load_hardware("h100"), load_engine("sglang"))
    target = replace(target, drafter=drafter_model("eagle3-head", target.model))
    with_plain, without = (
        cycle(target, shape_of("eagle3"), 1, measured=Measured(width_s=widths))
        for widths in ({1: 7e-3, 4: 9e-3}, {2: 8e-3, 4: 9e-3})
    )
    assert (with_plain.plain_measured, without.plain_measured) == (True, False)
