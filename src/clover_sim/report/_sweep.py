"""A sweep as text: the Pareto front or every row, a scatter, the words; and as CSV and markdown, all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clover_sim.columns import COLUMNS, INTERVAL, Column, column
from clover_sim.report import PLAIN, Look
from clover_sim.report._charts import scatter, spark
from clover_sim.report._figures import cells, option_text, unit_of
from clover_sim.report._grid import Strip, header, row, squeezed, total_width
from clover_sim.report._rows import count, heading
from clover_sim.report._text import clean, wrap
from clover_sim.report.table import _flow

PER_1K = "_per_1k"
MOST_ROWS = 24
"""Rows that are shown without being asked for; more are reduced to the Pareto front."""


def metric_column(key: str) -> Column:
    """The column of a figure; a count in each thousand tokens gets one made from that of the count.

    >>> metric_column("locked_errors_per_1k").heading
    'locked errors/1k'
    """
    if not key.endswith(PER_1K):
        return column(key)
    base = column(key.removesuffix(PER_1K))
    unit = f"{base.unit}/1k tokens"
    return Column(key, f"{base.title}/1k", unit, "figure", None, f"1000 {base.key} / tokens.", base.better)


def with_rates(item: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """A row with the figures of ``keys`` that are derived from others."""
    found = dict(item)
    for key in keys:
        if key.endswith(PER_1K):
            for suffix in ("", INTERVAL):
                value = item.get(key.removesuffix(PER_1K) + suffix)
                if value is not None:
                    found[key + suffix] = 1000 * value / item["tokens"]
    return found


def axis_text(item: Mapping[str, Any], key: str) -> str:
    """The value of a varied setting in a row, ``-`` where the strategy has no such option."""
    value = item["varied"].get(key)
    return "-" if value is None else option_text(value)


def table(result: Any, look: Look = PLAIN, every: bool = False) -> str:
    """Heading, rows, picture, notes."""
    keys = list(dict.fromkeys([result.speed, result.errors, result.best_by]))
    rows = [with_rates(item, keys) for item in result.rows]
    shown = _shown(result, every)
    some = [rows[i] for i in shown]
    lines = _flow(_heading(some or rows, result, look), look.dot, look)
    told = [""] + [part for note in result.notes for part in wrap(f"- {clean(note)}", look.width, "  ")]
    if not rows:
        return "\n".join(line.rstrip() for line in [*lines, "no rows", *(told if result.notes else [])]) + "\n"
    if len(some) < len(rows):
        lines.append(f"{_which(result)}: {count(len(some), 'row')} of {len(rows):,} (--all shows every row)")
    if not some:
        return "\n".join(line.rstrip() for line in [*lines, *_picture(rows, result, look), *told]) + "\n"
    strips = [Strip(["", "strategy"], [[clean(r["strategy"])] for r in some], right=False)]
    strips += [_axis_strip(axis, some) for axis in result.axes]
    if len({r["tokens"] for r in rows}) > 1 and not any(a.key == "tokens" for a in result.axes):
        strips.append(_strip(column("tokens"), some, look))
    chosen = [_strip(metric_column(key), some, look) for key in keys]
    marks = Strip(["", ""], [[_mark(i, result, look)] for i in shown], right=False)
    for key in _extra(result):
        if key not in keys and all(r.get(key) is not None for r in some):
            more = _strip(metric_column(key), some, look)
            if look.width is None or total_width([*strips, *chosen, more, marks]) <= look.width:
                chosen.append(more)
    strips = squeezed([*strips, *chosen, marks], look.width)
    lines += ["", *header(strips, look)]
    for index in range(len(some)):
        lines += row(strips, index, look)
    lines += [*_picture(rows, result, look), *told]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _axis_strip(axis: Any, rows: Sequence[Mapping[str, Any]]) -> Strip:
    """The values of a varied setting, names from the left and numbers from the right."""
    texts = [axis_text(item, axis.key) for item in rows]
    return Strip(["", axis.key], [[text] for text in texts], right=all(_is_figure(text) for text in texts))


def _is_figure(text: str) -> bool:
    return set(text) <= set("0123456789.-+eE")


def _extra(result: Any) -> list[str]:
    """Figures beside those that are judged, the most telling first; requests together have a speed of their own."""
    together = any(a.key == "batch_size" for a in result.axes) or (result.settings.get("batch_size") or 1) > 1
    return [
        "speedup_time", *(["total_tokens_per_s"] if together else []), "target_passes", "tokens_per_pass", "latency_s",
        "tokens_per_s", "speedup_passes",
    ]  # fmt: skip


def _shown(result: Any, every: bool) -> list[int]:
    """Indices of the rows to show: all where they are few, else the front and what is best somewhere."""
    if every or len(result.rows) <= MOST_ROWS:
        return list(range(len(result.rows)))
    return sorted({*result.front, *([] if result.best is None else [result.best]), *result.best_at})


def _which(result: Any) -> str:
    """What the rows that are shown have in common."""
    parts = ["Pareto front"] if result.front else []
    if result.places:
        parts.append(f"best at each {' and '.join(result.places)}")
    return " and ".join(parts) or "best"


def _heading(rows: Sequence[Mapping[str, Any]], result: Any, look: Look) -> list[str]:
    """What holds for all rows, in short parts, and what may be best where nobody said it."""
    parts = heading(_Shown(rows, result), look)
    if not rows:
        stream = result.settings.get("profile")
        tokens: Sequence[int] = result.question.get("tokens") or ()
        lengths = [count(tokens[0], "token")] if len(tokens) == 1 else []
        parts = [*([f"{clean(str(stream))} stream"] if stream else []), *lengths, *parts]
        parts += [f"{len(result.seeds)} seeds"] if len(result.seeds) > 1 else []
    bound = result.bound
    if bound is not None and not all(bound.holds(row) for row in result.rows):
        heads = metric_column(bound.key).heading
        parts.append(f"best: at most {bound.value:g} {heads}")
    return parts


class _Shown:
    """What a heading is made from: the rows that are shown, with the settings of all, axes of one value among them."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], result: Any) -> None:
        alone = {axis.key: axis.values[0] for axis in result.axes if len(axis.values) == 1}
        self.rows, self.settings, self.seeds = rows, {**result.settings, **alone}, result.seeds
        self.notes, self.inputs = result.notes, result.inputs

    def to_dict(self) -> dict[str, Any]:
        """Not asked for by a heading."""
        return {}


