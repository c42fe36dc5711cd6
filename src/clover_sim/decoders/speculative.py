"""Draft and verify with a chain of drafts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise

from clover_sim.canvas import Canvas
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Speculative:
    """Propose k tokens with a small model, verify them in one pass of the target, keep the agreed prefix and a bonus.

    Lossless: what comes out is what the target alone would have written (Leviathan, Kalman and Matias 2023,
    arXiv 2211.17192; Chen et al. 2023, arXiv 2302.01318). With one rate a, a cycle yields
    (1 - a^(k+1)) / (1 - a) tokens on average, the bonus token included.

    Args:
        num_speculative_tokens: draft tokens a cycle, k >= 1 (vLLM's name; SGLang's num_draft_tokens counts the root
            and so is k + 1).
        acceptance: either one conditional probability in [0, 1] that the target agrees with a draft given that it
            agreed with those before it, or the survival of each position (``[0.8,0.6,0.5]``: the share of cycles that
            kept at least 1, 2, 3 drafts), k entries that never rise.
        parallel_draft: one draft pass proposes all k tokens (a parallel drafting head) instead of k passes in a row.
        drafter: name of the model that drafts, for the price of its passes; ``none`` prices them at nothing.
    """

    num_speculative_tokens: int = 5
    acceptance: float | tuple[float, ...] = 0.72
    parallel_draft: bool = False
    drafter: str | None = "qwen3-0.6b"

    def __post_init__(self) -> None:
        k, given = self.num_speculative_tokens, self.acceptance
        if k < 1:
            raise UsageError(f"speculative: num_speculative_tokens={k}: expected at least 1 draft token a cycle")
        rates = (given,) if isinstance(given, float | int) else given
        if not rates or not all(0 <= rate <= 1 for rate in rates):
            raise UsageError(f"speculative: acceptance={given}: expected probabilities from 0 to 1")
        if isinstance(given, tuple):
            if len(given) != k:
                raise UsageError(
                    f"speculative: acceptance lists the survival of {len(given)} positions, but "
                    f"num_speculative_tokens={k}; give one entry a draft token"
                )
            if any(later > earlier for earlier, later in pairwise(given)):
                raise UsageError(
                    f"speculative: acceptance={list(given)} rises; a list is the share of cycles that kept at least "
                    "1, 2, ... drafts, so it can only fall"
                )

    @property
    def draft_source(self) -> Drafter:
        """The declared drafter, with the survival list turned into conditional rates."""
        given = self.acceptance
        if isinstance(given, tuple):
            before = (1.0, *given)
            given = tuple(now / last if last else 0.0 for last, now in zip(before, given, strict=False))
            return Drafter(self.drafter, given)
        return Drafter(self.drafter, (float(given),))

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the draft passes of a cycle, then its verify pass."""
        k = self.num_speculative_tokens
        while canvas.remaining:
            if self.parallel_draft:
                yield canvas.draft(k)
            else:
                for _ in range(min(k, canvas.remaining)):
                    yield canvas.draft()
            view = yield canvas.next(k + 1)
            canvas.commit(view.agreed())


DECODER = Speculative
PRESETS = {
    # The plain scheme under its common name: a small model that drafts token by token.
    "draft-model": {"parallel_draft": False, "drafter": "qwen3-0.6b"},
}
