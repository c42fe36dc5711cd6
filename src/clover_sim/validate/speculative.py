"""Speed-ups of speculative decoding predicted from the published acceptance, and one plain speed of the same source.

The plain speed fixes the host time of a pass on that machine; the cycle is then priced with the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from clover_sim.cost import Machine, price
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.speculation import Measured, cycle, drafter_model
from clover_sim.validate.rows import Row
from clover_sim.validate.speculative_rows import SpeculativeRow, read_speculative

BUILT_IN = "speculative"
"""The table of this package that has speculative rows."""


class SpeculativeResult(NamedTuple):
    """A row and its predicted speed-up."""

    row: SpeculativeRow
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.speedup - 1

    @property
    def side(self) -> bool:
        """Whether faster or slower than plain decoding came out right; exactly 1 counts as neither."""
        return (self.predicted > 1) == (self.row.speedup > 1) or self.row.speedup == 1


def predict_speedup(row: SpeculativeRow) -> float:
    """The speed-up of a row, from its acceptance length and the price of its cycle.

    Where prefills count, they take as long for each token of a request with drafts as without.
    """
    base = row.row
    ranks = 1 if base.engine.name == "llama.cpp" else base.devices
    scheduler = _scheduler(base)
    engine = base.engine if scheduler is None else base.engine.under(scheduler)
    machine = Machine(
        base.model, base.hardware, engine, base.precision, base.kv_cache_dtype, ranks,
        drafter=drafter_model(row.shape.drafter, base.model),
    )  # fmt: skip
    measured, prefill_s = Measured(), _prefill_s(machine, row)
    if row.plain:
        step = base.batch / base.measured - prefill_s
        measured = replace(measured, plain_step_s=max(step, 0.0))
        if not row.device:
            c = machine.constants
            host = c.pass_s + c.sequence_s * base.batch
            own = price(machine, PassShape(Kind.DECODE, (1,) * base.batch, base.context * base.batch)).latency_s
            measured = replace(measured, host_factor=max(1.0, (host + step - own) / host) if host else 1.0)
    found = cycle(machine, row.shape, base.batch, base.context, measured=measured)
    return (found.plain_s + prefill_s) / (found.cycle_s / row.length + prefill_s)


def _prefill_s(machine: Machine, row: SpeculativeRow) -> float:
    """Time that the prefills of a steady batch take for each token of one request."""
    if not row.output:
        return 0.0
    return row.row.batch * price(machine, PassShape(Kind.PREFILL, (row.prompt,))).latency_s / row.output


def _scheduler(row: Row) -> str | None:
    """The scheduler of SGLang that a source names."""
    if row.engine.name != "sglang":
        return None
    source = row.source.lower()
    return "overlap" if "spec-v2" in source else "serial" if "flashinfer" in source else None


def validate_speculative(path: str | None = None) -> tuple[list[SpeculativeResult], dict[str, int]]:
    """Predict every usable row; see :func:`summary` for what it comes to."""
    rows, skipped = read_speculative(path)
    results: list[SpeculativeResult] = []
    for row in rows:
        try:
            results.append(SpeculativeResult(row, predict_speedup(row)))
        except (InputError, UsageError):
            why = "plain speed that cannot be on that device"
            skipped[why] = skipped.get(why, 0) + 1
    return results, skipped


def summary(results: Sequence[SpeculativeResult], skipped: Mapping[str, int]) -> dict[str, Any]:
    """Figures of the rows with a plain speed; those without stand apart, since nothing fixes their machine."""
    with_plain = [r for r in results if r.row.plain]
    methods = sorted({r.row.shape.method for r in with_plain})
    return {
        **_figures(with_plain),
        "by": {"method": {m: _figures([r for r in with_plain if r.row.shape.method == m]) for m in methods}},
        "without_plain_speed": _figures([r for r in results if not r.row.plain]),
        "skipped": dict(skipped),
    }


def _figures(results: Sequence[SpeculativeResult]) -> dict[str, Any]:
    errors = sorted(r.error for r in results)
    sizes = sorted(map(abs, errors))
    losing = [r for r in results if r.row.speedup < 1]
    count = len(sizes)

    def middle(values: Sequence[float]) -> float | None:
        half = len(values) // 2
        return None if not values else values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2

    return {
        "rows": count,
        "median_abs_error": middle(sizes),
        "p90_abs_error": sizes[-(-9 * count // 10) - 1] if count else None,
        "bias": middle(errors),
        "side_right": sum(r.side for r in results) / count if count else None,
        "losing_rows": len(losing),
        "losing_predicted": sum(r.predicted < 1 for r in losing),
    }


def entry(result: SpeculativeResult) -> dict[str, Any]:
    """One row of the document."""
    row = result.row
    base = row.row
    return {
        "id": base.id, "measured": row.speedup, "predicted": result.predicted, "error": result.error,
        "side_right": result.side, "model": base.model.name, "hardware": base.hardware.name if row.device else None,
        "engine": base.engine.name, "precision": base.precision.name, "batch_size": base.batch,
        "method": row.shape.method, "draft_tokens": row.shape.k, "verify_width": row.shape.width,
        "acceptance_length": row.length, "plain_speed_known": row.plain, "source": base.source,
    }  # fmt: skip
