"""How many distinct experts a pass touches: the quantity that makes a wide pass of a mixture dear.

Independent tokens choose ``E (1 - (1 - k/E)^m)`` of a layer's ``E`` experts. Tokens of one sequence do not choose
independently: ``n`` of them count as ``n^beta`` independent ones, so ``m`` is the sum of ``width^beta`` over the
sequences of the pass. Fitted to LLaDA2.0-mini (arXiv 2605.30876, 32 masked positions touch 69.5 of 256 experts where
independence says 163) and SDAR-30B-A3B (arXiv 2602.08404).
"""

from __future__ import annotations

from collections.abc import Iterable

from clover_sim.records import Kind

BETA_BLOCK = 0.67
"""Masked positions of one block; measured 0.62 to 0.69."""

BETA_VERIFY = 0.85
BETA_VERIFY_LOW, BETA_VERIFY_HIGH = 0.7, 1.0
"""A draft of clean tokens verified in order; only indirect evidence, 0.7 to 0.9 fit alike, 1 is the upper bound."""

BETA_INDEPENDENT = 1.0
"""Different sequences, and long stretches of text (a prompt)."""

BETAS: dict[Kind, tuple[float, float, float]] = {
    Kind.PREFILL: (BETA_INDEPENDENT,) * 3,
    Kind.DRAFT: (BETA_VERIFY, BETA_VERIFY_LOW, BETA_VERIFY_HIGH),
    Kind.DECODE: (BETA_INDEPENDENT,) * 3,
    Kind.VERIFY: (BETA_VERIFY, BETA_VERIFY_LOW, BETA_VERIFY_HIGH),
    Kind.DENOISE: (BETA_BLOCK,) * 3,
    Kind.EDIT: (BETA_BLOCK,) * 3,
    Kind.ENCODE: (BETA_BLOCK,) * 3,
    Kind.KV_WRITE: (BETA_BLOCK,) * 3,
}
"""The exponent for each kind of pass: expected, low, high."""


def effective_tokens(widths: Iterable[int], beta: float, recompute_tokens: float = 0) -> float:
    """How many independent tokens a pass counts as.

    Recomputed tokens are clean text from the whole sequence, so each counts in full, as in a prompt; however many
    they are, the union never exceeds the experts there are.

    >>> round(effective_tokens([32], 0.67), 2), effective_tokens([1, 1, 1], 0.67, 10)
    (10.2, 13.0)
    """
    if beta == 1.0:
        return float(sum(widths)) + recompute_tokens
    total = 0.0
    for width in widths:
        total += 1.0 if width == 1 else width**beta
    return total + recompute_tokens


def expert_union(experts: int, experts_per_token: int, effective: float) -> float:
    """Expected number of distinct experts of one layer that ``effective`` independent tokens choose.

    Between ``experts_per_token`` (one token) and ``experts``; 0 for a dense model.

    >>> round(expert_union(256, 8, 32), 1), round(expert_union(256, 8, 32**0.67), 1)
    (163.3, 70.8)
    """
    if not experts:
        return 0.0
    return float(experts * (1.0 - (1.0 - experts_per_token / experts) ** effective))
