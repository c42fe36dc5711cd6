"""What a comparison has to say in words: which rule was counted, why time gains less than passes, what to doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from clover_sim.records import Kind

Rows = Sequence[Mapping[str, Any]]

_RULE_WORDS = {
    "none": "denoise rounds only, no pass for writing K/V, as published pass counts have it",
    "separate": "one more pass per finished block writes its K/V",
    "skip-last": "one more pass per finished block writes its K/V, the last block excepted",
    "fused": "the next pass writes the K/V of a finished block, and is that much wider",
}
_LARGE_BLOCK = 32
"""Above this a uniform lift promises more than real models give (docs/design.md, known limits)."""


def explain(
    rows: Rows, priced: Sequence[tuple[Any, Any, Any]], batch_size: int, profile: str = ""
) -> tuple[list[str], list[str]]:
    """Sentences for under the table, the answer last, and warnings for stderr.

    ``priced`` holds (strategy, its last run, the price of that run) for every strategy, ``ar`` first.
    """
    longest = [row for row in rows if (row["stream"], row["tokens"]) == (rows[-1]["stream"], rows[-1]["tokens"])]
    notes = [
        *_kv_notes(rows), *_width_notes(longest, priced), *_price_notes(priced, batch_size),
        *_stream_notes(rows, profile),
        *_quality_notes(rows), *_answers(longest),
    ]  # fmt: skip
    return notes, _seed_warnings(rows)


def _kv_notes(rows: Rows) -> list[str]:
    by_rule: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["kv_write_passes"] or "block_size" in row["options"]:
            by_rule.setdefault(row["kv_write"], {}).setdefault(row["strategy"])
    return [f"K/V writes of {', '.join(names)}: {rule} ({_RULE_WORDS[rule]})." for rule, names in by_rule.items()]


def _width_notes(rows: Rows, priced: Sequence[tuple[Any, Any, Any]]) -> list[str]:
    """What passes of each width cost, and what that does to the speed-up in time."""
    base = _kind(priced[0][2], Kind.DECODE)
    if base is None or priced[0][2].fixed or not base.pass_s:
        return []
    model = priced[0][0].cost.machine.model
    parts, dearer = [], False
    for strategy, run, price in priced[1:]:
        wide = _kind(price, Kind.DENOISE) or _kind(price, Kind.VERIFY)
        if wide is None:
            continue
        width = max(shape.widths[0] for shape, _ in run.ledger.shapes() if shape.kind is wide.kind)
        part = f"{width} positions ({strategy.name}) {wide.pass_s * 1e3:.2f} ms"
        if model.experts and wide.expert_union > base.expert_union:
            part += f" ({wide.expert_union:.0f} experts; {wide.expert_union_independent:.0f} if each chose for itself)"
        if part not in parts:
            parts.append(part)
        dearer = dearer or wide.pass_s > 1.05 * base.pass_s
    if not parts:
        return []
    one = f"1 position {base.pass_s * 1e3:.2f} ms"
    if model.experts:
        one += f" ({base.expert_union:.0f} of {model.experts} experts a layer)"
    why = " since it reads the union of its positions' experts" if model.experts else ""
    less = [r["strategy"] for r in rows if (r["speedup_time"] or 0) < 0.95 * (r["speedup_passes"] or 0)]
    more = [r["strategy"] for r in rows if (r["speedup_time"] or 0) > 1.05 * (r["speedup_passes"] or 0)]
    notes = [f"Price of a pass by width: {one}, {', '.join(parts[:4])}."]
    if less and dearer:
        notes.append(
            f"A wider pass costs more{why}, so the speed-up in time of {_names(less)} is smaller than "
            "in passes."
        )
    if more:
        notes.append(
            f"speed-up in passes counts a cheap draft pass as a whole one, so {_names(more)} gains more in time than "
            "in passes."
        )
    return notes


def _kind(price: Any, kind: Kind) -> Any:
    return next((k for k in price.by_kind if k.kind is kind), None)


def _names(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _price_notes(priced: Sequence[tuple[Any, Any, Any]], batch_size: int) -> list[str]:
    cost, notes = priced[0][0].cost, []
    if cost.name.startswith("fixed"):
        notes.append("A fixed price ignores the width of a pass: an upper bound on what fewer passes gain.")
    elif cost.name == "floor":
        notes.append("The floor counts the active weights alone, whatever the width: a bound, not a forecast.")
    machine = cost.machine
    if machine is not None and "ASSUMPTION" in (machine.model.note or ""):
        notes.append(f"{machine.model.name}: {machine.model.note}")
    if batch_size > 1:
        notes.append(f"tok/s is that of one request; the machine writes {batch_size} times as many.")
    return [*notes, *draft_notes((s.name, s.options) for s, _, _ in priced)]


def draft_notes(strategies: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """How the strategies of these names and options draft, where one name stands for two ways of doing it.

    >>> draft_notes([("ar", {})])
    []
    """
    drafts = {
        options["parallel_draft"]: name for name, options in strategies
        if "parallel_draft" in options and options.get("num_speculative_tokens") != 0
    }  # fmt: skip
    notes = []
    if True in drafts:
        notes.append(
            f"{drafts[True]} drafts all its tokens in one pass here (parallel_draft=true), as the published counts "
            f"do; -s {drafts[True]} alone drafts them one by one (parallel_draft=false)."
        )
    if False in drafts:
        notes.append(
            f"{drafts[False]} drafts its tokens one by one, a pass each (parallel_draft=false); compare without -s "
            "drafts them in one pass, as the published counts do (parallel_draft=true)."
        )
    return notes


def _stream_notes(rows: Rows, profile: str) -> list[str]:
    notes = []
    diffusing = [r for r in rows if "block_size" in r["options"] and r["denoise_passes"]]
    if diffusing and profile.partition(":")[0] not in ("context", "trace"):
        notes.append(
            "This stream raises every confidence alike, which flatters block diffusion: for what a fitted "
            "model gives, --profile context."
        )
        sizes = [r["options"]["block_size"] for r in diffusing]
        if any(not isinstance(size, int) or size > _LARGE_BLOCK for size in sizes):  # beyond 2**53 it is text
            notes.append(
                f"Above {_LARGE_BLOCK} it makes tokens per pass grow with the block, where measured models stay flat "
                "from 16 to 64: do not choose a block size by these rows."
            )
    if any(r["strategy"] == "clairvoyant" for r in rows):
        notes.append(
            "clairvoyant bounds the passes of decoders that make no avoidable error; where none of its guesses is "
            "right it has to guess as well, and those are its errors. A lower bar may need fewer, with more errors."
        )
    return notes


def file_notes(inputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """How files of several records were read."""
    lines = [i["name"] for i in inputs if i.get("language") in ("json", "jsonl")]
    if not lines:
        return []
    what = "is decoded as it stands, envelope included, as one stream; for one answer, give its text"
    return [f"{_names(lines)} {what}."]


def _quality_notes(rows: Rows) -> list[str]:
    notes = []
    inert = [r["strategy"] for r in rows if r["forced_commits"] >= 0.95 * r["tokens"]]
    if inert:
        notes.append(f"Nearly every commit of {_names(inert)} met no rule: it only took its best guess.")
    if any(r["locked_errors"] for r in rows):
        notes.append(
            "Locked errors are wrong tokens that stay and are the premise of everything after; ar and draft-and-verify "
            "lock in none that the model would not have made by itself."
        )
        if all(r["seeds"] == 1 for r in rows):
            notes.append("Errors of one draw vary much: --seeds 0:32 gives means with intervals.")
    return notes


def _answers(rows: Rows) -> list[str]:
    """One line a strategy: passes, time, errors."""
    answers = []
    for row in rows:
        if row["strategy"] == "ar" or not row["speedup_time"] or not row["speedup_passes"]:
            continue
        errors, tokens = row["locked_errors"], row["tokens"]
        wrong = "no wrong token" if not errors else f"{errors:.3g} wrong token{'s' if errors != 1 else ''}"
        wrong += " on average" if errors and row["seeds"] > 1 else ""
        answers.append(
            f"{row['strategy']} against token by token: {_times(row['speedup_passes'], 'fewer', 'more')} passes, "
            f"{_times(row['speedup_time'], 'less', 'more')} time, {wrong} locked in of {tokens:g}."
        )
    return answers[:6]


def _times(ratio: float, better: str, worse: str) -> str:
    if 0.97 < ratio < 1.03:
        return "about as much" if better == "less" else "about as many"
    return f"{ratio:.1f}x {better}" if ratio >= 1 else f"{1 / ratio:.1f}x {worse}"


def _seed_warnings(rows: Rows) -> list[str]:
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
