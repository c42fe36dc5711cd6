"""Block diffusion with a budget of entropy a pass."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, Presets, at_least, fill_blocks, longest_run
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class EntropyBound:
    """Commit the positions of lowest entropy as long as the entropies before each of them sum to at most ``gamma``.

    The EB-Sampler (arXiv 2505.24857) and SGLang's ``EBSampling``: the sum bounds the error of treating dependent
    positions as independent. The position of lowest entropy is always committed; it counts as forced where its own
    entropy exceeds the budget.

    Args:
        block_size: positions of a block, >= 1.
        gamma: budget in nats, >= 0.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"entropy"})

    block_size: int = 32
    gamma: float = 0.15

    def __post_init__(self) -> None:
        at_least("entropy-bound", block_size=self.block_size)
        at_least("entropy-bound", 0, gamma=self.gamma)

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the rule keeps no state."""
        return lambda view: within_budget(view, self.gamma)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


def within_budget(view: View, gamma: float) -> tuple[int, ...]:
    """Masked positions in order of entropy while the entropies before each sum to <= ``gamma``; at least the first."""
    entropies = {p: view.entropy(p) for p in view.positions}
    order = sorted(entropies, key=entropies.__getitem__)
    if not order or entropies[order[0]] > gamma:
        return tuple(order[:1])
    total = 0.0

    def fits(rank: int, position: int) -> bool:
        nonlocal total
        before, total = total, total + entropies[position]
        return before <= gamma

    return longest_run(order, fits, view)


DECODER = EntropyBound
PRESETS: Presets = {"eb-sampler": {}}
