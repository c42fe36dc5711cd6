"""What the cost model expects of the run that a log describes: the same cycle that ``speculate`` prices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from clover_sim.acceptance import Acceptance
from clover_sim.cost import CostModel, Machine, price
from clover_sim.errors import InputError, UsageError
from clover_sim.explain._acceptance import acceptance_of, tree_of
from clover_sim.explain._measured import (
    Comparison,
    Plain,
    compare,
    factor_of,
    hit_rate,
    pass_time_s,
    possible,
    with_draft_time,
)
from clover_sim.logs import Section
from clover_sim.records import Kind, PassShape
from clover_sim.speculation import METHODS, Answer, Cycle, Measured, Shape, cycle, drafter_model, shape_of, speculate
from clover_sim.speculation.methods import MOST_LEVELS, MOST_TOKENS, SERIAL, TREE
from clover_sim.speculation.settings import setting

_PIECE = 2048
"""Tokens of a prompt that engines compute in one step, as a rule."""

CONTEXT_TOKENS = 1024
"""Cached tokens of each request where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to price.

    Args:
        cost: the roofline, with the machine it prices on.
        batch_size: requests decoded together, where the log does not count them; ``None`` for 1.
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
        measured_over_predicted: measured time from one target pass to the next over ``cycle_s``.
        cycle_factor: the cost of a cycle that the verdict takes, from the log, over ``cost_ratio``; ``None`` where the
            log does not tell it. fitted: whether it is known, and then carried over to ``best_*`` and
            ``crossover_batch``; fitted_speedup: the speed-up with it, which is the verdict's.
        possible: whether the measured cycle is as long as a plain step must be; if not, this is not what ran.
            plain_refused: why the measured plain speed cannot be that of the machine; ``None`` if it can.
        best_num_speculative_tokens, best_speedup: the fastest draft length, 0 and 1 if plain decoding is;
            longest_tried: of the lengths it is the best of.
        fastest_num_speculative_tokens, fastest_speedup, fastest_speedup_by_prices: the fastest of them whether it pays
            or not, and what it gains with a plain step at its price and with one that is off as much as the cycle.
            fastest_setting: it in the flags of the engine. other_setting, other_speedup: of a tree, another shape
            that is faster; chain_setting, chain_speedup: the fastest chain in its place.
        tree: whether the drafts are one, whose levels are the draft lengths here.
        prompt_share: share of the time that prompts of other requests take, by price; ``None`` if the log has none.
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
    fastest_num_speculative_tokens: int | None = None
    fastest_speedup: float | None = None
    fastest_speedup_by_prices: float | None = None
    fastest_setting: str | None = None
    other_setting: str | None = None
    other_speedup: float | None = None
    chain_setting: str | None = None
    chain_speedup: float | None = None
    prompt_share: float | None = None
    tree: bool = False
    crossover_batch: int | None = None
    cycle_factor: float | None = None
    possible: bool = True
    longest_tried: int | None = None
    plain_refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; ``break_even_acceptance_length`` is the cost ratio under its other name."""
        return {**asdict(self), "break_even_acceptance_length": self.cost_ratio}


MOST_REQUESTS = 65_536
"""Most requests that are priced together; no server runs as many."""



def predict(section: Section, asked: Asked, plain: Plain = (None, "")) -> Prediction | None:
    """The prediction for ``section``; ``None`` where it lacks the tokens that a pass verifies, or too many run.

    ``plain`` is plain decoding in tokens/s that was measured under the same load, and what it is.
    """
    machine = asked.machine(section.engine)
    batch = max(1, round(section.running_requests or asked.batch_size or 1))
    k = section.num_speculative_tokens
    if (section.speculative and not k) or batch > MOST_REQUESTS:
        return None
    shape, note = _shape(section, asked)
    measured = Measured(plain_step_s=batch / plain[0] if plain[0] else None)
    context = int(asked.context_tokens)
    hits = hit_rate(section) if section.speculative else 1.0
    refused = None
    try:
        machine = replace(machine, drafter=drafter_model(shape.drafter, machine.model))
        measured = with_draft_time(section, machine, shape, batch, context, measured)
        priced = cycle(machine, shape, batch, context, hit_rate=hits, measured=measured)
    except InputError as error:
        if measured.plain_step_s is None:
            raise
        measured, note = Measured(), f"{note}; the plain speed given is left out of it: {error}"
        refused = str(error)
        priced = cycle(machine, shape, batch, context, hit_rate=hits, measured=measured)
    time_s = pass_time_s(section)
    if time_s is None and not section.speculative and section.running_requests and section.generation_tokens_per_s:
        time_s = section.running_requests / section.generation_tokens_per_s
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
        measured_over_predicted=None, note=note, plain_refused=refused, prompt_share=_prompt_share(section, machine),
    )  # fmt: skip
    found = replace(found, measured_over_predicted=time_s / found.cycle_s if time_s else None)
    if not section.speculative:
        return found
    compared = compare(section, plain, priced.plain_s)
    if compared is not None and not possible(compared):
        return replace(found, possible=False)
    return _with_advice(found, section, asked, machine, shape, measured, priced, compared) if shape.method else found


def _shape(section: Section, asked: Asked) -> tuple[Shape, str]:
    """The passes of a cycle, and in words what drafts them."""
    k = section.num_speculative_tokens or 0
    if k > MOST_TOKENS:
        raise InputError(f"the log states {k} draft tokens a cycle; expected at most {MOST_TOKENS}: is it damaged?")
    if not section.speculative or not k:
        return Shape("", 0, 1, (), None), "plain decoding"
    method, tree = asked.method or ("draft-model" if asked.drafter else None), tree_of(section)
    timed = section.draft_time_s is not None
    if method is None:
        note = "drafting time as the log measured it" if timed else "drafting is not in it: say how with --method"
        return Shape("", k, k + 1, (1,) * k if timed else (), None), note
    if tree is not None and METHODS[method].how in (SERIAL, TREE):
        drafter = asked.drafter or METHODS[method].drafter
        levels = min(tree.levels, MOST_LEVELS)
        shape = shape_of("eagle-tree", levels, drafter=drafter, topk=tree.topk, budget=tree.budget)
    elif METHODS[method].how == TREE:
        levels = min(asked.levels or k, k, MOST_LEVELS)
        shape = shape_of(method, levels, drafter=asked.drafter, topk=asked.topk, budget=k + 1)
    else:
        shape = shape_of(method, k, drafter=asked.drafter, parallel=asked.parallel)
    by = shape.drafter or method
    passes = len(shape.draft_widths)
    how = "no pass" if not passes else "one pass" if passes == 1 else f"{passes} passes"
    return shape, f"drafted by {by} in {how}" + (", time as the log measured it" if timed and passes else "")


def _with_advice(
    found: Prediction, section: Section, asked: Asked, machine: Machine, shape: Shape, measured: Measured,
    priced: Cycle, compared: Comparison | None,
) -> Prediction:  # fmt: skip
    """The best draft length and the batch where drafts stop paying, every cycle as much longer as the log's is."""
    accepted = _acceptance(section, shape)
    if accepted is None:
        return found
    factor = factor_of(compared, priced, accepted) if compared is not None and compared.cost_ratio else None
    try:
        answer: Answer = speculate(
            machine, shape, accepted, batch_size=priced.batch_size, context_tokens=priced.context_tokens,
            hit_rate=priced.hit_rate, measured=replace(measured, cycle_factor=factor or 1.0),
            topk=section.topk or asked.topk,
        )  # fmt: skip
    except (InputError, UsageError) as error:
        return replace(found, note=f"{found.note}; no advice: {error}")
    best, fastest, other, chain = answer.best_k, answer.fastest, answer.other_tree, answer.best_chain
    return replace(
        found, fitted=factor is not None, cycle_factor=factor, fitted_speedup=answer.speedup,
        fastest_num_speculative_tokens=fastest.k, fastest_speedup=fastest.speedup,
        fastest_speedup_by_prices=fastest.speedup * answer.cycle.factor,
        fastest_setting=setting(answer, fastest.k),
        tree=METHODS[shape.method].how == TREE,
        other_setting=None if other is None else setting(answer, other.tree.levels, other.tree),
        other_speedup=None if other is None else other.speedup,
        chain_setting=None if chain is None else setting(answer, chain.tree.levels, chain.tree),
        chain_speedup=None if chain is None else chain.speedup,
        best_num_speculative_tokens=best, best_speedup=max((p.speedup for p in answer.lengths if p.k == best),
        default=1.0), crossover_batch=answer.crossover_batch, longest_tried=answer.lengths[-1].k,
    )  # fmt: skip


def _acceptance(section: Section, shape: Shape) -> Acceptance | None:
    """Acceptance of a path of the shape's length; ``None`` if the log has none that can be."""
    try:
        made = acceptance_of(section)
    except (InputError, UsageError):
        return None
    return made if made is None or METHODS[shape.method].how == TREE else made.at(shape.k)


def _prompt_share(section: Section, machine: Machine) -> float | None:
    """Share of a second that the prompts of that second take, by the price of a piece of prompt."""
    if not section.prompt_tokens_per_s:
        return None
    plain = replace(machine, drafter=None)
    return section.prompt_tokens_per_s / _PIECE * price(plain, PassShape(Kind.PREFILL, (_PIECE,), 0)).latency_s


def _words(machine: Machine) -> str:
    cards = f"{machine.tensor_parallel_size} x " if machine.tensor_parallel_size > 1 else ""
    precision = getattr(machine.precision, "name", machine.precision)
    return f"{machine.model.name} {precision} on {cards}{machine.hardware.name}, {machine.engine.name}"
