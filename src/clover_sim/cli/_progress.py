"""A bar with the rate and the time left, on standard error, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clover_sim.cli._streams import chatter, is_terminal, terminal_width

_AFTER_S = 0.4
_EVERY_S = 0.1
_BAR = 24


@contextmanager
def bar(noun: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A callback ``(done, total)`` that draws one line; ``None`` where nobody would see it."""
    if quiet or not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield None
        return
    import time

    start = last = time.monotonic()
    before = -1
    drawn = False

    def draw(done: int, total: int) -> None:
        nonlocal last, drawn, before
        now = time.monotonic()
        before = done if before < 0 else before  # what a resumed sweep had already says nothing of the rate
        if now - start < _AFTER_S or now - last < _EVERY_S:
            return
        last, drawn = now, True
        chatter(f"\r\x1b[K{line(done, total, (done - before) / (now - start), noun)[: terminal_width() - 1]}")

    try:
        yield draw
    finally:
        if drawn:
            chatter("\r\x1b[K")


def line(done: int, total: int, per_s: float, noun: str) -> str:
    """What is drawn.

    >>> line(5, 20, 2.5, "cells")
    '[######..................] 5/20 cells, 2.5/s, about 6 s left'
    """
    full = _BAR * done // max(total, 1)
    left = f", about {(total - done) / per_s:.0f} s left" if per_s > 0 else ""
    rate = f", {per_s:.3g}/s" if per_s > 0 else ""
    return f"[{'#' * full}{'.' * (_BAR - full)}] {done}/{total} {noun}{rate}{left}"
