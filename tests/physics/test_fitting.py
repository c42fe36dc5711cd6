"""Fitting finds what a sample was made with, from passes, from a trace, and from accuracies; nonsense is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clover_sim.diffusion_checks import check_traces
from clover_sim.errors import InputError, UsageError
from clover_sim.fitting import fit_damage, fit_from_tpf, fit_from_trace, share_intact
from clover_sim.physics.confidence import Confidence
from clover_sim.physics.context_sample import decode_sample, draw_sample
from clover_sim.physics.damage import Damage
from clover_sim.recorder import record, write_records
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from clover_sim.streams.workloads import (
    ContextSettings,
    context_physics,
    load_workload,
    open_context,
    workload_from_table,
    workload_names,
)

TRUE = Confidence(6.0, 4.0, by_kind=False)


def made(model: Confidence, threshold: float, size: int = 32, sequences: int = 48, seed: int = 70_000) -> float:
    sample = draw_sample(model, [bytes([1]) * 256] * sequences, seed, mirrored=True)
    return decode_sample(model, sample, size, threshold=threshold).tokens_per_pass


def test_two_points() -> None:
    points = [(t, made(TRUE, t)) for t in (0.6, 0.9)]
    fit = fit_from_tpf(points, sequences=48, seed=70_000)
    assert fit.residual < 1e-3
    assert fit.confidence.mu == pytest.approx(TRUE.mu, abs=0.15)
    assert fit.confidence.sd == pytest.approx(TRUE.sd, abs=0.15)
    other = fit_from_tpf(points, sequences=48, seed=1)
    assert made(other.confidence, 0.75) == pytest.approx(made(TRUE, 0.75), rel=0.03)


def test_one_point_moves_the_level_alone() -> None:
    fit = fit_from_tpf([(0.9, 2.0)], sequences=24)
    assert fit.confidence.sd == 4.5 and fit.residual < 2e-3
    assert 'mu = ' in fit.to_toml("mine") and "0.9" in fit.to_toml("mine")


@pytest.mark.parametrize(
    "points", [[], [(0.5, 2), (0.6, 3), (0.7, 4)], [(1.0, 2)], [(0.9, 1.0)], [(0.9, 40.0)], [(0.9, 2), (0.9, 3)],
               [(0.9, float("nan"))]],
)  # fmt: skip
def test_points_that_cannot_be(points: list[tuple[float, float]]) -> None:
    with pytest.raises(UsageError, match="tpf-at"):
        fit_from_tpf(points)


def test_damage() -> None:
    model = replace(TRUE, damage=Damage(0.02, 2.0))
    sample = draw_sample(model, [bytes([1]) * 256] * 24, 0, mirrored=True)
    low = share_intact(decode_sample(model, sample, threshold=0.5, with_hazards=True), 0.02)
    fixed = share_intact(decode_sample(model, sample, tokens_per_pass=8, with_hazards=True), 0.02)
    found = fit_damage(TRUE, (0.5, low), (8, fixed), sequences=24)
    assert found.growth == pytest.approx(2.0, abs=0.1) and found.scale == pytest.approx(0.02, rel=0.1)


def trace_file(path: Path, threshold: float, size: int, seeds: range = range(16)) -> str:
    kinds = bytes([0, 0, 1, 2, 0, 4, 0, 1] * 16)
    names = [{0: "{", 1: "the", 2: "zebra", 4: "7"}[k] for k in kinds]
    classes = bytes(2 if k == 4 else k for k in kinds)
    model = Confidence(5.0, 4.0)
    _, decoder = build_strategy(f"block-diffusion:threshold={threshold},block_size={size}")
    entries = []
    for seed in seeds:
        def make(limit: int, seed: int = seed) -> object:
            return context_physics(model, kinds, seed, limit)

        stream = Stream("s", classes, make, "none", names)  # type: ignore[arg-type]
        entries.append({**record(decoder, stream)[1], "domain": "tool"})
    write_records(str(path), entries)
    return str(path)


def test_a_trace_tells_its_figures_and_predicts_other_settings(tmp_path: Path) -> None:
    fitted = trace_file(tmp_path / "a.jsonl.gz", 0.95, 32, range(40))
    [fit] = fit_from_trace(fitted, copies=2)
    assert fit.settings == (0.95, 32) and fit.residual < 2e-3
    assert fit.confidence.mu == pytest.approx(5.0, abs=1.2) and fit.confidence.sd == pytest.approx(4.0, abs=1.2)
    other = trace_file(tmp_path / "b.jsonl", 0.85, 8, range(40))
    rows = check_traces(fitted, [other], copies=2)
    assert [r.fitted for r in rows] == [True] * 3 + [False] * 3
    passes, share, constant = rows[3:]
    assert passes.holds and share.holds and abs(passes.error) < abs(constant.error)


def test_traces_that_cannot_be_fitted(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"step_map": [1, 2, 3, 4], "block_size": 4}')
    with pytest.raises(InputError, match=r"t\.json:1: calibrate needs the confidence"):
        fit_from_trace(str(path))
    path.write_text('{"passes": [[0.9, 0.8]]}')
    with pytest.raises(InputError, match="a recorded threshold that explains the commits"):
        fit_from_trace(str(path))
    path.write_text('{"passes": [[0.9, 0.8]], "threshold": 0.5}')
    with pytest.raises(InputError, match="no sequence has the domain 'x'"):
        fit_from_trace(str(path), domain="x")


def test_workload_files(tmp_path: Path) -> None:
    for name in workload_names():
        assert load_workload(name).name == name and load_workload(name).source and load_workload(name).summary
    path = tmp_path / "mine.toml"
    path.write_text(fit_from_tpf([(0.9, 2.0)], sequences=8).to_toml("mine"))
    assert load_workload(str(path)).name == "mine"
    stream = open_context("context", 64, ContextSettings(str(path), 1, contagion=0.5))
    assert len(stream) == 64 and dict(stream.settings)["contagion"] == 0.5
    with pytest.raises(UsageError, match="did you mean 'tool-call'"):
        load_workload("tool-cal")
    for table, reason in (
        ({}, "confidence.mu is None"), ({"confidence": {"mu": 1, "sd": -1}}, "sd is -1"), ({"odd": 1}, "unknown key"),
        ({"confidence": {"mu": 1, "sd": 1}, "text": "poem"}, "no kind of text"),
        ({"confidence": 3}, "expected a table"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=reason):
            workload_from_table(table, "x.toml")
    for options in ({"sd": -1.0}, {"contagion": float("nan")}, {"mu": float("inf")}):
        with pytest.raises(ValueError, match="expected"):
            ContextSettings(**options)  # type: ignore[arg-type]
