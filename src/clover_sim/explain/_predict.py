"""What the cost model expects of the run that a log describes: the same cycle that ``speculate`` prices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from clover_sim.acceptance import Acceptance, from_length, from_survival
from clover_sim.cost import CostModel, Machine
from clover_sim.errors import InputError, UsageError
from clover_sim.logs import Section
from clover_sim.speculation import METHODS, Answer, Cycle, Measured, Shape, cycle, drafter_model, shape_of, speculate
from clover_sim.speculation.methods import MOST_LEVELS, MOST_TOKENS

CONTEXT_TOKENS = 1024
"""Cached tokens of each request where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to price.

    Args:
        cost: the roofline, with the machine it prices on.
        batch_size: requests decoded together; ``None`` for what the log says, else 1.
        context_tokens: cached tokens of each request. method: how drafts are made; ``None`` if that is not known.
        drafter: name of the model that drafts, where it is not the method's own head.
        parallel: whether one pass of the drafter gives all drafts. topk, levels: of a tree,
            whose tokens the log counts as the draft length.
        log_engine: whether the engine of the log replaces that of the machine (none was named).
    """

    cost: CostModel
    batch_size: int | None = None
    context_tokens: int = CONTEXT_TOKENS
    method: str | None = None
    drafter: str | None = None
    parallel: bool = False
    log_engine: bool = False
    topk: int = 4
    levels: int | None = None

    def machine(self, engine: str | None) -> Machine:
        """The machine, with the engine that wrote the log if none was asked for and its constants are known."""
        machine = self.cost.machine
        if machine is None or self.cost.name != "roofline":
            raise UsageError(f"cost model {self.cost.name}: a log is held against the roofline only")
        if not self.log_engine or engine is None or engine == machine.engine.name:
            return machine
        from clover_sim.specs import list_engines, load_engine

        return replace(machine, engine=load_engine(engine)) if engine in list_engines() else machine


@dataclass(frozen=True, slots=True)
class Prediction:
    """One cycle of one batch, predicted.

    Args:
        machine: model, precision, hardware and engine in words. method: how drafts are made.
        batch_size, verify_width, context_tokens: shape of the passes; the width is drafts + 1.
        plain_step_s: one token for every request; ``plain_measured`` if it follows from a measured speed. verify_s,
            draft_s: parts of the cycle; ``draft_priced`` says whether the drafter is in it, measured or priced.
        cycle_s, low_s, high_s: the cycle, by prices alone, with the band of its verify pass.
        cost_ratio: cycle over plain step (R), which is also the acceptance length that breaks even.
        speedup: tokens per pass of the log over ``cost_ratio``: what prices alone make of the log's acceptance.
        measured_over_predicted: measured cycle time over ``cycle_s``.
        fitted: whether ``best_*`` and ``crossover_batch`` take the host time that makes the cycle as long as the log's.
        best_num_speculative_tokens, best_speedup: the fastest draft length, 0 and 1 if plain decoding is.
        crossover_batch: least batch at which drafts stop paying; ``None`` if they pay (or lose) at all that were tried.
    """

    machine: str
    method: str | None
    batch_size: int
    verify_width: int
    context_tokens: float
    plain_step_s: float
    plain_measured: bool
    verify_s: float
    draft_s: float
    draft_priced: bool
    cycle_s: float
    low_s: float
    high_s: float
    cost_ratio: float
    speedup: float | None
    plain_tokens_per_s: float
    measured_over_predicted: float | None
    note: str
    fitted: bool = False
    fitted_speedup: float | None = None
    best_num_speculative_tokens: int | None = None
    best_speedup: float | None = None
    crossover_batch: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; ``break_even_acceptance_length`` is the cost ratio under its other name."""
        return {**asdict(self), "break_even_acceptance_length": self.cost_ratio}


MOST_REQUESTS = 65_536
"""Most requests that are priced together; no server runs as many."""


def predict(section: Section, asked: Asked, plain_tokens_per_s: float | None = None) -> Prediction | None:
    """The prediction for ``section``; ``None`` where it lacks the tokens that a pass verifies, or too many run.

    ``plain_tokens_per_s`` is plain decoding that was measured under the same load.
    """
    machine = asked.machine(section.engine)
    batch = asked.batch_size or max(1, round(section.running_requests or 1))
    k = section.num_speculative_tokens
    if (section.speculative and k is None) or batch > MOST_REQUESTS:
        return None
    shape, note = _shape(section, asked)
    measured = Measured(plain_step_s=batch / plain_tokens_per_s if plain_tokens_per_s else None)
    context = int(asked.context_tokens)
    try:
        machine = replace(machine, drafter=drafter_model(shape.drafter, machine.model))
        measured = _measured(section, machine, shape, batch, context, measured)
        priced = cycle(machine, shape, batch, context, hit_rate=_hit_rate(section, shape), measured=measured)
    except InputError as error:
        if measured.plain_step_s is None:
            raise
        measured, note = Measured(), f"{note}; the plain speed given is left out of it: {error}"
        priced = cycle(machine, shape, batch, context, hit_rate=_hit_rate(section, shape), measured=measured)
    time = section.cycle_time_s
    if time is None and not section.speculative and section.running_requests and section.generation_tokens_per_s:
        time = section.running_requests / section.generation_tokens_per_s
    length = section.tokens_per_pass if section.speculative else None
    low, high = priced.ratio_band
    found = Prediction(
        machine=_words(machine), method=shape.method or None, batch_size=batch, verify_width=shape.width,
        context_tokens=asked.context_tokens, plain_step_s=priced.plain_s,
        plain_measured=measured.plain_step_s is not None,
        verify_s=priced.verify_s if section.speculative else priced.plain_s,
        draft_s=priced.draft_s + priced.match_s if section.speculative else 0.0,
        draft_priced=bool(shape.method) or measured.draft_cost_ratio is not None or not section.speculative,
        cycle_s=priced.cycle_s if section.speculative else priced.plain_s,
        low_s=low * priced.plain_s if section.speculative else priced.plain_s,
        high_s=high * priced.plain_s if section.speculative else priced.plain_s,
        cost_ratio=priced.cost_ratio if section.speculative else 1.0,
        speedup=length / priced.cost_ratio if length else None, plain_tokens_per_s=batch / priced.plain_s,
        measured_over_predicted=None, note=note,
    )  # fmt: skip
    found = replace(found, measured_over_predicted=time / found.cycle_s if time else None)
    return _with_advice(found, section, asked, machine, shape, measured, priced) if shape.method else found


