"""Comparisons over recorded traces: each sequence under its own rule, or several strategies on every sequence."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from clover_sim.comparison import Comparison, measure, price_run
from clover_sim.cost import Machine, PricedRun, Roofline
from clover_sim.engine import run
from clover_sim.notes import explain
from clover_sim.prepare import Strategy, check_memory, check_work, default_cost, describe, make_strategy
from clover_sim.recordings import Replay, check_strategy, notes, replays, unknown_columns
from clover_sim.request import Run


def compare_recordings(
    path: str,
    strategies: Sequence[Any] | None = None,
    *,
    cost: Any = None,
    seed: int = 0,
    batch_size: int = 1,
    prompt_tokens: int = 0,
    kv_write: str | None = None,
    eos_stop: str = "block",
    align: str = "relative",
    max_new_tokens: int | None = None,
    allow_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[dict[str, Any], Run], None] | None = None,
) -> Comparison:
    """Compare on the sequences of a trace file.

    Args:
        path: a trace in any form of docs/how-to/record-a-trace.md.
        strategies: names with options, or decoder objects; default: one row a sequence, under its recorded rule, whose
            denoise passes are exactly those recorded.
        seed: draws the errors, where the recording does not hold them.
        cost, batch_size, prompt_tokens, kv_write, eos_stop, align, max_new_tokens, allow_long, progress, keep: as in
            :func:`clover_sim.comparison.compare`.

    Columns that a form cannot tell (errors of a step map) are ``None``. Raises
    :class:`~clover_sim.errors.InputError` with file and line for a broken trace, and for a strategy that needs what
    the form does not hold.
    """
    cost = default_cost() if cost is None else cost
    cost = Roofline(cost) if isinstance(cost, Machine) else cost
    found = replays(path, seed=seed, allow_long=allow_long)
    named = [make_strategy(s, cost) for s in strategies or ()]
    floor = make_strategy("ar", cost)
    longest = [max(len(r.stream), max_new_tokens or 0) for r in found]
    check_work(sum(longest) * (1 + len(named)), allow_long)
    for strategy in named or [floor]:
        check_memory(strategy.cost, batch_size, prompt_tokens + max(longest))
    for replay in found:
        for strategy in named:
            check_strategy(replay.recording, strategy.name, strategy.decoder)
    options: dict[str, Any] = {
        "kv_write": kv_write, "eos_stop": eos_stop, "align": align, "prompt_tokens": prompt_tokens,
        "max_new_tokens": max_new_tokens,
    }  # fmt: skip
    rows: list[dict[str, Any]] = []
    priced: dict[str, tuple[Strategy, Run, PricedRun]] = {}
    for number, replay in enumerate(found):
        finished = run(floor.decoder, replay.stream, **options)
        price, prefill_s = price_run(finished, floor.cost, batch_size)
        base = measure(finished, price, prefill_s, None, batch_size)
        priced.setdefault("ar", (floor, finished, price))
        for strategy in named or [_own(replay, cost)]:
            finished = run(strategy.decoder, replay.stream, **options)
            price, prefill_s = price_run(finished, strategy.cost, batch_size)
            above = None if strategy.name == "ar" else base
            row = measure(finished, price, prefill_s, above, batch_size)
            row.update(dict.fromkeys(unknown_columns(replay.recording) if strategy.name != "ar" else ()))
            priced[strategy.name] = (strategy, finished, price)
            about = {"stream": replay.stream.name, **strategy.identity(), "seeds": 1, "eos_stop": eos_stop, **row}
            rows.append(about)
            if keep is not None:
                keep({**about, "seed": seed}, finished)
        if progress is not None:
            progress(number + 1, len(found))
    recordings = [r.recording for r in found]
    known = [r for r in rows if r["locked_errors"] is not None]
    said, warnings = explain(known, list(priced.values()), batch_size, "trace") if known else ([], [])
    settings = {
        **describe(cost), "batch_size": batch_size, "prompt_tokens": prompt_tokens, "kv_write": kv_write or "default",
        "eos_stop": eos_stop, "align": align, "profile": "trace",
    }  # fmt: skip
    described = {
        "name": os.path.basename(path), "sha256": _sha256(path), "tokens": sum(len(r) for r in recordings),
        "language": f"trace ({', '.join(sorted({r.form for r in recordings}))})",
    }  # fmt: skip
    return Comparison(
        tuple(MappingProxyType(r) for r in rows), (MappingProxyType(described),), MappingProxyType(settings), (),
        (*said, *(_sentence(n) for n in notes(recordings, [s.decoder for s in named]))), tuple(warnings),
    )  # fmt: skip


def _own(replay: Replay, cost: Any) -> Strategy:
    return make_strategy(replay.decoder, cost)._replace(name=replay.strategy)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _sha256(path: str) -> str:
    from hashlib import sha256

    if path == "-":
        return ""
    digest = sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
