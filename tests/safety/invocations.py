"""One quick run of every command, found rather than listed: the first example of its help, made short.

A command that is added is asked everything that the tests of this folder ask, without a line here. What its first
example reads must be among :data:`FILES`; what makes it long should be a flag of :data:`SHORT`.
"""

from __future__ import annotations

import io
import shlex
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

from clover_sim.cli import main
from clover_sim.cli._dispatch import commands
from clover_sim.cli._parser import OUTPUT, Parser

LOG = (
    "INFO 10-01 12:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
    "throughput: 74.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: "
    "0.0%\n"
)
# Summer time begins between the second and the third in most of Europe and America.
_TIMES = ("2024-03-09 23:00:00", "2024-03-10 01:30:00", "2024-03-10 03:30:00", "2024-04-01 12:00:00")
FILES = {
    "server.log": LOG * 4,
    "calls.jsonl": '{"name": "suche", "args": {"stadt": "Zürich İstanbul", "n": 1.5}}\n' * 12,
    "requests.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(f"{time},100,20\n" for time in _TIMES),
    "one-turn.toml": 'name = "one"\nsource = "made up"\nsystem_tokens = 50\n[[turns]]\nadded_tokens = 20\n'
    "output_tokens = 24\ntool_s = 0.2\n",
}
"""What examples read, by name."""

SHORT = {
    "WORKLOAD": "one-turn.toml", "--tokens": "32", "--tasks": "2", "--requests": "4", "--pool": "2", "--rate": "1",
    "--ladder": "2", "--vary": "threshold=0.8",
}  # fmt: skip
"""Flags and arguments that keep a run short, given to every command that has them and whose example does not."""


def parser(command: str) -> Parser:
    """The parser of a command."""
    made = Parser(command, "")
    commands()[command].configure(made)
    return made


def quick(command: str, folder: Path | None = None) -> list[str]:
    """The words after ``clover-sim`` of a quick run, which stands in a folder with :data:`FILES` or names that one."""
    text = commands()[command].EXAMPLES.replace("\\\n", " ")
    line = next(line for line in text.splitlines() if line.startswith(f"  clover-sim {command}"))
    words = shlex.split(line.partition(" > ")[0])[1:]
    known = parser(command)._actions
    for key, value in SHORT.items():
        names = {name for action in known for name in action.option_strings or [str(action.metavar)]}
        if key in names and key not in words:
            words += [key, value] if key.startswith("--") else [value]
    return words if folder is None else [str(folder / word) if word in FILES else word for word in words]


def samples(folder: Path) -> Path:
    """Write :data:`FILES` there."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def writers() -> list[tuple[str, str]]:
    """(command, flag) of every flag that names a file to write, found in the parsers."""
    return [
        (command, action.option_strings[-1])
        for command in commands()
        for group in parser(command)._action_groups
        if group.title == OUTPUT
        for action in group._group_actions
        if action.metavar == "FILE"
    ]


def computing() -> list[str]:
    """Every command that writes a result to files."""
    return sorted({command for command, _ in writers()})


@cache
def ending(command: str) -> str:
    """The first ending under which the command writes."""
    for tried in (".json", ".toml"):
        with tempfile.TemporaryDirectory() as name:
            folder = samples(Path(name))
            words = [*quick(command, folder), "--export", str(folder / f"tried{tried}")]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                if main(words) == 0:
                    return tried
    raise AssertionError(f"clover-sim {command} writes neither .json nor .toml")
