"""The report that ``vllm bench serve`` and SGLang's ``bench_serving`` print.

Both have the same frame. vLLM adds a block ``Speculative Decoding`` with counts (rates in percent); SGLang adds one
line ``Accept length``. A block or rows pasted without their frame are read as well.
"""

from __future__ import annotations

import re

from clover_sim.logs._bench import report_section
from clover_sim.logs._reader import Line, Outcome, Reports
from clover_sim.logs._section import Section
from clover_sim.logs._text import number

MARKS = (
    "Serving Benchmark Result", "-Speculative Decoding-", "Speculative Decoding---", "Successful requests:",
    "utput token throughput (tok/s):", "Acceptance rate (%):",
)  # fmt: skip

_BEGIN = re.compile(r"[=\-\s]*(?:Serving Benchmark Result|Speculative Decoding)[=\-\s]*$")
_ROW = re.compile(r"\s*([A-Za-z][A-Za-z0-9 .,/()%&\-]*?)\s*:\s+(\S+(?: set)?)\s*[^\w\s]?\s*$")
_HEADING = re.compile(r"[-=]{3,}.*[-=]{3,}$|[-=]{10,}$")
_POSITION = re.compile(r"position (\d{1,4})$")
_TITLE_ONLY = re.compile(r"Per-position acceptance \(%\):$")
_FIRST = ("successful requests", "output token throughput (tok/s)", "acceptance rate (%)")
"""Rows that begin a report where no heading does; one that comes again begins the next."""
_PATIENCE = 8
"""Foreign lines between two rows of a report (other processes write to the same terminal)."""


class Reader(Reports):
    """Collects reports, each a table of rows."""

    def line(self, line: Line) -> Outcome:
        """A heading or a row."""
        text = line.message
        if _BEGIN.match(text):
            if "Serving" in text or not self.active or "acceptance length" in self._reports[-1]:
                self._begin()
            self.active, self._foreign = True, 0
            return self._count()
        row = _ROW.match(text)
        name = row[1].lower() if row else ""
        if name in _FIRST and (not self.active or name in self._reports[-1]):
            self._begin()
        if not self.active:
            return None
        if _HEADING.match(text):
            if set(text) == {"="}:
                self.active = False
            self._foreign = 0
            return self._count()
        if _TITLE_ONLY.match(text):
            return self._count()
        value = number(row[2]) if row else None
        if row is None or (value is None and name not in ("backend", "traffic request rate")):
            if row and re.fullmatch(r"(?i)nan|inf|not set|n/?a|none|-", row[2]):
                return self._count()
            self._foreign += bool(text)
            self.active = self._foreign < _PATIENCE
            return None
        self._foreign = 0
        self._reports[-1][name] = row[2] if value is None else value
        return self._count()

    def sections(self) -> list[Section]:
        """One a report."""
        found = []
        for rows, (read, used) in zip(self._reports, self._lines, strict=True):
            section = _section(rows, read, used)
            if section:
                found.append(section)
        return found


def _section(rows: dict[str, float | str], read: int, used: int) -> Section | None:
    def figure(*names: str) -> float | None:
        return next((value for name in names if isinstance(value := rows.get(name), float)), None)

    positions = sorted((int(m[1]), name) for name in rows if (m := _POSITION.fullmatch(name)))
    survival = [(figure(name) or 0.0) / 100 for _, name in positions]
    sglang = (
        "accept length" in rows or "total generated tokens (retokenized)" in rows or rows.get("backend") == "sglang"
    )
    rate = figure("acceptance rate (%)")
    return report_section(
        "sglang" if sglang else "vllm",
        "SGLang bench_serving report" if sglang else "vllm bench serve report",
        (read, used),
        drafts=figure("drafts"),
        drafted=figure("draft tokens"),
        accepted=figure("accepted tokens"),
        rate=None if rate is None else rate / 100,
        printed=figure("acceptance length", "accept length"),
        survival=survival,
        speed=figure("output token throughput (tok/s)", "output throughput (tok/s)"),
        output=figure("total generated tokens"),
        requests=figure("successful requests"),
        concurrency=figure("concurrency"),
        most=figure("maximum request concurrency", "max request concurrency"),
        tpot_ms=figure("mean tpot (ms)"),
        itl_ms=figure("mean itl (ms)"),
        duration_s=figure("benchmark duration (s)"),
    )
