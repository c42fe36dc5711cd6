"""Ledger files at their limits: padding, more different passes than are kept, and columns that are asked for."""

from __future__ import annotations

import io
from typing import Any

import pytest

import clover_sim as cs
from clover_sim.cli import main
from clover_sim.cost import Machine, Roofline
from clover_sim.errors import InputError
from clover_sim.ledger_file import ledger_lines, price_recorded, read_ledger
from clover_sim.specs import load_engine, load_hardware, load_model

ABOUT: dict[str, Any] = {
    "stream": "tool-call", "tokens": 128, "strategy": "block-diffusion", "options": {}, "drafter": None, "seed": None,
    "kv_write": "none", "forced_commits": 0, "locked_errors": 0,
}  # fmt: skip


def batch(policy: str) -> str:
    """Two requests of 64 tokens, as a ledger file."""
    made = cs.Batch(policy, kv_write="none")
    for seed in (1, 2):
        made.admit(cs.build_strategy("block-diffusion")[1], cs.open_stream("tool-call", 64, seed=seed))
    while made.step() is not None:
        pass
    return "".join(ledger_lines([(ABOUT, made.evict(0))]))


def test_padding_is_priced_where_it_was_computed() -> None:
    """A padded batch pays for the request that waits; in lockstep it waits for nothing."""
    cost = Roofline(Machine(load_model("clover-35b-a3b"), load_hardware("h200"), load_engine("sglang")))
    found = {}
    for policy in ("padded", "lockstep"):
        text = batch(policy)
        assert ('"padding"' in text) == (policy == "padded")
        [run] = read_ledger(io.StringIO(text), "l")
        found[policy] = price_recorded(run, cost)
        positions = sum(sum(shape.widths) * count for shape, count in run.shapes)
        found[policy]["positions"] = positions
    assert found["padded"]["target_passes"] == found["lockstep"]["target_passes"]
    assert found["padded"]["positions"] > found["lockstep"]["positions"]
    assert found["padded"]["latency_s"] > found["lockstep"]["latency_s"]


@pytest.mark.parametrize(("room", "line"), [(40, None), (60, None), (10_000, 0)])
def test_more_different_passes_than_are_kept(monkeypatch: pytest.MonkeyPatch, room: int, line: int | None) -> None:
    text = batch("lockstep")
    monkeypatch.setattr("clover_sim.ledger_file.MOST_KEPT", room)
    if line is not None:
        assert len(read_ledger(io.StringIO(text), "l")) == 1
        return
    with pytest.raises(InputError) as caught:
        read_ledger(io.StringIO(text), "l.jsonl")
    place, said = str(caught.value).split(": ", 1)
    assert place.startswith("l.jsonl:") and 2 <= int(place.partition(":")[2]) <= text.count("\n")
    assert said == f"more runs and different passes than fit into {room} figures; split the file by run"


def test_more_runs_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    cs.compare("ar", tokens=[8, 9, 10, 11], keep=lambda about, run: kept.append((about, run)))
    text = "".join(ledger_lines(kept))
    monkeypatch.setattr("clover_sim.ledger_file.MOST_KEPT", 150)
    with pytest.raises(InputError, match=r"^l:\d+: more runs and different passes than fit into 150 figures; split "):
        read_ledger(io.StringIO(text), "l")
    monkeypatch.setattr("clover_sim.ledger_file.MOST_KEPT", 1_000)
    assert len(read_ledger(io.StringIO(text), "l")) == 4


def test_runs_of_nothing_take_room_too(monkeypatch: pytest.MonkeyPatch) -> None:
    head, run, _ = batch("lockstep").split("\n", 2)
    text = "\n".join([head, *[run.replace('"tokens": 128', '"tokens": 0')] * 3]) + "\n"
    assert [found.shapes for found in read_ledger(io.StringIO(text), "l")] == [(), (), ()]
    monkeypatch.setattr("clover_sim.ledger_file.MOST_KEPT", 150)
    with pytest.raises(InputError, match=r"^l:4: more runs and different passes than fit into 150 figures; split "):
        read_ledger(io.StringIO(text), "l")


def test_columns_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--tokens", "64", "-s", "ar", "--columns"]
    assert main([*words, "strategy, tokens_per_s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("ar "))
    assert len(row.split()) == 3  # the locked errors never go
    assert main([*words, "all", "--format", "markdown"]) == 0
    head = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| "))
    assert head.count("|") > 20
    assert main([*words, "oops"]) == 2
    assert capsys.readouterr().err.startswith("clover-sim compare: error: --columns: unknown column 'oops'; known: ")
