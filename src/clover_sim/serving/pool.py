"""Pass sequences of requests, made once by the engine and drawn from by the server."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clover_sim.agents.texts import open_text
from clover_sim.engine import run
from clover_sim.prepare import Strategy
from clover_sim.records import Kind
from clover_sim.request import Run

LEAST_POOL = 1000
"""Ledgers of a pool; a test holds the server with it within 2 % of the engine's own interleaving."""


class Segment(NamedTuple):
    """Equal units of a request in a row; a unit is one pass of the target and the draft passes before it.

    Args:
        kind: of the target's pass. width, recompute: of it. drafts, draft_width: passes of the drafter, tokens in one.
        units: how many. context, growth: cached tokens of the first unit beyond the prompt, and how they grow a unit.
        first_token: the last of these units settles the first token. round_end: it ends a block or a cycle.
    """

    kind: Kind
    width: int
    recompute: int
    drafts: int
    draft_width: int
    units: int
    context: float
    growth: float
    first_token: bool = False
    round_end: bool = False


class Passes(NamedTuple):
    """The passes of one request that writes ``tokens`` tokens, ``locked_errors`` of them wrong."""

    segments: tuple[Segment, ...]
    tokens: int
    locked_errors: int = 0


class Pool:
    """Sequences sorted by their length."""

    __slots__ = ("_lengths", "sequences")

    def __init__(self, sequences: Sequence[Passes]) -> None:
        self.sequences = sorted(sequences, key=lambda s: s.tokens)
        self._lengths = [s.tokens for s in self.sequences]

    def __len__(self) -> int:
        return len(self.sequences)

    def draw(self, u: float, tokens: int | None = None) -> Passes:
        """A sequence by ``u`` in [0, 1): any, or one of those whose length is nearest to ``tokens``."""
        if tokens is None:
            return self.sequences[int(u * len(self.sequences))]
        lengths = self._lengths
        at = min(bisect_left(lengths, tokens), len(lengths) - 1)
        if at and tokens - lengths[at - 1] < lengths[at] - tokens:
            at -= 1
        first = bisect_left(lengths, lengths[at])
        last = bisect_left(lengths, lengths[at] + 1)
        return self.sequences[first + int(u * (last - first))]


def make_pool(
    strategy: Strategy, text: str, lengths: Sequence[int], size: int = LEAST_POOL,
    rules: dict[str, Any] | None = None, progress: Callable[[int, int], None] | None = None,
    streams: dict[tuple[int, int], Any] | None = None,
) -> Pool:  # fmt: skip
    """Run the engine ``size`` times, over the lengths in turn, a seed each.

    ``streams`` keeps what was opened, for the pools of other strategies. Token by token every text of a length takes
    the same passes, so there one run stands for all of that length.
    """
    made: list[Passes] = []
    same: dict[int, Passes] = {}
    for number in range(size):
        length = lengths[number % len(lengths)]
        if strategy.name == "ar" and length in same:
            made.append(same[length])
            continue
        stream = streams.get((length, number)) if streams is not None else None
        if stream is None:
            stream = open_text(text, length, number)
            if streams is not None:
                streams[length, number] = stream
        one = passes_of(run(strategy.decoder, stream, **(rules or {})))
        same.setdefault(length, one)
        made.append(one)
        if progress is not None and number % 50 == 0:
            progress(number, size)
    return Pool(made)


def passes_of(finished: Run) -> Passes:
    """The segments of a run of one request without prompt."""
    ledger = finished.ledger
    first_row = ledger.positions[finished.request].row[0]
    segments: list[Segment] = []
    drafts = draft_width = 0
    rows = len(ledger)
    starts, contexts = ledger.start, ledger.context
    open_segment: list[Any] | None = None  # key, count, first context, sum of contexts
    for i in range(rows):
        kind = ledger.kind[i]
        if kind == Kind.DRAFT:
            drafts += 1
            draft_width = max(draft_width, ledger.tokens[i])
            continue
        key = (kind, ledger.tokens[i], ledger.recompute[i], drafts, draft_width)
        drafts = draft_width = 0
        causal = kind in (Kind.DECODE, Kind.VERIFY)
        following = next((j for j in range(i + 1, rows) if ledger.kind[j] != Kind.DRAFT), None)
        ends = not causal and (
            following is None
            or (starts[following] >= starts[i] + ledger.tokens[i] and ledger.kind[following] != Kind.KV_WRITE)
        )
        context = contexts[i]
        if open_segment is not None and open_segment[0] == key:
            open_segment[1] += 1
            open_segment[3] += context
        else:
            if open_segment is not None:
                segments.append(_segment(open_segment))
            open_segment = [key, 1, context, context]
        if i == first_row or ends:
            segments.append(_segment(open_segment, i == first_row, ends))
            open_segment = None
    if open_segment is not None:
        segments.append(_segment(open_segment))
    totals = finished.totals
    return Passes(tuple(segments), totals.tokens, totals.locked_errors)


def _segment(found: list[Any], first_token: bool = False, round_end: bool = False) -> Segment:
    key, count, first, total = found
    growth = 2 * (total - count * first) / (count * (count - 1)) if count > 1 else 0.0  # keeps the sum exactly
    kind, width, recompute, drafts, draft_width = key
    return Segment(Kind(kind), width, recompute, drafts, draft_width, count, first, growth, first_token, round_end)
