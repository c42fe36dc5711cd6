"""Which picture a result gets, and the figures it is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.columns import INTERVAL, Column
from clover_sim.errors import CloverError
from clover_sim.report import _plot_kinds as kinds
from clover_sim.report._plot import Figure
from clover_sim.report._price import PART_NAMES
from clover_sim.report._rows import labels
from clover_sim.report._sweep import PER_1K, metric_column, with_rates
from clover_sim.stats import two_digits

Row = Mapping[str, Any]


def axis_name(entry: Column) -> str:
    """A figure's name with its unit, for an axis."""
    heading = " ".join(entry.title.split("\n")).replace("/ ", "/").replace("speed-up ", "speed-up in ")
    if entry.key.endswith(PER_1K):
        return f"{heading.removesuffix('/1k')} per 1,000 tokens"
    heading = heading.replace("tok/", "tokens/")
    told = not entry.unit or entry.unit in heading or entry.form in ("ratio", "count")
    return heading if told else f"{heading}, {entry.unit}"


def of_sweep(result: Any, name: str = "sweep") -> str:
    """Lines where one axis of numbers says it all, else the Pareto scatter."""
    long = [a for a in result.axes if len(a.values) > 1]
    rows = [with_rates(row, [result.errors]) for row in result.rows]
    alike = len({row.get(result.errors) for row in rows}) == 1  # then a scatter is a heap
    if result.rows and long and len(long) <= 2:
        for axis in sorted(long, key=lambda a: -len(a.values)):
            others = [a for a in long if a is not axis]
            groups = 1
            for other in others:
                groups *= len(other.values)
            if _numbers(axis.values) and len(axis.values) >= (2 if alike else 3) and groups <= kinds.MOST_SERIES:
                picture = along(result, axis.key, result.speed, name)
                if picture:
                    return picture
    if alike and 1 < len(rows) <= kinds.MOST_SERIES * 3:
        return beside(result, name)
    return pareto_of(result, name)


def beside(result: Any, name: str = "rows") -> str:
    """A bar a row, with its errors: for settings that are names and do not change the text."""
    rows = [with_rates(row, [result.speed, result.errors]) for row in result.rows]
    speed, errors = metric_column(result.speed), metric_column(result.errors)
    several = len({row["strategy"] for row in rows}) > 1
    data = [(_row_name(row, several), (row.get(result.speed),)) for row in rows]
    notes = [f"{row[result.errors]:.3g} {'wrong' if result.errors.startswith('locked') else ''}".strip()
             if row.get(result.errors) is not None else "" for row in rows]  # fmt: skip
    title = _capital(f"{axis_name(speed)} by {', '.join(a.key for a in result.axes)}; {axis_name(errors)} at the right")
    desc = f"{speed.meaning} At the right: {errors.meaning}"
    sign = "x" if speed.form == "ratio" else ""
    halves = [(row.get(result.speed + INTERVAL),) for row in rows]
    return kinds.bars(data, (axis_name(speed),), axis_name(speed), title, desc, notes, name, sign, halves)


def _row_name(row: Row, several: bool) -> str:
    """The settings of a row in words."""
    named = [row["strategy"]] * (several or not row["varied"])
    return ", ".join(named + [f"{k}={v}" for k, v in row["varied"].items()])


def along(result: Any, key: str, figure: str, name: str = "lines") -> str:
    """A figure along one axis, a line for each combination of the rest; empty where there is none to draw."""
    entry = metric_column(figure)
    errors = result.errors if result.errors != figure else ""
    rows = [with_rates(row, [figure, errors]) for row in result.rows]
    several = len({row["strategy"] for row in rows}) > 1
    series, paid = _series(rows, key, figure, several), _series(rows, key, errors, several)
    if not series or len(series) > kinds.MOST_SERIES:
        return ""
    values = [p[0] for s in series for p in s.points]
    wide = min(values) > 0 and max(values) / min(values) >= 16
    band = f"mean of {len(result.seeds)} seeds, 95 % interval" if len(result.seeds) > 1 else "one seed"
    title, desc, below = _capital(axis_name(entry).partition(",")[0]), entry.meaning, None
    if paid:
        lost = metric_column(errors)
        title += f" and {axis_name(lost)},"
        desc, below = f"{desc} Below: {lost.meaning}", (paid, axis_name(lost))
    return kinds.lines(
        series, (key, axis_name(entry)), f"{title} by {key} ({band})", desc, log_x=wide, name=name, below=below
    )


