"""Every published claim gets a verdict; sums come out exactly."""

from __future__ import annotations

import json
import re

import pytest

from clover_sim.claims import VERDICTS, check_claim, check_claims, load_claims
from clover_sim.cli import main


@pytest.fixture(scope="module")
def rows():
    return {row["id"]: row for row in check_claims()["claims"]}


def test_every_claim_has_a_verdict(rows):
    assert len(rows) == 25 == len(load_claims())
    for row in rows.values():
        assert row["verdict"].startswith(VERDICTS), row
        assert row["why"] and row["claim"] and row["source"]


def test_sums_come_out_exactly(rows):
    for claim in load_claims():
        if claim["kind"] == "arithmetic":
            assert rows[claim["id"]]["verdict"] == "follows"
    assert rows["floor-1ms"]["simulated"] == {"pass_ms": 1.0, "total_s": 1.0}
    assert rows["agent-30s"]["simulated"] == {"passes": 2000, "total_s": 30.0}
    assert rows["joint-decisions"]["simulated"]["per_question"] == [0.956, 0.907, 0.683]


def test_a_wrong_sum_is_seen():
    claim = next(c for c in load_claims() if c["id"] == "agent-30s")
    assert check_claim({**claim, "total_s": 29.0}).verdict.startswith("contradicts")


def test_quality_is_never_simulated(rows):
    for name in ("scores", "repetition"):
        assert rows[name]["simulated"] == {} and rows[name]["verdict"] == "cannot be tested here"


def test_speeds_say_what_they_imply(rows):
    for name in ("clover-h200", "clover-gb300"):
        one = rows[name]
        assert one["implied"]["tokens_per_pass_bf16"] > one["implied"]["tokens_per_pass_fp8"] > 1
    stated = rows["clover-h200"]["implied"]
    found = rows["clover-h200"]["simulated"]
    assert stated["tokens_per_pass_bf16"] == pytest.approx(515 * found["pass_ms_bf16"] / 1e3, rel=1e-3)
    assert rows["clover-5070ti"]["simulated"]["fits"] is False
    assert rows["windtunnel"]["simulated"]["success"] == pytest.approx(0.986, abs=5e-4)


def test_one_user_is_not_the_machine(rows):
    found = rows["throughput-not-latency"]["simulated"]
    assert found["gain_at_1_users"] > 1 > found["gain_at_512_users"]


def numbers(value) -> list[float]:
    """Every number in a structure of figures."""
    if isinstance(value, dict):
        return [n for v in value.values() for n in numbers(v)]
    if isinstance(value, (list, tuple)):
        return [n for v in value for n in numbers(v)]
    return [float(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def test_what_is_possible_under_a_condition_states_what_is_simulated(rows):
    """The number behind "simulated" is one of the figures, rounded, divided by the parts or as a percentage."""
    possible = [row for row in rows.values() if row["verdict"].startswith("possible if")]
    assert len(possible) > 10
    for row in possible:
        said = row["verdict"].partition("simulated")[2]
        stated = re.search(r"\d[\d.]*\d|\d", said)
        assert stated, row["verdict"]
        digits = len(stated[0].partition(".")[2])
        known = {round(n / part, digits) for n in numbers(row["simulated"]) for part in (1, 5, 20, 0.01)}
        assert float(stated[0]) in known, row["verdict"]


def test_the_command(capsys, monkeypatch):
    assert main(["validate", "--claims", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["claims"][0]) >= {"id", "claim", "implied", "simulated", "verdict", "why"}
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["validate", "--claims"]) == 0
    text = capsys.readouterr().out
    assert "25 claims" in text and max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 2 * 25 + 6 and "..." not in text
    for row in document["claims"]:
        assert " ".join(row["verdict"].split()) in " ".join(text.split()), row["id"]
    assert main(["validate", "--claims", "--leave-out", "model"]) == 2


def test_one_claim_whole(capsys):
    assert main(["validate", "--claims", "clover-h200"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("clover-h200\n") and "floor-1ms" not in text
    for name in ("implied:", "simulated:", "verdict:", "why:", "source:"):
        assert name in text
    assert main(["validate", "--claims", "clover-h200", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert row == next(r for r in check_claims(only="clover-h200")["claims"])
    assert main(["validate", "--claims", "clover-h20"]) == 2
    err = capsys.readouterr().err
    assert "did you mean 'clover-h200'" in err and err.count("\n") == 1
    assert main(["validate", "--claims", "--diffusion"]) == 2
