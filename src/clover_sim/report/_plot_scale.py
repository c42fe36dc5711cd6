"""From values to places on an axis: round ticks, linear or logarithmic, and their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high`` with ``ticks`` on round values; ``log`` for a logarithmic one."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    @staticmethod
    def around(values: Sequence[float], zero: bool = False, log: bool = False, most: int = 6) -> Scale:
        """A scale that holds all values, with at most ``most`` + 1 ticks; ``zero`` makes it start there.

        >>> Scale.around([0.12, 0.97]).ticks
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        """
        low, high = min(values), max(values)
        if log and low > 0:
            return _logarithmic(low, high, most)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            pad = abs(high) * 0.1 or 1.0
            low, high = low - (0 if low == 0 else pad), high + pad
        step = _round_step((high - low) / most)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        ticks = tuple(round(i * step, places + 1) + 0.0 for i in range(first, last + 1))
        return Scale(ticks[0], ticks[-1], ticks)

    def part(self, value: float) -> float:
        """Where a value lies, 0 at the low end and 1 at the high one.

        >>> Scale(0, 10, (0, 5, 10)).part(5)
        0.5
        """
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10, 20) if m * power >= rough * 0.999999)


def _logarithmic(low: float, high: float, most: int) -> Scale:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    decades = last - first
    if decades <= 2:
        ticks = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
        at_most = next((t for t in ticks if t >= high * 0.999999), ticks[-1])
        at_least = next((t for t in reversed(ticks) if t <= low * 1.000001), ticks[0])
        if at_most <= at_least:
            at_most = at_least * 10
        ticks = [t for t in ticks if at_least <= t <= at_most]
        return Scale(at_least, at_most, tuple(ticks), True)
    step = max(1, math.ceil(decades / most))
    return Scale(10.0**first, 10.0**last, tuple(10.0**e for e in range(first, last + 1, step)), True)


def label_of(value: float, scale: Scale) -> str:
    """A tick in words, as precise as its neighbours need.

    >>> label_of(0.2, Scale.around([0, 1])), label_of(2e6, Scale.around([0, 5e6]))
    ('0.2', '2M')
    """
    if value == 0:
        return "0"
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size * (10 if name == "k" else 1):
            return f"{value / size:.4g}{name}"
    if abs(value) < 1e-3:
        return f"{value:.3g}"
    if scale.log:
        return f"{value:.4g}"
    gap = min((b - a for a, b in zip(scale.ticks, scale.ticks[1:], strict=False)), default=1.0)
    places = max(0, -math.floor(math.log10(gap) + 1e-9))
    if abs(round(gap, places) - gap) > gap * 1e-6:
        places += 1
    return f"{value:.{min(places, 9)}f}"
