"""How results show themselves in a notebook: a table without script, and the picture that says most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from clover_sim.report import PLAIN
from clover_sim.report._figures import cells, unit_of
from clover_sim.report._rows import labels, usual_columns
from clover_sim.report._sweep import axis_text, metric_column, with_rates
from clover_sim.report._text import clean
from clover_sim.report.columns import Column

MOST_ROWS = 30


def comparison_html(result: Any) -> str:
    """A comparison as a table and its notes, everything escaped."""
    rows = list(result.rows)[:MOST_ROWS]
    if not rows:
        return "<p>no rows</p>"
    columns = usual_columns(result, PLAIN)
    names = labels(rows)
    table = [("strategy", names) if c.key == "strategy" else _column(c, rows) for c in columns]
    return _table(table, len(rows)) + _left_out(len(result.rows)) + _notes(result.notes)


def comparison_svg(result: Any) -> str:
    """The picture of a comparison."""
    from clover_sim.report.svg import render

    return render(result)


def sweep_html(result: Any) -> str:
    """The Pareto front of a sweep (every row of a small one) as a table, and the notes."""
    keys = list(dict.fromkeys([result.speed, result.errors, result.best_by, "target_passes", "latency_s"]))
    small = len(result.rows) <= MOST_ROWS
    chosen = (
        range(len(result.rows))
        if small
        else sorted({*result.front, *([result.best] if result.best is not None else [])})
    )
    rows = [with_rates(result.rows[i], keys) for i in chosen][:MOST_ROWS]
    if not rows:
        return "<p>no rows</p>"
    table = [("strategy", [str(r["strategy"]) for r in rows])]
    table += [(axis.key, [axis_text(r, axis.key) for r in rows]) for axis in result.axes]
    table += [_column(metric_column(key), rows) for key in keys]
    return _table(table, len(rows)) + _left_out(len(result.rows), len(rows)) + _notes(result.notes)


def _column(entry: Column, rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    unit = f" ({unit_of(entry, rows, PLAIN)[0]})" if entry.form == "seconds" else ""
    return entry.heading + unit, cells(entry, rows, PLAIN)


def _table(columns: Sequence[tuple[str, Sequence[str]]], count: int) -> str:
    head = "".join(f"<th>{escape(clean(name))}</th>" for name, _ in columns)
    lines = ["".join(f"<td>{escape(clean(texts[i].strip()))}</td>" for _, texts in columns) for i in range(count)]
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>" + "".join(f"<tr>{x}</tr>" for x in lines) + "</tbody></table>"
    )


def _left_out(count: int, shown: int = MOST_ROWS) -> str:
    return f"<p>{shown} of {count:,} rows; to_dicts() has all</p>" if count > shown else ""


def _notes(notes: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(clean(note))}</li>" for note in notes) + "</ul>"
