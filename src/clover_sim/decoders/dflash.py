"""A whole block of drafts from one pass of a block-diffusion drafter."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import Given, cycles, settle, source
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class BlockDrafter:
    """One pass over a block: the last verified token as its anchor, the other positions drafted at once.

    The drafter has five layers, takes the target's embedding, head and hidden states, and fills all other positions
    in one pass; the target verifies the whole block (DFlash, arXiv 2602.06036v2). A drafter trained at 16 also works
    at 8, not the other way round (its Table 8). Lossless.

    Args:
        num_speculative_tokens: draft tokens a cycle, the block less its anchor, >= 1 (15; Llama-3.1-8B 9).
            speculative_num_draft_tokens: the block, anchor counted (SGLang's 16); one of the two is enough.
        acceptance: conditional probability in [0, 1] of each draft, or the survival of each of the drafted positions.
        drafter: the drafter, built from the target's own shapes, or any model's name; ``none`` prices it at nothing.
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    acceptance: Given = 0.86
    drafter: str | None = "dflash-head"
    clustering: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        settle(self, "dflash", 15)

    @property
    def draft_source(self) -> Drafter:
        """The declared drafter."""
        return source(self, "dflash", self.drafter)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft pass of a cycle, then its verify pass."""
        k = self.num_speculative_tokens or 1
        yield from cycles(canvas, k, 1, k + 1)


DECODER = BlockDrafter
