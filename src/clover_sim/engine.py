"""The engine: it alone runs passes, counts them and writes the ledger.

A decoder is a generator that yields the passes it wants to pay for (see docs/design.md, section 3). ``Batch``
interleaves many requests, a step at a time; ``run`` is a batch of one. What one request may do stands in
``request.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from clover_sim.bulk import can_run_in_bulk, run_in_bulk
from clover_sim.checks import MOST_TOKENS
from clover_sim.errors import DecoderFault, UsageError, suggest
from clover_sim.ledger import Ledger
from clover_sim.records import CAUSAL, DRAFT, EOS_STOPS, TARGET, Kind, Role
from clover_sim.request import Request, Run

POLICIES = ("lockstep", "padded", "first-done-first-out")
ALIGNMENTS = ("relative", "absolute")


class Step(NamedTuple):
    """One forward pass of a batch: the rows of the ledger it wrote, all of one role.

    ``padding_tokens`` are those that waiting requests added under ``padded``; ``finished`` lists requests it completed.
    """

    number: int
    role: Role
    rows: range
    padding_tokens: int
    finished: tuple[int, ...]


class Batch:
    """Many requests over one ledger, a step at a time. A step holds one role.

    Args:
        policy: ``lockstep`` (a request that finished its block, or its draft-and-verify cycle, waits for the slowest
            and adds no tokens), ``padded`` (the same, but its tokens are computed as padding), or
            ``first-done-first-out`` (nobody waits for another).
        kv_write, eos_stop, align: rules of the run; see docs/design.md, rules 4 and 6.

    >>> from clover_sim import build_strategy, open_stream
    >>> batch = Batch()
    >>> for length in (8, 12):
    ...     _ = batch.admit(build_strategy("ar")[1], open_stream("reference", length))
    >>> steps = 0
    >>> while batch.step() is not None:
    ...     steps += 1
    >>> steps, batch.ledger.audit().tokens
    (12, 20)
    """

    def __init__(
        self,
        policy: str = "first-done-first-out",
        *,
        kv_write: str | None = None,
        eos_stop: str = "block",
        align: str = "relative",
    ) -> None:
        for name, value, known in (("policy", policy, POLICIES), ("eos_stop", eos_stop, EOS_STOPS)):
            if value not in known:
                raise UsageError(f"{name} {value!r} is not known{suggest(str(value), known)}")
        if align not in ALIGNMENTS:
            raise UsageError(f"align {align!r} is not known{suggest(str(align), ALIGNMENTS)}")
        self.policy = policy
        self.ledger = Ledger()
        self._options = {"kv_write": kv_write, "eos_stop": eos_stop, "align": align}
        self._requests: dict[int, Request] = {}
        self._admitted = 0
        self._steps = 0

    @property
    def active(self) -> tuple[int, ...]:
        """Numbers of the requests that still have passes to run."""
        return tuple(n for n, r in self._requests.items() if r.pending is not None)

    def admit(
        self,
        decoder: Any,
        stream: Any,
        *,
        prompt_tokens: int = 0,
        max_new_tokens: int | None = None,
        observe: Callable[[int, dict[int, float]], None] | None = None,
    ) -> int:
        """Add a request; returns its number. Under ``lockstep`` it joins at the next round.

        ``observe(row, confidences)`` is called before each pass of the decoder with the ledger row it will have and the
        confidence of every masked position it scores (empty for causal and draft passes).
        """
        limit = len(stream.classes) if max_new_tokens is None else max_new_tokens
        for name, value in (("prompt_tokens", prompt_tokens), ("max_new_tokens", limit)):
            if type(value) is not int or not 0 <= value <= MOST_TOKENS:
                raise UsageError(f"{name} = {value!r}: expected a whole number from 0 to {MOST_TOKENS}")
        number = self._admitted
        options = {**self._options, "prompt_tokens": prompt_tokens, "limit": limit, "observe": observe}
        self._requests[number] = Request(number, self.ledger, decoder, stream, options)
        self._admitted += 1
        return number

    def evict(self, request: int) -> Run:
        """Take a request out, finished or not, and return what it has so far."""
        if request not in self._requests:
            raise UsageError(f"request {request} is not in this batch; it holds {sorted(self._requests)}")
        taken = self._requests.pop(request)
        taken.generator.close()
        return taken.result()

    def step(self) -> Step | None:
        """Run one forward pass over every request that is ready for it; ``None`` once nothing is pending."""
        ready, waiting = self._choose()
        if not ready:
            return None
        first = len(self.ledger)
        role = TARGET if ready[0].queued_kind is not None else ready[0].pending.role  # type: ignore[union-attr]
        for request in ready:
            request.execute(self._steps)
            self._mark_boundary(request, role)
        padding: tuple[int, ...] = ()
        if self.policy == "padded" and role is TARGET and waiting:
            padding = (max(self.ledger.tokens[first:]),) * len(waiting)
            self.ledger.padding[self._steps] = padding
        step = Step(
            self._steps, role, range(first, len(self.ledger)), sum(padding),
            tuple(r.number for r in ready if r.pending is None),
        )  # fmt: skip
        self._steps += 1
        return step

    def _choose(self) -> tuple[list[Request], list[Request]]:
        """The requests of the next step, and those that wait at the end of their round."""
        live = [r for r in self._requests.values() if r.pending is not None]
        if not live:
            return [], []
        if self.policy == "first-done-first-out":
            if added := [r for r in live if r.queued_kind is Kind.PREFILL]:
                return added, []
            longest_waiting = min(live, key=lambda r: r.last_step)
            role = longest_waiting.pending.role  # type: ignore[union-attr]
            return [r for r in live if r.pending.role is role], []  # type: ignore[union-attr]
        in_round = [r for r in live if not r.at_boundary]
        if not in_round:
            for kind in (Kind.PREFILL, Kind.KV_WRITE):
                if added := [r for r in live if r.queued_kind is kind]:
                    return added, []
            for request in live:
                request.at_boundary = False
                request.round_stop = request.pending.stop  # type: ignore[union-attr]
            for request in self._requests.values():
                request.round_stop = request.round_stop if request.pending is not None else -1
            in_round = live
        drafting = [r for r in in_round if r.pending.role is DRAFT]  # type: ignore[union-attr]
        ready = drafting or in_round
        waiting = [r for r in self._requests.values() if r.at_boundary and r.round_stop >= 0]
        return ready, waiting

    def _mark_boundary(self, request: Request, role: Role) -> None:
        """Whether the request has come to the end of its round: its block is full, or its cycle was verified."""
        pending = request.pending
        if request.queued_kind is not None or pending is None:
            request.at_boundary = True
        elif not request.at_boundary and role is TARGET:
            request.at_boundary = pending.attend is CAUSAL or pending.start >= request.round_stop


def run(
    decoder: Any,
    stream: Any,
    *,
    kv_write: str | None = None,
    eos_stop: str = "block",
    align: str = "relative",
    prompt_tokens: int = 0,
    max_new_tokens: int | None = None,
) -> Run:
    """Decode one stream with one decoder: a batch of one, run to its end.

    Args:
        decoder: any object with a ``decode(canvas)`` generator; see :class:`clover_sim.canvas.Canvas`.
        stream: a :class:`clover_sim.streams.base.Stream`.
        kv_write: one of ``KV_WRITE_RULES``; default: the stream's, else the decoder's own, else ``separate``.
        eos_stop: ``early``, ``block`` or ``canvas``: how far to decode after the end of the text.
        align: ``relative`` (blocks start at the first new token) or ``absolute`` (at the first prompt token).
        prompt_tokens: tokens before the text; above 0, one prefill pass is recorded.
        max_new_tokens: the canvas' limit; default: the length of the text.

    Raises :class:`IllegalMove` with the decoder's file and line for whatever the rules forbid.

    >>> from clover_sim import build_strategy, open_stream
    >>> done = run(build_strategy("ar")[1], open_stream("reference", 24), prompt_tokens=100)
    >>> done.totals.tokens, done.totals.target_passes, done.totals.prefill_passes
    (24, 24, 1)
    """
    batch = Batch(kv_write=kv_write, eos_stop=eos_stop, align=align)
    number = batch.admit(decoder, stream, prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)
    request = batch._requests[number]
    step = 0
    while request.queued_kind is not None:
        request.execute(step)
        step += 1
    if request.pending is not None and can_run_in_bulk(request):
        _check_plan(decoder, stream)
        run_in_bulk(request, step)
    _run_out(request, step)
    return request.result()


def _run_out(request: Request, step: int) -> None:
    """Every pass that is left, a step each: what ``Batch.step`` comes to where nobody else waits."""
    execute = request.execute
    while request.pending is not None:
        execute(step)
        step += 1


_PLAN_PROBE_TOKENS = 96
_checked_plans: set[Any] = set()


def _check_plan(decoder: Any, stream: Any) -> None:
    """Hold a plan against the generator it stands for, on the first positions of the stream, once a decoder.

    A plan is a claim of the decoder's own about its passes; believed unseen, it could claim fewer.
    """
    try:
        key = (type(decoder), decoder, stream.name)
        if key in _checked_plans:
            return
    except TypeError:  # not hashable: checked every time
        key = None
    both = []
    for bulk in (False, True):
        batch = Batch(kv_write="none")
        request = batch._requests[batch.admit(decoder, stream, max_new_tokens=min(_PLAN_PROBE_TOKENS, len(stream)))]
        if bulk:
            run_in_bulk(request, 0)
        _run_out(request, 0)
        places = batch.ledger.positions[0]
        both.append((batch.ledger.committed, batch.ledger.kind, places.row, places.flags))
    if both[0] != both[1]:
        raise DecoderFault(f"{type(decoder).__name__}.plan() does not describe what its decode() does")
    if key is not None:
        _checked_plans.add(key)
