"""``clover-sim sweep`` as a process: exports, killing, resuming, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SRC = str(Path(__file__).parents[2] / "src")
GRID = ["sweep", "--vary", "threshold=0.5:0.99:0.01", "--vary", "block_size=4,8,16,32", "--profile", "tool-call",
        "--tokens", "300", "--seeds", "0:3"]  # fmt: skip


def start(*words: str, **options) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": SRC, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        [sys.executable, "-m", "clover_sim", *words], env=env, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        encoding="utf-8", **options,
    )  # fmt: skip


def run(*words: str):
    process = start(*words)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_killed_and_resumed_the_bytes_are_the_same(tmp_path):
    full, again, cells = (str(tmp_path / name) for name in ("full.json", "again.json", "cells.jsonl"))
    assert run(*GRID, "--export", full)[0] == 0
    for seconds in (0.35, 0.5):
        process = start(*GRID, "--resume", cells, "--jobs", "2")
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)  # its workers end too, and let go of its pipes
    code, _, err = run(*GRID, "--resume", cells, "--export", again)
    assert code == 0, err
    assert Path(full).read_bytes() == Path(again).read_bytes()
    assert len(Path(cells).read_text().splitlines()) == 201


def test_every_format(tmp_path):
    files = [str(tmp_path / f"r.{end}") for end in ("json", "csv", "md", "txt", "svg", "html")]
    words = [word for file in files for word in ("--export", file)]
    code, out, err = run("sweep", "--vary", "threshold=0.8:0.95:0.05", "--tokens", "64", *words)
    assert code == 0 and "threshold" in out and err.count("wrote") == 6
    document = json.loads(Path(files[0]).read_text())
    assert document["schema"] == "clover-sim/sweep/1" and len(document["rows"]) == 4
    assert Path(files[1]).read_text().startswith("threshold,stream,tokens,")
    for name in ("json", "csv", "markdown", "svg", "html"):
        assert run("sweep", "--vary", "threshold=0.8,0.9", "--tokens", "64", "--format", name)[0] == 0


def test_nothing_but_the_result_is_written_to_a_pipe():
    code, out, err = run("sweep", "--vary", "threshold=0.5:0.99:0.01", "--tokens", "64")
    assert code == 0 and err == "" and "\r" not in out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--vary", "nothing=1"], 2),
        (["--vary", "threshold=1:0:0.1"], 2),
        (["--vary", "threshold=0.9", "--where", "x"], 2),
        (["--vary", "threshold=0.9", "--best", "speeed"], 2),
        (["--vary", "threshold=0.9", "--pareto", "latency_s,latency_s"], 2),
        (["--input", "no-such-file"], 3),
        (["--resume", "no/such/folder/x"], 3),
        (["--input", "-"], 2),
        (["--jobs", "0"], 2),
    ],
)
def test_slips(words, code):
    found, out, err = run("sweep", *words)
    assert found == code and out == "" and err.count("\n") == 1, err


def test_interrupted(tmp_path):
    process = start(*GRID, "--tokens" if False else "--jobs", "1", "--resume", str(tmp_path / "c"), "--allow-long")
    file = tmp_path / "c"
    end = time.monotonic() + 20
    while time.monotonic() < end and (not file.exists() or file.read_bytes().count(b"\n") < 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (130, 0) and "Traceback" not in err
    if process.returncode == 130:
        assert "the same command goes on" in err
