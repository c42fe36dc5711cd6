"""llama-server's timings: ``draft acceptance`` of each request, and the ``statistics`` of each draft source.

Old servers print accepted and generated only, newer ones also the mean acceptance length and the rate per position;
``statistics`` lines are cumulative and say how often a source was asked and how often it had a draft.
"""

from __future__ import annotations

import re

from clover_sim.logs._llamacpp import Requests, Slot, Statistics
from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._text import fields, number, rates

MARKS = ("draft acceptance", "eval time =", "statistics ", "#gen tokens")

_DRAFT = re.compile(
    r"draft acceptance(?: rate)? =\s*([\d.]+|nan|-nan)\s*\(\s*(\d{1,15}) accepted /\s*(\d{1,15}) generated\)(.*)$"
)
_LENGTH = re.compile(r"mean (?:acceptance length|acc len|len)\s*=\s*([\d.]+)")
_POSITIONS = re.compile(r"acceptance rate per position = \(([^)]*)\)")
_EVAL = re.compile(
    r"(?:^|\|\s*)(?:\w+:\s*)?eval time\s*=\s*([\d.]+) ms /\s*(\d+) tokens \(\s*([\d.]+|inf|nan) ms per token,\s*"
    r"([\d.]+|inf|nan) tokens per second\)$"
)
_PROMPT = re.compile(r"prompt eval time\s*=\s*[\d.]+ ms /\s*\d+ tokens")
_STATISTICS = re.compile(r"statistics\s+(\S+):\s*(?=#calls)")
_SLOT = re.compile(r"id\s+(-?\d+)\s*\|\s*task\s+(-?\d+)")
_CALLS = re.compile(r"#calls(?:\(b,g,a\))? =\s*(\d{1,15})(?:\s+(\d{1,15})\s+(\d{1,15}))?")
_DURATIONS = re.compile(r"dur\(b,g,a\) =\s*([\d.]+),\s*(\d+\.?\d*),\s*([\d.]+) ms")


class Reader(Base):
    """Adds up requests; keeps the last statistics of each source."""

    WRITER = "llama.cpp"

    def __init__(self) -> None:
        self._requests = Requests()
        self._statistics = Statistics()
        self._read = self._used = 0

    def start(self) -> None:
        """A new file is another server."""
        self._requests.start()
        self._statistics.start()

    def line(self, line: Line) -> Outcome:
        """A timing, an acceptance or a line of statistics."""
        text = line.message
        slot = line.origin, "/".join(found.groups()) if (found := _SLOT.search(text)) else ""
        if found := _DRAFT.search(text):
            return self._count(self._draft(found, slot))
        if found := _STATISTICS.search(text):
            return self._count(self._source(line.origin, found[1], text[found.end() :]))
        if _PROMPT.search(text):
            self._requests.prompt(slot)
            return None
        if found := _EVAL.search(text):
            milliseconds, tokens = number(found[1]), number(found[2])
            if not milliseconds or not tokens:
                return self._count("a timing of no time or no tokens")
            self._requests.timing(slot, tokens, milliseconds / 1e3)
            return self._count(True)
        return None

    def _count(self, outcome: Outcome) -> Outcome:
        self._read += 1
        self._used += outcome is True
        return outcome

    def _draft(self, found: re.Match[str], slot: Slot) -> Outcome:
        accepted, drafted = float(found[2]), float(found[3])
        if accepted > drafted:
            return CUT_OFF
        printed = number(m[1]) if (m := _LENGTH.search(found[4])) else None
        survival = rates(m[1]) if (m := _POSITIONS.search(found[4])) else None
        self._requests.draft(slot, accepted, drafted, printed, survival)
        return True

    def _source(self, origin: str, name: str, text: str) -> Outcome:
        stated, calls, durations = fields(text), _CALLS.search(text), _DURATIONS.search(text)
        drafts, drafted = number(stated.get("#gen drafts")), number(stated.get("#gen tokens"))
        accepted = number(stated.get("#acc tokens"))
        if calls is None or drafts is None or drafted is None or accepted is None:
            return CUT_OFF
        listed = re.search(r"#acc rate/pos = \(([^)]*)\)", text)
        self._statistics.add(
            origin, name, (float(calls[2] or calls[1]), drafts, drafted, accepted),
            float(durations[2]) / 1e3 if durations else None, rates(listed[1]) if listed else None,
        )  # fmt: skip
        return True

    def sections(self) -> list[Section]:
        """One, or none."""
        return self._requests.sections(self._statistics, self._read, self._used)
