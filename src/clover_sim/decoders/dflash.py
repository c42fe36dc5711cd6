"""A whole block of drafts from one pass of a block-diffusion drafter."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.acceptance import draft_length
from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import cycles, rates
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
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    acceptance: float | tuple[float, ...] = 0.86
    drafter: str | None = "dflash-head"

    def __post_init__(self) -> None:
        k = draft_length(self.num_speculative_tokens, self.speculative_num_draft_tokens, 15)
        object.__setattr__(self, "num_speculative_tokens", k)
        object.__setattr__(self, "speculative_num_draft_tokens", k + 1)
        rates("dflash", self.acceptance, k)

    @property
    def draft_source(self) -> Drafter:
        """The declared drafter."""
        return Drafter(self.drafter, rates("dflash", self.acceptance, self.num_speculative_tokens or 1))

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft pass of a cycle, then its verify pass."""
        k = self.num_speculative_tokens or 1
        yield from cycles(canvas, k, 1, k + 1)


DECODER = BlockDrafter
