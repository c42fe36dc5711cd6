"""Recording runs: what each pass scored and settled, in the schema that :mod:`clover_sim.streams.traces` reads."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from clover_sim.bulk import ThresholdPlan
from clover_sim.engine import Batch
from clover_sim.errors import InputError, UsageError
from clover_sim.ledger import FORCED, Ledger
from clover_sim.records import Kind, TokenClass
from clover_sim.request import Run
from clover_sim.streams.base import Stream

_number = count()


def record(
    decoder: Any, stream: Stream, *, name: str | None = None, strategy: str = "", **options: Any
) -> tuple[Run, dict[str, Any]]:
    """Run and record: ``(run, record)``; ``options`` are those of :func:`clover_sim.engine.run`.

    The record is one line of a trace file: reading it back and replaying it gives the same passes and commits.
    Raises :class:`UsageError` for a strategy that settles tokens in causal passes: there are no confidences to record.

    >>> from clover_sim import build_strategy, open_stream
    >>> done, line = record(build_strategy("block-diffusion")[1], open_stream("tool-call", 64))
    >>> done.totals.tokens, isinstance(line, dict)
    (64, True)
    """
    seen: dict[int, dict[int, float]] = {}
    batch = Batch(**{k: options.pop(k) for k in ("kv_write", "eos_stop", "align") if k in options})
    number = batch.admit(decoder, stream, observe=seen.__setitem__, **options)
    while batch.step() is not None:
        pass
    finished = batch.evict(number)
    ledger = finished.ledger
    length = min(len(stream), len(ledger.positions[number].row))
    if any(ledger.kind[row] in (Kind.DECODE, Kind.VERIFY) for row in range(len(ledger))):
        raise UsageError(f"recording needs a strategy of block diffusion; {strategy or decoder!r} settles causally")
    padded = len(ledger.positions[number].row) > length
    entry: dict[str, Any] = {"id": name or stream.name, "kv_write": finished.kv_write}
    if strategy:
        entry["strategy"] = strategy
    plan = decoder.plan() if hasattr(decoder, "plan") else None
    if hasattr(decoder, "block_size"):
        entry["block_size"] = decoder.block_size
    if isinstance(plan, ThresholdPlan) and not padded:
        # With padding behind the text the threshold alone no longer explains each pass over the text itself.
        entry.update(rule="threshold", threshold=plan.threshold, comparison="gt" if plan.strict else "ge")
    if stream.texts:
        entry["tokens"] = list(stream.texts[:length])
    entry["token_class"] = [TokenClass(c).label for c in stream.classes[:length]]
    entry["blocks"] = blocks = _blocks(ledger, number, seen, length)
    if any("span" in p for block in blocks for p in block["passes"]):
        entry.pop("block_size", None)  # several blocks in flight are recorded as one
    return finished, entry


def write_records(path: str, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one record a line; gzip for a name that ends in ``.gz``. Returns how many were written.

    The file appears whole or not at all, in the place of one that was there; the same records give the same bytes.
    Raises :class:`InputError` where it cannot be written.

    >>> import os, tempfile
    >>> from clover_sim import build_strategy, open_stream, read_trace
    >>> _, line = record(build_strategy("block-diffusion")[1], open_stream("tool-call", 64))
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.jsonl.gz")
    >>> write_records(path, [line, line]), len(read_trace(path))
    (2, 2)
    """
    found = list(records)
    try:
        _put(path, encoded(found, path.endswith(".gz")))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None
    return len(found)


def encoded(records: Iterable[Mapping[str, Any]], compressed: bool = False) -> bytes:
    """The bytes of a trace file: one record a line, gzip if ``compressed``, without the time of day."""
    lines = (json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n" for entry in records)
    data = "".join(lines).encode("utf-8", "backslashreplace")
    if not compressed:
        return data
    import gzip

    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as stream:  # whose header is alike on every version of Python
        stream.write(data)
    return packed.getvalue()


def _put(path: str, data: bytes) -> None:
    """Write beside the file, then move into its place; what is no plain file is written to directly."""
    target = os.path.realpath(path)
    old = os.stat(target) if os.path.exists(target) else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as stream:
            stream.write(data)
        return
    temporary = os.path.join(os.path.dirname(target), f".clover-sim.{os.getpid()}.{next(_number)}.record.tmp")
    try:
        with open(temporary, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if old is not None:
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _blocks(
    ledger: Ledger, number: int, seen: Mapping[int, Mapping[int, float]], length: int
) -> list[dict[str, Any]]:
    """Passes grouped into blocks: spans that overlap belong to one block."""
    places = ledger.positions[number]
    committed: dict[int, list[int]] = {}
    reopened: dict[int, list[int]] = {}
    for p in range(length):
        committed.setdefault(places.row[p], []).append(p)
    for p, by, back in places.taken_back:
        if p < length:
            committed.setdefault(by, []).append(p)
            reopened.setdefault(back, []).append(p)
    blocks: list[dict[str, Any]] = []
    spans: list[list[tuple[int, int]]] = []
    stop = -1
    for row in range(len(ledger)):
        kind, first = Kind(ledger.kind[row]), ledger.start[row]
        if first >= length:  # beyond the text lies padding
            continue
        if kind in (Kind.KV_WRITE, Kind.ENCODE):
            if blocks:
                blocks[-1]["passes"].append({"kind": "kv_commit"})
            continue
        if kind not in (Kind.DENOISE, Kind.EDIT):
            continue
        scores = seen.get(row, {})
        if first >= stop:
            blocks.append({"start": first, "passes": []})
            spans.append([])
        stop = max([stop, *(p + 1 for p in scores)])
        settled, taken = sorted(committed.get(row, [])), sorted(reopened.get(row, []))
        masked = [p for p in scores if p < length]
        entry: dict[str, Any] = {"masked": masked, "confidence": [scores[p] for p in masked], "committed": settled}
        if taken:
            entry["reopened"] = taken
        forced = [p for p in settled if places.flags[p] & FORCED]
        entry["forced"] = forced if 0 < len(forced) < len(settled) else bool(forced)
        blocks[-1]["passes"].append(entry)
        spans[-1].append((first, min(stop, length)))
    for block, seen_spans in zip(blocks, spans, strict=True):
        if len(set(seen_spans)) > 1:
            passes = (p for p in block["passes"] if "committed" in p)
            for step, span in zip(passes, seen_spans, strict=True):
                step["span"] = list(span)
    return blocks


def record_all(
    strategies: Iterable[tuple[str, Any]], streams: Iterable[Stream], **options: Any
) -> list[dict[str, Any]]:
    """Record every strategy (name, decoder) on every stream; those that settle causally are left out.

    Raises :class:`UsageError` if none is left.
    """
    streams, found = list(streams), []
    for name, decoder in strategies:
        for stream in streams:
            try:
                found.append(record(decoder, stream, strategy=name, name=f"{stream.name}/{name}", **options)[1])
            except UsageError:
                if name not in ("ar", "speculative") and getattr(decoder, "draft_source", None) is None:
                    raise
    if not found:
        raise UsageError("recording needs a strategy of block diffusion, such as -s block-diffusion")
    return found
