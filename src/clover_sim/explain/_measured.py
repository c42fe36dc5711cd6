"""Speeds and times that a section measured, and what its cycle costs by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from clover_sim.acceptance import Acceptance
from clover_sim.cost import Machine
from clover_sim.logs import Section
from clover_sim.speculation import Cycle, Measured, Shape, cycle

Plain = tuple[float | None, str]
"""Plain decoding in tokens/s, and what it is."""
GIVEN = "the plain speed given"

SAME_LOAD = 0.15
"""Difference in requests together within which two parts of a log ran under one load."""
_AGREE = 0.1
"""Difference within which two ways to one time are the same."""
_SHORTEST, _REPEATABLE = 0.9, 1 / 1.02
"""Plain steps below which a cycle, which holds one, cannot be: by a priced step, and by a measured one."""


class Comparison(NamedTuple):
    """A speed-up over plain decoding.

    Args:
        speedup: of the section. cost_ratio: its mean pass in plain steps, ``None`` where the tokens of one are unknown.
        against: what plain decoding is here, in words. measured: whether it was measured, not priced.
    """

    speedup: float
    cost_ratio: float | None
    against: str
    measured: bool


def compare(
    section: Section, plain: Plain, plain_step_s: float | None, priced_ratio: float | None = None
) -> Comparison | None:
    """The speed-up, against a plain speed, else against a priced plain step; ``None`` where the log has no times.

    Args:
        plain: tokens/s and what they are, as :func:`plain_speed` finds them.
        plain_step_s: a priced plain step. priced_ratio: a priced cycle over it, where the log did not time its own.
    """
    if not section.speculative or (not section.draft_tokens and section.acceptance_length is None):
        return None
    speed, length = speed_of(section), section.tokens_per_pass or section.acceptance_length
    if plain[0] and speed:
        return Comparison(speed / plain[0], length * plain[0] / speed if length else None, plain[1], True)
    time_s = pass_time_s(section)
    if time_s is None and speed and section.running_requests and plain_step_s:
        return _by_speed(section, speed, plain_step_s)
    ratio = time_s / plain_step_s if time_s and plain_step_s else priced_ratio
    if not ratio or not length:
        return None
    return Comparison(length / ratio, ratio, "the predicted plain step", False)


def _by_speed(section: Section, speed: float, plain_step_s: float) -> Comparison:
    """What a log says that has a speed and its requests, but not how many tokens a pass wrote."""
    gain = speed * plain_step_s / (section.running_requests or 1.0)
    least = section.acceptance_length / gain if section.acceptance_length else None
    beyond = least is not None and least < _SHORTEST
    return Comparison(gain, least if beyond else None, "the predicted plain step", False)


def possible(compared: Comparison) -> bool:
    """Whether a cycle is as long as the plain step that it holds."""
    return (compared.cost_ratio or 1.0) >= (_REPEATABLE if compared.measured else _SHORTEST)


def factor_of(compared: Comparison, priced: Cycle, accepted: Acceptance) -> float:
    """By what a priced cycle is to be longer, so that ``accepted`` gives the speed-up of the log."""
    return (1 + priced.hit_rate * (accepted.length - 1)) / compared.speedup / priced.cost_ratio


def with_draft_time(
    section: Section, machine: Machine, shape: Shape, batch: int, context: int, measured: Measured
) -> Measured:  # fmt: skip
    """With the drafting time of the log, where it has one."""
    if section.draft_time_s is None or not shape.draft_widths:
        return measured
    undrafted = shape._replace(draft_widths=(), drafter=None)
    plain = cycle(machine, undrafted, batch, context, measured=measured).plain_s
    return replace(measured, draft_cost_ratio=section.draft_time_s / len(shape.draft_widths) / plain)


def hit_rate(section: Section) -> float:
    """Share of the passes that had a draft; 1 where the log does not count both."""
    return min(1.0, section.cycles / section.passes) if section.cycles and section.passes else 1.0


def pass_time_s(section: Section) -> float | None:
    """Time from one target pass of a request to its next, passes without a draft included.

    A log times either that or the way from one draft to the next; where the two differ, its tokens over its speed
    say which.
    """
    time_s, hits = section.cycle_time_s, hit_rate(section)
    known = section.tokens_per_pass, section.running_requests, section.generation_tokens_per_s
    if time_s is None or hits == 1 or not all(known):
        return time_s
    tokens, running, speed = (value or 0.0 for value in known)
    return time_s * hits if abs(time_s * hits * speed / (tokens * running) - 1) <= _AGREE else time_s


def speed_of(section: Section) -> float | None:
    """Generated tokens per second: as stated, else those of the drafting passes."""
    if section.generation_tokens_per_s is not None:
        return section.generation_tokens_per_s
    return next((i.derived for i in section.identities if i.name == "throughput"), None)


def plain_speed(section: Section, sections: Sequence[Section], baseline: float | None) -> Plain:
    """Plain decoding in tokens/s that was given or logged, and what it is; ``None`` if there is none."""
    if baseline is not None:
        return baseline, GIVEN
    if section.baseline_tokens_per_s:
        return section.baseline_tokens_per_s, "the baseline of the same benchmark"
    return _plain_beside(section, sections), "the part of the log without drafts"


def _plain_beside(section: Section, sections: Sequence[Section]) -> float | None:
    """Speed of a run without drafts by the same engine under the same load."""
    for other in sections:
        if other.speculative or other.engine != section.engine or other.engine == "llama.cpp":
            continue
        loads = section.running_requests, other.running_requests
        if other.generation_tokens_per_s and (
            loads[0] is None or loads[1] is None or abs(loads[0] / loads[1] - 1) <= SAME_LOAD
        ):
            return other.generation_tokens_per_s
    return None
