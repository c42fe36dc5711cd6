"""When requests come: Poisson, in bursts, from users who wait for their answers, or as a log says."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import log
from typing import Protocol

from clover_sim.agents.sizes import Size
from clover_sim.errors import UsageError
from clover_sim.rng import substream


class Source(Protocol):
    """A stream of requests in the order of time."""

    def peek(self) -> float | None:
        """Time of the next one, ``None`` if there is none (yet)."""
        ...

    def take(self) -> tuple[float, int | None, int | None]:
        """Its time, prompt tokens and output tokens; ``None`` where the workload decides."""
        ...

    def finished(self, time_s: float) -> None:
        """A request was answered."""
        ...


class Open:
    """``requests`` requests that come whatever the server does.

    Args:
        rate_per_s: mean rate. burst: requests that come at the same moment; 1 is Poisson.
    """

    def __init__(self, rate_per_s: float, requests: int, seed: int = 0, burst: int = 1) -> None:
        if not 1e-9 <= rate_per_s < 1e9:
            raise UsageError(f"rate {rate_per_s!r}: expected requests a second from 1e-9 to 1e9")
        if not 1 <= burst <= requests:
            raise UsageError(f"burst {burst}: expected from 1 to all {requests} requests at the same moment")
        self._draw = substream(seed, "serve/arrivals").random
        self._gap = burst / rate_per_s
        self._burst, self._left_in_burst = burst, 0
        self._left = requests
        self._time = 0.0

    def peek(self) -> float | None:
        """Time of the next request."""
        if not self._left:
            return None
        if not self._left_in_burst:
            self._time -= self._gap * log(1.0 - self._draw())
            self._left_in_burst = self._burst
        return self._time

    def take(self) -> tuple[float, int | None, int | None]:
        """The next request."""
        time = self.peek()
        assert time is not None
        self._left -= 1
        self._left_in_burst -= 1
        return time, None, None

    def finished(self, time_s: float) -> None:
        """Nothing follows from it."""


class Closed:
    """``users`` users, each of whom sends the next request ``think_s`` (exponential mean) after an answer."""

    def __init__(self, users: int, requests: int, think_s: float = 0.0, seed: int = 0) -> None:
        self._draw = substream(seed, "serve/think").random
        self._think_s, self._left = think_s, requests
        self._due: list[float] = [self._pause() for _ in range(min(users, requests))]
        heapq.heapify(self._due)
        self._left -= len(self._due)

    def _pause(self) -> float:
        return -self._think_s * log(1.0 - self._draw()) if self._think_s else 0.0

    def peek(self) -> float | None:
        """Time of the next request."""
        return self._due[0] if self._due else None

    def take(self) -> tuple[float, int | None, int | None]:
        """The next request."""
        return heapq.heappop(self._due), None, None

    def finished(self, time_s: float) -> None:
        """Its user thinks, then asks again."""
        if self._left:
            self._left -= 1
            heapq.heappush(self._due, time_s + self._pause())


class Logged:
    """The requests of a log; one without times comes all at once. ``speed`` 2 replays it twice as fast."""

    def __init__(self, sizes: Sequence[Size], speed: float = 1.0) -> None:
        self._sizes, self._speed, self._next = sizes, speed, 0

    def peek(self) -> float | None:
        """Time of the next request."""
        if self._next >= len(self._sizes):
            return None
        return (self._sizes[self._next].time_s or 0.0) / self._speed

    def take(self) -> tuple[float, int | None, int | None]:
        """The next request."""
        time = self.peek()
        assert time is not None
        one = self._sizes[self._next]
        self._next += 1
        return time, one.prompt_tokens, one.output_tokens

    def finished(self, time_s: float) -> None:
        """Nothing follows from it."""
