"""What ``serve`` says of its load, of an interruption, and of published curves; the ladder as rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.report import Look
from clover_sim.report._serve import published_rows, render_published
from clover_sim.serving.core import Server
from clover_sim.serving.run import Traffic, serve

QUICK = ["--pool", "20", "--requests", "30", "-s", "ar", "-s", "block-diffusion"]


def test_users_and_their_pauses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *QUICK, "--users", "4", "--think-s", "1.5", "--ladder", "none"]) == 0
    assert "\n30 requests of 4 users, 1.5 s between them\n" in capsys.readouterr().out


def test_the_ladder_as_rows() -> None:
    found = serve(["ar", "block-diffusion"], Traffic(requests=30, users_ladder=(1, 4)), pool=20)
    rows = found.ladder_dicts()
    assert [(row["users"], row["strategy"]) for row in rows] == [
        (1, "ar"), (1, "block-diffusion"), (4, "ar"), (4, "block-diffusion")
    ]  # fmt: skip
    for row in rows:
        assert row["tokens_per_s"] == pytest.approx(row["users"] * row["tokens_per_s_each"])
        step = next(step for step in found["ladder"] if step["users"] == row["users"])
        assert step["strategies"][row["strategy"]].items() <= row.items()


@pytest.mark.parametrize(("runs", "rows", "steps"), [(0, 0, 0), (2, 0, 1), (4, 0, 2), (5, 0, 2), (6, 1, 2)])
def test_an_interrupted_server_shows_what_it_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, runs: int, rows: int, steps: int
) -> None:
    """Two strategies: the runs of each step of the ladder, one for the usual rate, then one each for the load."""
    left, whole = [runs], Server.run

    def run(self: Server, *args: Any, **options: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return whole(self, *args, **options)

    monkeypatch.setattr(Server, "run", run)
    for form in ("json", "table"):
        left[0] = runs
        assert main(["serve", *QUICK, "--ladder", "1,4", "--format", form]) == 130
        out, err = capsys.readouterr()
        assert err == "clover-sim serve: warning: interrupted: only what was finished is shown\n"
        if form == "json":
            document = json.loads(out)
            assert document["interrupted"] and len(document["rows"]) == rows and len(document["ladder"]) == steps
        else:
            assert "- Interrupted: what stands above is what was finished.\n" in out


CURVES: dict[str, Any] = {
    "curves": [
        {"name": "drafts on a card", "measure": "gain", "source": "a table", "note": "of one model", "points": [
            {"users": 1, "published": 2.0, "predicted": 2.2, "error": 0.1, "within": True, "same_side": True},
            {"users": 64, "published": 1.1, "predicted": 0.88, "error": -0.2, "within": True, "same_side": False},
            {"users": 256, "published": 0.5, "predicted": 1.25, "error": 1.5, "within": False, "same_side": False}]},
        {"name": "blocks", "measure": "rise", "source": "a figure", "note": "", "points": [
            {"users": 1, "published": 1.0, "predicted": 1.0, "error": 0.0, "within": True, "same_side": None},
            {"users": 8, "published": 4.0, "predicted": 3.0, "error": -0.25, "within": False, "same_side": None}]},
    ],
    "points": 5, "within": 3, "tolerance": 0.2, "gains": 3, "same_side": 1,
}  # fmt: skip

SHOWN = """\
drafts on a card
  gain over plain decoding; a table
  users  published  predicted  error
  -----  ---------  ---------  -----  ---------------
      1       2.00       2.20   +10%
     64       1.10       0.88   -20%  wrong side
    256       0.50       1.25  +150%  off, wrong side
  of one model.

blocks
  speed over that of one user; a figure
  users  published  predicted  error
  -----  ---------  ---------  -----  ---
      1       1.00       1.00    +0%
      8       4.00       3.00   -25%  off

