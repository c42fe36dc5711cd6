"""The answer to whether drafts pay: its figures, and how it shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clover_sim.acceptance import Acceptance
from clover_sim.cost import Machine, MemoryPicture
from clover_sim.speculation.cycles import Cycle
from clover_sim.speculation.trees import OtherTree


@dataclass(frozen=True, slots=True)
class Point:
    """One draft length. ``marginal_speedup`` is what its last position adds to the speed-up of the length before."""

    k: int
    acceptance_length: float
    cost_ratio: float
    speedup: float
    marginal_speedup: float


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """All that :func:`clover_sim.speculation.speculate` works out.

    Args:
        cycle: the priced cycle. acceptance: of the drafts of a hit. tokens_per_cycle: tokens a target pass writes on
            average, passes of a miss included, bonus included. cost_ratio: R, plain steps a cycle costs.
        speedup, low, high: tokens_per_cycle / R, with the band of the verify pass.
        break_even_length: tokens a cycle must write: R. break_even_rate, break_even_alpha: the same as accepted over
            drafted and as one conditional rate; ``None`` if not even full acceptance pays.
        worst_case: speed-up if every draft is rejected. lengths: the draft lengths tried; best_k: the fastest of them,
            0 if plain decoding is. known_k: the longest whose acceptance was given, the others being drawn on from it.
        by_batch: ``(batch, speed-up)``. crossover_batch: least batch at which it stops paying, ``None`` if it never
            does (or never pays). schedule: ``(first, last, k)`` of batches, 0 for no drafts: the fastest length at
            each.
        scheduled: ``(batch, speed-up)`` under the schedule given, or under that one.
        wasted_drafts: drafted tokens rejected for each 1000 written. extra_bytes: drafter, and its cache.
        topk: of a tree, its children a node. other_tree: another tree, or a chain, that is faster than any depth of it;
            best_chain: the fastest chain instead of a tree.
        schedule_by_prices: the schedule if a plain step is off as much as the measured cycle; ``None`` where it was
            measured or nothing is off. most_batch: largest batch that was priced. usual_k: whether the draft length is
            the method's usual one, for none was given.
        memory: with the drafter. largest_batch_plain, largest_batch: sequences that fit without and with the drafter.
    """

    machine: Machine
    cycle: Cycle
    acceptance: Acceptance
    tokens_per_cycle: float
    cost_ratio: float
    speedup: float
    low: float
    high: float
    break_even_length: float
    break_even_rate: float | None
    break_even_alpha: float | None
    worst_case: float
    lengths: tuple[Point, ...]
    best_k: int
    known_k: int
    by_batch: tuple[tuple[int, float], ...]
    crossover_batch: int | None
    schedule: tuple[tuple[int, int, int], ...]
    scheduled: tuple[tuple[int, float], ...]
    wasted_drafts: float
    drafter_bytes: float
    drafter_cache_bytes: float
    largest_batch_plain: int | None
    largest_batch: int | None
    memory: MemoryPicture
    range_speedup: tuple[float, float] | None
    verdict: str
    topk: int = 1
    other_tree: OtherTree | None = None
    best_chain: OtherTree | None = None
    schedule_by_prices: tuple[tuple[int, int, int], ...] | None = None
    most_batch: int = 1
    usual_k: bool = False

    @property
    def fastest(self) -> Point:
        """The fastest draft length tried, whether it pays or not."""
        return max(self.lengths, key=lambda point: point.speedup)

    @property
    def uncertain(self) -> bool:
        """Whether the cycle was measured and the plain step was not, so that two speed-ups are possible."""
        return self.cycle.factor != 1 and not self.cycle.plain_measured

    @property
    def by_prices(self) -> float:
        """The speed-up without what was measured of a cycle as a whole: prices alone."""
        return self.speedup * self.cycle.factor

    def __repr__(self) -> str:
        return f"<Answer: {self.verdict}>"

    def __str__(self) -> str:
        return str(_shown("_outline", "report").render_outline(_shown("document").outline(self)))

    def _repr_html_(self) -> str:
        return str(_shown("_notebook", "report").speculation_html(self))

    def _repr_svg_(self) -> str:
        return str(_shown("_notebook", "report").speculation_svg(self))

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/speculation/1``, in SI units."""
        found: dict[str, Any] = _shown("document").document(self)
        return found

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary a draft length, ready for any data-frame library."""
        names = {
            "model": self.machine.model.name, "gpu": self.machine.hardware.name, "engine": self.machine.engine.name,
            "method": self.cycle.shape.method, "batch_size": self.cycle.batch_size,
        }  # fmt: skip
        return [names | row for row in self.to_dict()["lengths"]]


def _shown(module: str, package: str = "speculation") -> Any:
    from importlib import import_module  # what shows an answer needs its class, or stands above it

    return import_module(f"clover_sim.{package}.{module}")
