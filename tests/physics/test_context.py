"""Confidence that depends on what is settled: the laws the model has to keep, whatever its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, log

import pytest

from clover_sim.conformance import check_decoder
from clover_sim.physics.confidence import UNIVERSAL, Confidence
from clover_sim.physics.context import DIGIT, MOST_LOG_ODDS, ContextPhysics
from clover_sim.physics.context_sample import decode_sample, draw_sample
from clover_sim.physics.damage import Damage
from clover_sim.quality import accuracy, order_of, run_with_quality
from clover_sim.records import TokenClass
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from clover_sim.streams.workloads import ContextSettings, context_physics, open_context
from core.scripted import run_audited

PLAIN = Confidence(6.9, 3.6, by_kind=False, damage=Damage(0.05, 2.5))
QUIET = replace(PLAIN, universal=replace(UNIVERSAL, noise=0.0))


def stream(model: Confidence, tokens: int = 256, seed: int = 0, kinds: bytes | None = None) -> Stream:
    kinds = kinds or bytes([TokenClass.COMMON]) * tokens
    classes = bytes(TokenClass.RARE if k == DIGIT else k for k in kinds)
    return Stream("context", classes, lambda limit: context_physics(model, kinds, seed, limit))


def opened(model: Confidence, tokens: int = 32, seed: int = 0) -> ContextPhysics:
    physics = ContextPhysics(model, bytes([TokenClass.COMMON]) * tokens, seed)
    physics.opened(range(tokens))
    return physics


def settle(physics: ContextPhysics, committed: Sequence[int], masked: Sequence[int]) -> list[float]:
    for p in committed:
        physics.wrong(p, False)
    physics.after(list(committed), [], list(masked))
    return [physics.confidence(p) for p in masked]


def odds(confidence: float) -> float:
    return log(confidence / (1 - confidence))


@pytest.mark.parametrize("seed", range(8))
def test_the_formula(seed: int) -> None:
    """The first confidences and those after a commit, worked out from the draws by the formula of the module."""
    u = QUIET.universal
    [drawn] = draw_sample(QUIET, [bytes([TokenClass.COMMON]) * 8], seed)
    final = [QUIET.mu + QUIET.sd * d for d in drawn.difficulty]
    need = [u.need * exp(u.need_spread * w) for w in drawn.need]
    physics = opened(QUIET, 8, seed)
    masked = list(range(8))
    for settled in ([], [2], [0, 5, 6]):
        masked = [p for p in masked if p not in settled]
        if settled:
            settle(physics, settled, masked)
        for p in masked:
            missing = sum(u.reach ** (p - 1 - j) for j in masked if j < p)
            right = sum((1 - u.right_reach) * u.right_reach ** (j - p - 1) for j in range(p + 1, 8) if j not in masked)
            logit = u.floor + (final[p] + u.right * right - u.floor) * exp(-need[p] * missing)
            assert physics.confidence(p) == pytest.approx(1 / (1 + exp(-min(logit, MOST_LOG_ODDS))), abs=1e-12)


def test_nothing_moves_without_a_commit() -> None:
    physics = opened(QUIET)
    before = [physics.confidence(p) for p in range(32)]
    assert settle(physics, [], range(32)) == before
    noisy = opened(PLAIN)
    was = [odds(noisy.confidence(p)) for p in range(32)]
    moved = [odds(c) - w for c, w in zip(settle(noisy, [], range(32)), was, strict=True)]
    assert 0.05 < (sum(m * m for m in moved) / 32) ** 0.5 < 0.5 and sum(m < 0 for m in moved) > 5


def test_a_lift_is_local_and_falls_with_distance() -> None:
    lift = dict.fromkeys((1, 2, 4, 12), 0.0)
    for seed in range(200):
        physics = opened(QUIET, 32, seed)
        before = [physics.confidence(p) for p in range(32)]
        settle(physics, [4], [p for p in range(32) if p != 4])
        for d in lift:
            lift[d] += (physics.confidence(4 + d) - before[4 + d]) / 200
    assert lift[1] > lift[2] > lift[4] > lift[12] > 0 and lift[1] > 5 * lift[12]


def test_calibration_and_forced_commits() -> None:
    """Commits are wrong about as often as they are unsure; forced ones far more often than those above the bar."""
    _, decoder = build_strategy("block-diffusion:threshold=0.8")
    wrong, count = [0, 0], [0, 0]
    for seed in range(30):
        result = run_audited(decoder, stream(replace(PLAIN, mu=3.0), 256, seed))
        for flag in result.ledger.positions[0].flags:
            count[flag & 1] += 1
            wrong[flag & 1] += flag >> 1 & 1
    above, forced = wrong[0] / count[0], wrong[1] / count[1]
    assert above < 0.08 and 0.3 < forced < 0.7


def test_contagion_makes_later_tokens_less_sure_and_more_wrong() -> None:
    _, decoder = build_strategy("fixed-steps:tokens_per_pass=4")
    errors, passes = [], []
    _, careful = build_strategy("block-diffusion:threshold=0.9")
    for contagion in (0.0, 1.0, 3.0):
        model = replace(PLAIN, mu=4.0, contagion=contagion)
        errors.append(sum(run_audited(decoder, stream(model, 256, s)).totals.locked_errors for s in range(10)))
        passes.append(sum(run_audited(careful, stream(model, 256, s)).totals.target_passes for s in range(10)))
    assert errors[0] < errors[1] < errors[2] and passes[0] < passes[1] < passes[2]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kinds", [None, bytes([0, 1, 2, 4, 0, 0, 2, 1] * 32)])
def test_the_fast_loop_is_the_engine(seed: int, kinds: bytes | None) -> None:
    model = replace(PLAIN, by_kind=kinds is not None, spread=1.5)
    sample = draw_sample(model, [kinds or bytes([TokenClass.COMMON]) * 256], seed)
    for settings, strategy in (
        ({"threshold": 0.7}, "block-diffusion:threshold=0.7,block_size=16"),
        ({"threshold": 1.0}, "block-diffusion:threshold=1,block_size=16"),
        ({"tokens_per_pass": 3}, "fixed-steps:tokens_per_pass=3,block_size=16"),
    ):
        counts = decode_sample(model, sample, 16, with_hazards=True, **settings)  # type: ignore[arg-type]
        _, decoder = build_strategy(strategy)
        found = run_with_quality(decoder, stream(model, 256, seed, kinds), kv_write="none")
        totals = found.run.totals
        assert (totals.target_passes, totals.forced_commits) == (counts.passes, counts.forced)
        assert model.damage is not None
        assert found.intact == pytest.approx(model.damage.share_intact(counts.hazards[0]), rel=1e-9)


def test_threshold_one_takes_one_token_a_pass_and_costs_nothing() -> None:
    _, decoder = build_strategy("block-diffusion:threshold=1")
    found = [run_with_quality(decoder, stream(replace(PLAIN, mu=40.0), 100, seed)) for seed in range(3)]
    assert all(q.run.totals.target_passes - q.run.totals.kv_write_passes == 100 for q in found)
    assert accuracy(79.3, found) == 79.3


def test_edits_find_errors_and_mend_them() -> None:
    _, plain = build_strategy("block-diffusion:threshold=0.5")
    _, editing = build_strategy("llada2.1-speed")
    counts = [0, 0, 0]
    for seed in range(10):
        counts[0] += run_audited(plain, stream(PLAIN, 256, seed)).totals.locked_errors
        mended = run_audited(editing, stream(PLAIN, 256, seed)).totals
        counts[1] += mended.locked_errors
        counts[2] += mended.reopened
    assert counts[1] < 0.75 * counts[0] and counts[2] > 0


def test_further_abilities() -> None:
    physics = opened(PLAIN)
    assert all(physics.changed(p) and physics.kl(p) == inf for p in range(32))
    assert all(0 <= physics.entropy(p) <= log(2) + log(10) for p in range(32))
    settle(physics, [0, 1], range(2, 32))
    assert all(0 <= physics.kl(p) < inf for p in range(2, 32))
    assert 0 < sum(physics.changed(p) for p in range(2, 32)) < 30


@pytest.mark.parametrize("strategy", ["joint-threshold", "renoise", "stability", "credit", "pipelined", "clairvoyant"])
def test_conformance_on_context(strategy: str) -> None:
    kinds = bytes([0, 1, 2, 4, 0, 0, 2, 1] * 13)[:100]
    found = stream(replace(PLAIN, by_kind=True, contagion=0.5), 100, 1, kinds)
    check_decoder(strategy, streams=[found]).raise_if_failed()


def test_padding_after_the_text_is_wasted() -> None:
    _, decoder = build_strategy("block-diffusion")
    early, canvas = (
        run_audited(decoder, stream(PLAIN, 100), max_new_tokens=256, eos_stop=stop) for stop in ("block", "canvas")
    )
    assert early.wasted_positions < canvas.wasted_positions == 156
    assert early.totals.target_passes < canvas.totals.target_passes


def test_structure_comes_first_in_tool_calls() -> None:
    _, decoder = build_strategy("block-diffusion")
    found = [open_context("context", 256, ContextSettings("tool-call", seed)) for seed in range(6)]
    orders = [order_of(run_audited(decoder, text), text) for text in found]
    shares = [sum(o.first_pass[kind] for o in orders) / 6 for kind in ("structural", "rare")]
    assert shares[0] > shares[1] + 0.05
    assert sum(o.structure_first or 0.5 for o in orders) / 6 > 0.55


def test_order_without_structure() -> None:
    text = stream(PLAIN, 64)
    assert order_of(run_audited(build_strategy("block-diffusion")[1], text), text).structure_first is None
