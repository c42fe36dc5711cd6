"""How each method drafts: passes, widths, drafter. A method and a length give the shape of a cycle."""

from __future__ import annotations

from typing import NamedTuple

from clover_sim.errors import UsageError, suggest

SERIAL, PARALLEL, BLOCK, TREE, FREE = "serial", "parallel", "block", "tree", "free"


class Method(NamedTuple):
    """A family of drafters.

    Args:
        how: ``serial`` (a pass a token), ``parallel`` (one pass, k wide), ``block`` (one pass, the anchor included),
            ``tree`` (a pass a level), ``free`` (no pass).
        drafter: the head it uses, ``None`` for a model that must be named, or for none at all.
        k: draft tokens a cycle where nobody says how many.
    """

    how: str
    drafter: str | None
    k: int


METHODS: dict[str, Method] = {
    "draft-model": Method(SERIAL, None, 4),
    "eagle1": Method(SERIAL, "eagle1-head", 3),
    "eagle3": Method(SERIAL, "eagle3-head", 3),
    "p-eagle": Method(PARALLEL, "p-eagle-head", 7),
    "mtp": Method(SERIAL, "mtp-head", 1),
    "eagle-tree": Method(TREE, "eagle3-head", 5),
    "dflash": Method(BLOCK, "dflash-head", 15),
    "dflash2": Method(BLOCK, "dflash-head", 7),
    "dspark": Method(PARALLEL, "dspark-head", 7),
    "ngram": Method(FREE, None, 5),
    "suffix": Method(FREE, None, 16),
}
ALIASES = {
    "eagle": "eagle1", "eagle2": "eagle-tree", "nextn": "mtp", "draft-mtp": "mtp", "prompt-lookup": "ngram",
    "draft_model": "draft-model", "standalone": "draft-model", "eagle-frspec": "eagle1", "eagle-3": "eagle3",
    "speculative": "draft-model", "mtp-finetuned": "mtp",
}  # fmt: skip
"""Other names of the methods, as engines and papers write them."""


USUAL_BUDGET = 8
"""Tokens that the target verifies of a tree, the root counted, where nobody says how many: SGLang's own default with 5
levels of 4 children, as in the decoder ``eagle-tree``."""

MOST_LEVELS = 64
MOST_TOKENS = 1024
"""Most tokens of a draft; published trees stay below 100."""


class Shape(NamedTuple):
    """One cycle of one request.

    Args:
        method: its name. k: draft tokens proposed on one path. width: tokens the target verifies, the root counted.
        draft_widths: tokens of each draft pass. drafter: name of the drafter, ``None`` if drafts cost no pass.
        budget: tokens of a tree that were asked for, which may be more than exist (``width``); 0 if it is none.
    """

    method: str
    k: int
    width: int
    draft_widths: tuple[int, ...]
    drafter: str | None
    budget: int = 0


def method_name(text: str) -> str:
    """The method a name means.

    >>> method_name("NEXTN"), method_name("eagle3")
    ('mtp', 'eagle3')
    """
    name = text.strip().lower()
    name = ALIASES.get(name, name)
    if name not in METHODS:
        raise UsageError(f"method {text!r} is not known{suggest(name, [*METHODS, *ALIASES])}")
    return name


def shape_of(
    method: str, k: int | None = None, *, drafter: str | None = None, topk: int = 4, budget: int | None = None,
    parallel: bool = False,
) -> Shape:  # fmt: skip
    """The shape of a cycle that proposes ``k`` tokens (levels of the tree, where it is one).

    Args:
        drafter: name of the model that drafts, in place of the method's own head.
        topk, budget: of a tree: children a node, and tokens verified with the root (default 8, or the chain if that
            is longer), as far as such a tree has them. parallel: all tokens come from one draft pass.

    >>> shape_of("dflash").width, shape_of("mtp", 3).draft_widths, shape_of("eagle-tree", 3, topk=1, budget=4).width
    (16, (1, 1, 1), 4)
    """
    name = method_name(method)
    about = METHODS[name]
    k = about.k if k is None else k
    if not 1 <= k <= MOST_TOKENS or (budget or 0) > MOST_TOKENS:
        raise UsageError(f"{name}: k={k}, budget={budget}: expected 1 to {MOST_TOKENS} tokens a cycle")
    drafter = drafter or about.drafter
    if about.how == FREE:
        return Shape(name, k, k + 1, (), None)
    if drafter is None:
        raise UsageError(f"{name}: which model drafts? Name it: --drafter qwen3-0.6b")
    if about.how == TREE:
        from clover_sim.draft_trees import most_tokens

        budget = max(USUAL_BUDGET, k + 1) if budget is None else budget
        if k > MOST_LEVELS:
            raise UsageError(f"{name}: {k} levels: expected at most {MOST_LEVELS}")
        if topk < 1 or budget < k + 1:
            raise UsageError(f"{name}: topk={topk}, budget={budget}: expected at least 1, and at least {k + 1} tokens")
        return Shape(name, k, min(budget, most_tokens(k, topk)), (1, *[topk] * (k - 1)), drafter, budget)
    if about.how == BLOCK:
        widths: tuple[int, ...] = (k + 1,)
    elif about.how == PARALLEL or parallel:
        widths = (k,)
    else:
        widths = (1,) * k
    return Shape(name, k, k + 1, widths, drafter)
