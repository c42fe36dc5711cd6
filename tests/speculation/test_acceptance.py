"""Acceptance: every convention turned into every other, models of it, and what is refused."""

from __future__ import annotations

import pytest

from clover_sim.acceptance import (
    RATES,
    Acceptance,
    clustered,
    draft_length,
    fit_decay,
    from_alpha,
    from_conditional,
    from_length,
    from_rate,
    from_survival,
)
from clover_sim.draft_trees import best_first, coverage, fit_first
from clover_sim.errors import InputError, UsageError
from clover_sim.rng import substream


@pytest.mark.parametrize(
    ("alpha", "gamma", "speed"),
    [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 2, 2.71), (0.9, 10, 6.86)],
)
def test_leviathan_table_1(alpha: float, gamma: int, speed: float) -> None:
    """arXiv 2211.17192 Table 1 with a free drafter: the speed factor is the acceptance length."""
    assert from_alpha(alpha, gamma, 1.0).length == pytest.approx(speed, abs=0.006)
    assert from_alpha(alpha, gamma, 1.0).length == pytest.approx((1 - alpha ** (gamma + 1)) / (1 - alpha))


@pytest.mark.parametrize(("at_3", "at_5", "at_7"), [(2.29, 2.43, 2.47), (2.79, 3.32, 3.54)])
def test_two_lengths_predict_a_third_within_1_percent(at_3: float, at_5: float, at_7: float) -> None:
    """Acceptance lengths of EAGLE-1 and EAGLE-3 on Llama-3.1-8B, vllm-project/vllm#20780."""
    fitted = fit_decay((3, at_3), (7, at_7))
    assert fitted.at(3).length == pytest.approx(at_3, rel=1e-3)
    assert fitted.at(7).length == pytest.approx(at_7, rel=1e-3)
    assert fitted.at(5).length == pytest.approx(at_5, rel=0.01)


@pytest.mark.parametrize(("small", "large"), [(3.49, 4.55), (3.62, 4.65), (3.11, 4.07)])
def test_trees_of_60_from_trees_of_10(small: float, large: float) -> None:
    """arXiv 2602.06036 Table 5, Llama-3.1-8B with EAGLE-3: GSM8K, HumanEval, Alpaca."""
    first = fit_first(small, 7, 10, 10)
    assert best_first(first, 7, 10, 60).length == pytest.approx(large, rel=0.06)


def test_trees() -> None:
    assert best_first(0.7, 4, 1, 5).survival == pytest.approx(from_alpha(0.7, 4, 1.0).survival)
    lengths = [best_first(0.6, 6, 4, budget).length for budget in range(2, 60)]
    assert lengths == sorted(lengths)
    assert all(1 <= length <= 7 for length in lengths)
    assert best_first(1.0, 5, 3, 40).length == pytest.approx(6)
    assert best_first(0.0, 5, 3, 40).length == pytest.approx(1, abs=0.2)
    covered = [coverage(0.5, m) for m in range(1, 9)]
    assert covered == sorted(covered)
    assert covered[0] == 0.5


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("length", [1.0, 1.4, 1.9])
def test_every_convention_gives_the_same_back(k: int, length: float) -> None:
    made = from_length(length, k)
    assert made.length == pytest.approx(length)
    assert from_length(length - 1, k, bonus=False).length == pytest.approx(length)
    assert from_rate(made.rate, k).length == pytest.approx(length)
    assert from_rate(length / (k + 1), k, "sglang-old").length == pytest.approx(length)
    assert from_rate((length - 1) / k, k, "sglang-new").length == pytest.approx(length)
    assert from_rate(length / (k + 1), k, "system-efficiency").length == pytest.approx(length)
    assert from_conditional(made.conditional).length == pytest.approx(length)
    assert from_survival(made.survival).length == pytest.approx(length)


def test_published_conversions() -> None:
    """sgl-project/sglang#11948: length 2.17 at 4 draft tokens, root counted, prints 0.54; #30763: 1.57 prints 0.19."""
    assert from_rate(0.5425, 3, "sglang-old").length == pytest.approx(2.17)
    assert from_rate(0.19, 3, "sglang-new").length == pytest.approx(1.57)
    echoed = " ".join(from_length(2.17, 3).echo())
    for figure in ("2.170", "1.170", "39.0%", "0.542", "0.390", "bonus"):
        assert figure in echoed


def test_conditional_at_the_stated_length() -> None:
    assert from_rate(0.8, 5, "conditional").survival == pytest.approx([0.8**i for i in range(1, 6)])


def test_matches_in_runs() -> None:
    """Independent draws of the same mean rate miss the length: runs make long drafts pay more."""
    run = clustered(0.86, 0.63, 5)
    share = 0.63 / (0.63 + 0.14)  # of all tokens that match
    assert run.length < from_alpha(share, 5, 1.0).length
    assert clustered(0.7, 0.7, 5).length == pytest.approx(from_alpha(0.7, 5, 1.0).length)
    assert clustered(1.0, 0.5, 3).length == pytest.approx(4)


def test_matches_in_runs_as_simulated() -> None:
    draw = substream(1, "runs").random
    matched, tokens, cycles = True, 0, 40_000
    for _ in range(cycles):
        for _ in range(4):
            matched = draw() < (0.86 if matched else 0.63)
            if not matched:
                break
            tokens += 1
        tokens += 1
    assert clustered(0.86, 0.63, 4).length == pytest.approx(tokens / cycles, rel=0.01)


def test_length_is_bounded_and_rises_with_survival() -> None:
    last = 0.0
    for alpha in (0.0, 0.3, 0.6, 0.9, 1.0):
        made = from_alpha(alpha, 6)
        assert 1 <= made.length <= 7
        assert made.length >= last
        last = made.length
    assert from_length(4.0, 3).survival == pytest.approx((1, 1, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: from_rate(0.8, None), "without k"),
        (lambda: from_rate(0.8, 3, None), "which engine"),
        (lambda: from_rate(0.8, 3, "acepted/drafted"), "did you mean"),
        (lambda: from_rate(72.0, 3), "72 % is 0.72"),
        (lambda: from_length(0.7, 3), "does not count the bonus"),
        (lambda: from_length(4.5, 3), "expected 1 to 4"),
        (lambda: from_length(3.5, 3, bonus=False), "expected 0 to 3"),
        (lambda: from_alpha(0.5, 0), "at least 1"),
        (lambda: fit_decay((3, 2.0), (3, 2.1)), "two draft lengths"),
    ],
)
def test_what_cannot_be_known_is_refused(call: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rising_survival_is_asked_about() -> None:
    with pytest.raises(InputError, match="conditional rates"):
        Acceptance((0.7, 0.8))


def test_draft_length_of_either_spelling() -> None:
    assert draft_length(None, 16, 3) == draft_length(15, None, 3) == 15
    with pytest.raises(UsageError, match="means 3"):
        draft_length(4, 4, 1)


def test_every_rate_has_a_meaning() -> None:
    for convention in RATES:
        assert from_rate(0.6, 4, convention).length >= 1
