"""Block diffusion that settles generously and takes back what looks doubtful afterwards."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Presets, at_least, chances
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class WideInNarrowOut:
    """Settle above a low bar; in the same pass score settled tokens again without themselves, and mask doubtful ones.

    WINO (Feng-Hong/WINO-DLLM, arXiv 2507.18578): up to ``max_accept`` positions with confidence > ``threshold`` are
    settled, or the best one. Shadow positions score the settled ones again; where the model would now put another
    token with probability > 1 - ``threshold_back`` they are masked again, always fewer than the last pass settled.
    (WINO asks whether the probability of the token itself is below ``threshold_back``; a token that is right but
    unsure is not taken back here.) It keeps no cache: a pass computes all positions before the block again, the
    block, and a shadow for each of its positions.

    Args:
        block_size: positions of a block, >= 1.
        threshold, threshold_back: the bars, in [0, 1].
        max_accept: most positions settled in a pass, >= 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"edits"})
    revises: ClassVar[bool] = True
    kv_write: ClassVar[str] = "none"

    block_size: int = 128
    threshold: float = 0.6
    threshold_back: float = 0.9
    max_accept: int = 20

    def __post_init__(self) -> None:
        at_least("wide-in-narrow-out", block_size=self.block_size, max_accept=self.max_accept)
        chances("wide-in-narrow-out", threshold=self.threshold, threshold_back=self.threshold_back)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        while canvas.remaining:
            block = canvas.block(self.block_size)
            width = 2 * (block.stop - block.start)
            last = 0
            while canvas.frontier < block.stop:
                view = yield canvas.span(block.start, block.stop, tokens=width, recompute=block.start)
                doubtful = view.edits(1 - self.threshold_back, strict=True)[: max(last - 1, 0)]
                sure = view.above(self.threshold, strict=True)
                if len(sure) > self.max_accept:
                    sure = view.best(self.max_accept, sure)
                settled = sure or view.best()
                canvas.commit(settled)
                canvas.reopen(doubtful)
                last = len(settled)


DECODER = WideInNarrowOut
PRESETS: Presets = {"wino": {}}
