"""Lists of names, with a few figures each, for ``clover-sim list``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.report import PLAIN, Look
from clover_sim.report._grid import GAP, Strip, header, row, squeezed
from clover_sim.report._text import clean, wrap

_LEAST_TEXT, _MOST_TEXT = 30, 32
_INDENT = 4


def render_listing(items: Sequence[Mapping[str, Any]], look: Look = PLAIN) -> str:
    """A line an item; the last text takes the width that is left, or lines of its own where that is too little."""
    keys = list(items[0]) if items else []
    strips: list[Strip] = []
    below: str | None = None
    for key in keys:
        values = [_text(item.get(key)) for item in items]
        number = all(isinstance(item.get(key), (int, float, type(None))) for item in items)
        width: int | None = _MOST_TEXT
        if key == keys[-1]:
            room = None if look.width is None else look.width - sum(strip.width + GAP for strip in strips)
            if room is not None and room < _LEAST_TEXT and not number and strips:
                below = key
                break
            width = room
        cells = [[value] if number else wrap(value, width) for value in values]
        strips.append(Strip(key.split("\n"), cells, right=number))
    strips = squeezed(strips, look.width)
    lines = header(strips, look)
    for index in range(len(items)):
        lines += row(strips, index, look)
        if below is not None and items[index].get(below):
            width = max(1, (look.width or 0) - _INDENT)
            lines += [" " * _INDENT + line for line in wrap(_text(items[index][below]), width)]
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return clean(str(value))
