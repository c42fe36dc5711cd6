"""One block unlocking, pass by pass: what was sure, what was committed, what was forced."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from clover_sim.comparison import options_of
from clover_sim.engine import Batch
from clover_sim.errors import UsageError
from clover_sim.ledger import FORCED, WRONG, Ledger
from clover_sim.records import BLOCK, DRAFT, Forward, Kind, TokenClass
from clover_sim.registry import build_strategy, check_is_decoder
from clover_sim.sources import Sources

WINDOW = 32
"""Positions shown of a decoder that has no blocks."""


@dataclass(frozen=True, slots=True)
class TracePass:
    """One pass over the block.

    ``confidence`` maps each masked position it scored to the model's confidence before this pass committed anything;
    ``committed``, ``forced``, ``wrong`` and ``reopened`` list positions (forced and wrong ones are also committed).
    """

    index: int
    kind: str
    confidence: Mapping[int, float]
    committed: tuple[int, ...]
    forced: tuple[int, ...]
    wrong: tuple[int, ...]
    reopened: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockTrace:
    """The passes over positions ``start`` to ``stop`` of one stream under one strategy."""

    stream: str
    strategy: str
    options: Mapping[str, Any]
    start: int
    stop: int
    texts: tuple[str, ...]
    classes: tuple[str, ...]
    passes: tuple[TracePass, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/trace/1``; confidences as [position, value] pairs in order."""
        return {
            "schema": "clover-sim/trace/1", "stream": self.stream, "strategy": self.strategy,
            "options": dict(self.options), "start": self.start, "stop": self.stop, "texts": list(self.texts),
            "classes": list(self.classes),
            "passes": [
                {
                    "index": p.index, "kind": p.kind, "confidence": [[k, v] for k, v in sorted(p.confidence.items())],
                    "committed": list(p.committed), "forced": list(p.forced), "wrong": list(p.wrong),
                    "reopened": list(p.reopened),
                }
                for p in self.passes
            ],
        }  # fmt: skip


class _Tap:
    """A decoder that passes another one's requests through and keeps what each view showed."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self.seen: list[dict[int, float]] = []
        for name in ("needs", "draft_source", "revises", "max_idle_passes", "kv_write"):
            if hasattr(decoder, name):
                setattr(self, name, getattr(decoder, name))

    def decode(self, canvas: Any) -> Generator[Forward, Any, None]:
        """Yield what the inner decoder yields."""
        inner = self._decoder.decode(canvas)
        view = None
        while True:
            try:
                forward = inner.send(view)
            except StopIteration:
                return
            view = yield forward
            scored = isinstance(forward, Forward) and forward.attend is BLOCK and forward.role is not DRAFT
            self.seen.append({p: view.confidence(p) for p in view.positions} if scored else {})


def trace_block(
    strategy: Any,
    *,
    profile: str = "reference",
    inputs: Sequence[str] = (),
    tokenizer: str = "qwen",
    tokens: int | None = None,
    seed: int | None = None,
    block: int = 0,
    kv_write: str | None = None,
) -> BlockTrace:
    """Run one strategy far enough to show block number ``block`` (0 is the first; 32 positions where there are none).

    Args:
        strategy: a name with options, or a decoder object.
        profile, inputs, tokenizer, tokens, seed, kv_write: as in :func:`clover_sim.comparison.compare`, one stream.
        block: which block, >= 0.
    """
    if block < 0:
        raise UsageError(f"--block {block}: blocks are counted from 0")
    if isinstance(strategy, str):
        name, decoder = build_strategy(strategy)
    else:
        name, decoder = type(strategy).__name__, check_is_decoder(strategy, type(strategy).__name__)
    options = options_of(decoder)
    if tokens is None and not inputs:
        size = options.get("block_size", WINDOW)
        tokens = (block + 1) * (size if isinstance(size, int) else WINDOW)
    sources = Sources(profile, tuple(inputs[:1]), tokenizer, None if tokens is None else [tokens], False)
    stream = sources.open(0, seed)
    tap, batch = _Tap(decoder), Batch(kv_write=kv_write)
    request = batch.admit(tap, stream)
    while batch.step() is not None:
        starts = _block_starts(batch.ledger)
        if len(starts) > block + 1 or (not starts and batch.ledger.start[-1] >= (block + 1) * WINDOW):
            break
    ledger = batch.ledger
    batch.evict(request)
    start, stop = _window(ledger, block, len(stream))
    passes = list(_passes(ledger, tap.seen, start, stop))
    labels = tuple(TokenClass(c).label for c in stream.classes[start:stop])
    return BlockTrace(
        stream.name, name, MappingProxyType(options), start, stop, tuple(stream.texts[start:stop]), labels,
        tuple(passes),
    )  # fmt: skip


def _block_starts(ledger: Ledger) -> list[int]:
    """First positions of the blocks, in order of their first BLOCK pass."""
    starts: dict[int, None] = {}
    for kind, start in zip(ledger.kind, ledger.start, strict=True):
        if kind in (Kind.DENOISE, Kind.EDIT):
            starts.setdefault(start)
    return list(starts)


def _window(ledger: Ledger, block: int, length: int) -> tuple[int, int]:
    starts = _block_starts(ledger)
    if not starts:
        start, stop = block * WINDOW, min((block + 1) * WINDOW, length)
        count = -(-length // WINDOW)
    elif block < len(starts):
        start = starts[block]
        width = max(n for s, n in zip(ledger.start, ledger.tokens, strict=True) if s == start)
        stop, count = min(start + width, length), len(starts)
    else:
        start = stop = length
        count = len(starts)
    if start >= stop:
        raise UsageError(f"--block {block}: the text has {count} blocks, numbered from 0; choose one, or more --tokens")
    return start, stop


def _passes(ledger: Ledger, seen: list[dict[int, float]], start: int, stop: int) -> Generator[TracePass, None, None]:
    places = next(iter(ledger.positions.values()))
    views = iter(seen)
    shown = 0
    for row in range(len(ledger)):
        kind = Kind(ledger.kind[row])
        confidence = {} if kind in (Kind.PREFILL, Kind.KV_WRITE) else next(views, {})
        if not start <= ledger.start[row] < stop:
            continue
        back = {p for p, _, by in places.taken_back if by == row}
        once = {p for p, by, _ in places.taken_back if by == row}
        committed = tuple(sorted({*ledger.settled(row), *once}))
        shown += 1
        yield TracePass(
            shown, kind.label, MappingProxyType(confidence), committed,
            tuple(p for p in committed if p not in once and places.flags[p] & FORCED),
            tuple(p for p in committed if p not in once and places.flags[p] & WRONG),
            tuple(sorted(back)),
        )  # fmt: skip
