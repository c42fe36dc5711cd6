"""Counting passes: against the plain-list decoder of the tests, against the physical floor, and every decoder."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

from measure import ROOT, Figure, beside, best

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from clover_sim.decoders.block_diffusion import BlockDiffusion  # noqa: E402
from clover_sim.engine import run  # noqa: E402
from clover_sim.errors import CloverError  # noqa: E402
from clover_sim.registry import build_strategy, strategy_names  # noqa: E402
from clover_sim.streams.profiles import open_stream  # noqa: E402
from clover_sim.streams.reference import reference_stream  # noqa: E402
from core import naive  # noqa: E402


def figures(quick: bool) -> Iterator[Figure]:
    """The whole part."""
    yield from against_naive(50_000 if quick else 200_000)
    yield from floor(50_000 if quick else 200_000)
    yield from every_decoder(10_000 if quick else 50_000)


def plainly(words: list[str], block: int) -> object:
    """The plain-list decoder of the tests, at the reference settings."""
    return naive.block_diffusion(words, block, 0.95, 0.09, 42)


def against_naive(n: int) -> Iterator[Figure]:
    """Block diffusion on the reference profile, with the stream drawn beforehand and with drawing included."""
    for block, bar in ((32, 4), (256, 8)):
        stream, words = reference_stream(n), naive.stream(n, 42)
        plain, ours = beside(
            lambda b=block, w=words: plainly(w, b), lambda b=block, s=stream: run(BlockDiffusion(b), s)
        )
        yield Figure(f"plain lists / ours, {n:,} tokens, block {block}", f"{plain / ours:.1f}x", f"at least {bar}x",
                     plain / ours >= bar)  # fmt: skip
    plain, ours = beside(
        lambda: plainly(naive.stream(n, 42), 32), lambda: run(BlockDiffusion(32), reference_stream(n)), 3
    )
    yield Figure("  the same at block 32, drawing included", f"{plain / ours:.1f}x", "at least 3x", plain / ours >= 3)


def floor(n: int) -> Iterator[Figure]:
    """Against one random() a token, which no implementation of the reference rules can avoid."""
    draw = random.Random(1).random
    ours, bare = beside(lambda: run(BlockDiffusion(), reference_stream(n)), lambda: [draw() for _ in range(n)])
    yield Figure("reference block diffusion, drawing included / one random() a token", f"{ours / bare:.1f}x",
                 "at most 10x", ours / bare <= 10)  # fmt: skip


def every_decoder(n: int) -> Iterator[Figure]:
    """Tokens a second of each built-in decoder and preset on the chat profile, and of the generator path itself."""
    streams = [open_stream(profile, n, 42) for profile in ("chat", "context")]

    class Plain:
        def decode(self, canvas: Any) -> Any:
            while canvas.remaining:
                view = yield canvas.next()
                canvas.commit(view.agreed())

    took = best(lambda: run(Plain(), streams[0]), 3)
    yield Figure("generator path, one token a pass", f"{took / n * 1e6:.2f} us/pass", "at most 6 us",
                 took / n <= 6e-6)  # fmt: skip
    for name, _ in strategy_names():
        for stream in streams:  # the first that has what the decoder needs
            try:
                took = best(lambda name=name, stream=stream: run(build_strategy(name)[1], stream), 2)
            except CloverError:
                continue
            yield Figure(f"{name}, {stream.name}", f"{n / took / 1e3:,.0f} k tokens/s")
            break
