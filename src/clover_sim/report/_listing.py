"""Lists of names, with a few figures each, for ``clover-sim list``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.report import Look
from clover_sim.report._grid import GAP, Strip, header, row
from clover_sim.report._text import clean, wrap

_LEAST_TEXT = 24


def render_listing(items: Sequence[Mapping[str, Any]], look: Look = Look()) -> str:
    """A line an item; the last text takes the width that is left and goes on below."""
    keys = list(items[0]) if items else []
    strips = []
    for key in keys:
        values = [_text(item.get(key)) for item in items]
        number = all(isinstance(item.get(key), (int, float, type(None))) for item in items)
        width = None
        if key == keys[-1] and look.width is not None:
            width = max(_LEAST_TEXT, look.width - sum(s.width + GAP for s in strips))
        cells = [[value] if number else wrap(value, width) for value in values]
        strips.append(Strip(key.split("\n"), cells, right=number))
    lines = header(strips, look)
    for index in range(len(items)):
        lines += row(strips, index, look)
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else clean(str(value))
