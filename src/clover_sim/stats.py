"""Means and intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

NOISE = 1e-12
"""Values that differ by less than this part of their size differ by rounding alone."""


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value, summed exactly; equal values give that value back.

    >>> mean([0.1, 0.1, 0.1]), mean([1, 2])
    (0.1, 1.5)
    """
    if min(values) == max(values):
        return float(values[0])
    scaled, exponent = _scaled(values)
    return math.ldexp(math.fsum(scaled) / len(values), exponent)


def ci95(values: Sequence[float]) -> float:
    """Half-width of the 95 % confidence interval of the mean of n >= 2 values (Student's t, n - 1 degrees of freedom).

    It is exactly 0 when the values are equal but for rounding (:data:`NOISE`).

    >>> round(ci95([1.0, 2.0, 3.0, 4.0]), 3), ci95([0.1, 0.1, 0.1])
    (2.054, 0.0)
    """
    n = len(values)
    if n < 2:
        raise ValueError("an interval needs at least 2 values")
    low, high = min(values), max(values)
    if high == low or high - low <= NOISE * max(abs(low), abs(high)):
        return 0.0
    scaled, exponent = _scaled(values)
    middle = math.fsum(scaled) / n
    variance = math.fsum((v - middle) ** 2 for v in scaled) / (n - 1)
    return math.ldexp(t_quantile(n - 1) * math.sqrt(variance / n), exponent)


def linearised(over: Sequence[float], by: Sequence[float]) -> tuple[float, list[float]]:
    """The ratio R of two sums, and for each pair (x, y) the value R + (x - R y) / mean(y).

    The mean of the values is R, and the interval of their mean (:func:`ci95`) is that of R, to first order in 1 / n:
    the estimator of a ratio in survey sampling (Cochran, Sampling Techniques, chapter 6). Differences of such values
    from the same seeds are paired differences of ratios.

    Args:
        over, by: n >= 1 pairs; the mean of ``by`` is not 0.

    >>> linearised([1, 3], [1, 1]), linearised([2, 6], [1, 3])
    ((2.0, [1.0, 3.0]), (2.0, [2.0, 2.0]))
    """
    each = [x / y if y else math.nan for x, y in zip(over, by, strict=True)]
    middle = mean(by)
    ratio = each[0] if min(each) == max(each) else mean(over) / middle
    return ratio, [ratio + (x - ratio * y) / middle for x, y in zip(over, by, strict=True)]


def _scaled(values: Sequence[float]) -> tuple[list[float], int]:
    """The values over a power of two near the largest, so that no square overflows or vanishes; and its exponent."""
    exponent = math.frexp(max(map(abs, values)))[1]
    return [math.ldexp(v, -exponent) for v in values], exponent


@cache
def t_quantile(df: int, level: float = 0.95) -> float:
    """t such that a Student variable with ``df`` >= 1 degrees of freedom lies in [-t, t] with probability ``level``.

    >>> round(t_quantile(1), 3), round(t_quantile(10), 3)
    (12.706, 2.228)
    """
    low, high = 0.0, 1.0
    while _central(high, df) < level:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _central(middle, df) < level else (low, middle)
    return high


def _central(t: float, df: int) -> float:
    """P(-t < T < t), the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    theta = math.atan(t / math.sqrt(df))
    cos2, term, total = math.cos(theta) ** 2, 1.0, 0.0
    for k in range(1 if df % 2 else 0, df - 1, 2):
        total += term
        term *= cos2 * (k + 1) / (k + 2)
    if df % 2:
        return 2 / math.pi * (theta + math.sin(theta) * math.cos(theta) * total)
    return math.sin(theta) * total


def two_digits(value: float) -> str:
    """Two significant digits, without an exponent where people would write none.

    >>> two_digits(302.4), two_digits(0.0123), two_digits(1.5)
    ('300', '0.012', '1.5')
    """
    return f"{float(f'{value:.2g}'):g}"
