"""From finished cells to the result: which rows may be best, which are, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from clover_sim.errors import UsageError
from clover_sim.sweeping import _judge as judge
from clover_sim.sweeping._axes import Axis
from clover_sim.sweeping._result import Sweep
from clover_sim.sweeping._words import Judged, explain


class Asked(NamedTuple):
    """What a sweep was asked: the fields of :class:`Sweep` of these names, and what is said before all else.

    ``cells`` counts them; ``model_of`` gives the model on which a cell is priced, ``None`` where there is none.
    """

    cells: int
    axes: Sequence[Axis]
    speed: str
    errors: str
    best_by: str
    where: tuple[judge.Bar, ...]
    bound: judge.Bar | None
    settings: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]
    question: Mapping[str, Any]
    said: Sequence[str]
    model_of: Callable[[int], Any]


def figures_of(
    axes: Sequence[Axis], speed: str | None, errors: str, best: str | None, where: Sequence[judge.Bar]
) -> tuple[str, str, str]:
    """The figures of speed and errors, and the one that decides, in the words of rows.

    Speed is the one asked for, else the one that decides, else that of the machine where machines or batches differ,
    else the one that a condition names.
    """
    errors = judge.check_metric(errors, "errors")
    if speed is None and best and judge.check_metric(best, "best") != errors:
        speed = best
    if speed is None and _machine_axes(axes):
        speed = "tokens_per_s"
    if speed is None:
        speed = next((bar.key for bar in where if judge.is_speed(bar.key) and bar.key != errors), "speedup_time")
    speed = judge.check_metric(speed, "speed")
    if speed == errors:
        raise UsageError(f"speed and errors are both {speed}; a front needs two figures")
    return speed, errors, judge.check_metric(best, "best") if best else speed


def _machine_axes(axes: Sequence[Axis]) -> tuple[str, ...]:
    """What of machine and batch varies."""
    return tuple(a.key for a in axes if (a.kind == "machine" or a.key == "batch_size") and len(a.values) > 1)


def assemble(records_by_cell: Mapping[int, Any], asked: Asked) -> Sweep:
    """The result of the cells that have finished, each as its record by its number."""
    records = [(index, records_by_cell[index]) for index in sorted(records_by_cell)]
    kept = [(index, record) for index, record in records if "row" in record]
    rows = [record["row"] for _, record in kept]
    refused = [record["refused"] for _, record in records if "refused" in record]
    samples = {i: record["samples"] for i, (_, record) in enumerate(kept) if "samples" in record}
    best_by, figures = asked.best_by, (asked.speed, asked.errors)
    among = [i for i, row in enumerate(rows) if all(bar.holds(row) for bar in asked.where)]
    may = [i for i in among if asked.bound is None or asked.bound.holds(rows[i])]
    front = judge.pareto(rows, among, *figures)
    chosen = judge.best(rows, may, best_by)
    alike = judge.indistinct(best_by, chosen, may, rows, samples) if chosen is not None else []
    places = _machine_axes(asked.axes)
    admitted = frozenset(may)
    best_of: dict[tuple[Any, ...], int | None] = {}
    alike_of: dict[tuple[Any, ...], list[int]] = {}
    for place, here in (judge.places(rows, places) if places else {}).items():
        allowed = [i for i in here if i in admitted]
        top = best_of[place] = judge.best(rows, allowed, best_by)
        alike_of[place] = [] if top is None else judge.indistinct(best_by, top, allowed, rows, samples) or []
    near = judge.near_front(rows, among, front, figures, samples)
    notes = explain(Judged(
        rows, [asked.model_of(index) for index, _ in kept], front, near, best_by, chosen, alike, asked.where,
        asked.bound, *figures, len(asked.seeds) or 1, len(refused), places, best_of, alike_of,
    ))  # fmt: skip
    warnings = []
    if refused:
        warnings.append(f"refused: {len(refused)} of {asked.cells} cells; the first: {refused[0]['reason']}")
    return Sweep(
        tuple(map(MappingProxyType, rows)), tuple(map(MappingProxyType, refused)), tuple(asked.axes), *figures,
        asked.where, tuple(front), best_by, chosen, tuple(alike or ()), asked.cells,
        MappingProxyType({**asked.settings}), asked.inputs, asked.seeds, (*asked.said, *notes), tuple(warnings),
        MappingProxyType({**asked.question}), asked.bound, places,
        tuple(i for i in best_of.values() if i is not None), tuple(i for found in alike_of.values() for i in found),
    )  # fmt: skip
