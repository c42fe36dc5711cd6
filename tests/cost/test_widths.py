"""What the notes say of wide passes: the milliseconds of the price itself, and where they go."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clover_sim.comparison import compare
from clover_sim.cost import Machine, price
from clover_sim.cost.roofline import PARTS
from clover_sim.cost.widths import WORDS, difference
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model


def note(result, start: str) -> str:
    (found,) = [one for one in result.notes if one.startswith(start)]
    return found


@pytest.mark.parametrize(("model", "most"), [("clover-35b-a3b", "weights"), ("sdar-8b", "host")])
def test_a_wider_pass_says_where_its_time_goes(model: str, most: str) -> None:
    """Against the bare price of the two passes: of a mixture the experts, of a dense model the host."""
    machine = Machine(load_model(model), load_hardware("h200"), load_engine("sglang"))
    one, wide = (price(machine, PassShape(kind, (w,), 128.0)) for kind, w in ((Kind.DECODE, 1), (Kind.DENOISE, 32)))
    result = compare(["ar", "mtp", "block-diffusion"], tokens=256, model=model)
    said = note(result, "A wider pass costs more: ")
    whole, parts = re.search(r"32 positions \+([\d.]+) ms \(([^)]*)\)", said).groups()
    assert float(whole) == pytest.approx((wide.latency_s - one.latency_s) * 1e3, abs=0.02)
    named = {p.rpartition(" ")[0]: float(p.rpartition(" ")[2]) for p in parts.split(", ")}
    assert next(iter(named)) == most and sum(named.values()) == pytest.approx(float(whole), abs=0.02)
    assert named["host"] == pytest.approx((wide.host_s - one.host_s) * 1e3, abs=0.01)
    assert "union" not in said
    two = re.search(r"2 positions \+[\d.]+ ms \(host ([\d.]+)", said)  # a draft's cycle is nearly all host
    assert two and float(two[1]) > 2


def test_the_share_of_the_host_is_marked_as_assumed_for_a_block_and_its_schedulers_named() -> None:
    said = note(compare(["block-diffusion"], tokens=64), "ASSUMPTION: the 2.4 ms that the host adds to 32 positions")
    for name in ("overlap", "serial"):
        c = load_engine(f"sglang:{name}").base
        own = (c.wide_pass_s + c.wide_sequence_s + 32 * c.wide_token_s) * 1e3
        assert f"{own:.1f} under sglang:{name}" in said
    assert not any("ASSUMPTION: the" in one for one in compare(["mtp"], tokens=64).notes)
    assert not any("under vllm" in one for one in compare(["block-diffusion"], tokens=64, engine="vllm").notes)


def test_strategies_of_one_width_share_its_price_and_names_tell_rows_apart() -> None:
    specs = ["ar", "mtp", "eagle3", "block-diffusion:threshold=0.9", "block-diffusion", "factor"]
    result = compare(specs, tokens=256, profile="tool-call")
    said = note(result, "Price of a pass by width: ")
    assert said.count("32 positions") == 1 and "32 positions (block-diffusion, factor)" in said
    assert any("so mtp and eagle3 gain more in time" in one for one in result.notes)
    answers = [one for one in result.notes if " against token by token: " in one]
    assert len({one.partition(" against")[0] for one in answers}) == len(answers) == 5
    assert any(one.startswith("block-diffusion:threshold=0.9 against") for one in answers)
    alone = compare(["ar", "mtp"], tokens=256).notes
    assert any("so mtp gains more in time" in one for one in alone)


def test_parts_that_change_places_stand_together_and_nothing_is_lost() -> None:
    machine = Machine(load_model("sdar-8b"), load_hardware("h200"), load_engine("vllm"))
    one, wide = (
        price(machine, PassShape(kind, (w,) * 8, 1024.0)) for kind, w in ((Kind.DECODE, 1), (Kind.DENOISE, 32))
    )
    assert wide.weights_s < one.weights_s  # arithmetic hides reading here
    text = difference(one, wide)
    assert "weights and arithmetic" in text and "-" not in text
    figures = [float(v) for v in re.findall(r" (-?[\d.]+)[,)]", text)]
    assert sum(figures) == pytest.approx(float(text.split()[0]), abs=0.02)
    same = replace(machine, precision="bf16")
    alike = price(same, PassShape(Kind.DECODE, (1,)))
    assert difference(alike, alike) == "+0.00 ms"
    assert set(PARTS) == set(WORDS)
