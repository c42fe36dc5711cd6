"""What decoders with drafts share: acceptance options turned into conditional rates, and the draft-and-verify cycle."""

from __future__ import annotations

from collections.abc import Generator

from clover_sim.acceptance import from_survival
from clover_sim.canvas import Canvas
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Forward
from clover_sim.view import View

Given = float | tuple[float, ...]
"""One conditional probability, or the survival of each position."""


def rates(strategy: str, given: Given, k: int) -> tuple[float, ...]:
    """Conditional rates of ``k`` drafts from an acceptance option.

    >>> rates("x", 0.7, 3), rates("x", (0.8, 0.4), 2)
    ((0.7,), (0.8, 0.5))
    """
    if isinstance(given, (float, int)):
        if not 0 <= given <= 1:
            raise UsageError(f"{strategy}: acceptance={given}: expected a probability from 0 to 1")
        return (float(given),)
    if len(given) != k:
        raise UsageError(
            f"{strategy}: acceptance lists the survival of {len(given)} positions, but a cycle drafts {k}; give one "
            "entry a draft token"
        )
    try:
        return from_survival(given).conditional
    except InputError as error:
        raise UsageError(f"{strategy}: {error}") from None


def cycles(
    canvas: Canvas, k: int, passes: int | None = None, nodes: int | None = None
) -> Generator[Forward, View, None]:
    """Draft ``k`` tokens, verify them, until the canvas is full.

    Args:
        passes: draft passes a cycle: ``None`` for one a token, 1 for a drafter that proposes all at once.
        nodes: tokens that the one pass computes, where they are more than it proposes (an anchor).
    """
    while canvas.remaining:
        if passes == 1:
            yield canvas.draft(k, nodes)
        else:
            for _ in range(min(k, canvas.remaining)):
                yield canvas.draft()
        view = yield canvas.next(k + 1)
        canvas.commit(view.agreed())
