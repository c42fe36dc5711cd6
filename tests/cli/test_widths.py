"""Whatever is printed fits the terminal: every command, every list, every help, at 80 and at 120 columns."""

from __future__ import annotations

import re

import pytest

from clover_sim import diffusion_checks
from clover_sim.cli import main
from clover_sim.cli._dispatch import commands
from clover_sim.cli._parser import fitted_text
from clover_sim.cli.list import TOPICS
from clover_sim.report._text import display_width
from clover_sim.streams.workloads import workload_names

WIDTHS = (80, 120)
A_SCRIPT = "completion"
"""What it prints is for a shell."""

LOG = """\
INFO 05-07 12:34:56 [loggers.py:123] Engine 000: Avg prompt throughput: 120.0 tokens/s, Avg generation throughput: \
400.0 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 5.0%, Prefix cache hit rate: 0.0%
INFO 05-07 12:34:56 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 200.00 \
tokens/s, Drafted throughput: 400.00 tokens/s, Accepted: 2000 tokens, Drafted: 4000 tokens, Per-position acceptance \
rate: 0.800, 0.450, 0.250, Avg Draft acceptance rate: 50.0%
"""

LONGEST_CHECKS = [
    diffusion_checks.Checked(workload, setting, "tokens_per_pass", 7.01, 7.128, -0.006212, 0.03, fitted, "")
    for workload in workload_names() for setting, fitted in (("threshold 0.95, block 32", False), ("at_cap", True))
]  # fmt: skip
"""Working the real ones out takes twenty seconds."""

MORE = (
    "compare --tokens 256 --seeds 0:4", "compare -s block-diffusion:threshold=0.9 -s block-diffusion:threshold=0.99",
    "compare --model sdar-8b --gpu h100 --batch-size 64 --tokens 256", "sweep --all --tokens 64 --seeds 0:2",
    "sweep --vary model=qwen3-30b-a3b,clover-35b-a3b --vary gpu=h100,rtx-pro-6000 --vary batch_size=1,8 --tokens 64",
    "agent joint-decisions --tasks 20 --token-price mercury-2.5", "agent coding-agent --tasks 5",
    "serve --pool 20 --requests 40 --users 4 --target-first-token-ms 500",
    "serve --pool 10 --requests 20 --ladder 1,8 -s ar -s eagle3 -s mtp -s block-diffusion:threshold=0.9 -s speculative",
    "serve --published", "price --batch-size 1,64 --context 1024,32768 --width 1,8,32",
    "price --model deepseek-v3 --gpu b200 --tensor-parallel-size 8", "speculate --workload code --model llama-3.1-8b",
    "speculate --method mtp --acceptance-rate 0.85 --rate-of vllm --num-speculative-tokens 1 --model qwen3.5-27b",
    "validate --rows all", "validate --rows distinct", "validate --claims", "validate --diffusion",
    "validate --measurements speculative --rows all", "trace --profile tool-call", "trace -s speculative",
    "calibrate --measured-tokens-per-s 140 --model llama-3.1-8b --gpu h100",
    "explain LOG", "explain LOG --model llama-3.1-8b --gpu h100",
)  # fmt: skip


SLOW = ("serve", "serve --published", "agent coding-agent --tasks 5")
"""At the narrower width alone."""


def every_call():
    yield ""
    for name in commands():
        yield f"{name} --help"
        if name != A_SCRIPT:
            yield name
    for topic in TOPICS:
        yield f"list {topic}"
    yield from MORE


@pytest.mark.parametrize("call", [*every_call()])
def test_every_line_fits(call, capsys, monkeypatch, tmp_path):
    log = tmp_path / "server.log"
    log.write_text(LOG)
    monkeypatch.setattr(diffusion_checks, "check_diffusion", lambda traces: LONGEST_CHECKS)
    for width in WIDTHS[: 1 if call in SLOW else None]:
        monkeypatch.setenv("COLUMNS", str(width))
        code = main([str(log) if word == "LOG" else word for word in call.split()])
        out, err = capsys.readouterr()
        needs_more = code == 2 and len(call.split()) == 1  # a command that cannot go without flags says so
        assert code == 0 or needs_more, err
        assert [line for line in out.splitlines() if display_width(line) > width] == []


def test_a_command_in_several_lines_is_still_one():
    text = "examples:\n  tool run --first 'a b' --second 2 path/to/file -q --third 3 \\\n      --fourth 4\n"
    lines = fitted_text(text, 30)
    assert max(map(len, lines)) <= 30
    assert re.sub(r"\\\n\s+", "", "\n".join(lines)) == text.replace("\\\n      ", "")
