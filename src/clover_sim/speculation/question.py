"""From acceptance and prices to the answers people want: speed-up, best length, crossover, memory, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clover_sim.acceptance import Acceptance, DraftTree, alpha_of_length
from clover_sim.acceptance.trees import alpha_on
from clover_sim.arguments import checked
from clover_sim.cost import Machine, memory_check
from clover_sim.cost.estimate import named_machine
from clover_sim.errors import InputError, UsageError
from clover_sim.speculation.answer import Answer, Point
from clover_sim.speculation.batches import BATCHES, check_schedule, crossover, length_at, runs_of
from clover_sim.speculation.cycles import NOTHING, Cycle, Measured, cycle
from clover_sim.speculation.heads import drafter_model
from clover_sim.speculation.methods import BLOCK, METHODS, MOST_LEVELS, MOST_TOKENS, TREE, Shape, shape_of
from clover_sim.speculation.presets import preset
from clover_sim.speculation.trees import fastest_trees
from clover_sim.speculation.words import verdict

MOST_BATCH, MOST_CONTEXT = 65_536, 10**18
"""Largest batch and longest context that are priced."""

_FURTHER, _FURTHEST = 4, 64
"""Draft lengths tried beyond the one asked for, and the longest tried unasked."""


@checked
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
        most_k: longest draft tried for the best length (default: k + 4; k where the drafter gives a block).
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
    usual_k = isinstance(shape, str)
    if isinstance(shape, str):
        shape = shape_of(shape)
    if isinstance(acceptance, str):
        acceptance, usual = preset(acceptance, shape.method, shape.k)
        hit_rate = usual if hit_rate is None else hit_rate
        if METHODS[shape.method].how == TREE:
            acceptance = replace(acceptance.at(1), rho=1.0).on(DraftTree(shape.k, topk, shape.width))
    hit_rate = 1.0 if hit_rate is None else hit_rate
    _check_figures(batch_size, context_tokens, hit_rate, most_k)
    if schedule is not None:
        schedule = check_schedule(schedule)
    drafter = drafter_model(shape.drafter, machine.model)
    machine = replace(machine, drafter=drafter)
    if drafter is not None and drafter.vocab_size and shape.method == "draft-model":
        _same_vocabulary(machine, drafter.vocab_size)
    whole = acceptance
    acceptance = _on_shape(acceptance, shape, topk)
    asked = _Asked(machine, shape, acceptance, whole, context_tokens, hit_rate, measured, batch_size, topk)
    here = asked.price(shape, batch_size)
    ratio, band, made = here.cost_ratio, here.ratio_band, asked.tokens(acceptance)
    tried = asked.resized(range(1, _most(shape, most_k) + 1))
    lengths = _lengths(asked, tried)
    best = max(lengths, key=lambda point: point.speedup)
    memory = memory_check(machine, batch_size, context_tokens)
    alone = memory_check(replace(machine, drafter=None), batch_size, context_tokens)
    most = max(batch_size, min(memory.largest_batch_size or BATCHES[-1], BATCHES[-1]))
    batches = sorted({batch_size, *(b for b in BATCHES if b <= most)})
    fastest = runs_of(lambda batch: asked.fastest(tried, batch), most)
    extra = (ratio - 1) / hit_rate if hit_rate else 2.0 * shape.k
    found = Answer(
        machine=machine, cycle=here, acceptance=acceptance, tokens_per_cycle=made, cost_ratio=ratio,
        speedup=made / ratio, low=made / band[1], high=made / band[0], break_even_length=ratio,
        break_even_rate=extra / acceptance.verified if extra <= shape.k else None,
        break_even_alpha=_alpha(max(1 + extra, 1.0), acceptance, shape.k) if extra <= shape.k else None,
        worst_case=1 / ratio, lengths=lengths, best_k=best.k if best.speedup > 1 else 0,
        known_k=whole.k if whole.tree is None else lengths[-1].k,
        by_batch=tuple((b, asked.speedup(b)) for b in batches),
        crossover_batch=crossover(lambda batch: asked.speedup(batch) >= 1, most), schedule=fastest,
        scheduled=_scheduled(asked, batches, fastest if schedule is None else schedule),
        wasted_drafts=1000 / made * hit_rate * max(acceptance.verified - (acceptance.length - 1), 0.0),
        drafter_bytes=memory.drafter_bytes, drafter_cache_bytes=memory.kv_bytes - alone.kv_bytes,
        largest_batch_plain=alone.largest_batch_size, largest_batch=memory.largest_batch_size, memory=memory,
        range_speedup=None if spread is None else
        (asked.tokens(spread[0].at(shape.k)) / ratio, asked.tokens(spread[1].at(shape.k)) / ratio), verdict="",
        topk=topk, most_batch=most, usual_k=usual_k,
    )  # fmt: skip
    if acceptance.tree is not None:
        beside = max(best.speedup, found.speedup)
        trees = fastest_trees(acceptance, shape, lambda s: asked.price(s, batch_size), asked.tokens, beside)
        found = replace(found, other_tree=trees[0], best_chain=trees[1] if topk > 1 else None)
    if found.uncertain:
        least = 1 / here.factor
        found = replace(found, schedule_by_prices=runs_of(lambda batch: asked.fastest(tried, batch, least), most))
    return replace(found, verdict=verdict(found))


def _check_figures(batch_size: int, context_tokens: int, hit_rate: float, most_k: int | None) -> None:
    if not 0 <= hit_rate <= 1:
        raise UsageError(f"hit rate {hit_rate}: expected a share from 0 to 1")
    if not 1 <= batch_size <= MOST_BATCH or context_tokens < 0:
        raise UsageError(f"batch size {batch_size}, context {context_tokens}: expected 1 to {MOST_BATCH}, 0 or more")
    if context_tokens > MOST_CONTEXT or (most_k is not None and not 1 <= most_k <= MOST_TOKENS):
        raise UsageError(
            f"context {context_tokens}, most_k {most_k}: expected at most {MOST_CONTEXT}, and 1 to {MOST_TOKENS}"
        )


def _on_shape(acceptance: Acceptance, shape: Shape, topk: int) -> Acceptance:
    """Acceptance on the shape asked for; what is given for a tree without naming one is by level of just this."""
    if METHODS[shape.method].how != TREE:
        return acceptance.at(shape.k)
    tree = DraftTree(shape.k, topk, shape.width)
    if acceptance.tree is None:
        survival = acceptance.survival[: shape.k]
        return Acceptance(survival, acceptance.given, acceptance.rho, tree)
    same = acceptance.tree.drafted() == tree
    return replace(acceptance, tree=tree) if same else acceptance.on(tree)


def _alpha(length: float, accepted: Acceptance, k: int) -> float:
    return alpha_of_length(length, k) if accepted.tree is None else alpha_on(length, accepted.tree)


def _most(shape: Shape, most_k: int | None) -> int:
    """Longest draft tried: a few more than was asked, a block drafter at its block."""
    how = METHODS[shape.method].how
    limit = MOST_LEVELS if how == TREE else MOST_TOKENS
    if most_k is None:
        most_k = shape.k if how == BLOCK else max(shape.k, min(shape.k + _FURTHER, _FURTHEST))
    return min(max(most_k, shape.k), limit)


_Tried = tuple[int, Shape, float]
"""A draft length, its cycle, and the tokens that a cycle writes."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question, to be asked again at other lengths and batches. ``whole``: the acceptance before it was cut."""

    machine: Machine
    shape: Shape
    acceptance: Acceptance
    whole: Acceptance
    context_tokens: int
    hit_rate: float
    measured: Measured
    batch_size: int
    topk: int

    def price(self, shape: Shape, batch: int) -> Cycle:
        return cycle(
            self.machine, shape, batch, self.context_tokens, hit_rate=self.hit_rate, measured=self.measured,
            batch_of_measurement=self.measured.batch_size or self.batch_size,
        )  # fmt: skip

    def tokens(self, of: Acceptance) -> float:
        return 1 + self.hit_rate * (of.length - 1)

    def speedup(self, batch: int) -> float:
        return self.tokens(self.acceptance) / self.price(self.shape, batch).cost_ratio

    def fastest(self, tried: Sequence[_Tried], batch: int, least: float = 1.0) -> int:
        """The fastest length at a batch, 0 if it gains no more than ``least``."""
        gain, k = max((made / self.price(shape, batch).cost_ratio, k) for k, shape, made in tried)
        return k if gain > least else 0

    def resized(self, lengths: Sequence[int]) -> list[_Tried]:
        """The same method at other lengths, and the tokens of a cycle."""
        shape, found = self.shape, []
        tree = METHODS[shape.method].how == TREE
        for k in lengths:
            if k == shape.k:
                other, made = shape, self.acceptance
            elif tree:
                other = shape_of(
                    shape.method, k, drafter=shape.drafter, topk=self.topk, budget=max(shape.budget, k + 1)
                )
                made = self.acceptance.on(DraftTree(k, self.topk, other.width))
            else:
                parallel = len(shape.draft_widths) == 1 and shape.k > 1
                other = shape_of(shape.method, k, drafter=shape.drafter, parallel=parallel)
                made = self.whole.at(k)
            found.append((k, other, self.tokens(made)))
        return found


