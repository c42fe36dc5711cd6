"""What ``trtllm-eval`` logs of its drafts at the end: ``Spec-dec stats: AL ...`` and ``AR ...`` over all requests.

AL is tokens over decoding steps, target's token included; AR is accepted over drafted tokens (tensorrt_llm/evaluate).
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import OVER_DRAFTED, Section, ratio
from clover_sim.logs._text import number

MARKS = ("Spec-dec stats:",)

_LENGTH = re.compile(r"Spec-dec stats: AL \([^)]*\) ([\d.]+)\s*\(per-request min [\d.]+, max [\d.]+, n=(\d{1,9})\)")
_RATE = re.compile(r"Spec-dec stats: AR \([^)]*\) (\d{1,15})/(\d{1,15}) = ")


class Reader(Base):
    """One evaluation after another: the length comes first, the rate after it."""

    WRITER = "TensorRT-LLM"

    def __init__(self) -> None:
        self._runs: list[dict[str, float]] = []

    def line(self, line: Line) -> Outcome:
        """One of the two lines."""
        if found := _LENGTH.search(line.text):
            length = number(found[1])
            if length is None or length < 1:
                return "an acceptance length below 1"
            self._runs.append({"length": length, "requests": float(found[2]), "lines": 1.0})
            return True
        if found := _RATE.search(line.text):
            accepted, drafted = float(found[1]), float(found[2])
            if accepted > drafted:
                return CUT_OFF
            if not self._runs or "drafted" in self._runs[-1]:
                self._runs.append({"lines": 0.0})
            self._runs[-1].update(accepted=accepted, drafted=drafted, lines=self._runs[-1]["lines"] + 1)
            return True
        return CUT_OFF

    def sections(self) -> list[Section]:
        """One an evaluation."""
        return [_section(run) for run in self._runs]


def _section(run: dict[str, float]) -> Section:
    length, drafted, accepted = run.get("length"), run.get("drafted"), run.get("accepted")
    conventions = []
    if length is not None:
        conventions.append("AL is weighted by decoding steps: tokens / steps, the bonus token is included")
    if drafted is not None:
        conventions.append(OVER_DRAFTED)
    return Section(
        engine="trtllm", format="trtllm-eval log", lines_read=int(run["lines"]), lines_used=int(run["lines"]),
        draft_tokens=drafted, accepted_tokens=accepted, acceptance_rate=ratio(accepted, drafted),
        acceptance_length=length, tokens_per_pass=length, conventions=tuple(conventions),
    )  # fmt: skip
