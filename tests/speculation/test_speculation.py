"""Prices of cycles against what was measured, and the laws an answer keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clover_sim.acceptance import from_alpha, from_length, from_rate, from_survival
from clover_sim.cost import Machine
from clover_sim.errors import InputError, UsageError
from clover_sim.specs import ModelSpec, hardware_from_table, load_engine, load_hardware, load_model
from clover_sim.speculation import Measured, cycle, drafter_model, preset, shape_of, speculate

TABLE = {  # vllm-project/vllm#20780: acceptance lengths and ms a token at k = 2 to 7, Llama-3.1-8B, one H100, batch 1
    "eagle1": ((2.10, 2.29, 2.39, 2.43, 2.45, 2.47), (4.37, 4.29, 4.48, 4.71, 4.94, 5.20), 0.10),
    "eagle3": ((2.36, 2.79, 3.08, 3.32, 3.46, 3.54), (4.32, 4.09, 4.05, 4.13, 4.20, 4.29), 0.14),
}
PLAIN_S = 7.07e-3


def machine(model: str, gpu: str, engine: str, **changes: Any) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine(engine), **changes)


def tpot_ms(method: str, measured: Measured) -> list[float]:
    target = machine("llama-3.1-8b", "h100", "vllm")
    target = replace(target, drafter=drafter_model(f"{method}-head", target.model))
    lengths = TABLE[method][0]
    return [
        cycle(target, shape_of(method, k), 1, 80 + 512, measured=measured).cycle_s * 1e3 / length
        for k, length in zip(range(2, 8), lengths, strict=True)
    ]


@pytest.mark.parametrize("given", ["priced", "plain step", "plain step and draft cost"])
@pytest.mark.parametrize(("method", "best"), [("eagle1", 3), ("eagle3", 4)])
def test_best_draft_length_of_vllm_20780(method: str, best: int, given: str) -> None:
    plain = None if given == "priced" else PLAIN_S
    ratio = TABLE[method][2] if given.endswith("cost") else None
    found = tpot_ms(method, Measured(plain_step_s=plain, draft_cost_ratio=ratio))
    assert found.index(min(found)) + 2 == best
    assert found == pytest.approx(TABLE[method][1], rel=0.10)


def test_case_eagle_best_k_h100_bs1() -> None:
    """Bands of the open case: time a token and the gain of the newer head."""
    one, three = (tpot_ms(m, Measured(draft_cost_ratio=TABLE[m][2])) for m in ("eagle1", "eagle3"))
    assert 3.4 <= one[1] <= 5.0
    assert 4.4 <= one[5] <= 6.2
    assert 1.0 <= min(one) / min(three) <= 1.3
    plain = cycle(machine("llama-3.1-8b", "h100", "vllm"), shape_of("ngram"), 1, 592).plain_s
    assert 4.4 <= plain * 1e3 <= 8.0


def test_case_moe_mtp_loses_glm_m3ultra() -> None:
    """jundot/omlx#2077: 256 experts, 8 a token, 90 % of the bytes routed, 51 ms a token; MLX shares none of them.

    Defaults alone: where grouped products go row by row the routing exponent is 1."""
    bandwidth_s = 51e-3 * 819e9
    each, rest = round(0.9 * bandwidth_s / 8), round(0.1 * bandwidth_s)
    model = ModelSpec(
        name="case", params=each * 256 + rest, other_params=rest, routed_expert_params=each * 256, layers=0,
        moe_layers=1, experts=256, experts_per_token=8, params_per_expert=each,
    )  # fmt: skip
    card = hardware_from_table(
        {"name": "m3-ultra-case", "memory_gib": 2560, "memory_bandwidth_gbs": 819, "bf16_tflops": 28.4}, "case"
    )
    target = Machine(model, card, load_engine("mlx"), precision="8")
    found = speculate(
        target, shape_of("mtp", 1), from_rate(0.86, 1), context_tokens=0, measured=Measured(plain_step_s=51e-3)
    )
    assert 1.7 <= found.cycle.verify_s / found.cycle.plain_s <= 2.3
    assert 0.7 <= found.speedup <= 1.05
    assert 13.5 <= found.speedup / 51e-3 <= 20.7
    assert found.break_even_rate is None or found.break_even_rate > 0.75


@pytest.mark.parametrize(
    ("text", "tree", "block"), [("gsm8k", 4.55, 4.32), ("humaneval", 4.65, 4.91), ("alpaca", 4.07, 3.73)]
)
def test_a_tree_of_60_crosses_on_a_b200_and_a_block_of_10_does_not(text: str, tree: float, block: float) -> None:
    """arXiv 2602.06036 Table 5 (SGLang, FlashInfer): from 1.2-1.3 at 8 to 0.8-0.9 at 16; blocks of 10 at 1.4 to 2.8."""
    target = machine("llama-3.1-8b", "b200", "sglang:serial")
    big = shape_of("eagle-tree", 7, topk=10, budget=60)
    found = speculate(target, big, from_length(tree, 7), context_tokens=1500, topk=10)
    assert found.crossover_batch is not None
    assert 8 < found.crossover_batch <= 16
    for batch in (1, 4, 8, 16, 32):
        dflash = speculate(target, shape_of("dflash", 9), from_length(block, 9), batch_size=batch)
        assert dflash.speedup > 1.4


@pytest.mark.parametrize("method", ["eagle3", "mtp", "dflash", "ngram", "suffix", "p-eagle", "dspark"])
def test_laws(method: str) -> None:
    target = machine("qwen3-30b-a3b", "h200", "sglang")
    shape = shape_of(method)
    accepted = from_alpha(0.7, shape.k)
    found = speculate(target, shape, accepted, batch_size=4, hit_rate=0.5 if not shape.draft_widths else 1.0)
    assert found.speedup <= found.tokens_per_cycle
    assert found.low <= found.speedup <= found.high
    assert found.worst_case <= found.speedup
    assert found.break_even_length == found.cost_ratio
    better = speculate(target, shape, from_alpha(0.9, shape.k), batch_size=4)
    assert better.tokens_per_cycle >= found.tokens_per_cycle
    slower = speculate(target, shape, accepted, batch_size=4, measured=Measured(cycle_overhead_s=0.02))
    assert slower.cost_ratio > speculate(target, shape, accepted, batch_size=4).cost_ratio
    assert found.verdict.startswith("Speculation ")
    assert 1 <= found.verdict.count(". ") + 1 <= 3
    first, last = found.schedule[0], found.schedule[-1]
    assert first[0] == 1
    assert all(a <= b for a, b, _ in found.schedule)
    assert last[1] >= 4


def test_a_free_drafter_and_free_width_give_leviathans_theorem() -> None:
    """arXiv 2211.17192 Theorem 3.8 with c = 0.05: the optimum lies at 8 drafts and 3.092."""
    flat = Measured(width_s={1: 0.01, 64: 0.01}, draft_cost_ratio=0.05, cycle_overhead_s=0.0)
    target = machine("llama-3.1-8b", "h100", "kernels")
    shape = shape_of("draft-model", 8, drafter="llama-3.2-1b")
    found = speculate(target, shape, from_alpha(0.8, 8, 1.0), measured=flat)
    want = [1.714, 2.218, 2.567, 2.801, 2.951, 3.040, 3.082, 3.092, 3.078, 3.047]
    assert found.best_k == 8
    assert [p.speedup for p in found.lengths[:8]] == pytest.approx(want[:8], abs=2e-3)


def test_break_even_is_where_it_breaks_even() -> None:
    target = machine("llama-3.1-8b", "h100", "vllm")
    shape = shape_of("eagle3", 4)
    found = speculate(target, shape, from_alpha(0.7, 4))
    assert found.break_even_rate is not None
    assert speculate(target, shape, from_rate(found.break_even_rate, 4)).speedup == pytest.approx(1, abs=1e-6)


def test_hit_rate_and_acceptance_stay_apart() -> None:
    target = machine("llama-3.1-8b", "h100", "vllm")
    found = speculate(target, shape_of("ngram", 5), from_length(3.0, 5), hit_rate=0.25)
    assert found.tokens_per_cycle == pytest.approx(1.5)
    assert found.cycle.cycle_s < found.cycle.verify_s
    assert speculate(target, shape_of("ngram", 5), from_length(3.0, 5), hit_rate=0.0).speedup < 1


def test_backends_that_do_not_share() -> None:
    """waybarrios/vllm-mlx#763: 8.47, 13.49, 15.64, 20.67, 28.13 ms at widths 1, 2, 3, 5, 8."""
    target = machine("qwen3-30b-a3b", "m3-ultra", "mlx", precision="4.5")
    table = {1: 8.47e-3, 2: 13.49e-3, 3: 15.64e-3, 5: 20.67e-3, 8: 28.13e-3}
    found = cycle(replace(target, drafter=None), shape_of("ngram", 4), measured=Measured(width_s=table))
    assert found.verify_s == pytest.approx(20.67e-3)
    none_shared = cycle(target, shape_of("ngram", 4), measured=Measured(amortization=0.0))
    assert none_shared.verify_s == pytest.approx(5 * none_shared.plain_s)