3 of 5 points within 20%; side of 1.0 right in 1 of 3 gains.
"""


def test_published_curves_are_shown_with_their_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert render_published(CURVES, Look(width=80, unicode=False)) == SHOWN
    rows = published_rows(CURVES)
    assert [(row["curve"], row["users"]) for row in rows] == [
        ("drafts on a card", 1), ("drafts on a card", 64), ("drafts on a card", 256), ("blocks", 1), ("blocks", 8)
    ]  # fmt: skip
    assert rows[2] == {"curve": "drafts on a card", "measure": "gain", **CURVES["curves"][0]["points"][2],
                       "source": "a table"}  # fmt: skip
    monkeypatch.setattr("clover_sim.serving.published.check_published", lambda _progress: CURVES)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["serve", "--published"]) == 0
    assert capsys.readouterr().out.replace("─", "-") == SHOWN
    assert main(["serve", "--published", "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") == 6


def said_of(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["serve", "--pool", "20", *words.split()]) == 0
    return " ".join(capsys.readouterr().out.split())


GROWS = "Waits grow with every second of this load"


@pytest.mark.parametrize("requests", [40, 60, 200, 2000])
def test_a_short_run_is_no_queue_that_grows(requests: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"--model llama-3.1-8b --gpu h100 --ladder none -s ar --requests {requests}"
    for load in ("", "--rate 1", "--rate 5", "--users 30"):
        assert "grow" not in said_of(f"{words} {load}", capsys)


def test_a_queue_that_grows_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = "--model llama-3.1-8b --gpu h100 --ladder none -s ar"
    assert f"{GROWS} (ar by" in said_of(f"{words} --rate 50 --requests 2000", capsys)
    log = tmp_path / "log.csv"
    log.write_text("timestamp,prompt_tokens,completion_tokens\n" + "".join(f"{i / 50},1000,200\n" for i in range(1500)))
    assert f"{GROWS} (ar by" in said_of(f"{words} --log {log}", capsys)


def test_a_log_without_times_comes_all_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("prompt_tokens,completion_tokens\n" + "50,9\n" * 30)
    assert main(["serve", "--pool", "20", "--ladder", "none", "-s", "ar", "--log", str(log)]) == 0
    out, err = capsys.readouterr()
    assert "30 requests of a log, all at once" in out and GROWS not in out and "prompts as logged" in out
    assert err.count("\n") == 1 and "no column of times that is known" in err and str(log) in err


def test_nothing_stops_that_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    quick = "--requests 20 -s ar -s block-diffusion"
    alone = said_of(f"{quick} --ladder 1", capsys)
    assert "block-diffusion beats ar on the one step of the ladder" in alone and "Why it stops" not in alone
    assert "Why block-diffusion wins alone" in alone and "Why its gain" not in alone
    on = said_of(f"{quick} --ladder 1,8", capsys)
    assert "beats ar up to the 8 users" in on and "Why it stops" not in on and "Why its gain falls" in on
    off = said_of(f"{quick} --ladder 1,512 --max-batch 512", capsys)
    assert "stops winning at" in off and "Why it stops: with 512 users" in off


def test_a_ladder_that_begins_with_many_says_nothing_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    text = said_of("--requests 20 -s ar -s block-diffusion --ladder 8,16", capsys)
    assert "x for 8 users" in text and "for one user" not in text and "wins alone" not in text
    (one,) = serve(["ar", "block-diffusion"], Traffic(requests=20, users_ladder=(8, 16)), pool=10)["crossovers"]
    assert one["gain_of_one_user"] is None and one["least_users"] == 8
    assert one["gain_at_least_users"] <= one["best_gain"]


@pytest.mark.parametrize("more", [{"users_ladder": ()}, {"users_ladder": (1,)}, {"users_ladder": (1, 512)}])
def test_the_usual_rate_is_half_of_what_the_first_can_take(more: dict[str, Any]) -> None:
    usual = serve("ar", Traffic(requests=20, users_ladder=(1, 64, 256)), pool=10)
    most = max(step["strategies"]["ar"]["tokens_per_s"] for step in usual["ladder"]) / 200
    assert usual["load"]["rate_per_s"] == pytest.approx(most / 2, rel=0.01)
    found = serve("ar", Traffic(requests=20, **more), pool=10)
    assert found["load"]["rate_per_s"] == pytest.approx(usual["load"]["rate_per_s"], rel=0.02)
    small = serve("ar", Traffic(requests=20, users_ladder=more["users_ladder"][1:]), pool=10, batch=2)
    alone = serve("ar", Traffic(requests=20, users_ladder=(2,)), pool=10, batch=2)
    assert small["load"]["rate_per_s"] == pytest.approx(alone["load"]["rate_per_s"], rel=0.02)


def test_a_schedule_is_in_the_document() -> None:
    traffic = Traffic(requests=20, users_ladder=(1,), output_tokens=(100, 300))
    found = serve(["ar", "eagle3"], traffic, pool=20, schedule=((1, 2), (32, 0)))
    assert found["settings"]["draft_schedule"] == "1:2,32:0"
    assert found.rows[1]["strategy"] == "eagle3, scheduled"
    options = found.rows[1]["options"]
    assert options["num_speculative_tokens"] == "1:2,32:0" and options["speculative_num_draft_tokens"] == "1:3,32:1"
    assert found["settings"]["output_tokens"] == [100, 300]  # as asked, not as the pool came out
    assert serve("ar", Traffic(requests=20, users_ladder=()), pool=2)["settings"]["draft_schedule"] is None


@pytest.mark.parametrize("words", [
    "--requests 1", "--requests 1 --users 1", "--requests 1 --output-tokens 1", "--requests 2 --max-batch 1 --ladder 2",
])  # fmt: skip
def test_one_of_a_kind_is_not_several(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    ladder = "" if "--ladder" in words else "--ladder 1 "
    text = said_of(f"{ladder}{words} -s ar -s block-diffusion".replace("--pool 20", "--pool 1"), capsys)
    assert not re.search(r"(?<![\d.,])1 (requests|users|tokens|ledgers|groups)\b", text)
    assert " to 1 " not in text
