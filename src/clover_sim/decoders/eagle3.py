"""A chain of drafts from a one-layer head that reads the target's features."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import Given, Usual, cycles, settle, source
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Eagle3:
    """Draft a chain with an EAGLE-3 head: k passes of one layer, or a single pass with parallel drafting.

    The head takes features of three target layers and drafts on its own output (Li et al., arXiv 2503.01840), so its
    acceptance hardly falls with the position. With ``parallel_drafting`` it is P-EAGLE: four layers, all k tokens in
    one pass (vLLM blog, 2026-03-13). Lossless.

    Args:
        num_speculative_tokens: draft tokens a cycle, k >= 1 (default 3). speculative_num_draft_tokens: the same with
            the root counted, as SGLang does; one of the two is enough.
        acceptance: conditional probability in [0, 1] of each draft, or the survival of each of the k positions.
        parallel_drafting: one draft pass proposes all k tokens.
        drafter: the head, built from the target's own shapes, or any model's name; ``none`` prices drafts at nothing.
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    acceptance: Given = 0.75
    parallel_drafting: bool = False
    drafter: str | None = "eagle3-head"
    clustering: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        settle(self, "eagle3", 3)
        if self.parallel_drafting and self.drafter == "eagle3-head":
            object.__setattr__(self, "drafter", "p-eagle-head")

    @property
    def draft_source(self) -> Drafter:
        """The declared head."""
        return source(self, "eagle3", self.drafter)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft passes of a cycle, then its verify pass."""
        yield from cycles(canvas, self.num_speculative_tokens or 1, 1 if self.parallel_drafting else None)


DECODER = Eagle3
PRESETS = {"p-eagle": {"num_speculative_tokens": 7, "parallel_drafting": True, "acceptance": Usual(0.78)}}
