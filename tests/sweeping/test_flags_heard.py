"""No flag of a sweep is set aside without a word, and no value is swept twice under two names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.errors import UsageError
from clover_sim.sweeping import sweep


def test_a_calibration_prices_a_sweep_as_it_prices_a_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, cells = str(tmp_path / "own.toml"), str(tmp_path / "cells.jsonl")
    machine = ["--model", "qwen3-8b", "--gpu", "h100", "--engine", "vllm"]
    assert main(["calibrate", "--measured-tokens-per-s", "70", *machine, "--export", file]) == 0
    common = ["-s", "ar", "--tokens", "64", *machine, "--calibration", file, "--format", "json"]
    capsys.readouterr()
    assert main(["sweep", *common, "--vary", "batch_size=1,8", "--resume", cells]) == 0
    swept = json.loads(capsys.readouterr().out)["rows"]
    for row, batch in zip(swept, ("1", "8"), strict=True):
        assert main(["compare", *common, "--batch-size", batch]) == 0
        assert row["latency_s"] == json.loads(capsys.readouterr().out)["rows"][0]["latency_s"]
    assert swept[0]["tokens_per_s"] == pytest.approx(70, rel=0.02)
    text = Path(file).read_text()
    Path(file).write_text(text + "# read again\n")
    assert main(["sweep", *common, "--vary", "batch_size=1,8", "--resume", cells]) == 3
    assert "belongs to another sweep" in capsys.readouterr().err


REFUSED = [
    (["--calibration", "nosuch"], 3, "nosuch: no such file"),
    (["--trace", "nosuch"], 2, "--trace: a sweep makes its streams anew for each cell"),
    (["--vary", "gpu=h100,h200", "--cost", "fixed:pass_ms=3"], 2, "vary gpu: a fixed cost is the time of a pass on"),
    (["--gpu", "h100", "--model", "qwen3-8b", "--cost", "fixed:pass_ms=3"], 2, "model, gpu: a fixed cost"),
    (["--calibration", "nosuch", "--cost", "fixed:pass_ms=3"], 2, "calibration: a fixed cost"),
    (["--vary", "cost=fixed:pass_ms=3,fixed:pass_ms=4", "--gpu", "h100"], 2, "gpu: a fixed cost"),
    *(
        (["--vary", f"{key}={value}", f"--{key.replace('_', '-')}", value], 2, f"vary {key}: {key} is given too")
        for key, value in {
            "batch_size": "4", "prompt_tokens": "9", "max_new_tokens": "60", "kv_write": "fused", "eos_stop": "canvas",
            "align": "absolute", "profile": "code",
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "said"), REFUSED, ids=[" ".join(words) for words, _, _ in REFUSED])
def test_what_would_change_nothing_is_refused(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "--vary", "threshold=0.8,0.9", "--tokens", "64", *words]) == code
    shown = capsys.readouterr()
    assert shown.out == "" and said in shown.err and shown.err.count("\n") == 1


def test_from_python_too() -> None:
    with pytest.raises(UsageError, match=r"^vary batch_size: batch_size is given too; give it in one place$"):
        sweep("ar", vary="batch_size=1,2", tokens=64, batch_size=1)
    mixed = sweep("ar", vary={"cost": ["roofline", "fixed:pass_ms=3"]}, tokens=64, machine={"gpu": "h100"})
    assert mixed.rows[1]["latency_s"] == pytest.approx(64 * 0.003) != mixed.rows[0]["latency_s"]


def test_help_does_not_name_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--trace" not in shown and "--calibration" in shown


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("threshold=0.90,0.9", "vary threshold: 0.90 and 0.9 are the same"),
        ("threshold=9e-1,0.8:0.9:0.1", "vary threshold: 9e-1 and 0.9 are the same"),
        ("threshold=0.8,0.8", "vary threshold: 0.8 is given twice"),
        ("batch_size=8,08", "vary batch_size: 8 and 08 are the same"),
        ("gpu=h100,nvidia-h100-sxm", "vary gpu: h100 and nvidia-h100-sxm are the same"),
    ],
)
def test_one_value_in_two_spellings(vary: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        sweep(vary=vary, tokens=64)
    assert str(caught.value) == said


def test_one_cell_that_does_not_fit_is_one() -> None:
    machine: dict[str, Any] = {"model": "qwen3-8b"}
    notes = sweep("ar", vary="gpu=rtx-3060,h100", tokens=64, machine=machine).notes
    assert "1 cell does not fit on the card and gets no row." in notes


def test_draft_lengths_that_nobody_gave() -> None:
    said = "Draft length not given, so by default: mtp K=1, eagle3 K=3; num_speculative_tokens sets another."
    machine = {"model": "qwen3-8b"}
    drafted = ["ar", "mtp", "eagle3", "speculative:num_speculative_tokens=4"]
    found = sweep(drafted, vary="batch_size=1,2", tokens=64, machine=machine)
    assert said in found.notes
    assert [r["options"].get("num_speculative_tokens") for r in found.rows[:4]] == [None, 1, 3, 4]
    for known in (["mtp:num_speculative_tokens=2"], ["mtp:speculative_num_draft_tokens=3"]):
        assert not any("Draft length" in n for n in sweep(known, vary="batch_size=1", tokens=64, machine=machine).notes)
    varied = sweep("mtp", vary="num_speculative_tokens=1,2", tokens=64, machine=machine)
    assert not any("Draft length" in note for note in varied.notes)
