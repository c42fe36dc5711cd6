"""Lists of names, with a few figures each, for ``clover-sim list``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.report import PLAIN, Look
from clover_sim.report._grid import GAP, Strip, header, row
from clover_sim.report._text import clean, wrap

_LEAST_TEXT, _MOST_TEXT = 16, 32


def render_listing(items: Sequence[Mapping[str, Any]], look: Look = PLAIN) -> str:
    """A line an item; long texts go on below, and the last takes the width that is left."""
    keys = list(items[0]) if items else []
    strips: list[Strip] = []
    for key in keys:
        values = [_text(item.get(key)) for item in items]
        number = all(isinstance(item.get(key), (int, float, type(None))) for item in items)
        width: int | None = _MOST_TEXT
        if key == keys[-1]:
            used = sum(strip.width + GAP for strip in strips)
            width = None if look.width is None else max(_LEAST_TEXT, look.width - used)
        cells = [[value] if number else wrap(value, width) for value in values]
        strips.append(Strip(key.split("\n"), cells, right=number))
    lines = header(strips, look)
    for index in range(len(items)):
        lines += row(strips, index, look)
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return clean(str(value))
