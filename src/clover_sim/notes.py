"""What a comparison has to say in words: which rule was counted, why time gains less than passes, what to doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from clover_sim.cost.widths import width_notes
from clover_sim.options import split_spec
from clover_sim.prepare import DEFAULT_STRATEGIES
from clover_sim.row_names import joined, labels
from clover_sim.specs.diffusion import family_of

Rows = Sequence[Mapping[str, Any]]

_RULE_WORDS = {
    "none": "denoise rounds only, no pass for writing K/V, as published pass counts have it",
    "separate": "one more pass per finished block writes its K/V",
    "skip-last": "one more pass per finished block writes its K/V, the last block excepted",
    "fused": "the next pass writes the K/V of a finished block, and is that much wider",
}
LENGTHS = frozenset(("num_speculative_tokens", "speculative_num_draft_tokens"))
"""Options that say how much is drafted."""
_SCHEDULED = " (k="
"""What a schedule adds to the name of a strategy."""
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
        *_kv_notes(rows), *width_notes(longest, priced, batch_size), *_price_notes(priced, batch_size),
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


def _names(names: Sequence[str]) -> str:
    return joined(list(dict.fromkeys(names)))


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
    made_for = model_notes([(strategy.identity(), machine and machine.model) for strategy, _, _ in priced])
    lengths = length_notes(
        (s.name, s.spec, s.options.get("num_speculative_tokens")) for s, _, _ in priced
        if s.spec not in (type(s.decoder).__name__, *DEFAULT_STRATEGIES) and _SCHEDULED not in s.name
    )
    return [*notes, *lengths, *draft_notes((s.name, s.options) for s, _, _ in priced), *made_for]


def length_notes(strategies: Iterable[tuple[str, str, Any]]) -> list[str]:
    """Draft lengths that nobody asked for: of names, the words asked for, and draft tokens (``None`` for none).

    >>> length_notes([("ar", "ar", None), ("mtp", "mtp", 1), ("eagle3", "eagle3:num_speculative_tokens=5", 5)])
    ['Draft length not given, so by default: mtp K=1; num_speculative_tokens sets another.']
    """
    found = [
        f"{name} K={k}" for name, spec, k in strategies if k is not None and not LENGTHS & split_spec(spec)[1].keys()
    ]
    said = ", ".join(dict.fromkeys(found))
    return [f"Draft length not given, so by default: {said}; num_speculative_tokens sets another."] if found else []


def model_notes(used: Iterable[tuple[Mapping[str, Any], Any]]) -> list[str]:
    """Where a strategy asks of a model what it was not trained for: rows (or what is known of them), and their models.

    Blocks are for diffusion models of that block, drafts to be verified for models that write token by token.
    """
    sizes: dict[tuple[str, int], dict[Any, None]] = {}
    no_diffusion: dict[str, dict[str, None]] = {}
    no_causal: dict[str, dict[str, None]] = {}
    for row, model in used:
        if model is None or not (model.sources or model.aliases):
            continue  # known by its size alone
        family, block = family_of(model), row["options"].get("block_size")
        if block is not None and family is None:
            no_diffusion.setdefault(model.name, {}).setdefault(row["strategy"])
        elif block is not None and family is not None and block != family.block_size:
            sizes.setdefault((model.name, family.block_size), {}).setdefault(block)
        elif family is not None and row.get("drafter") and row["options"].get("num_speculative_tokens") != 0:
            no_causal.setdefault(model.name, {}).setdefault(row["strategy"])
    notes = [
        f"{name} is made for blocks of {made}: what it writes in blocks of {', '.join(map(str, found))}, and how often "
        "it errs there, is a guess."
        for (name, made), found in sizes.items()
    ]
    notes += [
        f"{name} is not known as a diffusion model: the figures of {_names([*names])} are those of a model of its "
        "shape that was trained to fill blocks."
        for name, names in no_diffusion.items()
    ]
    return notes + [
        f"{name} is a diffusion model: the figures of {_names([*names])} are those of a model of its shape that writes "
        "token by token."
        for name, names in no_causal.items()
    ]


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
            f"do; -s {drafts[True].partition(_SCHEDULED)[0]} alone drafts them one by one (parallel_draft=false)."
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
    for name, row in zip(labels(rows), rows, strict=True):
        if row["strategy"] == "ar" or not row["speedup_time"] or not row["speedup_passes"]:
            continue
        errors, tokens = row["locked_errors"], row["tokens"]
        wrong = "no wrong token" if not errors else f"{errors:.3g} wrong token{'s' if errors != 1 else ''}"
        wrong += " on average" if errors and row["seeds"] > 1 else ""
        answers.append(
            f"{name} against token by token: {_times(row['speedup_passes'], 'fewer', 'more')} passes, "
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
