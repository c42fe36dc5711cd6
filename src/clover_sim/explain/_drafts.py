"""The drafts of a log as an input: acceptance, draft length and set-up of its main section, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple

from clover_sim.acceptance import Acceptance
from clover_sim.cost import Machine
from clover_sim.errors import InputError
from clover_sim.explain._acceptance import acceptance_of
from clover_sim.explain._fill import filled
from clover_sim.explain._measured import (
    Comparison,
    Plain,
    compare,
    factor_of,
    hit_rate,
    pass_time_s,
    plain_speed,
    possible,
    speed_of,
    with_draft_time,
)
from clover_sim.explain._setup import Setup, main_section, place_of, setup_of
from clover_sim.logs import Section, read_logs
from clover_sim.speculation import METHODS, Cycle, Measured, Shape, cycle, drafter_model
from clover_sim.speculation.cycles import NOTHING
from clover_sim.speculation.methods import TREE


class Held(NamedTuple):
    """The cycle of a log against its price.

    Args:
        refused: why the plain speed cannot be that of the machine; empty if it can.
        factor: by which every priced cycle is longer, so that the speed-up is that of the log. compared: that
            speed-up. priced: the cycle without it. measured: what it was priced with. possible: whether it can have
            run there.
    """

    factor: float
    compared: Comparison
    priced: Cycle
    measured: Measured
    possible: bool
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a log says of its drafts.

    Args:
        acceptance: of a cycle with drafts. hit_rate: share of passes that had any, where the log counts both.
        setup: engine, model, method and so on. where: lines that the acceptance comes from.
        cycle_time_s: measured, from one target pass of a request to its next. running_requests: as the log counts
            them, or as given.
        plain_tokens_per_s: plain decoding beside it under the same load, and what that is.
    """

    acceptance: Acceptance
    hit_rate: float | None
    setup: Setup
    where: str
    cycle_time_s: float | None = None
    running_requests: float | None = None
    plain_tokens_per_s: Plain = (None, "")
    section: Section | None = None

    @property
    def batch_size(self) -> int:
        """Requests that ran together, 1 where nobody says."""
        return max(1, round(self.running_requests or 1))

    @property
    def unheld(self) -> str:
        """Why the speed of the log tells nothing of its cycle; empty if it does, or if there is none."""
        section = self.section
        if section is None or pass_time_s(section) is not None or not speed_of(section):
            return ""
        if not section.running_requests:
            return "its speed is that of an unknown number of requests; give --batch-size, those that ran together"
        return "it has a speed, but not how many tokens a pass wrote; explain holds it against a priced plain step"

    def held_against(
        self, machine: Machine, shape: Shape, context_tokens: int, measured: Measured = NOTHING,
        plain: Plain = (None, ""),
    ) -> Held | None:  # fmt: skip
        """The cycle of the log against its price on the machine that it ran on, as ``explain`` takes it.

        Args:
            shape: the cycle that ran. measured: of that machine. plain: a plain speed under the load of the log.

        Returns:
            ``None`` where the log has no times, or what it says of its drafts cannot be.
        """
        section = self.section
        if section is None:
            return None
        plain = self.plain_tokens_per_s if plain[0] is None and measured.plain_step_s is None else plain
        batch, hits = self.batch_size, self.hit_rate or 1.0
        if plain[0]:
            measured = replace(measured, plain_step_s=batch / plain[0], batch_size=batch)
        machine = replace(machine, drafter=drafter_model(shape.drafter, machine.model))
        refused = ""

        def price(with_: Measured) -> Cycle:
            return cycle(machine, shape, batch, context_tokens, hit_rate=hits, measured=with_,
                         batch_of_measurement=with_.batch_size)  # fmt: skip

        try:
            if measured.draft_cost_ratio is None:
                measured = with_draft_time(section, machine, shape, batch, context_tokens, measured)
            priced = price(measured)
        except InputError as error:
            measured, refused = replace(measured, plain_step_s=None), str(error)
            priced = price(measured)
        compared = compare(section, plain, priced.plain_s)
        if compared is None or not compared.cost_ratio:
            return None
        accepted = self.acceptance if METHODS[shape.method].how == TREE else self.acceptance.at(shape.k)
        return Held(factor_of(compared, priced, accepted), compared, priced, measured, possible(compared), refused)


def drafts_of(
    path: str, num_speculative_tokens: int | None = None, batch_size: int | None = None, stdin: IO[Any] | None = None
) -> Drafts:
    """Acceptance and set-up of the section with the most cycles that says how much was accepted.

    Args:
        path: the log; ``-`` is ``stdin``. num_speculative_tokens: draft length, batch_size: requests together, where
            the log does not say them.

    Raises:
        InputError: no section has per-position rates, or an acceptance length with its draft length.
    """
    reading = read_logs([path], stdin)
    setup = setup_of(reading)
    sections = filled(reading.sections, setup, num_speculative_tokens, batch_size)
    speculative = [section for section in sections if section.speculative]
    unmeasured = True
    while speculative:
        section = main_section(speculative)
        place = place_of(section)
        made = acceptance_of(section, place)
        if made is not None:
            hits = hit_rate(section) if section.cycles and section.passes else None
            return Drafts(
                made, hits, setup, place, pass_time_s(section), section.running_requests,
                plain_speed(section, sections, None), section,
            )  # fmt: skip
        unmeasured = unmeasured and section.acceptance_length is None and section.acceptance_rate is None
        speculative.remove(section)
    if not unmeasured:
        raise InputError(f"{path}: says what was accepted, but at no draft length; give --num-speculative-tokens")
    raise InputError(
        f"{path}: says neither per-position rates nor an acceptance length with its draft length; run explain on it, "
        "then give --acceptance-length and --num-speculative-tokens"
    )
