"""Acceptance as a section states it, in the vocabulary of prices."""

from __future__ import annotations

from clover_sim.acceptance import Acceptance, from_length, from_survival
from clover_sim.logs import Section


def acceptance_of(section: Section, levels: int | None, place: str = "the log") -> Acceptance | None:
    """What ``section`` says of its drafts; ``None`` where it says neither rates by position nor a length with its k.

    Args:
        levels: draft tokens of one path, the root not counted: of a tree fewer than it drafts in all.

    Raises:
        UsageError, InputError: its figures cannot be.
    """
    k = section.num_speculative_tokens
    if section.per_position_survival:
        return from_survival(section.per_position_survival, f"survival per position in {place}")
    levels = levels or k
    if levels is None:
        return None
    if section.acceptance_length is not None:
        made = from_length(section.acceptance_length, levels)
        return Acceptance(made.survival, f"{made.given}, in {place}", made.rho)
    if section.acceptance_rate is not None and section.engine != "sglang" and k is not None:
        made = from_length(1 + section.acceptance_rate * k, levels)
        given = f"{section.acceptance_rate:.1%} of the drafted tokens at k={k}, in {place}"
        return Acceptance(made.survival, given, made.rho)
    return None
