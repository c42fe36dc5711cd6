"""The answer of a result as a sentence that needs no knowledge of its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from clover_sim.columns import INTERVAL
from clover_sim.report._figures import option_text
from clover_sim.report._rows import labels
from clover_sim.report._sweep import PER_1K, metric_column, with_rates
from clover_sim.row_names import joined

Row = Mapping[str, Any]


def answer(result: Any) -> str:
    """Which row is best, how fast it is and what that cost; empty where there is no row to speak of."""
    if not result.rows:
        return ""
    return _of_sweep(result) if hasattr(result, "axes") else _of_comparison(list(result.rows))


def in_words(key: str) -> str:
    """A figure's name as a sentence has it.

    >>> in_words("speedup_time"), in_words("locked_errors_per_1k"), in_words("tokens_per_s")
    ('speed-up in time', 'locked errors per 1,000 tokens', 'tokens/s')
    """
    if key.endswith(PER_1K):
        return f"{in_words(key.removesuffix(PER_1K))} per 1,000 tokens"
    return metric_column(key).heading.replace("speed-up ", "speed-up in ").replace("tok/", "tokens/")


def _of_comparison(rows: Sequence[Row]) -> str:
    last = rows[-1]
    some = [row for row in rows if (row["stream"], row["tokens"]) == (last["stream"], last["tokens"])]
    named = dict(zip(map(id, some), labels(some), strict=True))
    told = [row for row in some if row["strategy"] != "ar" and row.get("speedup_time")]
    if not told:
        return ""
    fastest = max(told, key=lambda row: row["speedup_time"])
    if fastest["speedup_time"] <= 1:
        return (
            f"Nothing here is faster than token by token; {_name(named[id(fastest)])} comes closest, at "
            f"{_figure(fastest, 'speedup_time')} of its speed."
        )
    said = f"{_name(named[id(fastest)])} is fastest: {_speed(fastest)}, {_wrong(fastest)}."
    clean_ones = [row for row in told if not row["locked_errors"] and row["locked_errors"] is not None]
    if fastest["locked_errors"] and clean_ones:
        second = max(clean_ones, key=lambda row: row["speedup_time"])
        if second["speedup_time"] > 1:
            said += f" Of those that leave no wrong token {_name(named[id(second)])} is fastest: {_speed(second)}."
    return said


def _of_sweep(result: Any) -> str:
    conditions = [*result.where, *([result.bound] if result.bound is not None else [])]
    bars = joined([f"{_bar_words(bar.key)} {_SIGNS[bar.test]} {bar.value:g}" for bar in conditions])
    if result.best is None:
        rows = [row for row in result.rows if row.get("locked_errors") is not None]
        if not bars or not rows:
            return "No row has a figure to judge by."
        row = min(rows, key=lambda row: row["locked_errors"] / row["tokens"])
        parts = [_speed(row) if row.get("speedup_time") else "", _wrong(row)]
        return f"No row has {bars}. Fewest errors: {_row_name(result, row)}. {_sentence(parts)}"
    among = f" of the rows with {bars}" if bars else ""
    row = with_rates(result.rows[result.best], [result.best_by, result.errors])
    said = f"Best {in_words(result.best_by)}{among}: {_row_name(result, row)}. "
    told = result.best_by in ("speedup_time", "locked_errors")
    figure = "" if told else f"{_figure(row, result.best_by)} {_unit(result.best_by)}".strip()
    parts = [figure, _speed(row) if row.get("speedup_time") else "", _wrong(row)]
    said += _sentence(parts)
    if result.alike:
        others = len(result.alike)
        said += f" {others} other row{'s' if others > 1 else ''} cannot be told from it with these seeds."
    return said + _at_each_place(result)


def _at_each_place(result: Any) -> str:
    """What is best at each value of the machine and the batch; empty where neither varies."""
    if len(result.best_at) < 2:
        return ""
    counts: dict[str, int] = {}
    for index in result.best_at:
        name = _row_name(result, result.rows[index], result.places)
        counts[name] = counts.get(name, 0) + 1
    where = joined([str(place) for place in result.places])
    if len(counts) == 1:
        return f" At each {where} it is {next(iter(counts))}."
    told = sorted(counts.items(), key=lambda item: -item[1])[:3]
    more = f", and {len(counts) - 3} more" if len(counts) > 3 else ""
    parts = joined([f"{name} at {count}" for name, count in told])
    return f" Of {len(result.best_at)} values of {where} the best is {parts}{more}."


def _row_name(result: Any, row: Row, but: Sequence[str] = ()) -> str:
    long = {axis.key for axis in result.axes if len(axis.values) > 1 and axis.key not in but}
    varied = [f"{k} {option_text(v)}" for k, v in row["varied"].items() if v is not None and k in long]
    return str(row["strategy"]) + (f" with {joined(varied)}" if varied else "")


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}."


_SIGNS = {"<=": "up to", "<": "below", ">=": "at least", ">": "above", "==": "exactly"}


def _bar_words(key: str) -> str:
    """As :func:`in_words`, and the key itself for a varied setting that is no figure."""
    from clover_sim.errors import UsageError

    try:
        return in_words(key)
    except UsageError:
        return key


def _unit(key: str) -> str:
    unit = metric_column(key).unit
    return "" if key.endswith(PER_1K) or not unit else unit


def _name(label: str) -> str:
    """``block-diffusion:threshold=0.9`` as it is read aloud."""
    name, _, options = label.partition(":")
    return name + (f" with {options.replace('=', ' ').replace(',', ', ')}" if options else "")


def _figure(row: Row, key: str) -> str:
    """A figure with its interval, both with the digits that the interval leaves worth saying."""
    value, half = row[key], row.get(key + INTERVAL)
    if not half:
        return f"{value:.3g}"
    places = max(0, min(2, 1 - floor(log10(half))))
    return f"{value:.{places}f} ± {max(half, 10**-places):.{places}f}"


def _speed(row: Row) -> str:
    return f"{_figure(row, 'speedup_time')} times as fast as token by token"


def _wrong(row: Row) -> str:
    errors, tokens = row.get("locked_errors"), row["tokens"]
    if errors is None:
        return "errors not known"
    if not errors:
        return f"no wrong token in {tokens:,g}"
    several = " on average" if row.get("seeds", 1) > 1 else ""
    return f"{errors:.3g} wrong token{'' if errors == 1 else 's'}{several} in {tokens:,g}"
