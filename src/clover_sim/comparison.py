"""Run strategies over the same streams, count, price, and put the rows side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from clover_sim.checks import MOST_TOKENS
from clover_sim.cost import PricedRun, price_groups
from clover_sim.engine import run
from clover_sim.errors import UsageError
from clover_sim.notes import explain, file_notes
from clover_sim.prepare import (
    DEFAULT_STRATEGIES,
    MOST_BATCH,
    RUN_PASSES,
    Strategy,
    check_memory,
    check_whole,
    check_work,
    choose_cost,
    describe,
    listed,
    make_strategy,
)  # fmt: skip
from clover_sim.records import Kind, PassShape
from clover_sim.request import Run
from clover_sim.sources import Sources

MEASURED = (
    "target_passes", "draft_passes", "kv_write_passes", "denoise_passes", "tokens_per_pass", "tokens_per_denoise_pass",
    "speedup_passes", "forced_commits", "locked_errors", "wasted_positions", "ms_per_pass", "latency_s",
    "latency_low_s", "latency_high_s", "prefill_s", "tokens_per_s", "total_tokens_per_s", "speedup_time",
)  # fmt: skip
"""Columns that vary with the seed; with several seeds they are means, with ``<column>_ci95`` beside them."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Rows of one comparison: one a stream length and strategy. ``rows`` hold plain JSON values.

    ``inputs`` name each file read with its sha256; ``settings`` echo model, hardware, engine and rules; ``notes`` are
    the sentences printed under the table, ``warnings`` those for stderr.
    """

    rows: tuple[Mapping[str, Any], ...]
    inputs: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        where = " on ".join(str(self.settings[k]) for k in ("model", "gpu") if k in self.settings)
        return f"<Comparison: {len(self.rows)} rows{f', {where}' if where else ''}; see .to_dicts() and .notes>"

    def __str__(self) -> str:
        from importlib import import_module  # what shows a result stands above it and is asked for only here

        shown: str = import_module("clover_sim.report.table").render(self)
        return shown

    def _repr_html_(self) -> str:
        from importlib import import_module

        shown: str = import_module("clover_sim.report._notebook").comparison_html(self)
        return shown

    def _repr_svg_(self) -> str:
        from importlib import import_module

        shown: str = import_module("clover_sim.report._notebook").comparison_svg(self)
        return shown

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries, ready for any data-frame library."""
        return [dict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/comparison/1``."""
        from clover_sim import __version__

        return {
            "schema": "clover-sim/comparison/1",
            "version": __version__,
            "rules": dict(self.settings),
            "seeds": list(self.seeds),
            "inputs": [dict(i) for i in self.inputs],
            "notes": list(self.notes),
            "rows": self.to_dicts(),
        }


def compare(
    strategies: Any = None,
    *,
    tokens: int | Sequence[int] | None = None,
    profile: str = "reference",
    inputs: Sequence[str] = (),
    tokenizer: str = "qwen",
    seeds: Sequence[int] | None = None,
    model: str | None = None,
    gpu: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    cost: Any = None,
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
    """Compare strategies on the same streams.

    Args:
        strategies: a name with options (``"block-diffusion:threshold=0.9"``) or a decoder object, or several.
        tokens: length of the text, >= 1, or several; default: 128, 256, 512, 1024, or the whole of each input.
        profile: a stream profile with options; for inputs its options (``lift``, ``seed``) still apply.
        inputs: files to read (``-`` is standard input) instead of a synthetic stream.
        tokenizer: ``qwen`` or ``o200k``, for inputs.
        seeds: one run a seed; several give means with 95 % intervals. Default: the profile's own.
        model, gpu, engine, precision: names as on the command line, for the roofline of that machine.
        cost: instead of these, a cost model of :mod:`clover_sim.cost`, or a ``Machine`` for its roofline.
        batch_size: requests decoded in step; each pass is priced for that many equal ones, counts stay those of one.
        prompt_tokens, kv_write, eos_stop, align, max_new_tokens: see :func:`clover_sim.engine.run`.
        allow_long: permit more than 10^8 passes.
        progress: called with (runs done, runs in all).
        keep: called with what was run and each run that has a row, for :mod:`clover_sim.ledger_file`.

    Speed-ups are against ``ar`` on the same stream, which is run silently if it was not asked for.
    """
    check_whole("batch_size", batch_size, 1, MOST_BATCH)
    check_whole("prompt_tokens", prompt_tokens, 0, MOST_TOKENS)
    if max_new_tokens is not None:
        check_whole("max_new_tokens", max_new_tokens, 1, MOST_TOKENS)
    cost = choose_cost(cost, model=model, gpu=gpu, engine=engine, precision=precision)
    strategies = [strategies] if isinstance(strategies, str) or hasattr(strategies, "decode") else strategies
    tokens = [tokens] if isinstance(tokens, int) else None if tokens is None else listed("tokens", tokens)
    inputs = [inputs] if isinstance(inputs, str) else inputs
    chosen = [make_strategy(s, cost) for s in (strategies or DEFAULT_STRATEGIES)]
    seed_list = () if seeds is None else tuple(listed("seeds", seeds))
    if seeds is not None and not seed_list:
        raise UsageError("seeds: the range is empty; give one such as 0:32")
    for seed in seed_list:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seeds: {seed!r} is not a whole number of at least 0")
    sources = Sources(profile, tuple(inputs), tokenizer, tokens, allow_long)
    longest = [max(n, max_new_tokens or 0) for n in sources.lengths]
    runs = (len(seed_list) or 1) * (len(chosen) + 1)
    check_work(sum(longest) * runs + len(longest) * runs * RUN_PASSES, allow_long)
    check_whole("tokens", max(longest), 1, MOST_TOKENS)
    for strategy in chosen:
        check_memory(strategy.cost, batch_size, prompt_tokens + max(max_new_tokens or 0, *sources.lengths, 0))
    options: dict[str, Any] = {
        "kv_write": kv_write, "eos_stop": eos_stop, "align": align,
        "prompt_tokens": prompt_tokens, "max_new_tokens": max_new_tokens,
    }  # fmt: skip
    floor = next((s for s in chosen if s.name == "ar"), None) or make_strategy("ar", chosen[0].cost)
    plan = [s for s in chosen if s is not floor]
    total, done = len(sources.lengths) * (len(seed_list) or 1) * (len(plan) + 1), 0
    rows: list[dict[str, Any]] = []
    priced: dict[int, tuple[Strategy, Run, PricedRun]] = {}
    for index in range(len(sources.lengths)):
        samples: dict[int, list[dict[str, Any]]] = {id(s): [] for s in chosen}
        for seed in seed_list or (None,):
            stream = sources.open(index, seed)
            base: dict[str, Any] | None = None
            for strategy in [floor, *plan]:
                finished = run(strategy.decoder, stream, **options)
                price, prefill_s = price_run(finished, strategy.cost, batch_size)
                row = measure(finished, price, prefill_s, base, batch_size)
                base = base or row
                priced[id(strategy)] = (strategy, finished, price)
                if id(strategy) in samples:
                    samples[id(strategy)].append({"stream": stream.name, "eos_stop": eos_stop, **row})
                    if keep is not None:
                        keep({**strategy.identity(), "stream": stream.name, "seed": seed, **row}, finished)
                done += 1
                if progress is not None:
                    progress(done, total)
        rows.extend(_summarise(s, samples[id(s)], seed_list) for s in chosen)
    notes, warnings = explain(rows, list(priced.values()), batch_size, sources.profile)
    notes = [*file_notes(sources.described), *notes]
    settings = {
        **describe(chosen[0].cost), "batch_size": batch_size, "prompt_tokens": prompt_tokens,
        "kv_write": kv_write or "default", "eos_stop": eos_stop, "align": align, "profile": sources.label,
    }  # fmt: skip
    return Comparison(
        tuple(MappingProxyType(r) for r in rows), tuple(MappingProxyType(i) for i in sources.described),
        MappingProxyType(settings), seed_list, tuple(notes), tuple(warnings),
    )  # fmt: skip


def price_run(finished: Run, cost: Any, batch_size: int) -> tuple[PricedRun, float]:
    """Price of the decoding passes, and seconds of prefill beside it."""
    decode: list[tuple[PassShape, int]] = []
    prefill: list[tuple[PassShape, int]] = []
    for shape, count in finished.ledger.shapes():
        if batch_size > 1:
            shape = PassShape(
                shape.kind, shape.widths * batch_size, shape.context_tokens * batch_size,
                shape.recompute_tokens * batch_size,
            )  # fmt: skip
        (prefill if shape.kind is Kind.PREFILL else decode).append((shape, count))
    return price_groups(cost, decode), price_groups(cost, prefill).latency_s if prefill else 0.0


def measure(
    finished: Run, price: PricedRun, prefill_s: float, base: dict[str, Any] | None, batch_size: int
) -> dict[str, Any]:
    """The measured columns of one run; ``base`` is the row of ``ar`` on the same stream (None for ``ar`` itself)."""
    t = finished.totals
    passes = t.target_passes + t.draft_passes
    denoise = t.target_passes - t.kv_write_passes
    per_s = t.tokens / price.latency_s if price.latency_s else None
    return {
        "tokens": t.tokens,
        "kv_write": finished.kv_write,
        "target_passes": t.target_passes,
        "draft_passes": t.draft_passes,
        "kv_write_passes": t.kv_write_passes,
        "denoise_passes": denoise,
        "prefill_passes": t.prefill_passes,
        "tokens_per_pass": t.tokens / t.target_passes if t.target_passes else None,
        "tokens_per_denoise_pass": t.tokens / denoise if denoise else None,
        "speedup_passes": (base["target_passes"] / passes if base else 1.0) if passes else None,
        "forced_commits": t.forced_commits,
        "locked_errors": t.locked_errors,
        "wasted_positions": finished.wasted_positions,
        "ms_per_pass": price.latency_s * 1e3 / passes if passes else None,
        "latency_s": price.latency_s,
        "latency_low_s": price.low_s,
        "latency_high_s": price.high_s,
        "prefill_s": prefill_s,
        "tokens_per_s": per_s,
        "total_tokens_per_s": per_s and per_s * batch_size,
        "speedup_time": (base["latency_s"] / price.latency_s if base else 1.0) if price.latency_s else None,
        "bound": price.bound,
    }


def _summarise(strategy: Strategy, samples: list[dict[str, Any]], seeds: tuple[int, ...]) -> dict[str, Any]:
    """One row from the runs over all seeds: the run itself, or means with half-widths of 95 % intervals."""
    first = samples[0]
    row: dict[str, Any] = {
        "stream": first["stream"], "tokens": first["tokens"], **strategy.identity(), "seeds": len(samples),
    }  # fmt: skip
    if len(samples) == 1:
        return row | first
    from clover_sim.stats import ci95, mean

    row |= {k: v for k, v in first.items() if k not in MEASURED}
    for column in MEASURED:
        values = [s[column] for s in samples]
        if None in values:
            row[column] = None
        else:
            row[column], row[f"{column}_ci95"] = mean(values), ci95(values)
    bounds = [s["bound"] for s in samples]
    row["bound"] = max(sorted(set(bounds)), key=bounds.count)
    if len({s["tokens"] for s in samples}) > 1:
        row["tokens"] = mean([s["tokens"] for s in samples])
    return row

