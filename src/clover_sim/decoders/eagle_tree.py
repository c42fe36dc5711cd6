"""A tree of drafts: several guesses a level, the best nodes of all verified in one pass."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.canvas import Canvas
from clover_sim.draft_trees import Tree, best_first
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View

_DEEPEST = 64
"""Levels of a tree; published ones have 5 to 8."""


@dataclass(frozen=True, slots=True)
class EagleTree:
    """Draft a tree level by level, keep its most probable nodes, verify them all under a tree mask.

    EAGLE-2 and EAGLE-3 (arXiv 2406.16858, 2503.01840) with SGLang's names. The chance that a path goes on at a level
    follows from the chance of the drafter's best token and the coverage of the further ones
    (:mod:`clover_sim.draft_trees`). With ``speculative_eagle_topk`` 1 it is a chain. Lossless.

    Args:
        speculative_num_steps: levels, one draft pass each, >= 1. speculative_eagle_topk: children a node, >= 1.
        speculative_num_draft_tokens: tokens verified, the root counted, >= 2 (EAGLE's ``total_token``), as far as the
            tree has them.
        acceptance: chance in [0, 1] that the target takes the drafter's best token, where the path held so far.
        decay: factor on it from one level to the next.
        drafter: the head, built from the target's own shapes, or any model's name; ``none`` prices drafts at nothing.
    """

    speculative_num_steps: int = 5
    speculative_eagle_topk: int = 4
    speculative_num_draft_tokens: int = 8
    acceptance: float = 0.72
    decay: float = 1.0
    drafter: str | None = "eagle3-head"

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise UsageError(f"eagle-tree: decay={self.decay}: expected a factor above 0 and up to 1")
        if self.speculative_num_steps > _DEEPEST:
            raise UsageError(
                f"eagle-tree: speculative_num_steps={self.speculative_num_steps}: expected at most {_DEEPEST} levels"
            )
        self.tree()

    def tree(self) -> Tree:
        """The tree that is verified."""
        return best_first(
            self.acceptance, self.speculative_num_steps, self.speculative_eagle_topk,
            self.speculative_num_draft_tokens, self.decay,
        )  # fmt: skip

    @property
    def draft_source(self) -> Drafter:
        """The declared head, with the chance of each level given those before."""
        survival = self.tree().survival
        before = (1.0, *survival)
        rates = tuple(now / last if last else 0.0 for last, now in zip(before, survival, strict=False))
        return Drafter(self.drafter, rates)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield one draft pass a level, the first one node wide, then the pass that verifies the tree."""
        tree = self.tree()
        depth, topk = len(tree.survival), self.speculative_eagle_topk
        beside = tree.nodes - depth  # nodes off the deepest path
        while canvas.remaining:
            for level in range(min(self.speculative_num_steps, canvas.remaining)):  # whatever is then kept of them
                yield canvas.draft(1, nodes=topk if level else 1)
            path = canvas.next(depth + 1)
            view = yield canvas.span(path.start, path.stop, path.attend, len(path) + beside)
            canvas.commit(view.agreed())


DECODER = EagleTree
PRESETS = {
    # SafeAILab/EAGLE ea_model.py (cb7e084): depth 7, top_k 10, total_token 60.
    "eagle": {"speculative_num_steps": 7, "speculative_eagle_topk": 10, "speculative_num_draft_tokens": 60},
}
