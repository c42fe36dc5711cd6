"""Plain text for a terminal: every figure where the eye finds it, at whatever width there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clover_sim.columns import QUALITY, Column
from clover_sim.report import PLAIN, Look
from clover_sim.report._figures import cells, unit_of
from clover_sim.report._grid import GAP, Strip, header, left_out, row, total_width
from clover_sim.report._rows import Row, groups, heading, labels, legend, usual_columns
from clover_sim.report._text import clean, clip, display_width, wrap

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".txt",)

_LABEL_WIDTH = 26
"""Columns that a strategy's name may take once not everything fits; longer ones go on below."""


def render(result: Result, look: Look = PLAIN) -> str:
    """The table, what was left out for want of room, the strategies' options and the notes."""
    if not result.rows:
        return "no rows\n"
    columns = usual_columns(result, look)
    shown, strips = _fit(columns, result.rows, look)
    lines = _flow(heading(result, look), look.dot, look)
    lines += ["", *header(strips, look), *_body(result, strips, look)]
    if left := [c for c in columns if c not in shown]:
        needed = total_width([_strip(c, result.rows, look) for c in columns])
        lines += left_out([c.heading for c in left], needed, look)
    if options := legend(result.rows):
        lines += ["", *(look.paint("2", line) for text in options for line in wrap(text, look.width, "  "))]
    if result.notes:
        lines += [""]
        lines += [
            line for note in result.notes for line in wrap(f"- {clean(' '.join(note.split()))}", look.width, "  ")
        ]
    return "\n".join(lines) + "\n"


def _flow(parts: Sequence[str], separator: str, look: Look) -> list[str]:
    """Parts on as few lines as they need; a part is never broken between lines, at worst cut."""
    lines: list[str] = []
    for whole in parts:
        part = whole if look.width is None else clip(whole, look.width)
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and (look.width is None or display_width(longer) <= look.width):
            lines[-1] = longer
        else:
            lines.append(part)
    return [look.paint("1", line) for line in lines]


def _strip(column: Column, rows: Sequence[Row], look: Look, label_width: int | None = None) -> Strip:
    title = column.title.split("\n")
    if column.form == "seconds":
        unit = unit_of(column, rows, look)[0]
        title = [title[0], f"{title[1]}, {unit}" if len(title) > 1 else unit]
    if column.key == "strategy":
        return Strip(title, [_fold(label, label_width) for label in labels(rows)], right=False)
    texts = [[text] for text in cells(column, rows, look)]
    return Strip(title, texts, right=column.numeric, styles=_styles(column, rows))


def _fold(label: str, width: int | None) -> list[str]:
    """A strategy's name; when it is too long, its options stand below it."""
    name, colon, options = label.partition(":")
    if not colon or width is None or display_width(label) <= width:
        return [label]
    lines = [name]
    for option in options.split(","):
        lines += [f"  {line}" for line in wrap(option, width - 2, "  ")]
    return lines


def _fit(columns: Sequence[Column], rows: Sequence[Row], look: Look) -> tuple[list[Column], list[Strip]]:
    """The columns that fit, most important first; those asked for by name and those of priority 0 always stay."""
    strips = {c.key: _strip(c, rows, look) for c in columns}
    width = look.width
    if width is None or total_width(list(strips.values())) <= width:
        return list(columns), list(strips.values())
    strips = {c.key: _strip(c, rows, look, _LABEL_WIDTH) for c in columns}
    chosen = {c.key for c in columns if not _droppable(c, look)}
    used = sum(strips[key].width + GAP for key in chosen) - GAP
    rest = [c for c in columns if c.key not in chosen]
    for c in sorted(rest, key=lambda c: (_says_nothing(c, rows), c.priority or 0)):
        if _says_nothing(c, rows) and any(d.key not in chosen and not _says_nothing(d, rows) for d in rest):
            break
        if used + GAP + strips[c.key].width <= width:
            chosen.add(c.key)
            used += GAP + strips[c.key].width
    shown = [c for c in columns if c.key in chosen]
    return shown, [strips[c.key] for c in shown]


def _says_nothing(column: Column, rows: Sequence[Row]) -> bool:
    """Whether a column is 0 in every row, and so makes room before any that is not."""
    return column.numeric and not any(row.get(column.key) for row in rows)


def _droppable(column: Column, look: Look) -> bool:
    return bool(column.priority) and column.key not in look.columns


def _styles(column: Column, rows: Sequence[Row]) -> list[str]:
    """Green for what is gained over plain decoding, red for what is lost, yellow for errors; the rest is plain."""
    if column.form == "ratio":
        return [_against_one(row.get(column.key)) for row in rows]
    if column.key in QUALITY:
        return ["33" if row.get(column.key) else "" for row in rows]
    return []


def _against_one(ratio: float | None) -> str:
    return "" if ratio is None or abs(ratio - 1) < 0.005 else "32" if ratio > 1 else "31"


def _body(result: Result, strips: Sequence[Strip], look: Look) -> list[str]:
    """The rows; a token count stands once before the rows it belongs to, with a blank line between such runs."""
    order = {id(r): index for index, r in enumerate(result.rows)}
    spaced = len({(r.get("stream"), r["tokens"]) for r in result.rows}) < len(result.rows)
    lines: list[str] = []
    for name, part in groups(result.rows, look):
        if name:
            lines += [""] * bool(lines) + _flow([name], "", look)
        previous = None
        for item in part:
            index = order[id(item)]
            if item["tokens"] == previous:
                _blank_tokens(strips, index)
            elif spaced and previous is not None:
                lines.append("")
            previous = item["tokens"]
            lines += row(strips, index, look)
    return lines


def _blank_tokens(strips: Sequence[Strip], index: int) -> None:
    for strip in strips:
        if strip.heading == ["tokens"]:
            strip.cells[index] = [""]
