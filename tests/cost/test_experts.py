"""The union of experts against published measurements and its own bounds."""

from __future__ import annotations

import pytest

from clover_sim.cost import BETAS, effective_tokens, expert_union
from clover_sim.records import Kind
from clover_sim.rng import substream

# Distinct experts of 256 with 8 chosen, for tokens of a pass: independent, and one block (beta 0.67).
TABLE = {
    1: (8.0, 8.0), 4: (30.5, 19.8), 8: (57.4, 30.7), 16: (102.0, 47.1), 32: (163.3, 70.8), 64: (222.4, 103.1),
    256: (255.9, 186.5),
}  # fmt: skip


@pytest.mark.parametrize("width", TABLE)
def test_the_table_of_distinct_experts(width: int) -> None:
    found = [expert_union(256, 8, effective_tokens((width,), beta)) for beta in (1.0, 0.67)]
    assert [round(value, 1) for value in found] == list(TABLE[width])


# LLaDA2.0-mini, mean of four benchmarks (arXiv 2605.30876 Tables 2 and 4); SDAR-30B-A3B (arXiv 2602.08404 Table 1).
@pytest.mark.parametrize(
    ("experts", "width", "measured"), [(256, 8, 31.8), (256, 16, 48.8), (256, 32, 69.5), (128, 32, 55.0)]
)
def test_measured_unions_of_a_block_within_an_eighth(experts: int, width: int, measured: float) -> None:
    beta = BETAS[Kind.DENOISE][0]
    assert expert_union(experts, 8, effective_tokens((width,), beta)) == pytest.approx(measured, rel=0.125)


def test_a_simulated_router_agrees_with_the_closed_form() -> None:
    random = substream(1, "router").random
    total = 0
    for _ in range(300):
        chosen: set[int] = set()
        for _ in range(16):
            chosen.update(sorted(range(64), key=lambda _: random())[:4])
        total += len(chosen)
    assert total / 300 == pytest.approx(expert_union(64, 4, 16), rel=0.02)


@pytest.mark.parametrize("width", [1, 2, 7, 32, 4096])
@pytest.mark.parametrize("beta", [0.67, 0.85, 1.0])
def test_a_union_lies_between_one_token_and_all(width: int, beta: float) -> None:
    union = expert_union(256, 8, effective_tokens((width,), beta))
    assert 8 - 1e-9 <= union <= 256
    assert union <= expert_union(256, 8, width) + 1e-9


def test_sequences_add_up_and_recomputed_tokens_count_in_full() -> None:
    assert effective_tokens((8, 8), 0.67) == pytest.approx(2 * 8**0.67)
    assert effective_tokens((8,), 0.67, 100) == pytest.approx(8**0.67 + 100)
    assert expert_union(0, 0, 5) == 0
