"""Draft lengths by batch: schedules as they are given, the fastest one, and the batch where drafts stop paying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from clover_sim.errors import UsageError, shown
from clover_sim.speculation.methods import MOST_TOKENS

Run = tuple[int, int, int]
"""First batch, last batch, and the draft length there, 0 for plain decoding."""

BATCHES = tuple(2**i for i in range(11))
"""Batches at which a speed-up is shown."""

_ONE_BY_ONE = 16
"""Up to this batch every one is priced: a mixture's gain falls and rises again among the first few requests."""


def check_schedule(given: Any) -> tuple[Run, ...]:
    """Runs that can be used: batches from 1, none of them twice, and draft lengths from 0.

    Raises:
        UsageError: what is not such a list, with the entry that is wrong.

    >>> check_schedule([[1, 16, 5], [17, 64, 3]])
    ((1, 16, 5), (17, 64, 3))
    """
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise UsageError(f"schedule {shown(given)}: expected auto, or runs such as [[1, 16, 5], [17, 64, 3]]")
    runs: list[Run] = []
    for entry in given:
        if not isinstance(entry, Sequence) or len(entry) != 3 or not all(type(n) is int for n in entry):
            raise UsageError(f"schedule: {shown(entry)} is not a first batch, a last batch and a draft length")
        first, last, k = entry
        if not (1 <= first <= last and 0 <= k <= MOST_TOKENS):
            raise UsageError(
                f"schedule: [{first}, {last}, {k}]: expected batches from 1, the smaller first, and 0 to {MOST_TOKENS} "
                "draft tokens, the root not counted"
            )
        runs.append((first, last, k))
    for (_, last, _), (first, _, _) in pairwise(sorted(runs)):
        if first <= last:
            raise UsageError(f"schedule: a batch of {first} has two draft lengths; give each batch to one run")
    return tuple(runs)


def grid(most: int) -> list[int]:
    """Batches between which the fastest length is taken to change at most from one to the next: dense below 16, then
    two an octave, and the last one.

    >>> grid(40)[-6:]
    [14, 15, 16, 23, 32, 40]
    """
    found = {min(most, b) for b in range(1, _ONE_BY_ONE + 1)} | {most}
    for power in range(4, most.bit_length()):
        found |= {min(most, 2**power), min(most, round(2 ** (power + 0.5)))}
    return sorted(found)


def changes(of: Callable[[int], int], points: Sequence[int]) -> list[tuple[int, int]]:
    """``(batch, value)`` at the first point, and at every batch where ``of`` differs from the batch before.

    Between two points of one value nothing is looked for; between two of different values every change is found by
    halving.

    >>> changes(lambda batch: 100 // (batch + 9), [1, 4, 8])
    [(1, 10), (2, 9), (3, 8), (4, 7), (6, 6), (8, 5)]
    """
    found = [(points[0], of(points[0]))]

    def between(low: int, at_low: int, high: int, at_high: int) -> None:
        if at_low == at_high:
            return
        if high - low == 1:
            found.append((high, at_high))
            return
        middle = (low + high) // 2
        here = of(middle)
        between(low, at_low, middle, here)
        between(middle, here, high, at_high)

    last = found[0]
    for point in points[1:]:
        here = of(point)
        between(*last, point, here)
        last = (point, here)
    return found


def runs_of(fastest: Callable[[int], int], most: int) -> tuple[Run, ...]:
    """The fastest length at every batch from 1 to ``most``, as runs."""
    starts = changes(fastest, grid(most))
    ends = [start - 1 for start, _ in starts[1:]] + [most]
    return tuple((start, end, k) for (start, k), end in zip(starts, ends, strict=True))


def crossover(pays: Callable[[int], bool], most: int) -> int | None:
    """Least batch from which it no longer pays; ``None`` if it pays at ``most``, or nowhere."""
    starts = changes(lambda batch: int(pays(batch)), grid(most))
    return starts[-1][0] if len(starts) > 1 and not starts[-1][1] else None


def length_at(schedule: Sequence[Run], batch: int) -> int:
    """The draft length that a schedule has for a batch, 0 where it has none."""
    return next((k for first, last, k in schedule if first <= batch <= last), 0)
