"""Figures of one column written alike: one unit, one number of decimals, ± beside the means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim import row_names
from clover_sim.columns import INTERVAL, Column
from clover_sim.report import Look
from clover_sim.report._text import clean
from clover_sim.row_names import said_once as said_once

MISSING = "-"
_SECONDS = (("µs", "us", 1e-6, 1e-2), ("ms", "ms", 1e-3, 10.0), ("s", "s", 1.0, 36_000.0))
_DIGITS = 6
_NOISE = 1e-9


def option_text(value: Any) -> str:
    """The value of an option as it is written in a strategy, harmless for a terminal.

    >>> option_text(True), option_text(None), option_text((0.9, 0.8)), option_text("ge")
    ('true', 'none', '[0.9,0.8]', 'ge')
    """
    return clean(row_names.option_text(value))


def options_text(options: Mapping[str, Any] | None, keys: Sequence[str] | None = None) -> str:
    """Options as they are written after the colon of a strategy; only ``keys`` if given."""
    chosen = options or {}
    return ",".join(f"{clean(k)}={option_text(v)}" for k, v in chosen.items() if keys is None or k in keys)


def unit_of(column: Column, rows: Sequence[Mapping[str, Any]], look: Look) -> tuple[str, float]:
    """Name and size in seconds of the unit that keeps the longest time of a column below four digits or so."""
    times = [value for row in rows if (value := _scaled(row.get(column.key), 1.0)) is not None]
    longest = max(map(abs, times), default=1.0)
    for name, plain, size, below in _SECONDS:
        if longest < below:
            return (name if look.unicode else plain), size
    return "h", 3600.0


def cells(column: Column, rows: Sequence[Mapping[str, Any]], look: Look) -> list[str]:
    """The texts of a column, equally precise; means of several seeds carry their interval.

    >>> from clover_sim.columns import column
    >>> cells(column("speedup_passes"), [{"speedup_passes": 5.333}, {"speedup_passes": 12}], Look())
    ['5.33x', '12.00x']
    """
    if column.form == "text":
        return [MISSING if (v := row.get(column.key)) is None else clean(str(v)) for row in rows]
    if column.form == "options":
        return [options_text(row.get(column.key)) or MISSING for row in rows]
    size = unit_of(column, rows, look)[1] if column.form == "seconds" else 1.0
    values = [_scaled(row.get(column.key), size) for row in rows]
    halves = [_scaled(row.get(column.key + INTERVAL), size) for row in rows]
    places = _decimals(column, [v for v in values if v is not None])
    grouped = any(v is not None and abs(v) >= 10_000 for v in values)
    suffix = "x" if column.form == "ratio" else ""
    texts = [MISSING if v is None else _number(v, places, grouped) + suffix for v in values]
    spread = [_plus_minus(h, places, look) if h and _counts(h, v) else "" for h, v in zip(halves, values, strict=True)]
    longest = max(map(len, spread), default=0)
    return [text + plus.ljust(longest) for text, plus in zip(texts, spread, strict=True)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _scaled(value: Any, size: float) -> float | None:
    if not _is_number(value):
        return None
    return value if size == 1.0 else value / size  # type: ignore[no-any-return]


def _decimals(column: Column, values: Sequence[float]) -> int:
    """Decimals that give the smallest value three digits, and no value more than six.

    A ratio always has two, so that 1.00 and 5.33 stand in one column whatever the other rows are.
    """
    if all(isinstance(v, int) for v in values):
        return 0
    sizes = [abs(v) for v in values if v]
    if not sizes:
        return 0
    digits = max(1, math.floor(math.log10(max(sizes))) + 1)
    wanted = 2 if column.form == "ratio" else 2 - math.floor(math.log10(min(sizes)))
    ceiling = 2 if column.form in ("count", "ratio") else 3
    return max(0, min(wanted, ceiling, _DIGITS - digits))


def _number(value: float, places: int, grouped: bool) -> str:
    if value and (abs(value) >= 1e9 or abs(value) < 0.5 * 10**-places):
        return f"{value:.2e}"
    return f"{value:,.{places}f}" if grouped else f"{value:.{places}f}"


def _counts(half: float, value: float | None) -> bool:
    """Whether a half-width is more than what rounding leaves of equal values."""
    return half > _NOISE * abs(value or 0.0)


def _plus_minus(half: float, places: int, look: Look) -> str:
    """A half-width that is one is never shown as zero: the last digit is rounded up instead."""
    shown = max(half, 10**-places)
    return ("±" if look.unicode else "+-") + f"{shown:.{places}f}"
