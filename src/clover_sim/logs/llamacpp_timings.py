"""The ``timings`` of a llama-server response: tokens, milliseconds, and drafts if there were any."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._reader import STREAMED, Base, Outcome
from clover_sim.logs._section import OVER_DRAFTED, Section, ratio
from clover_sim.logs._text import real

MARKS = ()


class Reader(Base):
    """Adds up responses, those with drafts and those without."""

    WRITER = "llama.cpp"

    def __init__(self) -> None:
        self._sums = {True: [0.0] * 6, False: [0.0] * 6}

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A response, or its timings alone."""
        timings = document.get("timings") if isinstance(document.get("timings"), dict) else document
        if not isinstance(timings, dict) or "predicted_ms" not in timings:
            return None
        if _goes_on(document):
            return STREAMED
        tokens, milliseconds = real(timings.get("predicted_n")), real(timings["predicted_ms"])
        if tokens is None and milliseconds and (speed := real(timings.get("predicted_per_second"))):
            tokens = round(speed * milliseconds / 1e3)
        if not tokens or not milliseconds:
            return "timings of no tokens"
        drafted, accepted = real(timings.get("draft_n")), real(timings.get("draft_n_accepted"))
        sums = self._sums[drafted is not None]
        for index, value in enumerate((lines, tokens, milliseconds / 1e3, drafted or 0.0, accepted or 0.0, 1.0)):
            sums[index] += value
        return True

    def sections(self) -> list[Section]:
        """With drafts, and without."""
        found = []
        if self._sums[True][1]:
            found.append(_drafting(*self._sums[True]))
        if self._sums[False][1]:
            lines, tokens, seconds = self._sums[False][:3]
            found.append(
                Section(
                    engine="llama.cpp", format="llama.cpp response timings without drafts", lines_read=int(lines),
                    lines_used=int(lines), speculative=False, output_tokens=tokens,
                    generation_tokens_per_s=tokens / seconds, user_tokens_per_s=tokens / seconds,
                    conventions=("no drafts",),
                )
            )  # fmt: skip
        return found


def _goes_on(document: dict[str, Any]) -> bool:
    """Whether a response is a part of a stream (``timings_per_token``) that is not its last."""
    choices = document.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return "finish_reason" in choices[0] and choices[0]["finish_reason"] is None
    return document.get("stop") is False


def _drafting(
    lines: float, tokens: float, seconds: float, drafted: float, accepted: float, requests: float
) -> Section:  # fmt: skip
    passes = tokens - accepted - requests
    return Section(
        engine="llama.cpp", format="llama.cpp response timings", lines_read=int(lines), lines_used=int(lines),
        output_tokens=tokens, passes=passes, draft_tokens=drafted, accepted_tokens=accepted,
        acceptance_rate=ratio(accepted, drafted), tokens_per_pass=ratio(tokens - requests, passes),
        cycle_time_s=ratio(seconds, passes), generation_tokens_per_s=tokens / seconds,
        user_tokens_per_s=tokens / seconds, running_requests=1.0,
        conventions=(
            OVER_DRAFTED,
            "passes = tokens - accepted - 1 a request (its first comes from the prompt's pass); how many of them had a "
            "draft is not said",
        ),
    )  # fmt: skip
