"""Prices of the steps of a batch, kept: a step is a line in its context, so two prices give all of them."""

from __future__ import annotations

from typing import Any, Protocol

from clover_sim.records import Kind, PassShape


class Pricer(Protocol):
    """What the server asks for. A unit is a step of the target and the draft steps before it."""

    def unit(
        self, kind: Kind, sequences: int, width: int, recompute: int, drafts: int, draft_width: int, context: float
    ) -> tuple[float, float]:
        """(seconds at context 0, seconds for each cached token), both sums over the batch; ``context`` is the current
        one, for models whose cost bends with it."""
        ...

    def prefill(self, prompts: tuple[int, ...]) -> float:
        """Seconds of computing these prompts in one step."""
        ...


class CostPricer:
    """Prices from a cost model; ``width`` and ``draft_width`` are sums over the sequences of the step."""

    __slots__ = ("_bends", "_cost", "_units")

    def __init__(self, cost: Any) -> None:
        self._cost = cost
        self._units: dict[tuple[int, ...], tuple[float, float]] = {}
        machine = cost.machine
        self._bends = machine is not None and bool(machine.model.kv_windows)

    def unit(
        self, kind: Kind, sequences: int, width: int, recompute: int, drafts: int, draft_width: int, context: float
    ) -> tuple[float, float]:
        """See :class:`Pricer`."""
        bucket = int(context / sequences) // 256 if self._bends else 0
        key = (kind, sequences, width, recompute, drafts, draft_width, bucket)
        found = self._units.get(key)
        if found is None:
            near, far = bucket * 256.0 * sequences, (bucket * 256.0 + 256.0) * sequences
            low, high = (
                self._price(kind, sequences, width, recompute, c) + drafts * self._draft(sequences, draft_width, c)
                for c in (near, far)
            )
            slope = (high - low) / (far - near)
            found = self._units[key] = (low - slope * near, slope)
        return found

    def _price(self, kind: Kind, sequences: int, width: int, recompute: int, context: float) -> float:
        return float(self._cost.price(PassShape(kind, even(width, sequences), context, recompute)).latency_s)

    def _draft(self, sequences: int, width: int, context: float) -> float:
        if not width:
            return 0.0
        return self._price(Kind.DRAFT, sequences, width, 0, context)

    def prefill(self, prompts: tuple[int, ...]) -> float:
        """See :class:`Pricer`."""
        return float(self._cost.price(PassShape(Kind.PREFILL, prompts)).latency_s)


def even(total: int, parts: int) -> tuple[int, ...]:
    """``total`` in ``parts`` whole numbers as equal as can be.

    >>> even(7, 3)
    (3, 2, 2)
    """
    each, more = divmod(total, parts)
    return (each + 1,) * more + (each,) * (parts - more)
