"""The target's own layer for the next token but one, used as a drafter."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import Given, cycles, settle, source
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class MultiTokenPrediction:
    """Draft with the target's multi-token-prediction layer, run again for every token.

    One layer of the target's own shape (a mixture where the target is one) and its output head, as shipped with
    DeepSeek-V3 (arXiv 2412.19437, section 5.4.3: 85 to 90 % acceptance of the second token), Qwen3.5 and GLM. For
    k > 1 engines run the same layer again. Lossless.

    Args:
        num_speculative_tokens: draft tokens a cycle, k >= 1 (default 1, vLLM's for this method; recipes use 3).
            speculative_num_draft_tokens: the same with the root counted (SGLang).
        acceptance: conditional probability in [0, 1] of each draft, or the survival of each of the k positions.
        drafter: the layer, built from the target's own shapes, or any model's name; ``none`` prices drafts at nothing.
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    acceptance: Given = 0.87
    drafter: str | None = "mtp-head"
    clustering: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        settle(self, "mtp", 1)

    @property
    def draft_source(self) -> Drafter:
        """The declared layer."""
        return source(self, "mtp", self.drafter)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft passes of a cycle, then its verify pass."""
        yield from cycles(canvas, self.num_speculative_tokens or 1)


DECODER = MultiTokenPrediction
