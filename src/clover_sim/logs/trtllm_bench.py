"""The report of ``trtllm-bench``: throughput, per-request percentiles and, with drafts, a block of decoding statistics.

Figures of drafts are per request: [DT] drafted, [ADT] accepted, [DAR] rate, [AL] acceptance length. Rows go by name,
for releases print the percentiles in different orders (tensorrt_llm/bench/dataclasses/reporting.py).
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import Line, Outcome, Reports
from clover_sim.logs._section import Section
from clover_sim.logs._text import number
from clover_sim.logs._trtllm import trtllm_section

MARKS = ("= PERFORMANCE OVERVIEW", "= REQUEST DETAILS", "= DECODING STATISTICS", "= WORLD + RUNTIME",
         "= ENGINE DETAILS", "= PYTORCH BACKEND", "Total Output Throughput (tokens/sec)")  # fmt: skip

_HEADING = re.compile(r"=\s+(PERFORMANCE OVERVIEW|REQUEST DETAILS|DECODING STATISTICS|WORLD \+ RUNTIME INFORMATION|"
                      r"ENGINE DETAILS|PYTORCH BACKEND|MACHINE DETAILS|DATASET DETAILS)\s*(?:\((.*)\))?$")  # fmt: skip
_PERCENTILE = re.compile(r"\[(TPOT|TTFT|GTPS|Latency|DT|ADT|DAR|AL)\]\s*([A-Za-z0-9.]+)\s*:\s*([-\d.eE+]+|nan|inf)$")
_ROW = re.compile(r"([A-Za-z][\w +\[\]/().-]*?):\s+([-\d.eE+]+|nan|inf)%?$")
_RULE = re.compile(r"(?:[=-]{3,}.*|[A-Za-z][\w +/]*:\s*\S.*)?$")
_PATIENCE = 25


class Reader(Reports):
    """Collects reports; a figure that comes again begins the next one."""

    WRITER = "TensorRT-LLM"

    def line(self, line: Line) -> Outcome:
        """A heading, a row or a percentile."""
        text = line.message
        if found := _HEADING.match(text):
            if not self.active or (
                "PERFORMANCE" in found[1] and "total output throughput (tokens/sec)" in self._reports[-1]
            ):
                self._begin()
            if found[1] == "DECODING STATISTICS":
                self._reports[-1]["mode"] = found[2] or "unknown"
            return self._count()
        found = _ROW.match(text) or None
        if not self.active:
            if not (found and found[1].lower() == "total output throughput (tokens/sec)"):
                return None
            self._begin()
        if percentile := _PERCENTILE.search(line.text):
            return self._put(f"[{percentile[1]}] {percentile[2]}".lower(), percentile[3])
        if found:
            return self._put(found[1].lower(), found[2])
        self._foreign += not _RULE.match(text)
        self.active = self._foreign < _PATIENCE
        return self._count() if _RULE.match(text) else None

    def _put(self, key: str, text: str) -> Outcome:
        value = number(text)
        self._foreign = 0
        if value is not None:
            self._reports[-1][key] = value
        return self._count()

    def sections(self) -> list[Section]:
        """One a report that has a speed or drafts."""
        found = [_section(rows, tuple(lines)) for rows, lines in zip(self._reports, self._lines, strict=True)]  # type: ignore[arg-type]
        return [section for section in found if section]


def _section(rows: dict[str, float | str], lines: tuple[int, int]) -> Section | None:
    def figure(*names: str) -> float | None:
        return next((value for name in names if isinstance(value := rows.get(name), float)), None)

    mode = rows.get("mode")
    return trtllm_section(
        "trtllm-bench report",
        lines,
        mode=str(mode) if mode else None,
        speed=figure("total output throughput (tokens/sec)"),
        user_speed=figure("per user output speed (tps/user)", "per user output throughput [w/ ctx] (tps/user)"),
        tpot_ms=figure("average time-per-output-token [tpot] (ms)", "[tpot] average"),
        requests=figure("number of requests"),
        concurrent=figure("number of concurrent requests"),
        output=figure("average output length (tokens)"),
        drafted=figure("[dt] average"),
        accepted=figure("[adt] average"),
        rate=figure("[dar] average"),
        length=figure("[al] average"),
    )
