"""Draft and verify with a chain of drafts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import Given, cycles, settle, source
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Speculative:
    """Propose k tokens with a small model, verify them in one pass of the target, keep the agreed prefix and a bonus.

    Lossless: what comes out is what the target alone would have written (Leviathan, Kalman and Matias 2023,
    arXiv 2211.17192; Chen et al. 2023, arXiv 2302.01318). With one rate a, a cycle yields
    (1 - a^(k+1)) / (1 - a) tokens on average, the bonus token included.

    Args:
        num_speculative_tokens: draft tokens a cycle, k >= 1 (default 5). speculative_num_draft_tokens: the same with
            the root counted, as SGLang does; one of the two is enough.
        acceptance: either one conditional probability in [0, 1] that the target agrees with a draft given that it
            agreed with those before it, or the survival of each position (``[0.8,0.6,0.5]``: the share of cycles that
            kept at least 1, 2, 3 drafts), k entries that never rise.
        parallel_draft: one draft pass proposes all k tokens (a parallel drafting head) instead of k passes in a row.
        drafter: name of the model that drafts, for the price of its passes; ``none`` prices them at nothing.
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    acceptance: Given = 0.72
    parallel_draft: bool = False
    drafter: str | None = "qwen3-0.6b"
    speculative_num_draft_tokens: int | None = None
    clustering: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        settle(self, "speculative", 5)

    @property
    def draft_source(self) -> Drafter:
        """The declared drafter, with the survival list turned into conditional rates."""
        return source(self, "speculative", self.drafter)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft passes of a cycle, then its verify pass."""
        yield from cycles(canvas, self.num_speculative_tokens or 1, 1 if self.parallel_draft else None)


DECODER = Speculative
PRESETS = {
    # The plain scheme under its common name: a small model that drafts token by token.
    "draft-model": {"parallel_draft": False, "drafter": "qwen3-0.6b"},
}
