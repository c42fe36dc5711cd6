"""Comparisons over traces: a row a sequence under its own rule, exactly as recorded, or strategies on all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.errors import InputError
from clover_sim.trace_comparison import compare_recordings
from traces.test_forms import sequence, write


def test_one_row_a_sequence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", sequence(), sequence(id="u"), {"step_map": [1, 1, 2, 3], "block_size": 4})
    result = compare_recordings(path)
    assert [(r["stream"], r["strategy"], r["target_passes"]) for r in result.rows] == [
        ("s", "block-diffusion", 3), ("u", "block-diffusion", 3), ("2", "recorded", 3),
    ]  # fmt: skip
    assert [r["locked_errors"] is None for r in result.rows] == [False, False, True]
    assert result.inputs[0]["name"] == "t.jsonl" and len(result.inputs[0]["sha256"]) == 64
    assert any("can tell" in note for note in result.notes)
    assert result.to_dict()["rows"]


def test_strategies_on_every_sequence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", sequence(), sequence(id="u"))
    seen: list[tuple[int, int]] = []
    strategies = ["ar", "block-diffusion:block_size=2,threshold=0.4"]
    result = compare_recordings(path, strategies, progress=lambda done, total: seen.append((done, total)))
    assert [(r["stream"], r["target_passes"]) for r in result.rows] == [("s", 4), ("s", 2), ("u", 4), ("u", 2)]
    assert seen == [(1, 2), (2, 2)]
    assert any("is approximate" in note for note in result.notes)


def test_a_form_that_cannot_answer_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", {"step_map": [1, 1, 2, 3], "block_size": 4})
    with pytest.raises(InputError, match="it can tell: passes"):
        compare_recordings(path, ["ar", "block-diffusion"])
    assert compare_recordings(path, ["ar"]).rows[0]["locked_errors"] == 0
