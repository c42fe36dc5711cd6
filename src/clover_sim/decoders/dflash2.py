"""A block drafter that keeps several candidates for each position and a selector that picks among them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import cycles, settle
from clover_sim.draft_trees import coverage
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class SelectingBlockDrafter:
    """A short block, many candidates a position, one path chosen by a small selector before the target verifies it.

    DFlash2 as far as it is published: block 8, 16 candidates a position, a selector (z-lab/dflash). How well the
    selector chooses is not published, so it is an input here; the coverage of the candidates follows the law of
    :func:`clover_sim.draft_trees.coverage`. One path is verified, so the width is the block. Lossless.

    Args:
        num_speculative_tokens: draft tokens a cycle, the block less its anchor, >= 1 (7).
            speculative_num_draft_tokens: the block, anchor counted (8).
        acceptance: conditional probability in [0, 1] that the best candidate is the target's token.
        candidates: kept for each position, >= 1.
        selector: share in [0, 1] of what the further candidates cover that the selector turns into drafts. ASSUMPTION.
        drafter: the drafter, built from the target's own shapes, or any model's name; ``none`` prices it at nothing.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    acceptance: float = 0.8
    candidates: int = 16
    selector: float = 0.5
    drafter: str | None = "dflash-head"

    def __post_init__(self) -> None:
        settle(self, "dflash2", 7)
        for name in ("acceptance", "selector"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"dflash2: {name}={getattr(self, name)}: expected a share from 0 to 1")
        if self.candidates < 1:
            raise UsageError(f"dflash2: candidates={self.candidates}: expected at least 1 a position")

    @property
    def draft_source(self) -> Drafter:
        """The declared drafter with the rate of the chosen path."""
        best = self.acceptance
        return Drafter(self.drafter, (best + self.selector * (coverage(best, self.candidates) - best),))

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft pass of a cycle, then its verify pass."""
        k = self.num_speculative_tokens or 1
        yield from cycles(canvas, k, 1, k + 1)


DECODER = SelectingBlockDrafter
