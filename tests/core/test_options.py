"""The notation ``name:key=value``: each slip is told in one whole line, in the words of the person who made it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clover_sim import compare
from clover_sim.cli import main
from clover_sim.cost import Fixed, Machine, Roofline
from clover_sim.errors import UsageError
from clover_sim.faults import one_line
from clover_sim.prepare import default_cost
from clover_sim.specs import load_engine, load_hardware, load_model

PLUGIN = """
from dataclasses import dataclass


@dataclass
class Bar:
    bar: float
    shape: dict | None = None

    def decode(self, canvas):
        while canvas.remaining:
            span = canvas.block(8)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.above(self.bar) or view.best())
"""

SLIPS = [
    ("block-diffusion:threshold=0.8,0.9", "'block-diffusion:threshold=0.8,0.9': '0.9' is not of the form key=value; an "
     "option takes one value: repeat -s for several, or write a list as [a,b]"),
    ("block-diffusion:=0.9", "'block-diffusion:=0.9': '=0.9' is not of the form key=value"),
    ("block-diffusion:threshold=1,threshold=1",
     "'block-diffusion:threshold=1,threshold=1': option 'threshold' is given twice"),
    ("block-diffusion:", "'block-diffusion:': options are missing after the colon, as in name:key=value"),
    (":threshold=0.9", "':threshold=0.9': the name is missing, as in name:key=value"),
    ("threshold=0.9", "'threshold=0.9': options need a name before them, as in name:key=value"),
    ("speculative:parallel_draft=maybe", "speculative: parallel_draft=maybe is not one of true, false"),
    ("barred:Bar", "barred:Bar: option 'bar' is missing; write barred:Bar:bar=..."),
    ("barred:Bar:bar=x", "barred:Bar: bar=x is not a finite number"),
]  # fmt: skip


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "barred.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("barred", None)


@pytest.mark.parametrize(("spec", "said"), SLIPS, ids=[spec for spec, _ in SLIPS])
def test_slips(plugin: None, capsys: pytest.CaptureFixture[str], spec: str, said: str) -> None:
    assert main(["compare", "--tokens", "32", "-s", spec]) == 2
    assert capsys.readouterr() == ("", f"clover-sim compare: error: {said}\n")


def test_an_option_that_text_cannot_give_is_refused(plugin: None) -> None:
    with pytest.raises(UsageError, match=r"^barred:Bar: shape=5 is not "):
        compare("barred:Bar:bar=1,shape=5", tokens=32)
    assert compare("barred:Bar:bar=1,shape=none", tokens=32).rows[0]["options"] == {"bar": 1.0, "shape": None}


def test_costs_that_contradict_or_are_none() -> None:
    with pytest.raises(UsageError, match=r"^cost and gpu contradict each other: name the machine, or give its cost "):
        compare("ar", tokens=8, cost=Fixed(0.01), gpu="h100")
    with pytest.raises(UsageError, match=r"^cost 'floor' is no cost model: make one, as in cost_model\('floor', mach"):
        compare("ar", tokens=8, cost="floor")


def test_a_machine_stands_for_its_roofline() -> None:
    machine = Machine(load_model("sdar-8b"), load_hardware("h100"), load_engine("sglang"))
    rows = [
        compare("ar", tokens=8, cost=cost).rows[0]
        for cost in (machine, Roofline(machine), default_cost("sdar-8b", "h100", "sglang"))
    ]
    assert rows[0] == rows[1] == rows[2]


def test_more_lengths_than_anybody_waits_for() -> None:
    with pytest.raises(UsageError, match=r"^tokens: 999999999 values are more than can be run; give fewer$"):
        compare("ar", tokens=range(1, 10**9))


@pytest.mark.parametrize("tokens", ["64", 6.5])
def test_lengths_that_are_none(tokens: object) -> None:
    with pytest.raises(UsageError, match=r"tokens .*whole number"):
        compare("ar", tokens=tokens)  # type: ignore[arg-type]


def test_a_decoder_without_a_file_is_known_by_what_it_does() -> None:
    def run_id(rule: str) -> str:
        made: dict[str, type] = {}
        exec(PLUGIN.replace("view.above(self.bar) or view.best()", rule), {"__name__": __name__}, made)
        made["Bar"].__module__ = "elsewhere"
        found: str = compare([made["Bar"](0.9)], tokens=16).to_dict()["run_id"]
        return found

    rules = ("view.best()", "view.above(0.5) or view.best()", "view.above(0.6) or view.best()")
    best, low, high = map(run_id, rules)
    assert len({best, low, high}) == 3 and run_id("view.best()") == best


def test_an_exception_that_cannot_say_what_it_is() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

    assert one_line(Mute()) == "Mute"
    assert one_line(ValueError("a\n  b")) == "ValueError: a b" and one_line(ValueError()) == "ValueError"
