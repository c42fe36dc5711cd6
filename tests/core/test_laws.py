"""What must hold for every decoder and stream, checked on many of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from array import array
from pathlib import Path
from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.clairvoyant import Clairvoyant
from clover_sim.decoders.fixed_steps import FixedSteps
from clover_sim.decoders.speculative import Speculative
from clover_sim.ledger import AuditError, Ledger
from clover_sim.physics.classed import chance_right
from clover_sim.records import BLOCK, KV_WRITE_RULES, Drafter, Forward
from clover_sim.streams.reference import reference_stream
from core.scripted import (
    ScriptedPhysics,
    Stepped,
    classed_stream,
    contents,
    decoder,
    once_each,
    run_audited,
    scripted_stream,
)  # fmt: skip

TOKENS = (1, 31, 32, 33, 100, 257)


def hundred_settings() -> list[tuple[Any, Any]]:
    rng = random.Random(11)
    made = []
    for i in range(100):
        n, seed = rng.choice(TOKENS), rng.randrange(1000)
        text = rng.choice([classed_stream(n, seed), reference_stream(n), scripted_stream(n, rng.random())])
        strategies = [
            TokenByToken(), BlockDiffusion(rng.randrange(1, 50), rng.random(), rng.choice(("ge", "gt"))),
            Speculative(rng.randrange(1, 8), rng.random(), rng.random() < 0.5), FixedSteps(rng.randrange(1, 9), 16),
        ]  # fmt: skip
        made.append((strategies[i % 4], text))
    return made


@pytest.mark.parametrize("rule", KV_WRITE_RULES)
def test_each_position_once_and_no_more_passes_than_tokens(rule: str) -> None:
    for strategy, text in hundred_settings():
        result = run_audited(strategy, text, kv_write=rule)
        totals, ledger = result.totals, result.ledger
        assert sorted(once_each(result)) == list(range(len(text)))
        assert sum(ledger.committed) == totals.committed == totals.tokens == len(text)
        blocks = len({r["start"] for r in ledger.rows() if r["kind"] == "denoise"})
        assert totals.target_passes <= totals.tokens + blocks
        assert totals.target_passes - totals.kv_write_passes <= totals.tokens
        assert totals.locked_errors <= totals.tokens and totals.forced_commits <= totals.tokens
        assert all(r["committed"] for r in ledger.rows() if r["kind"] in ("denoise", "decode", "verify"))
        assert list(ledger.step) == list(range(len(ledger)))


def test_revising_keeps_commits_minus_reopened() -> None:
    def restless(canvas: Canvas) -> Any:
        rng = random.Random(canvas.limit)
        while canvas.remaining:
            view = yield canvas.block(8)
            filled = list(range(canvas.frontier // 8 * 8, canvas.frontier))
            canvas.commit(view.best(rng.randrange(2, 5)))
            if filled and rng.random() < 0.5:
                canvas.reopen(rng.sample(filled, 1))

    for tokens in TOKENS:
        result = run_audited(decoder(restless, revises=True), classed_stream(tokens), kv_write="none")
        totals = result.totals
        assert totals.committed - totals.reopened == totals.tokens == tokens
        assert (totals.reopened > 0) == (tokens > 8)
        assert len(result.ledger.positions[0].taken_back) == totals.reopened == sum(result.ledger.reopened)


def test_only_final_commits_count_as_forced_or_wrong() -> None:
    """Two forced errors, one of them taken back and settled again by a rule: one of each is left."""
    right_now: set[int] = set()

    def second_thoughts(canvas: Canvas) -> Any:
        yield canvas.block(2)
        canvas.commit([0, 1])
        yield canvas.span(0, 2)
        canvas.reopen([1])
        right_now.add(1)
        view = yield canvas.span(0, 2)
        canvas.commit(view.above(0.1))

    text = scripted_stream(2, 0.5, wrong=lambda p, forced: p not in right_now)
    totals = run_audited(decoder(second_thoughts, revises=True, max_idle_passes=1), text, kv_write="none").totals
    assert (totals.committed, totals.reopened, totals.forced_commits, totals.locked_errors) == (3, 1, 1, 1)


@pytest.mark.parametrize("block", [1, 8, 32])
@pytest.mark.parametrize("lift", [0.01, 0.09, 0.3])
def test_a_higher_threshold_never_lowers_the_passes(block: int, lift: float) -> None:
    """Under a uniform lift over one stream. (Not on the reference profile, whose draws shift with the threshold.)"""
    for seed in range(10):
        text = classed_stream(150, seed, lift)
        for comparison in ("ge", "gt"):
            taus = [i / 20 for i in range(21)]
            counts = [
                run_audited(BlockDiffusion(block, tau, comparison), text, kv_write="none").totals.target_passes
                for tau in taus
            ]
            assert counts == sorted(counts)


def test_a_higher_threshold_can_lower_the_passes_on_the_reference_profile() -> None:
    """Why the law above needs draws by position: here a forced commit draws from the generator of the confidences."""
    counts = [
        run_audited(BlockDiffusion(32, 0.90 + i / 500), reference_stream(512)).totals.target_passes for i in range(50)
    ]
    assert counts != sorted(counts)


def test_clairvoyant_is_a_ceiling_for_its_blocks() -> None:
    """No careful threshold needs fewer passes; it locks in an error only where no position would have been right."""
    for seed in range(20):
        text = classed_stream(96, seed)
        ceiling = run_audited(Clairvoyant(32), text, kv_write="none")
        best = run_audited(BlockDiffusion(32, 0.95), text, kv_write="none")
        assert ceiling.totals.target_passes <= best.totals.target_passes
        places = ceiling.ledger.positions[0]
        wrong = [p for p in range(96) if places.flags[p] & 2]
        assert all(places.flags[p] & 1 for p in wrong)
        assert all(ceiling.ledger.committed[places.row[p]] == 1 for p in wrong)


def test_clairvoyant_settles_what_is_right_and_nothing_else() -> None:
    right = {0: True, 1: False, 2: True, 3: False}
    text = scripted_stream(4, {0: (0.1,), 1: (0.9,), 2: (0.2,), 3: (0.8,)}, wrong=lambda p, forced: not right[p])
    result = run_audited(Clairvoyant(4), text, kv_write="none")
    assert list(result.ledger.committed) == [2, 1, 1]
    assert (result.totals.forced_commits, result.totals.locked_errors) == (2, 2)


def test_fixed_steps_are_all_forced() -> None:
    totals = run_audited(FixedSteps(3, 8), classed_stream(50)).totals
    assert totals.forced_commits == 50
    assert dict(totals.passes)["denoise"] == 6 * 3 + 1


def test_the_engine_asks_the_physics_in_a_fixed_order() -> None:
    made: list[ScriptedPhysics] = []
    run_audited(BlockDiffusion(3, 0.5), scripted_stream(4, {0: (0.9,), 1: (0.1, 0.9), 2: (0.9,), 3: (0.1,)}, made=made))
    assert made[0].calls == [
        ("opened", 0, 1, 2), ("wrong", 0, False), ("wrong", 2, False), ("after", (0, 2), (), (1,)),
        ("wrong", 1, False), ("after", (1,), (), ()),
        ("opened", 3), ("wrong", 3, True), ("after", (3,), (), ()),
    ]  # fmt: skip


def test_agreement_is_asked_in_order_and_stops_at_the_first_miss() -> None:
    made: list[ScriptedPhysics] = []
    run_audited(Speculative(3, 0.5, parallel_draft=True), scripted_stream(6, agrees=lambda p: p != 1, made=made))
    asked = [call[1:] for call in made[0].calls if call[0] == "agrees"]
    assert [(p, offset) for p, offset, _ in asked] == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 2)]


def test_the_classed_physics_is_calibrated() -> None:
    """Of the commits at a confidence, the share that is right is the measured one."""
    text = classed_stream(30_000, 5, classes=bytes([2]) * 30_000)
    totals = run_audited(BlockDiffusion(1, 0.0), text).totals  # each rare token at its first confidence, 0.55 to 0.80
    expected = sum(chance_right(0.55 + 0.25 * (i + 0.5) / 1000) for i in range(1000)) / 1000
    assert 1 - totals.locked_errors / 30_000 == pytest.approx(expected, abs=0.01)


SCRIPT = """
import sys
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.speculative import Speculative
from clover_sim.engine import run
from clover_sim.streams.reference import reference_stream
from core.scripted import Stepped, classed_stream, contents
for text in (reference_stream(200), classed_stream(200, 3)):
    for decoder in (BlockDiffusion(), Stepped(BlockDiffusion()), Speculative()):
        print(contents(run(decoder, text)))
