"""Ratios that matter, measured in one run: python benchmarks/run.py

Absolute times depend on the machine; ratios against something measured beside them do not, much. Nothing here is a
test: a slow day on a shared machine must not fail a build.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from clover_sim.decoders.block_diffusion import BlockDiffusion  # noqa: E402
from clover_sim.engine import run  # noqa: E402
from clover_sim.streams.reference import VOCABULARY, reference_stream  # noqa: E402
from core import naive  # noqa: E402

ENV = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def best(work: Callable[[], Any], repeats: int = 5) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def process(*arguments: str) -> Callable[[], Any]:
    """A whole Python process."""
    return lambda: subprocess.run([sys.executable, *arguments], env=ENV, capture_output=True, check=True)


def row(what: str, figure: str, bar: str) -> None:
    """One line of the table."""
    print(f"{what:<58} {figure:>14}   {bar}")


def start_up() -> None:
    """Whole processes against bare Python."""
    bare = best(process("-c", "pass"), 15)
    compare = best(process("-m", "clover_sim", "compare"), 15)
    imported = best(process("-c", "import clover_sim"), 15)
    row("clover-sim compare / python -c pass", f"{compare / bare:.1f}x", "at most 5x")
    row("import clover_sim above bare Python", f"{(imported - bare) * 1e3:.1f} ms", "at most 25 ms")


def plainly(words: list[str], block: int) -> object:
    """The plain-list decoder of the tests, at the reference settings."""
    return naive.block_diffusion(words, block, 0.95, 0.09, 42)


def against_naive() -> None:
    """Block diffusion on the reference profile against the plain-list decoder, drawing of the stream included."""
    n = 200_000
    for block in (32, 256):
        bar = "at least 3x at 32"
        ours = best(lambda b=block: run(BlockDiffusion(b), reference_stream(n)))  # type: ignore[misc]
        plain = best(lambda b=block: plainly(naive.stream(n, 42), b), 3)  # type: ignore[misc]
        row(f"naive / bulk path, {n:,} tokens, block {block}", f"{plain / ours:.1f}x", bar)
        stream, words = reference_stream(n), naive.stream(n, 42)
        ours = best(lambda b=block, s=stream: run(BlockDiffusion(b), s))  # type: ignore[misc]
        plain = best(lambda b=block, w=words: plainly(w, b), 3)  # type: ignore[misc]
        row("  the same with the stream drawn beforehand", f"{plain / ours:.1f}x", "")


def generator_path() -> None:
    """Engine time a pass on the generator path, the decoder's own work taken off."""

    class Plain:
        def decode(self, canvas: Any) -> Any:
            while canvas.remaining:
                view = yield canvas.next()
                canvas.commit(view.agreed())

    n = 200_000
    stream = reference_stream(n)
    took = best(lambda: run(Plain(), stream), 3)
    row("generator path, one token a pass", f"{took / n * 1e6:.2f} us/pass", "at most 6 us")


def growth() -> None:
    """Linear in tokens up to ten million, with bounded memory (in a process of its own)."""
    code = (
        "import resource, time, sys\n"
        "from clover_sim.decoders.block_diffusion import BlockDiffusion\n"
        "from clover_sim.engine import run\n"
        "from clover_sim.streams.reference import reference_stream\n"
        "n = int(sys.argv[1]); t = time.perf_counter()\n"
        "run(BlockDiffusion(), reference_stream(n))\n"
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    figures = {}
    for n in (1_000_000, 10_000_000):
        out = subprocess.run([sys.executable, "-c", code, str(n)], env=ENV, capture_output=True, text=True, check=True)
        figures[n] = [float(x) for x in out.stdout.split()]
    (t1, _), (t10, peak) = figures[1_000_000], figures[10_000_000]
    row("time at 10 M tokens / time at 1 M tokens", f"{t10 / t1:.1f}x", "10x is linear")
    row("peak memory at 10 M tokens", f"{peak:.0f} MB", "under 300 MB")


def floor() -> None:
    """Against one random() a token, which no implementation of the reference rules can avoid."""
    import random

    n = 200_000
    draw = random.Random(1).random
    bare = best(lambda: [draw() for _ in range(n)])
    ours = best(lambda: run(BlockDiffusion(), reference_stream(n)))
    choice = random.Random(1).choice
    drawn = best(lambda: [choice(VOCABULARY) for _ in range(n)], 3)
    row("bulk path / one random() a token", f"{ours / bare:.1f}x", "")
    row("drawing the stream with choice() / bulk path in all", f"{drawn / ours:.1f}x", "")


if __name__ == "__main__":
    for part in (start_up, against_naive, generator_path, growth, floor):
        part()
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
