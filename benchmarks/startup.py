"""Start-up of every command against bare Python, whole processes in turns."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import ROOT, Figure, beside, process

sys.path[:0] = [str(ROOT / "src")]

from clover_sim.cli._dispatch import commands  # noqa: E402

LOG = "INFO metrics.py: SpecDecoding metrics: Mean acceptance length: 2.50, Accepted: 150 tokens, Drafted: 300 tokens\n"
COMMANDS: dict[str, tuple[str, ...]] = {
    "compare": (),
    "trace": (),
    "price": (),
    "list": ("models",),
    "speculate": ("--alpha", "0.7", "--num-speculative-tokens", "3"),
    "explain": ("spec.log",),
    "calibrate": ("--model", "qwen3-8b", "--gpu", "h200", "--engine", "vllm", "--measured-tokens-per-s", "200"),
    "completion": ("bash",),
    "agent": ("--tasks", "20"),
    "serve": ("--requests", "200"),
    "sweep": ("--vary", "threshold=0.9,0.95"),
    "validate": ("--claims",),
}
"""Each command with the least it can do; one that is not here shows its help."""

SIMULATING = ("agent", "serve", "sweep", "validate")
"""Whose time is what they work out."""


_FLOOR = "import argparse, dataclasses, typing"


def figures(quick: bool) -> Iterator[Figure]:
    """One line a command. Only those that answer at once have the bar of five times.

    What a ratio comes to depends on how long Python itself takes to start here, which an environment full of packages
    makes longer, so that is stated first, and what the standard library alone takes after it.
    """
    repeats = 5 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "spec.log").write_text(LOG * 3)
        bare = process("-c", "pass")
        imported, none = beside(process("-c", "import clover_sim"), bare, repeats)
        yield Figure("python -c pass", f"{none * 1e3:.1f} ms")
        yield Figure("import clover_sim, above bare Python", f"{(imported - none) * 1e3:.1f} ms", "at most 25 ms",
                     imported - none <= 0.025)  # fmt: skip
        floor, none = beside(process("-c", _FLOOR), bare, repeats)
        yield Figure(f"{_FLOOR} / python -c pass", f"{floor / none:.1f}x")
        for command in commands():
            words = (command, *COMMANDS.get(command, ("--help",)))
            took, none = beside(process("-m", "clover_sim", *words, cwd=folder), bare, repeats)
            instant = command not in SIMULATING
            yield Figure(f"clover-sim {command} / python -c pass", f"{took / none:.1f}x",
                         "at most 5x" if instant else "", took / none <= 5 if instant else None)  # fmt: skip
