"""Compact forms: step maps, steps a block, engine step logs, and per-step token lists. Most hold no confidences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clover_sim.streams.traces.build import RawBlock, RawPass, RawSequence
from clover_sim.streams.traces.fields import Place, amount, items, mapping, optional_whole, probability, whole

DEFAULT_BLOCK_SIZE = 32
"""Of SGLang's LLaDA2 configuration; used where a step count comes without a size."""

_SIZES = (4, 8, 16, 32, 64, 128, 256)


def step_map(
    record: Mapping[str, Any], place: Place, name: str, blocks_of: Sequence[tuple[Place, Any]] = ()
) -> RawSequence:
    """One number a token: the pass that settled it, counted over the sequence or anew in each block.

    Used by JetEngine and dLLM-RL (``step_map``, ``first_unmask_times``). A number left out inside a block is a pass
    that settled nothing. ``blocks_of`` are the maps of one record a block, with their places.
    """
    if blocks_of:
        maps = [_steps(steps, here) for here, steps in blocks_of]
        size = int(record["block_size"])
    else:
        key = "step_map" if isinstance(record.get("step_map"), list) else "first_unmask_times"
        steps = _steps(record[key], place)
        size = optional_whole(record, ("block_size", "size", "block_length"), place, 1) or _guess_size(steps, place)
        maps = [steps[i : i + size] for i in range(0, len(steps), size)]
    blocks, start = [], 0
    for number, steps in enumerate(maps):
        here = blocks_of[number][0] if blocks_of else place.at(f"block {number}")
        if not steps or len(steps) > size or (len(steps) < size and number < len(maps) - 1):
            here.refuse(f"the step map has {len(steps)} entries, others {size}: block sizes are mixed")
        first, last = min(steps), max(steps)
        if last - first > 10 * size + 100:
            here.refuse(f"steps from {first} to {last} cannot be the passes of {len(steps)} positions")
        settled: list[list[int]] = [[] for _ in range(last - first + 1)]
        for p, step in enumerate(steps, start):
            settled[step - first].append(p)
        blocks.append(RawBlock(here, [RawPass(here.at(f"pass {i}"), tuple(s)) for i, s in enumerate(settled, 1)]))
        start += len(steps)
    raw = RawSequence(name, place, "step_map", blocks, size)
    if isinstance(record.get("pieces"), list):
        raw.texts = record["pieces"]
    return raw


def _steps(values: Any, place: Place) -> list[int]:
    if not isinstance(values, list) or not values:
        place.refuse("'step_map' is empty or no list: expected one step a token")
    return [whole(v, f"step of token {i}", place) for i, v in enumerate(values)]


def _guess_size(steps: Sequence[int], place: Place) -> int:
    """The smallest usual size whose blocks were filled one after the other."""
    sizes = [size for size in _SIZES if _in_order([steps[i : i + size] for i in range(0, len(steps), size)])]
    if not sizes:
        place.refuse("the steps fit no block size from 4 to 256; state it as 'block_size'")
    return sizes[0]


def _in_order(blocks: Sequence[Sequence[int]]) -> bool:
    return all(max(a) < min(b) for a, b in pairwise(blocks))


