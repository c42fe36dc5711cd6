"""Block diffusion in sub-blocks."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Presets, at_least, chances
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Fill the sub-blocks of a block from left to right; every pass computes the whole block.

    Fast-dLLM v2 (arXiv 2509.26328) and SGLang's ``HierarchyBlock``: inside the current sub-block all positions with
    confidence >= threshold are committed, or the best one. Each pass is as wide as the block; the optional sub-block
    cache, an approximation, is not modelled, nor is the token that the cache-writing pass hands to the next block.

    Args:
        block_size: positions of a block, >= 1.
        sub_block_size: positions of a sub-block, from 1 to ``block_size``.
        threshold: confidence bar in [0, 1].
    """

    block_size: int = 32
    sub_block_size: int = 8
    threshold: float = 0.9

    def __post_init__(self) -> None:
        at_least("hierarchy", block_size=self.block_size, sub_block_size=self.sub_block_size)
        chances("hierarchy", threshold=self.threshold)
        if self.sub_block_size > self.block_size:
            raise UsageError(
                f"hierarchy: sub_block_size={self.sub_block_size} is more than block_size={self.block_size}"
            )

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        size = self.sub_block_size
        while canvas.remaining:
            span = canvas.block(self.block_size)
            for start in range(span.start, span.stop, size):
                within = range(start, min(start + size, span.stop))
                while canvas.frontier < within.stop:
                    view = yield span
                    canvas.commit(view.above(self.threshold, within) or view.best(1, within))


DECODER = Hierarchy
PRESETS: Presets = {"fast-dllm-v2": {}}
