"""The verdict: one or two sentences that say whether it pays, why, and what to do."""

from __future__ import annotations

from clover_sim.speculation.answer import Answer
from clover_sim.speculation.cycles import Cycle
from clover_sim.speculation.methods import BLOCK, METHODS, TREE
from clover_sim.speculation.settings import setting

EVEN = 0.05
"""Distance from 1 within which a priced speed-up is neither a gain nor a loss."""

_WORTH_IT = 1.02
"""Gain from which another draft length is more than a hair better."""


def verdict(found: Answer) -> str:
    """Whether it pays, in figures, and the way out if it does not."""
    speedup, ratio = found.speedup, found.cost_ratio
    what = f"a cycle writes {found.tokens_per_cycle:.2f} tokens for {ratio:.2f} plain steps"
    unsure = unexplained(found.cycle) and undecided(speedup, found.by_prices)
    if unsure:
        first = f"Whether speculation pays cannot be told: {what}, {speedup:.2f}x if such a step takes its price."
    elif abs(speedup - 1) <= EVEN:
        first = f"Speculation breaks even, {speedup:.2f}x: {what}."
    elif speedup > 1:
        first = f"Speculation pays, {speedup:.2f}x: {what}."
    else:
        first = f"Speculation is slower than plain decoding, {speedup:.2f}x: {what}, {_reason(found)}."
    return f"{first}{_misfit(found)} {_advice(found)}"


def unexplained(c: Cycle) -> bool:
    """Whether the measured cycle lies outside the band of its price, and no plain step was measured beside it."""
    low, high = (ratio / c.factor for ratio in c.ratio_band)
    return not c.plain_measured and not low <= c.cost_ratio * (1 + 1e-9) <= high * (1 + 2e-9)


def undecided(speedup: float, by_prices: float, even: float = EVEN) -> bool:
    """Whether one of two estimates is a gain and the other is none.

    >>> undecided(0.94, 1.77), undecided(1.3, 1.8), undecided(0.5, 0.9)
    (True, False, False)
    """
    low, high = sorted((speedup, by_prices))
    return low <= 1 < high / (1 + even) or low * (1 + even) < 1 <= high


def longest(found: Answer) -> str:
    """Where the fastest length tried is the longest, what to do about it."""
    if not found.best_k or found.best_k != found.lengths[-1].k:
        return ""
    if METHODS[found.cycle.shape.method].how == BLOCK:
        return "the whole block"
    return f"the longest tried; --draft-lengths {2 * found.best_k} goes further"


def _misfit(found: Answer) -> str:
    c = found.cycle
    if c.factor == 1:
        return ""
    measured = f"The measured cycle takes {c.factor:.2f} times its price, which is in this"
    if c.plain_measured:
        return f" {measured}."
    if not unexplained(c):
        return f" {measured} (prices alone: {found.by_prices:.2f}x)."
    return f" {measured}; if a plain step is off as much, it is {found.by_prices:.2f}x: measure one (--baseline)."


def _reason(found: Answer) -> str:
    c = found.cycle
    extra = c.verify_s - c.plain_s
    if c.rest_s > max(c.draft_s, extra):
        return f"of which {c.rest_s / c.plain_s:.2f} are in no price"
    if c.draft_s > extra:
        return f"and drafting alone costs {c.draft_s / c.plain_s:.2f} of them"
    if found.machine.model.is_moe and c.width_bytes > 1.3 * c.plain_bytes:
        return f"because the verify pass reads {c.width_bytes / c.plain_bytes:.1f} times the bytes of a plain step"
    if c.largest_part == "host":
        return "most of which is the engine's own time for each cycle"
    return f"and verifying {c.shape.width} tokens costs {c.verify_s / c.plain_s:.2f} of them"


def _advice(found: Answer) -> str:
    k, best, parts = found.cycle.shape.k, found.best_k, []
    tree = METHODS[found.cycle.shape.method].how == TREE
    off_too = found.fastest.speedup * found.cycle.factor
    doubtful = found.cycle.factor != 1 and unexplained(found.cycle)
    also = f", {off_too:.2f}x if a plain step is off as much" if doubtful else ""
    length = "depth of this tree" if tree else "draft length"
    if best and best != k:
        gain, further = found.lengths[best - 1].speedup, longest(found)
        hair = "" if gain > _WORTH_IT * found.speedup else ", by a hair"
        more = f"{hair}; it is {further}" if further else hair
        told = f"{gain:.2f}x{also}{more}; {setting(found, best)}"
        if found.speedup < 1 - EVEN and gain < 1 + EVEN:
            parts.append(f"draft {best} {'levels ' * tree}instead of {k} and it breaks even ({told})")
        else:
            parts.append(f"{best} levels are best ({told})" if tree else f"draft length {best} is best ({told})")
    elif best:
        further = longest(found)
        parts.append(f"no other {length} is faster" + (f" ({further})" if further else ""))
    elif found.uncertain and off_too > 1:
        parts.append(
            f"the fastest {length}, {found.fastest.k} ({setting(found, found.fastest.k)}), is "
            f"{found.fastest.speedup:.2f}x with a plain step at its price and {off_too:.2f}x if that is off as much as "
            "the cycle, so only a plain speed (--baseline) tells whether to draft at this load"
        )
    elif found.break_even_rate is None:
        hits = found.cycle.hit_rate
        of = f"{k + 1} tokens" if hits == 1 else f"{k + 1} tokens in {hits:.0%} of the cycles"
        parts.append(f"even full acceptance ({of}) could not pay for it: leave it off here")
    else:
        parts.append(f"it would pay from {found.break_even_length:.2f} tokens a cycle on; as it is, leave it off")
    if (other := found.other_tree) is not None and other.speedup > 1:
        what = f"a chain of {other.tree.levels}" if other.tree.topk == 1 else f"a tree of {other.tree.budget}"
        told = setting(found, other.tree.levels, other.tree)
        parts.append(f"{what} is faster, {other.speedup:.2f}x with {other.tokens:.2f} tokens a cycle ({told})")
    if (chain := found.best_chain) is not None and (other is None or other.tree != chain.tree):
        parts.append(f"without a tree, {setting(found, chain.tree.levels, chain.tree)} is {chain.speedup:.2f}x")
    batch = found.cycle.batch_size
    if best and found.crossover_batch is not None and found.crossover_batch > batch:
        parts.append(f"it stops paying at a batch of {found.crossover_batch}")
    elif best and found.speedup > 1 and found.crossover_batch is None:
        parts.append(f"it would still pay down to {found.break_even_length:.2f} tokens a cycle")
    elif not best and (later := [(a, n) for a, _, n in found.schedule if a > batch and n]):
        what = f"{later[0][1]} levels pay" if tree else f"draft length {later[0][1]} pays"
        parts.append(f"from a batch of {later[0][0]} on, {what}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."
