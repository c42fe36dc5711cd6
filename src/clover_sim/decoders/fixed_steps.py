"""A fixed number of positions a pass, whatever their confidence."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class FixedSteps:
    """Commit the same number of most confident positions in each pass of a block: the classic low-confidence schedule.

    LLaDA's ``generate.py`` with ``remasking='low_confidence'`` (arXiv 2502.09992), where the number follows from
    steps and length. Every commit is forced, since no bar has to be met.

    Args:
        tokens_per_pass: positions committed a pass, >= 1; the last pass of a block takes what is left.
        block_size: positions of a block, >= 1.
    """

    tokens_per_pass: int = 2
    block_size: int = 32

    def __post_init__(self) -> None:
        for name, value in (("tokens_per_pass", self.tokens_per_pass), ("block_size", self.block_size)):
            if value < 1:
                raise UsageError(f"fixed-steps: {name}={value}: expected at least 1")

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        while canvas.remaining:
            span = canvas.block(self.block_size)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.best(self.tokens_per_pass))


DECODER = FixedSteps
