"""What a comparison has to say in words: the rule that was counted, and why time gains less than passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clover_sim.records import Kind

_RULE_WORDS = {
    "none": "denoise rounds only, no pass for writing K/V (what published pass counts state)",
    "separate": "one more pass per finished block to write its K/V",
    "skip-last": "one more pass per finished block to write its K/V, the last block excepted",
    "fused": "K/V of a finished block are written inside the next pass, as more width and no pass of its own",
}


def explain(rows: Sequence[Mapping[str, Any]], priced: Sequence[tuple[Any, Any, Any]]) -> tuple[list[str], list[str]]:
    """Sentences for under the table, and warnings for stderr.

    ``priced`` holds (strategy, its last run, the price of that run) for every strategy, ``ar`` first.
    """
    notes = [*_kv_notes(rows), *_union_notes(priced), *_quality_notes(rows)]
    return notes, _seed_warnings(rows)


def _kv_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    by_rule: dict[str, list[str]] = {}
    for row in rows:
        if (row["denoise_passes"] and row["options"].get("block_size") is not None) or row["kv_write_passes"]:
            names = by_rule.setdefault(row["kv_write"], [])
            if row["strategy"] not in names:
                names.append(row["strategy"])
    return [f"K/V writes ({', '.join(names)}): {rule} - {_RULE_WORDS[rule]}." for rule, names in by_rule.items()]


def _union_notes(priced: Sequence[tuple[Any, Any, Any]]) -> list[str]:
    """For the strategy whose passes are widest: what one of them costs against a one-token pass, and why."""
    base = next((price for _, _, price in priced if _kind(price, Kind.DECODE)), None)
    if base is None or base.fixed:
        return []
    one = _kind(base, Kind.DECODE)
    notes, seen = [], set()
    for strategy, run, price in priced:
        wide = _kind(price, Kind.DENOISE) or _kind(price, Kind.VERIFY)
        if wide is None or not one.pass_s:
            continue
        widest = max((s.widths[0] for s, _ in run.ledger.shapes() if s.kind is wide.kind), default=1)
        if (wide.kind, widest) in seen:
            continue
        seen.add((wide.kind, widest))
        cost = f"costs {wide.pass_s * 1e3:.2f} ms against {one.pass_s * 1e3:.2f} ms for one token"
        ratio = wide.pass_s / one.pass_s
        what = f"A {widest}-position {wide.kind.label} pass of {strategy.name}"
        model = strategy.cost.machine.model
        if model.experts and wide.expert_union > one.expert_union:
            notes.append(
                f"{what} {cost} ({ratio:.1f}x): it reads the union of its positions' experts, {wide.expert_union:.0f} "
                f"of {model.experts} a layer instead of {one.expert_union:.0f} ({wide.expert_union_independent:.0f} if "
                "positions chose independently), and pays for a wider launch. So the speed-up in time is smaller than "
                "in passes."
            )
        elif ratio > 1.05:
            notes.append(f"{what} {cost} ({ratio:.1f}x), so the speed-up in time is smaller than in passes.")
    return notes[:3]


def _kind(price: Any, kind: Kind) -> Any:
    return next((k for k in price.by_kind if k.kind is kind), None)


def _quality_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not any(row["locked_errors"] for row in rows):
        return []
    return [
        "Locked errors are wrong tokens that stay and become the premise of everything after; "
        "token by token and draft-and-verify lock in none that the model itself would not have made."
    ]


def _seed_warnings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows of one stream whose latencies cannot be told apart with the seeds that were run."""
    undecided = compared = 0
    for a, b in pairwise(rows):
        if (a["stream"], a["tokens"]) != (b["stream"], b["tokens"]) or "latency_s_ci95" not in a:
            continue
        compared += 1
        undecided += abs(a["latency_s"] - b["latency_s"]) < (a["latency_s_ci95"] + b["latency_s_ci95"]) / 1.96
    if not undecided:
        return []
    more = 4 * max(row["seeds"] for row in rows)
    return [
        f"{undecided} of {compared} neighbouring rows differ by less than their standard errors: add --seeds 0:{more}"
    ]
