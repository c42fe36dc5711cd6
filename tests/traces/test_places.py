"""Where a trace is at fault, what is recorded beyond its text, and which of its settings is fitted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.diffusion_checks import check_traces
from clover_sim.errors import InputError
from clover_sim.physics.extremes import mixed_stream
from clover_sim.recorder import record, write_records
from clover_sim.registry import build_strategy
from clover_sim.streams.traces import read_trace
from clover_sim.streams.workloads import ContextSettings, open_context
from traces.test_forms import sequence, write


def refused(path: str) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(path)
    return str(caught.value).removeprefix(path)


def test_record_and_trace_are_refused_before_anything_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "t.jsonl", sequence())
    assert main(["compare", "--trace", path, "--record", str(tmp_path / "r")]) == 2
    said = "clover-sim compare: error: --record writes what --trace reads: they cannot go together\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(("rule", "writes"), [("separate", [1, 1]), ("none", [0, 0])])
def test_writes_beyond_the_text_are_not_recorded(rule: str, writes: list[int]) -> None:
    """40 tokens are two blocks of 32; the two that pad the canvas to 128 are nobody's."""
    _, decoder = build_strategy("block-diffusion")
    _, entry = record(decoder, mixed_stream(40), kv_write=rule, max_new_tokens=128, eos_stop="canvas")
    assert [sum("kind" in p for p in block["passes"]) for block in entry["blocks"]] == writes


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([1, 2], "block 6: the step map has 2 entries, others 4: block sizes are mixed"),
        ([1, 2, "x", 3], "block 6: step of token 2 is 'x': expected a whole number of at least 0"),
    ],
)
def test_the_line_of_a_block_of_steps(tmp_path: Path, steps: list[Any], said: str) -> None:
    maps = [{"request": 0, "block": b + 5, "size": 4, "step_map": [1, 2, 2, 3]} for b in range(3)]
    maps[1]["step_map"] = steps
    assert refused(write(tmp_path / "t.jsonl", *maps)) == f":2: {said}"


def test_a_key_that_nobody_asked_for_is_ignored(tmp_path: Path) -> None:
    [found] = read_trace(write(tmp_path / "t.jsonl", {"step_map": [1, 2, 2, 3], "step_maps": 5}))
    assert (len(found), found.passes) == (4, 3)


def test_a_judgement_that_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", sequence(wrong=[True, 2, False, False]))
    assert refused(path) == ":1: 'wrong' of position 1 is 2: expected true or false"


def test_a_trace_from_a_closed_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["compare", "--trace", "-"]) == 3
    said = "clover-sim compare: error: standard input: is closed; give a file\n"
    assert capsys.readouterr() == ("", said)


def test_only_the_first_setting_of_a_domain_is_fitted(tmp_path: Path) -> None:
    lines = []
    for bar in (0.9, 0.95):
        _, decoder = build_strategy(f"block-diffusion:threshold={bar},block_size=16")
        _, line = record(decoder, open_context("context", 96, ContextSettings("code", 3)), strategy="block-diffusion")
        lines.append({**line, "domain": "d"})
    write_records(path := str(tmp_path / "t.jsonl"), lines)
    fitted = {(row.setting, row.fitted) for row in check_traces(path, [], copies=1)}
    assert fitted == {("threshold 0.9, block 16", True), ("threshold 0.95, block 16", False)}
