"""The lines of files: JSON, commands and broken lines put together, what no format takes counted with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from clover_sim.logs._command import Command, goes_on
from clover_sim.logs._json import BLANKS, BROKEN, Document, events, may_open, parsed, unwrapped
from clover_sim.logs._offered import Offered
from clover_sim.logs._prefix import split_prefix
from clover_sim.logs._reader import CUT_OFF, Line, Outcome
from clover_sim.logs._stream import Progress, Source
from clover_sim.logs._text import clean, joined

_LONGEST_TEXT = 32 << 10
"""Longest line that is taken apart; configurations at the start of a log have up to 10 kB."""

_DIGITS = re.compile(r"\d{100}")

_MOST_PARTS = 5
"""Pieces that a line of metrics is put together from, where a terminal or a mail broke it."""

UNKNOWN = "no known format"
JSON_UNKNOWN = "JSON of no known format"
_JSON_CUT_OFF = "a JSON document is cut off or malformed"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Lines that were not used: why, how many, and where the first one is."""

    reason: str
    lines: int
    first: str


class Work:
    """Everything that is known of the files read so far."""

    def __init__(self) -> None:
        self.offered = Offered()
        self.read = self.used = 0
        self._counts: dict[str, int] = {}
        self._firsts: dict[str, str] = {}
        self._name, self._number = "", 0
        self._json = Document()
        self._torn: list[str] = []
        self._torn_at = 0
        self._command = Command()

    @property
    def skipped(self) -> list[Skipped]:
        """Most frequent reason first."""
        found = [Skipped(reason, lines, self._firsts[reason]) for reason, lines in self._counts.items()]
        return sorted(found, key=lambda skip: -skip.lines)

    def file(self, source: Source, progress: Progress) -> None:
        self.offered.start()
        self._name, self._number = source.name, 0
        for block in source.blocks(progress):
            if block.too_long:
                self._count(1)
                self._untear()
                self._skip("longer than 64 MB", 1)
            else:
                self._block(block.data)
        if self._json.lines:
            self._flush_broken()
        if self._command.parts:
            self._run()
        self._untear()

    def _block(self, data: bytes) -> None:
        """Lines with a mark are looked at, the others only counted, unless JSON or a report is in the way."""
        data = events(data)
        starts: list[int] | None = None
        if not (self._json.lines or may_open(data)):
            starts = self.offered.starts(data)
        at = index = 0
        end = len(data)
        while at < end:
            if starts is not None and not (self.offered.active or self._torn or self._command.parts):
                while index < len(starts) and starts[index] < at:
                    index += 1
                following = starts[index] if index < len(starts) else end
                if following > at:
                    lines = data.count(b"\n", at, following) + (following == end and not data.endswith(b"\n"))
                    self._count(lines)
                    self._skip(UNKNOWN, lines, self._number - lines + 1)
                    at = following
                    continue
            line_end = data.find(b"\n", at) + 1 or end
            self._count(1)
            self._line(data[at:line_end])
            at = line_end

    def _line(self, data: bytes) -> None:
        if self._json.lines:
            self._more_json(data)
        elif (start := data.lstrip(BLANKS)[:2])[:1] == b"{" or start == b"[{" or data.strip() == b"[":
            self._begin_json(data)
        else:
            self._plain(data.decode("utf-8", "replace"), data.endswith(b"\n"))

    def _plain(self, text: str, ended: bool = True) -> None:
        """A line of text, looked at only if it has a mark or belongs to a report or a line that has begun."""
        if self._command.parts or (goes_on(text) and self.offered.startup_marked(text)):
            if self._command.more(text):
                self._run()
            return
        marked = self.offered.marked(text) is not None
        if self._torn and not marked and self._mended(text):
            return
        self._untear()
        if self.offered.active or marked:
            self._text(text, ended)
        else:
            self._skip(UNKNOWN, 1)

    def _run(self) -> None:
        """A command that is whole, or where the file ends."""
        self._untear()
        text, lines = self._command.take()
        self._text(text, lines=lines)

    def _mended(self, text: str) -> bool:
        """Whether ``text`` goes on a line of metrics that was broken, which is then looked at again."""
        last, following = self._torn[-1], clean(text).lstrip()
        if not following or len(self._torn) >= _MOST_PARTS or len(following) > 400:
            return False
        self._torn.append(last + ("" if last[-1:].isdigit() and following[0].isdigit() else " ") + following)
        whole = self._torn[-1]
        outcome = self.offered.line(self._parsed(whole, True))
        if outcome is True:
            self.used += len(self._torn)
            self._torn = []
        return True

    def _untear(self) -> None:
        """The line that broke off stays what it was."""
        if self._torn:
            parts, self._torn = len(self._torn), []
            self._skip(CUT_OFF, 1, self._torn_at)
            self._skip(UNKNOWN, parts - 1, self._torn_at + 1)

    @property
    def _where(self) -> str:
        return f"{self._name}:{self._number}"

    def _count(self, lines: int) -> None:
        self.read += lines
        self._number += lines

    def _text(self, text: str, ended: bool = True, lines: int = 1) -> None:
        if len(text) > _LONGEST_TEXT:
            self._skip(f"longer than a line of metrics ({_LONGEST_TEXT >> 10} kB)", lines)
            return
        if _DIGITS.search(text):
            self._skip("a number of more digits than any count has", lines)
            return
        cleaned = clean(text)
        *others, last = joined(cleaned)
        outcomes = [self.offered.line(self._parsed(part.rstrip(" ,"), True)) for part in others]
        outcome = self.offered.line(self._parsed(last, ended))
        if True in outcomes:
            outcome = True
        if outcome == CUT_OFF and ended and lines == 1:
            self._untear()
            self._torn, self._torn_at = [cleaned], self._number
        else:
            self._outcome(outcome, lines, UNKNOWN)

    def _parsed(self, text: str, ended: bool) -> Line:
        origin, message = split_prefix(text)
        return Line(text, message, ended, self._where, origin)

    def _outcome(self, outcome: Outcome, lines: int, otherwise: str) -> None:
        if outcome is True:
            self.used += lines
        else:
            self._skip(outcome if isinstance(outcome, str) else otherwise, lines)

    def _skip(self, reason: str, lines: int, number: int | None = None) -> None:
        if lines:
            self._counts[reason] = self._counts.get(reason, 0) + lines
            if reason not in self._firsts:
                self._firsts[reason] = f"{self._name}:{number or self._number}"

    def _begin_json(self, data: bytes) -> None:
        self._untear()
        text = data.decode("utf-8", "replace").strip().lstrip("\ufeff")
        value = parsed(text)
        if value is not BROKEN:
            self._documents(value, 1)
        elif not self._json.begin(text):
            self._plain(text)

    def _more_json(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        if not self._json.more(text):
            return
        lines, value = self._json.lines, parsed(self._json.text())
        if value is BROKEN:
            self._flush_broken()
        else:
            self._json.clear()
            self._documents(value, lines)

    def _flush_broken(self) -> None:
        """Not JSON after all, or its end is missing: the lines are read as text."""
        parts = self._json.parts
        self._json.clear()
        used = self.used
        for part in parts:
            if self.offered.marked(part):
                self._untear()
                self._text(part)
            else:
                self._skip(_JSON_CUT_OFF if self.used == used else UNKNOWN, 1)

    def _documents(self, value: Any, lines: int) -> None:
        items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
        best: Outcome = None
        for item in items:
            wrapped = unwrapped(item)
            outcome = self.offered.document(item, lines if item is items[0] else 0, self._where)
            if outcome is None and wrapped is not None and len(items) == 1:
                self._wrapped([part for part in wrapped.splitlines() if part.strip()] or [""], lines)
                return
            best = True if True in (outcome, best) else outcome or best
        self._outcome(best, lines, JSON_UNKNOWN)

    def _wrapped(self, parts: list[str], lines: int) -> None:
        """What a collector wrapped, one line as a rule; ``lines`` of the file."""
        self._untear()
        used, counts = self.used, dict(self._counts)
        for part in parts:
            self._plain(part)
        if len(parts) > 1:
            self._untear()
            some, self.used, self._counts = self.used > used, used, counts
            self._outcome(some or None, lines, JSON_UNKNOWN)
        elif self.used > used:
            self.used += lines - 1
        else:
            self._skip(JSON_UNKNOWN, lines - 1)
