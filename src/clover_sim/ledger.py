"""The append-only record of every pass: only the engine writes it, all others read it, ``audit`` derives it again.

One row is one request's share of one step. Beside the rows stand the positions of each request (which row settled
it, forced or not, wrong or not) and, for decoders that revise, each settlement that was taken back.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clover_sim.records import Kind, PassShape

FORCED, WRONG, PADDING = 1, 2, 4
"""Bits of a position's flags."""

UNSETTLED = 0xFFFFFFFF
"""Row number of a position that nothing has settled."""

_COMMITTING = frozenset({Kind.DECODE, Kind.VERIFY, Kind.DENOISE, Kind.EDIT})


class AuditError(AssertionError):
    """The ledger does not add up: a fault of the engine itself, never of a decoder."""


class Totals(NamedTuple):
    """Counts over one request, or over all of them.

    ``tokens`` are useful tokens (padding after the end left out); every count is a plain integer. ``passes`` are
    (label of the kind, how many), for the kinds that occur.

    >>> Totals(tokens=64, target_passes=16).tokens
    64
    """

    tokens: int = 0
    padding: int = 0
    target_passes: int = 0
    draft_passes: int = 0
    kv_write_passes: int = 0
    prefill_passes: int = 0
    committed: int = 0
    reopened: int = 0
    forced_commits: int = 0
    locked_errors: int = 0
    passes: tuple[tuple[str, int], ...] = ()


class Positions:
    """Where and how each position of one request was settled."""

    __slots__ = ("row", "flags", "taken_back", "length", "prompt_tokens")

    def __init__(self, limit: int, length: int, prompt_tokens: int = 0) -> None:
        self.row = array("I", [UNSETTLED]) * limit
        self.flags = bytearray(limit)
        self.taken_back: list[tuple[int, int, int]] = []
        """(position, row that settled it, row that reopened it), in order."""
        self.length = length
        self.prompt_tokens = prompt_tokens


