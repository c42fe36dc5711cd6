"""Block diffusion that edits what it settled."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Presets, at_least, chances
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class JointThreshold:
    """Unlock masked positions above one bar and replace settled tokens of the block above another, in the same pass.

    LLaDA2.1 (technical report, section 2) and SGLang's ``JointThreshold``: masked positions with confidence >
    ``threshold`` are settled, or the best one; settled ones where the model would now put another token with
    probability > ``edit_threshold`` are replaced. The block ends with a pass that changes nothing, which also writes
    its K/V (``kv_write`` is ``fused``), or when ``max_post_edit_steps`` passes were run after it filled up.

    Args:
        block_size: positions of a block, >= 1.
        threshold, edit_threshold: the bars, in [0, 1]. Speed mode is 0.5 / 0.0, quality mode 0.7 / 0.5.
        max_post_edit_steps: passes allowed over a filled block, >= 0; 0 leaves it as soon as it is filled.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"edits"})
    revises: ClassVar[bool] = True
    max_idle_passes: ClassVar[int] = 1
    kv_write: ClassVar[str] = "fused"

    block_size: int = 32
    threshold: float = 0.5
    edit_threshold: float = 0.0
    max_post_edit_steps: int = 16

    def __post_init__(self) -> None:
        at_least("joint-threshold", block_size=self.block_size)
        at_least("joint-threshold", 0, max_post_edit_steps=self.max_post_edit_steps)
        chances("joint-threshold", threshold=self.threshold, edit_threshold=self.edit_threshold)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise and edit passes over one block after the other."""
        while canvas.remaining:
            span = canvas.block(self.block_size)
            post = 0
            while canvas.frontier < span.stop or post < self.max_post_edit_steps:
                post += canvas.frontier >= span.stop
                view = yield span
                edited = view.edits(self.edit_threshold, strict=True)
                settled = view.above(self.threshold, strict=True) or view.best()
                canvas.reopen(edited)
                canvas.commit([*edited, *settled])
                if not edited and not settled:
                    break


DECODER = JointThreshold
PRESETS: Presets = {
    # LLaDA2.1 report and the settings independent runs use for its two modes.
    "llada2.1-speed": {"threshold": 0.5, "edit_threshold": 0.0},
    "llada2.1-quality": {"threshold": 0.7, "edit_threshold": 0.5},
}
