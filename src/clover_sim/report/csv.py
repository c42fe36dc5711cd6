"""Comma-separated values (RFC 4180): all columns, base SI units, full precision, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from clover_sim.columns import COLUMNS, INTERVAL
from clover_sim.report import PLAIN, Look
from clover_sim.report._figures import options_text
from clover_sim.report._text import clean

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".csv",)


def render(result: Result, look: Look = PLAIN) -> str:
    """One line a row after the header; lines end in CRLF as the RFC says."""
    present = {key for row in result.rows for key in row}
    keys = [key for c in COLUMNS for key in (c.key, c.key + INTERVAL) if key in present]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(keys)
    writer.writerows([cell(row.get(key)) for key in keys] for row in result.rows)
    return text.getvalue()


_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a formula begins, in a spreadsheet that takes wide characters for narrow ones too."""


def cell(value: Any) -> str | int | float:
    """The value of one cell; a text that a spreadsheet would run as a formula gets an apostrophe before it.

    Characters that do not print are written out, but for tabulators and line ends, which a quoted cell may hold.

    >>> cell(0.1), cell(None), cell("=1+1"), cell({"threshold": 0.9, "block_size": 32})
    (0.1, '', "'=1+1", 'threshold=0.9,block_size=32')
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    text = options_text(value) if isinstance(value, dict) else str(value)
    if not text.isprintable():
        text = "".join(char if char in "\t\r\n" else clean(char) for char in text)
    return "'" + text if text.startswith(("\t", "\r", "\n")) or text.lstrip().startswith(_FORMULA) else text
