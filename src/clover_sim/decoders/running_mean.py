"""Block diffusion whose bar is the mean confidence of what the block has committed so far."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, Presets, at_least, chances, fill_blocks
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class RunningMean:
    """Bounded adaptive confidence: the bar is the running mean of committed confidences, kept between two bounds.

    TDAR's ``bounded_adaptive_confidence_decoding`` (LuLuLuyi/TDAR, lmdeploy 0.10.2): the first bar of a block is its
    best confidence, later ones the mean confidence of the positions committed in this block, each clamped; a position
    is committed if its confidence is >= the bar, the best one if none is. The history is cleared with each block.

    Args:
        block_size: positions of a block, >= 1 (lmdeploy's ``dllm_block_length``).
        confidence_lower_threshold, confidence_upper_threshold: the bounds, in [0, 1].
    """

    block_size: int = 16
    confidence_lower_threshold: float = 0.6
    confidence_upper_threshold: float = 0.9

    def __post_init__(self) -> None:
        low, high = self.confidence_lower_threshold, self.confidence_upper_threshold
        at_least("running-mean", block_size=self.block_size)
        chances("running-mean", confidence_lower_threshold=low, confidence_upper_threshold=high)
        if low > high:
            raise UsageError(f"running-mean: confidence_lower_threshold={low} is above the upper one, {high}")

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the state is the sum and number of confidences."""
        total, count = 0.0, 0

        def choose(view: View) -> tuple[int, ...]:
            nonlocal total, count
            best = view.best()
            mean = total / count if count else view.confidence(best[0])
            bar = min(max(mean, self.confidence_lower_threshold), self.confidence_upper_threshold)
            chosen = view.above(bar) or best
            total += sum(map(view.confidence, chosen))
            count += len(chosen)
            return chosen

        return choose

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


DECODER = RunningMean
PRESETS: Presets = {"tdar": {}}
