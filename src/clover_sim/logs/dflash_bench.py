"""What the DFlash repository's benchmark prints: acceptance lengths with the anchor, and both speeds."""

from __future__ import annotations

import re

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._text import number

MARKS = ("Baseline throughput", "DFlash throughput", "Decoding speedup", "Average Acceptance length",
         "Acceptance length histogram")  # fmt: skip

_ROW = re.compile(
    r"(Baseline throughput|DFlash throughput|Decoding speedup|Average Acceptance length|Acceptance length histogram)"
    r":\s*(\[.*\]|[\d.]+|nan|inf)\s*(?:x|tok(?:en)?s?/s)?$"
)


class Reader(Base):
    """Collects runs; a row that comes again begins the next one."""

    WRITER = "the DFlash benchmark"

    def __init__(self) -> None:
        self._runs: list[dict[str, str]] = []
        self._fresh = True

    def start(self) -> None:
        """A run does not go on in the next file."""
        self._fresh = True

    def line(self, line: Line) -> Outcome:
        """A row, which is nothing else."""
        found = _ROW.match(line.message)
        if found is None:
            return None
        if self._fresh or found[1] in self._runs[-1]:
            if len(self._runs) >= 1000:
                return "more than 1000 runs"
            self._runs.append({})
            self._fresh = False
        self._runs[-1][found[1]] = found[2]
        return True

    def sections(self) -> list[Section]:
        """One a run that has an acceptance length or a speed."""
        return [section for run in self._runs if (section := _section(run))]


def _section(run: dict[str, str]) -> Section | None:
    baseline, speed = number(run.get("Baseline throughput")), number(run.get("DFlash throughput"))
    speedup, printed = number(run.get("Decoding speedup")), number(run.get("Average Acceptance length"))
    if printed is None and speed is None:
        return None
    listed = run.get("Acceptance length histogram", "").strip("[]")
    shares = [number(part.strip(" '\"")) or 0.0 for part in listed.split(",")] if listed else []
    conventions = ["acceptance length = accepted drafts + 1: the token that anchors the next block is the bonus token"]
    survival, total = [], sum(shares)
    length = printed
    if len(shares) > 2 and total:
        # Entry n is the share of blocks that gave n tokens, so 1 + i or more of them is survival at draft i.
        survival = [sum(shares[i + 1 :]) / total for i in range(1, len(shares) - 1)]
        length = sum(n * share for n, share in enumerate(shares)) / total
        conventions.append(
            "weighted by blocks, from the histogram; the printed mean is a mean over answers"
            + ("" if printed is None else f" ({printed:g})")
        )
    if baseline is None and speed and speedup:
        baseline = speed / speedup
    return Section(
        engine=None, format="DFlash benchmark", lines_read=len(run), lines_used=len(run),
        num_speculative_tokens=len(shares) - 2 if len(shares) > 2 else None, acceptance_length=length,
        acceptance_rate=(length - 1) / (len(shares) - 2) if length and len(shares) > 2 else None,
        tokens_per_pass=length, per_position_survival=tuple(survival) or None, generation_tokens_per_s=speed,
        baseline_tokens_per_s=baseline if speed else None, method="dflash", conventions=tuple(conventions),
    )  # fmt: skip
