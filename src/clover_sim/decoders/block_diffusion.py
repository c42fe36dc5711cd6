"""Block diffusion with a confidence threshold and the best token as fallback."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.bulk import ThresholdPlan
from clover_sim.canvas import Canvas
from clover_sim.errors import UsageError, suggest
from clover_sim.records import Forward
from clover_sim.view import View

COMPARISONS = ("ge", "gt")


@dataclass(frozen=True, slots=True)
class BlockDiffusion:
    """Fill blocks from left to right; each pass commits every masked position above the threshold, for good.

    If none is above it, the single most confident position is committed (the lowest on a tie). The rule of Fast-dLLM
    (arXiv 2505.22618, ``generate.py`` with ``threshold``) and, with ``comparison=gt``, of SGLang's ``LowConfidence``,
    which serves LLaDA2.0 with block 32 and threshold 0.95.

    Args:
        block_size: positions of a block, >= 1.
        threshold: confidence bar in [0, 1].
        comparison: ``ge`` (confidence >= threshold: Fast-dLLM, dInfer, lmdeploy) or ``gt`` (> threshold: SGLang).
    """

    block_size: int = 32
    threshold: float = 0.95
    comparison: str = "ge"

    def __post_init__(self) -> None:
        if self.block_size < 1:
            raise UsageError(f"block-diffusion: block_size={self.block_size}: expected at least 1 position")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"block-diffusion: threshold={self.threshold}: expected a probability from 0 to 1")
        if self.comparison not in COMPARISONS:
            raise UsageError(f"block-diffusion: comparison={self.comparison!r}{suggest(self.comparison, COMPARISONS)}")

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        strict = self.comparison == "gt"
        while canvas.remaining:
            span = canvas.block(self.block_size)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.above(self.threshold, strict=strict) or view.best())

    def plan(self) -> ThresholdPlan:
        """The bulk path's description of the same passes."""
        return ThresholdPlan(self.block_size, self.threshold, self.comparison == "gt")


DECODER = BlockDiffusion
PRESETS = {
    # The release notes' rule is SGLang's LowConfidence with its defaults (python/sglang/srt/dllm/algorithm).
    "clover": {"comparison": "gt"},
    # LLaDA2.0 technical report, section 5.4: threshold 0.95, block 32; served by SGLang.
    "llada2.0": {"comparison": "gt"},
    # Fast-dLLM v1 paper and evaluation scripts: threshold 0.9, block 32.
    "fast-dllm": {"threshold": 0.9},
    # dInfer ThresholdParallelDecoder with the README's settings for LLaDA2.
    "dinfer": {"threshold": 0.9},
}
