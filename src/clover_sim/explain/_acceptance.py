"""Acceptance as a section states it, in the vocabulary of prices."""

from __future__ import annotations

from clover_sim.acceptance import Acceptance, DraftTree, from_length, from_survival
from clover_sim.acceptance.trees import alpha_on, on_tree
from clover_sim.logs import Section


def tree_of(section: Section) -> DraftTree | None:
    """The tree that ``section`` drafted, ``None`` if it was a chain or nobody says."""
    k = section.num_speculative_tokens
    if section.levels is None or k is None or (section.topk or 1) < 2:
        return None
    return DraftTree(min(section.levels, k), section.topk or 1, k + 1)


def acceptance_of(section: Section, place: str = "the log") -> Acceptance | None:
    """What ``section`` says of its drafts; ``None`` where it says neither rates by position nor a length with its k.

    That of a tree is by level and knows its tree, so that it is never taken for a chain's.

    Raises:
        UsageError, InputError: its figures cannot be.
    """
    k, tree = section.num_speculative_tokens, tree_of(section)
    if tree is not None:
        return _of_tree(section, tree, place)
    if section.per_position_survival:
        return from_survival(section.per_position_survival, f"survival per position in {place}")
    if k is None:
        return None
    if section.acceptance_length is not None:
        made = from_length(section.acceptance_length, k)
        return Acceptance(made.survival, f"{made.given}, in {place}", made.rho)
    if section.acceptance_rate is not None and section.engine != "sglang":
        made = from_length(1 + section.acceptance_rate * k, k)
        given = f"{section.acceptance_rate:.1%} of the drafted tokens at k={k}, in {place}"
        return Acceptance(made.survival, given, made.rho)
    return None


def _of_tree(section: Section, tree: DraftTree, place: str) -> Acceptance | None:
    """By level as the log counts it, else from its length and the law of trees."""
    survival, shape = section.per_position_survival, f"on a tree of {tree.budget} tokens, in {place}"
    if survival and len(survival) <= tree.levels:
        return Acceptance(tuple(survival), f"survival per level {shape}", tree=tree)
    length = section.acceptance_length
    if length is None and section.acceptance_rate is not None and section.engine != "sglang":
        length = 1 + section.acceptance_rate * (tree.budget - 1)
    if length is None:
        return None
    given = f"acceptance length {length:.4g}, bonus included, {shape}"
    return Acceptance(on_tree(alpha_on(length, tree), tree), given, tree=tree)
