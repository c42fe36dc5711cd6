"""Draft lengths by batch: each strategy as if its length had been given, plain decoding for 0, and auto by price."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from clover_sim import compare
from clover_sim.acceptance import from_alpha
from clover_sim.cli import main
from clover_sim.cost import Machine
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare.schedule import check_schedule, schedule_text
from clover_sim.report.html import command
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import shape_of, speculate
from clover_sim.trace_comparison import compare_recordings
from traces.test_forms import sequence, write

SCHEDULE = [[1, 16, 4], [17, 64, 2]]
NAMED = ("strategy", "options")


def measured(row: Any) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in NAMED}


@pytest.mark.parametrize(("batch", "k"), [(1, 4), (16, 4), (17, 2), (64, 2)])
def test_rows_are_those_of_the_length_of_the_batch(batch: int, k: int) -> None:
    names = ["speculative", "eagle3", "mtp", "dflash", "ngram", "suffix:num_speculative_tokens=9"]
    found = compare(names, tokens=200, profile="chat", batch_size=batch, schedule=SCHEDULE)
    by_hand = [f"{n.partition(':')[0]}:num_speculative_tokens={k}" for n in names]
    expected = compare(by_hand, tokens=200, profile="chat", batch_size=batch)
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert row["strategy"] == f"{other['strategy']} (k={k})"
        assert row["options"] == other["options"]
        assert measured(row) == measured(other)


def test_what_drafts_nothing_is_left_alone() -> None:
    found = compare(["ar", "block-diffusion", "eagle3"], tokens=100, batch_size=8, schedule=SCHEDULE)
    assert [r["strategy"] for r in found.rows] == ["ar", "block-diffusion", "eagle3 (k=4)"]
    plain = compare(["ar", "block-diffusion"], tokens=100, batch_size=8)
    assert [measured(r) for r in found.rows[:2]] == [measured(r) for r in plain.rows]


@pytest.mark.parametrize("schedule", [[[1, 1, 5], [2, 99, 0]], [[1, 4, 5]]], ids=["zero", "no-run"])
def test_no_drafts_is_plain_decoding_with_the_drafter_in_memory(schedule: Any) -> None:
    plain, none = compare(["ar", "eagle3"], tokens=100, batch_size=8, schedule=schedule).rows
    assert none["strategy"] == "eagle3 (k=0)"
    assert (none["options"]["num_speculative_tokens"], none["options"]["speculative_num_draft_tokens"]) == (0, 1)
    assert none["drafter"]["model"] == "eagle3-head"
    for key in ("target_passes", "draft_passes", "latency_s", "tokens_per_s", "speedup_time"):
        assert none[key] == plain[key]
    machine = {"model": "llama-3.1-8b", "gpu": "rtx-4090", "tokens": 10}
    room = next(n for n in range(0, 80_000, 2000) if not fits(f"speculative:drafter={'qwen3-0.6b'}", n, machine))
    assert fits("ar", room, machine)


def fits(name: str, prompt_tokens: int, machine: dict[str, Any]) -> bool:
    schedule = None if name == "ar" else [[1, 1, 0]]
    try:
        compare(name, prompt_tokens=prompt_tokens, schedule=schedule, **machine)
    except InputError:
        return False
    return True


def test_a_survival_list_is_cut_and_never_drawn_on() -> None:
    name = "speculative:acceptance=[0.8,0.6,0.5],num_speculative_tokens=3"
    row = compare(name, tokens=100, schedule=[[1, 1, 2]]).rows[0]
    assert row["options"]["acceptance"] == [0.8, 0.6]
    with pytest.raises(UsageError, match="survival of 3 positions, but a cycle drafts 4"):
        compare(name, tokens=100, schedule=[[1, 1, 4]])


MACHINE = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("sglang"))


@pytest.mark.parametrize("batch", [1, 8, 32, 128, 256])
def test_auto_takes_the_length_that_speculate_finds_best(batch: int) -> None:
    for method, k, rate in (("eagle3", 6, 0.75), ("mtp", 4, 0.6), ("dflash", 12, 0.8)):
        spec = f"{method}:num_speculative_tokens={k},acceptance={rate}"
        row = compare(spec, tokens=200, cost=MACHINE, batch_size=batch, schedule="auto").rows[0]
        answer = speculate(
            MACHINE, shape_of(method, k), from_alpha(rate, k, 1.0), batch_size=batch, context_tokens=100, most_k=k,
        )  # fmt: skip
        assert row["options"]["num_speculative_tokens"] == answer.best_k


@pytest.mark.parametrize("batch", [4, 64])
def test_auto_is_about_as_fast_as_the_fastest_length_tried_one_by_one(batch: int) -> None:
    name = "eagle3:num_speculative_tokens=7,clustering=[0.8,0.5]"
    tried = [
        compare(name, profile="chat", tokens=3000, cost=MACHINE, batch_size=batch, schedule=[[1, 999, k]]).rows[0]
        for k in range(8)
    ]
    auto = compare(name, profile="chat", tokens=3000, cost=MACHINE, batch_size=batch, schedule="auto").rows[0]
    assert auto["latency_s"] <= 1.03 * min(row["latency_s"] for row in tried)
    assert auto["latency_s"] < 0.9 * max(row["latency_s"] for row in tried)


def test_the_schedule_is_echoed_and_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(["ar", "eagle3:num_speculative_tokens=7"], tokens=64, batch_size=20, schedule=SCHEDULE)
    document = found.to_dict()
    assert document["rules"]["schedule"] == "[[1,16,4],[17,64,2]]"
    assert any("at a batch of 20: 2 of eagle3" in note for note in document["notes"])
    words = shlex.split(command(found))
    assert words[:2] == ["clover-sim", "compare"] and "[[1,16,4],[17,64,2]]" in words
    assert main([*words[1:], "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(document))


def test_auto_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "-s", "ar", "-s", "mtp:num_speculative_tokens=4", "--tokens", "64", "--schedule", "auto",
                 "--batch-size", "8", "--format", "json"]) == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["rules"]["schedule"] == "auto" and "(k=" in found["rows"][1]["strategy"]


def test_over_a_trace(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", sequence(), sequence(id="u"))
    found = compare_recordings(path, ["ar", "speculative"], batch_size=20, schedule=SCHEDULE)
    assert [r["strategy"] for r in found.rows] == ["ar", "speculative (k=2)"] * 2
    expected = compare_recordings(path, ["ar", "speculative:num_speculative_tokens=2"], batch_size=20)
    assert [measured(r) for r in found.rows] == [measured(r) for r in expected.rows]
    with pytest.raises(UsageError, match="none of the strategies"):
        compare_recordings(path, schedule=SCHEDULE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"schedule": "sometimes"}, "expected auto"), ({"schedule": []}, "expected auto"),
        ({"schedule": 3}, "expected auto"), ({"schedule": [[1, 2]]}, "is not a first batch"),
        ({"schedule": [[1, 2, 1.5]]}, "is not a first batch"), ({"schedule": [3]}, "is not a first batch"),
        ({"schedule": [[0, 2, 1]]}, "expected batches from 1"), ({"schedule": [[3, 2, 1]]}, "the smaller first"),
        ({"schedule": [[1, 2, -1]]}, "0 to 1024"), ({"schedule": [[1, 8, 3], [8, 9, 1]]}, "batch of 8 has two"),
        ({"schedule": [[5, 9, 1], [1, 5, 3]]}, "batch of 5 has two"),
        ({"schedule": SCHEDULE, "strategies": ["ar"]}, "none of the strategies"),
        ({"schedule": "auto", "strategies": ["eagle3:drafter=none"]}, "names no drafter"),
    ],
)  # fmt: skip
def test_unusable_schedules_are_refused_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        compare(**{"strategies": ["eagle3"], "tokens": 16, **arguments})
    assert "\n" not in str(caught.value)


def test_auto_needs_a_price_and_a_known_way_of_drafting() -> None:
    from dataclasses import dataclass

    from clover_sim.cost import cost_model

    with pytest.raises(UsageError, match="asks what a cycle costs"):
        compare("eagle3", tokens=16, cost=cost_model("fixed:pass_ms=3"), schedule="auto")

    @dataclass(frozen=True)
    class Mine:
        num_speculative_tokens: int = 2

        def decode(self, canvas: Any) -> Any:
            while canvas.remaining:
                canvas.commit((yield canvas.next()).agreed())

    with pytest.raises(UsageError, match="how Mine drafts is not known"):
        compare(Mine(), tokens=16, schedule="auto")
    assert compare(Mine(), tokens=16, schedule=[[1, 1, 1]]).rows[0]["options"] == {"num_speculative_tokens": 1}


@pytest.mark.parametrize("given", ["auto", [[1, 16, 5], [17, 32, 0]], ((3, 3, 1),)])
def test_the_text_of_a_schedule_is_read_back(given: Any) -> None:
    checked = check_schedule(given)
    text = schedule_text(checked)
    assert check_schedule(text if text == "auto" else json.loads(text)) == checked