class Ledger:
    """Rows of passes as typed columns; ``len(ledger)`` is their number.

    Columns, one entry a row: ``step``, ``request``, ``kind`` (:class:`Kind`), ``start`` (first position), ``tokens``
    (computed), ``recompute`` (final positions computed once more), ``context`` (cached tokens read), ``committed``,
    ``reopened``. ``padding`` maps a step to the widths that waiting requests added to it.

    A million passes of one request take 16 MB with their positions: columns of small numbers take a byte a row until
    one of them needs more, steps are stored only once a step has held two rows, and contexts follow from the rest.

    >>> from clover_sim import build_strategy, open_stream, run
    >>> ledger = run(build_strategy("ar")[1], open_stream("reference", 8)).ledger
    >>> len(ledger), sum(ledger.tokens), ledger.audit().target_passes
    (8, 8, 8)
    """

    __slots__ = (
        "request", "kind", "start", "tokens", "recompute", "committed", "reopened", "positions", "padding", "_steps",
        "_highest",
    )  # fmt: skip

    def __init__(self) -> None:
        self._steps = array("I")  # empty while each row is a step of its own
        self.kind = bytearray()
        self.start = array("I")
        self.request, self.tokens, self.recompute = array("B"), array("B"), array("B")
        self.committed, self.reopened = array("B"), array("B")
        self._highest = 0xFF  # what the last five hold
        self.positions: dict[int, Positions] = {}
        self.padding: dict[int, tuple[int, ...]] = {}

    def append(
        self, request: int, step: int, kind: Kind, start: int, tokens: int, recompute: int, committed: int,
        reopened: int,
    ) -> None:  # fmt: skip
        """Add one row. The engine's alone (``request.py``; a test holds it)."""
        if (request | tokens | recompute | committed | reopened) > self._highest:
            self._widen()
        if self._steps:
            self._steps.append(step)
        elif step != len(self.kind):
            self._list_steps(range(step, step + 1))
        self.request.append(request)
        self.kind.append(kind)
        self.start.append(start)
        self.tokens.append(tokens)
        self.recompute.append(recompute)
        self.committed.append(committed)
        self.reopened.append(reopened)

    def extend(
        self, request: int, step: int, kind: Kind, start: int | range, tokens: int, committed: Sequence[int],
        first_recompute: int = 0,
    ) -> None:  # fmt: skip
        """Add one row for each entry of ``committed``, a step each. The engine's alone (``bulk.py``)."""
        n = len(committed)
        if n == 1 and not isinstance(start, range):
            self.append(request, step, kind, start, tokens, first_recompute, committed[0], 0)
            return
        if (request | tokens | first_recompute) > self._highest or (n and max(committed) > self._highest):
            self._widen()
        if self._steps or step != len(self.kind):
            self._list_steps(range(step, step + n))
        self.kind.extend(bytes((kind,)) * n)
        self.start.extend(start if isinstance(start, range) else [start] * n)
        if self._highest == 0xFF:  # whole bytes at once, the shortest way into an array
            self.request.frombytes(bytes((request,)) * n)
            self.tokens.frombytes(bytes((tokens,)) * n)
            self.committed.frombytes(bytes(committed))
            self.recompute.frombytes(bytes(n))
            self.reopened.frombytes(bytes(n))
        else:
            self.request.extend([request] * n)
            self.tokens.extend([tokens] * n)
            self.committed.extend(committed)
            self.recompute.extend([0] * n)
            self.reopened.extend([0] * n)
        if first_recompute:
            self.recompute[-n] = first_recompute

    def _list_steps(self, steps: range) -> None:
        """Store the steps of the rows about to be added, and of those before them."""
        self._steps.extend(range(len(self._steps), len(self.kind)))
        self._steps.extend(steps)

    def _widen(self) -> None:
        for name in ("request", "tokens", "recompute", "committed", "reopened"):
            setattr(self, name, array("I", getattr(self, name)))
        self._highest = 0xFFFFFFFF

    @property
    def step(self) -> Sequence[int]:
        """The step of each row."""
        return self._steps or range(len(self.kind))

    @property
    def context(self) -> list[int]:
        """The cached tokens that each row read: all before its start but what it computed once more. Made anew."""
        before = {request: places.prompt_tokens for request, places in self.positions.items()}
        columns = zip(self.kind, self.request, self.start, self.recompute, strict=True)
        return [0 if k == Kind.PREFILL else before[of] + start - again for k, of, start, again in columns]

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        return f"<Ledger: {len(self)} passes, {len(self.positions)} requests>"

    def count(self, kind: Kind, request: int | None = None) -> int:
        """Number of rows of one kind, of one request or of all."""
        if request is None or len(self.positions) == 1:
            return self.kind.count(kind)
        return sum(1 for k, r in zip(self.kind, self.request, strict=True) if k == kind and r == request)

    def rows(self, request: int | None = None) -> Iterator[dict[str, int | str]]:
        """Each row as a plain mapping, in order; ``kind`` as its label."""
        steps, contexts = self.step, self.context
        for i in range(len(self)):
            if request is None or self.request[i] == request:
                yield {
                    "step": steps[i], "request": self.request[i], "kind": Kind(self.kind[i]).label,
                    "start": self.start[i], "tokens": self.tokens[i], "recompute_tokens": self.recompute[i],
                    "context_tokens": contexts[i], "committed": self.committed[i], "reopened": self.reopened[i],
                }  # fmt: skip

    def settled(self, row: int) -> tuple[int, ...]:
        """Positions that ``row`` settled and that were not taken back later."""
        rows = self.positions[self.request[row]].row
        start = self.start[row]
        stop = min(len(rows), start + max(self.tokens[row], 1))
        return tuple(p for p in range(start, stop) if rows[p] == row)

    def shapes(self) -> list[tuple[PassShape, int]]:
        """The priced view: (shape, how many steps have it), contexts averaged within a group.

        Steps that hold one row are grouped by kind, width and recomputed tokens; the price of a pass is affine in its
        context, so the mean context prices the group exactly. Steps of several rows are listed one by one.
        """
        if len(self.positions) == 1 and not self.padding:
            return self._grouped_rows()
        steps: dict[int, list[int]] = {}
        for row, step in enumerate(self.step):
            steps.setdefault(step, []).append(row)
        shapes, contexts = [], self.context
        for step, rows in steps.items():
            widths = tuple(self.tokens[r] for r in rows)
            widths += self.padding.get(step, ())
            context = sum(contexts[r] for r in rows)
            recompute = sum(self.recompute[r] for r in rows)
            kinds = [self.kind[r] for r in rows]
            kind = max(sorted(set(kinds)), key=kinds.count)  # a step may mix kinds of one role: the commonest names it
            shapes.append((PassShape(Kind(kind), widths, context, recompute), 1))
        return shapes

    def _grouped_rows(self) -> list[tuple[PassShape, int]]:
        groups: defaultdict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
        keys = zip(self.kind, self.tokens, self.recompute, strict=True)
        for key, start in zip(keys, self.start, strict=True):
            found = groups[key]
            found[0] += 1
            found[1] += start
        (places,) = self.positions.values()
        shapes = []
        for (kind, tokens, again), (count, starts) in groups.items():
            contexts = 0 if kind == Kind.PREFILL else starts + count * (places.prompt_tokens - again)
            shapes.append((PassShape(Kind(kind), (tokens,), contexts / count, again), count))
        return shapes

    def totals(self, request: int | None = None) -> Totals:
        """Counts of one request, or of all requests together; read off the columns."""
        one = request is None or len(self.positions) == 1
        kinds = self.kind if one else bytes(k for k, r in zip(self.kind, self.request, strict=True) if r == request)
        passes = tuple((kind.label, n) for kind in Kind if (n := kinds.count(kind)))
        chosen = self.positions.values() if request is None else [self.positions[request]]
        forced = wrong = tokens = padding = committed = 0
        for places in chosen:
            useful = places.flags[: places.length]
            counts = [useful.count(bits) for bits in range(4)]
            forced += counts[FORCED] + counts[FORCED | WRONG]
            wrong += counts[WRONG] + counts[FORCED | WRONG]
            unsettled = places.row.count(UNSETTLED)
            tail = places.row[places.length :]
            padding += len(tail) - tail.count(UNSETTLED)
            tokens += places.length - (unsettled - tail.count(UNSETTLED))
            committed += len(places.row) - unsettled + len(places.taken_back)
        kv_writes = kinds.count(Kind.KV_WRITE) + kinds.count(Kind.ENCODE)
        drafts, prefills = kinds.count(Kind.DRAFT), kinds.count(Kind.PREFILL)
        return Totals(
            tokens=tokens, padding=padding, target_passes=len(kinds) - drafts - prefills, draft_passes=drafts,
            kv_write_passes=kv_writes, prefill_passes=prefills, committed=committed,
            reopened=sum(len(places.taken_back) for places in chosen),
            forced_commits=forced, locked_errors=wrong, passes=passes,
        )  # fmt: skip

    def audit(self) -> Totals:
        """Derive every count again from the positions and compare it with the rows; return the totals.

        Checks, for each row: what it committed and reopened equals what the positions say of it, only kinds that may
        commit did, steps never go back; for each request: commits - reopened = tokens (+ padding), each position
        settled exactly once at the end. Raises :class:`AuditError` naming the first row that is off.
        """
        committed, reopened = array("I", bytes(4 * len(self))), array("I", bytes(4 * len(self)))
        for request, places in self.positions.items():
            for position, row in enumerate(places.row):
                if row != UNSETTLED:
                    self._check_settled(row, request, position)
                    committed[row] += 1
            for position, by, back in places.taken_back:
                if not by <= back < len(self):
                    raise AuditError(f"row {back}: reopened position {position} before row {by} settled it")
                self._check_settled(by, request, position)
                committed[by] += 1
                reopened[back] += 1
        last, steps = -1, self.step
        for row in range(len(self)):
            if committed[row] != self.committed[row] or reopened[row] != self.reopened[row]:
                raise AuditError(
                    f"row {row}: {self.committed[row]} committed and {self.reopened[row]} reopened in the ledger, "
                    f"{committed[row]} and {reopened[row]} in the positions"
                )
            if committed[row] and self.kind[row] not in _COMMITTING:
                raise AuditError(f"row {row}: a {Kind(self.kind[row]).label} pass committed {committed[row]} positions")
            if steps[row] < last:
                raise AuditError(f"row {row}: step {steps[row]} follows step {last}")
            last = steps[row]
        totals = self.totals()
        if totals.committed - totals.reopened != totals.tokens + totals.padding:
            raise AuditError(f"{totals.committed} commits - {totals.reopened} reopened is not {totals.tokens} tokens")
        return totals

    def _check_settled(self, row: int, request: int, position: int) -> None:
        if row >= len(self) or self.request[row] != request:
            raise AuditError(f"request {request}: position {position} points to row {row}, which is not its own")
        if position < self.start[row]:
            raise AuditError(f"row {row}: settled position {position}, which lies before its span")
