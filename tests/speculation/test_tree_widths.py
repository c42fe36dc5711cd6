"""Trees hold the nodes that a drafter can propose, and ``speculate`` and ``compare`` mean one tree."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from cli.harness import cli
from clover_sim.cost import Machine
from clover_sim.decoders.eagle_tree import EagleTree
from clover_sim.draft_trees import best_first, coverage, most_tokens
from clover_sim.registry import build_strategy
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import cycle, drafter_model, shape_of
from clover_sim.speculation.methods import Shape

ASK = ("--model", "qwen3-8b", "--gpu", "h100")


def drafted(first: float, steps: int, topk: int, budget: int) -> tuple[list[float], int]:
    """As an engine drafts, level by level: the best ``topk`` nodes of a level each propose ``topk`` children; of all
    proposed the most probable are verified. Chance by level that a verified node is the target's, and their number."""
    ranks = [coverage(first, r + 1) - (coverage(first, r) if r else 0.0) for r in range(topk)]
    beam, proposed = [1.0], []
    for level in range(steps):
        children = sorted((parent * rank for parent in beam for rank in ranks), reverse=True)
        proposed += [(chance, level) for chance in children]
        beam = children[:topk]
    kept = sorted(proposed, reverse=True)[: budget - 1]
    return [sum(chance for chance, at in kept if at == level) for level in range(steps)], len(kept)


@pytest.mark.parametrize(("steps", "topk"), list(itertools.product((1, 2, 3, 6), (1, 2, 4))))
@pytest.mark.parametrize("budget", [2, 8, 16, 200])
def test_a_tree_drafted_level_by_level(steps: int, topk: int, budget: int) -> None:
    survival, nodes = drafted(0.62, steps, topk, budget)
    found = best_first(0.62, steps, topk, budget)
    assert found.nodes == nodes == min(budget, most_tokens(steps, topk)) - 1
    padded = [*found.survival, *[0.0] * (steps - len(found.survival))]
    assert padded == pytest.approx(survival)


@pytest.mark.parametrize(
    ("steps", "topk", "tokens", "width"),
    [(5, 1, 12, 6), (1, 4, 16, 5), (3, 2, 15, 11), (5, 8, 32, 32), (5, 4, None, 8)],
)
def test_speculate_and_compare_verify_one_tree(steps: int, topk: int, tokens: int | None, width: int) -> None:
    options = {"speculative_num_steps": steps, "speculative_eagle_topk": topk}
    options |= {} if tokens is None else {"speculative_num_draft_tokens": tokens}
    assert EagleTree(**options).tree().nodes + 1 == width
    flags = [word for key, n in options.items() for word in (f"--{key.replace('_', '-')}", str(n))]
    done = cli("speculate", "--method", "eagle-tree", "--alpha", "0.8", *flags, *ASK, "--format", "json")
    found = json.loads(done.stdout)
    assert found["verify_width"] == found["tree"]["budget"] == width
    assert ("have" in done.stderr) == (tokens is not None and tokens > width)
    length = EagleTree(**options, acceptance=0.8).tree().length
    assert found["acceptance"]["acceptance_length"] == pytest.approx(length, abs=1e-4)
    for row in found["lengths"]:
        levels = row["num_speculative_tokens"]
        budget = max(tokens or 8, levels + 1)
        other = EagleTree(levels, topk, budget, acceptance=0.8).tree()
        assert row["tokens_per_cycle"] == pytest.approx(other.length, abs=1e-4)
        assert row["cost_ratio"] == pytest.approx(_cost(levels, topk, other.nodes + 1), rel=1e-9)


def _cost(levels: int, topk: int, width: int) -> float:
    """Of a cycle with just so many tokens, in plain steps."""
    target = Machine(load_model("qwen3-8b"), load_hardware("h100"), load_engine("sglang"))
    target = replace(target, drafter=drafter_model("eagle3-head", target.model))
    shape = Shape("eagle-tree", levels, width, (1, *[topk] * (levels - 1)), "eagle3-head")
    return cycle(target, shape).cost_ratio


def test_the_usual_tree_is_that_of_the_decoder() -> None:
    decoder, shape = build_strategy("eagle-tree")[1], shape_of("eagle-tree")
    assert isinstance(decoder, EagleTree)
    assert (shape.k, shape.width) == (decoder.speculative_num_steps, decoder.speculative_num_draft_tokens)


def test_every_level_is_drafted_whatever_is_kept() -> None:
    """At 0.3 the 7 best nodes reach 2 levels; the drafter has run 5 passes to know it."""
    strategy = "eagle-tree:acceptance=0.3"
    assert len(build_strategy(strategy)[1].tree().survival) == 2
    done = cli("compare", "-s", strategy, "--tokens", "1024", *ASK, "--format", "json")
    row = json.loads(done.stdout)["rows"][0]
    assert row["draft_passes"] > 4.9 * row["target_passes"]
