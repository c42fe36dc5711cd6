"""The engine against a naive decoder written from the words of the rules: hundreds of random settings."""

from __future__ import annotations

import random

import pytest

from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.speculative import Speculative
from clover_sim.physics.reference import ReferenceSettings
from clover_sim.streams.reference import reference_stream
from core.naive import block_diffusion, draft_and_verify, stream
from core.scripted import Stepped, classed_stream, contents, run_audited, settled

TAUS = (0.0, 1.0, 0.999, 0.9995, 0.998, 0.95, 0.9, 0.85, 0.55, 0.5)
LIFTS = (0.0, 1e-300, 1e-17, 1e-9, 0.0005, 0.01, 0.09, 0.1, 0.3, 0.449, 0.9, 0.95, 0.999, 1.0, 5.0, 1e6)
BLOCKS = (1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 100, 256, 300)
LENGTHS = (1, 2, 3, 31, 32, 33, 63, 65, 97, 100, 129, 255, 300)


def random_settings(seed: int) -> tuple[int, int, float, float, int, bool]:
    rng = random.Random(seed)
    tau = rng.choice((*TAUS, rng.random(), 0.9 + rng.random() / 10))
    lift = rng.choice((*LIFTS, rng.random() / 5, rng.random() / 5))
    return rng.choice(LENGTHS), rng.choice(BLOCKS), tau, lift, rng.randrange(10**6), rng.random() < 0.5


@pytest.mark.parametrize("batch", range(8))
def test_block_diffusion_position_by_position(batch: int) -> None:
    for seed in range(50 * batch, 50 * batch + 50):
        tokens, block, tau, lift, stream_seed, strict = case = random_settings(seed)
        oracle = block_diffusion(stream(tokens, stream_seed), block, tau, lift, stream_seed + 1, strict)
        text = reference_stream(tokens, ReferenceSettings(stream_seed, stream_seed + 1, 7, lift))
        decoder = BlockDiffusion(block, tau, "gt" if strict else "ge")
        for path in (decoder, Stepped(decoder)):
            result = run_audited(path, text)
            assert (result.totals.target_passes, result.totals.locked_errors) == (oracle.passes, oracle.errors), case
            assert settled(result) == [tuple(commit) for commit in oracle.commits], case
            assert list(result.ledger.committed) == oracle.committed_by_pass, case


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("lift", LIFTS)
def test_every_special_threshold_meets_every_special_lift(tau: float, lift: float) -> None:
    """Among them thresholds equal to the lift, above the cap, and values that only rounding tells apart."""
    for strict in (False, True):
        oracle = block_diffusion(stream(70, 3), 32, tau, lift, 4, strict)
        text = reference_stream(70, ReferenceSettings(3, 4, 7, lift))
        decoder = BlockDiffusion(32, tau, "gt" if strict else "ge")
        for path in (decoder, Stepped(decoder)):
            assert settled(run_audited(path, text)) == [tuple(commit) for commit in oracle.commits]


def test_paths_agree_where_errors_are_drawn_at_every_commit() -> None:
    """The classed physics asks for an error at each commit, not only the forced ones."""
    for seed in range(60):
        tokens, block, tau, lift, stream_seed, strict = case = random_settings(1000 + seed)
        text = classed_stream(tokens, stream_seed, lift)
        decoder = BlockDiffusion(block, tau, "gt" if strict else "ge")
        for options in ({}, {"kv_write": "fused"}, {"align": "absolute", "prompt_tokens": 13, "kv_write": "skip-last"}):
            assert contents(run_audited(decoder, text, **options)) == contents(
                run_audited(Stepped(decoder), text, **options)
            ), (case, options)


def test_draft_and_verify_cycles() -> None:
    rng = random.Random(5)
    for _ in range(200):
        tokens, k, accept = rng.randrange(1, 200), rng.randrange(1, 12), rng.choice((0, 1, rng.random()))
        spec_seed = rng.randrange(10**6)
        text = reference_stream(tokens, ReferenceSettings(spec_seed=spec_seed))
        totals = run_audited(Speculative(k, float(accept), parallel_draft=True), text).totals
        assert totals.target_passes + totals.draft_passes == draft_and_verify(tokens, k, accept, spec_seed)
        serial = run_audited(Speculative(k, float(accept)), text).totals
        assert serial.target_passes == totals.target_passes
