"""Matches that come in runs: engine, closed form, a naive chain of draws and the analytic answer agree."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from typing import Any

import pytest

from clover_sim.acceptance import clustered, from_alpha
from clover_sim.conformance import check_decoder
from clover_sim.cost import Machine
from clover_sim.decoders.speculative import Speculative
from clover_sim.engine import Batch, run
from clover_sim.errors import UsageError
from clover_sim.records import Drafter, Kind
from clover_sim.registry import build_strategy
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import shape_of, speculate
from clover_sim.streams.base import Stream
from clover_sim.streams.profiles import open_stream
from core.scripted import ScriptedPhysics, passes, run_audited, scripted_stream

PAIRS = [(0.86, 0.63), (0.95, 0.3), (0.5, 0.9), (0.7, 0.7), (1.0, 0.4), (0.0, 0.0), (0.3, 1.0)]
CHAINS = ("speculative", "draft-model", "eagle3", "p-eagle", "mtp", "dflash")
TOKENS = 40_000


def strategy(spec: str) -> Any:
    return build_strategy(spec)[1]


@cache
def text(profile: str, tokens: int) -> Stream:
    """Drawn once; each run has physics of its own."""
    return open_stream(profile, tokens)


def length_of(decoder: Any, profile: str = "chat", tokens: int = TOKENS) -> float:
    """Tokens a cycle: of the passes of the target that verified something."""
    ledger = run(decoder, text(profile, tokens)).ledger
    cycles = [c for kind, c in zip(ledger.kind, ledger.committed, strict=True) if kind == Kind.VERIFY]
    return sum(cycles) / len(cycles)


def naive_length(hit: float, miss: float, k: int, cycles: int = 40_000) -> float:
    """Draft after draft by the last one's outcome; a cycle ends at its first miss or after k, and writes one more."""
    draw, matched, written = random.Random(f"{hit}/{miss}/{k}").random, True, 0
    for _ in range(cycles):
        for _ in range(k):
            matched = draw() < (hit if matched else miss)
            if not matched:
                break
            written += 1
        written += 1
    return written / cycles


@pytest.mark.parametrize(("hit", "miss"), PAIRS)
@pytest.mark.parametrize("k", [1, 3, 8])
def test_engine_naive_draws_and_closed_form(hit: float, miss: float, k: int) -> None:
    expected = clustered(hit, miss, k).length
    decoder = Speculative(k, clustering=(hit, miss), parallel_draft=True)
    assert length_of(decoder) == pytest.approx(expected, rel=0.02)
    assert length_of(decoder, "reference") == pytest.approx(expected, rel=0.02)
    assert naive_length(hit, miss, k) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", CHAINS)
def test_every_chain_and_block_drafter_takes_it(name: str) -> None:
    decoder = strategy(f"{name}:clustering=[0.86,0.63],num_speculative_tokens=4")
    assert decoder.clustering == (0.86, 0.63)
    assert decoder.acceptance is None
    assert length_of(decoder) == pytest.approx(clustered(0.86, 0.63, 4).length, rel=0.015)
    check_decoder(decoder).raise_if_failed()


def test_runs_are_worth_what_the_closed_form_says_beside_independent_draws() -> None:
    """Under 0.95 and 0.3 as many drafts match as under one rate of 0.857, but a cycle is a tenth shorter."""
    hit, miss, k = 0.95, 0.3, 7
    share = miss / (1 - hit + miss)
    runs, independent = length_of(Speculative(k, clustering=(hit, miss))), length_of(Speculative(k, share))
    expected = clustered(hit, miss, k).length / from_alpha(share, k, 1.0).length
    assert runs / independent == pytest.approx(expected, rel=0.02)
    assert expected == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("method", ["eagle3", "mtp", "dflash", "draft-model"])
@pytest.mark.parametrize("pair", [(0.86, 0.63), (0.95, 0.4)])
def test_simulated_and_analytic_answer_agree(method: str, pair: tuple[float, float]) -> None:
    machine = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("sglang"))
    drafter = "llama-3.2-1b" if method == "draft-model" else None
    answer = speculate(machine, shape_of(method, 5, drafter=drafter), clustered(*pair, 5))
    simulated = length_of(strategy(f"{method}:num_speculative_tokens=5,clustering=[{pair[0]},{pair[1]}]"))
    assert simulated == pytest.approx(answer.tokens_per_cycle, rel=0.015)


