"""An answer as JSON and as blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clover_sim.speculation.answer import Answer, Point
from clover_sim.speculation.methods import METHODS, TREE
from clover_sim.speculation.settings import SCHEDULE, setting
from clover_sim.speculation.trees import OtherTree
from clover_sim.speculation.words import longest, unexplained

SCHEMA = "clover-sim/speculation/1"
Taken = Sequence[tuple[str, Any, str]]
"""What was taken from a log and not given: name, value, and where it stands there."""
Block = tuple[str, list[tuple[str, str, str]], list[str]]


def document(found: Answer, taken: Taken = ()) -> dict[str, Any]:
    """The JSON contract ``clover-sim/speculation/1``, in SI units; ``from_log`` only if anything was taken from one."""
    c, machine, accepted = found.cycle, found.machine, found.acceptance
    return {
        "schema": SCHEMA,
        "verdict": found.verdict,
        "model": machine.model.name, "gpu": machine.hardware.name, "engine": machine.engine.name,
        "precision": machine.target_precision.name, "cards": machine.tensor_parallel_size,
        "method": c.shape.method, "num_speculative_tokens": c.shape.k, "verify_width": c.shape.width,
        "draft_passes": len(c.shape.draft_widths), "draft_widths": list(c.shape.draft_widths),
        "drafter": machine.drafter.name if machine.drafter else None,
        "batch_size": c.batch_size, "context_tokens": c.context_tokens, "hit_rate": c.hit_rate,
        "acceptance": {
            "acceptance_length": accepted.length, "acceptance_length_without_bonus": accepted.length - 1,
            "acceptance_rate": accepted.rate, "per_position_survival": list(accepted.survival),
            "conditional": list(accepted.conditional), "alpha": accepted.alpha, "conventions": list(accepted.echo()),
        },
        "plain_step_s": c.plain_s, "verify_s": c.verify_s, "draft_s": c.draft_s, "match_s": c.match_s,
        "cycle_factor": c.factor, "cycle_s": c.cycle_s, "tokens_per_cycle": found.tokens_per_cycle,
        "cost_ratio": found.cost_ratio, "speedup": found.speedup, "speedup_low": found.low,
        "speedup_high": found.high, "speedup_by_prices": found.by_prices,
        "tokens_per_s": found.tokens_per_cycle * c.batch_size / c.cycle_s,
        "plain_tokens_per_s": c.batch_size / c.plain_s,
        "speedup_range_of_preset": list(found.range_speedup) if found.range_speedup else None,
        "break_even_acceptance_length": found.break_even_length, "break_even_acceptance_rate": found.break_even_rate,
        "break_even_alpha": found.break_even_alpha, "worst_case_speedup": found.worst_case,
        "wasted_drafts_per_1000_tokens": found.wasted_drafts, "best_num_speculative_tokens": found.best_k,
        "fastest_num_speculative_tokens": found.fastest.k, "fastest_setting": setting(found, found.fastest.k),
        "num_speculative_tokens_given": not found.usual_k,
        "tree": accepted.tree._asdict() if accepted.tree else None,
        "other_tree": _other(found, found.other_tree), "best_chain": _other(found, found.best_chain),
        "longest_num_speculative_tokens_tried": found.lengths[-1].k,
        "lengths": [
            {
                "num_speculative_tokens": p.k, "tokens_per_cycle": p.acceptance_length, "cost_ratio": p.cost_ratio,
                "speedup": p.speedup, "marginal_speedup": p.marginal_speedup,
            }
            for p in found.lengths
        ],
        "speedup_by_batch": [{"batch_size": b, "speedup": s} for b, s in found.by_batch],
        "crossover_batch": found.crossover_batch,
        "num_speculative_tokens_per_batch_size": [list(run) for run in found.schedule],
        "num_speculative_tokens_per_batch_size_by_prices":
            None if found.schedule_by_prices is None else [list(run) for run in found.schedule_by_prices],
        "largest_batch_priced": found.most_batch,
        "speedup_by_batch_scheduled": [{"batch_size": b, "speedup": s} for b, s in found.scheduled],
        "drafter_bytes": found.drafter_bytes, "drafter_cache_bytes": found.drafter_cache_bytes,
        "fits": found.memory.fits, "largest_batch": found.largest_batch,
        "largest_batch_plain": found.largest_batch_plain,
        "lossless": True,
        **({"from_log": [{"name": n, "value": v, "where": where} for n, v, where in taken]} if taken else {}),
    }  # fmt: skip


def _other(found: Answer, other: OtherTree | None) -> dict[str, Any] | None:
    if other is None:
        return None
    return {
        **other.tree._asdict(), "tokens_per_cycle": other.tokens, "cost_ratio": other.cost_ratio,
        "speedup": other.speedup, "setting": setting(found, other.tree.levels, other.tree),
    }  # fmt: skip


def outline(found: Answer, taken: Taken = ()) -> list[Block]:
    """The answer as headed rows for a terminal."""
    c, machine = found.cycle, found.machine
    ms = 1e3
    rows = [
        ("speed-up", f"{found.speedup:.2f}", f"x ({found.low:.2f} to {found.high:.2f}, as the verify pass may cost)"),
        ("levels" if found.acceptance.tree else "draft length", f"{c.shape.k}", _told_length(found)),
        ("tokens per cycle", f"{found.tokens_per_cycle:.2f}", f"of at most {c.shape.k + 1}, bonus included"),
        ("cost of a cycle", f"{found.cost_ratio:.2f}", "plain steps (R); as many tokens break even"),
        ("plain step", f"{c.plain_s * ms:.2f}", f"ms at a batch of {c.batch_size}"),
        ("verify pass", f"{c.verify_s * ms:.2f}", f"ms, {c.shape.width} tokens a request; mostly {c.largest_part}"),
    ]
    if c.shape.draft_widths:
        passes = len(c.shape.draft_widths)
        name = machine.drafter.name if machine.drafter else "drafter"
        rows.append(("drafting", f"{c.draft_s * ms:.2f}", f"ms, {passes} pass{'es' if passes > 1 else ''} of {name}"))
    else:
        rows.append(("matching", f"{c.match_s * ms:.2f}", f"ms; drafts in {c.hit_rate:.0%} of the cycles"))
    if c.factor != 1:
        rest = f"ms, measured beyond these; the cycle takes {c.factor:.2f} times its price"
        rows.append(("in no price", f"{c.rest_s * ms:.2f}", rest))
        rows.append(("by prices alone", f"{found.by_prices:.2f}", "x, if a cycle took as priced"))
    if found.break_even_rate is not None:
        over = "verified, of this tree" if found.acceptance.tree else "drafted at this length"
        rows.append(("break-even rate", f"{found.break_even_rate:.1%}", f"accepted / {over}"))
    else:
        rows.append(("break-even rate", "none", "not even full acceptance pays"))
    rows += [
        ("worst case", f"{found.worst_case:.2f}", "x if every draft is rejected"),
        ("wasted drafts", f"{found.wasted_drafts:,.0f}", "for each 1,000 tokens"),
        ("extra memory", f"{(found.drafter_bytes + found.drafter_cache_bytes) / 1e9:.2f}", "GB: drafter and its cache"),
    ]
    if found.range_speedup:
        low, high = found.range_speedup
        rows.append(("range", f"{low:.2f}", f"to {high:.2f} x, as texts of this kind are accepted; cost as above"))
    where = f"{machine.model.name} on {machine.hardware.name}, {machine.engine.name}"
    batches = [
        (f"batch {b}", f"{s:.2f}", f"x; {by_schedule:.2f} by schedule")
        for (b, s), (_, by_schedule) in zip(found.by_batch, found.scheduled, strict=True)
    ]
    return [
        *([_said(taken)] if taken else []),
        (f"{c.shape.method} for {where}", rows, []),
        (_by_length(found), [_length(found, p) for p in found.lengths], _about_lengths(found)),
        ("by batch, this length", batches, _schedules(found)),
        ("what the acceptance means", [], [f"- {line}" for line in found.acceptance.echo()]),
        ("verdict", [], [found.verdict]),
    ]


def _told_length(found: Answer) -> str:
    """The length in the engine's flags, and whether anybody asked for it."""
    told = setting(found, found.cycle.shape.k)
    if not found.usual_k:
        return told
    return f"{told}; the usual one of {found.cycle.shape.method}, for none was given: others below"


