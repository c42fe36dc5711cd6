"""Fits that cannot be met, and the check of the confidence model in small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clover_sim.diffusion_checks import Checked, check_diffusion, check_traces
from clover_sim.errors import InputError, UsageError
from clover_sim.fitting import _bisect, fit_from_tpf, fit_from_trace
from clover_sim.physics.context_sample import Counts
from clover_sim.recorder import record, write_records
from clover_sim.registry import build_strategy
from clover_sim.streams.workloads import ContextSettings, Workload, load_workload, open_context


def test_a_root_that_is_not_reached() -> None:
    """A step has no root: the place of the step is found, and its height is what remains."""
    place, off = _bisect(lambda x: -1.0 if x < 0.3 else 2.0, 0.0, 1.0)
    assert place == pytest.approx(0.3, abs=1e-9) and off in (-1.0, 2.0)
    assert _bisect(lambda x: x - 0.3, 0.0, 1.0)[0] == pytest.approx(0.3, abs=1e-3)


def test_tokens_per_pass_beyond_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays at twice the wanted value misses it by log 2, however often it is halved."""
    twice = Counts(tokens=40, passes=10, forced=0, hazards=())
    monkeypatch.setattr("clover_sim.fitting.decode_sample", lambda *_args, **_options: twice)
    fit = fit_from_tpf([(0.9, 2.0)], sequences=1)
    assert fit.residual == pytest.approx(0.693147, abs=1e-6)


def trace(path: Path, domain: str, threshold: float) -> str:
    _, decoder = build_strategy(f"block-diffusion:threshold={threshold},block_size=16")
    _, line = record(decoder, open_context("context", 96, ContextSettings("code", 3)), strategy="block-diffusion")
    write_records(str(path), [{**line, "domain": domain}])
    return str(path)


def test_what_cannot_be_fitted(tmp_path: Path) -> None:
    first, other = trace(tmp_path / "a.jsonl", "code", 0.9), trace(tmp_path / "b.jsonl", "chat", 0.9)
    with pytest.raises(UsageError) as caught:
        check_traces(first, [other], copies=1)
    assert str(caught.value) == f"{other}: domain 'chat' is not in {first}, so nothing is fitted for it"
    certain = trace(tmp_path / "c.jsonl", "code", 1.0)
    with pytest.raises(InputError) as refused:
        fit_from_trace(certain)
    assert str(refused.value) == f"{certain}:1: calibrate needs a threshold between 0 and 1, this trace has 1.0"


def test_every_figure_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workloads, one with published tokens per pass and one with nothing, then two traces; with progress."""
    names = ["llada2.0-mini", "tool-call"]
    monkeypatch.setattr("clover_sim.diffusion_checks.workload_names", lambda: names)
    monkeypatch.setattr("clover_sim.diffusion_checks.SAMPLE_SEQUENCES", 2)
    first, other = trace(tmp_path / "a.jsonl", "code", 0.9), trace(tmp_path / "b.jsonl", "code", 0.7)
    seen: list[Any] = []
    rows = check_diffusion([first, other], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4)]
    published = [row for row in rows if row.workload in names]
    wanted = [workload_figures(load_workload(name)) for name in names]
    assert len(published) == sum(wanted) > 0
    of_traces = [row for row in rows if row not in published]
    assert [(row.source, row.fitted) for row in of_traces] == [(first, True)] * 3 + [(other, False)] * 3
    assert of_traces[-1].holds is None  # below 0.8 there is no bar


def workload_figures(workload: Workload) -> int:
    rows = [row for row in workload.published if "threshold" in row or "fixed" in row]
    return sum(("tokens_per_pass" in row) + ("accuracy" in row) for row in rows)


def test_a_figure_as_plain_values() -> None:
    one = Checked("w", "s", "q", 2.0, 2.1, 0.05, 0.05, False, "x")
    assert one.to_dict() == {
        "workload": "w", "setting": "s", "quantity": "q", "published": 2.0, "model": 2.1, "error": 0.05, "bar": 0.05,
        "fitted": False, "source": "x", "holds": True,
    }  # fmt: skip
    assert Checked("w", "s", "q", 2.0, 1.8, -0.1, 0.05, False, "x").holds is False
    assert Checked("w", "s", "q", 2.0, 1.8, -0.1, None, False, "x").holds is None
