"""Who pays for what: agents in step, steps that were never run, later turns, times of a log, flags and bounds."""

from __future__ import annotations

import json
from math import fsum
from pathlib import Path
from random import Random

import pytest

from clover_sim.agents.failure import Failure
from clover_sim.agents.run import Prices, agent
from clover_sim.agents.sizes import read_sizes
from clover_sim.agents.workload import AgentWorkload, Turn
from clover_sim.cli import main
from clover_sim.cost import Fixed, Machine, Roofline
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.report import Look
from clover_sim.report._agent import render_agent
from clover_sim.specs import load_engine, load_hardware, load_model

TASK = AgentWorkload("t", "", "", 0, (Turn(100, 100, 0, 8), Turn(148, 40, 0, 4), Turn(172, 20, 0, 6)))


# ---- agents in step share the machine -------------------------------------------------------------------------------


def test_agents_in_step_divide_rent_and_joules() -> None:
    prices = Prices(3.6, 2, 500.0)
    alone, eight = (
        agent(TASK, ["ar"], cost=Fixed(0.01), prices=prices, tasks=5, batch_size=n, failure=Failure(own=0.2)).rows[0]
        for n in (1, 8)
    )
    assert eight["gpu_s"] == alone["gpu_s"]  # a pass takes as long here, however many share it
    paid = [key for key in alone if key.startswith("usd_per_")] + ["energy_upper_bound_j"]
    assert "usd_per_task_card_kept" in paid and "usd_per_success_by_locked_errors" in paid
    for key in paid:
        assert (alone[key] is None) == (key == "usd_per_task_by_tokens")
        assert alone[key] is None or eight[key] == pytest.approx(alone[key] / 8)


