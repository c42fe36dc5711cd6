"""One way from flat rows to csv and markdown, for every command whose result is not a comparison.

Each such command has three texts: its JSON document, its table for people, and its rows as flat dictionaries; which one
a format asks for is decided here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clover_sim.report import Look

FORMATS = ("table", "json", "csv", "markdown")
"""What such a command writes."""

Rows = Sequence[Mapping[str, Any]]


def render(
    name: str, look: Look, document: Callable[[], Any], rows: Callable[[], Rows], table: Callable[[Look], str]
) -> str:
    """The text in the format ``name``; only what that format needs is made.

    >>> render("csv", Look(), dict, lambda: [{"a": 1, "b": None}], lambda look: "")
    'a,b\\r\\n1,\\r\\n'
    """
    if name == "json":
        import json

        return json.dumps(document(), indent=2, allow_nan=False) + "\n"
    if name == "csv":
        return as_csv(rows())
    if name == "markdown":
        return as_markdown(rows())
    return table(look)


def _keys(rows: Rows) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def as_csv(rows: Rows) -> str:
    """Comma-separated values as RFC 4180 has them, full precision, safe to open in a spreadsheet."""
    import csv
    import io

    from clover_sim.report.csv import cell

    keys = _keys(rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([cell(key) for key in keys])
    writer.writerows([cell(_plain(row.get(key))) for key in keys] for row in rows)
    return text.getvalue()


def as_markdown(rows: Rows) -> str:
    """A GitHub-flavoured table; numbers with four digits, names that cannot break out of their cell.

    >>> print(as_markdown([{"name": "a|b", "share": 0.123456}]), end="")
    | name | share |
    | --- | ---: |
    | a\\|b | 0.1235 |
    """
    from clover_sim.report.markdown import escape

    keys = _keys(rows)
    if not keys:
        return "no rows\n"
    right = {key: all(isinstance(row.get(key), (int, float, type(None))) for row in rows) for key in keys}
    lines = [[escape(key) for key in keys], ["---:" if right[key] else "---" for key in keys]]
    lines += [[escape(_short(row.get(key))) for key in keys] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _plain(value: Any) -> Any:
    """Lists with a separator that no cell has; tables inside a row do not occur."""
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _short(value: Any) -> str:
    from clover_sim.report._text import clean

    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(clean(str(_plain(value))).split())
