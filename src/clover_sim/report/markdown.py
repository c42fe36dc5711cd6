"""A GitHub-flavoured Markdown table with the heading, the options and the notes of the terminal table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clover_sim.columns import Column
from clover_sim.report import PLAIN, Look
from clover_sim.report._figures import cells, unit_of
from clover_sim.report._rows import groups, heading, labels, legend, usual_columns
from clover_sim.report._text import clean

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".md", ".markdown")

_SPECIAL = frozenset("\\`*[]<>|~#&")


def render(result: Result, look: Look = PLAIN) -> str:
    """One table a stream. Nothing is left out for width; names cannot break out of their cell."""
    if not result.rows:
        return "no rows\n"
    columns = usual_columns(result, look)
    parts = [f"**{escape(look.dot.join(heading(result, look)))}**"] if heading(result, look) else []
    texts = {c.key: labels(result.rows) if c.key == "strategy" else cells(c, result.rows, look) for c in columns}
    order = {id(row): index for index, row in enumerate(result.rows)}
    for name, part in groups(result.rows, look):
        if name:
            parts.append(f"**{escape(name)}**")
        indexes = [order[id(row)] for row in part]
        parts.append(_table(columns, [[texts[c.key][i] for c in columns] for i in indexes], result, look))
    if options := legend(result.rows):
        parts.append("\n".join(f"- {escape(text)}" for text in options))
    if result.notes:
        parts.append("\n".join(f"- {escape(clean(' '.join(note.split())))}" for note in result.notes))
    if run_id := getattr(result, "run_id", ""):
        parts.append(f"Run {run_id}.")
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""``text`` as it is read, whatever characters it has.

    >>> print(escape("a|b <i> *x*"))
    a\|b \<i\> \*x\*
    """
    return "".join("\\" + c if c in _SPECIAL or _is_emphasis(text, i) else c for i, c in enumerate(text))


def _is_emphasis(text: str, i: int) -> bool:
    """Whether the underscore at ``i`` could start or end emphasis; one inside a word cannot."""
    return text[i] == "_" and not (text[i - 1 : i].isalnum() and text[i + 1 : i + 2].isalnum())


def _table(columns: Sequence[Column], rows: list[list[str]], result: Result, look: Look) -> str:
    names = [_name(c, result, look) for c in columns]
    lines = [names, ["---:" if c.numeric else "---" for c in columns]]
    lines += [[escape(text.strip()) for text in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _name(column: Column, result: Result, look: Look) -> str:
    unit = f", {unit_of(column, result.rows, look)[0]}" if column.form == "seconds" else ""
    return escape(column.heading + unit)
