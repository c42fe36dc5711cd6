"""From acceptance and prices to the answers people want: speed-up, best length, crossover, memory, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from clover_sim.acceptance import Acceptance, alpha_of_length
from clover_sim.cost import Machine, MemoryPicture, memory_check
from clover_sim.cost.estimate import named_machine
from clover_sim.draft_trees import best_first, fit_first
from clover_sim.errors import InputError, UsageError
from clover_sim.speculation.cycles import NOTHING, Cycle, Measured, cycle
from clover_sim.speculation.heads import drafter_model
from clover_sim.speculation.methods import BLOCK, METHODS, MOST_TOKENS, TREE, Shape, shape_of
from clover_sim.speculation.presets import preset
from clover_sim.speculation.words import verdict

BATCHES = tuple(2**i for i in range(11))
"""Batches at which the crossover and the schedule are looked for."""

MOST_BATCH, MOST_CONTEXT = 65_536, 10**18
"""Largest batch and longest context that are priced."""


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
    """All that :func:`speculate` works out.

    Args:
        cycle: the priced cycle. acceptance: of the drafts of a hit. tokens_per_cycle: tokens a target pass writes on
            average, passes of a miss included, bonus included. cost_ratio: R, plain steps a cycle costs.
        speedup, low, high: tokens_per_cycle / R, with the band of the verify pass.
        break_even_length: tokens a cycle must write: R. break_even_rate, break_even_alpha: the same as accepted over
            drafted and as one conditional rate; ``None`` if not even full acceptance pays.
        worst_case: speed-up if every draft is rejected. lengths: other draft lengths; best_k: the fastest, 0 if plain
            decoding is. by_batch: ``(batch, speed-up)``. crossover_batch: least batch at which it stops paying,
            ``None`` if it never does (or never pays). schedule: ``(first, last, k)`` of batches, 0 for no drafts.
        scheduled: ``(batch, speed-up)`` under the schedule given, or under that one.
        wasted_drafts: drafted tokens rejected for each 1000 written. extra_bytes: drafter, and its cache.
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


