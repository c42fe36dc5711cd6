"""Logs and transcripts as they come: fractions, offsets, empty lines above, odd calls, and long files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clover_sim.agents.reading import load_agent_workload
from clover_sim.agents.sizes import Size, read_sizes
from clover_sim.cli import main
from clover_sim.errors import InputError


def refused(tmp_path: Path, text: str, name: str = "w.json") -> str:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_agent_workload(str(path))
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_a_fraction_of_a_token(tmp_path: Path) -> None:
    said = "w.json:1: prompt_tokens is 5.7: expected a whole number from 0 to 10000000"
    assert refused(tmp_path, '{"prompt_tokens": 5.7, "completion_tokens": 6}') == said
    path = tmp_path / "s.json"
    path.write_text('{"prompt_tokens": 5.0, "completion_tokens": 6}')
    assert read_sizes(str(path), 9) == [Size(None, 5, 6)]


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [
        ("2024-05-10 00:00:00.25+00:00", "2024-05-10T00:00:02.75Z", 2.5),
        ("2024-10-27 02:59:59.000000+02:00", "2024-10-27 02:00:01.000000+01:00", 2.0),  # the end of summer time
        ("2023-11-16 18:17:03.9799600", "2023-11-16 18:17:04.0799600", 0.1),
    ],
)
def test_times_with_an_offset(tmp_path: Path, first: str, second: str, gap: float) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{first},1,2\n{second},3,4\n")
    assert read_sizes(str(path), 9)[1].time_s == pytest.approx(gap, abs=1e-6)


def test_lines_are_counted_from_the_first_of_the_file(tmp_path: Path) -> None:
    assert refused(tmp_path, '\n\n\n{"role": "user", "content": "a"}\n{bad').startswith("w.json:5: not valid JSON (")
    assert refused(tmp_path, "\n\nprompt_tokens,completion_tokens\n5,x\n").startswith("w.json:4: completion_tokens is")
    assert refused(tmp_path, "\n\nno,columns\n1,2\n").startswith("w.json:3: not a log of request sizes: ")


@pytest.mark.parametrize("value", [5, "f", {"a": 1}])
def test_tool_calls_that_are_none(tmp_path: Path, value: object) -> None:
    said = f"w.json:1: tool_calls is {value!r:.30}: expected a list of calls, or null"
    assert refused(tmp_path, json.dumps({"role": "assistant", "tool_calls": value})) == said


def test_a_long_transcript_names_no_flag_that_agent_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.json"
    path.write_text("x" * 8_100_000)
    assert main(["agent", str(path)]) == 3
    said = "clover-sim agent: error: w.json: over 8 MB: take fewer lines, for example with head\n"
    assert capsys.readouterr() == ("", said)


def test_an_unknown_key_beside_turns(tmp_path: Path) -> None:
    text = "repeet = 5\n[[turns]]\noutput_tokens = 3\n"
    assert refused(tmp_path, text, "w.toml") == "w.toml: unknown key 'repeet'; did you mean 'repeat'?"
