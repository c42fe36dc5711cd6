"""The table of ``clover-sim price``, in eighty columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.cost.estimate import Estimate, Pass
from clover_sim.cost.machine import Machine, part_bytes
from clover_sim.cost.roofline import PARTS
from clover_sim.report import PLAIN, Look
from clover_sim.report._text import clean, wrap

_MOST_APART = 6
"""Passes that are shown part by part; more than that nobody compares."""


def render_price(result: Estimate, extra: dict[str, Any], look: Look = PLAIN) -> str:
    """Model and machine, weights by part, passes, parts of a pass, prompt, memory, notes."""
    lines = [*_heading(result, look), "", *_weights(result, look), "", *_grid(*pass_table(result), look, ()), ""]
    lines += [*_apart(result, look), "", *_prefill(result, look), *_memory(result, look), *_notes(result, extra, look)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _heading(result: Estimate, look: Look) -> list[str]:
    machine = result.machine
    model, hardware = machine.model, machine.hardware
    active = "" if model.active_params == model.params else f", {model.active_params / 1e9:.3g} B active"
    cards = f"{machine.tensor_parallel_size} {look.times} " if machine.tensor_parallel_size > 1 else ""
    size = f"{model.params / 1e9:.4g} B parameters{active}" if model.layers or model.is_moe else "bare model"
    rent = "" if hardware.price_usd_per_hour is None else f", {hardware.price_usd_per_hour:g} USD an hour a card"
    return [
        look.paint("1", clean(model.name)) + f": {size}; weights {clean(machine.target_precision.name)}, "
        f"cache {clean(machine.kv_cache_dtype)}",
        f"on {cards}" + look.paint("1", clean(hardware.name)) + f" ({hardware.memory_bytes / 1e9:.4g} GB, "
        f"{hardware.bandwidth_bytes_per_s / 1e12:.3g} TB/s{rent}) under {clean(machine.engine.name)}",
    ]


def _grid(
    heading: Sequence[str], rows: Sequence[Sequence[str]], look: Look, left: Sequence[int] = (0,)
) -> list[str]:
    """Columns two blanks apart (one where two do not fit), those of ``left`` flush left, the others flush right."""
    widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(len(heading))]

    gap = "  " if look.width is None or sum(widths) + 2 * (len(widths) - 1) <= look.width else " "

    def line(cells: Sequence[str]) -> str:
        pairs = enumerate(zip(cells, widths, strict=True))
        return gap.join(cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in pairs)

    return [look.paint("1", line(heading)), *map(line, rows)]


def _weights(result: Estimate, look: Look) -> list[str]:
    model = result.machine.model
    rows = []
    for part, size in part_bytes(model, result.machine.target_precision).items():
        params = getattr(model, part)
        if not params:
            continue
        read = "every pass"
        if part == "routed_expert_params":
            read = f"{model.experts_per_token} of {model.experts} experts a token"
        elif part == "embed_params" and not model.tied:
            read = "a few rows"
        name = part.removesuffix("_params").replace("_", " ")
        rows.append([name, f"{params / 1e9:.3f}", f"{size / 1e9:.3f}", f"{size * 8 / params:.3g}", read])
    heading = ["weights", "B params", "GB", "bits", "read"]
    return _grid(heading, rows, look, (0, 4))


def pass_table(result: Estimate) -> tuple[list[str], list[list[str]]]:
    """The heading and a row a pass; ``experts`` stands only where the model has some."""
    moe = result.machine.model.is_moe
    heading = ["width", "batch", "context", *(["experts", "indep."] if moe else []), "GB", "low", "ms", "high",
               "tok/s", "bound"]  # fmt: skip
    rows = []
    for entry in result.passes:
        p = entry.price
        union = [f"{p.expert_union:.1f}", f"{p.expert_union_independent:.1f}"] if moe else []
        size = (p.weight_bytes + p.kv_bytes + p.state_bytes) / 1e9
        rows.append([
            str(entry.width), str(entry.batch_size), str(entry.context_tokens), *union, f"{size:.3g}",
            _ms(p.low_s), _ms(p.latency_s), _ms(p.high_s), _count(entry.tokens_per_s), p.bound,
        ])  # fmt: skip
    return heading, rows


def _count(value: float) -> str:
    return f"{value:.4g}" if value < 10_000 else f"{value:.0f}"


def _ms(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _apart(result: Estimate, look: Look) -> list[str]:
    shown = result.passes[:_MOST_APART]
    names = [name for name, field in PARTS.items() if any(getattr(entry.price, field) for entry in shown)]
    labels = [f"{e.width}x{e.batch_size}@{e.context_tokens}" for e in shown]
    rows = [[PART_NAMES[name], *(_ms(getattr(entry.price, PARTS[name])) for entry in shown)] for name in names]
    rows.append(["sum", *(_ms(entry.price.latency_s) for entry in shown)])
    rows.append(["bytes at full rate", *(_ms(entry.floor_s(result.machine)) for entry in shown)])
    rows.append(["GB weights", *(f"{entry.price.weight_bytes / 1e9:.3g}" for entry in shown)])
    rows.append(["GB K/V and state", *(f"{(e.price.kv_bytes + e.price.state_bytes) / 1e9:.3g}" for e in shown)])
    rows.append(["TFLOP", *(f"{entry.price.flop / 1e12:.3g}" for entry in shown)])
    if result.machine.hardware.tdp_w is not None:
        rows.append(["J at most", *(f"{result.energy_j(entry) or 0:.3g}" for entry in shown)])
    if result.machine.hardware.price_usd_per_hour is not None:
        rows.append(["USD per M positions", *(f"{result.usd_per_million_tokens(entry) or 0:.3g}" for entry in shown)])
    return _fold("ms of a pass", labels, rows, look)


PART_NAMES = {
    "weights": "weights", "compute": "arithmetic", "kv": "K/V", "state": "state", "activations": "activations",
    "layers": "kernel floors", "host": "host", "allreduce": "all-reduce", "offload": "host link",
}  # fmt: skip
"""What the parts of a pass are called wherever people read them."""


def _fold(title: str, labels: list[str], rows: list[list[str]], look: Look) -> list[str]:
    """The columns that the width has room for."""
    while len(labels) > 1:
        table = _grid([title, *labels], rows, Look(width=None))
        if look.width is None or max(map(len, table)) <= look.width:
            break
        labels, rows = labels[:-1], [row[:-1] for row in rows]
    return _grid([title, *labels], rows, look)


def _prefill(result: Estimate, look: Look) -> list[str]:
    def said(entry: Pass) -> str:
        batch = "" if entry.batch_size == 1 else f" {look.times} {entry.batch_size}"
        return (
            f"{entry.width}{batch}: {_ms(entry.price.latency_s)} ms, {result.prefill_share(entry):.0%} of a request "
            f"with {result.output_tokens} tokens out"
        )

    if not result.prefill:
        return []
    return [look.paint("1", "prompt") + " " + said(entry) for entry in result.prefill[:_MOST_APART]]


def _memory(result: Estimate, look: Look) -> list[str]:
    m = result.memory
    limits = []
    if m.longest_context_tokens is not None:
        limits.append(f"longest context {m.longest_context_tokens:,} at batch {m.batch_size}")
    if m.largest_batch_size is not None:
        limits.append(f"largest batch {m.largest_batch_size:,} at {m.context_tokens} tokens")
    moved = f", {result.machine.offload_bytes / 1e9:.3g} GB of it at the host" if result.machine.offload_bytes else ""
    verdict = "fits" if m.fits else look.paint("31", "does not fit")
    first = (
        f"{look.paint('1', 'memory')} {m.total_bytes / 1e9:.4g} of {m.capacity_bytes / 1e9:.4g} GB: weights "
        f"{m.weight_bytes / 1e9:.4g}, K/V {m.kv_bytes / 1e9:.3g}, state {m.state_bytes / 1e9:.3g}{moved}; {verdict}"
    )
    return [first, *(["       " + "; ".join(limits)] if limits else [])]


def _notes(result: Estimate, extra: dict[str, Any], look: Look) -> list[str]:
    model = result.machine.model
    notes = [
        "low and high bound the middle 80 % of measurements; kernel floors are what a layer takes however little it "
        "reads; host is scheduling, sampling and launching"
        + (", which a pass wider than one token pays more of" if max(p.width for p in result.passes) > 1 else "")
        + ("; indep. is the experts read if every token chose for itself" if model.is_moe else "")
        + "."
    ]
    if model.note:
        notes.append(model.note)
    for key, what in (("vision_params", "vision tower"), ("mtp_params", "layer for multi-token prediction")):
        if extra.get(key):
            notes.append(f"not counted: {what}, {extra[key] / 1e9:.3g} B parameters")
    if result.machine.hardware.uncertain:
        notes.append(f"{result.machine.hardware.name}: uncertain {', '.join(result.machine.hardware.uncertain)}")
    return [line for note in notes for line in wrap(f"note: {clean(note)}", look.width, "  ")]


def render_runs(machine: Machine, rows: Sequence[Mapping[str, Any]], batch_size: int, look: Look = PLAIN) -> str:
    """The runs of a ledger priced on one machine; a column of money where the rent of its cards is known.

    One stream for all stands in the heading, and seeds are left out where there are none: it has to fit 80 columns.
    """
    from clover_sim.report._listing import render_listing

    shown = ("stream", "tokens", "strategy", "seed", "target_passes", "draft_passes", "locked_errors", "bound",
             "latency_s", "tokens_per_s")  # fmt: skip
    streams = dict.fromkeys(str(row["stream"]) for row in rows)
    left_out = {"stream"} if len(streams) == 1 else set()
    if all(row["seed"] is None for row in rows):
        left_out.add("seed")
    keys = {key.replace("_", "\n", 1): key for key in shown if key not in left_out}
    rent, rented = machine.hardware.price_usd_per_hour, ""
    if rent is not None:
        keys["USD\nper M"] = "usd_per_million_tokens"
        rented = f"; USD per M: rent for a million tokens at that speed, {rent:g} an hour a card"
    cards = f"{machine.tensor_parallel_size} {look.times} " if machine.tensor_parallel_size > 1 else ""
    where = look.dot.join([
        f"{clean(machine.model.name)} on {cards}{clean(machine.hardware.name)}", clean(machine.target_precision.name),
        f"{clean(machine.engine.name)} engine", f"batch {batch_size}",
        *(f"{clean(one)} stream" for one in streams if "stream" in left_out),
    ])  # fmt: skip
    said = (
        "- passes, errors and tokens as they were recorded; latency: all recorded passes but the prompt's, priced "
        "for this machine and batch; locked errors: wrong tokens that stay; bound: what most of the time goes "
        f"to{rented}."
    )
    told = "\n".join(wrap(said, look.width, "  "))
    listing = render_listing([{title: row[key] for title, key in keys.items()} for row in rows], look)
    return f"{where}\n\n{listing}\n{told}\n"
