"""Draft and verify against what can be worked out on paper."""

from __future__ import annotations

import math

import pytest

from clover_sim.decoders.speculative import Speculative
from clover_sim.errors import UsageError
from clover_sim.records import Drafter
from clover_sim.streams.base import Stream
from clover_sim.streams.reference import reference_stream
from core.scripted import classed_stream, passes, run_audited, scripted_stream

TOKENS = 20_000


def cycle_variance(k: int, a: float) -> float:
    """Variance of the tokens of one cycle, from its distribution: j + 1 tokens when exactly j drafts are kept."""
    chances = [a**j * (1 - a) for j in range(k)] + [a**k]
    mean = sum((j + 1) * c for j, c in enumerate(chances))
    return sum((j + 1 - mean) ** 2 * c for j, c in enumerate(chances))


@pytest.mark.parametrize("a", [0.0, 0.3, 0.6, 0.72, 0.9, 0.97, 1.0])
@pytest.mark.parametrize("k", [1, 2, 5, 10])
@pytest.mark.parametrize("make", [classed_stream, reference_stream], ids=["by-position", "reference"])
def test_tokens_per_cycle(k: int, a: float, make: type[Stream]) -> None:
    """(1 - a^(k+1)) / (1 - a) tokens a cycle, within four standard errors of the renewal process."""
    totals = run_audited(Speculative(k, a, parallel_draft=True), make(TOKENS)).totals
    expected = (1 - a ** (k + 1)) / (1 - a) if a < 1 else k + 1
    cycles = TOKENS / expected
    error = 4 * math.sqrt(cycles * cycle_variance(k, a)) / expected + 1
    assert abs(totals.target_passes - cycles) <= error


@pytest.mark.parametrize("survival", [(0.8, 0.6, 0.5), (0.9,), (0.7, 0.7, 0.0), (1.0, 0.5, 0.25, 0.125), (0.0, 0.0)])
def test_survival_list(survival: tuple[float, ...]) -> None:
    """Tokens a cycle are 1 + the sum of the survivals."""
    totals = run_audited(Speculative(len(survival), survival), classed_stream(TOKENS)).totals
    expected = 1 + sum(survival)
    assert TOKENS / totals.target_passes == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("survival", [(0.8, 0.6, 0.5), (0.7, 0.7, 0.0)])
def test_share_of_cycles_that_kept_each_draft(survival: tuple[float, ...]) -> None:
    ledger = run_audited(Speculative(len(survival), survival), classed_stream(TOKENS)).ledger
    cycles = [row["committed"] for row in ledger.rows() if row["kind"] == "verify"]
    for drafts, share in enumerate(survival, 1):
        kept = sum(tokens > drafts for tokens in cycles) / len(cycles)
        assert kept == pytest.approx(share, abs=4 * math.sqrt(0.25 / len(cycles)) + 1e-3)


def test_conditional_rates_of_a_survival_list() -> None:
    source = Speculative(4, (0.8, 0.6, 0.0, 0.0)).draft_source
    assert source == Drafter("qwen3-0.6b", (0.8, 0.6 / 0.8, 0.0, 0.0))


@pytest.mark.parametrize(("a", "k", "tokens"), [(1.0, 3, 10), (0.0, 3, 10), (1.0, 5, 7), (1.0, 5, 6), (0.0, 2, 1)])
def test_serial_and_parallel_drafts(a: float, k: int, tokens: int) -> None:
    """Both verify alike; a serial drafter pays a pass a draft, never for more drafts than tokens are left."""
    text = scripted_stream(tokens, agrees=lambda position: a == 1)
    serial, parallel = (run_audited(Speculative(k, a, parallel_draft=p), text).totals for p in (False, True))
    assert serial.target_passes == parallel.target_passes == parallel.draft_passes
    left, drafts = tokens, 0
    while left > 0:
        drafts += min(k, left)
        left -= min(k, left) * int(a) + 1
    assert serial.draft_passes == drafts


def test_a_cycle_by_hand() -> None:
    """k = 3, drafts at 1 and 5 are refused: 0 | 1 kept as the target's own, and so on."""
    text = scripted_stream(9, agrees=lambda position: position not in (1, 5))
    result = run_audited(Speculative(3, 0.5, parallel_draft=True), text)
    assert passes(result) == [
        ("draft", 0, 3, 0), ("verify", 0, 4, 2),  # 0 agreed, 1 corrected
        ("draft", 2, 3, 0), ("verify", 2, 4, 4),  # 2 3 4 agreed, 5 is the bonus: never tested
        ("draft", 6, 3, 0), ("verify", 6, 3, 3),  # the limit leaves no room for a bonus
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_speculative_tokens": 0}, "at least 1"),
        ({"acceptance": 1.1}, "probabilities"),
        ({"acceptance": -0.1}, "probabilities"),
        ({"acceptance": float("nan")}, "probabilities"),
        ({"acceptance": ()}, "probabilities"),
        ({"num_speculative_tokens": 2, "acceptance": (0.5,)}, "one entry"),
        ({"num_speculative_tokens": 2, "acceptance": (0.5, 0.6)}, "only fall"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Speculative(**options)  # type: ignore[arg-type]