def test_proposals_that_miss_leave_the_last_match_as_it_was() -> None:
    decoder = strategy("ngram:num_speculative_tokens=3,hit_rate=0.4,clustering=[0.9,0.4]")
    expected = clustered(0.9, 0.4, 3).length
    assert length_of(decoder) == pytest.approx(expected, rel=0.02)
    passes = run(decoder, open_stream("chat", TOKENS)).totals.target_passes
    assert TOKENS / passes == pytest.approx(1 + 0.4 * (expected - 1), rel=0.03)
    check_decoder("suffix:clustering=[0.9,0.4]").raise_if_failed()


@pytest.mark.parametrize("name", ["speculative", "eagle3", "mtp", "dflash", "ngram", "suffix"])
def test_a_pair_of_equals_is_one_rate_to_the_last_draw(name: str) -> None:
    pair, rate = strategy(f"{name}:clustering=[0.7,0.7]"), strategy(f"{name}:acceptance=0.7")
    assert ledger_rows(pair) == ledger_rows(rate)
    assert pair.draft_source.acceptance[0] == pytest.approx(0.7)


def ledger_rows(decoder: Any) -> list[tuple[Any, ...]]:
    return passes(run(decoder, open_stream("chat", 500)))


def test_the_last_draft_of_a_cycle_decides_about_the_first_of_the_next() -> None:
    """After a match always, after a miss never: once a draft has missed, nothing is accepted any more."""
    result = run_audited(Speculative(2, clustering=(1.0, 0.0), parallel_draft=True), open_stream("chat", 40))
    assert set(passes(result)) == {("draft", p, min(2, 40 - p), 0) for p in range(0, 40, 3)} | {
        ("verify", p, min(3, 40 - p), min(3, 40 - p)) for p in range(0, 40, 3)
    }
    made: list[ScriptedPhysics] = []
    text = scripted_stream(9, agrees=lambda position: position != 1, made=made)

    run_audited(Speculative(2, clustering=(0.9, 0.2), parallel_draft=True), text)
    tested = [call for call in made[0].calls if call[0] == "agrees"]
    assert tested == [
        ("agrees", 0, 0, True), ("agrees", 1, 1, True),  # 1 misses
        ("agrees", 2, 0, False), ("agrees", 3, 1, True),  # and decides about 2, not about 3
        ("agrees", 5, 0, True), ("agrees", 6, 1, True), ("agrees", 8, 0, True),
    ]  # fmt: skip


def test_requests_of_one_batch_keep_their_own_last_match() -> None:
    decoder, stream = Speculative(3, clustering=(0.9, 0.1)), open_stream("chat", 200)
    alone = run(decoder, stream).totals
    batch = Batch()
    numbers = [batch.admit(decoder, stream) for _ in range(2)]
    numbers.append(batch.admit(decoder, open_stream("chat", 200, 5)))
    while batch.step() is not None:
        pass
    totals = [batch.ledger.totals(n) for n in numbers]
    assert totals[0] == totals[1] == alone
    assert totals[2] != alone


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("eagle3:clustering=[0.9]", "two probabilities"), ("mtp:clustering=[0.9,1.2]", "two probabilities"),
        ("speculative:clustering=[0.9,0.5],acceptance=0.3", "both say what is accepted"),
        ("dflash:acceptance=none", "only clustering"), ("ngram:clustering=0.9", "is not a list"),
        ("eagle-tree:clustering=[0.9,0.5]", "unknown option"), ("dflash2:clustering=[0.9,0.5]", "unknown option"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_one_line(spec: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        strategy(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pair", [(0.5,), (0.5, 1.5), (0.5, float("nan"))])
def test_a_drafter_checks_its_pair(pair: Any) -> None:
    with pytest.raises(ValueError, match="probabilit"):
        Drafter(None, (0.5,), clustering=pair)


def test_a_decoder_with_runs_can_be_replaced_and_written_down_again() -> None:
    first = strategy("eagle3:clustering=[0.86,0.63]")
    longer = dataclasses.replace(first, num_speculative_tokens=6)
    assert (longer.num_speculative_tokens, longer.speculative_num_draft_tokens) == (6, 7)
    again = strategy("eagle3:num_speculative_tokens=3,acceptance=none,clustering=[0.86,0.63]")
    assert again == first
    assert first.draft_source == Drafter("eagle3-head", clustered(0.86, 0.63, 3).conditional, 1.0, (0.86, 0.63))
