"""Fitting the two figures of a workload: from published tokens per pass, or from a recorded trace.

Residuals are logarithms of ratios, draws are the same at every step, and a Newton step is halved until it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite, log
from typing import NamedTuple

from clover_sim.errors import InputError, UsageError
from clover_sim.physics.confidence import Confidence
from clover_sim.physics.context_sample import Counts, DrawnSequence, decode_sample, draw_sample
from clover_sim.physics.damage import Damage
from clover_sim.records import TokenClass
from clover_sim.specs.check import toml_text
from clover_sim.streams.traces import Recording, read_trace
from clover_sim.streams.workloads import kinds_of

START = (6.0, 4.5)
"""Where the search for (mu, sd) begins; one point alone fixes mu at this sd."""

SEQUENCE_TOKENS = 256
_BOUNDS = ((-30.0, 60.0), (0.3, 25.0))
_GOOD = 1e-3


class Fit(NamedTuple):
    """A fitted confidence, and how far it is from what it was fitted to (largest |log ratio|).

    ``name`` says what it was fitted to; ``settings`` are (threshold, block size) of a trace.
    """

    name: str
    confidence: Confidence
    residual: float
    settings: tuple[float, int] | None = None

    def to_toml(self, name: str, text: str = "tool-call") -> str:
        """The fit as a workload file, to be used as ``--profile context:workload=FILE``."""
        c = self.confidence
        return (
            f'name = {toml_text(name)}\nsummary = "fitted by clover-sim calibrate"\ntext = {toml_text(text)}\n'
            f'source = {toml_text(self.name)}\n\n[confidence]\n'
            f"mu = {c.mu:.4f}\nsd = {c.sd:.4f}\nspread = {c.spread:.4f}\n"
            f"by_kind = {str(c.by_kind).lower()}\n"
        )


def fit_from_tpf(
    points: Sequence[tuple[float, float]],
    *,
    block_size: int = 32,
    base: Confidence | None = None,
    kinds: Sequence[bytes] | None = None,
    sequences: int = 256,
    seed: int = 0,
) -> Fit:
    """Fit (mu, sd) to tokens per denoise pass at two thresholds, or mu to one.

    Args:
        points: (threshold, tokens per pass), thresholds in (0, 1), tokens per pass above 1.
        block_size: of the published runs.
        base: where the other figures come from; default: no spread, no token kinds.
        kinds: token kinds of the sequences; default: ``sequences`` of 256 common tokens (each with its mirror image).

    With the default size the sampling error of a tokens-per-pass figure is about 1 %. Takes some 10 s.

    >>> fit = fit_from_tpf([(0.9, 3.0)], sequences=8)
    >>> fit.residual < 0.002
    True
    """
    if not 1 <= len(points) <= 2:
        raise UsageError(f"tpf-at: {len(points)} points; two of them fix both figures of a workload, one fixes mu")
    for threshold, value in points:
        if not 0 < threshold < 1:
            raise UsageError(f"tpf-at: threshold {threshold}: expected a number between 0 and 1")
        if not (isfinite(value) and 1 < value <= block_size):
            raise UsageError(f"tpf-at: {threshold}={value}: expected tokens per pass above 1, at most {block_size}")
    if len(points) == 2 and points[0][0] == points[1][0]:
        raise UsageError(f"tpf-at: threshold {points[0][0]} is given twice")
    base = base or Confidence(0.0, START[1], by_kind=False)
    sample = draw_sample(base, kinds or [bytes([TokenClass.COMMON]) * SEQUENCE_TOKENS] * sequences, seed, mirrored=True)

    def residuals(mu: float, sd: float) -> list[float]:
        model = replace(base, mu=mu, sd=sd)
        return [
            log(decode_sample(model, sample, block_size, threshold=t).tokens_per_pass / value) for t, value in points
        ]

    label = "tokens per pass " + ", ".join(f"{v:g} at {t:g}" for t, v in points)
    if len(points) == 1:
        mu, off = _bisect(lambda x: residuals(x, base.sd)[0], *_BOUNDS[0])
        return Fit(label, replace(base, mu=mu), abs(off))
    (mu, sd), off = _newton(residuals, START)
    return Fit(label, replace(base, mu=mu, sd=sd), off)


def fit_from_trace(
    path: str, *, domain: str | None = None, copies: int = 8, seed: int = 0, allow_long: bool = False
) -> list[Fit]:
    """Fit (mu, sd) to a recorded trace: its passes and its forced commits; one fit a domain and setting.

    Args:
        path: trace whose sequences have a threshold and confidences (any form that holds them).
        domain: only the sequences of this label; default: each label on its own.
        copies: how often the recorded texts are drawn anew; more is steadier and slower.

    Raises :class:`InputError` for a trace that cannot tell.

    >>> import os, tempfile
    >>> from clover_sim import build_strategy, open_stream, record, write_records
    >>> _, line = record(build_strategy("block-diffusion:threshold=0.9")[1], open_stream("context", 256))
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.jsonl")
    >>> _ = write_records(path, [line])
    >>> fit = fit_from_trace(path, copies=2)[0]
    >>> fit.residual < 0.2
    True
    """
    return [
        fit_recordings(found, copies=copies, seed=seed)
        for found in group_recordings(read_trace(path, allow_long=allow_long), domain).values()
    ]


def group_recordings(
    recordings: Sequence[Recording], domain: str | None = None
) -> dict[tuple[str, float, int], list[Recording]]:
    """Recordings by (domain, threshold, block size), checked for what a fit needs."""
    groups: dict[tuple[str, float, int], list[Recording]] = {}
    for r in recordings:
        if domain is not None and r.domain != domain:
            continue
        r.require("confidence", "calibrate")
        if r.comparison is None or r.threshold is None:
            raise InputError(f"{r.where}: calibrate needs a recorded threshold that explains the commits; it has none")
        groups.setdefault((r.domain, r.threshold, r.block_size), []).append(r)
    if not groups:
        known = ", ".join(sorted({r.domain for r in recordings})) or "none"
        raise InputError(f"{recordings[0].where}: no sequence has the domain {domain!r}; it has: {known}")
    return groups


def fit_recordings(recordings: Sequence[Recording], *, copies: int = 8, seed: int = 0) -> Fit:
    """Fit recordings of one setting; see :func:`fit_from_trace`."""
    first = recordings[0]
    threshold, size = first.threshold, first.block_size
    assert threshold is not None
    if not 0 < threshold < 1:
        raise InputError(f"{first.where}: calibrate needs a threshold between 0 and 1, this trace has {threshold}")
    passes, forced = counts_of(recordings)
    tokens = sum(len(r) for r in recordings)
    base = Confidence(0.0, START[1])
    sample = draw_sample(base, trace_kinds(recordings) * copies, seed, mirrored=True)

    def residuals(mu: float, sd: float) -> list[float]:
        done = decode_sample(replace(base, mu=mu, sd=sd), sample, size, threshold=threshold)
        share = tokens / done.tokens
        # one pseudo-count keeps the logarithm finite where nothing was forced
        return [log(done.passes * share / passes), log((done.forced * share + 1) / (forced + 1))]

    best, off = min((_newton(residuals, start) for start in (START, (-1.0, 4.0))), key=lambda found: found[1])
    label = f"{first.domain or 'trace'} at threshold {threshold:g}, block {size}: {passes} passes, {forced} forced"
    return Fit(label, replace(base, mu=best[0], sd=best[1]), off, (threshold, size))


def counts_of(recordings: Sequence[Recording]) -> tuple[int, int]:
    """(passes, forced commits) of recordings that follow their threshold."""
    forced = 0
    for r in recordings:
        assert r.visits is not None and r.threshold is not None
        for block in r.blocks:
            for step in block.passes:
                if len(step.committed) == 1:
                    p = step.committed[0]
                    last = r.visits.confidence[p][-1]
                    forced += not (last > r.threshold if r.comparison == "gt" else last >= r.threshold)
    return sum(r.passes for r in recordings), forced


def trace_kinds(recordings: Sequence[Recording]) -> list[bytes]:
    """Token kinds of recorded sequences."""
    return [kinds_of(r.classes, r.texts) for r in recordings]


def fit_damage(
    confidence: Confidence, low: tuple[float, float], fixed: tuple[int, float], *, block_size: int = 32,
    sequences: int = 256, tokens: int = SEQUENCE_TOKENS, seed: int = 0,
) -> Damage:  # fmt: skip
    """Fit the damage of a pass to accuracy, as a share of token-by-token accuracy, at two points.

    Args:
        low: (threshold, share of the accuracy that is left).
        fixed: (positions a pass, share that is left) of a fixed count.
    """
    kinds = [bytes([TokenClass.COMMON]) * tokens] * sequences
    sample = draw_sample(confidence, kinds, seed, mirrored=True)

    def at_growth(growth: float) -> tuple[Damage, float]:
        model = replace(confidence, damage=Damage(1.0, growth))
        first = decode_sample(model, sample, block_size, threshold=low[0], with_hazards=True)
        second = decode_sample(model, sample, block_size, tokens_per_pass=fixed[0], with_hazards=True)
        exponent, _ = _bisect(lambda x: low[1] - share_intact(first, 10.0**x), -8.0, 6.0)
        return Damage(10.0**exponent, growth), fixed[1] - share_intact(second, 10.0**exponent)

    growth, _ = _bisect(lambda g: at_growth(g)[1], 0.01, 8.0, steps=14)
    return at_growth(growth)[0]


def share_intact(counts: Counts, scale: float) -> float:
    """Mean probability that an answer is not spoiled."""
    return sum(Damage(scale, 0.0).share_intact(h) for h in counts.hazards) / len(counts.hazards)


def _bisect(rising: Callable[[float], float], low: float, high: float, steps: int = 40) -> tuple[float, float]:
    value = 0.0
    for _ in range(steps):
        middle = (low + high) / 2
        value = rising(middle)
        if abs(value) < _GOOD / 4:
            return middle, value
        low, high = (middle, high) if value < 0 else (low, middle)
    return (low + high) / 2, value


def _newton(
    residuals: Callable[[float, float], list[float]], start: tuple[float, float]
) -> tuple[tuple[float, float], float]:
    x, step = start, 0.3
    now = residuals(*x)
    for _ in range(16):
        size = max(map(abs, now))
        if size < _GOOD:
            break
        a, c = ((v - w) / step for v, w in zip(residuals(x[0] + step, x[1]), now, strict=True))
        b, d = ((v - w) / step for v, w in zip(residuals(x[0], x[1] + step), now, strict=True))
        determinant = a * d - b * c
        if abs(determinant) < 1e-12:
            break
        move = ((b * now[1] - d * now[0]) / determinant, (c * now[0] - a * now[1]) / determinant)
        scale = min(1.0, 3.0 / max(abs(move[0]), abs(move[1]), 1e-9))
        for _ in range(6):
            trial = tuple(
                min(max(v + scale * m, lo), hi) for v, m, (lo, hi) in zip(x, move, _BOUNDS, strict=True)
            )
            then = residuals(trial[0], trial[1])
            if max(map(abs, then)) < size:
                x, now = (trial[0], trial[1]), then
                break
            scale /= 2
        else:
            break
    return x, max(map(abs, now))


def predict_trace(
    fit: Fit, sample: Sequence[DrawnSequence], threshold: float, block_size: int, tokens: int
) -> tuple[float, float]:
    """(passes, forced commits) for ``tokens`` tokens under another setting; the sample is the fitted texts'."""
    done = decode_sample(fit.confidence, sample, block_size, threshold=threshold)
    return done.passes * tokens / done.tokens, done.forced * tokens / done.tokens
