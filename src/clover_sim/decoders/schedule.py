"""A number of positions a pass that follows from the number of steps, with or without a bar above it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, Presets, at_least, chances, fill_blocks
from clover_sim.errors import UsageError, suggest
from clover_sim.records import Forward
from clover_sim.view import View

STRATEGIES = ("low_confidence_dynamic", "low_confidence_static", "sequential")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Fill a block in a given number of steps; the dynamic rule goes faster where more positions are above the bar.

    The masked positions of a block are divided by ``denoising_steps``, the remainder going to the first passes.
    ``low_confidence_static`` commits that many of the most confident (LLaDA ``generate.py``, arXiv 2502.09992);
    ``low_confidence_dynamic`` commits all above the threshold if they are at least that many, else falls back to that
    many (SDAR ``generate.py``, arXiv 2510.06303: the fallback is the schedule's count, not one position);
    ``sequential`` commits them from left to right. Commits that no bar let through count as forced.

    Args:
        block_size: positions of a block, >= 1 (SDAR: 4; LLaDA: its ``block_length``).
        denoising_steps: passes a block takes at most, >= 1.
        remasking_strategy: one of the three above.
        confidence_threshold: bar of the dynamic rule (>, in [0, 1]).
    """

    block_size: int = 4
    denoising_steps: int = 4
    remasking_strategy: str = "low_confidence_dynamic"
    confidence_threshold: float = 0.85

    def __post_init__(self) -> None:
        at_least("schedule", block_size=self.block_size, denoising_steps=self.denoising_steps)
        chances("schedule", confidence_threshold=self.confidence_threshold)
        if self.remasking_strategy not in STRATEGIES:
            given = self.remasking_strategy
            raise UsageError(f"schedule: remasking_strategy={given!r}{suggest(given, STRATEGIES)}")

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the state is the step of the schedule."""
        share, rest = divmod(masked, self.denoising_steps)
        step = 0

        def choose(view: View) -> tuple[int, ...]:
            nonlocal step
            count = max(share + (step < rest), 1)
            step += 1
            if self.remasking_strategy == "sequential":
                return view.positions[:count]
            if self.remasking_strategy == "low_confidence_dynamic":
                sure = view.above(self.confidence_threshold, strict=True)
                if len(sure) >= count:
                    return sure
            return view.best(count)

        return choose

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


DECODER = Schedule
PRESETS: Presets = {
    # JetAstra/SDAR generate.py: block 4, 4 steps, low_confidence_dynamic at 0.85.
    "sdar": {},
    # ML-GSAI/LLaDA generate.py: steps 128 over gen_length 128 in blocks of block_length 128; here blocks of 32.
    "llada": {"block_size": 32, "denoising_steps": 32, "remasking_strategy": "low_confidence_static"},
}