def block_steps(record: Mapping[str, Any], place: Place, name: str) -> RawSequence:
    """Passes a block, as in SGLang's request log (``block_steps_list``): counts, but not which positions."""
    counts = [whole(v, "an entry of 'block_steps_list'", place, 1) for v in items(record, "block_steps_list", place)]
    if not counts:
        place.refuse("'block_steps_list' is empty: expected the passes of each block")
    length = optional_whole(record, ("output_len", "output_tokens", "length"), place, 1)
    size = optional_whole(record, ("block_size", "size"), place, 1)
    if size is None:
        size = DEFAULT_BLOCK_SIZE
        if length is not None and -(-length // size) != len(counts):
            size = -(-length // len(counts))
    if length is None:
        length = size * len(counts)
    if -(-length // size) != len(counts):
        place.refuse(f"{length} tokens in blocks of {size} are {-(-length // size)} blocks, the list has {len(counts)}")
    return _counted(name, place, "block_steps_list", counts, [0] * len(counts), size, length)


def step_log(log: Sequence[tuple[Place, Mapping[str, Any]]]) -> list[RawSequence]:
    """SGLang's step log: one record a block of the batch, with ``raw_forward_calls`` and ``unmask_steps``.

    ``block_steps`` has one entry a row of the batch; row i of every record is read as one request. Forward calls
    beyond the longest row's steps wrote K/V.
    """
    rows: dict[int, list[tuple[Place, int, int]]] = {}
    sizes = {optional_whole(record, ("block_size", "size"), place, 1) for place, record in log} - {None}
    for place, record in log:
        calls = whole(record["raw_forward_calls"], "'raw_forward_calls'", place, 1)
        given = record.get("block_steps")
        if isinstance(given, list) and len(given) > 1:
            steps = [whole(v, "an entry of 'block_steps'", place) for v in given]
        else:
            unmask = optional_whole(record, ("unmask_steps",), place)
            steps = [unmask if unmask is not None else max(calls - 1, 1)]
        if max(steps) > calls:
            place.refuse(f"{max(steps)} steps in {calls} forward calls: a step is at least one call")
        for row, count in enumerate(steps):
            if count:
                rows.setdefault(row, []).append((place, count, int(calls > max(steps))))
    if len(sizes) > 1:
        log[0][0].refuse(f"block sizes are mixed: {', '.join(str(s) for s in sorted(s for s in sizes if s))}")
    size = next(iter(sizes), None) or DEFAULT_BLOCK_SIZE
    found = []
    for row, entries in rows.items():
        counts, writes = [c for _, c, _ in entries], [w for _, _, w in entries]
        found.append(_counted(f"row {row}", entries[0][0], "step log", counts, writes, size, size * len(counts)))
    return found


def _counted(
    name: str, place: Place, form: str, counts: list[int], writes: list[int], size: int, length: int
) -> RawSequence:
    """Blocks of which only the number of passes is known: positions are spread evenly over them."""
    blocks = []
    for number, count in enumerate(counts):
        start = number * size
        width = min(size, length - start)
        if count > 10 * size + 100:
            place.at(f"block {number}").refuse(f"{count} passes for {width} positions")
        here = place.at(f"block {number}")
        bounds = [start + width * i // count for i in range(count + 1)]
        passes = [RawPass(here, tuple(range(a, b))) for a, b in pairwise(bounds)]
        blocks.append(RawBlock(here, passes, kv_writes=writes[number]))
    return RawSequence(name, place, form, blocks, size, holds={"passes"})


def all_steps(steps: Sequence[Any], place: Place, name: str) -> RawSequence:
    """KLASS ``--save_steps``: each step with the tokens it decoded and every masked token's confidence and KL."""
    passes: list[RawPass] = []
    for number, value in enumerate(steps, 1):
        here = place.at(f"step {number}")
        step = mapping(value, here)
        done = [mapping(t, here) for t in items(step, "decoded_tokens", here)]
        committed = tuple(whole(t.get("position"), "'position'", here) for t in done)
        raw = RawPass(here, committed)
        if isinstance(step.get("all_tokens"), list):
            tokens = [mapping(t, here) for t in step["all_tokens"]]
            scored = {whole(t.get("position"), "'position'", here): t for t in tokens}
            for token, p in zip(done, committed, strict=True):
                scored.setdefault(p, token)
            raw.confidence = {
                p: probability(t.get("confidence"), f"confidence of position {p}", here) for p, t in scored.items()
            }
            if all(t.get("kl_divergence") is not None for t in scored.values()):
                raw.kl = {p: amount(t["kl_divergence"], f"KL of position {p}", here) for p, t in scored.items()}
            if all(type(t.get("token_id")) is int for t in scored.values()):
                raw.guess = {p: int(t["token_id"]) for p, t in scored.items()}
        passes.append(raw)
    when = {p: i for i, recorded in enumerate(passes) for p in recorded.committed}
    if not when:
        place.refuse("no step decodes a token")
    base = min(when)
    steps_of = [when.get(p, 0) for p in range(base, max(when) + 1)]
    size = _guess_size(steps_of, place) if len(steps_of) > _SIZES[0] else len(steps_of)
    blocks: list[RawBlock] = []
    for recorded in passes:
        first = min(recorded.committed, default=None)
        if first is not None and (not blocks or (first - base) // size >= len(blocks)):
            blocks.append(RawBlock(place.at(f"block {len(blocks)}"), []))
        if blocks:
            blocks[-1].passes.append(recorded)
    for number, block in enumerate(blocks):
        inside = range(base + number * size, base + (number + 1) * size)
        for recorded in block.passes:
            for values in (recorded.confidence, recorded.kl, recorded.guess):
                if isinstance(values, dict):
                    for p in [p for p in values if p not in inside]:
                        del values[p]
    return RawSequence(name, place, "all_steps", blocks, size)
