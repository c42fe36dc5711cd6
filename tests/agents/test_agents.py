"""Tasks: turns read from everywhere, time, success, money."""

from __future__ import annotations

import json

import pytest

from clover_sim.agents.decisions import Decisions, implied_field_success
from clover_sim.agents.reading import load_agent_workload, preset_names
from clover_sim.agents.run import Prices, agent
from clover_sim.agents.steps import Failure
from clover_sim.agents.workload import AgentWorkload, Turn, workload_of
from clover_sim.cli import main
from clover_sim.cost import Fixed, Machine, Roofline
from clover_sim.errors import InputError
from clover_sim.report import Look
from clover_sim.report._agent import render_agent
from clover_sim.specs import load_engine, load_hardware, load_model

AR = ("ar",)


def fixed(ms=15.0):
    return Fixed(ms / 1000)


def test_ten_turns_of_200_tokens_at_15_ms_are_30_seconds():
    found = agent("ten-turn-tools", AR, cost=fixed(), tasks=10, texts=("reference", "reference"))
    one = found["rows"][0]
    assert one["passes"] == 2000
    assert one["decode_s"] == pytest.approx(30.0, abs=1e-9)
    assert one["prefill_s"] == pytest.approx(10 * 0.015)


@pytest.mark.parametrize("name", preset_names())
def test_presets(name):
    load = load_agent_workload(name)
    assert load.turns and load.source and load.longest_context_tokens <= 131_072
    if name == "long-50":
        assert len(load.turns) >= 50 and load.longest_context_tokens > 120_000


PUBLIC_CHAT = [(16, 453), (485, 211), (712, 245), (974, 357), (1348, 392), (1757, 30), (1806, 37)]
"""Requests of seven turns on an L4 (vllm-project/vllm#4917): 110.2 s without a prefix cache, 62.6 ms a token."""


def l4():
    hardware = load_hardware("l4")
    return Roofline(Machine(load_model("llama-3.1-8b"), hardware, load_engine("vllm")))


def test_the_prefix_cache_saves_little_where_answers_are_long():
    turns = [{"prompt_tokens": p, "completion_tokens": c} for p, c in PUBLIC_CHAT]
    load = workload_of({"turns": turns}, "chat")
    plain = agent(load, AR, cost=l4(), prefix_cache=False, tasks=2)
    cached = agent(load, AR, cost=l4(), tasks=2)
    without, with_cache = plain["rows"][0]["clean_task_s"], cached["rows"][0]["clean_task_s"]
    assert plain["workload"]["prompt_tokens_without_cache"] == 7098
    assert 100 <= plain["workload"]["prompt_tokens_with_cache"] <= 130
    assert 85 <= without <= 130
    assert 0.005 <= plain["rows"][0]["prefill_s"] / without <= 0.06
    assert 0 <= 1 - with_cache / without <= 0.05
    assert 50 <= plain["rows"][0]["decode_s"] / 1725 * 1e3 <= 70


def test_certain_failures_compound_exactly():
    load = AgentWorkload("t", "", "", 0, tuple(Turn(10, 10, 0, 8) for _ in range(20)))
    found = agent(load, AR, cost=fixed(), failure=Failure(own=0.014), retries=0, tasks=4000)["rows"][0]
    assert found["task_success_without_retries"] == pytest.approx(0.986**20)
    assert round(found["task_success_without_retries"], 3) == 0.754
    assert found["step_success"] == pytest.approx(0.986, abs=2e-3)
    assert found["task_success"] == pytest.approx(0.754, abs=0.03)
    assert round(1 / 0.014) == 71


def test_retries_cost_time_and_save_tasks():
    load = AgentWorkload("t", "", "", 0, tuple(Turn(10, 10, 0, 8) for _ in range(5)))
    few, many = (
        agent(load, AR, cost=fixed(), failure=Failure(own=0.3), retries=n, tasks=3000)["rows"][0] for n in (0, 8)
    )
    assert many["task_success"] > 0.99 > few["task_success"]
    assert many["attempts_per_step"] == pytest.approx(1 / 0.7, rel=0.05)
    assert many["usd_per_task"] is None


def test_a_looser_bar_is_faster_and_fails_more():
    found = agent("web-task", ["block-diffusion:threshold=0.8", "block-diffusion:threshold=0.99"], tasks=200)
    loose, tight = found["rows"]
    assert loose["decode_s"] < tight["decode_s"]
    assert loose["step_success"] < tight["step_success"]


