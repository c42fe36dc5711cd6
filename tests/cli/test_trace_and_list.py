"""``trace`` and ``list``."""

from __future__ import annotations

import json

import pytest

from clover_sim.cli import main
from clover_sim.report import formats


def run(capsys, *args):
    assert main(list(args)) == 0
    return capsys.readouterr().out


def test_trace_shows_structure_settling_before_values(capsys):
    document = json.loads(run(capsys, "trace", "--format", "json"))
    assert document["schema"] == "clover-sim/trace/1"
    settled = {p: step["index"] for step in document["passes"] for p in step["committed"]}
    by_class = {}
    for offset, name in enumerate(document["classes"]):
        by_class.setdefault(name, []).append(settled[document["start"] + offset])
    means = {name: sum(passes) / len(passes) for name, passes in by_class.items()}
    assert means["structural"] < means["common"] < means["rare"]
    text = run(capsys, "trace")
    assert "positions 0 to 31" in text and "[.9" in text


def test_trace_takes_another_block_and_another_strategy(capsys):
    text = run(capsys, "trace", "--block", "1", "-s", "block-diffusion:block_size=16")
    assert "positions 16 to 31" in text
    assert "decode passes" in run(capsys, "trace", "-s", "ar")


def test_forced_commits_are_marked(capsys):
    text = run(
        capsys, "trace", "-s", "block-diffusion:threshold=0.999,block_size=4", "--profile", "reference:lift=0.001"
    )
    assert "<." in text


def test_trace_exports(capsys, tmp_path):
    run(capsys, "trace", "--export", str(tmp_path / "t.json"), "--export", str(tmp_path / "t.txt"), "-q")
    assert json.loads((tmp_path / "t.json").read_text())["schema"] == "clover-sim/trace/1"
    assert "positions 0 to 31" in (tmp_path / "t.txt").read_text()


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("strategies", "block-diffusion"),
        ("models", "clover-35b-a3b"),
        ("gpus", "h200"),
        ("engines", "sglang"),
        ("profiles", "reference"),
        ("columns", "speedup_time"),
    ],
)
def test_lists(capsys, topic, name):
    document = json.loads(run(capsys, "list", topic, "--format", "json"))
    assert document["schema"] == "clover-sim/list/1" and document["topic"] == topic
    assert name in [item["name"] for item in document["items"]]
    assert name in run(capsys, "list", topic)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("topic", ["strategies", "models", "gpus", "profiles", "columns"])
def test_lists_fit_the_terminal(capsys, monkeypatch, topic, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run(capsys, "list", topic).splitlines())) <= width


def test_commands_are_found_and_described(capsys):
    text = run(capsys)
    assert all(f"\n  {name} " in text for name in ("compare", "list", "trace"))
    assert text.count("\n  clover-sim compare") == 2
    assert run(capsys, "help", "trace") == run(capsys, "trace", "--help")


def test_help_names_every_format_and_fits(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run(capsys, "compare", "--help")
    assert f"{', '.join(formats())} (default table)" in " ".join(text.split())
    assert max(map(len, text.split("examples:")[0].splitlines())) <= 80


def test_without_docstrings_no_signature_stands_in_for_a_summary():
    import subprocess
    import sys

    from cli.harness import environment

    command = [sys.executable, "-OO", "-m", "clover_sim", "list", "strategies", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True, timeout=60)
    items = {item["name"]: item for item in json.loads(done.stdout)["items"]}
    assert items["block-diffusion"]["summary"] == "" and "threshold=0.95" in items["block-diffusion"]["options"]
