"""Drafts copied from earlier in the text: no drafter, and often no drafts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import Given, settle, source
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class PromptLookup:
    """Find the last few tokens earlier in the text and propose what followed them there.

    Prompt lookup (apoorvumang/prompt-lookup-decoding) and the n-gram methods of vLLM, SGLang and llama.cpp. Two figures
    describe it: how often there is anything to propose, and how much of it is accepted then. A miss costs a plain
    one-token pass. Engines report acceptance over hits only, so tokens a pass are 1 + hit_rate (length - 1). Lossless.

    Args:
        num_speculative_tokens: most tokens proposed, k >= 1 (default 5). speculative_num_draft_tokens: with the root.
        hit_rate: chance in [0, 1] that there is a proposal.
        acceptance: conditional probability in [0, 1] of each draft of a hit, or the survival of each position.
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    hit_rate: float = 0.35
    acceptance: Given = 0.6
    clustering: tuple[float, ...] | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"proposals"})

    def __post_init__(self) -> None:
        settle(self, "ngram", 5)
        if not 0 <= self.hit_rate <= 1:
            raise UsageError(f"ngram: hit_rate={self.hit_rate}: expected a probability from 0 to 1")

    @property
    def draft_source(self) -> Drafter:
        """A proposer that costs no pass."""
        return source(self, "ngram", None, self.hit_rate)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield a verify pass for a hit, a plain pass for a miss."""
        while canvas.remaining:
            view = yield canvas.next(canvas.propose(self.num_speculative_tokens or 1) + 1)
            canvas.commit(view.agreed())


DECODER = PromptLookup
PRESETS = {"prompt-lookup": {"num_speculative_tokens": 10}}
