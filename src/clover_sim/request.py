"""One request: a decoder's generator and its canvas, run one pass at a time.

Everything that makes a wrong count impossible is here: what a decoder yields is checked, the passes a real server
would add (prefill, K/V writes) are put in, each pass appends one row to the ledger, and what it settled is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from clover_sim.canvas import Canvas
from clover_sim.checks import block_fault, causal_fault, declare, draft_fault, forward_fault, kv_write_rule
from clover_sim.errors import IllegalMove, UsageError
from clover_sim.faults import Hosted, foreign, one_line
from clover_sim.ledger import Ledger, Totals
from clover_sim.records import BLOCK, CAUSAL, DRAFT, TARGET, Drafter, Forward, Kind
from clover_sim.view import View

_STALLED_PASSES = 10_000
"""Passes without a new low of masked positions after which a decoder is refused as never progressing."""


class Run(NamedTuple):
    """A finished (or evicted) request: its totals, and the ledger that holds its rows.

    ``kv_write`` is the rule that was counted, ``wasted_positions`` the positions computed after the end of the text.
    ``intact`` is the chance that no tokens settled together clashed, ``None`` where the stream's model does not tell.

    >>> from clover_sim import build_strategy, open_stream, run
    >>> run(build_strategy("ar")[1], open_stream("reference", 8)).totals.target_passes
    8
    """

    request: int
    totals: Totals
    ledger: Ledger
    kv_write: str
    wasted_positions: int
    drafter: Drafter | None
    intact: float | None = None


class Request:
    """One generator with its canvas: checks what it yields, runs one pass at a time, settles what it committed."""

    __slots__ = (
        "number", "ledger", "canvas", "physics", "generator", "kv_write", "pending", "after_engine",
        "queued_kind", "idle", "max_idle", "low", "stalled", "prompt_tokens", "length", "decoder",
        "at_boundary", "round_stop", "last_step", "extra_width", "observe",
    )  # fmt: skip

    def __init__(self, number: int, ledger: Ledger, decoder: Any, stream: Any, options: dict[str, Any]) -> None:
        declared = declare(decoder)
        physics = stream.physics(options["limit"])
        missing = declared.needs - physics.provides
        if missing:
            raise UsageError(
                f"strategy {type(decoder).__name__} needs {', '.join(sorted(missing))}, which the stream "
                f"{stream.name!r} does not provide; choose another profile (clover-sim list profiles)"
            )
        self.number = number
        self.ledger = ledger
        self.decoder = decoder
        self.physics = physics
        self.length = min(len(stream.classes), options["limit"])
        self.prompt_tokens = options["prompt_tokens"]
        self.canvas = Canvas(
            declared, physics, self.length, options["limit"], self.prompt_tokens,
            options["align"] == "absolute", options["eos_stop"],
        )  # fmt: skip
        self.kv_write = kv_write_rule(declared, stream, options["kv_write"])
        self.max_idle = declared.max_idle_passes
        self.idle = self.stalled = self.extra_width = 0
        self.low = options["limit"]
        self.at_boundary = True
        self.round_stop = -1
        self.last_step = -1
        self.after_engine: Forward | None = None
        self.queued_kind: Kind | None = None
        self.pending: Forward | None = None
        self.observe: Callable[[int, dict[int, float]], None] | None = options.get("observe")
        ledger.positions[number] = self.canvas._places
        self.generator = Hosted(decoder, self.canvas)
        self._accept(self.generator.send(None))
        self._prefill()

    def _refuse(self, message: str) -> NoReturn:
        location = self.generator.line()
        self.generator.abandon()
        raise IllegalMove(message, location)

    def plan(self) -> Any:
        """The decoder's plan for the bulk path, ``None`` if it has none."""
        with foreign(f"{type(self.decoder).__name__}.plan()"):
            make = getattr(self.decoder, "plan", None)
            return None if make is None else make()

    # ---- checking a request -------------------------------------------------------------------------------------

    def _accept(self, forward: Any) -> None:
        """Take the decoder's next request as pending, behind any K/V write that has to come first."""
        canvas = self.canvas
        if forward is None:
            self._finish()
            return
        try:
            fault = forward_fault(forward, canvas._limit, self.prompt_tokens)
        except Exception as error:
            fault = f"the Forward it yields is half made: {one_line(error)}"
        if fault is not None:
            self._refuse(fault)
        if forward.role is DRAFT:
            fault = draft_fault(forward, canvas)
        elif forward.attend is CAUSAL:
            fault = causal_fault(forward, canvas)
        else:
            fault = block_fault(forward, canvas)
        if fault is not None:
            self._refuse(fault)
        if forward.role is TARGET:
            if forward.start > canvas._written and self._write_kv(forward.start, forward):
                return
        elif forward.stop <= canvas._drafted:
            self._count_idle()  # it drafts nothing new
        self.pending = forward

    def _count_idle(self) -> None:
        self.idle += 1
        if self.idle > self.max_idle:
            self._refuse(
                f"{self.idle} passes in a row without progress: commit at least view.best() after each, or declare "
                f"how many may be idle ({type(self.decoder).__name__}.max_idle_passes = {self.max_idle})"
            )

    # ---- passes the engine adds ---------------------------------------------------------------------------------

    def _write_kv(self, upto: int, then: Forward | None) -> bool:
        """Make K/V of positions before ``upto`` final; True if that takes a pass, which then is pending."""
        canvas = self.canvas
        start, canvas._written = canvas._written, upto
        if self.kv_write in ("separate", "skip-last") and (then is not None or self.kv_write == "separate"):
            canvas._written = start
            self._queue(Kind.KV_WRITE, then)
            self.pending = Forward(start, upto, BLOCK, TARGET)
            return True
        if self.kv_write == "fused" and then is not None and canvas._settled < upto:
            self.extra_width = upto - start  # the next pass computes the finished block along with its own span
        return False

    def _prefill(self) -> None:
        if self.prompt_tokens and self.pending is not None:
            self._queue(Kind.PREFILL, self.pending)

    def _queue(self, kind: Kind, then: Forward | None) -> None:
        self.queued_kind, self.after_engine = kind, then

    def _run_queued(self) -> tuple[Kind, int, int]:
        """Perform the pass the engine queued; returns (kind, start, tokens)."""
        kind, forward = self.queued_kind, self.pending
        assert kind is not None and forward is not None
        self.queued_kind = None
        if kind is Kind.PREFILL:
            self.pending, self.after_engine = self.after_engine, None
            return kind, 0, self.prompt_tokens
        self.canvas._written = forward.stop
        self.pending, self.after_engine = self.after_engine, None
        return kind, forward.start, forward.stop - forward.start

    def _finish(self) -> None:
        canvas = self.canvas
        self.pending = None
        if canvas._remaining:
            raise IllegalMove(
                f"the decoder ended with {canvas._remaining} of {canvas._limit} positions masked", self.generator.line()
            )
        if canvas._opened_stop > canvas._written:
            self._write_kv(canvas._opened_stop, None)

    # ---- one pass -----------------------------------------------------------------------------------------------

    def execute(self, step: int) -> None:
        """Run the pending pass as part of ``step``, append its row, and take the decoder's next request."""
        canvas, ledger = self.canvas, self.ledger
        forward = self.pending
        assert forward is not None
        self.last_step = step
        recompute = forward.recompute
        if self.queued_kind is not None:
            kind, start, tokens = self._run_queued()
            ledger.append(self.number, step, kind, start, tokens, 0, 0, 0)
            return
        start, stop = forward.start, forward.stop
        tokens = stop - start if forward.tokens is None else forward.tokens
        masked: list[int] = []
        tested = 0
        if forward.role is DRAFT:
            kind = Kind.DRAFT
            canvas._drafted = max(canvas._drafted, stop)
        elif forward.attend is BLOCK:
            filled = canvas._filled
            masked = [p for p in range(start, stop) if not filled[p]]
            kind = Kind.DENOISE if masked else Kind.EDIT
            if canvas._opened_stop < stop:
                fresh = range(max(canvas._opened_stop, start), stop)
                canvas._opened_stop = stop
                self.physics.opened(fresh)
            canvas._covered_stop = max(canvas._covered_stop, stop)
        else:
            tested = min(canvas._drafted, stop) - start
            if stop <= canvas._frontier:
                kind = Kind.ENCODE
                canvas._written = stop
            else:
                kind = Kind.VERIFY if tested > 0 else Kind.DECODE
                canvas._covered_stop = max(canvas._covered_stop, stop)
        if self.extra_width:
            recompute = max(recompute, self.extra_width)
            self.extra_width = 0
        if self.observe is not None:
            self.observe(len(ledger), {p: self.physics.confidence(p) for p in masked})
        view = View(canvas, forward, masked, tested)
        canvas._view, canvas._row = view, len(ledger.kind)
        answer = self.generator.send(view)
        canvas._view = None
        committed, reopened = canvas._committed, canvas._reopened
        ledger.append(self.number, step, kind, start, tokens, recompute, len(committed), len(reopened))
        if canvas._remaining < self.low:
            self.low, self.stalled = canvas._remaining, 0
        else:
            self.stalled += 1
            if self.stalled > _STALLED_PASSES:
                self._refuse(f"{self.stalled} passes without a new filled position: the decoder never progresses")
        if forward.role is TARGET:
            self._settle(forward, masked, committed, reopened)
        self._accept(answer)

    def close(self) -> None:
        """End a request whose canvas was filled in bulk."""
        canvas = self.canvas
        canvas._frontier, canvas._remaining = canvas._limit, 0
        self.pending = None
        self.generator.close()

    def _settle(self, forward: Forward, masked: list[int], committed: list[int], reopened: list[int]) -> None:
        canvas = self.canvas
        if committed or reopened:
            canvas._committed, canvas._reopened = [], []
        if committed:
            self.idle = 0
        elif forward.attend is CAUSAL and forward.stop > canvas._written:
            self._refuse("a causal pass was paid for and its tokens were not committed: commit view.agreed()")
        elif forward.attend is BLOCK:
            self._count_idle()
        if forward.attend is BLOCK:
            settled = masked[0] if masked else forward.stop
            canvas._settled = min([settled, *reopened])
            filled = canvas._filled
            masked = [p for p in masked if not filled[p]]
            if reopened:
                masked = sorted({*masked, *(p for p in reopened if not filled[p])})
        self.physics.after(committed, reopened, masked)

    def result(self) -> Run:
        """What is known of this request now; complete once nothing is pending."""
        wasted = max(0, self.canvas._covered_stop - self.length)
        intact = getattr(self.physics, "intact", None)
        return Run(
            self.number, self.ledger.totals(self.number), self.ledger, self.kv_write, wasted, self.canvas._drafter,
            None if intact is None else intact(),
        )  # fmt: skip
