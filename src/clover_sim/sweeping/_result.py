"""The result of a sweep: its rows, what stands out, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clover_sim.columns import INTERVAL
from clover_sim.row_names import option_text
from clover_sim.sweeping._axes import Axis
from clover_sim.sweeping._judge import PER_1K, Bar, figure, half_width


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
        bound: the condition on the best alone, where none was asked for.
        places: the axes of machine and batch, if any varies. best_at: index of the best row at each of their values,
            where any meets the conditions. alike_at: rows that the seeds cannot tell from the best of their own place.
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
    bound: Bar | None = None
    places: tuple[str, ...] = ()
    best_at: tuple[int, ...] = ()
    alike_at: tuple[int, ...] = ()

    def __repr__(self) -> str:
        names = " x ".join(f"{len(axis.values)} {axis.key}" for axis in self.axes)
        return f"<Sweep: {len(self.rows)} rows ({names or 'nothing varied'}); see .to_dicts(), .notes and .pareto()>"

    def __str__(self) -> str:
        from importlib import import_module

        shown: str = import_module("clover_sim.report._sweep").table(self)
        return shown

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, ready for any data-frame library: one key an axis, then the columns.

        Figures that the sweep is judged by are among them (``locked_errors_per_1k``), whether the row is on the front
        and whether it is the best, and last its ``options`` as they are written after the colon of a strategy.
        """
        front = set(self.front)
        return [
            {axis.key: _plain(row, axis.key) for axis in self.axes}
            | {key: value for key, value in row.items() if key not in ("varied", "options", "drafter")}
            | self._rates(row)
            | {"pareto": i in front, "best": i == self.best, "options": _written(row["options"])}
            for i, row in enumerate(self.rows)
        ]

    def _rates(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Figures in each thousand tokens that rows are judged by."""
        found: dict[str, Any] = {}
        for key in dict.fromkeys([self.speed, self.errors, self.best_by, *(bar.key for bar in self.where)]):
            if key.endswith(PER_1K):
                found[key] = figure(row, key)
                if (half := half_width(row, key)) is not None:
                    found[key + INTERVAL] = half
        return found

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
            "best": {"by": self.best_by, "row": self.best, "not_distinguishable": list(self.alike), **self._under()},
            "notes": list(self.notes),
            "rows": [dict(row) for row in self.rows],
            "refused": [dict(cell) for cell in self.refused],
        }

    def _under(self) -> dict[str, Any]:
        """The condition that nobody asked for, and the best rows by machine and batch, where there are such."""
        found: dict[str, Any] = {} if self.bound is None else {"where": str(self.bound)}
        return found | (self._places() if self.places else {})

    def _places(self) -> dict[str, Any]:
        return {"of_each": list(self.places), "rows": list(self.best_at), "like_these": list(self.alike_at)}

    def _repr_html_(self) -> str:
        from importlib import import_module  # what shows a result stands above it and is only asked for here

        shown: str = import_module("clover_sim.report._notebook").sweep_html(self)
        return shown

    def _repr_svg_(self) -> str:
        from importlib import import_module

        picture: str = import_module("clover_sim.report.svg").render(self)
        return picture


def _written(options: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={option_text(value)}" for key, value in options.items())


def _plain(row: Mapping[str, Any], key: str) -> Any:
    """The value of an axis in a row; as a number where the strategy holds one."""
    options = row.get("options") or {}
    return options[key] if key in options else row["varied"].get(key, row.get(key))
