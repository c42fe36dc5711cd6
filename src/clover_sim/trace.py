"""One block unlocking, pass by pass: what was sure, what was committed, what was forced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from clover_sim.arguments import checked
from clover_sim.engine import Batch
from clover_sim.errors import UsageError
from clover_sim.ledger import FORCED, WRONG, Ledger
from clover_sim.prepare import check_whole, options_of
from clover_sim.records import Kind, TokenClass
from clover_sim.registry import build_strategy, check_is_decoder
from clover_sim.sources import Sources
from clover_sim.streams.base import Stream

WINDOW = 32
"""Positions shown of a decoder that has no blocks."""

MOST_POSITIONS = 1_000_000
"""How far into a text a trace may look: it runs pass by pass."""

WIDEST, MOST_SHOWN, MOST_COMPUTED = 10_000, 1_000_000, 20_000_000
"""Most positions of a block, of all passes over one, and of all passes up to it; each is a confidence to keep."""

_PASS = 100
"""A pass's own overhead, in positions."""


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


@checked
def trace_block(
    strategy: Any,
    *,
    profile: str = "reference",
    inputs: str | Sequence[str] = (),
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

    Raises :class:`~clover_sim.errors.UsageError` for a block too wide to show, or too far in.

    >>> found = trace_block("block-diffusion:threshold=0.9,block_size=16", profile="tool-call")
    >>> found.start, found.stop, len(found.passes), sum(len(one.committed) for one in found.passes)
    (0, 16, 4, 16)
    """
    check_whole("block", block, 0, MOST_POSITIONS)
    if isinstance(strategy, str):
        name, decoder = build_strategy(strategy)
    else:
        name, decoder = type(strategy).__name__, check_is_decoder(strategy, type(strategy).__name__)
    if tokens is None and not inputs:
        size = options_of(decoder).get("block_size", WINDOW)
        tokens = (block + 1) * (size if isinstance(size, int) else WINDOW)
    if tokens is not None:
        check_whole("tokens", tokens, 1, MOST_POSITIONS)
    inputs = [inputs] if isinstance(inputs, str) else inputs
    sources = Sources(profile, tuple(inputs[:1]), tokenizer, None if tokens is None else [tokens], False)
    return trace_run(name, decoder, sources.open(0, seed), block=block, kv_write=kv_write)


def trace_recording(path: str, *, sequence: int = 0, strategy: str | None = None, block: int = 0) -> BlockTrace:
    """A block of a recorded sequence, under its own rule or as far as its form allows under another.

    Args:
        path: a trace in any form of docs/how-to/record-a-trace.md. sequence: which of its sequences, from 0.
        strategy, block: as in :func:`trace_block`.
    """
    from clover_sim.recordings import check_strategy, replays

    found = replays(path)
    check_whole("sequence", sequence, 0, len(found) - 1)
    replay = found[sequence]
    name, decoder = (replay.strategy, replay.decoder) if strategy is None else build_strategy(strategy)
    check_strategy(replay.recording, name, decoder)
    scored = "confidence" in replay.recording.holds
    return trace_run(name, decoder, replay.stream, block=block, kv_write=None, observe=scored)


def trace_run(
    name: str, decoder: Any, stream: Stream, *, block: int, kv_write: str | None, observe: bool = True
) -> BlockTrace:
    """Run ``decoder`` over ``stream`` far enough to show a block; ``observe`` where the stream has confidences."""
    seen: dict[int, dict[int, float]] = {}
    batch = Batch(kv_write=kv_write)
    request = batch.admit(decoder, stream, observe=seen.__setitem__ if observe else None)
    ledger = batch.ledger
    blocks: dict[int, int] = {}  # first position of each block, and its width
    computed: dict[int, int] = {}  # positions by where their pass begins
    in_all = 0
    while (step := batch.step()) is not None:
        for row in step.rows:
            start, width = ledger.start[row], ledger.tokens[row]
            if ledger.kind[row] in (Kind.DENOISE, Kind.EDIT):
                blocks[start] = max(blocks.get(start, 0), width)
            computed[start] = computed.get(start, 0) + width
            in_all += width + _PASS
            _check_work(width, computed[start], in_all)
        if len(blocks) > block + 1 or (not blocks and ledger.start[-1] >= (block + 1) * WINDOW):
            break
    batch.evict(request)
    start, stop = _window(list(blocks.items()), block, len(stream))
    labels = tuple(TokenClass(c).label for c in stream.classes[start:stop])
    return BlockTrace(
        stream.name, name, MappingProxyType(options_of(decoder)), start, stop,
        tuple(stream.texts[start:stop]) or ("",) * (stop - start), labels,
        tuple(_passes(ledger, seen, start, stop)),
    )  # fmt: skip


def _check_work(width: int, of_one: int, in_all: int) -> None:
    """Refuse more positions than anybody reads: of a pass, of the passes over one block, of all passes."""
    if width > WIDEST:
        raise UsageError(f"a block of {width:,} positions is too wide to show (limit {WIDEST:,}); choose a smaller one")
    if of_one > MOST_SHOWN:
        raise UsageError(
            f"the passes over one block of {width:,} positions compute over {MOST_SHOWN:,}: too many to show; choose a "
            "smaller block"
        )
    if in_all > MOST_COMPUTED:
        raise UsageError(f"the passes up to that block compute over {MOST_COMPUTED:,} positions; choose a lower one")


def _window(blocks: list[tuple[int, int]], block: int, length: int) -> tuple[int, int]:
    """First and last-plus-one position of the block that is shown."""
    count = len(blocks) or -(-length // WINDOW)
    if block >= count:
        raise UsageError(f"--block {block}: the text has {count} blocks, numbered from 0; choose one, or more --tokens")
    start, width = blocks[block] if blocks else (block * WINDOW, WINDOW)
    return start, min(start + width, length)


def _passes(ledger: Ledger, seen: dict[int, dict[int, float]], start: int, stop: int) -> Iterator[TracePass]:
    places = next(iter(ledger.positions.values()))
    shown = 0
    for row in range(len(ledger)):
        if not start <= ledger.start[row] < stop:
            continue
        back = {p for p, _, by in places.taken_back if by == row}
        once = {p for p, by, _ in places.taken_back if by == row}
        committed = tuple(sorted({*ledger.settled(row), *once}))
        shown += 1
        yield TracePass(
            shown, Kind(ledger.kind[row]).label, MappingProxyType(seen.get(row, {})), committed,
            tuple(p for p in committed if p not in once and places.flags[p] & FORCED),
            tuple(p for p in committed if p not in once and places.flags[p] & WRONG),
            tuple(sorted(back)),
        )  # fmt: skip
