"""One acceptance under every convention in use, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clover_sim.acceptance.trees import DraftTree

if TYPE_CHECKING:
    from clover_sim.acceptance import Acceptance

_SHOWN = 16


def of_chain(accepted: Acceptance) -> tuple[str, ...]:
    """Of a chain of k drafts."""
    k, length = accepted.k, accepted.length
    return (
        f"given: {accepted.given}",
        f"acceptance length {length:.3f} tokens a cycle, bonus included (vLLM, SGLang, llama.cpp, papers)",
        f"acceptance length {length - 1:.3f} without the bonus (vLLM to 0.8.5, EAGLE's code)",
        f"acceptance rate {accepted.rate:.1%} = accepted / drafted tokens at k={k} (vLLM V1, llama.cpp, TensorRT-LLM)",
        f"SGLang accept rate {length / (k + 1):.3f} before 2026 (root counted), {(length - 1) / k:.3f} since",
        f"survival per position {_survival(accepted)} (unconditional: never multiply them)",
        f"one conditional rate of the same length: {accepted.alpha:.3f}",
    )


def of_tree(accepted: Acceptance, tree: DraftTree) -> tuple[str, ...]:
    """Of a tree, whose rate is over all tokens verified although one path of them can be kept."""
    length, nodes = accepted.length, accepted.verified
    path = min(tree.levels, nodes)
    return (
        f"given: {accepted.given}",
        f"acceptance length {length:.3f} tokens a cycle of at most {path + 1}: one path of the tree and the bonus",
        f"acceptance length {length - 1:.3f} without the bonus",
        f"acceptance rate {accepted.rate:.1%} = accepted / verified tokens, {nodes} a cycle; one path of at most "
        f"{path} is kept, so it cannot exceed {path / nodes:.1%}",
        f"SGLang accept rate {length / tree.budget:.3f} before 2026 (root counted), {(length - 1) / nodes:.3f} since",
        f"survival per level {_survival(accepted)}",
        f"acceptance of a token {accepted.alpha:.3f}, the chance that the drafter's best one is the target's; with it "
        f"a chain of {path} writes {accepted.at(path).length:.2f} tokens a cycle",
    )


def _survival(accepted: Acceptance) -> str:
    return " ".join(f"{s:.3f}" for s in accepted.survival[:_SHOWN]) + (" ..." if accepted.k > _SHOWN else "")
