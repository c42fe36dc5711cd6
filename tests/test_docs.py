"""The README cannot lie: its commands run, its output is what they print, its code works.

``CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/test_docs.py`` writes the printed output into the pages.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from logs.lines import v1

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")), *sorted((ROOT / "examples").glob("**/*.md"))]
PATH = os.pathsep.join([str(ROOT / "src"), str(ROOT / "examples" / "plugin" / "src")])
STARTED = (
    "INFO 03-04 05:05:00 [utils.py:233] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', "
    "'speculative_config': {'method': 'eagle3', 'model': 'drafter', 'num_speculative_tokens': 3}}\n"
)
LOG = STARTED + v1(200, [160, 100, 60])
"""A server's log from its start on."""

CALLS = '{"name": "search", "arguments": {"query": "block diffusion", "limit": 5, "exact": true}}\n'


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def every(language: str) -> list[tuple[Path, str]]:
    return [(page, block) for page in PAGES for block in blocks(page, language)]


def label(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value).partition("\n")[0][:50]


def run(command: str, folder: Path, columns: int = 110, stdin: str = "") -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "clover-sim"
    env = {
        **os.environ, "PYTHONPATH": f"{PATH}{os.pathsep}{folder}", "COLUMNS": str(columns),
        "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "clover_sim", *words[1:]], cwd=folder, env=env, capture_output=True, text=True,
        encoding="utf-8", timeout=60, input=stdin,
    )  # fmt: skip


def commands() -> list[str]:
    """Commands quoted in text and tables, and those of console blocks (their output is compared separately)."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    quoted = re.findall(r"`(clover-sim [a-z][^`\n]*)`", text)
    return sorted(set(quoted) - {"clover-sim compare -s ar -s mine:TwoBars"})


@pytest.mark.parametrize("command", commands())
def test_quoted_commands_run(command, tmp_path):
    (tmp_path / "tool_calls.jsonl").write_text(CALLS * 10)
    (tmp_path / "server.log").write_text(LOG)
    done = run(command, tmp_path)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    assert done.stdout.strip()


def shown() -> list[tuple[Path, str]]:
    """Console blocks of one command and what it prints (those of several commands are only for reading)."""
    one = [(page, block) for page, block in every("console") if block.count("$ ") == 1]
    return [(page, block) for page, block in one if block.startswith("$ clover-sim")]


@pytest.mark.parametrize(("page", "block"), shown(), ids=label)
def test_console_blocks_show_what_is_printed(page, block, tmp_path):
    command, _, text = block.partition("\n")
    done = run(command[2:], tmp_path)
    assert done.returncode == 0, done.stderr
    printed = "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
    if os.environ.get("CLOVER_SIM_UPDATE_DOCS"):
        whole = page.read_text(encoding="utf-8")
        page.write_text(whole.replace(block, f"{command}\n{printed}\n"), encoding="utf-8")
        return
    assert printed.splitlines() == [line.rstrip() for line in text.rstrip().splitlines()]


def in_shell_blocks() -> list[tuple[Path, str]]:
    """Every ``clover-sim`` line of a shell block: continued lines joined, remarks and what pipes into it left out."""
    found = []
    for page, block in every("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.partition(" # ")[0].strip()
            start = line.rfind("| clover-sim")
            if start >= 0 or line.startswith("clover-sim "):
                found.append((page, line[start + 2 :] if start >= 0 else line))
    return found


METRICS = (
    'vllm:spec_decode_num_drafts_total{engine="0"} 100.0\nvllm:spec_decode_num_draft_tokens_total{engine="0"} 200.0\n'
    'vllm:spec_decode_num_accepted_tokens_total{engine="0"} 120.0\nvllm:generation_tokens_total{engine="0"} 220.0\n'
)
MESSAGES = [
    {"role": "user", "content": "Find the page."},
    {"role": "assistant", "content": '{"name": "search", "arguments": {"query": "block diffusion"}}'},
]


@pytest.mark.parametrize(("page", "line"), in_shell_blocks(), ids=label)
def test_shell_blocks_run(page, line, tmp_path):
    (tmp_path / "server.log").write_text(LOG)
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(LOG.encode()))
    (tmp_path / "bench.json").write_text(METRICS)
    (tmp_path / "transcript.jsonl").write_text("".join(json.dumps(one) + "\n" for one in MESSAGES))
    done = run(line, tmp_path, stdin=METRICS if "explain -" in line else "")
    assert done.returncode == 0 and done.stdout.strip(), f"{line}: {done.stderr}"
    for file in re.findall(r"--export (\S+)", line):
        assert (tmp_path / file).stat().st_size > 0


@pytest.mark.parametrize(("page", "block"), every("python"), ids=label)
def test_python_blocks_run(page, block, tmp_path):
    if block.startswith("def decode(self"):
        compile(block, str(page), "exec")
        return
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_strategy_of_the_readme_runs_from_its_file(tmp_path):
    code = next(block for block in blocks(ROOT / "README.md", "python") if "class TwoBars" in block)
    (tmp_path / "mine.py").write_text(code)
    done = run("clover-sim compare -s ar -s mine:TwoBars --tokens 128", tmp_path)
    assert done.returncode == 0 and "TwoBars" in done.stdout, done.stderr


def test_the_readme_states_the_command_that_ci_runs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    inside = text.partition("<!-- test-command -->")[2].partition("<!-- /test-command -->")[0]
    assert len([line for line in inside.splitlines() if line and not line.startswith("```")]) == 1
    assert "test-command" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
