"""Block diffusion where a guess that stays the same earns credit."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, Presets, at_least, chances, fill_blocks
from clover_sim.errors import UsageError
from clover_sim.records import Forward
from clover_sim.view import View

_MOST_WEIGHT = 100.0
"""A credit of a thousand raised to it is still a number."""


@dataclass(frozen=True, slots=True)
class Credit:
    """Raise the confidence of guesses that were made before, so that stable ones cross the bar earlier.

    dInfer's ``CreditThresholdParallelDecoder``: each pass adds ``p ** boost_gamma`` to the credit of a position's best
    guess, after the old credit was multiplied by ``decay_beta``; ``credit_alpha * ln(1 + credit)`` is added to its
    logit. A guess that changed starts with no credit. The best position is committed if none reaches the bar.

    Args:
        block_size: positions of a block, >= 1.
        threshold: bar for the raised confidence, in [0, 1] (>=).
        credit_alpha: weight of the credit, from 0 to 100.
        boost_gamma: exponent of the evidence of one pass, > 0.
        decay_beta: what is kept of older credit, in [0, 1].
    """

    needs: ClassVar[frozenset[str]] = frozenset({"changed"})

    block_size: int = 32
    threshold: float = 0.9
    credit_alpha: float = 0.7
    boost_gamma: float = 0.2
    decay_beta: float = 0.8

    def __post_init__(self) -> None:
        at_least("credit", block_size=self.block_size)
        at_least("credit", 0, credit_alpha=self.credit_alpha)
        if self.credit_alpha > _MOST_WEIGHT:
            raise UsageError(f"credit: credit_alpha={self.credit_alpha}: expected at most {_MOST_WEIGHT:g}")
        at_least("credit", 1e-9, boost_gamma=self.boost_gamma)
        chances("credit", threshold=self.threshold, decay_beta=self.decay_beta)

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the state is the credit of each position's guess."""
        credit: dict[int, float] = {}

        def choose(view: View) -> tuple[int, ...]:
            changed = set(view.changed())
            raised: dict[int, float] = {}
            for p in view.positions:
                c = view.confidence(p)
                before = 0.0 if p in changed else credit.get(p, 0.0)
                credit[p] = earned = before * self.decay_beta + float(c**self.boost_gamma)
                odds = c * (1 + earned) ** self.credit_alpha
                raised[p] = odds / (odds + 1 - c) if odds else 0.0
            chosen = view.where(lambda p: raised[p] >= self.threshold)
            return chosen or (max(view.positions, key=raised.__getitem__),)

        return choose

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


DECODER = Credit
PRESETS: Presets = {"dinfer-credit": {}}
