"""The runs of a comparison on one stream: each counted, priced and measured against token by token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from clover_sim.cost import PricedRun, price_groups
from clover_sim.engine import run
from clover_sim.prepare import Rules, Strategy, make_strategy
from clover_sim.records import Kind, PassShape
from clover_sim.request import Run
from clover_sim.streams.base import Stream

MEASURED = (
    "target_passes", "draft_passes", "kv_write_passes", "denoise_passes", "tokens_per_pass", "tokens_per_denoise_pass",
    "speedup_passes", "forced_commits", "locked_errors", "wasted_positions", "ms_per_pass", "latency_s",
    "latency_low_s", "latency_high_s", "prefill_s", "tokens_per_s", "total_tokens_per_s", "speedup_time",
)  # fmt: skip
"""Columns that vary with the seed; with several seeds they are means, with ``<column>_ci95`` beside them."""


Priced = tuple[Strategy, Run, PricedRun]
"""A strategy, its last run, and the price of that run."""


def with_floor(chosen: Sequence[Strategy], cost: Any) -> list[Strategy]:
    """The strategies with ``ar`` before them, which is made if it was not asked for."""
    floor = next((s for s in chosen if s.name == "ar"), None) or make_strategy("ar", cost)
    return [floor, *(s for s in chosen if s is not floor)]


def play(
    entries: Sequence[Strategy], stream: Stream, rules: Rules
) -> Iterator[tuple[Strategy, Run, PricedRun, dict[str, Any]]]:
    """Run strategies on one stream; speed-ups are against the first. Yields each with its run, price and row."""
    base: dict[str, Any] | None = None
    for strategy in entries:
        finished = run(strategy.decoder, stream, **rules.of_run())
        price, prefill_s = price_run(finished, strategy.cost, rules.batch_size)
        measured = measure(finished, price, prefill_s, base, rules.batch_size)
        base = base or measured
        yield strategy, finished, price, {"stream": stream.name, "eos_stop": rules.eos_stop, **measured}


def frozen(rows: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Rows that nobody can change."""
    return tuple(MappingProxyType({**row}) for row in rows)


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


def summarise(strategy: Strategy, samples: list[dict[str, Any]], seeds: tuple[int, ...]) -> dict[str, Any]:
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