def _same_vocabulary(machine: Machine, drafter: int) -> None:
    target = machine.model.vocab_size
    if target and abs(drafter - target) > 0.02 * target:
        raise InputError(
            f"{machine.drafter.name if machine.drafter else 'drafter'} has {drafter} tokens and {machine.model.name} "
            f"{target}: different vocabularies; only n-grams and suffixes draft across them"
        )


def _lengths(asked: _Asked, tried: Sequence[_Tried]) -> tuple[Point, ...]:
    points: list[Point] = []
    before = 1.0
    for length, shape, made in tried:
        ratio = asked.price(shape, asked.batch_size).cost_ratio
        points.append(Point(length, made, ratio, made / ratio, made / ratio - before))
        before = made / ratio
    return tuple(points)


def _scheduled(
    asked: _Asked, batches: Sequence[int], schedule: Sequence[tuple[int, int, int]]
) -> tuple[tuple[int, float], ...]:
    """Speed-up at each batch shown with the draft length that the schedule has for it; 1 where it has none."""
    lengths = {k: (shape, made) for k, shape, made in asked.resized(sorted({k for *_, k in schedule if k}))}
    found = []
    for batch in batches:
        k = length_at(schedule, batch)
        found.append((batch, lengths[k][1] / asked.price(lengths[k][0], batch).cost_ratio if k else 1.0))
    return tuple(found)
