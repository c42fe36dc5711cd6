"""Other trees than the one asked for, chains among them: which is the fastest with the same drafter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clover_sim.acceptance import Acceptance, DraftTree
from clover_sim.speculation.cycles import Cycle
from clover_sim.speculation.methods import Shape, shape_of

_CHAINS, _TOPKS, _LEVELS, _BUDGETS = range(1, 9), (2, 4, 8), (2, 3, 4, 5, 6, 7), (4, 8, 16, 32, 64)
_WORTH_IT = 1.02
"""Gain from which another shape is named."""


class OtherTree(NamedTuple):
    """A tree (or a chain, with one child a node), the tokens of its cycle, its cost in plain steps and its gain."""

    tree: DraftTree
    tokens: float
    cost_ratio: float
    speedup: float


def fastest_trees(
    accepted: Acceptance, shape: Shape, price: Callable[[Shape], Cycle], tokens: Callable[[Acceptance], float],
    beside: float,
) -> tuple[OtherTree | None, OtherTree]:  # fmt: skip
    """The fastest shape of those that servers are usually told, if it is faster than ``beside``, and the fastest chain.

    Args:
        accepted: of the tree of ``shape``. price, tokens: the cycle of a shape, and what it writes.
    """
    alpha, found = accepted.alpha, []
    one = Acceptance((alpha,), accepted.given, tree=DraftTree(1, 1, 2))
    for tree in _usual():
        other = shape_of(shape.method, tree.levels, drafter=shape.drafter, topk=tree.topk, budget=tree.budget)
        made, ratio = tokens(one.on(tree)), max(price(other).cost_ratio, 1.0)  # a cycle holds a plain step
        found.append(OtherTree(tree, made, ratio, made / ratio))
    best = max(found, key=lambda entry: entry.speedup)
    chain = max((entry for entry in found if entry.tree.topk == 1), key=lambda entry: entry.speedup)
    return best if best.speedup > _WORTH_IT * beside else None, chain


def _usual() -> Iterator[DraftTree]:
    for levels in _CHAINS:
        yield DraftTree(levels, 1, levels + 1)
    for topk in _TOPKS:
        for levels in _LEVELS:
            for budget in _BUDGETS:
                tree = DraftTree(levels, topk, budget)
                if budget > levels + 1 and tree == tree.drafted():
                    yield tree
