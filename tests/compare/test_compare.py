"""compare(): the JSON contract, baselines, seeds, prices, refusals."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass

import pytest

import clover_sim as cs
from clover_sim.cost import Machine, cost_model
from clover_sim.errors import InputError, UsageError
from clover_sim.specs import bare_hardware, bare_model, load_engine, load_hardware, load_model

CONTRACT = {
    "stream", "tokens", "strategy", "options", "target_passes", "draft_passes", "kv_write_passes", "tokens_per_pass",
    "tokens_per_denoise_pass", "forced_commits", "locked_errors", "latency_s", "tokens_per_s", "speedup_passes",
    "speedup_time", "bound",
}  # fmt: skip


def by_strategy(result):
    return {row["strategy"]: row for row in result.rows}


def test_the_default_comparison_prints_the_published_table():
    published = {128: (128, 72, 24, 0), 256: (256, 172, 48, 0), 512: (512, 326, 95, 1), 1024: (1024, 662, 191, 1)}
    rows = cs.compare().rows
    for tokens, (ar, spec, block, errors) in published.items():
        of = {r["strategy"]: r for r in rows if r["tokens"] == tokens}
        assert of["ar"]["target_passes"] == ar
        assert of["speculative"]["target_passes"] + of["speculative"]["draft_passes"] == spec
        assert (of["block-diffusion"]["target_passes"], of["block-diffusion"]["locked_errors"]) == (block, errors)


def test_rows_carry_the_contract_as_plain_json_without_nan():
    document = cs.compare(tokens=[40]).to_dict()
    assert document["schema"] == "clover-sim/comparison/1"
    text = json.dumps(document, allow_nan=False)
    for row in json.loads(text)["rows"]:
        assert set(row) >= CONTRACT


def test_ratios_follow_from_the_counts():
    rows = by_strategy(cs.compare(["ar", "speculative", "block-diffusion"], tokens=[500], kv_write="separate"))
    ar = rows["ar"]
    for row in rows.values():
        passes = row["target_passes"] + row["draft_passes"]
        assert row["tokens_per_pass"] == pytest.approx(500 / row["target_passes"])
        assert row["tokens_per_denoise_pass"] == pytest.approx(500 / (row["target_passes"] - row["kv_write_passes"]))
        assert row["speedup_passes"] == pytest.approx(ar["target_passes"] / passes)
        assert row["speedup_time"] == pytest.approx(ar["latency_s"] / row["latency_s"])
        assert row["tokens_per_s"] == pytest.approx(500 / row["latency_s"])
        assert row["ms_per_pass"] == pytest.approx(1e3 * row["latency_s"] / passes)
    assert rows["block-diffusion"]["kv_write_passes"] == math.ceil(500 / 32)


def test_the_baseline_runs_silently_when_it_was_not_asked_for():
    alone = cs.compare(["block-diffusion"], tokens=[256])
    beside = by_strategy(cs.compare(["ar", "block-diffusion"], tokens=[256]))
    assert [r["strategy"] for r in alone.rows] == ["block-diffusion"]
    assert dict(alone.rows[0]) == dict(beside["block-diffusion"])


def test_several_seeds_give_means_and_student_intervals():
    singles = [cs.compare(["block-diffusion"], tokens=[256], seeds=[s]).rows[0] for s in range(5)]
    pooled = cs.compare(["block-diffusion"], tokens=[256], seeds=range(5)).rows[0]
    passes = [r["target_passes"] for r in singles]
    assert pooled["target_passes"] == pytest.approx(statistics.mean(passes))
    # t for 4 degrees of freedom, 95 %, from any printed table
    half = 2.776 * statistics.stdev(passes) / math.sqrt(5)
    assert pooled["target_passes_ci95"] == pytest.approx(half, rel=1e-3)
    assert "target_passes_ci95" not in singles[0]


def test_on_the_reference_stream_a_seed_sets_all_three():
    one = cs.compare(["block-diffusion", "speculative"], tokens=[300], seeds=[9])
    named = cs.compare(
        ["block-diffusion", "speculative"], tokens=[300], profile="reference:stream_seed=9,block_seed=9,spec_seed=9"
    )
    for a, b in zip(one.rows, named.rows, strict=True):
        assert a["target_passes"] == b["target_passes"] and a["locked_errors"] == b["locked_errors"]


def test_floor_prices_active_bytes_over_bandwidth_exactly():
    machine = Machine(bare_model(35e9, 1.5e9), bare_hardware(3), load_engine("ideal"))
    row = cs.compare(["ar"], tokens=[1000], cost=cost_model("floor", machine)).rows[0]
    assert row["ms_per_pass"] == 1.0 and row["latency_s"] == 1.0


def test_fixed_prices_ten_turns_of_two_hundred_tokens_exactly():
    row = cs.compare(["ar"], tokens=[2000], cost=cost_model("fixed:pass_ms=15")).rows[0]
    assert row["target_passes"] == 2000 and row["latency_s"] == 30.0


def test_what_does_not_fit_the_card_is_refused_with_the_amounts():
    machine = Machine(
        load_model("clover-35b-a3b"), load_hardware("rtx-5070-ti"), load_engine("sglang"), precision="int4"
    )
    with pytest.raises(InputError, match=r"needs .* GB .*gives"):
        cs.compare(["ar"], tokens=[16], cost=cost_model("roofline", machine))


def test_a_batch_prices_wider_steps_and_leaves_counts_alone():
    one = by_strategy(cs.compare(["ar", "block-diffusion"], tokens=[128]))
    many = by_strategy(cs.compare(["ar", "block-diffusion"], tokens=[128], batch_size=16))
    for name in one:
        assert many[name]["target_passes"] == one[name]["target_passes"]
        assert many[name]["latency_s"] > one[name]["latency_s"]


def test_prefill_is_priced_beside_decoding():
    without, with_prompt = (cs.compare(["ar"], tokens=[64], prompt_tokens=n).rows[0] for n in (0, 4000))
    assert without["prefill_s"] == 0 and with_prompt["prefill_s"] > 0
    assert with_prompt["prefill_passes"] == 1 and with_prompt["target_passes"] == 64
    assert with_prompt["latency_s"] > without["latency_s"]  # the context is read by every pass


def test_a_drafter_of_none_prices_drafts_at_nothing():
    rows = cs.compare(["speculative", "speculative:drafter=none"], tokens=[256]).rows
    assert rows[0]["draft_passes"] == rows[1]["draft_passes"] > 0
    assert rows[1]["latency_s"] < rows[0]["latency_s"]
    assert rows[0]["drafter"]["model"] == "qwen3-0.6b" and rows[1]["drafter"]["model"] is None


@dataclass(frozen=True)
class TwoAtATime:
    def decode(self, canvas):
        while canvas.remaining:
            span = canvas.block(8)
            while canvas.frontier < span.stop:
                canvas.commit((yield span).best(2))


def test_a_decoder_object_is_compared_under_its_class_name():
    row = cs.compare([TwoAtATime()], tokens=[64]).rows[0]
    assert row["strategy"] == "TwoAtATime" and row["target_passes"] == 32 and row["forced_commits"] == 64


def test_a_real_file_becomes_a_stream(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text('{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n' * 5)
    result = cs.compare(["ar", "block-diffusion"], inputs=[str(path)])
    (described,) = result.inputs
    rows = by_strategy(result)
    assert rows["ar"]["tokens"] == rows["ar"]["target_passes"] == described["tokens"] > 50
    assert described["name"] == rows["ar"]["stream"] == "calls.jsonl" and len(described["sha256"]) == 64
    assert rows["block-diffusion"]["kv_write"] == "separate" and rows["block-diffusion"]["kv_write_passes"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": [0]}, "tokens 0"),
        ({"tokens": [1.5]}, "tokens 1.5"),
        ({"seeds": range(0)}, "empty"),
        ({"batch_size": 0}, "batch_size 0"),
        ({"profile": "refrence"}, "did you mean 'reference'"),
        ({"strategies": ["speculativ"]}, "did you mean 'speculative'"),
        ({"kv_write": "sideways"}, "kv_write 'sideways'"),
        ({"eos_stop": "late"}, "eos_stop 'late'"),
        ({"strategies": ["clairvoyant"]}, "needs truth"),
        ({"tokens": [10**9]}, "allow-long"),
        ({"tokens": [10], "max_new_tokens": -1}, "max_new_tokens"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(arguments, message):
    with pytest.raises(UsageError, match=message) as caught:
        cs.compare(**arguments)
    assert "\n" not in str(caught.value)


def test_notes_name_the_write_rule_and_the_union_of_experts():
    notes = " ".join(cs.compare(["ar", "block-diffusion"], tokens=[128]).notes)
    assert "none" in notes and "K/V" in notes and "experts" in notes and "smaller than in passes" in notes


def test_a_knob_of_one_strategy_leaves_the_others_untouched():
    before = by_strategy(cs.compare(["ar", "speculative", "block-diffusion"], profile="tool-call", tokens=[300]))
    after = by_strategy(
        cs.compare(["ar", "speculative", "block-diffusion:threshold=0.8"], profile="tool-call", tokens=[300])
    )
    for name in ("ar", "speculative"):
        assert dict(before[name]) == dict(after[name])
    assert before["block-diffusion"]["target_passes"] != after["block-diffusion"]["target_passes"]
