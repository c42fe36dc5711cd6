"""A ledger written once prices on any machine as a direct run there does."""

from __future__ import annotations

import io

import pytest

import clover_sim as cs
from clover_sim.cost import Machine, cost_model
from clover_sim.errors import InputError
from clover_sim.ledger_file import ledger_lines, price_recorded, read_ledger
from clover_sim.specs import load_engine, load_hardware, load_model

STRATEGIES = ["ar", "speculative", "block-diffusion"]


def on(gpu: str, model: str = "clover-35b-a3b"):
    return cost_model("roofline", Machine(load_model(model), load_hardware(gpu), load_engine("sglang")))


def recorded(**options):
    kept = []
    cs.compare(STRATEGIES, tokens=[100, 64], keep=lambda about, run: kept.append((about, run)), **options)
    return "".join(ledger_lines(kept))


@pytest.mark.parametrize("gpu", ["h100", "b200"])
def test_one_ledger_priced_on_two_gpus_is_what_two_direct_runs_give(gpu):
    runs = read_ledger(io.StringIO(recorded(kv_write="separate", prompt_tokens=500)), "l")
    direct = cs.compare(STRATEGIES, tokens=[100, 64], kv_write="separate", prompt_tokens=500, cost=on(gpu)).rows
    assert len(runs) == len(direct) == 6
    for run, row in zip(runs, direct, strict=True):
        priced = price_recorded(run, on(gpu))
        for column in ("strategy", "tokens", "target_passes", "draft_passes", "locked_errors", "bound"):
            assert priced[column] == row[column], column
        for column in ("latency_s", "latency_low_s", "latency_high_s", "prefill_s", "tokens_per_s"):
            assert priced[column] == pytest.approx(row[column], rel=1e-12), column


def test_a_batch_is_priced_by_its_steps():
    batch = cs.Batch("lockstep", kv_write="none")
    for seed in (1, 2):
        batch.admit(cs.build_strategy("block-diffusion")[1], cs.open_stream("tool-call", 64, seed=seed))
    while batch.step() is not None:
        pass
    about = {
        "stream": "tool-call", "tokens": 128, "strategy": "block-diffusion", "options": {}, "drafter": None,
        "seed": None, "kv_write": "none", "forced_commits": 0, "locked_errors": 0,
    }  # fmt: skip
    (run,) = read_ledger(io.StringIO("".join(ledger_lines([(about, batch.evict(0))]))), "l")
    direct = cs.price_groups(on("h200"), batch.ledger.shapes())
    assert price_recorded(run, on("h200"))["latency_s"] == pytest.approx(direct.latency_s, rel=1e-12)


LINES = recorded().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], "not a line of JSON"),
        (lambda lines: ['{"schema": "x"}\n', *lines[1:]], "not a ledger file"),
        (lambda lines: [lines[0]], "holds no run"),
        (lambda lines: [lines[0], lines[2]], "before the first"),
        (lambda lines: [*lines[:2], "[1, 2]\n"], ":3: expected a row of 9"),
        (lambda lines: [*lines[:2], lines[2].replace('"decode"', '"dream"')], "kind is 'dream'"),
        (lambda lines: [*lines[:2], lines[2].replace("[0, 0", "[-1, 0")], "step is -1"),
        (lambda lines: [*lines[:2], lines[2][:10]], ":3: not a line of JSON"),
        (lambda lines: [lines[0], '{"run": {"stream": "x"}}\n'], "run lacks tokens"),
        (lambda lines: [*lines[:2], "[" * 100_000], ":3: not a line of JSON"),
    ],
)
def test_broken_files_name_the_line_and_the_reason(change, message):
    with pytest.raises(InputError, match=message) as caught:
        read_ledger(io.StringIO("".join(change(LINES))), "l")
    assert "\n" not in str(caught.value)
