"""Workloads that cannot be read are refused in one whole line; what can be read is read as it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clover_sim.agents.decisions import Decisions, implied_correlation
from clover_sim.agents.reading import load_agent_workload
from clover_sim.agents.run import agent
from clover_sim.agents.sizes import Size, read_sizes
from clover_sim.agents.workload import AgentWorkload, Turn
from clover_sim.cli import main
from clover_sim.cost import Fixed
from clover_sim.errors import InputError

ASKED = '{"role": "user", "content": "hi"}'
SAID = '{"role": "assistant", "content": "ho"}'
PAIR = '{"prompt_tokens": 5, "completion_tokens": 6}'
WHOLE = "expected a whole number from 0 to 10000000"
ROLES = "expected one of system, developer, user, assistant, tool, function"

REFUSED = [
    (" \n\n", "w.json: holds no text; expected messages, turns or request sizes"),
    (f"{ASKED}\n\n{{bad", "w.json:3: not valid JSON (Expecting property name enclosed in double quotes: line 1 "
                          "column 2 (char 1))"),
    (f"{ASKED}\n7", f"w.json:2: role is missing: {ROLES}"),
    (f'{ASKED}\n{{"content": "ho"}}', f"w.json:2: role is missing: {ROLES}"),
    (f'{{"messages": [{ASKED}, {SAID}]}}\n\n{{"messages": 5}}', "w.json:3: expected a list under messages"),
    ('{"role": "user", "content": ["hi", 5]}', "w.json:1: content holds 5: expected text or parts with a type"),
    ('{"role": "assistant", "tool_calls": [5]}',
     "w.json:1: tool_calls holds 5: expected a function with name and arguments"),
    (f"{SAID}\n" * 20_001, "w.json:20001: over 20000 steps: expected one task"),
    ('{"id": "a", "ground_truth": []}\n7', "w.json:2: expected a record with id and ground_truth or question"),
    ('{"ground_truth": {"f": 1}}', "w.json:1: ground_truth is {'f': 1}: expected a list of calls"),
    ('{"question": "q"}', "w.json: holds questions but no ground_truth: nothing was decoded"),
    (f"[{PAIR}, 7]", "w.json:2: 7: expected a record with token counts"),
    (f'{PAIR}\n\n{{"prompt_tokens": 5}}', "w.json:3: completion_tokens is missing"),
    ('{"prompt_tokens": true, "completion_tokens": 5}', f"w.json:1: prompt_tokens is True: {WHOLE}"),
    ('{"prompt_tokens": 5, "completion_tokens": Infinity}', f"w.json:1: completion_tokens is inf: {WHOLE}"),
    ("prompt_tokens,completion_tokens\n5\n", f"w.json:2: completion_tokens is None: {WHOLE}"),
    ("prompt_tokens,completion_tokens\n5,x\n", f"w.json:2: completion_tokens is 'x': {WHOLE}"),
    ("prompt_tokens,completion_tokens\n5,0\n",
     "w.json: holds no request with output; expected prompt_tokens and completion_tokens"),
    ("prompt_tokens,completion_tokens\n" + "5,1\n" * 20_001,
     "w.json:20002: over 20000 requests: take fewer lines, for example with head"),
    ('prompt_tokens,completion_tokens\n5,"' + "x" * 140_000,
     "w.json:1: not valid CSV (field larger than field limit (131072))"),
    ("prompt_tokens,completion_tokens,time\n5,1,5\n6,5,4\n",
     "w.json:3: the time goes back: expected requests in the order of their arrival"),
    ("prompt_tokens,completion_tokens,time\n5,1,soon\n",
     "w.json:2: time is 'soon': expected seconds or a date and time"),
    ("prompt_tokens,completion_tokens,time\n5,1,nan\n", "w.json:2: time is 'nan': expected seconds"),
    ('{"system_token": 5}', "w.json:1: not a transcript: expected messages with a role, turns, ground_truth, or "
                            "request sizes such as prompt_tokens and completion_tokens"),
    ('{"turns": [5]}', "w.json: turns[0] is 5: expected a table with output_tokens"),
    ('{"turns": [{"output_tokens": 0}]}',
     "w.json: turns[0]: writes no token: expected output_tokens of at least 1"),
    ('{"turns": [{"output_tokens": 1}, {"output_tokens": 1}], "repeat": 20000}',
     "w.json: 40000 turns: expected at most 20000"),
    ('{"decisions": 5}', "w.json: decisions is 5: expected a table [decisions]"),
    ('{"decisions": {"fields": 3, "field_tokens": 5}}',
     "w.json: decisions: field_success is missing: expected a number from 0 to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), REFUSED, ids=[said[:60] for _, said in REFUSED])
def test_the_whole_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.json").write_text(body)
    assert main(["agent", "w.json"]) == 3
    assert capsys.readouterr() == ("", f"clover-sim agent: error: {said}\n")


def test_an_unknown_key_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text("system_token = 5\n")
    with pytest.raises(InputError, match=r"w\.toml: unknown key 'system_token'; did you mean 'system_tokens'\?$"):
        load_agent_workload(str(path))


def test_broken_lists_and_long_logs_of_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(f"[{PAIR}")
    with pytest.raises(InputError, match=r"sizes\.json: not valid JSON; expected a list of records$"):
        read_sizes(str(path), 9)
    path.write_text(f"{PAIR}\n{PAIR[:-1]}\n")
    with pytest.raises(InputError, match=r"sizes\.json:2: not valid JSON; expected one record a line$"):
        read_sizes(str(path), 9)
    monkeypatch.setattr("clover_sim.agents.sizes._MOST_BYTES", 2_000_000)
    path.write_text(f"{PAIR}\n" * 45_000)
    with pytest.raises(InputError, match=r"sizes\.json: over 2 MB: take fewer lines, for example with head$"):
        read_sizes(str(path), 99_999)


def test_requests_without_output_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,prompt_tokens,completion_tokens\n3,5,0\n4,6,7\n4.5,8,9\n")
    assert read_sizes(str(path), 9) == [Size(0.0, 6, 7), Size(0.5, 8, 9)]
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.250000+00:00,1,2\n"
                    "2024-05-10T00:00:02.7500000,3,4\n")  # fmt: skip
    assert read_sizes(str(path), 9) == [Size(0.0, 1, 2), Size(2.5, 3, 4)]


def load(tmp_path: Path, *records: object) -> AgentWorkload:
    path = tmp_path / "t.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)))
    return load_agent_workload(str(path))


def test_parts_of_a_message_are_its_text(tmp_path: Path) -> None:
    plain = load(tmp_path, {"role": "user", "content": "Change the flight"},
                 {"role": "assistant", "content": "It is changed"})  # fmt: skip
    parts = load(tmp_path, {"role": "user", "content": ["Change ", {"type": "text", "text": "the flight"}]},
                 {"role": "assistant", "content": [{"type": "text", "text": "It is "}, "changed"]})  # fmt: skip
    assert parts.turns == plain.turns and len(plain.turns) == 1
    silent = load(tmp_path, {"role": "user", "content": "Change the flight"}, {"role": "assistant", "content": ""},
                  {"role": "assistant", "content": "It is changed"})  # fmt: skip
    assert silent.turns == plain.turns  # a message that says nothing is no step


def test_function_calls_as_text_and_without_their_question(tmp_path: Path) -> None:
    found = load(tmp_path, {"id": "a", "question": "one two three four five"},
                 {"id": "a", "ground_truth": ["f(x=1)"]}, {"id": "b", "ground_truth": ["f(x=1)"]})  # fmt: skip
    asked, other = found.turns
    assert asked.context_tokens == other.context_tokens > 5  # the mean of the questions that are there
    assert asked.output_tokens == other.output_tokens == load(tmp_path, {"ground_truth": ["f(x=1)"]}).output_tokens
    assert found.notes[1] == (
        f"1 of 2 records have no question beside them: {asked.context_tokens} prompt tokens assumed."
    )


def test_bounds_of_linked_fields() -> None:
    with pytest.raises(InputError, match=r"^decisions: fields = 0: expected 1 to 1e6$"):
        Decisions(0, 0.9)
    # 0.9 ** 2 = 0.81 is what independent fields give, 0.9 what one shared draw gives: nothing else can be explained
    assert implied_correlation(0.80, 0.9, 2) is None and implied_correlation(0.91, 0.9, 2) is None
    assert implied_correlation(1.0, 1.0, 2) is None
    assert implied_correlation(0.9, 0.9, 2) == 1 and implied_correlation(0.81, 0.9, 2) == pytest.approx(0)


def test_progress_counts_strategies() -> None:
    task, seen = AgentWorkload("t", "", "", 0, (Turn(10, 10, 0, 8),)), []
    note: Callable[[int, int], None] = lambda done, total: seen.append((done, total))  # noqa: E731
    agent(task, ["ar", "block-diffusion"], cost=Fixed(0.01), tasks=5, progress=note)
    assert seen == [(0, 2), (1, 2)]


def test_linked_fields_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agent", "joint-decisions", "-s", "ar", "--tasks", "5"]
    assert main([*words, "--format", "json"]) == 0
    one = json.loads(capsys.readouterr().out)["rows"][0]["decisions"]
    assert main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    joint, single = one["jointly"], one["one_by_one"]
    assert (
        f"linked fields: all in one block against one request each ar: jointly {1e3 * joint['seconds']:.0f} ms and "
        f"{100 * joint['group_success']:.1f}% of groups right, one by one {1e3 * single['seconds']:.0f} ms and "
        f"{100 * single['group_success']:.1f}%"
    ) in out
