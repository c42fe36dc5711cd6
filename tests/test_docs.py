"""The README cannot lie: its commands run, its output is what they print, its code works.

``CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/test_docs.py`` writes the printed output into the pages.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from logs.lines import v1
from pages import ROOT, Beside, Ended, run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")), *sorted((ROOT / "examples").glob("**/*.md"))]
STARTED = (
    "INFO 03-04 05:05:00 [utils.py:233] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', "
    "'speculative_config': {'method': 'eagle3', 'model': 'drafter', 'num_speculative_tokens': 3}}\n"
)
LOG = STARTED + v1(200, [160, 100, 60])
"""A server's log from its start on."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def every(language: str) -> list[tuple[Path, str]]:
    return [(page, block) for page in PAGES for block in blocks(page, language)]


def label(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value).partition("\n")[0][:50]


BESIDE: list[Beside] = []


def beforehand(items: list[pytest.Item]) -> None:
    """Start each command and snippet that the tests to come ask for, once, however many pages repeat it."""
    values = [value for item in items if hasattr(item, "callspec") for value in item.callspec.params.values()]
    if texts := [*dict.fromkeys(text for text in map(runnable, values) if text is not None)]:
        BESIDE.append(Beside(texts, LOG))


def afterwards() -> None:
    for one in BESIDE:
        one.end()


def ended(text: str) -> Ended:
    """How a command or snippet ended, once it has."""
    return BESIDE[-1][text]


def runnable(value: Any) -> str | None:
    """The command or snippet to run, of a command, a block or a page."""
    if isinstance(value, Path) or value.startswith("def decode(self"):
        return None
    return value.partition("\n")[0][2:] if value.startswith("$ ") else value


def commands() -> list[str]:
    """Commands quoted in text and tables, and those of console blocks (their output is compared separately)."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    quoted = re.findall(r"`(clover-sim [a-z][^`\n]*)`", text)
    return sorted(set(quoted) - {"clover-sim compare -s ar -s mine:TwoBars"})


@pytest.mark.parametrize("command", commands())
def test_quoted_commands_run(command):
    done = ended(command)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    assert done.stdout.strip()


def shown() -> list[tuple[Path, str]]:
    """Console blocks of one command and what it prints (those of several commands are only for reading)."""
    one = [(page, block) for page, block in every("console") if block.count("$ ") == 1]
    return [(page, block) for page, block in one if block.startswith("$ clover-sim")]


@pytest.mark.parametrize(("page", "block"), shown(), ids=label)
def test_console_blocks_show_what_is_printed(page, block):
    command, _, text = block.partition("\n")
    done = ended(command[2:])
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


@pytest.mark.parametrize(("page", "line"), in_shell_blocks(), ids=label)
def test_shell_blocks_run(page, line):
    done = ended(line)
    assert done.returncode == 0 and done.stdout.strip(), f"{line}: {done.stderr}"
    for file in re.findall(r"--export (\S+)", line):
        assert Path(done.folder, file).stat().st_size > 0


@pytest.mark.parametrize(("page", "block"), every("python"), ids=label)
def test_python_blocks_run(page, block):
    if block.startswith("def decode(self"):
        compile(block, str(page), "exec")
        return
    done = ended(block)
    assert done.returncode == 0, done.stderr


def test_the_strategy_of_the_readme_runs_from_its_file(tmp_path):
    code = next(block for block in blocks(ROOT / "README.md", "python") if "class TwoBars" in block)
    (tmp_path / "mine.py").write_text(code)
    done = run("clover-sim compare -s ar -s mine:TwoBars --tokens 128", str(tmp_path), LOG)
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
