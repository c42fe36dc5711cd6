"""Where no plain step was measured, advice has both figures; a schedule says where it ends, a default what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.acceptance import from_survival
from clover_sim.cost import Machine
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import Answer, Measured, shape_of, speculate
from clover_sim.speculation.document import outline
from logs.lines import engine, v1
from logs.test_measured_cycle import ask

FLAGS = ("--model", "llama-3.1-8b", "--gpu", "h100", "--method", "eagle3")
LOG = engine(2355.0, 32) + v1(11573, [6365, 3055, 1377, 636, 312, 150, 81])
"""Seven drafts where two would do: 1.2 times as long as priced, 2.03 tokens a cycle."""


def answer(factor: float, engine_name: str = "vllm", **given: object) -> Answer:
    machine = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine(engine_name))
    accepted = from_survival((0.55, 0.264, 0.119, 0.055, 0.027, 0.013, 0.007))
    measured = Measured(cycle_factor=factor, **given)  # type: ignore[arg-type]
    return speculate(machine, shape_of("eagle3", 7), accepted, batch_size=32, measured=measured)


def test_no_length_pays_only_if_it_does_not_either_way(tmp_path: Path) -> None:
    """A measured plain speed must not turn "no draft length pays" into a gain."""
    document, _ = ask(tmp_path, LOG, *FLAGS)
    found = document["sections"][0]["prediction"]
    assert found["best_num_speculative_tokens"] == 0 and found["fastest_num_speculative_tokens"] == 2
    assert found["fastest_speedup"] < 1 < found["fastest_speedup_by_prices"]
    told, _ = ask(tmp_path, LOG, *FLAGS, command="speculate")
    for verdict in (document["verdict"], told["verdict"]):
        assert "no draft length pays" not in verdict.lower() and "leave it off" not in verdict
        assert f"{found['fastest_speedup']:.2f}x" in verdict and f"{found['fastest_speedup_by_prices']:.2f}x" in verdict
        assert "2 (num_speculative_tokens 2)" in verdict and "--baseline" in verdict
    baseline = ("--baseline", "3000")
    measured, _ = ask(tmp_path, LOG, *FLAGS, *baseline)
    assert "Draft 2 instead of 7 (num_speculative_tokens 2)" in measured["verdict"]
    gain = measured["sections"][0]["prediction"]["best_speedup"]
    assert found["fastest_speedup"] < gain < found["fastest_speedup_by_prices"]


def test_the_two_figures_are_the_cycle_with_and_without_the_plain_step() -> None:
    """A plain step as much longer as the cycle cancels the factor: the speed-up of prices."""
    doubtful, priced = answer(1.3), answer(1.0)
    assert doubtful.fastest.speedup * 1.3 == pytest.approx(priced.fastest.speedup)
    assert doubtful.best_k == 0 and priced.best_k == 2 and not priced.uncertain
    assert doubtful.schedule_by_prices == priced.schedule and priced.schedule_by_prices is None


def test_none_pays_where_both_are_losses() -> None:
    machine = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("vllm"))
    found = speculate(machine, shape_of("eagle3", 3), from_survival((0.1, 0.01, 0.001)),
                      measured=Measured(cycle_factor=1.3))  # fmt: skip
    assert found.fastest.speedup * 1.3 < 1 and "leave it off" in found.verdict and "only a plain" not in found.verdict


def test_a_measured_plain_step_leaves_no_doubt() -> None:
    found = answer(1.3, plain_step_s=0.012)
    assert not found.uncertain and found.schedule_by_prices is None and "is off as much" not in found.verdict


def sentences(found: Answer) -> str:
    return " ".join(next(said for title, _, said in outline(found) if title == "by batch, this length"))


def test_a_schedule_has_its_setting_and_its_end() -> None:
    found = answer(1.0)
    assert "num_speculative_tokens_per_batch_size = [[1, " in sentences(found)
    assert f"at {found.largest_batch} the memory is full" in sentences(found)
    assert found.schedule[-1][1] == found.most_batch == found.largest_batch
    elsewhere = sentences(answer(1.0, "sglang"))
    assert "vLLM" not in elsewhere and "num_speculative_tokens" not in elsewhere
    assert "at a batch of 32: --speculative-num-steps " in elsewhere
    assert "if a plain step is off as much" in sentences(answer(1.5))


def test_a_schedule_that_memory_does_not_end() -> None:
    machine = Machine(load_model("llama-3.1-8b"), load_hardware("b200"), load_engine("vllm"))
    found = speculate(machine, shape_of("mtp", 2), from_survival((0.9, 0.8)), context_tokens=64)
    assert found.most_batch == 1024 and "batches beyond 1024 were not priced" in sentences(found)


def test_the_two_ranges_say_what_they_are_of(tmp_path: Path) -> None:
    from clover_sim.cli import main

    out = tmp_path / "answer.txt"
    assert main(["speculate", "--method", "eagle3", "--workload", "code", "--model", "llama-3.1-8b", "--gpu", "h100",
                 "--num-speculative-tokens", "3", "--export", str(out)]) == 0  # fmt: skip
    told = " ".join(out.read_text().split())
    assert "as the verify pass may cost)" in told and "as texts of this kind are accepted; cost as above" in told


@pytest.mark.parametrize(("given", "said"), [((), True), (("--num-speculative-tokens", "1"), False)])
def test_a_usual_length_is_said_to_be_one(given: tuple[str, ...], said: bool, tmp_path: Path) -> None:
    from clover_sim.cli import main

    out = tmp_path / "answer.txt"
    flags = ("--method", "mtp", "--workload", "code", "--model", "qwen3-8b", "--gpu", "h100")
    assert main(["speculate", *flags, *given, "--export", str(out)]) == 0
    assert ("the usual one of mtp, for none was given" in " ".join(out.read_text().split())) == said
    assert speculate(shape="mtp", model="qwen3-8b", gpu="h100").usual_k