def test_memory_and_presets() -> None:
    target = machine("llama-3.1-8b", "h100", "vllm")
    accepted, hits = preset("code", "eagle3", 3)
    spread = tuple(preset("code", "eagle3", 3, shift)[0] for shift in (-0.1, 0.1))
    found = speculate(target, shape_of("eagle3", 3), accepted, batch_size=16, hit_rate=hits, spread=spread)  # type: ignore[arg-type]
    assert found.drafter_bytes == pytest.approx(0.83e9, rel=0.05)
    assert found.largest_batch is not None and found.largest_batch_plain is not None
    assert found.largest_batch < found.largest_batch_plain
    assert found.range_speedup is not None
    assert found.range_speedup[0] < found.speedup < found.range_speedup[1]
    for text, length in (("math", 7.9), ("code", 6.5), ("chat", 4.2)):
        assert preset(text, "dflash", 15)[0].length == pytest.approx(length, rel=0.08)


def test_refusals() -> None:
    target = machine("llama-3.1-8b", "h100", "vllm")
    with pytest.raises(UsageError, match="which model drafts"):
        shape_of("draft-model")
    with pytest.raises(UsageError, match="did you mean"):
        shape_of("eagle4")
    with pytest.raises(InputError, match="vocabular"):
        speculate(target, shape_of("draft-model", 4, drafter="qwen3-0.6b"), from_alpha(0.6, 4))
    with pytest.raises(UsageError, match="did you mean"):
        preset("coed", "eagle3", 3)
    with pytest.raises(UsageError, match="no scheduler 'overlapp'; did you mean 'overlap'"):
        load_engine("sglang:overlapp")
    with pytest.raises(UsageError, match="hit rate"):
        speculate(target, shape_of("ngram"), from_survival((0.5,)), hit_rate=1.5)
