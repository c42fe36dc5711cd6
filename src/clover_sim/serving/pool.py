"""Pass sequences of requests, made once by the engine and drawn from by the server."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from clover_sim.agents.texts import open_text
from clover_sim.engine import run
from clover_sim.prepare import Strategy
from clover_sim.records import Kind
from clover_sim.request import Run
from clover_sim.serving.lengths import Lengths

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


class Pool(Protocol):
    """Where requests draw their passes from."""

    def draw(self, u: float, tokens: int | None = None) -> Passes:
        """A sequence by ``u`` in [0, 1): of any length, or of the one that stands for ``tokens``."""
        ...


class Drawn:
    """Sequences that the engine made, sorted by their length; ``lengths`` says which stands for one of a log."""

    __slots__ = ("_lengths", "_tokens", "sequences")

    def __init__(self, sequences: Sequence[Passes], lengths: Lengths) -> None:
        self.sequences = sorted(sequences, key=lambda s: s.tokens)
        self._lengths = lengths
        self._tokens = [s.tokens for s in self.sequences]

    def draw(self, u: float, tokens: int | None = None) -> Passes:
        """See :class:`Pool`."""
        if tokens is None:
            return self.sequences[int(u * len(self.sequences))]
        length = self._lengths.of(tokens)
        first, last = bisect_left(self._tokens, length), bisect_left(self._tokens, length + 1)
        return self.sequences[first + int(u * (last - first))]


class Cut:
    """Plain decoding: every text of a length takes the same passes, so the longest is cut to any length."""

    __slots__ = ("_lengths", "_longest", "_made")

    def __init__(self, longest: Passes, lengths: Lengths) -> None:
        self._longest, self._lengths = longest, lengths
        self._made: dict[int, Passes] = {}

    def draw(self, u: float, tokens: int | None = None) -> Passes:
        """See :class:`Pool`."""
        lengths = self._lengths
        length = lengths.ledgers[int(u * len(lengths.ledgers))] if tokens is None else lengths.of(tokens)
        found = self._made.get(length)
        if found is None:
            found = self._made[length] = cut(self._longest, length)
        return found


def cut(plain: Passes, tokens: int) -> Passes:
    """The first ``tokens`` units of passes that write one token each."""
    segments, left = [], tokens
    for segment in plain.segments:
        units = min(left, segment.units)
        if units:
            segments.append(segment._replace(units=units, growth=segment.growth if units > 1 else 0.0))
        left -= units
    return Passes(tuple(segments), tokens)


def make_pool(
    strategy: Strategy, text: str, lengths: Lengths, rules: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None, streams: dict[tuple[int, int], Any] | None = None,
) -> Pool:  # fmt: skip
    """Run the engine once for each of the ``lengths``, a seed each.

    ``streams`` keeps what was opened, for the pools of other strategies.
    """
    streams = {} if streams is None else streams

    def decoded(length: int, number: int) -> Passes:
        stream = streams.get((length, number))
        if stream is None:
            stream = streams[length, number] = open_text(text, length, number)
        return passes_of(run(strategy.decoder, stream, **(rules or {})))

    if strategy.name == "ar":
        return Cut(decoded(lengths.longest, 0), lengths)
    made: list[Passes] = []
    for number, length in enumerate(lengths.ledgers):
        made.append(decoded(length, number))
        if progress is not None and number % 50 == 0:
            progress(number, len(lengths.ledgers))
    return Drawn(made, lengths)


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
