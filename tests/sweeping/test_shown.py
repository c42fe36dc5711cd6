"""What a sweep shows: the front alone where there are many rows, a picture of it, and what a Ctrl-C leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.sweeping import sweep
from clover_sim.sweeping._judge import near_front
from clover_sim.sweeping._work import run_chunk

GRID = ["--vary", "threshold=0.5:0.99:0.02", "--vary", "block_size=8,32", "--profile", "tool-call"]
LENGTHS = ["--tokens", "64,128"]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("COLUMNS", "120")

    def show(*words: str) -> str:
        assert main(["sweep", *words]) == 0
        return capsys.readouterr().out

    return show


def naive_front(rows: list[dict[str, Any]]) -> list[int]:
    """Rows that no other is at least as good as in both and better in one; of equals the first."""
    points = [(row["speedup_time"], -row["locked_errors"] / row["tokens"]) for row in rows]
    return [
        i for i, (x, y) in enumerate(points)
        if not any(a >= x and b >= y and (a > x or b > y or j < i) for j, (a, b) in enumerate(points) if j != i)
    ]  # fmt: skip


def test_many_rows_are_reduced_to_the_front(shown: Callable[..., str]) -> None:
    rows = json.loads(shown(*GRID, *LENGTHS, "--format", "json"))["rows"]
    front = naive_front(rows)
    text = shown(*GRID, *LENGTHS)
    assert f"Pareto front: {len(front)} rows of 100 (--all shows every row)" in text
    lines = [line.split() for line in text.splitlines() if line.startswith("block-diffusion")]
    assert [[line[1], line[2], line[3]] for line in lines] == [
        [rows[i]["varied"]["threshold"], rows[i]["varied"]["block_size"], str(rows[i]["tokens"])] for i in front
    ]  # lengths have a column of their own, though they are no axis
    assert shown(*GRID, *LENGTHS, "--all").count("\nblock-diffusion ") == 100


def test_the_picture_has_a_mark_for_the_best(shown: Callable[..., str]) -> None:
    text = shown(*GRID, *LENGTHS, "--where", "none")
    picture, legend = text[text.index("speed-up time\n") :].split("· a row   ● on the front   ◆ the best")[:2]
    assert picture.count("◆") == 1 and picture.rstrip().endswith("locked errors/1k") and legend
    # the best has the largest speed-up of all, so nothing stands above or beside it but other rows of that speed
    top = next(line for line in picture.splitlines()[1:] if any(mark in line for mark in "·●◆"))
    assert "◆" in top
    flat = shown("--vary", "threshold=0.5:0.6:0.05", "--vary", "block_size=8,32", "--tokens", "64")
    assert "locked errors/1k\n" not in flat  # no error anywhere: there is nothing to draw against


def test_where_nothing_meets_the_conditions_only_the_best_is_missing(shown: Callable[..., str]) -> None:
    text = shown(*GRID, *LENGTHS, "--where", "speedup_time>=1000", "--seeds", "0:2")
    head = " ".join(text.partition("\n\n")[0].split())
    assert head.startswith("tool-call stream · clover-35b-a3b on h200") and "mean of 2 seeds, 95% interval" in head
    assert "────" not in text.partition("\n\n")[2].partition("\n\n")[0].replace("└" + "─" * 72, "")  # no empty grid
    assert "0 rows of 100 (--all shows every row)" in text
    assert "None of 100 rows has speedup_time>=1000; closest: block-diffusion, " in " ".join(text.split())


def test_the_picture_shows_the_figure_that_was_asked_for(shown: Callable[..., str]) -> None:
    asked = ["--vary", "threshold=0.5:0.99:0.02", "--vary", "block_size=8,32", "--tokens", "128"]
    text = shown(*asked, "--where", "tok/s>=1000000")
    assert "\ntok/s\n" in text and "speed-up time\n" not in text
    assert "\nspeed-up time\n" in shown(*asked)


def test_no_row_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--vary", "threshold=0.5,0.9", "--gpu", "rtx-3060", "--tokens", "64"]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    head, _, rest = out.partition("no rows\n")
    assert " ".join(head.split()).startswith("reference stream · 64 tokens · clover-35b-a3b on rtx-3060 · bf16")
    assert rest == "\n- 2 cells do not fit on the card and get no row.\n- No cell gave a row.\n"
    assert err.startswith("clover-sim sweep: warning: refused: 2 of 2 cells; the first: clover-35b-a3b at bf16 needs ")


@pytest.mark.parametrize("resume", [False, True])
def test_ctrl_c_shows_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, resume: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 100)
    words = ["sweep", "--vary", "threshold=0.6,0.7,0.8,0.9", "--tokens", "100", "--jobs", "1", "--format", "csv"]
    assert main(words) == 0
    whole = capsys.readouterr().out.splitlines()
    done: list[Any] = []

    def stop(chunk: Any) -> Any:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(chunk)
        return run_chunk(chunk)

    monkeypatch.setattr("clover_sim.sweeping._pool.run_chunk", stop)
    assert main([*words, *(["--resume", "cells.jsonl"] if resume else [])]) == 130
    out, err = capsys.readouterr()
    assert [line.rsplit(",", 1)[0] for line in out.splitlines()] == [line.rsplit(",", 1)[0] for line in whole[:3]]
    kept = "they are in cells.jsonl; the same command goes on" if resume else "add --resume FILE to keep them"
    assert err == f"clover-sim sweep: warning: interrupted after 2 of 4 cells; {kept}\n\nclover-sim: interrupted\n"
    if resume:
        monkeypatch.setattr("clover_sim.sweeping._pool.run_chunk", run_chunk)
        assert main([*words, "--resume", "cells.jsonl"]) == 0
        assert capsys.readouterr().out.splitlines() == whole


def test_ctrl_c_before_anything_was_done(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_chunk: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("clover_sim.sweeping._pool.run_chunk", stop)
    assert main(["sweep", "--vary", "threshold=0.6", "--tokens", "100", "--format", "html"]) == 130
    assert capsys.readouterr() == (
        "", "clover-sim sweep: warning: interrupted after 0 of 1 cells; add --resume FILE to keep them\n\nclover-sim: "
        "interrupted\n",
    )  # fmt: skip


def test_warnings_stand_beside_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--vary", "batch_size=1,20000", "--prompt-tokens", "8000", "--tokens", "64"]
    assert main([*words, "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2 and err.startswith("clover-sim sweep: warning: refused: 1 of 2 cells; ")
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_rows_beaten_for_sure_are_not_near_the_front() -> None:
    rows = [{"speedup_time": speed, "locked_errors": 1, "tokens": 1000} for speed in (3.0, 2.0)]
    samples = {0: {"speedup_time": [2.9, 3.1, 3.0], "locked_errors": [1.0, 1.0, 1.0]},
               1: {"speedup_time": [2.0, 2.0, 2.0], "locked_errors": [1.0, 1.0, 1.0]}}  # fmt: skip
    figures = ("speedup_time", "locked_errors_per_1k")
    assert near_front(rows, [0, 1], [0], figures, samples) == 0
    close = {**samples, 1: {**samples[1], "speedup_time": [2.9, 3.2, 2.9]}}
    assert near_front(rows, [0, 1], [0], figures, close) == 1
    assert near_front(rows, [0, 1], [0], figures, {}) is None


def test_an_axis_of_one_value_is_shown_with_it() -> None:
    swept = sweep(vary=["model=qwen3-8b", "profile=code", "batch_size=1,8"], tokens=64)
    assert {(row["varied"]["model"], row["varied"]["profile"]) for row in swept.rows} == {("qwen3-8b", "code")}
