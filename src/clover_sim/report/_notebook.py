"""How results show themselves in a notebook: a table without script, and the picture that says most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from clover_sim.columns import Column
from clover_sim.report import PLAIN
from clover_sim.report._figures import cells, unit_of
from clover_sim.report._rows import labels, usual_columns
from clover_sim.report._sweep import axis_text, metric_column, with_rates
from clover_sim.report._text import clean

MOST_ROWS = 30
MOST_BARS = 12


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
    keys = list(dict.fromkeys(
        [result.speed, result.errors, result.best_by, "speedup_time", "target_passes", "latency_s"]
    ))  # fmt: skip
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


def price_html(result: Any) -> str:
    """The passes of a price as a table, and the memory in words."""
    from clover_sim.report._price import pass_table

    heading, rows = pass_table(result)
    shown = rows[:MOST_ROWS]
    m = result.memory
    said = (
        f"memory {m.total_bytes / 1e9:.4g} of {m.capacity_bytes / 1e9:.4g} GB at batch {m.batch_size} and "
        f"{m.context_tokens:,} tokens of context: {'fits' if m.fits else 'does not fit'}"
    )
    columns = [(name, [row[i] for row in shown]) for i, name in enumerate(heading)]
    return _table(columns, len(shown)) + _left_out(len(rows)) + _notes([said])


def price_svg(result: Any) -> str:
    """The parts of each pass as stacked bars."""
    from clover_sim.cost.roofline import PARTS
    from clover_sim.report import _plot_kinds as kinds
    from clover_sim.report._price import PART_NAMES

    rows = [
        (f"{e.kind.label} {e.width} x {e.batch_size}, {e.context_tokens:,} cached",
         {PART_NAMES[part]: getattr(e.price, field) for part, field in PARTS.items()})
        for e in result.passes[:MOST_BARS]
    ]  # fmt: skip
    where = f"{result.machine.model.name} on {result.machine.hardware.name}"
    return kinds.stacked(rows, f"What one pass costs, {where}", "Bars: the parts of the time of each pass.", "price")


def agent_html(document: Any) -> str:
    """A task as a table of strategies, and what it says in words."""
    from clover_sim.report import _agent

    rows = document["rows"]
    columns = [("strategy", [_agent.label(r) for r in rows])]
    columns += [(" ".join(title.split()), _agent._cells([r[key] for r in rows], form))
                for key, title, form in _agent._COLUMNS]  # fmt: skip
    return _table(columns, len(rows)) + _notes(_agent._sentences(document))


def agent_svg(document: Any) -> str:
    """Where the time of a task without failures goes."""
    from clover_sim.report import _agent
    from clover_sim.report import _plot_kinds as kinds

    parts = (("prefill_s", "prefill"), ("decode_s", "decoding"), ("tool_s", "tools"))
    rows = [
        (f"{_agent.label(r)}: {100 * r['task_success']:.3g} % finished", {name: r[key] for key, name in parts})
        for r in document["rows"][:MOST_BARS]
    ]
    title = f"Where the time of {document['workload']['name']} goes without failures, and the share of tasks finished"
    desc = "Bars: prefill, decoding and tools of one task under each strategy, with the share of tasks it finishes."
    return kinds.stacked(rows, title, desc, "agent", "time of the task", ("s", 1.0))


def serve_html(document: Any) -> str:
    """The ladder and the load in detail as tables, and what they say in words."""
    from clover_sim.report import _serve

    parts = []
    if ladder := document["ladder"]:
        columns = [("users", [str(step["users"]) for step in ladder])]
        for label in ladder[0]["strategies"]:
            columns.append((f"{label}, tok/s", [f"{s['strategies'][label]['tokens_per_s']:,.0f}" for s in ladder]))
        parts.append(_table(columns, len(ladder)))
    if rows := document["rows"]:
        columns = [("strategy", [str(r["strategy"]) for r in rows])]
        columns += [(" ".join(title.split()), ["-" if r[key] is None else format(r[key] * scale, form) for r in rows])
                    for key, title, scale, form in _serve._COLUMNS]  # fmt: skip
        parts.append(_table(columns, len(rows)))
    return "".join(parts) + _notes(_serve._sentences(document))


def serve_svg(document: Any) -> str:
    """What the machine writes by users, a line a strategy."""
    from clover_sim.report import _pictures
    from clover_sim.report import _plot_kinds as kinds

    ladder = document["ladder"]
    if not ladder:
        return _pictures.empty("Tokens a second by users", "serve")
    series = []
    wrong = {r["strategy"]: 1000 * r["locked_errors"] / r["tokens"] for r in document["rows"] if r["tokens"]}
    for label in ladder[0]["strategies"]:
        points = [(s["users"], s["strategies"][label]["tokens_per_s"]) for s in ladder]
        paid = f", {wrong[label]:.2g} wrong of 1,000" if label in wrong else ""
        series.append(kinds.Series(label + paid, tuple((x, y, y, y) for x, y in points)))
    title = "Tokens a second of the machine by users who always have a request under way"
    wide = ladder[-1]["users"] / ladder[0]["users"] >= 16
    return kinds.lines(series, ("users", "tokens/s in all"), title, "One line a strategy.", log_x=wide, log_y=wide,
                       name="serve")  # fmt: skip


def speculation_html(found: Any) -> str:
    """The answer as rows, its draft lengths, and the verdict."""
    from clover_sim.speculation.document import outline

    parts = []
    for title, rows, more in outline(found):
        parts.append(f"<p>{escape(clean(title))}</p>")
        if rows:
            parts.append(_table([("what", [r[0] for r in rows]), ("value", [r[1] for r in rows]),
                                 ("", [r[2] for r in rows])], len(rows)))  # fmt: skip
        parts.append(_notes(more) if more else "")
    return "".join(parts)


def speculation_svg(found: Any) -> str:
    """The speed-up by draft length."""
    from clover_sim.report import _plot_kinds as kinds

    points = tuple((p.k, p.speedup, p.speedup, p.speedup) for p in found.lengths)
    where = f"{found.machine.model.name} on {found.machine.hardware.name}, batch {found.cycle.batch_size}"
    title = f"Speed-up by draft length: {found.cycle.shape.method}, {where}"
    return kinds.lines([kinds.Series("speed-up", points)], ("draft tokens a cycle", "times as fast as plain decoding"),
                       title, "Below 1 drafts make it slower.", name="speculation")  # fmt: skip


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
