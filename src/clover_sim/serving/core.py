"""The server: continuous batching, one step after another, with cache space that can run out.

Between two events (a segment ends, a request arrives while there is room, the cache fills up) every step of the batch
has the same shape, so the server jumps from event to event; the price of the steps between is a closed sum, since a
step is affine in the cached tokens and these grow evenly.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from math import ceil, fsum, sqrt
from typing import Any

from clover_sim.errors import InputError
from clover_sim.records import Kind
from clover_sim.serving.arrivals import Source
from clover_sim.serving.limits import WATERMARK, Limits
from clover_sim.serving.measure import Record
from clover_sim.serving.pool import Passes, Segment
from clover_sim.serving.pricing import Pricer


class Job:
    """One request in the server. ``at`` counts finished segments, ``done`` finished units of the current one."""

    __slots__ = ("arrival", "at", "context", "done", "first_token", "need", "order", "passes", "prompt", "started",
                 "step", "version")  # fmt: skip

    def __init__(self, order: int, arrival: float, passes: Passes, prompt: int) -> None:
        self.order, self.arrival, self.passes, self.prompt = order, arrival, passes, prompt
        self.at = self.done = self.version = self.step = 0
        self.started = self.first_token = -1.0
        self.context = self.need = 0.0

    def cached(self) -> float:
        """Tokens in the cache at the beginning of the current unit."""
        segment = self.passes.segments[self.at]
        return self.prompt + segment.context + segment.growth * self.done


class Server:
    """Serves a source to its end; see :meth:`run`.

    Args:
        pricer: of steps. limits: of the machine. choose: a new request's (passes, prompt tokens), from the numbers of
            prompt and output tokens that its source names and the requests being decoded.
    """

    def __init__(
        self, pricer: Pricer, limits: Limits, choose: Callable[[int | None, int | None, int], tuple[Passes, int]]
    ) -> None:
        self.pricer, self.limits, self.choose = pricer, limits, choose
        self.time = 0.0
        self.step = 0
        self.waiting: deque[Job] = deque()
        self.running: dict[int, Job] = {}
        self.parked: list[Job] = []
        self.record = Record()
        self._ends: list[tuple[int, int, int]] = []
        self._kinds: dict[Kind, int] = {}
        self._drafts: dict[int, int] = {}
        self._width = self._recompute = self._draft_width = 0
        self._base = self._slope = 0.0
        self._held = 0.0
        self._lockstep = limits.policy == "lockstep"

    def run(self, source: Source, progress: Callable[[int, int], None] | None = None, total: int = 0) -> Record:
        """Serve every request of ``source``; an interruption ends it early, with what is finished on record."""
        record = self.record
        order = 0
        try:
            while True:
                while (due := source.peek()) is not None and due <= self.time:
                    arrival, prompt, output = source.take()
                    passes, length = self.choose(prompt, output, len(self.running))
                    job = Job(order, arrival, passes, length)
                    job.need = length + passes.tokens + self.limits.state_tokens
                    self._check(job)
                    order += 1
                    record.arrived(arrival)
                    self.waiting.append(job)
                if self.waiting and self._admit():
                    continue
                if not self.running:
                    if self.parked:
                        self._release()
                        continue
                    if due is None:
                        break
                    self.time = max(self.time, due)
                    continue
                self._advance(due)
                self._finish(source)
                if progress is not None and self.step % 64 == 0:
                    progress(record.finished, total)
        except KeyboardInterrupt:
            record.interrupted = True
        record.close(self.time)
        return record

    def _check(self, job: Job) -> None:
        limit = self.limits.cache_tokens
        if limit is not None and job.need > limit:
            raise InputError(
                f"a request of {job.prompt} prompt and {job.passes.tokens} output tokens needs {job.need:.0f} tokens "
                f"of cache, the machine has {limit:.0f}; use shorter requests, fewer bits or a larger GPU"
            )

    # ---- who is decoded -----------------------------------------------------------------------------------------

    def _admit(self) -> bool:
        """Start as many waiting requests as fit, with one prefill step; whether there was one."""
        limits = self.limits
        if self._lockstep and self.running:
            return False  # a round is under way
        room = limits.batch - len(self.running) - len(self.parked)
        if room <= 0:
            return False
        free = None
        if limits.cache_tokens is not None:
            free = limits.cache_tokens - self._used()
            if limits.cache_rule == "preempt" and self.running:
                free -= WATERMARK * limits.cache_tokens + self._slope + 1
        new: list[Job] = []
        tokens = 0
        while self.waiting and len(new) < room:
            job = self.waiting[0]
            resident = job.cached() + limits.state_tokens
            needs = job.need if limits.cache_rule == "queue" else resident
            prompt = int(job.cached())
            if (free is not None and needs > free) or (new and tokens + prompt > limits.prefill_tokens):
                break
            self.waiting.popleft()
            new.append(job)
            tokens += prompt
            if free is not None:
                free -= needs
        if not new:
            return False
        prompts = tuple(p for job in new if (p := int(job.cached())))
        if prompts:
            seconds = self.pricer.prefill(prompts)
            self.record.busy(seconds, 0, prefill=True)
            self.time += seconds
        for job in new:
            if job.started < 0:
                job.started = self.time
                self.record.waited(job.arrival, self.time)
            self._held += job.need
            self._begin(job)
        return True

    def _used(self) -> float:
        """Cache tokens taken: reserved ones under ``queue``, present ones under ``preempt``."""
        if self.limits.cache_rule == "queue":
            return self._held
        state = self.limits.state_tokens * (len(self.running) + len(self.parked))
        return self._base + self._slope * self.step + state + fsum(job.cached() for job in self.parked)

    def _begin(self, job: Job) -> None:
        """Put the request's current segment into the batch."""
        segment = job.passes.segments[job.at]
        self.running[job.order] = job
        job.step = self.step
        job.version += 1
        self._count(segment, 1)
        start = self.step - job.done
        job.context = job.prompt + segment.context - segment.growth * start
        self._base += job.context
        self._slope += segment.growth
        heapq.heappush(self._ends, (start + segment.units, job.order, job.version))

    def _leave(self, job: Job) -> None:
        """Take the request's current segment out of the batch."""
        segment = job.passes.segments[job.at]
        del self.running[job.order]
        self._count(segment, -1)
        self._base -= job.context
        self._slope -= segment.growth
        if not self.running:
            self._base = self._slope = 0.0  # so that rounding never adds up

    def _count(self, segment: Segment, n: int) -> None:
        self._kinds[segment.kind] = self._kinds.get(segment.kind, 0) + n
        self._drafts[segment.drafts] = self._drafts.get(segment.drafts, 0) + n
        self._width += n * segment.width
        self._recompute += n * segment.recompute
        self._draft_width += n * segment.draft_width

    def _release(self) -> None:
        """Lockstep: the round is over, everybody goes on."""
        parked, self.parked = self.parked, []
        for job in parked:
            self._begin(job)

    # ---- time ---------------------------------------------------------------------------------------------------

    def _advance(self, due: float | None) -> None:
        """Run equal steps up to the next event."""
        ends = self._ends
        running = self.running
        while True:
            end, order, version = ends[0]
            job = running.get(order)
            if job is not None and job.version == version:
                break
            heapq.heappop(ends)  # of a request that was thrown out
        steps = end - self.step
        n = len(running)
        context = self._base + self._slope * self.step
        kind = max(sorted(self._kinds), key=self._kinds.__getitem__)
        drafts = max(d for d, count in self._drafts.items() if count)
        fixed, each = self.pricer.unit(
            kind,
            n,
            self._width,
            self._recompute,
            drafts,
            self._draft_width,
            context,
        )
        first = fixed + each * context
        growth = each * self._slope
        limits = self.limits
        if due is not None and steps > 1 and not self._lockstep and n < limits.batch and not self.waiting:
            steps = min(steps, _steps_until(due - self.time, first, growth))
        if limits.cache_rule == "preempt" and limits.cache_tokens is not None:
            left = limits.cache_tokens - self._used()
            if left < self._slope or left < 0:
                if n > 1:
                    self._throw_out()
                    return
            elif self._slope > 0:
                steps = min(steps, max(1, int(left / self._slope)))
        seconds = steps * first + growth * steps * (steps - 1) / 2
        self.time += seconds
        self.step += steps
        self.record.busy(seconds, n, steps=steps)

    def _throw_out(self) -> None:
        """The cache is full: the youngest request goes back to the head of the queue and is computed again later."""
        job = self.running[max(self.running)]
        job.done += self.step - job.step
        self._leave(job)
        self._held -= job.need
        job.version += 1
        self.waiting.appendleft(job)
        self.record.preempted += 1

    def _finish(self, source: Source) -> None:
        """Move on what ended with this step."""
        ends, running, now = self._ends, self.running, self.step
        while ends and ends[0][0] <= now:
            _, order, version = heapq.heappop(ends)
            job = running.get(order)
            if job is None or job.version != version:
                continue
            segments = job.passes.segments
            segment = segments[job.at]
            self._leave(job)
            if segment.first_token:
                job.first_token = self.time
            job.at += 1
            job.done = 0
            if job.at == len(segments):
                self._held -= job.need
                self.record.done(job, self.time)
                source.finished(self.time)
            elif self._lockstep and segment.round_end:
                self.parked.append(job)
            else:
                self._begin(job)


def _steps_until(wait_s: float, first: float, growth: float) -> int:
    """Fewest steps, at least one, that last ``wait_s``, where step j takes ``first + growth * j``."""
    if wait_s <= first:
        return 1
    if growth <= 0:
        return ceil(wait_s / first)
    b = first - growth / 2
    return max(1, ceil((sqrt(b * b + 2 * growth * wait_s) - b) / growth))


def draw_from(pool: Any, draw: Callable[[], float], prompt: Callable[[], int]) -> Any:
    """A ``choose`` for :class:`Server` that draws sequences from a pool, and prompts where the source names none."""

    def choose(prompt_tokens: int | None, output_tokens: int | None, decoding: int) -> tuple[Passes, int]:
        one = pool.draw(draw(), output_tokens)
        return one, prompt() if prompt_tokens is None else prompt_tokens

    return choose
