"""Acceptance on a tree of drafts, and from there on any other shape: both follow from one chance a token."""

from __future__ import annotations

from typing import NamedTuple

from clover_sim.errors import InputError


class DraftTree(NamedTuple):
    """A tree as engines are told it.

    Args:
        levels: drafts on its longest path, the root not counted (SGLang's ``speculative_num_steps``).
        topk: children a node (``speculative_eagle_topk``); 1 is a chain.
        budget: tokens verified, the root counted (``speculative_num_draft_tokens``).
    """

    levels: int
    topk: int
    budget: int

    def drafted(self) -> DraftTree:
        """The same tree with no more tokens than its levels and children can have.

        >>> DraftTree(5, 1, 12).drafted().budget, DraftTree(5, 8, 32).drafted().budget
        (6, 32)
        """
        from clover_sim.draft_trees import most_tokens

        return self._replace(budget=min(self.budget, most_tokens(self.levels, self.topk)))


def on_tree(alpha: float, tree: DraftTree) -> tuple[float, ...]:
    """Survival by level where the target takes the drafter's best token with a chance of ``alpha``.

    >>> on_tree(0.5, DraftTree(3, 1, 4)), round(1 + sum(on_tree(0.42, DraftTree(5, 8, 32))), 1)
    ((0.5, 0.25, 0.125), 2.4)
    """
    from clover_sim.draft_trees import best_first

    return best_first(alpha, *tree).survival


def alpha_on(length: float, tree: DraftTree) -> float:
    """The chance that gives an acceptance length (bonus included) on a tree: the inverse of :func:`on_tree`.

    Raises:
        InputError: a length that no tree of so many levels can have.

    >>> round(alpha_on(2.364, DraftTree(5, 8, 32)), 2), round(alpha_on(1.875, DraftTree(3, 1, 4)), 3)
    (0.42, 0.5)
    """
    from clover_sim.draft_trees import fit_first

    most = 1 + min(tree.levels, tree.budget - 1)
    if not 1 <= length <= most * (1 + 1e-9):
        raise InputError(
            f"acceptance length {length:g} on a tree of {tree.levels} level{'s' * (tree.levels > 1)}: expected 1 to "
            f"{most}, for a cycle keeps one path and the bonus token; check the levels (speculative_num_steps)"
        )
    return fit_first(length, *tree)
