"""What the cost model expects of the run that a log describes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from clover_sim.cost import CostModel
from clover_sim.logs import Section
from clover_sim.records import Kind, PassShape


@dataclass(frozen=True, slots=True)
class Asked:
    """What to price.

    Args:
        cost: the cost model, with the machine it prices on.
        batch_size: requests decoded together; ``None`` for what the log says, else 1.
        context_tokens: cached tokens of each request.
        drafter: name of the drafter that ``cost`` prices, ``None`` if drafts are not priced.
        parallel: whether one pass of the drafter gives all drafts.
        log_engine: whether the engine of the log replaces that of the machine (none was named).
    """

    cost: CostModel
    batch_size: int | None = None
    context_tokens: float = 0.0
    drafter: str | None = None
    parallel: bool = False
    log_engine: bool = False

    def for_engine(self, name: str | None) -> Asked:
        """The same with the engine that wrote the log, where that is known and none was asked for."""
        machine = self.cost.machine
        if not self.log_engine or machine is None or name is None or name == machine.engine.name:
            return self
        from clover_sim.cost import cost_model
        from clover_sim.specs import load_engine

        return replace(self, cost=cost_model(self.cost.name, replace(machine, engine=load_engine(name))))


@dataclass(frozen=True, slots=True)
class Prediction:
    """One cycle of one batch, predicted.

    Args:
        machine: model, precision, hardware and engine in words.
        batch_size, verify_width, context_tokens: shape of the passes; the width is drafts + 1.
        plain_step_s: one token for every request. verify_s, draft_s: parts of the cycle; ``draft_priced`` says whether
            the drafter is in it, measured or priced. cycle_s, low_s, high_s: the cycle with the band of its passes.
        cost_ratio: cycle over plain step (R), which is also the acceptance length that breaks even.
        speedup: acceptance length of the log over ``cost_ratio``.
        measured_over_predicted: measured cycle time over ``cycle_s``.
    """

    machine: str
    batch_size: int
    verify_width: int
    context_tokens: float
    plain_step_s: float
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

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; ``break_even_acceptance_length`` is the cost ratio under its other name."""
        return {**asdict(self), "break_even_acceptance_length": self.cost_ratio}


MOST_REQUESTS = 1_000_000
"""Most requests that are priced together; no server runs as many."""


def predict(section: Section, asked: Asked) -> Prediction | None:
    """The prediction for ``section``; ``None`` where it lacks the tokens that a pass verifies, or too many run."""
    asked = asked.for_engine(section.engine)
    batch = asked.batch_size or max(1, round(section.running_requests or 1))
    k = section.num_speculative_tokens
    if (section.speculative and k is None) or batch > MOST_REQUESTS:
        return None
    width = 1 + (k or 0) if section.speculative else 1
    context = asked.context_tokens * batch
    plain = asked.cost.price(PassShape(Kind.DECODE, (1,) * batch, context))
    verify = asked.cost.price(PassShape(Kind.VERIFY, (width,) * batch, context)) if width > 1 else plain
    draft_s, priced = section.draft_time_s or 0.0, section.draft_time_s is not None
    note = "drafting time as the log measured it" if priced else "drafting is not in it: name the --drafter"
    if width == 1:
        priced, note = True, "plain decoding"
    elif asked.drafter is not None:
        shape = PassShape(Kind.DRAFT, (width if asked.parallel else 1,) * batch, context)
        draft_s, priced = asked.cost.price(shape).latency_s * (1 if asked.parallel else width - 1), True
        note = f"drafted by {asked.drafter} in {'one pass' if asked.parallel else f'{width - 1} passes'}"
    cycle = verify.latency_s + draft_s
    measured = section.cycle_time_s
    if measured is None and not section.speculative and section.running_requests and section.generation_tokens_per_s:
        measured = section.running_requests / section.generation_tokens_per_s
    cost_ratio = cycle / plain.latency_s
    length = section.tokens_per_pass if section.speculative else None
    return Prediction(
        machine=_machine(asked.cost), batch_size=batch, verify_width=width, context_tokens=asked.context_tokens,
        plain_step_s=plain.latency_s, verify_s=verify.latency_s, draft_s=draft_s, draft_priced=priced, cycle_s=cycle,
        low_s=verify.low_s + draft_s, high_s=verify.high_s + draft_s, cost_ratio=cost_ratio,
        speedup=length / cost_ratio if length else None, plain_tokens_per_s=batch / plain.latency_s,
        measured_over_predicted=measured / cycle if measured else None, note=note,
    )  # fmt: skip


def _machine(cost: CostModel) -> str:
    machine = cost.machine
    if machine is None:
        return cost.name
    cards = f"{machine.tensor_parallel_size} x " if machine.tensor_parallel_size > 1 else ""
    return f"{machine.model.name} {machine.precision} on {cards}{machine.hardware.name}, {machine.engine.name}"