"""


def test_the_same_under_any_hash_seed() -> None:
    root = Path(__file__).parents[2]
    outputs = set()
    for seed in ("0", "1", "4294967295"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'tests'}"}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1 and len(outputs.pop()) > 1000


def test_the_same_twice_and_from_either_path() -> None:
    for strategy, text in hundred_settings():
        first = contents(run_audited(strategy, text))
        assert first == contents(run_audited(strategy, text)) == contents(run_audited(Stepped(strategy), text))


# ---- the audit notices ----------------------------------------------------------------------------------------------


def tampered(change: Any) -> Ledger:
    ledger = run_audited(BlockDiffusion(8, 0.9), classed_stream(40)).ledger
    change(ledger)
    return ledger


@pytest.mark.parametrize(
    "change",
    [
        lambda ledger: ledger.committed.__setitem__(0, ledger.committed[0] + 1),
        lambda ledger: ledger.reopened.__setitem__(2, 1),
        lambda ledger: ledger.positions[0].row.__setitem__(3, 999),
        lambda ledger: ledger.positions[0].row.__setitem__(39, 0),
        lambda ledger: ledger.positions[0].taken_back.append((3, 1, 0)),
        lambda ledger: setattr(ledger, "_steps", array("I", [0, 1, 2, 0, *range(4, len(ledger))])),
        lambda ledger: ledger.kind.__setitem__(0, 7),
        lambda ledger: ledger.request.__setitem__(0, 5),
    ],
)
def test_audit_finds_what_was_changed(change: Any) -> None:
    with pytest.raises(AuditError):
        tampered(change).audit()


# ---- records --------------------------------------------------------------------------------------------------------


def test_records_round_trip_and_are_frozen() -> None:
    import copy
    import pickle

    forward = Forward(2, 6, BLOCK, recompute=3)
    assert (len(forward), list(forward)) == (4, [2, 3, 4, 5])
    for record, name in ((forward, "stop"), (Drafter("small", (0.5,), 0.25), "hit_rate")):
        assert copy.deepcopy(record) == record == pickle.loads(pickle.dumps(record))
        assert hash(record) == hash(copy.deepcopy(record))
        with pytest.raises(AttributeError):
            setattr(record, name, 3)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [((0.5,), [0.5, 0.5, 0.5]), ((0.9, 0.5), [0.9, 0.5, 0.5]), ((0.9, 0.5, 0.1), [0.9, 0.5, 0.1])],
)
def test_the_last_rate_serves_all_later_drafts(rates: tuple[float, ...], expected: list[float]) -> None:
    assert [Drafter(None, rates).rate(i) for i in range(3)] == expected
