"""What every part of the benchmarks measures with: shortest of several runs, whole processes, growth exponents."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


class Figure(NamedTuple):
    """One line of the table: what was measured, the figure, the bar, and whether it is met (``None``: no bar)."""

    what: str
    figure: str
    bar: str = ""
    met: bool | None = None


def best(work: Callable[[], Any], repeats: int = 5) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def beside(first: Callable[[], Any], second: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """The same of two pieces of work, run in turns, so that a slow moment of the machine meets both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, found in zip((first, second), times, strict=True):
            start = time.perf_counter()
            work()
            found.append(time.perf_counter() - start)
    return min(times[0]), min(times[1])


def process(*arguments: str, cwd: str | None = None) -> Callable[[], Any]:
    """A whole Python process; a failing one ends the benchmark with its last line."""

    def work() -> None:
        done = subprocess.run([sys.executable, *arguments], env=ENV, capture_output=True, text=True, cwd=cwd)
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr.strip()[-200:]}")

    return work


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log time over log size, by least squares: 1 is linear.

    >>> round(exponent([1, 2, 4], [3, 6, 12]), 6)
    1.0
    """
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in seconds]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / sum((a - mx) ** 2 for a in x)