def _series(rows: Sequence[Row], key: str, figure: str, several: bool) -> list[kinds.Series]:
    """The lines of a figure along the axis ``key``, one for each combination of the rest; those of ``""`` are none."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in rows:
        value, x = row.get(figure), _number(row["varied"].get(key))
        rest = [row["strategy"]] * several + [f"{k}={v}" for k, v in row["varied"].items() if k != key]
        if value is None or x is None:
            continue
        half = row.get(figure + INTERVAL) or 0.0
        low = max(0.0, value - half) if value >= 0 else value - half
        found.setdefault(", ".join(rest) or row["strategy"], []).append((x, value, low, value + half))
    return [kinds.Series(n, tuple(sorted(points))) for n, points in found.items()]


def pareto_of(result: Any, name: str = "pareto") -> str:
    """Speed against errors, all rows, the front as a line."""
    keys = (result.speed, result.errors)
    rows = [with_rates(row, keys) for row in result.rows]
    places = [i for i, r in enumerate(rows) if all(r.get(k) is not None for k in keys)]
    speed, errors = metric_column(result.speed), metric_column(result.errors)
    title = _capital(f"{axis_name(speed)} against {axis_name(errors)}")
    if not places:
        return empty(title, name)
    points, bars, back = [], {}, {}
    several = len({row["strategy"] for row in rows}) > 1
    for n, i in enumerate(places):
        row = rows[i]
        back[i] = n
        text = _row_name(row, several)
        points.append(
            (row[result.errors], row[result.speed], f"{text}: {row[result.speed]:.4g}, {row[result.errors]:.4g}")
        )
        half = (row.get(result.errors + INTERVAL) or 0.0, row.get(result.speed + INTERVAL) or 0.0)
        if i in result.front and any(half):
            bars[n] = half
    front = [back[i] for i in result.front if i in back]
    desc = f"{len(points)} rows, {len(front)} of them on the Pareto front. {speed.meaning} {errors.meaning}"
    return kinds.pareto(
        points, front, back.get(result.best), (axis_name(errors), axis_name(speed)), title, desc, bars, name
    )


def of_comparison(result: Any, name: str = "comparison") -> str:
    """Latency over the lengths where there are several, else the speed-ups of one length."""
    rows = list(result.rows)
    if not rows:
        return empty("comparison", name)
    one = [row for row in rows if row["stream"] == rows[-1]["stream"]]
    if len({row["tokens"] for row in one}) > 2:
        found: dict[str, list[tuple[float, float, float, float]]] = {}
        paid: dict[str, list[tuple[float, float, float, float]]] = {}
        errors = f"locked_errors{PER_1K}"
        for label, row in zip(labels(one), one, strict=True):
            if row["latency_s"] is not None:
                band = (row["latency_s"], row["latency_low_s"], row["latency_high_s"])
                found.setdefault(label, []).append((row["tokens"], *band))
                rated = with_rates(row, [errors])
                wrong, half = rated[errors], rated.get(errors + INTERVAL) or 0.0
                paid.setdefault(label, []).append((row["tokens"], wrong, max(0.0, wrong - half), wrong + half))
        series = [kinds.Series(n, tuple(sorted(p))) for n, p in found.items()]
        title = f"Latency and locked errors by length, {_where(result)} (band of latency: middle 80 % of measurements)"
        lost = metric_column(errors)
        return kinds.lines(
            series, ("tokens", "latency, s"), title,
            f"Time of all decoding passes, drafts included. Below: {lost.meaning}", name=name,
            below=([kinds.Series(n, tuple(sorted(p))) for n, p in paid.items()], axis_name(lost)),
        )  # fmt: skip
    last = [row for row in one if row["tokens"] == one[-1]["tokens"]]
    return speedups(result, last, name)


def speedups(result: Any, rows: Sequence[Row], name: str = "speedups") -> str:
    """Speed-up in passes and in time, with the errors that each strategy locked in."""
    names = labels(rows)
    data = [(n, (row["speedup_passes"], row["speedup_time"])) for n, row in zip(names, rows, strict=True)]
    halves = [tuple(row.get(key + INTERVAL) for key in ("speedup_passes", "speedup_time")) for row in rows]
    notes = [_locked(row) for row in rows]
    title = f"Speed-up over token by token: {rows[0]['tokens']:g} tokens of {rows[0]['stream']}, {_where(result)}"
    desc = "Bars: speed-up in passes and in time of each strategy. At the right: wrong tokens that stay in the text."
    if any(half for pair in halves for half in pair):
        title += f" (mean of {rows[0]['seeds']} seeds, 95 % interval)"
    return kinds.bars(data, ("in passes", "in time"), "times as fast as ar", title, desc, notes, name, halves=halves)


def _locked(row: Row) -> str:
    errors, half = row["locked_errors"], row.get("locked_errors" + INTERVAL)
    if errors is None:
        return "errors not known"
    return f"{errors:.3g}" + (f" ± {two_digits(half)}" if half else "") + " locked"


def _where(result: Any) -> str:
    names = [str(result.settings[k]) for k in ("model", "gpu") if result.settings.get(k)]
    return " on ".join(names) or str(result.settings.get("cost", ""))


def machine_pictures(settings: Mapping[str, Any], options: Sequence[Row]) -> list[str]:
    """A stacked cost and a roofline of the passes that strategies ask for; none for a machine not known by name."""
    try:
        machine = machine_of(settings)
        passes = _passes(options)
        from clover_sim.cost.roofline import PARTS, price

        prices = [(label, price(machine, shape)) for label, shape in passes]
    except CloverError:
        return []
    hardware = machine.hardware
    cost = [(label, {PART_NAMES[part]: getattr(p, field) for part, field in PARTS.items()}) for label, p in prices]
    where = f"{machine.model.name} on {hardware.name}"
    found = [kinds.stacked(cost, f"What one pass costs, {where}",
                           "Bars: the parts of the time of one pass of each width.", "parts")]  # fmt: skip
    points = []
    for label, p in prices:
        moved = p.weight_bytes + p.kv_bytes + p.state_bytes
        if moved and p.latency_s and p.flop:
            points.append((label, p.flop / moved, p.flop / p.latency_s))
    peak = hardware.peak_flop_per_s("bf16")
    if points and peak:
        cards = machine.tensor_parallel_size
        found.append(kinds.roofline(
            peak * cards, hardware.bandwidth_bytes_per_s * cards, points, f"Roofline of {where}",
            "The roof is what the machine could do; the dotted lines are what passes leave unused.", "roof",
        ))  # fmt: skip
    return found


def machine_of(settings: Mapping[str, Any]) -> Any:
    """The machine that settings name; :class:`CloverError` for one that is not known by name."""
    from clover_sim.cost import Machine
    from clover_sim.specs import default_engine, load_engine, load_hardware, load_model

    hardware = load_hardware(str(settings.get("gpu", "")))
    engine = load_engine(str(settings.get("engine") or default_engine(hardware)))
    keys = ("precision", "kv_cache_dtype", "tensor_parallel_size")
    given = {k: settings[k] for k in keys if isinstance(settings.get(k), (str, int))}
    return Machine(load_model(str(settings.get("model", ""))), hardware, engine, **given)


def _passes(options: Sequence[Row]) -> list[tuple[str, Any]]:
    from clover_sim.records import Kind, PassShape

    found = [("1 token", PassShape(Kind.DECODE, (1,), 1024.0))]
    drafts = sorted({o["num_speculative_tokens"] for o in options if isinstance(o.get("num_speculative_tokens"), int)})
    blocks = sorted({o["block_size"] for o in options if isinstance(o.get("block_size"), int)})
    found += [(f"verify {k + 1}", PassShape(Kind.VERIFY, (k + 1,), 1024.0)) for k in drafts[:2]]
    found += [(f"block {b}", PassShape(Kind.DENOISE, (b,), 1024.0)) for b in blocks[:5]]
    return found


def empty(title: str, name: str) -> str:
    """A picture that says there is nothing to see."""
    figure = Figure(title, "No rows.", height=120)
    figure.text(16, 80, "no rows to draw", "m")
    return figure.svg(name)


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _numbers(values: Sequence[Any]) -> bool:
    return all(_number(value) is not None for value in values)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
