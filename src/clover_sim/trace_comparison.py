"""Comparisons over recorded traces: each sequence under its own rule, or several strategies on every sequence."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from clover_sim.arguments import checked
from clover_sim.comparison import Comparison, prepared
from clover_sim.comparison.runs import Priced, frozen, play, row_of, with_floor
from clover_sim.notes import explain
from clover_sim.prepare import (
    Rules,
    Strategy,
    asked,
    check_work,
    choose_cost,
    describe,
    make_strategy,
    several_strategies,
)
from clover_sim.recordings import Replay, check_strategy, notes, replays, unknown_columns
from clover_sim.request import Run
from clover_sim.streams.traces import Recording


@checked
def compare_recordings(
    path: str,
    strategies: Any = None,
    *,
    cost: Any = None,
    seed: int = 0,
    batch_size: int = 1,
    prompt_tokens: int = 0,
    kv_write: str | None = None,
    eos_stop: str = "block",
    align: str = "relative",
    max_new_tokens: int | None = None,
    schedule: Any = None,
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
        cost, batch_size, prompt_tokens, kv_write, eos_stop, align, max_new_tokens, schedule, allow_long, progress,
            keep: as in :func:`clover_sim.comparison.compare`.

    Columns that a form cannot tell (errors of a step map) are ``None``. Raises
    :class:`~clover_sim.errors.InputError` with file and line for a broken trace, and for a strategy that needs what
    the form does not hold.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.jsonl")
    >>> with open(path, "w") as stream:
    ...     _ = stream.write('{"step_map": [1, 1, 2, 3], "block_size": 4}')
    >>> [(row["strategy"], row["target_passes"]) for row in compare_recordings(path).rows]
    [('recorded', 3)]
    """
    rules = Rules(batch_size, prompt_tokens, kv_write, eos_stop, align, max_new_tokens, schedule)
    rules.check()
    cost = choose_cost(cost)
    found = replays(path, seed=seed, allow_long=allow_long)
    named = [make_strategy(s, cost) for s in several_strategies(strategies, ())]
    longest = [rules.longest(len(r.stream)) for r in found]
    check_work(sum(longest) * (1 + len(named)), allow_long)
    chosen, rules, said = prepared(named or [make_strategy("ar", cost)], rules, max(longest))
    for replay in found:
        for strategy in chosen:
            check_strategy(replay.recording, strategy.name, strategy.decoder)
    rows: list[dict[str, Any]] = []
    priced: dict[str, Priced] = {}
    for number, replay in enumerate(found):
        entries = chosen if named else [_own(replay, cost)]
        of_entry: dict[int, dict[str, Any]] = {}
        unknown = unknown_columns(replay.recording)
        for strategy, finished, price, figures in play(with_floor(entries, cost), replay.stream, rules, unknown):
            priced[strategy.name] = (strategy, finished, price)
            about = {**strategy.identity(), "seeds": 1, **row_of(figures)}
            of_entry[id(strategy)] = about
            if keep is not None and any(strategy is s for s in entries):
                keep({**about, "seed": seed}, finished)
        rows.extend(of_entry[id(strategy)] for strategy in entries)
        if progress is not None:
            progress(number + 1, len(found))
    recordings = [r.recording for r in found]
    known = [r for r in rows if r["locked_errors"] is not None]
    explained, warnings = explain(known, list(priced.values()), batch_size, "trace") if known else ([], [])
    settings = {**describe(cost), **rules.echo(), "profile": "trace"}
    described = {
        "name": os.path.basename(path), "sha256": _sha256(path), "tokens": sum(len(r) for r in recordings),
        "language": f"trace ({', '.join(sorted({r.form for r in recordings}))})",
    }  # fmt: skip
    about_streams = [described, seed, [] if path != "-" else [_contents(r) for r in recordings], bool(named)]
    return Comparison(
        frozen(rows), frozen([described]), MappingProxyType(settings), (),
        (*said, *explained, *(_sentence(n) for n in notes(recordings, [s.decoder for s in named]))), tuple(warnings),
        asked(chosen, rules, about_streams), tuple(s.spec for s in named),
    )  # fmt: skip


def _contents(recording: Recording) -> tuple[Any, ...]:
    """All of a recording, for one whose file cannot be read again."""
    return tuple(getattr(recording, f.name) for f in fields(recording))


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
