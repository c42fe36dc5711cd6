"""Predicting measured rows with the defaults, and how far off the predictions are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clover_sim.cost import Machine, price
from clover_sim.records import Kind, PassShape
from clover_sim.validate import diffusion, speculative
from clover_sim.validate.diffusion import DiffusionResult
from clover_sim.validate.rows import Row, read_rows
from clover_sim.validate.speculative import SpeculativeResult


class Result(NamedTuple):
    """A row and the speed predicted for it, in tokens a second of all its sequences."""

    row: Row
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.measured - 1


class Validation(NamedTuple):
    """All predictions of one table.

    Args:
        results: rows on one device. several: rows on several devices, judged apart. skipped: left out, by reason.
        speculative: predicted speed-ups of speculative decoding and what was left out, never pooled with the others.
        diffusion: predicted speeds of block diffusion and what was left out, never pooled either.
    """

    results: list[Result]
    several: list[Result]
    skipped: dict[str, int]
    speculative: tuple[list[SpeculativeResult], dict[str, int]] = ([], {})
    diffusion: tuple[list[DiffusionResult], dict[str, int]] = ([], {})

    def to_dict(self) -> dict[str, Any]:
        """The document of ``--format json``."""
        summary = summarise(self.results)
        summary["skipped"] = self.skipped
        by = {key: groups(self.results, of) for key, of in KEYS.items()}
        summary["by"] = {key: {name: summarise(part) for name, part in found.items()} for key, found in by.items()}
        summary["several_devices"] = summarise(self.several)
        summary["speculative"] = speculative.summary(*self.speculative)
        summary["diffusion"] = diffusion.summary(*self.diffusion)
        return {
            "schema": "clover-sim/validation/1",
            "rows": [_entry(result) for result in self.results],
            "several_devices": [_entry(result) for result in self.several],
            "speculative": [speculative.entry(result) for result in self.speculative[0]],
            "diffusion": [diffusion.entry(result) for result in self.diffusion[0]],
            "summary": summary,
        }


def _entry(result: Result) -> dict[str, Any]:
    row = result.row
    return {
        "id": row.id, "measured": row.measured, "predicted": result.predicted, "error": result.error,
        "model": row.model.name, "hardware": row.hardware.name, "devices": row.devices, "engine": row.engine.name,
        "precision": row.precision.name, "batch_size": row.batch, "context_tokens": row.context, "source": row.source,
    }  # fmt: skip


def family(row: Row) -> str:
    """The family of a row's model: the first word of its name."""
    return row.model.name.split("-")[0]


KEYS: dict[str, Callable[[Row], str]] = {
    "kind": lambda row: "mixture" if row.model.is_moe else "dense",
    "family": family,
    "hardware": lambda row: row.hardware.name,
    "engine": lambda row: row.engine.name,
    "cards": lambda row: str(row.devices),
}
"""What a summary is split by."""


def validate(path: str | None = None) -> Validation:
    """Predict every usable row of a table (``None``: the built-in one) with nothing but defaults.

    Raises:
        InputError: the file cannot be used.
    """
    rows, skipped = read_rows(path)
    machines: dict[tuple[object, ...], Machine] = {}
    results = [Result(row, predict(row, machines)) for row in rows]
    # Kernel tables are no speeds of decoding: several cards are what they are there to measure.
    one = [result for result in results if result.row.devices == 1 or result.row.engine.name == "kernels"]
    kept = set(map(id, one))
    several = [result for result in results if id(result) not in kept]
    drafts = speculative.validate_speculative(path or speculative.BUILT_IN)
    return Validation(one, several, skipped, drafts, diffusion.validate_diffusion(path))


def predict(row: Row, machines: dict[tuple[object, ...], Machine] | None = None) -> float:
    """Tokens a second of plain decoding, or of computing prompts; ``machines`` keeps what rows share."""
    key = (row.model.name, row.hardware.name, row.engine.name, row.precision.name, row.devices, row.kv_cache_dtype)
    machine = None if machines is None else machines.get(key)
    if machine is None:
        # llama.cpp gives each card some of the layers, so that they work one after another, each for its share.
        ranks = 1 if row.engine.name == "llama.cpp" else row.devices
        machine = Machine(row.model, row.hardware, row.engine, row.precision, row.kv_cache_dtype, ranks)
        if machines is not None:
            machines[key] = machine
    if row.prefill:
        prompts = (row.context,) * row.batch
        return sum(prompts) / price(machine, PassShape(Kind.PREFILL, prompts)).latency_s
    shape = PassShape(Kind.DECODE, (1,) * row.batch, row.context * row.batch)
    return row.batch / price(machine, shape).latency_s


def summarise(results: Sequence[Result]) -> dict[str, Any]:
    """Median, 90th percentile and bias of the errors; ``None`` where there is no row.

    The percentile is the smallest error that nine rows in ten do not exceed; the bias is the median with its sign.
    """
    errors = [result.error for result in results]
    sizes = sorted(map(abs, errors))
    return {
        "rows": len(results),
        "distinct_rows": len({result.row.baseline for result in results}),
        "median_abs_error": _median(sizes),
        "p90_abs_error": sizes[-(-9 * len(sizes) // 10) - 1] if sizes else None,
        "bias": _median(sorted(errors)),
    }


def _median(ordered: Sequence[float]) -> float | None:
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def groups(results: Sequence[Result], of: Callable[[Row], str]) -> dict[str, list[Result]]:
    """Results by what ``of`` says of their row, by name."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(of(result.row), []).append(result)
    return dict(sorted(found.items()))
