"""A GitHub-flavoured Markdown table with the heading, the options and the notes of the terminal table."""

from __future__ import annotations

from collections.abc import Sequence

from clover_sim.report import Look, Result
from clover_sim.report._figures import cells, unit_of
from clover_sim.report._rows import groups, heading, labels, legend, usual_columns
from clover_sim.report.columns import Column

EXTENSIONS = (".md", ".markdown")

_SPECIAL = frozenset("\\`*[]<>|~#&")


def render(result: Result, look: Look = Look()) -> str:
    """One table a stream. Nothing is left out for width; names cannot break out of their cell."""
    if not result.rows:
        return "no rows\n"
    columns = usual_columns(result, look)
    parts = [f"**{escape(look.dot.join(heading(result, look)))}**"] if heading(result, look) else []
    texts = {c.key: labels(result.rows) if c.key == "strategy" else cells(c, result.rows, look) for c in columns}
    order = {id(row): index for index, row in enumerate(result.rows)}
    for group in groups(result.rows, look):
        if group.heading:
            parts.append(f"**{escape(group.heading)}**")
        indexes = [order[id(row)] for row in group.rows]
        parts.append(_table(columns, [[texts[c.key][i] for c in columns] for i in indexes], result, look))
    if options := legend(result.rows):
        parts.append("\n".join(f"- {escape(text)}" for text in options))
    if result.notes:
        parts.append("\n".join(f"- {escape(' '.join(note.split()))}" for note in result.notes))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""``text`` as it is read, whatever characters it has.

    >>> print(escape("a|b <i> *x*"))
    a\|b \<i\> \*x\*
    """
    padded = f" {text} "
    return "".join(
        "\\" + char if char in _SPECIAL or (char == "_" and not (padded[i].isalnum() and padded[i + 2].isalnum())) else char
        for i, char in enumerate(text)
    )


def _table(columns: Sequence[Column], rows: list[list[str]], result: Result, look: Look) -> str:
    names = [_name(c, result, look) for c in columns]
    lines = [names, ["---:" if c.numeric else "---" for c in columns]]
    lines += [[escape(text.strip()) for text in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _name(column: Column, result: Result, look: Look) -> str:
    unit = f", {unit_of(column, result.rows, look)[0]}" if column.form == "seconds" else ""
    return escape(column.heading + unit)
