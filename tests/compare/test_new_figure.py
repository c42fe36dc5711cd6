"""A figure is one entry in one file: a copy of the package gets one, and everything that shows figures has it."""

from __future__ import annotations

import csv
import doctest
import io
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import clover_sim
from clover_sim.columns import COLUMNS, MEASURED, OF_RUNS, QUALITY

KEY = "trial_passes_per_s"
ENTRY = """
    Column("trial_passes_per_s", "trial/\\ns", "passes/s", "figure", 11, "Passes / latency_s.", "high",
           lambda one: over(one.passes, one.latency_s)),
    Column("trial_errors_per_1k", "trial/\\n1k", "errors/1k tokens", "figure", None,
           "1000 locked_errors / tokens.", "low",
           lambda one: over(1000 * one.run.totals.locked_errors, one.tokens)),
)  # fmt: skip
"""
END = "\n)  # fmt: skip\n"


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Runs commands of a copy of the package whose list of columns has one entry more."""
    folder = tmp_path_factory.mktemp("figure")
    package = folder / "clover_sim"
    shutil.copytree(Path(clover_sim.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = (package / "columns.py").read_text(encoding="utf-8")
    assert source.count(END) == 1
    (package / "columns.py").write_text(source.replace(END, ENTRY), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}

    def run(command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "clover_sim", *command.split()], env=env, cwd=folder, capture_output=True, text=True,
            encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


COMPARE = "compare --tokens 64 --profile tool-call --seeds 0:3"


def test_a_row_has_it_as_the_ratio_of_the_sums_with_its_interval(ask):
    rows = json.loads(ask(f"{COMPARE} --format json"))["rows"]
    single = [json.loads(ask(f"compare --tokens 64 --profile tool-call --seeds {s} --format json"))["rows"][-1]
              for s in range(3)]  # fmt: skip
    passes = [row["target_passes"] + row["draft_passes"] for row in single]
    seconds = [row["latency_s"] for row in single]
    assert [row[KEY] for row in single] == pytest.approx([p / s for p, s in zip(passes, seconds, strict=True)])
    ratio = sum(passes) / sum(seconds)
    assert rows[-1][KEY] == pytest.approx(ratio)
    left = [p - ratio * s for p, s in zip(passes, seconds, strict=True)]
    # t for 2 degrees of freedom, from any printed table
    half = 4.303 * statistics.stdev(left) / math.sqrt(3) / statistics.mean(seconds)
    assert rows[-1][f"{KEY}_ci95"] == pytest.approx(half, rel=1e-3)


def test_every_format_has_it(ask):
    table = next(csv.DictReader(io.StringIO(ask(f"{COMPARE} --format csv"), newline="")))
    assert float(table[KEY]) > 0 and KEY + "_ci95" in table
    assert "trial/" in ask(f"compare --tokens 64 --columns {KEY}").splitlines()[2]
    assert "| trial/s |" in ask(f"compare --tokens 64 --columns {KEY} --format markdown")
    page = ask("compare --tokens 64 --format html")
    assert "trial/s" in page and f">{KEY}<" in page
    assert f"\n{KEY} " in ask("list columns")


def test_a_sweep_judges_by_it_and_knows_which_side_is_better(ask):
    command = f"sweep --vary batch_size=1,64 --tokens 64 --profile tool-call --seeds 0:3 --best {KEY} --where none"
    document = json.loads(ask(f"{command} --format json"))
    rows, best = document["rows"], document["best"]
    assert best["row"] == max(range(len(rows)), key=lambda i: rows[i][KEY]) and best["by"] == KEY
    assert any("paired" in note for note in document["notes"])
    assert KEY in ask(f"{command} --format csv").splitlines()[0]
    assert "trial/" in ask(command)
    assert "check failed" not in ask(f"compare --tokens 64 --fail-under {KEY}=0.001")


def test_what_is_made_of_errors_that_a_trace_does_not_tell_is_not_known(ask, tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text('{"step_map": [1, 1, 2, 3], "block_size": 4}\n')
    recorded, plain = (
        json.loads(ask(f"compare --trace {path}{more} --format json"))["rows"][0] for more in ("", " -s ar")
    )
    assert recorded["trial_errors_per_1k"] is None and recorded[KEY] > 0
    assert plain["trial_errors_per_1k"] == 0
    for name in ("html", "svg"):
        assert "errors not known" in ask(f"compare --trace {path} --format {name}")


def test_columns_are_of_the_run_or_of_the_question():
    asked = {"stream", "strategy", "options", "drafter", "eos_stop", "seeds"}
    assert {c.key for c in COLUMNS if c.value is None} == asked
    assert sorted(c.key for c in OF_RUNS) == sorted({c.key for c in COLUMNS} - asked)
    assert {c.key for c in OF_RUNS} - set(MEASURED) == {"tokens", "kv_write", "prefill_passes", "bound"}
    assert set(QUALITY) <= set(MEASURED)


@pytest.mark.parametrize("name", ["columns", "comparison.runs"])
def test_the_examples_hold(name):
    failed, tried = doctest.testmod(import_module(f"clover_sim.{name}"))
    assert tried and not failed
