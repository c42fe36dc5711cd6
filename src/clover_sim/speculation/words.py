"""The verdict: one or two sentences that say whether it pays, why, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clover_sim.speculation.answer import Answer

_EVEN = 0.05
"""Distance from 1 within which a priced speed-up is neither a gain nor a loss."""


def verdict(found: Answer) -> str:
    """Whether it pays, in figures, and the way out if it does not."""
    speedup, ratio = found.speedup, found.cost_ratio
    what = f"a cycle writes {found.tokens_per_cycle:.2f} tokens for {ratio:.2f} plain steps"
    if abs(speedup - 1) <= _EVEN:
        first = f"Speculation breaks even, {speedup:.2f}x: {what}."
    elif speedup > 1:
        first = f"Speculation pays, {speedup:.2f}x: {what}."
    else:
        first = f"Speculation is slower than plain decoding, {speedup:.2f}x: {what}, {_reason(found)}."
    return f"{first} {_advice(found)}"


def _reason(found: Answer) -> str:
    c = found.cycle
    extra = c.verify_s - c.plain_s
    if c.draft_s > extra:
        return f"and drafting alone costs {c.draft_s / c.plain_s:.2f} of them"
    if found.machine.model.is_moe and c.width_bytes > 1.3 * c.plain_bytes:
        return f"because the verify pass reads {c.width_bytes / c.plain_bytes:.1f} times the bytes of a plain step"
    if c.largest_part == "host":
        return "most of which is the engine's own time for each cycle"
    return f"and verifying {c.shape.width} tokens costs {c.verify_s / c.plain_s:.2f} of them"


def _advice(found: Answer) -> str:
    k, best = found.cycle.shape.k, found.best_k
    if found.speedup < 1 - _EVEN:
        if best:
            gain = found.lengths[best - 1].speedup
            return f"Draft {best} instead of {k}: {gain:.2f}x."
        if found.break_even_rate is None:
            return f"Even full acceptance ({k + 1} tokens) could not pay for it: leave it off here."
        return f"It would pay from {found.break_even_length:.2f} tokens a cycle on; as it is, leave it off."
    parts = []
    if best and best != k and found.lengths[best - 1].speedup > 1.02 * found.speedup:
        parts.append(f"draft length {best} is best ({found.lengths[best - 1].speedup:.2f}x)")
    if found.crossover_batch is not None:
        parts.append(f"it stops paying at a batch of {found.crossover_batch}")
    if not parts:
        parts.append(f"it would still pay down to {found.break_even_length:.2f} tokens a cycle")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."
