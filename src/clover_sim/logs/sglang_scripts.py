"""Summaries of SGLang's benchmark scripts: acceptance length under three spellings, beside the throughput.

``#questions: N, Throughput: X token/s, Acceptance length: Y``; ``Average Output throughput`` and ``Average Accept
length`` on lines of their own; ``acc_length=`` of ``bench_one_batch_server``. A line must be nothing else.
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._text import number

MARKS = ("cceptance length:", "ccept length:", "utput throughput:",
         "acc_length=", "last_gen_throughput", "verage Latency:", "accept_length=")  # fmt: skip

_N = r"([\d.]+|nan|inf)"
_ONE = re.compile(
    rf"#questions:\s*\d+,\s*Throughput:\s*(?P<speed>{_N}) tokens?/s,\s*Accept(?:ance)? length:\s*(?P<al>{_N})$"
)
_LENGTH = re.compile(rf"(?:Average )?Accept(?:ance)? length:\s*{_N}$")
_SPEED = re.compile(rf"(?:Average )?(?:Output )?throughput\s*[:=]\s*{_N} tok(?:en)?s?/s$", re.IGNORECASE)
_LATENCY = re.compile(rf"Average Latency:\s*{_N} s$")
_BATCH = re.compile(rf".*\bacc(?:ept)?_length\s*=\s*{_N}\b.*\b(?:output_throughput|last_gen_throughput)\s*=\s*{_N}")
_REQUESTS = re.compile(r"\bbatch[_ ]size\s*[=:]\s*(\d{1,6})\b")
_MOST = 1000


class Reader(Base):
    """One summary a section: there is nothing to weigh them by."""

    WRITER = "SGLang"

    def __init__(self) -> None:
        self._found: list[tuple[float | None, float | None, int, float | None]] = []
        self._speed: float | None = None
        self._lines = 0

    def start(self) -> None:
        """A speed belongs to the length that follows in the same file."""
        self._speed, self._lines = None, 0

    def line(self, line: Line) -> Outcome:
        """A summary, or a part of one."""
        text = line.message
        if found := _ONE.match(text):
            return self._add(number(found["al"]), number(found["speed"]))
        if found := _BATCH.match(text):
            requests = _REQUESTS.search(text)
            return self._add(number(found[1]), number(found[2]), number(requests[1]) if requests else None)
        if found := _SPEED.match(text):
            self._speed = number(found[1])
            self._lines += 1
            return True
        if _LATENCY.match(text):
            self._lines += 1
            return True
        if found := _LENGTH.match(text):
            return self._add(number(found[1]), self._speed)
        return None

    def _add(self, length: float | None, speed: float | None, requests: float | None = None) -> Outcome:
        lines, self._lines, self._speed = self._lines + 1, 0, None
        if length is None or length < 1:
            return "an acceptance length that is not a number of at least 1"
        if len(self._found) >= _MOST:
            return f"more than {_MOST} summaries"
        self._found.append((length, speed, lines, requests))
        return True

    def sections(self) -> list[Section]:
        """One a summary."""
        return [
            Section(
                engine="sglang", format="SGLang script summary", lines_read=lines, lines_used=lines,
                acceptance_length=length, tokens_per_pass=length, generation_tokens_per_s=speed,
                running_requests=requests,
                conventions=(
                    "acceptance length = completion tokens / verify passes: the bonus token is included",
                    "no counts: summaries cannot be pooled with each other",
                ),
            )
            for length, speed, lines, requests in self._found
        ]  # fmt: skip