def _shape(section: Section, asked: Asked) -> tuple[Shape, str]:
    """The passes of a cycle, and in words what drafts them."""
    k = section.num_speculative_tokens or 0
    if k > MOST_TOKENS:
        raise InputError(f"the log states {k} draft tokens a cycle; expected at most {MOST_TOKENS}: is it damaged?")
    if not section.speculative or not k:
        return Shape("", 0, 1, (), None), "plain decoding"
    method = asked.method or ("draft-model" if asked.drafter else None)
    timed = section.draft_time_s is not None
    if method is None:
        note = "drafting time as the log measured it" if timed else "drafting is not in it: say how with --method"
        return Shape("", k, k + 1, (1,) * k if timed else (), None), note
    if METHODS[method].how == "tree":
        shape = shape_of(method, min(asked.levels or k, k, MOST_LEVELS), topk=asked.topk, budget=k + 1)
    else:
        shape = shape_of(method, k, drafter=asked.drafter, parallel=asked.parallel)
    by = shape.drafter or method
    passes = len(shape.draft_widths)
    how = "no pass" if not passes else "one pass" if passes == 1 else f"{passes} passes"
    return shape, f"drafted by {by} in {how}" + (", time as the log measured it" if timed and passes else "")


def _hit_rate(section: Section, shape: Shape) -> float:
    """Share of the passes that had a draft, of methods that do not always have one."""
    if shape.method not in ("ngram", "suffix") or not section.cycles or not section.passes:
        return 1.0
    return min(1.0, section.cycles / section.passes)


def _measured(
    section: Section, machine: Machine, shape: Shape, batch: int, context: int, measured: Measured
) -> Measured:  # fmt: skip
    """With the drafting time of the log, where it has one."""
    if section.draft_time_s is None or not shape.draft_widths:
        return measured
    plain = cycle(machine, _undrafted(shape), batch, context, measured=measured).plain_s
    return replace(measured, draft_cost_ratio=section.draft_time_s / len(shape.draft_widths) / plain)


def _undrafted(shape: Shape) -> Shape:
    """The same cycle without its draft passes."""
    return shape._replace(draft_widths=(), drafter=None)


def _with_advice(
    found: Prediction, section: Section, asked: Asked, machine: Machine, shape: Shape, measured: Measured, priced: Cycle
) -> Prediction:
    """The best draft length and the batch where drafts stop paying, at the host time that the log shows."""
    accepted = _acceptance(section, shape)
    if accepted is None or not section.speculative:
        return found
    fitted = _fitted(section, machine, shape, measured, priced)
    try:
        answer: Answer = speculate(
            machine, shape, accepted, batch_size=priced.batch_size, context_tokens=priced.context_tokens,
            hit_rate=priced.hit_rate, measured=fitted or measured, topk=asked.topk,
        )  # fmt: skip
    except (InputError, UsageError) as error:
        return replace(found, note=f"{found.note}; no advice: {error}")
    best = answer.best_k
    return replace(
        found, fitted=fitted is not None, fitted_speedup=answer.speedup, best_num_speculative_tokens=best,
        best_speedup=max((p.speedup for p in answer.lengths if p.k == best), default=1.0),
        crossover_batch=answer.crossover_batch,
    )  # fmt: skip


def _acceptance(section: Section, shape: Shape) -> Acceptance | None:
    """Acceptance of a path of the shape's length; ``None`` if the log has none that can be."""
    survival, length = section.per_position_survival, section.acceptance_length
    try:
        if survival and METHODS[shape.method].how != "tree" and len(survival) == shape.k:
            return from_survival(survival)
        return from_length(length, shape.k) if length is not None else None
    except (InputError, UsageError):
        return None


def _fitted(section: Section, machine: Machine, shape: Shape, measured: Measured, priced: Cycle) -> Measured | None:
    """Host time a cycle with which the priced cycle takes as long as the log's; ``None`` if there is none."""
    if not section.cycle_time_s:
        return None

    def at(host_s: float) -> float:
        return cycle(
            machine, shape, priced.batch_size, priced.context_tokens, hit_rate=priced.hit_rate,
            measured=replace(measured, cycle_overhead_s=host_s),
        ).cycle_s  # fmt: skip

    none, one = at(0.0), at(1e-3)
    missing = section.cycle_time_s - none
    if missing < 0 or one <= none:
        return None
    host_s = missing / (one - none) * 1e-3
    return replace(measured, cycle_overhead_s=host_s) if host_s < 1e3 else None


def _words(machine: Machine) -> str:
    cards = f"{machine.tensor_parallel_size} x " if machine.tensor_parallel_size > 1 else ""
    return f"{machine.model.name} {machine.precision} on {cards}{machine.hardware.name}, {machine.engine.name}"
