"""How sure a calibrated price is: most where it was measured, less the further a pass is from there."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import TYPE_CHECKING

from clover_sim.specs.engine import Band

if TYPE_CHECKING:
    from clover_sim.cost.machine import Machine

BAND = (0.90, 1.12)
"""What remains uncertain after a calibration: the middle 80 % of other plain steps on the same machine."""

AGAIN = 0.03
"""ASSUMPTION: how far one speed measured again lies from the first."""

FAR = 2.0
"""Doublings of the batch (or twice as many of the context) after which a measurement says no more of this pass."""


def at_point(error: float) -> Band:
    """Factors on the price of a measured step; ``error`` is what the price is off by.

    >>> at_point(0.0)
    (0.97, 1.03)
    >>> low, high = at_point(-0.2)  # a fifth too fast: the measured time is 1.25 of the price
    >>> low, round(high, 4)
    (0.97, 1.2875)
    """
    measured = 1 / (1 + error)
    return min(1.0, measured) * (1 - AGAIN), max(1.0, measured) * (1 + AGAIN)


def elsewhere(factors: Sequence[float]) -> Band:
    """Factors on the price of any other step: never less than ``factors``, which are known to occur.

    >>> elsewhere([1.0, 1.176])
    (0.9, 1.176)
    """
    return min([BAND[0], *factors]), max([BAND[1], *factors])


def near(machine: Machine, batch_size: int, context_tokens: float, band: Band) -> Band:
    """``band`` narrowed to that of the nearest measured step of the same model, as far as it is near."""
    best, distance = band, FAR
    for known in machine.engine.known:
        if (known.model, known.precision, known.cards) != (
            machine.model.name, machine.target_precision.name, machine.tensor_parallel_size
        ):  # fmt: skip
            continue
        away = abs(log2(batch_size / known.batch_size))
        away += 0.5 * abs(log2((context_tokens + 256) / (known.context_tokens + 256)))
        if away < distance:
            best, distance = (known.low, known.high), away
    part = distance / FAR
    return best[0] + (band[0] - best[0]) * part, best[1] + (band[1] - best[1]) * part
