"""The commands: price, validate and calibrate as processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clover_sim.cli import main

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


def cli(*args: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "clover_sim", *map(str, args)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_price_prints_eighty_columns_and_the_same_figures_as_json() -> None:
    words = ("price", "--model", "qwen3.6-35b-a3b", "--gpu", "h200", "--width", "1,8,32", "--batch-size", "1,4")
    table, machine = cli(*words), cli(*words, "--format", "json")
    assert table.returncode == machine.returncode == 0
    assert max(map(len, table.stdout.splitlines())) <= 80
    for word in ("experts", "indep.", "low", "high", "bound", "memory", "longest context", "J at most"):
        assert word in table.stdout
    passes = json.loads(machine.stdout)["passes"]
    assert len(passes) == 6
    assert f"{passes[0]['latency_s'] * 1e3:.2f}" in table.stdout


def test_a_precision_overrides_the_file_and_the_head_stays_wide(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
        "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128},
    }))  # fmt: skip
    sizes = []
    for words in ((), ("--precision", "fp8"), ("--precision", "bf16")):
        out = json.loads(cli("price", "--model", tmp_path, "--engine", "kernels", *words, "--format", "json").stdout)
        sizes.append(out["passes"][0]["weight_bytes"])
        assert out["model"]["kv_bytes_per_token"] == 131_072
    assert sizes[0] == pytest.approx(4.68e9, rel=0.01)
    assert sizes[1] == pytest.approx(525_336_576 * 2 + 6_979_584_000 * 8.06 / 8, rel=0.001)
    assert sizes[2] == pytest.approx(7_504_924_672 * 2)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("price", "--gpu", "h2000"), 2), (("price", "--model", "nothing-here.json"), 3),
        (("price", "--width", "0"), 2),
        (("price", "--weight-gb", "5", "--precision", "fp8"), 2), (("price", "--active-b", "3"), 2),
        (("price", "--calibration", "nothing-here.toml"), 3), (("price", "--export", "x.svg"), 2),
        (("price", "--gpu", "h100", "--gpu-bandwidth-tb-s", "3"), 2), (("validate", "--measurements", "no.json"), 3),
        (("calibrate",), 2), (("calibrate", "--measured-tokens-per-s", "5"), 2),
        (("calibrate", "--measured-tokens-per-s", "9999", "--model", "qwen3-8b", "--gpu", "h100"), 3),
        (("calibrate", "--measured-tokens-per-s", "nan", "--model", "qwen3-8b", "--gpu", "h100"), 2),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused_in_one_line(words: tuple[str, ...], code: int) -> None:
    found = cli(*words)
    assert found.returncode == code and not found.stdout
    assert len(found.stderr.splitlines()) == 1


def test_validate_prints_rows_and_summary() -> None:
    found = json.loads(cli("validate", "--format", "json").stdout)
    summary = found["summary"]
    assert {"rows", "median_abs_error", "p90_abs_error", "bias", "skipped", "distinct_rows"} <= set(summary)
    assert summary["rows"] == len(found["rows"]) >= 120
    assert {"id", "measured", "predicted", "error"} <= set(found["rows"][0])
    text = cli("validate", "--rows", "none").stdout
    assert "9 in 10" in text and "engine vllm" in text


def test_calibrate_writes_what_price_takes(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    words = ("--model", "llama-3.1-8b", "--gpu", "h100")
    found = cli("calibrate", "--measured-tokens-per-s", "120", *words, "--export", path)
    assert found.returncode == 0 and path.read_text() == found.stdout
    out = json.loads(cli("price", *words, "--calibration", path, "--format", "json").stdout)
    assert out["passes"][0]["tokens_per_s"] == pytest.approx(120)
    speed, batch = "--measured-tokens-per-s", "--batch-size"
    pairs = (speed, "120", speed, "3000", batch, "1", batch, "32")
    two = json.loads(cli("calibrate", *pairs, *words, "--format", "json").stdout)
    assert len(two["measured"]) == 2 and two["max_abs_error"] < 0.05


@pytest.mark.parametrize("broken", ["first", "second"])
def test_traces_are_read_before_anything_is_worked_out(broken, tmp_path, monkeypatch, capsys):
    """Half a minute of figures is no use to somebody whose trace cannot be read."""
    from clover_sim import build_strategy, diffusion_checks, open_stream, record, write_records

    def too_early(*_given, **_named):
        raise AssertionError("worked out before the traces were read")

    monkeypatch.setattr(diffusion_checks, "check_workload", too_early)
    monkeypatch.setattr(diffusion_checks, "fit_recordings", too_early)
    _, line = record(build_strategy("block-diffusion:threshold=0.9")[1], open_stream("context", 64))
    good = str(tmp_path / "good.jsonl")
    write_records(good, [line])
    missing = str(tmp_path / "nosuch.jsonl")
    asked = {"first": [missing], "second": [good, missing]}[broken]
    assert main(["validate", "--diffusion", *(word for path in asked for word in ("--trace", path))]) == 3
    assert capsys.readouterr().err.startswith(f"clover-sim validate: error: {missing}: ")