def _by_length(found: Answer) -> str:
    tree = found.acceptance.tree
    if tree is None:
        return "by draft length"
    asked = max(found.cycle.shape.budget, tree.budget)
    tokens = f"{'at most ' * (asked > tree.budget)}{asked:,} tokens"
    return f"by levels of the tree, {tree.topk} children a node, {tokens}"


def _schedules(found: Answer) -> list[str]:
    """The fastest length by batch, up to where and why, and what a plain step off as much would make of it."""
    engine, most = found.machine.engine.name, found.most_batch
    what = "levels" if found.acceptance.tree else "draft tokens"
    if engine.startswith("vllm"):
        said = f"best length by batch, as vLLM takes it: {SCHEDULE} = {_runs(found.schedule)}"
    else:
        said = f"best length by batch, each [first batch, last batch, {what}]: {_runs(found.schedule)}"
        if found.best_k:
            said += f"; at a batch of {found.cycle.batch_size}: {setting(found, found.best_k)}"
    full = most == found.largest_batch
    end = f"at {most} the memory is full (weights, drafter, cache of {found.cycle.context_tokens:,} tokens a request)"
    lines = [said, end if full else f"batches beyond {most} were not priced"]
    if found.schedule[-1][2]:
        lines[1] += ", and up to there drafts never lose with it"
    if found.schedule_by_prices is not None and found.schedule_by_prices != found.schedule and unexplained(found.cycle):
        lines.append(f"if a plain step is off as much as the cycle: {_runs(found.schedule_by_prices)}")
    return lines


def _runs(schedule: Sequence[tuple[int, int, int]]) -> str:
    return "[" + ", ".join(f"[{a}, {b}, {k}]" for a, b, k in schedule) + "]"


def _length(found: Answer, p: Point) -> tuple[str, str, str]:
    marks = "".join([", as above" * (p.k == found.cycle.shape.k), ", best" * (p.k == found.best_k)])
    return f"k = {p.k}", f"{p.speedup:.2f}", f"x ({p.marginal_speedup:+.2f}), {p.acceptance_length:.2f} tokens{marks}"


def _about_lengths(found: Answer) -> list[str]:
    said = []
    if not found.best_k:
        off_too = found.fastest.speedup * found.cycle.factor
        doubt = f"; the fastest, {found.fastest.k}, is {off_too:.2f} x if a plain step is off as much as the cycle"
        said.append("best: none, plain decoding is faster" + doubt * (found.uncertain and off_too > 1))
    elif further := longest(found):
        said.append(f"best: {found.best_k}, {further}")
    if METHODS[found.cycle.shape.method].how != TREE and found.known_k < found.lengths[-1].k:
        said.append(f"acceptance beyond k = {found.known_k} is drawn on from there")
    return said


def _said(taken: Taken) -> Block:
    """What was taken; places without the name of the file, which stands above."""
    file = taken[0][2].rpartition(":")[0]
    rows = [(name, str(value), where.replace(f"{file}:", "line ") if file else where) for name, value, where in taken]
    return f"taken from the log {file}".rstrip(), rows, []
