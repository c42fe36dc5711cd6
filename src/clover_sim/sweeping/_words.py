"""A sweep in words: what may be best, what is, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.notes import draft_notes, model_notes
from clover_sim.stats import two_digits
from clover_sim.sweeping._judge import Bar, figure, half_width

Row = Mapping[str, Any]
_MOST_PLACES = 12
"""Machines and batches whose best is said in words."""


class Judged(NamedTuple):
    """What was made of the rows of a sweep; see :class:`~clover_sim.sweeping.Sweep`.

    ``near`` counts rows that may belong to the front, ``refused`` cells that do not fit. ``best_of`` has the values of
    the ``places`` axes with the index of the best row there, ``None`` where none meets the conditions, ``alike_of``
    the rows there that the seeds cannot tell from it. ``models`` are the model of each row, where it has one.
    """

    rows: Sequence[Row]
    models: Sequence[Any]
    front: Sequence[int]
    near: int | None
    best_by: str
    best: int | None
    alike: Sequence[int] | None
    where: Sequence[Bar]
    bound: Bar | None
    speed: str
    errors: str
    seeds: int
    refused: int
    places: Sequence[str]
    best_of: Mapping[tuple[Any, ...], int | None]
    alike_of: Mapping[tuple[Any, ...], Sequence[int]]


def name_of(row: Row, without: Sequence[str] = ()) -> str:
    """A row in words: the strategy and what was varied.

    >>> name_of({"strategy": "ar", "varied": {"gpu": "h200"}}), name_of({"strategy": "ar", "varied": {"a": 1}}, ["a"])
    ('ar, gpu=h200', 'ar')
    """
    varied = (row.get("varied") or {}).items()
    return ", ".join([row["strategy"], *(f"{key}={value}" for key, value in varied if key not in without)])


def value_text(row: Row, key: str) -> str:
    """A figure in words, with its interval."""
    value, half = figure(row, key), half_width(row, key)
    if value is None:
        return "no value"
    return f"{value:.4g}" + (f" ± {two_digits(half)}" if half else "")


def explain(found: Judged) -> list[str]:
    """Sentences for under the table, the answer last."""
    rows, bound = found.rows, found.bound
    under = f" with {' and '.join(map(str, found.where))}" if found.where else ""
    notes = []
    if found.refused:
        one, several = "cell does not fit on the card and gets", "cells do not fit on the card and get"
        notes.append(f"{_counted(found.refused, one, several)} no row.")
    notes += _front(found, under)
    if bound is not None and (missed := sum(not bound.holds(row) for row in rows)):
        under = f" with {bound}"
        notes.append(
            f"Without --where only rows{under} may be best, which leaves out {missed} of {len(rows)}; --where none "
            "admits all."
        )
    lifted = [row for row in rows if row["denoise_passes"] and row["options"].get("block_size") and not _waits(row)]
    if len({row["options"]["block_size"] for row in lifted}) > 1:
        notes.append(
            "Block sizes: this kind of stream raises every confidence alike, so tokens per pass grow with the block, "
            "where measured models stay flat from 16 to 64. Do not choose a block size by these rows; --profile "
            "context has a confidence that waits for its context."
        )
    notes += draft_notes((row["strategy"], row["options"]) for row in rows)
    notes += model_notes(zip(rows, found.models, strict=True))
    if found.speed != "speedup_time" and any(row.get("speedup_time") for row in rows):
        notes.append("The speed-up of each row is over ar on the same machine, at the same batch, on the same stream.")
    if found.best is None:
        if not rows:
            return [*notes, "No cell gave a row."]
        where = found.where if bound is None else (bound,)
        return [*notes, _closest(rows, where, found.best_by) or f"No row{under} has a value of {found.best_by}."]
    return [*notes, _how_sure(found, under), *_best(found, under)]


def _front(found: Judged, under: str) -> list[str]:
    if len(found.front) < 2:
        return []
    notes = [
        f"Pareto front of {found.speed} against {found.errors}: {len(found.front)} of {len(found.rows)} rows; every "
        f"other row{under} is beaten by one of them in one figure without being better in the other."
    ]
    if found.near:
        notes.append(
            f"{_counted(found.near, 'more row', 'more rows')} may belong there: no row of the front beats them by more "
            "than the paired 95 % interval."
        )
    return notes


def _how_sure(found: Judged, under: str) -> str:
    """What the seeds tell of the best row."""
    if found.seeds < 2:
        return "One seed: what differs by little may differ by chance; --seeds 0:16 gives paired intervals."
    if found.alike is None:
        return f"{found.best_by} is not kept seed by seed, so nothing is said of how sure the best is."
    if found.places:
        unsure = [_place(place) for place, alike in found.alike_of.items() if alike]
        if not unsure:
            return (
                f"Everywhere the best differs from every other row there{under} by more than its paired 95 % interval "
                f"({found.seeds} seeds)."
            )
        return (
            f"Not distinguishable from another row with these {found.seeds} seeds (paired 95 % interval holds 0): the "
            f"best at {_some(unsure)}."
        )
    if not found.alike:
        return (
            f"Every other row{under} differs from the best by more than its paired 95 % interval ({found.seeds} seeds)."
        )
    shown = "; ".join(name_of(found.rows[i]) for i in found.alike[:3])
    more = f" and {len(found.alike) - 3} more" if len(found.alike) > 3 else ""
    return (
        f"Not distinguishable from the best with these {found.seeds} seeds (paired 95 % interval holds 0): "
        f"{shown}{more}."
    )


def _best(found: Judged, under: str) -> list[str]:
    """The best row of all, and by machine and batch where these vary: on one's own machine another may be best."""
    assert found.best is not None
    row, other = found.rows[found.best], found.errors if found.best_by != found.errors else found.speed
    told = [other, *(["speedup_time"] if "speedup_time" not in (found.best_by, other) else [])]
    figures = ", ".join(f"{key} {value_text(row, key)}" for key in told)
    everywhere = " of all" if found.places else ""
    notes = [f"Best {found.best_by}{everywhere}{under}: {name_of(row)}: {value_text(row, found.best_by)}, {figures}."]
    if not found.places:
        return notes
    winners: dict[str, list[str]] = {}
    for place, index in found.best_of.items():
        name = "none" if index is None else name_of(found.rows[index], found.places)
        winners.setdefault(name, []).append(_place(place))
    by = " and ".join(found.places)
    if len(winners) == 1:
        return [*notes, f"Best {found.best_by} at every {by}{under}: {next(iter(winners))}."]
    parts = "; ".join(f"{name} at {_some(here)}" for name, here in winners.items())
    return [*notes, f"Best {found.best_by}{under}, which changes with {by}: {parts}."]


