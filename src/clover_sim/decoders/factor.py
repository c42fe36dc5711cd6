"""Block diffusion where the bar falls with the certainty that is needed jointly."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, at_least, fill_blocks, longest_run
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Factor:
    """Commit the n most confident positions for the largest n whose n-th confidence is >= 1 - factor / (n + 1).

    Fast-dLLM v1 (arXiv 2505.22618, ``generate.py`` with ``factor``) and dInfer's ``get_transfer_index_dynamic``: if
    (n + 1)(1 - p) stays below the factor, committing n positions at once equals committing them one by one. The best
    position is always committed.

    Args:
        block_size: positions of a block, >= 1.
        factor: how much joint doubt is let through, > 0 (1 follows from the argument above).
    """

    block_size: int = 32
    factor: float = 1.0

    def __post_init__(self) -> None:
        at_least("factor", block_size=self.block_size)
        at_least("factor", 1e-9, factor=self.factor)

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the rule keeps no state."""
        return self._choose

    def _choose(self, view: View) -> tuple[int, ...]:
        order = view.best(len(view.positions))
        confidence, factor = view.confidence, self.factor
        return longest_run(order, lambda n, p: confidence(p) >= 1 - factor / (n + 2), view) or order[:1]

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


DECODER = Factor
