"""What a draft-and-verify cycle costs beside a plain step.

``cycle = verify pass + draft passes + the engine's own time a cycle``. The verify pass is priced with its width
(experts follow ``width ** 0.85``, with 0.7 and 1 as bounds), drafts with the drafter's own weights and cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clover_sim.cost import Machine, price
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.speculation.methods import Shape

MATCH_S = 50e-6
"""Searching for a proposal on the CPU, a request and cycle. ASSUMPTION: no published figure."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of a batch. Times in seconds; the parts as priced, without the factor.

    Args:
        batch_size, context_tokens: requests, and cached tokens of each. shape: passes of the cycle.
        plain_s: one plain step of the same batch. verify_s, draft_s, match_s: the parts.
        low_s, high_s: the cycle with the band of its verify pass. hit_rate: share of cycles with drafts (n-grams).
        width_bytes, plain_bytes: weights and cache that the verify pass and the plain step read.
        factor: what a cycle takes over its parts, as measured (see :class:`Measured`). plain_measured: whether the
        plain step was.
    """

    batch_size: int
    context_tokens: int
    shape: Shape
    plain_s: float
    verify_s: float
    draft_s: float
    match_s: float
    low_s: float
    high_s: float
    hit_rate: float = 1.0
    width_bytes: float = 0.0
    plain_bytes: float = 0.0
    largest_part: str = ""
    factor: float = 1.0
    plain_measured: bool = False

    @property
    def cycle_s(self) -> float:
        """Mean time from one verify pass to the next, plain passes of a miss included."""
        return self._mean(self.verify_s)

    @property
    def cost_ratio(self) -> float:
        """R: the cycle in plain steps, which is also the number of tokens that break even."""
        return self.cycle_s / self.plain_s

    def _mean(self, verify_s: float) -> float:
        hits = self.hit_rate
        return self.factor * (hits * (verify_s + self.draft_s) + (1 - hits) * self.plain_s + self.match_s)

    @property
    def rest_s(self) -> float:
        """What no price explains of a cycle: its share of ``cycle_s`` beyond the parts; below 0 if they take less."""
        return self.cycle_s * (1 - 1 / self.factor)

    @property
    def ratio_band(self) -> tuple[float, float]:
        """R at the low and the high end of the verify pass."""
        return self._mean(self.low_s) / self.plain_s, self._mean(self.high_s) / self.plain_s


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured on the machine in question, in place of prices.

    Args:
        plain_step_s: a plain step at the batch asked for: the difference to the price is taken as the host's and
            added to every cycle. draft_cost_ratio: one draft pass over one plain step (Leviathan's c).
        cycle_overhead_s: host time a cycle, whatever the engine's. host_factor: multiplies the host's time a cycle
            and a draft pass.
        width_s: time of a pass by its width at that batch, for backends that do not share weights between rows; width
            1 is the plain step. At another batch they change as the prices do.
        amortization: 1 if the tokens of a pass share what it reads, 0 if each costs a step of its own.
        cycle_factor: a measured cycle over its price, by which every cycle is longer, whatever its draft length and
            batch; the plain step is not. batch_size: the batch at which the times were measured, if it is another than
            that asked for.
    """

    plain_step_s: float | None = None
    draft_cost_ratio: float | None = None
    cycle_overhead_s: float | None = None
    width_s: Mapping[int, float] | None = None
    amortization: float = 1.0
    host_factor: float = 1.0
    cycle_factor: float = 1.0
    batch_size: int | None = None

    def __post_init__(self) -> None:
        for name in ("plain_step_s", "draft_cost_ratio", "cycle_overhead_s"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1e6:
                raise InputError(f"{name} is {value!r}; expected a number of at least 0")
        if not 0 <= self.amortization <= 1:
            raise UsageError(f"amortization {self.amortization}: expected 0 (nothing shared) to 1 (all shared)")
        if not 0 < self.cycle_factor < 1e6:
            raise InputError(f"cycle_factor is {self.cycle_factor!r}; expected a number above 0, near 1")


_IMPOSSIBLE = 0.25
"""Share of its price below which a measured step is taken for a slip."""

NOTHING = Measured()


def cycle(
    machine: Machine, shape: Shape, batch_size: int = 1, context_tokens: int = 1024, *, hit_rate: float = 1.0,
    measured: Measured = NOTHING, batch_of_measurement: int | None = None,
) -> Cycle:  # fmt: skip
    """Price one cycle of ``shape`` for ``batch_size`` requests of ``context_tokens`` each.

    ``machine.drafter`` must be the drafter that the shape names. ``batch_of_measurement``: the batch at which the
    plain step and the widths were measured, if it is another.
    """
    sequences = batch_size
    context = context_tokens * sequences
    there = batch_of_measurement or sequences
    plain = price(machine, PassShape(Kind.DECODE, (1,) * sequences, context))
    verify = price(machine, PassShape(Kind.VERIFY, (shape.width,) * sequences, context))
    shift = 0.0
    if measured.plain_step_s is not None:
        at = price(machine, PassShape(Kind.DECODE, (1,) * there, context_tokens * there)).latency_s
        shift = measured.plain_step_s - at
        if measured.plain_step_s < _IMPOSSIBLE * at:
            raise InputError(
                f"a measured plain step of {measured.plain_step_s * 1e3:.3g} ms at batch {there} is under a quarter of "
                f"its price, {at * 1e3:.3g} ms: check the plain speed, the batch, the format of the weights and the GPU"
            )
    plain_s = plain.latency_s + shift
    if plain_s <= 0:
        raise InputError(
            f"a plain step of {plain_s * 1e3:.3g} ms at batch {sequences} cannot be; check the measured plain speed"
        )
    verify_s = verify.latency_s + shift + _host_s(machine, measured, sequences, shape.width)
    if measured.width_s:
        at_width = _at_width(measured.width_s, shape.width)
        verify_s = _elsewhere(machine, at_width, verify.latency_s, shape.width, there, sequences, context_tokens)
        if 1 in measured.width_s:
            plain_s = _elsewhere(
                machine, measured.width_s[1], plain.latency_s, 1, there, sequences, context_tokens
            )
    verify_s = measured.amortization * verify_s + (1 - measured.amortization) * shape.width * plain_s
    draft_s = 0.0
    if measured.draft_cost_ratio is not None:
        draft_s = len(shape.draft_widths) * measured.draft_cost_ratio * plain_s
    else:
        for width in dict.fromkeys(shape.draft_widths):
            draft = price(machine, PassShape(Kind.DRAFT, (width,) * sequences, context))
            one_s = draft.latency_s + (measured.host_factor - 1) * draft.host_s
            draft_s += shape.draft_widths.count(width) * one_s
    scale = verify_s / verify.latency_s
    return Cycle(
        batch_size, context_tokens, shape, plain_s, verify_s, draft_s,
        0.0 if shape.draft_widths else MATCH_S * sequences,
        verify.low_s * scale, verify.high_s * scale, hit_rate, verify.weight_bytes + verify.kv_bytes,
        plain.weight_bytes + plain.kv_bytes, verify.largest_part, measured.cycle_factor,
        measured.plain_step_s is not None or 1 in (measured.width_s or ()),
    )  # fmt: skip


def _elsewhere(
    machine: Machine, measured_s: float, priced_s: float, width: int, there: int, sequences: int, context_tokens: int
) -> float:  # fmt: skip
    """A time measured at a batch of ``there`` for one of ``sequences``, whose price is ``priced_s``.

    What it takes beyond its price is the host's and the same at every batch, as of a measured plain step; what it takes
    less is a share of the price, so that no time falls below 0.
    """
    if there == sequences:
        return measured_s
    kind = Kind.DECODE if width == 1 else Kind.VERIFY
    there_s = price(machine, PassShape(kind, (width,) * there, context_tokens * there)).latency_s
    return priced_s * min(measured_s / there_s, 1.0) + max(measured_s - there_s, 0.0)


def _host_s(machine: Machine, measured: Measured, sequences: int, width: int) -> float:
    """What a measured host adds to the engine's own time in a cycle, as priced."""
    c = machine.constants
    priced_s = c.wide_pass_s + sequences * (c.wide_sequence_s + width * c.wide_token_s)
    own_s = priced_s if measured.cycle_overhead_s is None else priced_s - c.wide_pass_s + measured.cycle_overhead_s
    return own_s * measured.host_factor - priced_s


def _at_width(table: Mapping[int, float], width: int) -> float:
    """A measured width, or a straight line between (and beyond) its neighbours.

    >>> _at_width({1: 8.0, 2: 13.0, 8: 28.0}, 5)
    20.5
    """
    if width in table:
        return table[width]
    known = sorted(table)
    if len(known) < 2:
        raise UsageError(f"widths measured: {known}; at least two are needed to tell the time of {width}")
    above = next((i for i, w in enumerate(known) if w > width), len(known) - 1)
    low, high = known[max(above - 1, 0)], known[max(above, 1)]
    return table[low] + (table[high] - table[low]) * (width - low) / (high - low)
