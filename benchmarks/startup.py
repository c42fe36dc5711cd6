"""Start-up of every command against bare Python, whole processes in turns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, beside, process

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
"""Each command with the least it can do; the last four simulate, which is what their time is."""

_INSTANT = ("compare", "trace", "price", "list", "speculate", "explain", "calibrate", "completion")


def figures(quick: bool) -> Iterator[Figure]:
    """One line a command. Only those that answer at once have the bar of five times."""
    repeats = 5 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "spec.log").write_text(LOG * 3)
        bare = process("-c", "pass")
        imported, none = beside(process("-c", "import clover_sim"), bare, repeats)
        yield Figure("import clover_sim, above bare Python", f"{(imported - none) * 1e3:.1f} ms", "at most 25 ms",
                     imported - none <= 0.025)  # fmt: skip
        for command, rest in COMMANDS.items():
            took, none = beside(process("-m", "clover_sim", command, *rest, cwd=folder), bare, repeats)
            instant = command in _INSTANT
            yield Figure(f"clover-sim {command} / python -c pass", f"{took / none:.1f}x",
                         "at most 5x" if instant else "", took / none <= 5 if instant else None)  # fmt: skip
