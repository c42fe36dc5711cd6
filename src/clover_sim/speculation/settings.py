"""A draft length or a tree in the flags of the engine that is asked about."""

from __future__ import annotations

from clover_sim.acceptance import DraftTree
from clover_sim.speculation.answer import Answer
from clover_sim.speculation.methods import METHODS, SERIAL, TREE

SCHEDULE = "num_speculative_tokens_per_batch_size"
"""vLLM's setting for a draft length by batch."""


def setting(found: Answer, k: int, tree: DraftTree | None = None) -> str:
    """How the engine of ``found`` is told to draft ``k`` tokens its way: levels of its tree, or of ``tree``."""
    shape = found.cycle.shape
    if tree is None and METHODS[shape.method].how == TREE:
        tree = DraftTree(k, found.topk, max(shape.budget, k + 1)).drafted()
    return words(found.machine.engine.name, k, tree, steps=METHODS[shape.method].how == SERIAL)


def words(engine: str, k: int, tree: DraftTree | None = None, *, steps: bool = True) -> str:
    """The flags.

    Args:
        engine: its name. steps: whether drafts come one a step, which SGLang is told in three flags.

    >>> words("sglang", 3, DraftTree(3, 1, 4))
    '--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4'
    >>> words("vllm", 2), words("llama.cpp", 4), words("sglang", 15, steps=False)
    ('num_speculative_tokens 2', '--draft-max 4', '--speculative-num-draft-tokens 16')
    """
    if engine.startswith("sglang"):
        if tree is None and not steps:
            return f"--speculative-num-draft-tokens {k + 1}"
        topk, budget = (1, k + 1) if tree is None else (tree.topk, tree.budget)
        return (
            f"--speculative-num-steps {k} --speculative-eagle-topk {topk} --speculative-num-draft-tokens {budget}"
        )
    if tree is not None and tree.topk > 1:
        return f"{k} levels, {tree.topk} children a node, {tree.budget} tokens with the root"
    if engine.startswith("vllm"):
        return f"num_speculative_tokens {k}"
    if engine == "llama.cpp":
        return f"--draft-max {k}"
    return f"max_draft_len {k}" if engine == "trtllm" else f"{k} draft token{'s' * (k != 1)}"
