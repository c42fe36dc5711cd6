"""The confidence model against what was published and recorded: fitted points, and the points it has to predict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clover_sim.engine import run
from clover_sim.errors import UsageError
from clover_sim.fitting import (
    SEQUENCE_TOKENS,
    counts_of,
    fit_recordings,
    group_recordings,
    predict_trace,
    share_intact,
    trace_kinds,
)
from clover_sim.physics.context_sample import decode_sample, draw_sample
from clover_sim.records import TokenClass
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from clover_sim.streams.traces import read_trace
from clover_sim.streams.workloads import Workload, context_physics, load_workload, workload_names

SAMPLE_SEQUENCES = 256
SAMPLE_SEED = 900_000
"""Seeds of the check; the figures of the package were fitted on others."""

CANVASES = 800


@dataclass(frozen=True, slots=True)
class Checked:
    """One figure: what was published or recorded, and what the model gives.

    ``error`` is relative for passes and tokens per pass, a difference for accuracy (points), shares (points) and
    canvas quantiles (passes); ``bar`` is the largest error that counts as agreement, in the same unit (``None``:
    reported without a bar). ``fitted`` marks figures that the parameters were fitted to.
    """

    workload: str
    setting: str
    quantity: str
    published: float
    model: float
    error: float
    bar: float | None
    fitted: bool
    source: str

    @property
    def holds(self) -> bool | None:
        """Whether the error is within the bar."""
        return None if self.bar is None else abs(self.error) <= self.bar + 1e-12

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        keys = ("workload", "setting", "quantity", "published", "model", "error", "bar", "fitted", "source")
        return {**{k: getattr(self, k) for k in keys}, "holds": self.holds}


def check_diffusion(
    traces: Sequence[str] = (), *, progress: Callable[[int, int], None] | None = None
) -> list[Checked]:
    """Score every published figure of every workload; with ``traces``, fit the first and predict the others.

    Takes some 20 s, and about 10 s a trace. Traces come first, so that one that cannot be used is refused at once.
    """
    of_traces = check_traces(traces[0], traces[1:]) if traces else []
    names = workload_names()
    rows: list[Checked] = []
    for i, name in enumerate(names):
        rows.extend(check_workload(load_workload(name)))
        if progress is not None:
            progress(i + 1, len(names) + len(traces))
    return [*rows, *of_traces]


def check_workload(workload: Workload) -> Iterator[Checked]:
    """Score the published figures of one workload."""
    confidence = workload.confidence
    rows = [row for row in workload.published if "threshold" in row or "fixed" in row]
    if rows:
        kinds = [_kinds(workload, i) for i in range(SAMPLE_SEQUENCES)]
        sample = draw_sample(confidence, kinds, SAMPLE_SEED, mirrored=True)
        for row in rows:
            how = {"threshold": row["threshold"]} if "threshold" in row else {"tokens_per_pass": row["fixed"]}
            size = int(row.get("block_size", 32))
            scored = decode_sample(confidence, sample, size, with_hazards="accuracy" in row, **how)
            setting = ", ".join(f"{k} {v:g}" for k, v in how.items()) + f", block {size}"
            common = (bool(row.get("fitted", False)), str(row.get("source", workload.source)))
            if "tokens_per_pass" in row:
                bar = 0.05 if row.get("varies") == "block_size" else 0.03
                found, wanted = scored.tokens_per_pass, float(row["tokens_per_pass"])
                bar = 0.0 if row.get("threshold") == 1 else bar
                yield Checked(
                    workload.name, setting, "tokens_per_pass", wanted, found, found / wanted - 1, bar, *common
                )
            if "accuracy" in row and workload.accuracy is not None and confidence.damage is not None:
                found = workload.accuracy * share_intact(scored, confidence.damage.scale)
                bar = 7.0 if "fixed" in row else 0.0 if row["threshold"] == 1 else 3.0
                wanted = float(row["accuracy"])
                yield Checked(workload.name, setting, "accuracy", wanted, found, found - wanted, bar, *common)
    for row in workload.published:
        if "canvas" in row:
            yield from _check_canvas(workload, row)


def _kinds(workload: Workload, seed: int) -> bytes:
    if not workload.confidence.by_kind:
        return bytes([TokenClass.COMMON]) * SEQUENCE_TOKENS
    from clover_sim.streams.synthetic import synthetic_tokens
    from clover_sim.streams.workloads import kinds_of

    text = synthetic_tokens(workload.text, SAMPLE_SEED + seed, SEQUENCE_TOKENS)
    return kinds_of(text.classes, text.tokens)


def canvas_passes(workload: Workload, strategy: str, canvas: int, canvases: int = CANVASES) -> list[int]:
    """Denoise passes of single canvases, each a sequence of its own, sorted."""
    _, decoder = build_strategy(strategy)
    kinds = bytes([TokenClass.COMMON]) * canvas
    passes = []
    for seed in range(canvases):
        def make(limit: int, seed: int = seed) -> Any:
            return context_physics(workload.confidence, kinds, SAMPLE_SEED + seed, limit)

        totals = run(decoder, Stream("canvas", kinds, make)).totals
        passes.append(totals.target_passes - totals.kv_write_passes)
    return sorted(passes)


def _check_canvas(workload: Workload, row: Mapping[str, Any]) -> Iterator[Checked]:
    """Mean, quantiles and share at the cap of the passes a canvas takes."""
    strategy, cap = str(row["strategy"]), int(row["cap"])
    passes = canvas_passes(workload, strategy, int(row["canvas"]))
    n = len(passes)
    model = {
        "mean": sum(passes) / n, "median": passes[n // 2], "p10": passes[n // 10], "p90": passes[n * 9 // 10],
        "at_cap": 100 * sum(p >= cap for p in passes) / n,
    }  # fmt: skip
    bars = {"mean": 3.0, "median": 3.0, "p10": 3.0, "p90": 0.0, "at_cap": 5.0}
    fitted = row.get("fitted", [])
    for key, found in model.items():
        wanted = float(row[key])
        yield Checked(
            workload.name, strategy, f"canvas passes: {key}", wanted, found, found - wanted, bars[key],
            key in fitted, str(row.get("source", workload.source)),
        )  # fmt: skip


def check_traces(fitted: str, predicted: Sequence[str], *, copies: int = 8, seed: int = 0) -> list[Checked]:
    """Fit (mu, sd) to one recorded trace, and predict passes and forced share of others of the same model.

    Beside each prediction stands the yardstick of constant tokens per pass. Below a threshold of 0.8 there is no bar.
    """
    read = {path: group_recordings(read_trace(path)) for path in dict.fromkeys((fitted, *predicted))}
    known = {domain for domain, _, _ in read[fitted]}
    for path, groups in read.items():
        for domain, _, _ in groups:
            if domain not in known:
                raise UsageError(f"{path}: domain {domain!r} is not in {fitted}, so nothing is fitted for it")
    fits = {}
    for (domain, _, _), found in read[fitted].items():
        if domain in fits:
            continue  # the first setting is fitted, any other one of the domain predicted
        fit = fit_recordings(found, copies=copies, seed=seed)
        tokens, (passes, _) = sum(len(r) for r in found), counts_of(found)
        sample = draw_sample(fit.confidence, trace_kinds(found) * copies, seed + SAMPLE_SEED, mirrored=True)
        fits[domain] = (fit, sample, tokens / passes)
    rows = []
    for path in (fitted, *predicted):
        for (domain, threshold, size), found in read[path].items():
            fit, sample, constant = fits[domain]
            tokens, (passes, forced) = sum(len(r) for r in found), counts_of(found)
            model = predict_trace(fit, sample, threshold, size, tokens)
            own = path == fitted and (threshold, size) == fit.settings
            setting = f"threshold {threshold:g}, block {size}"
            bar = None if threshold < 0.8 else 0.10
            rows += [
                Checked(domain, setting, "passes", passes, model[0], model[0] / passes - 1, bar, own, path),
                Checked(domain, setting, "forced share", 100 * forced / tokens, 100 * model[1] / tokens,
                        100 * (model[1] - forced) / tokens, None if bar is None else 5.0, own, path),
                Checked(domain, setting, "passes at constant tokens per pass", passes, tokens / constant,
                        tokens / constant / passes - 1, None, own, path),
            ]  # fmt: skip
    return rows

