"""The formats, and which of them takes a line or a document: the first that does, in the order of their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clover_sim.logs._reader import Line, LogReader, Outcome, Startup, readers
from clover_sim.logs._section import Section


def _any_of(marks: Sequence[str]) -> Callable[[str], re.Match[str] | None]:
    """Looks for any of ``marks`` in a text."""
    return re.compile("|".join(map(re.escape, marks))).search


class Offered:
    """One reader of each format, with the first and last place that it used.

    ``active`` says whether a reader is inside a report and wants every line. ``marked`` and ``startup_marked`` find a
    mark of any format, or of those of start-up lines.
    """

    def __init__(self) -> None:
        found = readers()
        self._readers: list[tuple[tuple[str, ...], LogReader]] = [f for f in found if not isinstance(f[1], Startup)]
        self._startups = [(marks, reader) for marks, reader in found if isinstance(reader, Startup)]
        marks = sorted({mark for marks, _ in found for mark in marks})
        self._bytes = [mark.encode() for mark in marks]
        self.marked = _any_of(marks)
        self.startup_marked = _any_of([mark for marks, _ in self._startups for mark in marks])
        self.active = False
        self._places: dict[int, list[str]] = {}

    @property
    def startups(self) -> list[Startup]:
        """Readers of start-up lines."""
        return [reader for _, reader in self._startups]

    @property
    def writers(self) -> list[str]:
        """The programs that write what is read, one a reader."""
        return [reader.WRITER for _, reader in self._readers]

    def sections(self) -> list[Section]:
        """What all readers found, each with the first and last place its reader used."""
        return [
            replace(section, where=tuple(dict.fromkeys(self._places.get(id(reader), ()))))
            for _, reader in self._readers
            for section in reader.sections()
        ]

    def start(self) -> None:
        """A new file begins."""
        for _, reader in self._readers:
            reader.start()
        self.active = False

    def starts(self, data: bytes) -> list[int]:
        """Where the lines with a mark start, ascending."""
        found = set()
        for mark in self._bytes:
            at = data.find(mark)
            while at >= 0:
                found.add(data.rfind(b"\n", 0, at) + 1)
                line_end = data.find(b"\n", at)
                at = data.find(mark, line_end) if line_end >= 0 else -1
        return sorted(found)

    def line(self, line: Line) -> Outcome:
        """What the reader of a line says to it; ``None`` if nobody takes it."""
        started = False
        if self.startup_marked(line.text):
            for marks, startup in self._startups:
                if any(mark in line.text for mark in marks):
                    started |= startup.line(line) is True
        outcome: Outcome = None
        for marks, reader in self._readers:
            if reader.active or any(mark in line.text for mark in marks):
                outcome = reader.line(line)
                if outcome is not None:
                    self._place(reader, outcome, line.where)
                    break
        self.active = any(reader.active for _, reader in self._readers)
        return True if started and outcome is None else outcome

    def document(self, document: dict[str, Any], lines: int, where: str) -> Outcome:
        """The same for a JSON object of so many lines."""
        for _, startup in self._startups:
            startup.where = where
            startup.document(document, lines)
        for _, reader in self._readers:
            outcome = reader.document(document, lines)
            if outcome is not None:
                self._place(reader, outcome, where)
                return outcome
        return None

    def _place(self, reader: LogReader, outcome: Outcome, where: str) -> None:
        if outcome is True:
            places = self._places.setdefault(id(reader), [])
            places[1 if places else 0 :] = [where]
