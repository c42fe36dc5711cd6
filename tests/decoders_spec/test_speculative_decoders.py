"""Decoders with drafts: conformance, equal spellings, a chain as a tree, hits and misses, declared heads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clover_sim import compare
from clover_sim.conformance import check_decoder
from clover_sim.decoders.eagle_tree import EagleTree
from clover_sim.engine import run
from clover_sim.errors import UsageError
from clover_sim.physics.extremes import mixed_stream
from clover_sim.records import Kind
from clover_sim.registry import build_strategy, strategy_names
from clover_sim.specs import load_model
from clover_sim.speculation.heads import HEADS, drafter_model

STRATEGIES = (
    "eagle3:num_speculative_tokens=3,acceptance=[0.8,0.6,0.4]", "mtp:num_speculative_tokens=3",
    "eagle-tree:speculative_eagle_topk=1,speculative_num_draft_tokens=6",
    "eagle-tree:speculative_num_steps=2,speculative_num_draft_tokens=2",
)  # fmt: skip
"""Beside the usual options of every strategy, which tests/conformance has."""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_conformance(strategy: str) -> None:
    check_decoder(strategy).raise_if_failed()


def made(spec: str) -> Any:
    return build_strategy(spec)[1]


def rows_of(decoder: Any, tokens: int = 400) -> Any:
    ledger = run(decoder, mixed_stream(tokens)).ledger
    return list(zip(ledger.kind, ledger.start, ledger.tokens, ledger.committed, strict=True))


@pytest.mark.parametrize("k", [1, 3, 7])
def test_a_chain_is_a_tree_with_one_child(k: int) -> None:
    chain = made(f"eagle3:num_speculative_tokens={k},acceptance=0.7")
    tree = EagleTree(k, 1, k + 1, acceptance=0.7)
    assert rows_of(chain) == rows_of(tree)
    assert tree.draft_source.acceptance == pytest.approx((0.7,) * k)


SPELLED_BOTH_WAYS = (
    "speculative", "draft-model", "eagle3", "p-eagle", "mtp", "dflash", "dflash2", "ngram", "prompt-lookup", "suffix",
)  # fmt: skip


@pytest.mark.parametrize("name", [n for n in SPELLED_BOTH_WAYS if n not in ("p-eagle", "prompt-lookup")])
def test_both_spellings_mean_the_same(name: str) -> None:
    by_vllm, by_sglang = made(f"{name}:num_speculative_tokens=7"), made(f"{name}:speculative_num_draft_tokens=8")
    assert by_vllm == by_sglang
    assert by_vllm.num_speculative_tokens == 7
    assert by_vllm.speculative_num_draft_tokens == 8
    with pytest.raises(UsageError, match="contradicts"):
        made(f"{name}:num_speculative_tokens=7,speculative_num_draft_tokens=7")
    with pytest.raises(UsageError, match="counts the root"):
        made(f"{name}:speculative_num_draft_tokens=1")


def test_no_decoder_knows_but_one_spelling() -> None:
    """Whoever takes vLLM's name for the length takes SGLang's, and converts it."""
    for name, _ in strategy_names():
        decoder = made(name)
        if hasattr(decoder, "num_speculative_tokens"):
            assert name in SPELLED_BOTH_WAYS
            assert decoder.speculative_num_draft_tokens == decoder.num_speculative_tokens + 1


@pytest.mark.parametrize("name", SPELLED_BOTH_WAYS)
def test_a_replaced_length_replaces_the_other_spelling(name: str) -> None:
    shorter = replace(made(name), num_speculative_tokens=2)
    assert (shorter.num_speculative_tokens, shorter.speculative_num_draft_tokens) == (2, 3)
    with pytest.raises(UsageError, match="contradicts"):
        replace(made(name), num_speculative_tokens=2, speculative_num_draft_tokens=4)


def test_draft_model_is_the_plain_scheme_with_serial_passes_and_a_named_drafter() -> None:
    decoder = made("draft-model")
    assert type(decoder).__name__ == "Speculative"
    assert not decoder.parallel_draft
    assert decoder.drafter == "qwen3-0.6b"
    assert rows_of(decoder) == rows_of(made("speculative"))


def test_a_miss_costs_a_plain_pass() -> None:
    kinds = [row[0] for row in rows_of(made("ngram:hit_rate=0.5,acceptance=1.0,num_speculative_tokens=4"), 2000)]
    assert set(kinds) == {Kind.DECODE, Kind.VERIFY}
    assert 0.4 < kinds.count(Kind.VERIFY) / len(kinds) < 0.6
    assert all(row[2] == 1 for row in rows_of(made("ngram:hit_rate=0")))


def test_tokens_a_pass_of_ngrams_follow_hits_and_acceptance() -> None:
    rows = rows_of(made("ngram:hit_rate=0.4,acceptance=0.5,num_speculative_tokens=3"), 8000)
    assert 8000 / len(rows) == pytest.approx(1 + 0.4 * (0.5 + 0.25 + 0.125), rel=0.04)


def test_suffix_drafts_grow_with_the_match() -> None:
    widths = [row[2] for row in rows_of(made("suffix:hit_rate=1,acceptance=1,num_speculative_tokens=16"), 200)]
    assert widths[:4] == [2, 4, 8, 16]
    assert max(widths) == 17
    assert {row[2] for row in rows_of(made("suffix:hit_rate=1,acceptance=0"))} == {2, 1}


def test_a_block_drafter_takes_one_pass_of_the_whole_block() -> None:
    first = rows_of(made("dflash"))[:2]
    assert [(row[0], row[2]) for row in first] == [(Kind.DRAFT, 16), (Kind.VERIFY, 16)]


def test_a_tree_drafts_a_pass_a_level_and_verifies_its_budget() -> None:
    first = rows_of(made("eagle"))[:8]
    assert [row[2] for row in first] == [1, 10, 10, 10, 10, 10, 10, 60]


def test_acceptance_length_of_a_long_run() -> None:
    for spec, length in (("eagle3:acceptance=0.75", 2.734), ("mtp:acceptance=0.9", 1.9)):
        rows = rows_of(made(spec), 20_000)
        assert 20_000 / sum(row[0] == Kind.VERIFY for row in rows) == pytest.approx(length, rel=0.02)


def test_candidates_and_a_selector_raise_the_rate() -> None:
    plain, chosen = made("dflash2:selector=0"), made("dflash2:selector=1")
    assert plain.draft_source.acceptance == (0.8,)
    assert chosen.draft_source.acceptance[0] > 0.9


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        ("eagle3:acceptance=1.5", "acceptance=1.5"), ("mtp:num_speculative_tokens=0", "at least 1"),
        ("dflash:acceptance=[0.9,0.8]", "survival of 2 positions"), ("ngram:hit_rate=2", "hit_rate=2"),
        ("suffix:max_spec_factor=0", "max_spec_factor"), ("eagle-tree:speculative_eagle_topk=0", "topk=0"),
        ("eagle-tree:decay=0", "decay"), ("dflash2:candidates=0", "candidates"),
        ("mtp:num_speculative_tokens=2,acceptance=[0.4,0.6]", "rises"), ("eagle-tree:acceptance=-1", "acceptance"),
    ],
)  # fmt: skip
def test_unusable_options_are_refused(strategy: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        made(strategy)
    assert reason in str(caught.value)


def test_heads_are_built_from_the_target() -> None:
    dense, mixture = load_model("llama-3.1-8b"), load_model("qwen3.5-397b-a17b")
    for name in HEADS:
        for target in (dense, mixture):
            head = drafter_model(name, target)
            assert head is not None
            assert head.layers == HEADS[name].layers
            assert head.active_params < 0.35 * target.active_params
            assert head.is_moe == (HEADS[name].mixture and target.is_moe)
    eagle3 = drafter_model("eagle3-head", dense)
    assert eagle3 is not None
    assert 0.35e9 < eagle3.params < 0.45e9  # published: 0.4 B
    with pytest.raises(UsageError, match="did you mean"):
        drafter_model("eagle3-haed-head", dense)


def test_drafts_are_priced_in_a_comparison() -> None:
    rows = {row["strategy"]: row for row in compare(["ar", "eagle3", "mtp", "dflash"], tokens=256).rows}
    assert rows["dflash"]["speedup_time"] > 1
    free = compare("eagle3:drafter=none", tokens=256).rows[0]
    assert free["latency_s"] < rows["eagle3"]["latency_s"]
    assert rows["eagle3"]["drafter"]["model"] == "eagle3-head"


def test_a_tree_of_a_million_levels_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="at most 64 levels"):
        build_strategy("eagle-tree:speculative_num_steps=999999999999")
