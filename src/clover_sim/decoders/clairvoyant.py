"""The ceiling: a decoder that knows which commits would be right."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Clairvoyant:
    """Commit every position that the model would get right now, and the best one if there is none.

    No real decoder can do this. It bounds the passes that a decoder without avoidable errors needs with the same blocks
    (after the clairvoyant policies of cache simulators). It is no bound on errors: where no guess is right it has to
    guess too, and what it waits for is right more often than not.

    Args:
        block_size: positions of a block, >= 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"truth"})

    block_size: int = 32

    def __post_init__(self) -> None:
        if self.block_size < 1:
            raise UsageError(f"clairvoyant: block_size={self.block_size}: expected at least 1 position")

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        while canvas.remaining:
            span = canvas.block(self.block_size)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.right() or view.best())


DECODER = Clairvoyant
