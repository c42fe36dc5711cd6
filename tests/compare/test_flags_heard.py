"""Flags of a comparison that would change nothing, hints that can be typed, and what was set by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.comparison import compare
from clover_sim.decoders.mtp import MultiTokenPrediction

FIXED = ["compare", "-s", "ar", "--tokens", "64", "--cost", "fixed:pass_ms=3"]


def test_a_given_time_a_pass_has_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    for flag, value in (("--model", "qwen3-8b"), ("--gpu", "h100"), ("--engine", "vllm"), ("--precision", "fp8"),
                        ("--tensor-parallel-size", "2"), ("--calibration", "nosuch")):  # fmt: skip
        assert main([*FIXED, flag, value]) == 2
        said = f"clover-sim compare: error: {flag}: --cost fixed gives the time of every pass; leave it out\n"
        assert capsys.readouterr() == ("", said)
    assert main([*FIXED, "--format", "json"]) == 0
    rules = json.loads(capsys.readouterr().out)["rules"]
    assert rules["cost"] == "fixed:pass_ms=3" and "gpu" not in rules and "model" not in rules
    assert main([*FIXED, "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "h200" not in page


def test_what_cannot_be_recorded_is_said_before_anything_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, table = tmp_path / "run.jsonl", tmp_path / "t.csv"
    words = ["compare", "-s", "ar", "--tokens", "64", "--record", str(path), "--export", str(table)]
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert "recording needs a strategy of block diffusion" in shown.err
    assert not path.exists() and not table.exists()
    assert main([*words, "-s", "block-diffusion"]) == 0
    assert len(path.read_text().splitlines()) == 1


def test_the_hint_beside_a_schedule_can_be_typed() -> None:
    notes = compare("speculative:parallel_draft=true", tokens=64, schedule=[[1, 4, 3]]).notes
    assert any("-s speculative alone drafts them one by one" in note for note in notes)


def test_a_draft_length_that_nobody_gave() -> None:
    def said(given: Any, **more: Any) -> list[str]:
        return [note for note in compare(given, tokens=64, **more).notes if "Draft length" in note]

    assert said(["ar", "mtp", "eagle3"]) == [
        "Draft length not given, so by default: mtp K=1, eagle3 K=3; num_speculative_tokens sets another."
    ]
    stated = "mtp:num_speculative_tokens=1", "mtp:speculative_num_draft_tokens=4"
    for given in ("ar", *stated, MultiTokenPrediction(2), None):
        assert said(given) == []
    assert said("mtp", schedule=[[1, 4, 1]]) == []
