"""What the sliders of a report are fed: the computed rows as columns, and what their passes cost at other batches.

Between computed rows the page draws straight lines and says so; a simulated figure is never made up by a formula. Only
what is a formula in the program as well is worked out anew: the price of a pass at another batch (the roofline, here
as a table), and the tokens of a cycle at another acceptance (independent drafts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clover_sim.errors import CloverError
from clover_sim.report._figures import option_text
from clover_sim.report._pictures import machine_of
from clover_sim.report._rows import tokens_lifted
from clover_sim.report._text import clean
from clover_sim.row_names import varying

SLIDERS = ("threshold", "block_size", "batch_size", "num_speculative_tokens")
"""Options that get a slider even where no axis was named."""

FIGURES = (
    "tokens", "target_passes", "draft_passes", "speedup_passes", "speedup_time", "locked_errors", "latency_s",
)  # fmt: skip
"""Figures that the page reads; all others are made from them."""

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_DIGITS = 7

Row = Mapping[str, Any]


def embedded(result: Any, command: str) -> str:
    """The data of the page, as JSON that cannot end the script that holds it.

    Args:
        command: a command line that computes one point; the page adds ``--vary KEY=VALUE`` for each slider of an
            axis, and the batch.
    """
    rows = list(result.rows)
    axes = [axis.key for axis in getattr(result, "axes", ())]
    differing = {k for keys in varying(rows).values() for k in keys}
    options = list(dict.fromkeys(k for row in rows for k in row["options"] if k in SLIDERS or k in differing))
    lengths = [k for k in ("stream", "tokens") if len({row[k] for row in rows}) > 1]
    if "stream" in lengths and tokens_lifted(rows):
        lengths = ["stream"]  # each has its own length
    settings: dict[str, list[Any]] = {}
    for key in dict.fromkeys([*axes, *options, *lengths]):
        settings[key] = [_number_or_text(_setting(row, key)) for row in rows]
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    cycles = [_cycle(row) for row in rows]
    data = {
        "strategies": names,
        "strategy": [names.index(row["strategy"]) for row in rows],
        "settings": {k: v for k, v in settings.items() if len({repr(x) for x in v if x is not None}) > 1},
        "axes": axes,
        "options": [key for key in settings if any(key in row["options"] for row in rows)],
        "figures": {k: [_short(row.get(k)) for row in rows] for k in FIGURES},
        "drafts": _drafts(rows, names, cycles, settings.get("acceptance", ())),
        "cycles": cycles,
        "batch_size": result.settings.get("batch_size"),
        "batch": None if "batch_size" in axes else _batches(result, rows),
        "best": getattr(result, "best", None),
        "command": command,
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


def _cycle(row: Row) -> tuple[int, float] | None:
    """Draft length and mean acceptance of a draft-and-verify row, for the acceptance slider; ``None`` for others."""
    k, rate = row["options"].get("num_speculative_tokens"), (row.get("drafter") or {}).get("acceptance")
    if not isinstance(k, int) or not rate or not sum(rate) or not row.get("speedup_time") or not row["target_passes"]:
        return None
    return k, float(_short(sum(rate) / len(rate)))


def _drafts(
    rows: Sequence[Row], names: Sequence[str], cycles: Sequence[tuple[int, float] | None], asked: Sequence[Any]
) -> list[dict[str, Any]]:
    """The strategies whose acceptance can be moved; not those whose rows already differ in it."""
    found = []
    for number, name in enumerate(names):
        own = [i for i, row in enumerate(rows) if row["strategy"] == name]
        told = len({repr(asked[i]) for i in own}) > 1 if asked else False
        if any(cycles[i] for i in own) and not told:
            found.append({"name": clean(name), "strategy": number})
    return found


def _batches(result: Any, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Price of the passes of each row, and of plain decoding, at other batches, over that at the report's own.

    ``None`` where no machine is known by name. A row whose passes are of more than one width gets no table: they are
    not in it. Tables are shared, for most rows have the same passes.
    """
    base = result.settings.get("batch_size")
    if not isinstance(base, int) or result.settings.get("cost") != "roofline" or not rows:
        return None
    tables: list[list[float]] = []
    places: dict[Any, int | None] = {}
    most = max(BATCHES)
    own: list[int | None] = []
    plain: list[int | None] = []
    for row in rows:
        where = {**result.settings, **(row.get("varied") or {})}
        where = {k: where.get(k) for k in _MACHINE if where.get(k) is not None}
        cached = round((where.get("prompt_tokens") or 0) + row["tokens"] / 2)
        for passes, into in ((_passes(row), own), ((("DECODE", 1, 1.0),), plain)):
            key = (tuple(where.items()), cached, passes, str(row.get("drafter")))
            if key not in places:
                places[key], most = _table(where, cached, passes, row, base, tables, most)
            into.append(places[key])
    batches = [b for b in BATCHES if b <= most]
    if not tables or len(batches) < 2:
        return None
    return {"base": base, "values": batches, "tables": [t[: len(batches)] for t in tables], "of": own, "plain": plain}


_MACHINE = ("model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "prompt_tokens")


def _passes(row: Row) -> tuple[tuple[str, int, float], ...]:
    """Kind, width and share of the passes of a row; empty for a strategy whose widths its options do not say."""
    options, target, drafts = row["options"], row["target_passes"], row["draft_passes"]
    k, block = options.get("num_speculative_tokens"), options.get("block_size")
    if row["strategy"] == "ar":
        return (("DECODE", 1, 1.0),)
    if isinstance(k, int) and target and "block_size" not in options:
        verify = ("VERIFY", k + 1, 1.0)
        if not drafts:
            return (verify,)
        each = max(1, round(k * target / drafts))
        return (verify, ("DRAFT", each, round(drafts / target, 3)))
    if isinstance(block, int) and row.get("denoise_passes") and not drafts:
        return (("DENOISE", block, 1.0),)
    return ()


def _table(
    where: Row, cached: int, passes: Sequence[tuple[str, int, float]], row: Row, base: int, tables: list[list[float]],
    most: int,
) -> tuple[int | None, int]:  # fmt: skip
    """A new table for these passes, and the largest batch that the card still holds."""
    from clover_sim.cost import memory_check
    from clover_sim.cost.roofline import price
    from clover_sim.records import Kind, PassShape

    if not passes:
        return None, most
    try:
        machine = machine_of(where)
        if any(kind == "DRAFT" for kind, _, _ in passes):
            from clover_sim.speculation.heads import drafter_model

            machine = replace(machine, drafter=drafter_model((row.get("drafter") or {}).get("model"), machine.model))
        fits = memory_check(machine, base, cached).largest_batch_size

        def cost(batch: int) -> float:
            shapes = [(PassShape(Kind[kind], (width,) * batch, cached * batch), share) for kind, width, share in passes]
            return sum(share * price(machine, shape).latency_s for shape, share in shapes)

        unit = cost(base)
        tables.append([float(f"{cost(batch) / unit:.5g}") for batch in BATCHES])
    except CloverError:
        return None, most
    return len(tables) - 1, most if fits is None else min(most, fits)


def _setting(row: Row, key: str) -> Any:
    options = row["options"]
    return options[key] if key in options else (row.get("varied") or {}).get(key, row.get(key))


def _number_or_text(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    try:
        return float(str(value))
    except ValueError:
        return option_text(value)


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
