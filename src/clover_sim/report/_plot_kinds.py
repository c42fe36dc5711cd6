"""The kinds of picture: lines with a band, a Pareto scatter, bars, stacked costs, a roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.report._plot import DASHES, INK, LIGHT, Figure, Panel, labels_at, panel, stack, width_of
from clover_sim.report._plot_scale import Scale, label_of
from clover_sim.report._text import clip

MOST_SERIES = len(LIGHT)
_MOST_BANDS = 3
_LABEL = 30
"""Characters of a name at the end of a line."""
MOST_LABELS = 12
"""Points of a scatter that all get their names; of more only those of the front do."""
MOST_BARS = 16
"""Points of a front that show their intervals; those of more would hide each other."""


class Series(NamedTuple):
    """One line: points are ``(x, y, low, high)`` in the order of x."""

    name: str
    points: tuple[tuple[float, float, float, float], ...]


def lines(
    series: Sequence[Series], names: tuple[str, str], title: str, desc: str, *, log_x: bool = False,
    log_y: bool = False, name: str = "lines", below: tuple[Sequence[Series], str] | None = None,
) -> str:  # fmt: skip
    """Lines with bands from low to high; ``below`` are lines of the same series and their name, for axes underneath."""
    shown = [s for s in series if s.points][:MOST_SERIES]
    figure = Figure(title, desc, height=440 if below is None else 620)
    called = [clip(s.name, _LABEL) for s in shown]
    direct = len(shown) > 1 and len(set(called)) == len(called)
    right = 46 + max(width_of(text, 11) for text in called) if direct else 24.0
    if not direct:
        figure.legend([s.name for s in shown], lines=True)
    places = sorted({p[0] for s in shown for p in s.points})
    xs = Scale.around(places, log=log_x)
    if log_x and 2 <= len(places) <= 12:
        xs = Scale(places[0], places[-1], tuple(places), True)
    drawn = [(shown, names[1])] + ([] if below is None else [([*below[0]][:MOST_SERIES], below[1])])
    shares = (1.0,) if below is None else (0.6, 0.4)
    scales = [(_scale_of(each, log_y and not n, n > 0), name_y, shares[n]) for n, (each, name_y) in enumerate(drawn)]
    panels = stack(figure, xs, scales, names[0], right)
    for axes, (each, _) in zip(panels, drawn, strict=True):
        _draw(figure, axes, each)
    if direct:
        ends = [s.points[-1] for s in shown]
        labels_at(figure, panels[0], [
            (panels[0].x(end[0]), panels[0].y(end[1]), text) for end, text in zip(ends, called, strict=True)
        ])  # fmt: skip
    return figure.svg(name)


def _scale_of(series: Sequence[Series], log: bool, zero: bool) -> Scale:
    values = [v for s in series for p in s.points for v in p[1:]] or [0.0]
    zero = zero or min(values) < 0.4 * max(values)
    return Scale.around(values, log=log, zero=zero and not log and min(values) >= 0)


def _draw(figure: Figure, axes: Panel, series: Sequence[Series]) -> None:
    """A few lines with their bands, more with a bar at each point: bands of many hide each other."""
    for index, one in enumerate(series):
        colour = index % len(LIGHT)
        if len(series) > _MOST_BANDS:
            aside = (index - (len(series) - 1) / 2) * 1.8
            for x, _, a, b in one.points:
                if a != b:
                    figure.line(axes.x(x) + aside, axes.y(a), axes.x(x) + aside, axes.y(b), f"e s{colour}")
            continue
        low = [(axes.x(x), axes.y(a)) for x, _, a, _ in one.points]
        high = [(axes.x(x), axes.y(b)) for x, _, _, b in reversed(one.points)]
        if any(a != b for _, _, a, b in one.points):
            figure.path([*low, *high], f"f{colour} b", closed=True)
    for index, one in enumerate(series):
        figure.path([(axes.x(p[0]), axes.y(p[1])) for p in one.points], f"l s{index % len(LIGHT)}", DASHES[index % 8])
        for x, y, a, b in one.points:
            hint = f"{one.name}: {x:g}, {y:.4g}" + (f" ({a:.4g} to {b:.4g})" if a != b else "")
            if len(one.points) <= 40:
                figure.sign(axes.x(x), axes.y(y), index, hint, 3.5)


def pareto(
    points: Sequence[tuple[float, float, str]], front: Sequence[int], best: int | None, names: tuple[str, str],
    title: str, desc: str, bars: Mapping[int, tuple[float, float]] | None = None, name: str = "pareto",
) -> str:  # fmt: skip
    """Points with the front as a line; labels stand where they cover nothing."""
    figure = Figure(title, desc)
    figure.legend(["row", "Pareto front"] + ["best"] * (best is not None))
    bars = bars if bars and len(front) <= MOST_BARS else {}
    spread = [(points[i][0] + s * a, points[i][1] + s * b) for i, (a, b) in bars.items() for s in (-1, 1)]
    xs = Scale.around([p[0] for p in points] + [max(0.0, a) for a, _ in spread])
    ys = Scale.around([p[1] for p in points] + [max(0.0, b) for _, b in spread])
    axes = panel(figure, xs, ys, names)
    for i, (x, y, hint) in enumerate(points):
        if i not in front:
            figure.sign(axes.x(x), axes.y(y), 0, hint, 3, "f0 k")
    ordered = sorted(front, key=lambda i: points[i][0])
    figure.path([(axes.x(points[i][0]), axes.y(points[i][1])) for i in ordered], "l s1")
    if best is not None and best not in ordered:
        ordered.append(best)
    dots = [(axes.x(p[0]), axes.y(p[1])) for p in points]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    for i in ordered:
        x, y = axes.x(points[i][0]), axes.y(points[i][1])
        if i in bars:
            dx, dy = bars[i]
            low, high = axes.x(max(xs.low, points[i][0] - dx)), axes.x(min(xs.high, points[i][0] + dx))
            figure.line(low, y, high, y, "a")
            bottom, top = axes.y(max(ys.low, points[i][1] - dy)), axes.y(min(ys.high, points[i][1] + dy))
            figure.line(x, bottom, x, top, "a")
            taken += [(low, y - 2, high, y + 2), (x - 2, top, x + 2, bottom)]
        figure.sign(x, y, 2 if i == best else 1, points[i][2], 6 if i == best else 4.5)
        taken.append((x - 7, y - 7, x + 7, y + 7))
    rest = [i for i in range(len(points)) if i not in ordered] if len(points) <= MOST_LABELS else []
    for i in [*sorted(ordered, key=lambda i: i != best)[:8], *rest]:
        _label(figure, axes, points[i], taken)
    return figure.svg(name)


def _label(figure: Figure, axes: Any, point: tuple[float, float, str], taken: list[Any]) -> None:
    """The name of a point beside it, if there is room that nothing else takes."""
    text = clip(point[2].partition(":")[0], 44)
    x, y, w = axes.x(point[0]), axes.y(point[1]), width_of(text, 11)
    for left, base in ((x + 10, y + 4), (x - 10 - w, y + 4), (x - w / 2, y - 12), (x - w / 2, y + 22), (x + 8, y - 10)):
        box = (left - 2, base - 11, left + w + 2, base + 4)
        inside = axes.left <= box[0] and box[2] <= axes.right and axes.top <= box[1] and box[3] <= axes.bottom
        if inside and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            figure.text(left, base, text, "m n")
            taken.append(box)
            return


def bars(
    rows: Sequence[tuple[str, Sequence[float | None]]], series: Sequence[str], name_x: str, title: str, desc: str,
    notes: Sequence[str] = (), name: str = "bars", sign: str = "x", halves: Sequence[Sequence[float | None]] = (),
) -> str:  # fmt: skip
    """Horizontal bars, one group a row; ``notes`` stand at the right of each group, ``sign`` after each number.

    ``halves``: half the width of the interval of each bar, drawn over its end.
    """
    each, gap = 16, 14
    group = each * len(series) + gap
    label = min(330.0, max(width_of(clip(n, 46)) for n, _ in rows) + 14)
    right = max((width_of(n) for n in notes), default=0) + 66
    figure = Figure(title, desc, height=0)
    figure.legend(series, swatch=True)
    top = figure.top + 4
    bottom = top + group * len(rows)
    figure.height = bottom + 52
    half = [[(halves[r][s] or 0.0) if halves else 0.0 for s in range(len(vs))] for r, (_, vs) in enumerate(rows)]
    values = [v + half[r][s] for r, (_, vs) in enumerate(rows) for s, v in enumerate(vs) if v is not None]
    scale = Scale.around([*values, 0.0], zero=True)
    left, end = 16 + label, figure.width - right

    def at(value: float) -> float:
        return left + scale.part(value) * (end - left)

    free = -1e9
    for tick in scale.ticks:
        figure.line(at(tick), top, at(tick), bottom, "g")
        beside = width_of(label_of(tick, scale), 11) / 2
        if at(tick) - beside > free + 6:
            figure.text(at(tick), bottom + 17, label_of(tick, scale), "m n", "middle")
            free = at(tick) + beside
    figure.text((left + end) / 2, bottom + 38, name_x, "t", "middle")
    for r, (row_name, row_values) in enumerate(rows):
        y = top + r * group + gap / 2
        figure.text(left - 8, y + each * len(series) / 2 + 4, clip(row_name, 46), "t", "end")
        for s, value in enumerate(row_values):
            if value is not None:
                plus = f" ± {half[r][s]:.2g}" if half[r][s] else ""
                figure.rect(left, y + s * each, at(value) - left, each - 2, f"f{s}", f"{row_name}: {value:.4g}{plus}")
                if plus:
                    ends, middle = (at(max(0.0, value - half[r][s])), at(value + half[r][s])), y + s * each + 7
                    figure.line(ends[0], middle, ends[1], middle, "a h2")
                    for x in ends:
                        figure.line(x, middle - 3, x, middle + 3, "a h2")
                text = f"{value:.2f}{sign}" if sign else f"{value:.4g}"
                figure.text(at(value + half[r][s]) + 5, y + s * each + 11, text, "m n")
        if notes:
            figure.text(end + 54, y + each * len(series) / 2 + 4, notes[r], "t")
    figure.line(left, top, left, bottom, "a")
    return figure.svg(name)


def stacked(
    rows: Sequence[tuple[str, Mapping[str, float]]], title: str, desc: str, name: str = "stacked",
    of: str = "time of one pass", unit: tuple[str, float] = ("ms", 1e-3),
) -> str:  # fmt: skip
    """What a time (given in seconds) is made of; ``unit`` is the name and size of the unit of the axis."""
    per = 1 / unit[1]
    parts = sorted(
        {p for _, cost in rows for p, v in cost.items() if v > 0},
        key=lambda p: -sum(cost.get(p, 0) for _, cost in rows),
    )
    each, gap = 26, 14
    figure = Figure(title, desc, height=0)
    figure.legend(parts, swatch=True)
    label = min(330.0, max(width_of(clip(n, 46)) for n, _ in rows) + 14)
    top = figure.top + 4
    bottom = top + (each + gap) * len(rows)
    figure.height = bottom + 52
    scale = Scale.around([0.0, *(sum(cost.values()) * per for _, cost in rows)], zero=True)
    left, end = 16 + label, figure.width - 78

    def at(value: float) -> float:
        return left + scale.part(value) * (end - left)

    for tick in scale.ticks:
        figure.line(at(tick), top, at(tick), bottom, "g")
        figure.text(at(tick), bottom + 17, label_of(tick, scale), "m n", "middle")
    figure.text((left + end) / 2, bottom + 38, f"{of}, {unit[0]}", "t", "middle")
    for r, (row_name, cost) in enumerate(rows):
        y, before = top + r * (each + gap) + gap / 2, 0.0
        figure.text(left - 8, y + each / 2 + 4, clip(row_name, 46), "t", "end")
        for p, part in enumerate(parts):
            value = cost.get(part, 0.0) * per
            if value > 0:
                hint = f"{row_name}, {part}: {value:.3g} {unit[0]}"
                figure.rect(at(before), y, max(at(before + value) - at(before) - 1, 0.6), each, f"f{p % 8}", hint)
                before += value
        figure.text(at(before) + 6, y + each / 2 + 4, f"{before:.2f} {unit[0]}", "m n")
    figure.line(left, top, left, bottom, "a")
    return figure.svg(name)


def roofline(
    peak: float, bandwidth: float, points: Sequence[tuple[str, float, float]], title: str, desc: str,
    name: str = "roofline",
) -> str:  # fmt: skip
    """The roof of a machine and passes under it. Points are (name, FLOP per byte, FLOP per second)."""
    figure = Figure(title, desc)
    figure.legend([n for n, _, _ in points])
    ridge = peak / bandwidth
    low = min([p[1] for p in points] + [ridge / 100])
    high = max([p[1] for p in points] + [ridge * 10])
    xs = Scale.around([low, high], log=True)
    ys = Scale.around([min([p[2] for p in points] + [bandwidth * xs.low]), peak], log=True)
    axes = panel(figure, xs, ys, ("arithmetic intensity, FLOP per byte", "FLOP per second"))
    edge = max(xs.low, ys.low / bandwidth)
    roof = [(axes.x(x), axes.y(min(peak, x * bandwidth))) for x in (edge, ridge, xs.high)]
    figure.path(roof, f"l s{INK}")
    figure.text(axes.right - 6, axes.y(peak) + 16, f"peak {peak / 1e12:.4g} TFLOP/s", "m n", "end")
    figure.text(axes.left + 8, axes.top + 14, f"slope: {bandwidth / 1e12:.4g} TB/s", "m n")
    for i, (label, x, y) in enumerate(points):
        figure.line(axes.x(x), axes.y(y), axes.x(x), axes.y(min(peak, x * bandwidth)), f"w s{i % 8} k", "2 3")
        figure.sign(axes.x(x), axes.y(y), i, f"{label}: {x:.3g} FLOP/byte, {y / 1e12:.3g} TFLOP/s", 5)
    return figure.svg(name)
