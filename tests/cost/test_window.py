"""A context beyond the model's own is priced, and every command that prices it says so, once and in one line."""

from __future__ import annotations

import re

import pytest

from clover_sim import compare, sweep
from clover_sim.cli import main
from clover_sim.specs import load_model

SAID = re.compile(r"([\d,]+) tokens of context, but (\S+) is made for ([\d,]+): prices beyond that")
QWEN = ["--model", "qwen3-30b-a3b", "--gpu", "h200"]


@pytest.mark.parametrize(
    ("command", "tokens"),
    [
        (["price", "--context", "1000,50000,45000", "--width", "1,8"], "50,000"),
        (["compare", "--prompt-tokens", "50000", "--tokens", "32,64"], "50,064"),
        (["compare", "--prompt-tokens", "40000", "--tokens", "64", "--max-new-tokens", "1000"], "41,000"),
        (["sweep", "--vary", "threshold=0.8,0.9", "--prompt-tokens", "50000", "--tokens", "64"], "50,064"),
        (["speculate", "--alpha", "0.8", "--prompt-tokens", "50000"], "50,000"),
    ],
)
def test_every_command_says_it_once(command, tokens, capsys):
    assert main([*command, *QWEN]) == 0
    shown = capsys.readouterr()
    assert SAID.findall(" ".join((shown.out + shown.err).split())) == [(tokens, "qwen3-30b-a3b", "40,960")]


@pytest.mark.parametrize(
    "command",
    [
        ["price", "--context", "40960"], ["compare", "--prompt-tokens", "40896", "--tokens", "64"],
        ["sweep", "--vary", "threshold=0.8,0.9", "--prompt-tokens", "40896", "--tokens", "64"],
        ["speculate", "--alpha", "0.8", "--prompt-tokens", "40960"],
        ["compare", "--prompt-tokens", "50000", "--tokens", "64", "--cost", "fixed:pass_ms=3"],
    ],
)  # fmt: skip
def test_what_is_within_it_is_not_spoken_of(command, capsys):
    machine = [] if "--cost" in command else QWEN
    assert main([*command, *machine]) == 0
    shown = capsys.readouterr()
    assert not SAID.findall(" ".join((shown.out + shown.err).split()))


def test_a_sweep_says_it_of_each_model_that_is_too_small():
    found = sweep("ar", vary={"model": ["qwen3-8b", "llama-3.1-8b", "qwen3-30b-a3b"], "prompt_tokens": [10, 60_000]},
                  tokens=40, machine={"gpu": "h200"})  # fmt: skip
    said = [SAID.match(note) for note in found.notes]
    assert [m.groups() for m in said if m] == [
        ("60,040", name, f"{load_model(name).max_context_tokens:,}") for name in ("qwen3-8b", "qwen3-30b-a3b")
    ]


def test_a_model_without_a_limit_has_none():
    from clover_sim.cost import Machine
    from clover_sim.specs import bare_model, load_engine, load_hardware

    machine = Machine(bare_model(8e9), load_hardware("h200"), load_engine("vllm"))
    assert not any(SAID.match(note) for note in compare("ar", tokens=64, prompt_tokens=10**6, cost=machine).notes)
