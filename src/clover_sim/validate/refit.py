"""Fitting constants again without some rows, to see how the rest predicts them: the guard against overfitting.

A robust Gauss-Newton fit of the logarithm of predicted over measured, in plain Python. What is free for an engine is
what its file says was fitted; everything else stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from clover_sim.cost import Machine
from clover_sim.specs import EngineSpec
from clover_sim.validate.rows import Row
from clover_sim.validate.run import Result, predict, summarise


class Free(NamedTuple):
    """A constant to fit: its class of hardware (``""``: all), the fields that share it, start, lowest, highest."""

    word: str
    fields: tuple[str, ...]
    start: float
    low: float
    high: float


_ETA = (0.80, 0.3, 1.0)
FREE: dict[str, tuple[Free, ...]] = {
    "kernels": (
        Free("", ("eta",), *_ETA), Free("", ("eta_experts",), *_ETA), Free("", ("eta_kv",), *_ETA),
        Free("", ("layer_s",), 35e-6, 1e-6, 2e-4),
        Free("", ("moe_width_s",), 4e-9, 1e-11, 5e-8), Free("", ("quant_layer_s",), 12e-6, 1e-7, 1e-4),
        Free("", ("index_layer_s",), 1e-5, 1e-7, 2e-4),
        Free("", ("allreduce_s",), 7e-6, 1e-7, 1e-4), Free("", ("eta_bus",), 0.35, 0.05, 1.0),
        Free("pcie", ("allreduce_rank_s",), 3e-6, 1e-7, 1e-4), Free("pcie", ("eta_bus",), 0.1, 0.01, 1.0),
        Free("ampere", ("eta", "eta_experts"), *_ETA), Free("ampere", ("layer_s",), 45e-6, 1e-6, 2e-4),
    ),
    "sglang": (
        Free("", ("pass_s",), 1e-3, 1e-5, 0.02), Free("", ("sequence_s",), 1e-5, 1e-7, 1e-3),
        Free("", ("moe_layer_s",), 1e-5, 1e-8, 1e-3),
    ),
    "vllm": (Free("", ("pass_s",), 1e-3, 1e-5, 0.02), Free("", ("sequence_s",), 1e-5, 1e-7, 1e-3)),
    "mlx": (Free("apple", ("moe_layer_s",), 2e-4, 1e-6, 2e-3),),
    "llama.cpp": (Free("nvidia", ("pass_s",), 1e-3, 1e-5, 0.02),),
}  # fmt: skip
"""What is fitted for each engine, from starts that are not the fitted values."""

KEYS: dict[str, Callable[[Row], str]] = {
    "source": lambda row: row.source.split(" Table")[0].split(" (")[0],
    "model": lambda row: row.model.name,
    "hardware": lambda row: row.hardware.name,
    "pair": lambda row: f"{row.model.name} on {row.hardware.name}",
}

_SCALE = 0.06
"""Error beyond which a row counts less and less."""


Progress = Callable[[int, int], None]


def leave_out(results: Sequence[Result], what: str, progress: Progress | None = None) -> dict[str, Any]:
    """Predict the rows of each source (or model, hardware, pair) with constants fitted to all the others.

    Args:
        results: rows as predicted with the defaults. what: a key of :data:`KEYS`. progress: told of folds done.
    """
    of = KEYS[what]
    rows = [result.row for result in results]
    names = sorted({of(row) for row in rows})
    left: list[Result] = []
    folds: dict[str, Any] = {}
    for number, name in enumerate(names):
        apart = [row for row in rows if of(row) == name]
        engines = fit([row for row in rows if of(row) != name and row.engine.name in {r.engine.name for r in apart}])
        for row in apart:
            engines.setdefault(row.engine.name, unfitted(row.engine))
        machines: dict[tuple[object, ...], Machine] = {}
        found = [Result(row, predict(_with(row, engines), machines)) for row in apart]
        folds[name] = summarise(found)
        left += found
        if progress is not None:
            progress(number + 1, len(names))
    kinds = {"dense": [r for r in left if not r.row.model.is_moe], "mixture": [r for r in left if r.row.model.is_moe]}
    return {
        "what": what, "folds": folds, "summary": summarise(left),
        "by_kind": {kind: summarise(group) for kind, group in kinds.items() if group},
    }  # fmt: skip


def fit(rows: Sequence[Row]) -> dict[str, EngineSpec]:
    """Engines by name with their free constants fitted to ``rows``; those without rows or free ones are left out."""
    fitted = {}
    for name in sorted({row.engine.name for row in rows}):
        own = [row for row in rows if row.engine.name == name]
        free = [f for f in FREE.get(name, ()) if not f.word or any(f.word in row.hardware.classes for row in own)]
        if len(own) > len(free) > 0:
            fitted[name] = _fit(own, free)
    return fitted


def unfitted(engine: EngineSpec) -> EngineSpec:
    """The engine at the starts of its free constants: what is left when there are no rows to fit them to."""
    free = list(FREE.get(engine.name, ()))
    return _changed(engine, free, [math.log(f.start) for f in free])


def _fit(rows: list[Row], free: list[Free]) -> EngineSpec:
    engine = rows[0].engine
    x = [math.log(f.start) for f in free]

    def residuals(at: list[float]) -> list[float]:
        changed = {engine.name: _changed(engine, free, at)}
        machines: dict[tuple[object, ...], Machine] = {}
        return [math.log(row.measured / predict(_with(row, changed), machines)) for row in rows]

    def cost(r: list[float]) -> float:
        return math.fsum(math.sqrt(1 + (value / _SCALE) ** 2) - 1 for value in r)

    now, damping = residuals(x), 1e-3
    for _ in range(12):
        step = 1e-3
        columns = []
        for j in range(len(x)):
            there = residuals([v + step * (i == j) for i, v in enumerate(x)])
            columns.append([(b - a) / step for a, b in zip(now, there, strict=True)])
        weights = [1 / math.sqrt(1 + (value / _SCALE) ** 2) for value in now]
        normal = [
            [math.fsum(w * p * q for w, p, q in zip(weights, a, b, strict=True)) for b in columns] for a in columns
        ]
        right = [-math.fsum(w * p * r for w, p, r in zip(weights, a, now, strict=True)) for a in columns]
        before = cost(now)
        for _ in range(8):
            damped = [[v + damping * (i == j) * (1 + v) for j, v in enumerate(line)] for i, line in enumerate(normal)]
            moved = [_clip(f, v + d) for f, v, d in zip(free, x, _solve(damped, right), strict=True)]
            there = residuals(moved)
            if cost(there) < before:
                x, now, damping = moved, there, damping / 4
                break
            damping *= 6
        if before - cost(now) < 1e-4 * before:
            break
    return _changed(engine, free, x)


def _clip(free: Free, value: float) -> float:
    return min(max(value, math.log(free.low)), math.log(free.high))


def _changed(engine: EngineSpec, free: list[Free], at: list[float]) -> EngineSpec:
    """The engine with the constants at their trial values, those of a class in the place of its override."""
    at = [_clip(f, v) for f, v in zip(free, at, strict=True)]  # a trial step may reach past a bound
    everywhere = [(f, v) for f, v in zip(free, at, strict=True) if not f.word]
    base: dict[str, Any] = {field: math.exp(v) for f, v in everywhere for field in f.fields}
    overrides = []
    for word, pairs in engine.overrides:
        own = {field: math.exp(v) for f, v in zip(free, at, strict=True) if f.word == word for field in f.fields}
        overrides.append((word, tuple({**dict(pairs), **own}.items())))
    known = {word for word, _ in engine.overrides}
    for f, v in zip(free, at, strict=True):
        if f.word and f.word not in known:
            overrides.append((f.word, tuple((field, math.exp(v)) for field in f.fields)))
    return replace(engine, base=replace(engine.base, **base), overrides=tuple(overrides))


def _with(row: Row, engines: dict[str, EngineSpec]) -> Row:
    return row._replace(engine=engines.get(row.engine.name, row.engine))


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination with pivoting; the matrices are small and damped."""
    size = len(right)
    table = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(table[k][i]))
        table[i], table[pivot] = table[pivot], table[i]
        for k in range(i + 1, size):
            share = table[k][i] / table[i][i]
            table[k] = [a - share * b for a, b in zip(table[k], table[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (table[i][size] - math.fsum(table[i][j] * found[j] for j in range(i + 1, size))) / table[i][i]
    return found
