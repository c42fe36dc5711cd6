"""Drafts from a suffix tree over earlier outputs: as long as the match that led to them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._drafts import settle, source
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class SuffixDecoding:
    """Propose as many tokens as the present match is long: short drafts after a miss, long ones in a repetition.

    SuffixDecoding (arXiv 2411.04975; snowflakedb/ArcticInference): at most factor x match + offset tokens, looked up
    on the CPU. The match grows with every accepted token and starts again after a rejection. Lossless.

    Args:
        num_speculative_tokens: most tokens proposed, k >= 1 (default 16). speculative_num_draft_tokens: with the root.
        hit_rate: chance in [0, 1] that the tree knows a continuation.
        acceptance: conditional probability in [0, 1] of each draft of a hit.
        max_spec_factor, max_spec_offset: tokens proposed for each matched token, and besides.
        max_tree_depth: longest match, >= 1 (vLLM 24, ArcticInference 64).
        clustering: the chances that a draft matches after one that matched and after one that did not, as in
            ``[0.86,0.63]``, instead of ``acceptance``: matches come in runs.
    """

    num_speculative_tokens: int | None = None
    speculative_num_draft_tokens: int | None = None
    hit_rate: float = 0.6
    acceptance: float | None = 0.8
    max_spec_factor: float = 1.0
    max_spec_offset: int = 0
    max_tree_depth: int = 24
    clustering: tuple[float, ...] | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"proposals"})

    def __post_init__(self) -> None:
        settle(self, "suffix", 16)
        if not 0 <= self.hit_rate <= 1:
            raise UsageError(f"suffix: hit_rate={self.hit_rate}: expected a probability from 0 to 1")
        if not 0 < self.max_spec_factor < 1e6:
            raise UsageError(f"suffix: max_spec_factor={self.max_spec_factor}: expected a factor above 0")
        if self.max_spec_offset < 0 or self.max_tree_depth < 1:
            raise UsageError("suffix: max_spec_offset is at least 0, and max_tree_depth at least 1")

    @property
    def draft_source(self) -> Drafter:
        """A proposer that costs no pass."""
        return source(self, "suffix", None, self.hit_rate)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield a verify pass as wide as the match allows, or a plain pass."""
        match = 1
        while canvas.remaining:
            most = int(self.max_spec_factor * match) + self.max_spec_offset
            found = canvas.propose(max(1, min(most, self.num_speculative_tokens or 1)))
            view = yield canvas.next(found + 1)
            agreed = view.agreed()
            canvas.commit(agreed)
            kept = found and len(agreed) > found
            match = min(match + len(agreed), self.max_tree_depth) if kept else 1


DECODER = SuffixDecoding
