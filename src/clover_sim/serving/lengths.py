"""How long the answers of a pool's ledgers are, so that together they are as long as what was asked."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from clover_sim.agents.sizes import Size


class Lengths(NamedTuple):
    """Lengths of a pool, and the one that stands for a length of a log.

    Args:
        ledgers: tokens of each ledger. tops: the longest length of each group of a log's lengths, ascending; empty
            without a log. served: what the answers of each group are served at, their mean.
        distinct: different lengths of the log, 0 without one. mean: of all answers. longest: of all answers.
    """

    ledgers: tuple[int, ...]
    tops: tuple[int, ...]
    served: tuple[int, ...]
    distinct: int
    mean: float
    longest: int

    def of(self, tokens: int) -> int:
        """The length that stands for ``tokens`` of the log.

        >>> grouped([Size(None, 0, n) for n in (1, 1, 2, 3, 40)], 2).of(1)
        2
        """
        return self.served[min(bisect_left(self.tops, tokens), len(self.served) - 1)]


def spread(low: int, high: int, pool: int) -> Lengths:
    """Evenly over ``low`` to ``high``, so that a small pool has the mean of the range too.

    >>> spread(100, 300, 4).ledgers, spread(7, 7, 1).ledgers
    ((125, 175, 225, 275), (7,))
    """
    ledgers = tuple(low + (2 * i + 1) * (high - low + 1) // (2 * pool) for i in range(pool))
    return Lengths(ledgers, (), (), 0, (low + high) / 2, high)


def grouped(log: Sequence[Size], pool: int, apart: bool = False) -> Lengths:
    """Those of a log: each length a group of its own where the pool is large enough, else neighbours together.

    Groups are alike in requests and tokens, half the weight each: the many short answers and the few long ones that
    carry the tokens both stay apart, and the shortest and the longest (which may end a run alone) in any case. A group
    is served at its mean, so the tokens of all answers add up to the log's. Ledgers that are left go to the groups as
    the requests do.

    Args:
        apart: each length a group of its own however small the pool.
    """
    count = Counter(one.output_tokens for one in log)
    lengths = sorted(count)
    requests, tokens = len(log), sum(length * n for length, n in count.items())
    groups = [[length] for length in lengths] if apart or len(lengths) <= pool else _even(lengths, pool, {
        length: n / requests + n * length / tokens for length, n in count.items()
    })  # fmt: skip
    served = tuple(
        round(sum(length * count[length] for length in group) / sum(count[length] for length in group))
        for group in groups
    )
    made = Lengths((), tuple(group[-1] for group in groups), served, len(lengths), tokens / requests, lengths[-1])
    ordered = sorted(one.output_tokens for one in log)
    more = max(0, pool - len(served))
    extra = tuple(made.of(ordered[(2 * i + 1) * requests // (2 * more)]) for i in range(more))
    return made._replace(ledgers=tuple(sorted(served + extra)))


def _even(lengths: list[int], parts: int, weights: dict[int, float]) -> list[list[int]]:
    """Ascending lengths in at most ``parts`` groups of like weight, the longest alone, the shortest if there is room.

    >>> _even([1, 2, 3, 40], 2, {1: 0.5, 2: 0.2, 3: 0.2, 40: 1.1})
    [[1, 2, 3], [40]]
    """
    first, last = lengths[: parts > 2], lengths[len(lengths) - (parts > 1) :]
    middle = lengths[len(first) : len(lengths) - len(last)]
    whole, between, before = sum(weights[length] for length in middle), parts - len(first) - len(last), 0.0
    groups: dict[int, list[int]] = {}
    for length in middle:
        at = min(between - 1, int((before + weights[length] / 2) / whole * between))
        groups.setdefault(at, []).append(length)
        before += weights[length]
    return [group for group in (first, *groups.values(), last) if group]
