"""Run the command line as users do, as a process of its own, or inside the test where only the outcome counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
COMMAND = [sys.executable, "-m", "clover_sim"]


def environment(**changes: str) -> dict[str, str]:
    """An environment without anything that changes colour or width, then ``changes``."""
    drop = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "PYTHONIOENCODING")
    kept = {k: v for k, v in os.environ.items() if k not in drop}
    path = os.pathsep.join([SOURCE, changes.pop("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**kept, "TERM": "xterm", "PYTHONPATH": path, **changes}


def cli(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``clover-sim ARGS`` to its end, with text streams captured; ``env`` holds changes only."""
    given = {
        "capture_output": True,
        "text": True,
        "timeout": 60,
        **options,
        "env": environment(**options.get("env", {})),
    }
    return subprocess.run([*COMMAND, *map(str, args)], check=False, **given)