def test_money_names_its_units():
    load = AgentWorkload("t", "", "", 0, (Turn(100, 100, 0, 199),))
    prices = Prices(3.6, 2, 500.0, 1.0, 2.0)
    one = agent(load, AR, cost=fixed(10), prices=prices, tasks=5)["rows"][0]
    assert one["gpu_s"] == pytest.approx(2.0)  # one prefill and 199 passes of 10 ms
    assert one["usd_per_task"] == pytest.approx(2.0 * 3.6 * 2 / 3600)
    assert one["energy_upper_bound_j"] == pytest.approx(2.0 * 1000)
    assert one["usd_per_task_by_tokens"] == pytest.approx((100 * 1 + 199 * 2) / 1e6)


def test_the_same_seed_gives_the_same_result():
    assert agent("web-task", tasks=50, seed=3) == agent("web-task", tasks=50, seed=3)


def test_linked_fields():
    assert [round(implied_field_success(g, 4.84), 3) for g in (0.804, 0.624, 0.158)] == [0.956, 0.907, 0.683]
    assert Decisions(5, 0.9, 1).group_success == 0.9 > Decisions(5, 0.9).group_success == 0.9**5
    one = agent("joint-decisions", AR, cost=fixed(), tasks=5)["rows"][0]["decisions"]
    assert one["jointly"]["group_success"] > one["one_by_one"]["group_success"]
    assert one["one_by_one"]["prefill_s"] == pytest.approx(5 * 0.015)
    with pytest.raises(InputError, match="correlation"):
        Decisions(5, 0.9, 2)


MESSAGES = [
    {"role": "system", "content": "You book flights."},
    {"role": "user", "content": "Change my flight to the afternoon."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"type": "function", "function": {"name": "find", "arguments": "{\"id\": \"u1\"}"}}]},
    {"role": "tool", "content": "{\"flights\": [1, 2, 3]}"},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "Number two fits."},
                                      {"type": "tool_use", "name": "book", "input": {"flight": 2}}]},
    {"role": "user", "content": [{"type": "tool_result", "content": "booked"}]},
    {"role": "assistant", "content": "Done, you fly at three."},
]  # fmt: skip


@pytest.mark.parametrize("form", ["lines", "array", "object"])
def test_messages(tmp_path, form):
    path = tmp_path / "t.jsonl"
    body = {"lines": "\n".join(map(json.dumps, MESSAGES)), "array": json.dumps(MESSAGES),
            "object": json.dumps({"messages": MESSAGES})}[form]  # fmt: skip
    path.write_text(body)
    load = load_agent_workload(str(path), tool_s=0.5)
    assert len(load.turns) == 3
    assert load.turns[1].thinking_tokens > 0 == load.turns[0].thinking_tokens
    assert load.turns[0].tool_s == 0.5 and load.turns[2].tool_s == 0
    for before, after in zip(load.turns, load.turns[1:], strict=False):
        written = before.context_tokens + before.thinking_tokens + before.output_tokens
        assert after.context_tokens == written + after.new_tokens


def test_function_calls_and_sizes(tmp_path):
    calls = tmp_path / "bfcl.json"
    calls.write_text("\n".join([
        json.dumps({"id": "a", "question": [[{"role": "user", "content": "sum 1 and 2"}]], "function": []}),
        json.dumps({"id": "a", "ground_truth": [{"sum": {"x": [1], "y": [2, ""]}}]}),
    ]))  # fmt: skip
    (turn,) = load_agent_workload(str(calls)).turns
    assert turn.context_tokens > 5 and turn.output_tokens > 5
    sizes = tmp_path / "log.csv"
    sizes.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n")
    (turn,) = load_agent_workload(str(sizes)).turns
    assert (turn.context_tokens, turn.output_tokens) == (4808, 10)


BAD = [
    ('{"turns": [{"output_tokens": -5}]}', "output_tokens is -5"),
    ('{"turns": [{"output_tokens": 5, "tool_s": "x"}]}', "tool_s"),
    ('{"turns": []}', "turns is missing"),
    ('{"turns": [{"added_tokens": 5}]}', "output_tokens is missing"),
    ('{"turns": [{"output_tokens": 5}], "repeat": 1000000000000}', "repeat"),
    ('{"turns": [{"output_tokens": 5, "ouput": 1}]}', "unknown key 'ouput'"),
    ('{"turns": [{"output_tokens": 5, "added_tokens": 9000000}]}', "context"),
    ('{"role": "wizard", "content": "x"}', "wizard"),
    ('{"role": "user", "content": "x"}', "nothing was decoded"),
    ('{"role": "assistant", "content": 5}', "content is 5"),
    ('{"role": "assistant"', "not valid JSON"),
    ('{"a": 1}', "not a transcript"),
    ("no,columns\n1,2\n", "not a log"),
    ("prompt_tokens,completion_tokens\n-1,5\n", "prompt_tokens is '-1'"),
    ("", "empty"),
]