def _mark(index: int, result: Any, look: Look) -> str:
    if index == result.best:
        return "best"
    if index in result.best_at:
        return "best here"
    if index in (result.alike_at if result.places else result.alike):
        return "≈ best" if look.unicode else "~ best"
    return ""


def _strip(entry: Column, rows: Sequence[Mapping[str, Any]], look: Look) -> Strip:
    title = entry.title.split("\n")
    if entry.form == "seconds":
        title = [*title[:-1], f"{title[-1]}, {unit_of(entry, rows, look)[0]}"]
    return Strip(title if len(title) > 1 else ["", *title], [[text] for text in cells(entry, rows, look)])


def _picture(rows: Sequence[Mapping[str, Any]], result: Any, look: Look) -> list[str]:
    """A sparkline for one axis of numbers, a scatter otherwise."""
    if len(rows) < 3:
        return []
    long = [axis for axis in result.axes if len(axis.values) > 1]
    if len(long) == 1 and len({r["strategy"] for r in rows}) == 1 and len(rows) <= 72:
        lines = [""]
        for key in (result.speed, result.errors):
            values = [r.get(key) for r in rows]
            known = [v for v in values if v is not None]
            if known:
                names = f"{axis_text(rows[0], long[0].key)} to {axis_text(rows[-1], long[0].key)}"
                scale = f"{min(known):.4g} to {max(known):.4g}"
                lines.append(f"{metric_column(key).heading:>18}  {spark(values, look)}  {scale}, {long[0].key} {names}")
        return lines
    places = [i for i, r in enumerate(rows) if r.get(result.speed) is not None and r.get(result.errors) is not None]
    points = [(rows[i][result.errors], rows[i][result.speed]) for i in places]
    if len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:
        return []
    back = {i: n for n, i in enumerate(places)}
    front = [back[i] for i in result.front if i in back]
    titles = (metric_column(result.errors).heading, metric_column(result.speed).heading)
    return ["", *scatter(points, front, titles, look, back.get(result.best))]


def csv(result: Any, look: Look = PLAIN, every: bool = True) -> str:
    """All rows: the varied settings, all columns, whether on the front; base SI units, full precision."""
    import csv as writing
    import io

    from clover_sim.report.csv import cell

    present = {key for item in result.rows for key in item}
    keys = [key for c in COLUMNS for key in (c.key, c.key + INTERVAL) if key in present]
    axes = [axis.key for axis in result.axes if axis.key not in keys]
    text = io.StringIO(newline="")
    writer = writing.writer(text, lineterminator="\r\n")
    writer.writerow([*axes, *keys, "pareto"])
    for i, item in enumerate(result.rows):
        varied = [cell(item["varied"].get(key)) for key in axes]
        writer.writerow([*varied, *(cell(item.get(key)) for key in keys), int(i in result.front)])
    return text.getvalue()


def markdown(result: Any, look: Look = PLAIN, every: bool = False) -> str:
    """The rows that the table shows as a markdown table, and the notes."""
    keys = list(dict.fromkeys(
        [result.speed, result.errors, result.best_by, "speedup_time", "target_passes", "latency_s"]
    ))  # fmt: skip
    rows = [with_rates(item, keys) for item in result.rows]
    shown = _shown(result, every)
    some = [rows[i] for i in shown]
    columns: list[tuple[str, list[str], str]] = [("strategy", [r["strategy"] for r in some], "---")]
    columns += [(axis.key, [axis_text(r, axis.key) for r in some], "---:") for axis in result.axes]
    for key in keys:
        entry = metric_column(key)
        unit = f" ({unit_of(entry, some, look)[0]})" if entry.form == "seconds" else ""
        columns.append((entry.heading + unit, cells(entry, some, look), "---:"))
    columns.append(("", [_mark(i, result, look) for i in shown], "---"))
    line: Callable[[Sequence[str]], str] = lambda parts: "| " + " | ".join(map(_safe, parts)) + " |"  # noqa: E731
    lines = [line([name for name, _, _ in columns]), "| " + " | ".join(rule for _, _, rule in columns) + " |"]
    lines += [line([texts[i] for _, texts, _ in columns]) for i in range(len(some))]
    return "\n".join([*lines, "", *(f"- {_safe(note)}" for note in result.notes)]) + "\n"


def _safe(text: str) -> str:
    for char in "\\|<>*_`[]":
        text = text.replace(char, "\\" + char) if char != "_" else text
    return clean(text.strip())
