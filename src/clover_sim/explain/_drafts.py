"""The drafts of a log as an input: acceptance, draft length and set-up of its main section, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from clover_sim.acceptance import Acceptance, from_length, from_survival
from clover_sim.errors import InputError
from clover_sim.explain._setup import Setup, main_section, place_of, setup_of
from clover_sim.logs import read_logs


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a log says of its drafts.

    Args:
        acceptance: of a cycle with drafts. hit_rate: share of passes that had any, where the log counts both.
        setup: engine, model, method and so on. where: lines that the acceptance comes from. cycle_time_s: measured.
    """

    acceptance: Acceptance
    hit_rate: float | None
    setup: Setup
    where: str
    cycle_time_s: float | None = None


def drafts_of(path: str, num_speculative_tokens: int | None = None) -> Drafts:
    """Acceptance and set-up of the section with the most cycles that says how much was accepted.

    Args:
        path: the log. num_speculative_tokens: draft length, where the log does not say it.

    Raises:
        InputError: no section has per-position rates, or an acceptance length with its draft length.
    """
    reading = read_logs([path])
    setup = setup_of(reading)
    speculative = [section for section in reading.sections if section.speculative]
    while speculative:
        section = main_section(speculative)
        place, k = place_of(section), section.num_speculative_tokens
        k = num_speculative_tokens if k is None else k
        if k is None and setup.num_speculative_tokens is not None and section.engine in (None, _engine(setup)):
            k = setup.num_speculative_tokens.value
        made = None
        if section.per_position_survival:
            made = from_survival(section.per_position_survival, f"survival per position in {place}")
        elif k is not None and section.acceptance_length is not None:
            tree = setup.tree_tokens is not None and setup.num_speculative_tokens is not None
            levels = setup.num_speculative_tokens.value if tree and setup.num_speculative_tokens else k
            length = from_length(section.acceptance_length, levels)
            made = Acceptance(length.survival, f"{length.given}, in {place}", length.rho)
        elif k is not None and section.acceptance_rate is not None and section.engine != "sglang":
            length = from_length(1 + section.acceptance_rate * k, k)
            given = f"{section.acceptance_rate:.1%} of the drafted tokens at k={k}, in {place}"
            made = Acceptance(length.survival, given, length.rho)
        if made is not None:
            hits = section.cycles / section.passes if section.cycles and section.passes else None
            return Drafts(made, None if hits is None else min(hits, 1.0), setup, place, section.cycle_time_s)
        speculative.remove(section)
    raise InputError(
        f"{path}: says neither per-position rates nor an acceptance length with its draft length; run explain on it, "
        "then give --acceptance-length and --num-speculative-tokens"
    )


def _engine(setup: Setup) -> str | None:
    return None if setup.engine is None else setup.engine.value
