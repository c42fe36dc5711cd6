"""What ``serve`` says of its load, of an interruption, and of published curves; the ladder as rows."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(("runs", "rows", "steps"), [(0, 0, 0), (2, 0, 1), (4, 0, 2), (5, 1, 2)])
def test_an_interrupted_server_shows_what_it_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, runs: int, rows: int, steps: int
) -> None:
    """Two strategies: the runs of each step of the ladder, then one each for the load."""
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
