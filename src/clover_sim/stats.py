"""Means and intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value, summed exactly."""
    return math.fsum(values) / len(values)


def ci95(values: Sequence[float]) -> float:
    """Half-width of the 95 % confidence interval of the mean of n >= 2 values (Student's t, n - 1 degrees of freedom).

    >>> round(ci95([1.0, 2.0, 3.0, 4.0]), 3)
    2.054
    """
    n, middle = len(values), mean(values)
    variance = math.fsum((v - middle) ** 2 for v in values) / (n - 1)
    return t_quantile(n - 1) * math.sqrt(variance / n)


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
