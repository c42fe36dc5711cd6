"""vLLM's metrics of one request: ``metrics.speculative_decoding`` in a response (acceptance_metrics.md)."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._reader import Base, Outcome
from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Section,
    Survival,
    length,
    ratio,
)
from clover_sim.logs._text import real

MARKS = ()


class Reader(Base):
    """Adds up requests."""

    WRITER = "vLLM"

    def __init__(self) -> None:
        self._lines = 0
        self._steps = self._drafted = self._accepted = 0.0
        self._k: int | None = None
        self._survival = Survival()

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A response, or the metrics alone."""
        found = _find(document, 4)
        if found is None:
            return None
        steps, drafted = real(found.get("num_spec_steps")), real(found.get("num_draft_tokens"))
        accepted = real(found.get("num_accepted_draft_tokens"))
        if steps is None or accepted is None:
            return "speculative metrics of a request without counts"
        self._lines += lines
        self._steps += steps
        self._drafted += drafted or 0.0
        self._accepted += accepted
        k = real(found.get("num_spec_tokens"))
        self._k = max(self._k or 0, int(k)) if k else self._k
        histogram = found.get("acceptance_histogram")
        if isinstance(histogram, list) and histogram and all(real(v) is not None for v in histogram) and sum(histogram):
            total = sum(histogram)
            self._survival.add(total, [sum(histogram[i:]) / total for i in range(1, len(histogram))])
        return True

    def sections(self) -> list[Section]:
        """All requests together."""
        if not self._lines:
            return []
        measured = length(self._accepted, self._steps)
        return [
            Section(
                engine="vllm", format="vLLM metrics of requests", lines_read=self._lines, lines_used=self._lines,
                cycles=self._steps, draft_tokens=self._drafted, accepted_tokens=self._accepted,
                num_speculative_tokens=self._k, acceptance_rate=ratio(self._accepted, self._drafted),
                acceptance_length=measured, tokens_per_pass=measured, per_position_survival=self._survival.pooled(),
                conventions=(WITH_BONUS, OVER_DRAFTED, SURVIVAL, NO_PLAIN_PASSES),
            )
        ]  # fmt: skip


def _find(document: Any, depth: int) -> dict[str, Any] | None:
    if isinstance(document, list):
        return next((found for item in document[:8] if (found := _find(item, depth - 1))), None)
    if not isinstance(document, dict) or depth < 0:
        return None
    if "num_spec_steps" in document:
        return document
    inner = document.get("speculative_decoding")
    if isinstance(inner, dict):
        return inner
    for key in ("metrics", "usage", "choices"):
        if found := _find(document.get(key), depth - 1):
            return found
    return None
