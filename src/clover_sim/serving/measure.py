"""What a server run records, and what is told of it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import fsum
from typing import Any

_LEAST_JUDGED = 20
"""Requests below which nothing is said of how waits grow."""
LEFT_OUT = 0.1
"""Share of the requests at the beginning, and of those at the end, that the steady speed leaves out."""


@dataclass(slots=True)
class Record:
    """Sums and, for percentiles, one number of each kind a request. Times in seconds."""

    finished: int = 0
    tokens: int = 0
    locked_errors: int = 0
    preempted: int = 0
    interrupted: bool = False
    busy_s: float = 0.0
    prefill_s: float = 0.0
    steps: int = 0
    batch_steps: int = 0
    area: float = 0.0
    inside: int = 0
    sojourns: float = 0.0
    start_s: array[float] = field(default_factory=lambda: array("d"))
    wait_s: array[float] = field(default_factory=lambda: array("d"))
    first_token_s: array[float] = field(default_factory=lambda: array("d"))
    per_token_s: array[float] = field(default_factory=lambda: array("d"))
    latency_s: array[float] = field(default_factory=lambda: array("d"))
    end_s: array[float] = field(default_factory=lambda: array("d"))
    written: array[int] = field(default_factory=lambda: array("l"))
    first_arrival_s: float | None = None
    last_s: float = 0.0
    _clock: float = 0.0

    def arrived(self, time: float) -> None:
        """A request came."""
        if self.first_arrival_s is None:
            self.first_arrival_s = self._clock = time
        self._tick(time)
        self.inside += 1

    def waited(self, arrival: float, time: float) -> None:
        """A request's prompt was computed; its wait includes that."""
        self.start_s.append(time)
        self.wait_s.append(time - arrival)

    def busy(self, seconds: float, batch: int, steps: int = 1, prefill: bool = False) -> None:
        """The machine worked."""
        self.busy_s += seconds
        if prefill:
            self.prefill_s += seconds
        else:
            self.steps += steps
            self.batch_steps += steps * batch

    def done(self, job: Any, time: float) -> None:
        """A request was answered."""
        self._tick(time)
        self.inside -= 1
        tokens = job.passes.tokens
        self.finished += 1
        self.tokens += tokens
        self.locked_errors += job.passes.locked_errors
        first = job.first_token if job.first_token >= 0 else time
        self.sojourns += time - job.arrival
        self.first_token_s.append(first - job.arrival)
        self.per_token_s.append((time - first) / max(1, tokens - 1))
        self.latency_s.append(time - job.arrival)
        self.end_s.append(time)
        self.written.append(tokens)

    def close(self, time: float) -> None:
        """Nothing follows."""
        self._tick(max(time, self._clock))
        self.last_s = self._clock

    def _tick(self, time: float) -> None:
        # Requests are seen at the end of a step; one that came meanwhile may lie before the last departure.
        self.area += self.inside * (time - self._clock)
        self._clock = time

    @property
    def span_s(self) -> float:
        """From the first arrival to the end."""
        return self.last_s - (self.first_arrival_s or 0.0)

    def steady_tokens_per_s(self) -> float:
        """Tokens a second between the first tenth and the last tenth of the answers."""
        n = self.finished
        low, high = int(n * LEFT_OUT), n - 1 - int(n * LEFT_OUT)
        if high <= low or self.end_s[high] <= self.end_s[low]:
            return self.tokens / self.span_s if self.span_s else 0.0
        return sum(self.written[low + 1 : high + 1]) / (self.end_s[high] - self.end_s[low])

    def wait_growth(self) -> float | None:
        """Seconds of wait gained in each second of arrivals, from the second to the last quarter of the requests.

        0 unless each of these quarters waits longer than the one before it: only a queue that grows does that, by
        load - 1. ``None`` where it cannot be told: few requests, or all at once.
        """
        n = len(self.wait_s)
        if n < _LEAST_JUDGED:
            return None
        waits, arrivals = [], []
        for quarter in (1, 2, 3):
            part = slice(n * quarter // 4, n * (quarter + 1) // 4)
            waits.append(fsum(self.wait_s[part]) / len(self.wait_s[part]))
            arrivals.append(fsum(self.start_s[part]) / len(self.start_s[part]) - waits[-1])
        if arrivals[2] <= arrivals[0]:
            return None
        return (waits[2] - waits[0]) / (arrivals[2] - arrivals[0]) if waits[0] < waits[1] < waits[2] else 0.0

    def summary(self, first_token_target_s: float | None = None, per_token_target_s: float | None = None
                ) -> dict[str, Any]:  # fmt: skip
        """The document of one run, in SI units; the targets are those of ``goodput_per_s``."""
        span = self.span_s
        met = sum(
            (first_token_target_s is None or first <= first_token_target_s)
            and (per_token_target_s is None or each <= per_token_target_s)
            for first, each in zip(self.first_token_s, self.per_token_s, strict=True)
        )
        return {
            "requests": self.finished, "interrupted": self.interrupted, "tokens": self.tokens,
            "locked_errors": self.locked_errors, "span_s": span,
            "tokens_per_s": self.tokens / span if span else None,
            "steady_tokens_per_s": self.steady_tokens_per_s() if self.finished else None,
            "requests_per_s": self.finished / span if span else None,
            "goodput_per_s": met / span if span else None, "goodput_share": met / self.finished if met else 0.0,
            "busy_share": self.busy_s / span if span else None,
            "prefill_share": self.prefill_s / self.busy_s if self.busy_s else None,
            "mean_batch": self.batch_steps / self.steps if self.steps else None,
            "mean_in_system": self.area / span if span else None, "preemptions": self.preempted,
            "wait_growth": self.wait_growth(),
            **percentiles("wait_s", self.wait_s), **percentiles("first_token_s", self.first_token_s),
            **percentiles("per_token_s", self.per_token_s), **percentiles("latency_s", self.latency_s),
        }  # fmt: skip


def percentiles(name: str, values: array[float]) -> dict[str, float | None]:
    """Median, 90th and 99th percentile (nearest rank) and mean."""
    if not values:
        return {f"{name}_{key}": None for key in ("p50", "p90", "p99", "mean")}
    ordered = sorted(values)
    last = len(ordered) - 1
    found: dict[str, float | None] = {
        f"{name}_p{p}": ordered[min(last, -(-p * len(ordered) // 100) - 1)] for p in (50, 90, 99)
    }
    found[f"{name}_mean"] = fsum(ordered) / len(ordered)
    return found
