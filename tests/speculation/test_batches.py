"""Draft lengths by batch: against every batch priced one by one, and one refusal for every wrong schedule."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cli.harness import cli
from clover_sim.acceptance import from_alpha
from clover_sim.cost import Machine
from clover_sim.errors import UsageError
from clover_sim.prepare.schedule import check_schedule as of_comparison
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import Measured, cycle, drafter_model, shape_of, speculate
from clover_sim.speculation.batches import changes, check_schedule, crossover, grid, length_at, runs_of

CASES = [
    ("llama-3.1-8b", "h100", "vllm", "eagle3", 3, 0.5), ("qwen3-30b-a3b", "h200", "sglang", "eagle3", 3, 0.5),
    ("llama-3.1-8b", "b200", "sglang:serial", "ngram", 5, 0.5), ("qwen3-8b", "rtx-4090", "vllm", "dflash", 7, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("model", "gpu", "engine", "method", "k", "alpha"), CASES)
def test_no_batch_of_a_schedule_loses(
    model: str, gpu: str, engine: str, method: str, k: int, alpha: float
) -> None:  # fmt: skip
    """Each batch priced by itself: the schedule has its fastest length; the crossover starts the last losses."""
    target = Machine(load_model(model), load_hardware(gpu), load_engine(engine))
    shape, accepted = shape_of(method, k), from_alpha(alpha, k)
    found = speculate(target, shape, accepted)
    target = replace(target, drafter=drafter_model(shape.drafter, target.model))
    most = found.schedule[-1][1]
    assert [run[0] for run in found.schedule] == [1, *(run[1] + 1 for run in found.schedule[:-1])]
    pays = []
    for batch in range(1, most + 1):
        gains = {
            n: accepted.at(n).length / cycle(target, shape_of(method, n), batch).cost_ratio
            for n in range(1, found.lengths[-1].k + 1)
        }
        best = max(gains, key=lambda n: gains[n])
        assert length_at(found.schedule, batch) == (best if gains[best] > 1 else 0), batch
        pays.append(gains[k] >= 1)
    losing = [batch for batch in range(1, most + 1) if not any(pays[batch - 1 :])]
    assert found.crossover_batch == (min(losing) if losing and any(pays) else None)


def test_a_batch_that_was_asked_for_is_priced() -> None:
    found = speculate(shape="eagle3", acceptance="code", model="llama-3.1-8b", gpu="h100", batch_size=48)
    assert 48 in dict(found.by_batch)
    assert dict(found.by_batch)[48] == pytest.approx(found.speedup)


@pytest.mark.parametrize("most", [1, 2, 7, 16, 17, 23, 24, 300, 1024])
def test_the_grid_ends_where_it_should(most: int) -> None:
    points = grid(most)
    assert points[0] == 1 and points[-1] == most and points == sorted(set(points))


def test_every_change_is_found() -> None:
    value = [3] * 5 + [2] * 8 + [1] * 90 + [0] * 40
    assert changes(lambda b: value[b - 1], grid(len(value))) == [(1, 3), (6, 2), (14, 1), (104, 0)]
    assert runs_of(lambda b: value[b - 1], len(value)) == ((1, 5, 3), (6, 13, 2), (14, 103, 1), (104, 143, 0))
    assert crossover(lambda b: value[b - 1] > 0, len(value)) == 104
    assert crossover(lambda b: 3 <= b <= 40, 1024) == 41
    assert crossover(lambda b: True, 64) is crossover(lambda b: False, 64) is crossover(lambda b: b > 5, 64) is None


WRONG = [
    [[1, 16, 3], [10, 64, 1]], [], [[5, 1, 3]], [[1, 16, -1]], {"a": 1}, [[1, 2]], [[1, 16, 3.5]], [[1, 16, 5000]], 3,
    [[0, 4, 2]],
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_one_refusal_for_one_mistake(given: object) -> None:
    """As a comparison refuses it, from Python and in both commands."""
    said = []
    for check in (check_schedule, of_comparison):
        with pytest.raises(UsageError) as caught:
            check(given)
        said.append(str(caught.value))
    assert said[0] == said[1]
    with pytest.raises(UsageError, match="schedule"):
        speculate(shape="eagle3", acceptance="code", model="llama-3.1-8b", gpu="h100", schedule=given)  # type: ignore[arg-type]


def test_both_commands_refuse_runs_that_overlap() -> None:
    wrong = json.dumps(WRONG[0])
    done = [
        cli("speculate", "--alpha", "0.7", "--model", "llama-3.1-8b", "--schedule", wrong),
        cli("compare", "-s", "eagle3", "--tokens", "32", "--schedule", wrong),
    ]
    errors = {one.stderr.partition("error: ")[2] for one in done}
    assert [one.returncode for one in done] == [2, 2]
    assert len(errors) == 1 and "a batch of 10 has two draft lengths" in errors.pop()


def test_a_measured_cycle_is_longer_at_every_length_and_batch() -> None:
    target = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("vllm"))
    shape, accepted = shape_of("eagle3", 3), from_alpha(0.8, 3)
    plain, longer = (speculate(target, shape, accepted, measured=Measured(cycle_factor=f)) for f in (1, 1.25))
    assert longer.speedup == pytest.approx(plain.speedup / 1.25) and longer.by_prices == pytest.approx(plain.speedup)
    assert [p.speedup for p in longer.lengths] == pytest.approx([p.speedup / 1.25 for p in plain.lengths])
    for (batch, a), (_, b) in zip(plain.by_batch, longer.by_batch, strict=True):
        assert b == pytest.approx(a / 1.25), batch
    parts = longer.cycle.verify_s + longer.cycle.draft_s + longer.cycle.match_s
    assert parts + longer.cycle.rest_s == pytest.approx(longer.cycle.cycle_s)