def speculate(
    machine: Machine | None = None, shape: Shape | str = "eagle3", acceptance: Acceptance | str = "code", *,
    model: str | None = None, gpu: str | None = None, engine: str | None = None, precision: str | None = None,
    batch_size: int = 1, context_tokens: int = 1024,
    hit_rate: float | None = None, measured: Measured = NOTHING, most_k: int | None = None, topk: int = 4,
    spread: tuple[Acceptance, Acceptance] | None = None, schedule: Sequence[tuple[int, int, int]] | None = None,
) -> Answer:  # fmt: skip
    """Whether ``shape`` pays on ``machine`` with that acceptance.

    Args:
        machine: target, hardware, engine; its drafter is replaced by the one that the shape names. Or ``model``,
            ``gpu``, ``engine`` and ``precision`` by name.
        shape: how it drafts; or the name of a method, at its usual length.
        acceptance: of a chain or block of any length (it is cut or drawn on); of a tree, its survival by level; or the
            kind of text (``code``, ``math``, ``chat``, ``prose``, ``rag``, ``random``) for a preset, judged from
            published runs (see :mod:`clover_sim.speculation.presets`).
        batch_size: requests decoded together, from 1. context_tokens: cached by each, >= 0.
        hit_rate: share of cycles that have drafts (n-grams); default: the preset's, else 1.
        measured: see :class:`Measured`.
        most_k: longest draft tried for the best length (default: k + 4, at most the block of a block drafter).
        schedule: ``(first, last, k)`` of batches with the draft length there, 0 for plain decoding.
        spread: a low and a high acceptance, for the range of the speed-up.

    Raises:
        UsageError: an unknown name, a figure out of range. InputError: vocabularies that do not match.

    >>> found = speculate(shape="eagle3", acceptance="code", model="llama-3.1-8b", gpu="h100")
    >>> found.speedup > 1, found.break_even_length < found.tokens_per_cycle
    (True, True)
    >>> found.to_dicts()[0]["num_speculative_tokens"]
    1
    """
    if machine is None:
        machine = named_machine(model, gpu, engine, precision)
    elif any((model, gpu, engine, precision)):
        raise UsageError("machine and its parts contradict each other: give the machine, or name model, gpu and engine")
    if isinstance(shape, str):
        shape = shape_of(shape)
    if isinstance(acceptance, str):
        acceptance, usual = preset(acceptance, shape.method, shape.k)
        hit_rate = usual if hit_rate is None else hit_rate
        if METHODS[shape.method].how == TREE:
            acceptance = Acceptance(best_first(acceptance.survival[0], shape.k, topk, shape.width).survival)
    hit_rate = 1.0 if hit_rate is None else hit_rate
    if not 0 <= hit_rate <= 1:
        raise UsageError(f"hit rate {hit_rate}: expected a share from 0 to 1")
    if not 1 <= batch_size <= MOST_BATCH or context_tokens < 0:
        raise UsageError(f"batch size {batch_size}, context {context_tokens}: expected 1 to {MOST_BATCH}, 0 or more")
    if context_tokens > MOST_CONTEXT or (most_k is not None and not 1 <= most_k <= MOST_TOKENS):
        raise UsageError(
            f"context {context_tokens}, most_k {most_k}: expected at most {MOST_CONTEXT}, and 1 to {MOST_TOKENS}"
        )
    for run in schedule or ():
        if len(run) != 3 or not (1 <= run[0] <= run[1] and 0 <= run[2] <= MOST_TOKENS):
            raise UsageError(f"schedule {tuple(run)!r}: expected (first batch, last batch, draft tokens or 0)")
    drafter = drafter_model(shape.drafter, machine.model)
    machine = replace(machine, drafter=drafter)
    if drafter is not None and drafter.vocab_size and shape.method == "draft-model":
        _same_vocabulary(machine, drafter.vocab_size)
    if METHODS[shape.method].how != TREE:
        acceptance = acceptance.at(shape.k)
    asked = _Asked(machine, shape, acceptance, context_tokens, hit_rate, measured, batch_size, topk)
    here = asked.price(shape, batch_size)
    ratio, band, made = here.cost_ratio, here.ratio_band, asked.tokens(acceptance)
    lengths = _lengths(asked, most_k)
    best = max(lengths, key=lambda point: point.speedup)
    memory = memory_check(machine, batch_size, context_tokens)
    alone = memory_check(replace(machine, drafter=None), batch_size, context_tokens)
    most = memory.largest_batch_size
    batches = [b for b in BATCHES if b <= batch_size or most is None or b <= most]
    by_batch = tuple((b, asked.speedup(b)) for b in batches)
    fastest = _schedule(asked, batches)
    need = (ratio - 1) / (hit_rate * shape.k) if hit_rate else 2.0
    found = Answer(
        machine=machine, cycle=here, acceptance=acceptance, tokens_per_cycle=made, cost_ratio=ratio,
        speedup=made / ratio, low=made / band[1], high=made / band[0], break_even_length=ratio,
        break_even_rate=need if need <= 1 else None,
        break_even_alpha=alpha_of_length(max(1 + need * shape.k, 1.0), shape.k) if need <= 1 else None,
        worst_case=1 / ratio, lengths=lengths, best_k=best.k if best.speedup > 1 else 0, by_batch=by_batch,
        crossover_batch=_crossover(by_batch, asked), schedule=fastest,
        scheduled=_scheduled(asked, batches, fastest if schedule is None else schedule),
        wasted_drafts=1000 / made * hit_rate * max(shape.k - (acceptance.length - 1), 0.0),
        drafter_bytes=memory.drafter_bytes, drafter_cache_bytes=memory.kv_bytes - alone.kv_bytes,
        largest_batch_plain=alone.largest_batch_size, largest_batch=memory.largest_batch_size, memory=memory,
        range_speedup=None if spread is None else
        (asked.tokens(spread[0].at(shape.k)) / ratio, asked.tokens(spread[1].at(shape.k)) / ratio), verdict="",
    )  # fmt: skip
    return replace(found, verdict=verdict(found))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question, to be asked again at other lengths and batches."""

    machine: Machine
    shape: Shape
    acceptance: Acceptance
    context_tokens: int
    hit_rate: float
    measured: Measured
    batch_size: int
    topk: int

    def price(self, shape: Shape, batch: int) -> Cycle:
        return cycle(
            self.machine, shape, batch, self.context_tokens, hit_rate=self.hit_rate, measured=self.measured,
            batch_of_measurement=self.batch_size,
        )  # fmt: skip

    def tokens(self, of: Acceptance) -> float:
        return 1 + self.hit_rate * (of.length - 1)

    def speedup(self, batch: int) -> float:
        return self.tokens(self.acceptance) / self.price(self.shape, batch).cost_ratio

    def resized(self, lengths: Sequence[int]) -> list[tuple[int, Shape, float]]:
        """The same method at other lengths, and the tokens of a cycle."""
        shape, found = self.shape, []
        tree = METHODS[shape.method].how == TREE
        first = fit_first(self.acceptance.length, shape.k, self.topk, shape.width) if tree else 0.0
        for k in lengths:
            if tree:
                other = shape_of(
                    shape.method, k, drafter=shape.drafter, topk=self.topk, budget=max(shape.width, k + 1)
                )
                made = Acceptance(best_first(first, k, self.topk, other.width).survival)
            else:
                parallel = len(shape.draft_widths) == 1 and shape.k > 1
                other = shape_of(shape.method, k, drafter=shape.drafter, parallel=parallel)
                made = self.acceptance.at(k)
            found.append((k, other, self.tokens(made)))
        return found


def _same_vocabulary(machine: Machine, drafter: int) -> None:
    target = machine.model.vocab_size
    if target and abs(drafter - target) > 0.02 * target:
        raise InputError(
            f"{machine.drafter.name if machine.drafter else 'drafter'} has {drafter} tokens and {machine.model.name} "
            f"{target}: different vocabularies; only n-grams and suffixes draft across them"
        )


def _lengths(asked: _Asked, most_k: int | None) -> tuple[Point, ...]:
    """Every draft length up to a few more than was asked; a block drafter works at its block or below."""
    k = asked.shape.k
    most = most_k or (k if METHODS[asked.shape.method].how == BLOCK else min(k + 4, 64))
    points: list[Point] = []
    before = 1.0
    for length, shape, made in asked.resized(range(1, most + 1)):
        ratio = asked.price(shape, asked.batch_size).cost_ratio
        points.append(Point(length, made, ratio, made / ratio, made / ratio - before))
        before = made / ratio
    return tuple(points)


def _crossover(by_batch: Sequence[tuple[int, float]], asked: _Asked) -> int | None:
    """Least batch from which it no longer pays; ``None`` if it pays at the last one tried, or at none."""
    paying = [batch for batch, speedup in by_batch if speedup >= 1]
    if not paying or by_batch[-1][1] >= 1:
        return None
    low = paying[-1]
    high = min(batch for batch, _ in by_batch if batch > low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if asked.speedup(middle) >= 1 else (low, middle)
    return high


def _schedule(asked: _Asked, batches: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Fastest length at each batch tried, runs of one length joined; lengths up to the one given, 0 for none."""
    lengths = asked.resized(range(1, asked.shape.k + 1))
    runs: list[tuple[int, int, int]] = []
    for i, batch in enumerate(batches):
        gains = [(made / asked.price(shape, batch).cost_ratio, k) for k, shape, made in lengths]
        fastest, k = max(gains)
        k = k if fastest > 1 else 0
        last = batches[i + 1] - 1 if i + 1 < len(batches) else batch
        if runs and runs[-1][2] == k:
            runs[-1] = (runs[-1][0], last, k)
        else:
            runs.append((batch, last, k))
    return tuple(runs)


def _scheduled(
    asked: _Asked, batches: Sequence[int], schedule: Sequence[tuple[int, int, int]]
) -> tuple[tuple[int, float], ...]:
    """Speed-up at each batch tried with the draft length that the schedule has for it; 1 where it has none."""
    lengths = {k: (shape, made) for k, shape, made in asked.resized(sorted({k for *_, k in schedule if k}))}
    found = []
    for batch in batches:
        k = next((k for first, last, k in schedule if first <= batch <= last), 0)
        found.append((batch, lengths[k][1] / asked.price(lengths[k][0], batch).cost_ratio if k else 1.0))
    return tuple(found)
