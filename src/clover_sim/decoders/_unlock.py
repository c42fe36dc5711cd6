"""The pluggable part of block diffusion: which masked positions of a block a pass unlocks.

A rule is an object with ``begin(masked)``, called once a block with the number of masked positions; it returns a
function from a view to the positions to commit. :func:`fill_blocks` is the control flow that all such rules share.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol

from clover_sim.canvas import Canvas
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View

Chooser = Callable[[View], Iterable[int]]
"""From a view to the positions to commit; at least one, or the block never fills up."""


Presets = dict[str, dict[str, Any]]
"""Named settings of a strategy: preset -> options."""


class UnlockRule(Protocol):
    """What a rule over masked positions has to offer."""

    def begin(self, masked: int) -> Chooser:
        """Start a block of ``masked`` positions: fresh state, and the function that chooses in each of its passes."""


def fill_blocks(canvas: Canvas, block_size: int, rule: UnlockRule) -> Generator[Forward, View, None]:
    """Fill blocks from left to right; each pass commits what ``rule`` chooses, for good."""
    while canvas.remaining:
        span = canvas.block(block_size)
        choose = rule.begin(len(canvas.masked(span.start, span.stop)))
        while canvas.frontier < span.stop:
            view = yield span
            canvas.commit(choose(view))


def longest_run(
    order: Sequence[int], passes: Callable[[int, int], bool], view: View, within: Iterable[int] | None = None
) -> tuple[int, ...]:
    """The longest beginning of ``order`` in which every entry passes ``passes(rank, position)``, as a rule call."""
    run = set()
    for rank, position in enumerate(order):
        if not passes(rank, position):
            break
        run.add(position)
    return view.where(run.__contains__, within)


def at_least(name: str, least: float = 1, **values: float) -> None:
    """Raise :class:`UsageError` for the first value that is below ``least``."""
    for key, value in values.items():
        if not value >= least:
            raise UsageError(f"{name}: {key}={value}: expected at least {least:g}")


def chances(name: str, **values: float) -> None:
    """Raise :class:`UsageError` for the first value that is no probability."""
    for key, value in values.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{name}: {key}={value}: expected a number from 0 to 1")
