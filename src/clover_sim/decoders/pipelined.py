"""Several blocks in flight."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Presets, at_least, chances
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Pipelined:
    """Begin a block before the last one is done; each pass computes all blocks in flight.

    D2F (arXiv 2508.09192, ``eval_dream.py``) and d3LLM (hao-ai-lab/d3LLM; SGLang's ``FullAttnMultiBlock``): a new
    block is appended once ``block_add_threshold`` of the last one is decoded. A block whose predecessor is decoded to
    less than ``decoded_token_threshold`` is semi-active: only what passes the bar is settled. The others are fully
    active and settle their best position if none passes. K/V of finished blocks are written by the same passes
    (``kv_write`` is ``fused``).

    Args:
        block_size: positions of a block, >= 1.
        threshold: confidence bar in [0, 1] (>), D2F's rule.
        entropy_threshold: bar in nats (<=) instead of the confidence, d3LLM's rule; ``none`` for D2F's.
        block_add_threshold, decoded_token_threshold: shares in [0, 1], see above.
    """

    revises: ClassVar[bool] = False
    kv_write: ClassVar[str] = "fused"

    block_size: int = 32
    threshold: float = 0.9
    entropy_threshold: float | None = None
    block_add_threshold: float = 0.1
    decoded_token_threshold: float = 0.95

    def __post_init__(self) -> None:
        at_least("pipelined", block_size=self.block_size)
        chances(
            "pipelined", threshold=self.threshold, block_add_threshold=self.block_add_threshold,
            decoded_token_threshold=self.decoded_token_threshold,
        )  # fmt: skip
        if self.entropy_threshold is not None:
            at_least("pipelined", 0, entropy_threshold=self.entropy_threshold)

    @property
    def needs(self) -> frozenset[str]:
        """Entropy where the bar is one."""
        return frozenset() if self.entropy_threshold is None else frozenset({"entropy"})

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over the blocks in flight."""
        blocks: list[Forward] = []
        while canvas.remaining:
            blocks = [b for b in blocks if b.stop > canvas.frontier] or [canvas.block(self.block_size)]
            last = blocks[-1]
            if last.stop < canvas.limit and self._done(canvas, last) >= self.block_add_threshold:
                blocks.append(canvas.span(last.stop, last.stop + self.block_size))
            view = yield canvas.span(blocks[0].start, blocks[-1].stop)
            active = [i == 0 or self._done(canvas, blocks[i - 1]) >= self.decoded_token_threshold
                      for i in range(len(blocks))]  # fmt: skip
            passed = set(self._passing(view))
            chosen = sorted(passed)
            for block, full in zip(blocks, active, strict=True):
                if full and passed.isdisjoint(block):
                    chosen.extend(view.best(1, block))
            canvas.commit(chosen)

    def _passing(self, view: View) -> tuple[int, ...]:
        bar = self.entropy_threshold
        if bar is None:
            return view.above(self.threshold, strict=True)
        return view.where(lambda p: view.entropy(p) <= bar)

    def _done(self, canvas: Canvas, block: Forward) -> float:
        """Decoded share of a block."""
        return 1 - len(canvas.masked(block.start, block.stop)) / len(block)


DECODER = Pipelined
PRESETS: Presets = {
    "d2f": {},
    # hao-ai-lab/d3LLM: entropy at most 0.5 for LLaDA, 0.4 for Dream.
    "d3llm": {"entropy_threshold": 0.5},
}
