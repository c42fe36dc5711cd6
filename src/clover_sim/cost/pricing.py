"""Pricing a whole run from groups of equal passes: count times price, summed exactly."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from clover_sim.cost.models import CostModel
from clover_sim.cost.roofline import PARTS, PassPrice
from clover_sim.records import Kind, PassShape


class KindPrice(NamedTuple):
    """What the passes of one kind cost together.

    Args:
        kind: the kind. passes: how many. latency_s, low_s, high_s: their time in all.
        expert_union, expert_union_independent: distinct experts a layer, mean over the passes; 0 if dense.
    """

    kind: Kind
    passes: int
    latency_s: float
    low_s: float
    high_s: float
    expert_union: float = 0.0
    expert_union_independent: float = 0.0

    @property
    def pass_s(self) -> float:
        """Mean time of one pass of this kind."""
        return self.latency_s / self.passes if self.passes else 0.0


class PricedRun(NamedTuple):
    """What a run costs: the sum over its passes, and what it is made of.

    Args:
        passes: how many were priced. latency_s, low_s, high_s: time in all.
        memory_s, compute_s, overhead_s: the shares of ``latency_s``; all 0 where the price was given.
        parts: ``(name, seconds)`` of every part of :data:`clover_sim.cost.roofline.PARTS`, largest first.
        weight_bytes, kv_bytes, state_bytes, flop: traffic and arithmetic in all.
        by_kind: one entry for each kind that occurs, in the order of :class:`~clover_sim.records.Kind`.
        fixed: the price of a pass was given.
    """

    passes: int
    latency_s: float
    low_s: float
    high_s: float
    memory_s: float
    compute_s: float
    overhead_s: float
    parts: tuple[tuple[str, float], ...]
    weight_bytes: float
    kv_bytes: float
    state_bytes: float
    flop: float
    by_kind: tuple[KindPrice, ...]
    fixed: bool = False

    @property
    def bound(self) -> str:
        """What takes most of the time: ``memory``, ``compute`` or ``overhead``; ``fixed`` for a given price."""
        if self.fixed:
            return "fixed"
        shares = {"memory": self.memory_s, "compute": self.compute_s, "overhead": self.overhead_s}
        return max(shares, key=lambda share: shares[share])

    @property
    def largest_part(self) -> str:
        """The largest part by name: weights, compute, kv, state, activations, layers, host or allreduce."""
        return self.parts[0][0]


def price_groups(cost_model: CostModel, groups: Iterable[tuple[PassShape, int]]) -> PricedRun:
    """Price ``groups`` of ``(shape, count)``; the context of a shape is the mean over its group.

    Each group contributes ``count * price`` and groups are summed with :func:`math.fsum`, so that 2000 passes of
    15 ms are 30 s to the last digit.

    >>> from clover_sim.cost import Fixed
    >>> price_groups(Fixed(0.015), [(PassShape(Kind.DECODE, (1,), 100.0), 200)] * 10).latency_s
    30.0
    """
    priced: list[tuple[int, PassPrice]] = []
    by_kind: dict[Kind, list[tuple[int, PassPrice]]] = {}
    for shape, count in groups:
        if count:
            entry = count, cost_model.price(shape)
            priced.append(entry)
            by_kind.setdefault(shape.kind, []).append(entry)

    def total(field: str) -> float:
        return math.fsum([n * getattr(p, field) for n, p in priced])

    parts = [(part, total(field)) for part, field in PARTS.items()]
    parts.sort(key=lambda item: -item[1])
    return PricedRun(
        passes=sum([n for n, _ in priced]),
        latency_s=total("latency_s"),
        low_s=total("low_s"),
        high_s=total("high_s"),
        memory_s=total("memory_s"),
        compute_s=total("compute_s"),
        overhead_s=total("overhead_s"),
        parts=tuple(parts),
        weight_bytes=total("weight_bytes"),
        kv_bytes=total("kv_bytes"),
        state_bytes=total("state_bytes"),
        flop=total("flop"),
        by_kind=tuple([_kind_price(kind, by_kind[kind]) for kind in sorted(by_kind)]),
        fixed=any(p.fixed for _, p in priced),
    )


def _kind_price(kind: Kind, priced: list[tuple[int, PassPrice]]) -> KindPrice:
    passes = sum([n for n, _ in priced])
    return KindPrice(
        kind,
        passes,
        math.fsum([n * p.latency_s for n, p in priced]),
        math.fsum([n * p.low_s for n, p in priced]),
        math.fsum([n * p.high_s for n, p in priced]),
        math.fsum([n * p.expert_union for n, p in priced]) / passes,
        math.fsum([n * p.expert_union_independent for n, p in priced]) / passes,
    )
