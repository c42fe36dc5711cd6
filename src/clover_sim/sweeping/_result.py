"""The result of a sweep: its rows, what stands out, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clover_sim.notes import draft_notes
from clover_sim.stats import two_digits
from clover_sim.sweeping._axes import Axis
from clover_sim.sweeping._judge import Bar, figure, half_width


@dataclass(frozen=True, slots=True, repr=False)
class Sweep:
    """Rows of one sweep, one a cell, in the order of the axes. ``rows`` hold plain JSON values.

    Args:
        rows: those of a comparison, with ``varied``: what the axes set in this cell.
        refused: cells that the card cannot hold, each with its ``reason``.
        axes: what was varied. speed, errors: the two figures of the Pareto front.
        where: conditions on what may be best. front: indices of the Pareto front, fastest first.
        best_by: the figure that decides. best: index of the best row that meets the conditions, or ``None``.
        alike: indices of the rows that the seeds cannot tell from the best.
        cells: how many there are; more than rows and refusals together if the sweep was interrupted.
        settings, inputs, seeds, notes, warnings: as those of :class:`clover_sim.comparison.Comparison`.

    >>> from clover_sim import sweep
    >>> found = sweep(vary={"threshold": [0.8, 0.9, 0.99]}, tokens=64)
    >>> found
    <Sweep: 3 rows (3 threshold); see .to_dicts(), .notes and .pareto()>
    >>> [row["varied"] for row in found.pareto()][:1]
    [{'threshold': '0.8'}]
    """

    rows: tuple[Mapping[str, Any], ...]
    refused: tuple[Mapping[str, Any], ...]
    axes: tuple[Axis, ...]
    speed: str
    errors: str
    where: tuple[Bar, ...]
    front: tuple[int, ...]
    best_by: str
    best: int | None
    alike: tuple[int, ...]
    cells: int
    settings: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    question: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = " x ".join(f"{len(axis.values)} {axis.key}" for axis in self.axes)
        return f"<Sweep: {len(self.rows)} rows ({names or 'nothing varied'}); see .to_dicts(), .notes and .pareto()>"

    def __str__(self) -> str:
        from importlib import import_module

        shown: str = import_module("clover_sim.report._sweep").table(self)
        return shown

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, ready for any data-frame library: one key an axis, then the columns."""
        front = set(self.front)
        return [
            {axis.key: _plain(row, axis.key) for axis in self.axes}
            | {key: value for key, value in row.items() if key not in ("varied", "options", "drafter")}
            | {"pareto": i in front}
            for i, row in enumerate(self.rows)
        ]

    def pareto(self) -> list[Mapping[str, Any]]:
        """The rows of the Pareto front, fastest first."""
        return [self.rows[i] for i in self.front]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/sweep/1``."""
        from clover_sim import __version__

        return {
            "schema": "clover-sim/sweep/1",
            "version": __version__,
            "rules": dict(self.settings),
            "seeds": list(self.seeds),
            "inputs": [dict(i) for i in self.inputs],
            "axes": [{"key": a.key, "of": a.kind, "values": list(a.values)} for a in self.axes],
            "speed": self.speed,
            "errors": self.errors,
            "where": [str(bar) for bar in self.where],
            "pareto": list(self.front),
            "best": {"by": self.best_by, "row": self.best, "not_distinguishable": list(self.alike)},
            "notes": list(self.notes),
            "rows": [dict(row) for row in self.rows],
            "refused": [dict(cell) for cell in self.refused],
        }

    def _repr_html_(self) -> str:
        from importlib import import_module  # what shows a result stands above it and is only asked for here

        shown: str = import_module("clover_sim.report._notebook").sweep_html(self)
        return shown

    def _repr_svg_(self) -> str:
        from importlib import import_module

        picture: str = import_module("clover_sim.report.svg").render(self)
        return picture


def _plain(row: Mapping[str, Any], key: str) -> Any:
    """The value of an axis in a row; as a number where the strategy holds one."""
    options = row.get("options") or {}
    return options[key] if key in options else row["varied"].get(key, row.get(key))


def name_of(row: Mapping[str, Any]) -> str:
    """A row in words: the strategy and what was varied.

    >>> name_of({"strategy": "ar", "varied": {"gpu": "h200"}})
    'ar, gpu=h200'
    """
    return ", ".join([row["strategy"], *(f"{key}={value}" for key, value in (row.get("varied") or {}).items())])


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def value_text(row: Mapping[str, Any], key: str) -> str:
    """A figure in words, with its interval."""
    value, half = figure(row, key), half_width(row, key)
    if value is None:
        return "no value"
    return f"{value:.4g}" + (f" ± {two_digits(half)}" if half else "")


def _waits(row: Mapping[str, Any]) -> bool:
    """Whether the stream of a row has a confidence of its own for each context, as a fitted or recorded one does."""
    return str(row["stream"]).startswith(("context", "trace"))


def _closest(rows: Sequence[Mapping[str, Any]], where: Sequence[Bar], best_by: str) -> str:
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


def explain(
    rows: Sequence[Mapping[str, Any]], front: Sequence[int], best: int | None, best_by: str,
    alike: Sequence[int] | None, where: Sequence[Bar], speed: str, errors: str, seeds: int, refused: int,
    near: int | None = None,
) -> list[str]:  # fmt: skip
    """Sentences for under the table, the answer last."""
    notes = []
    if refused:
        notes.append(f"{_counted(refused, 'cell does', 'cells do')} not fit on the card and get no row.")
    under = f" with {' and '.join(map(str, where))}" if where else ""
    if len(front) > 1:
        notes.append(
            f"Pareto front of {speed} against {errors}: {len(front)} of {len(rows)} rows; every other row{under} is "
            "beaten by one of them in one figure without being better in the other."
        )
        if near:
            notes.append(
                f"{_counted(near, 'more row', 'more rows')} may belong there: no row of the front beats them by more "
                "than the paired 95 % interval."
            )
    lifted = [row for row in rows if row["denoise_passes"] and row["options"].get("block_size") and not _waits(row)]
    if len({row["options"]["block_size"] for row in lifted}) > 1:
        notes.append(
            "Block sizes: this kind of stream raises every confidence alike, so tokens per pass grow with the block, "
            "where measured models stay flat from 16 to 64. Do not choose a block size by these rows; --profile "
            "context has a confidence that waits for its context."
        )
    notes += draft_notes((row["strategy"], row["options"]) for row in rows)
    if speed != "speedup_time" and any(row.get("speedup_time") for row in rows):
        notes.append("The speed-up of each row is over ar on the same machine, at the same batch, on the same stream.")
    if best is None:
        notes.append(_closest(rows, where, best_by) or f"No row{under} has a value of {best_by}.")
        return notes
    row = rows[best]
    other = errors if best_by != errors else speed
    told = [best_by, other, *(["speedup_time"] if "speedup_time" not in (best_by, other) else [])]
    figures = ", ".join(f"{key} {value_text(row, key)}" for key in told[1:])
    words = f"Best {best_by}{under}: {name_of(row)}: {value_text(row, best_by)}, {figures}."
    if seeds < 2:
        notes.append("One seed: what differs by little may differ by chance; --seeds 0:16 gives paired intervals.")
    elif alike is None:
        notes.append(f"{best_by} is not kept seed by seed, so nothing is said of how sure the best is.")
    elif alike:
        shown = "; ".join(name_of(rows[i]) for i in alike[:3])
        more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
        notes.append(
            f"Not distinguishable from the best with these {seeds} seeds (paired 95 % interval holds 0): {shown}{more}."
        )
    else:
        notes.append(
            f"Every other row{under} differs from the best by more than its paired 95 % interval ({seeds} seeds)."
        )
    notes.append(words)
    return notes
