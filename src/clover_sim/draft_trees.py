"""Trees of drafts: which nodes a drafter keeps, and how far the target follows them."""

from __future__ import annotations

import heapq
import math
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from clover_sim.errors import UsageError

MOST_STEPS, MOST_CHILDREN, MOST_TOKENS = 64, 256, 4096
"""Bounds of a tree; engines verify up to some hundred tokens."""


class Tree(NamedTuple):
    """A best-first tree. ``survival[d]`` is the chance that some path of d + 1 nodes is accepted; ``nodes`` without
    the root."""

    survival: tuple[float, ...]
    nodes: int

    @property
    def length(self) -> float:
        """Tokens a cycle, bonus included."""
        return 1 + fsum(self.survival)


def coverage(first: float, rank: int) -> float:
    """Chance that the target's token is among the drafter's ``rank`` best, from that of its best.

    ``1 - (1 - c1) m^-s`` with ``s = 0.05 + 0.70 c1``: a law that holds within 0.04 for the 15 heads of
    FasterDecoding/Medusa ``assets/medusa_acc.csv`` (e2a5d20) over ranks 2 to 5.

    >>> round(coverage(0.56, 5), 2)
    0.78
    """
    exponent = 0.05 + 0.70 * first
    return 1 - (1 - first) / math.pow(rank, exponent)


def most_tokens(steps: int, topk: int) -> int:
    """Tokens, the root counted, of the largest tree that can be drafted: each level goes on from at most ``topk`` nodes
    of the one before, the most probable (EAGLE-2, arXiv 2406.16858; SGLang's ``select_top_k_tokens``).

    >>> most_tokens(5, 1), most_tokens(1, 4), most_tokens(3, 2)
    (6, 5, 11)
    """
    return 1 + topk + (steps - 1) * topk * topk


def best_first(first: float, steps: int, topk: int, budget: int, rho: float = 1.0) -> Tree:
    """The ``budget - 1`` most probable nodes of at most ``steps`` levels; ``topk`` a level have ``topk`` children each.

    Args:
        first: chance in [0, 1] that the target takes the drafter's best token. rho: its change per level.
        budget: tokens the target verifies, the root counted (SGLang's ``speculative_num_draft_tokens``); no more than
            :func:`most_tokens` exist.

    With ``topk`` 1 this is a chain: its survival is that of independent drafts of rate ``first``.

    >>> best_first(0.5, 3, 1, 4).survival
    (0.5, 0.25, 0.125)
    """
    bounds = (("steps", steps, 1, MOST_STEPS), ("topk", topk, 1, MOST_CHILDREN), ("budget", budget, 2, MOST_TOKENS))
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise UsageError(f"draft tree: {name}={value}: expected {least} to {most}")
    if not 0 <= first <= 1:
        raise UsageError(f"draft tree: acceptance {first}: expected a probability from 0 to 1")
    ranks = [_ranks(first, topk)] * steps
    if rho != 1:
        ranks = [_ranks(min(first * rho**level, 1.0), topk) for level in range(steps)]
    survival = [0.0] * steps
    heap = [(-ranks[0][0], 0, 0, 1.0)]  # probability, level, rank, probability of the parent
    beam, taken = [0] * steps, 0
    while heap and taken < budget - 1:
        probability, level, rank, parent = heapq.heappop(heap)
        survival[level] -= probability
        taken += 1
        if rank + 1 < topk:
            heapq.heappush(heap, (-parent * ranks[level][rank + 1], level, rank + 1, parent))
        beam[level] += 1
        if level + 1 < steps and beam[level] <= topk:
            heapq.heappush(heap, (probability * ranks[level + 1][0], level + 1, 0, -probability))
    while len(survival) > 1 and not survival[-1]:
        survival.pop()
    return Tree(tuple(min(s, 1.0) for s in survival), taken)


def _ranks(first: float, topk: int) -> list[float]:
    """Chance of each rank of one level."""
    covered = [0.0, *(coverage(first, m) for m in range(1, topk + 1))]
    return [covered[m] - covered[m - 1] for m in range(1, topk + 1)]


@lru_cache(256)
def fit_first(length: float, steps: int, topk: int, budget: int) -> float:
    """The chance of the drafter's best token that gives an acceptance length (bonus included) on that tree.

    >>> round(best_first(fit_first(3.49, 7, 10, 10), 7, 10, 60).length, 1)
    4.5
    """
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if best_first(middle, steps, topk, budget).length < length:
            low = middle
        else:
            high = middle
    return (low + high) / 2