def test_more_agents_on_a_card_make_each_task_cheaper(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agent", "--tasks", "5", "-s", "ar", "--model", "llama-3.1-8b", "--gpu", "h100", "--batch-size"]
    found = {}
    for n in (1, 8):
        assert main([*words, str(n), "--format", "json"]) == 0
        found[n] = json.loads(capsys.readouterr().out)["rows"][0]
    one, eight = found[1], found[8]
    rate = load_hardware("h100").price_usd_per_hour
    assert rate is not None
    assert eight["usd_per_task"] == pytest.approx(eight["gpu_s"] * rate / 3600 / 8)
    assert one["usd_per_task"] / 8 < eight["usd_per_task"] < one["usd_per_task"] / 4
    assert main([*words, "8"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "8 agents in step" in said and "for the time it computes, divided among the 8 agents in step" in said


# ---- a price list bills what was run --------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("retries", [0, 2])
def test_a_price_list_bills_the_steps_that_were_run(cache: bool, retries: int) -> None:
    own, paid, written = 0.4, 1.0, 2.0
    one = agent(
        TASK, ["ar"], cost=Fixed(0.01), prices=Prices(input_usd=paid, output_usd=written), failure=Failure(own=own),
        retries=retries, prefix_cache=cache, tasks=5,
    ).rows[0]  # fmt: skip
    draw, tasks, bill = Random(3).random, 40_000, 0.0
    for _ in range(tasks):
        for turn in TASK.turns:
            for attempt in range(retries + 1):
                prompt = turn.context_tokens if not cache else 0 if attempt else turn.new_tokens
                bill += prompt * paid + turn.output_tokens * written
                if ok := draw() >= own:
                    break
            if not ok:
                break
    assert one["usd_per_task_by_tokens"] == pytest.approx(bill / tasks / 1e6, rel=0.01)


def test_a_task_that_ends_at_its_first_step_pays_for_that_step() -> None:
    prices = Prices(input_usd=1.0, output_usd=2.0)
    one = agent(TASK, ["ar"], cost=Fixed(0.01), prices=prices, failure=Failure(own=1.0), retries=0, tasks=5).rows[0]
    assert one["usd_per_task_by_tokens"] == pytest.approx((100 * 1 + 8 * 2) / 1e6)


# ---- a turn takes its own time --------------------------------------------------------------------------------------


def test_the_time_of_a_turn_does_not_depend_on_later_ones() -> None:
    cost = Roofline(Machine(load_model("gemma-3-12b"), load_hardware("h100"), load_engine("vllm")))
    assert cost.machine is not None and cost.machine.model.kv_windows
    near, far = Turn(2048, 2048, 0, 64), Turn(42_000, 42_000, 0, 64)

    def decode_s(*turns: Turn) -> float:
        return float(agent(AgentWorkload("t", "", "", 0, turns), ["ar"], cost=cost, tasks=1).rows[0]["decode_s"])

    each = [
        fsum(cost.price(PassShape(Kind.DECODE, (1,), turn.context_tokens + i)).latency_s for i in range(64))
        for turn in (near, far)
    ]
    assert decode_s(near) == pytest.approx(each[0], rel=1e-6)
    assert decode_s(far) == pytest.approx(each[1], rel=1e-6)
    assert decode_s(near, far) == pytest.approx(sum(each), rel=1e-6)
    assert decode_s(Turn(100, 100, 0, 64), far) - decode_s(far) == pytest.approx(decode_s(Turn(100, 100, 0, 64)))


# ---- times of a log -------------------------------------------------------------------------------------------------


def times(tmp_path: Path, column: str, *values: str, lengths: str = "prompt_tokens,completion_tokens") -> list[object]:
    path = tmp_path / "log.csv"
    path.write_text(f"{column},{lengths}\n" + "".join(f"{value},5,6\n" for value in values))
    return [one.time_s for one in read_sizes(str(path), 9)]


@pytest.mark.parametrize("column", ["arrival_ms", "timestamp_ms", "time_ms", "Arrival_MS"])
def test_milliseconds_are_read(tmp_path: Path, column: str) -> None:
    assert times(tmp_path, column, "1000", "1250", "4000") == [0.0, 0.25, 3.0]


def test_a_name_with_its_unit_is_believed(tmp_path: Path) -> None:
    traces = "input_length,output_length"  # of Mooncake, whose timestamp is in ms
    assert times(tmp_path, "timestamp", "1000", "4000", lengths=traces) == [0.0, 3.0]
    assert times(tmp_path, "arrival_s", "1000", "4000", lengths=traces) == [0.0, 3000.0]
    assert times(tmp_path, "arrival_ms", "1000", "4000", lengths=traces) == [0.0, 3.0]


@pytest.mark.parametrize("values", [("1", "", "3"), ("", "2")])
def test_a_time_for_each_request_or_for_none(tmp_path: Path, values: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"log\.csv:3: some requests have a time and some have none"):
        times(tmp_path, "arrival_s", *values)
    assert times(tmp_path, "arrival_s", "", "") == [None, None]


# ---- flags that would change nothing --------------------------------------------------------------------------------

TABLE = '{"turns": [{"output_tokens": 5}]}'
SIZES = '{"prompt_tokens": 5, "completion_tokens": 6}'
CALLS = '{"ground_truth": ["f(x=1)"]}'
MESSAGES = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "ho"}'
BOTH = ["--tool-seconds", "2", "--tokenizer", "o200k"]


@pytest.mark.parametrize(
    ("body", "words", "said"),
    [
        (None, BOTH, "--tokenizer, --tool-seconds: for transcripts of messages, and web-task is none; leave them out"),
        (None, ["--tool-seconds", "0"], "--tool-seconds: for transcripts of messages, and web-task is none; leave it"),
        (TABLE, ["--tool-seconds", "2"], "--tool-seconds: for transcripts of messages, and w.json is none; leave it"),
        (SIZES, ["--tokenizer", "qwen"], "--tokenizer: for transcripts of messages, and w.json is none; leave it out"),
        (CALLS, BOTH, "--tool-seconds: for transcripts of messages, and w.json is none; leave it out"),
        (None, ["--max-new-tokens", "9"], "--max-new-tokens: the workload says how much each step writes; set outp"),
        (None, ["--align", "absolute"], "--align absolute: the blocks of a step start at its output; leave it out"),
    ],
)  # fmt: skip
def test_a_flag_that_would_change_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, body: str | None,
    words: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("w.json").write_text(body or "")
    assert main(["agent", "w.json" if body else "web-task", "-s", "ar", "--tasks", "2", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"clover-sim agent: error: {said}") and err.count("\n") == 1


@pytest.mark.parametrize(("body", "words"), [(MESSAGES, BOTH), (CALLS, BOTH[2:])])
def test_where_they_count_they_are_taken(tmp_path: Path, body: str, words: list[str]) -> None:
    path = tmp_path / "w.json"
    path.write_text(body)
    assert main(["agent", str(path), "-s", "ar", "--tasks", "2", *words]) == 0


def test_absolute_blocks_are_refused_of_a_call_too() -> None:
    with pytest.raises(UsageError, match="align 'absolute': the blocks of a step start at its output"):
        agent(TASK, ["ar"], cost=Fixed(0.01), tasks=2, rules={"align": "absolute"})


# ---- bounds of the draws --------------------------------------------------------------------------------------------


def test_fewer_tasks_than_asked_are_told() -> None:
    found = agent("ten-turn-tools", ["ar"], cost=Fixed(0.01), tasks=50_000, failure=Failure(own=1.0), retries=0)
    assert found["settings"]["tasks"] == 40_000
    note = found["workload"]["notes"][-1]
    assert note.startswith("40,000 of 50,000 tasks are drawn, as many as 400,000 tries of steps allow: ")
    assert note[:50] in " ".join(render_agent(found, Look(width=200)).split())
    plain = agent("ten-turn-tools", ["ar"], cost=Fixed(0.01), tasks=40_000, failure=Failure(own=1.0), retries=0)
    assert plain["workload"]["notes"] == [] and plain["settings"]["tasks"] == 40_000


def test_tries_count_as_work() -> None:
    """Of three steps that succeed once in a hundred tries, each is tried 100 times: 300 tries a task."""
    found = agent(TASK, ["ar"], cost=Fixed(0.01), tasks=1_000_000, failure=Failure(own=0.99), retries=1000)
    assert found["settings"]["tasks"] == pytest.approx(400_000 / 300, abs=2)
    assert "tasks are drawn, as many as" in found["workload"]["notes"][-1]
