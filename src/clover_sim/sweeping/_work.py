"""What a worker does: the cells of one piece of work, each as one line of JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from clover_sim.columns import MEASURED
from clover_sim.comparison import compare
from clover_sim.errors import InputError
from clover_sim.prepare import options_of
from clover_sim.registry import build_strategy
from clover_sim.sweeping._plan import Chunk, MachineAsk

_JUDGED = (
    "speedup_time", "latency_s", "tokens_per_s", "total_tokens_per_s", "speedup_passes", "tokens_per_pass",
    "target_passes", "locked_errors", "forced_commits",
)  # fmt: skip
_NOT_KEPT = (
    "draft_passes", "kv_write_passes", "denoise_passes", "tokens_per_denoise_pass", "wasted_positions", "ms_per_pass",
    "latency_low_s", "latency_high_s", "prefill_s",
)  # fmt: skip
"""Half of the figures, which are seldom judged by: all of them would be twice as much to keep."""
SAMPLED = (*_JUDGED, *(key for key in MEASURED if key not in _JUDGED + _NOT_KEPT))
"""Columns whose values are kept seed by seed, so that differences can be judged in pairs."""


@lru_cache(maxsize=64)
def cost_of(machine: MachineAsk) -> Any:
    """The cost model of a machine in words, made once in each process."""
    return machine.build()


def run_chunk(chunk: Chunk) -> list[str]:
    """Run the cells of ``chunk``; one JSON object a cell, in their order.

    A cell that the card cannot hold is not an error of the sweep: its object says why it was refused.
    """
    lines: list[str] = []
    for run, machine, members in chunk.groups:
        try:
            lines += _together(chunk, run, machine, members)
        except InputError:
            for member in members:
                try:
                    lines += _together(chunk, run, machine, (member,))
                except InputError as error:
                    name, decoder = build_strategy(member[1])
                    refused = {
                        "strategy": name, "options": options_of(decoder), "varied": dict(member[2]),
                        "reason": str(error),
                    }  # fmt: skip
                    lines.append(json.dumps({"cell": member[0], "refused": refused}, separators=(",", ":")))
    return lines


def _together(chunk: Chunk, run: Any, machine: MachineAsk, members: Any) -> list[str]:
    keywords = {**chunk.common, **dict(run)}
    given = keywords.pop("cost", None)
    tokens = keywords.pop("tokens")
    result = compare(
        [spec for _, spec, _ in members], tokens=None if tokens is None else [tokens],
        cost=cost_of(machine) if given is None else given, **keywords,
    )  # fmt: skip
    lines = []
    for number, ((index, _, varied), row) in enumerate(zip(members, result.rows, strict=True)):
        record: dict[str, Any] = {"cell": index, "row": {**row, "varied": dict(varied)}}
        if row["seeds"] > 1:
            record["samples"] = {key: result.by_seed[number].get(key) for key in SAMPLED}
        lines.append(json.dumps(record, separators=(",", ":"), allow_nan=False))
    return lines