@pytest.mark.parametrize(("body", "said"), BAD, ids=[said for _, said in BAD])
def test_bad_workloads_get_one_line(tmp_path, capsys, body, said):
    path = tmp_path / "w.json"
    path.write_text(body)
    assert main(["agent", str(path)]) == 3
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1


def test_the_command(capsys, tmp_path):
    assert main(["agent", "web-task", "--tasks", "50", "--export", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    assert "so no strategy can make this task more than" in out and "What matters most" in out
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["schema"] == "clover-sim/agent/1" and len(document["rows"]) == 4
    assert main(["agent", "web-tusk"]) == 2
    assert "did you mean 'web-task'" in capsys.readouterr().err
    assert main(["agent", "--token-price", "mercury-2.5", "--tasks", "5"]) == 0
    assert "token price list" in capsys.readouterr().out
    assert main(["agent", "--gpu", "rtx-3060", "--tasks", "5"]) == 3
    assert main(["agent", "--prompt-tokens", "5"]) == 2


def test_a_long_log_is_done_in_time(tmp_path):
    path = tmp_path / "log.csv"
    lines = [f"{i},{100 + i % 700},{1 + (i * 37) % 900}" for i in range(3000)]
    path.write_text("Timestamp,Request tokens,Response tokens\n" + "\n".join(lines) + "\n")
    found = agent(str(path), AR, tasks=5)
    exact = sum(1 + (i * 37) % 900 for i in range(3000))
    assert found["workload"]["output_tokens"] == exact
    assert found["rows"][0]["passes"] == pytest.approx(exact)
    assert found["rows"][0]["decode_s"] == pytest.approx(exact * 0.0045, rel=0.02)


def test_no_text_is_endless(tmp_path):
    path = tmp_path / "w.json"
    path.write_text('{"turns": [{"output_tokens": 9000000}]}')
    with pytest.raises(InputError, match="more than can be run"):
        agent(str(path), AR, cost=fixed())


def said(found, width=80):
    return " ".join(render_agent(found, Look(width=width)).split())


def test_dollars_say_whose_they_are_and_what_they_leave_out():
    found = agent("web-task", ["ar", "block-diffusion"], tasks=20)
    text, prices = said(found), found["settings"]["prices"]
    assert prices["usd_per_hour"] == load_hardware("h200").price_usd_per_hour
    assert f"{prices['usd_per_hour']:g} USD an hour" in text and "median on-demand list price" in text
    assert "collected 2026" in text and "not an offer" in text
    best = min(found.rows, key=lambda r: r["task_s_per_success"])
    assert f"{best['usd_per_success']:#.2g} USD a finished task" in text
    assert best["usd_per_success"] * found.rows[0]["task_success"] == pytest.approx(
        best["gpu_s"] / best["task_success"] * prices["usd_per_hour"] / 3600
    )
    own = agent("web-task", ["ar"], tasks=5, prices=Prices(usd_per_hour=2, source="a contract of 2026"))
    assert "at 2 USD an hour (a contract of 2026)" in said(own)
    assert "No price of m4-max is known" in said(agent("web-task", ["ar"], gpu="m4-max", model="qwen3-4b", tasks=5))
    listed = agent("web-task", ["ar"], tasks=5, prices=Prices(input_usd=0.2, output_usd=0.75, tokens_source="A, 2026"))
    assert "By the token price list (A, 2026)" in said(listed)


def test_dollars_have_as_many_digits_as_tell_rows_apart():
    found = agent("web-task", ["ar", "speculative:parallel_draft=true"], tasks=20)
    table = render_agent(found, Look(width=200)).split("\n\n")[1].splitlines()
    for row, line in zip(found.rows, table[3:], strict=True):
        shown = line.split()[-2]
        assert float(shown) == pytest.approx(1000 * row["usd_per_success"], rel=0.005)


@pytest.mark.parametrize("width", [30, 44, 60, 80, 100, 120, 160])
def test_the_time_of_a_task_never_stands_without_its_success(width):
    found = agent("web-task", ["ar", "block-diffusion"], tasks=5)
    head = " ".join(render_agent(found, Look(width=width)).split("\n\n")[1].split())
    assert "task ok" in head and "success" in head and "s per" in head


def test_one_by_one_and_at_once_are_told_apart():
    assert "one by one, a pass each (parallel_draft=false)" in said(agent("web-task", ["ar", "speculative"], tasks=3))
    assert "in one pass here (parallel_draft=true)" in said(agent("web-task", tasks=3))