def _place(values: Sequence[Any]) -> str:
    return f"({', '.join(map(str, values))})" if len(values) > 1 else str(values[0])


def _some(places: Sequence[str]) -> str:
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return ", ".join(places[:_MOST_PLACES]) + more


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _waits(row: Row) -> bool:
    """Whether the stream of a row has a confidence of its own for each context, as a fitted or recorded one does."""
    return str(row["stream"]).startswith(("context", "trace"))


def _closest(rows: Sequence[Row], where: Sequence[Bar], best_by: str) -> str:
    """What to say where no row meets the conditions; empty where some do, or none has the figures."""
    for bar in where:
        if rows and all(bar.of(row) is None for row in rows):
            return f"No row has a number for {bar.key}, which {bar} asks for."
    if any(all(bar.holds(row) for bar in where) for row in rows):
        return ""
    missed = [
        (sum(abs((bar.of(row) or 0.0) - bar.value) for bar in where if not bar.holds(row)), index)
        for index, row in enumerate(rows) if all(bar.of(row) is not None for bar in where)
    ]  # fmt: skip
    if not missed:
        return ""
    row = rows[min(missed)[1]]
    keys = dict.fromkeys([*(bar.key for bar in where if figure(row, bar.key) is not None), best_by])
    figures = ", ".join(f"{key} {value_text(row, key)}" for key in keys)
    return f"None of {len(rows)} rows has {' and '.join(map(str, where))}; closest: {name_of(row)}: {figures}."
