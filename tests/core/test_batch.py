"""Many requests over one ledger: who waits, who pays, and that nobody's passes depend on the others."""

from __future__ import annotations

import random
from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.clairvoyant import Clairvoyant
from clover_sim.decoders.fixed_steps import FixedSteps
from clover_sim.decoders.speculative import Speculative
from clover_sim.engine import POLICIES, Batch, Step
from clover_sim.errors import DecoderFault, IllegalMove, UsageError
from clover_sim.records import DRAFT, TARGET, Drafter
from core.scripted import Stepped, classed_stream, decoder, passes, run_audited, scripted_stream

FAST = BlockDiffusion(4, 0.5)  # one pass a block over confidences of 0.5
SLOW = BlockDiffusion(4, 0.9)  # one position a pass, so four passes a block


def drain(batch: Batch) -> list[Step]:
    steps = []
    while (step := batch.step()) is not None:
        steps.append(step)
    batch.ledger.audit()
    return steps


def by_step(batch: Batch, steps: list[Step]) -> list[list[tuple[int, str]]]:
    """(request, kind) of each row, step by step."""
    rows = list(batch.ledger.rows())
    return [[(int(rows[i]["request"]), str(rows[i]["kind"])) for i in step.rows] for step in steps]


def test_lockstep_waits_for_the_slowest_block() -> None:
    batch = Batch("lockstep", kv_write="none")
    batch.admit(FAST, scripted_stream(8))
    batch.admit(SLOW, scripted_stream(8))
    steps = drain(batch)
    both, slow = [(0, "denoise"), (1, "denoise")], [(1, "denoise")]
    assert by_step(batch, steps) == [both, slow, slow, slow, both, slow, slow, slow]
    assert not batch.ledger.padding
    assert [step.finished for step in steps] == [(), (), (), (), (0,), (), (), (1,)]


def test_padded_is_lockstep_with_the_waiting_tokens_computed() -> None:
    batch = Batch("padded", kv_write="none")
    batch.admit(FAST, scripted_stream(8))
    batch.admit(SLOW, scripted_stream(8))
    steps = drain(batch)
    assert [step.padding_tokens for step in steps] == [0, 4, 4, 4, 0, 4, 4, 4]
    assert [shape.widths for shape, _ in batch.ledger.shapes()] == [(4, 4)] + [(4, 4)] * 7
    assert batch.ledger.padding == {1: (4,), 2: (4,), 3: (4,), 5: (4,), 6: (4,), 7: (4,)}
    assert sum(batch.ledger.tokens) == (2 + 8) * 4  # padding is no row of any request


def test_first_done_first_out_waits_for_nobody() -> None:
    batch = Batch("first-done-first-out", kv_write="none")
    batch.admit(FAST, scripted_stream(8))
    batch.admit(SLOW, scripted_stream(8))
    both, slow = [(0, "denoise"), (1, "denoise")], [(1, "denoise")]
    assert by_step(batch, drain(batch)) == [both, both, *[slow] * 6]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_finished_request_pads_no_later_round(policy: str) -> None:
    batch = Batch(policy, kv_write="none")
    batch.admit(FAST, scripted_stream(4))
    batch.admit(SLOW, scripted_stream(12))
    steps = drain(batch)
    expected = [0, 4, 4, 4] + [0] * 8 if policy == "padded" else [0] * 12
    assert [step.padding_tokens for step in steps] == expected


@pytest.mark.parametrize("policy", ["lockstep", "padded"])
def test_kv_writes_of_a_round_share_a_step(policy: str) -> None:
    batch = Batch(policy)
    batch.admit(FAST, scripted_stream(8))
    batch.admit(SLOW, scripted_stream(8))
    kinds = [[kind for _, kind in rows] for rows in by_step(batch, drain(batch))]
    block = [["denoise", "denoise"], ["denoise"], ["denoise"], ["denoise"], ["kv_write", "kv_write"]]
    assert kinds == block * 2


@pytest.mark.parametrize("policy", POLICIES)
def test_a_step_holds_one_role(policy: str) -> None:
    batch = Batch(policy)
    for k in (1, 3, 5):
        batch.admit(Speculative(k, 0.6), classed_stream(30, seed=k))
        batch.admit(BlockDiffusion(8, 0.9), classed_stream(30, seed=k))
        batch.admit(TokenByToken(), classed_stream(7, seed=k), prompt_tokens=4)
    steps = drain(batch)
    rows = list(batch.ledger.rows())
    for step in steps:
        drafts = {rows[i]["kind"] == "draft" for i in step.rows}
        assert drafts == {step.role is DRAFT}
        assert len({rows[i]["request"] for i in step.rows}) == len(step.rows)
        assert {rows[i]["step"] for i in step.rows} == {step.number}
    assert {step.role for step in steps} == {TARGET, DRAFT}
    assert sorted(n for step in steps for n in step.finished) == list(range(9))
    assert batch.active == ()


@pytest.mark.parametrize("policy", ["lockstep", "padded"])
def test_drafters_of_different_lengths_verify_together(policy: str) -> None:
    batch = Batch(policy)
    batch.admit(Speculative(1, 1.0), scripted_stream(4))
    batch.admit(Speculative(3, 1.0), scripted_stream(8))
    kinds = by_step(batch, drain(batch))
    cycle = [[(0, "draft"), (1, "draft")], [(1, "draft")], [(1, "draft")], [(0, "verify"), (1, "verify")]]
    assert kinds == cycle * 2


@pytest.mark.parametrize("policy", ["lockstep", "padded"])
def test_a_late_request_joins_at_the_next_round_and_pads_nothing_before(policy: str) -> None:
    batch = Batch(policy, kv_write="none")
    batch.admit(SLOW, scripted_stream(8))
    first = batch.step()
    batch.admit(FAST, scripted_stream(4), prompt_tokens=6)
    steps = [first, *drain(batch)]
    kinds = by_step(batch, steps)  # type: ignore[arg-type]
    alone, both = [(0, "denoise")], [(0, "denoise"), (1, "denoise")]
    assert kinds == [alone, alone, alone, alone, [(1, "prefill")], both, alone, alone, alone]
    assert [step.padding_tokens for step in steps] == (  # type: ignore[union-attr]
        [0, 0, 0, 0, 0, 0, 4, 4, 4] if policy == "padded" else [0] * 9
    )


def test_a_late_request_is_prefilled_at_once_where_nobody_waits() -> None:
    batch = Batch(kv_write="none")
    batch.admit(SLOW, scripted_stream(4))
    batch.step()
    batch.admit(FAST, scripted_stream(4), prompt_tokens=6)
    kinds = by_step(batch, drain(batch))
    assert kinds == [[(1, "prefill")], [(0, "denoise"), (1, "denoise")], [(0, "denoise")], [(0, "denoise")]]


def strategies() -> list[Any]:
    return [
        TokenByToken(), BlockDiffusion(8, 0.95), BlockDiffusion(5, 0.8, "gt"), Speculative(3, 0.7), FixedSteps(3, 8),
        Speculative(4, (0.8, 0.6, 0.5, 0.1), parallel_draft=True), Clairvoyant(16), Stepped(BlockDiffusion(16, 0.9)),
    ]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rule", ["separate", "skip-last", "fused", "none"])
def test_rows_of_a_request_equal_its_single_run(policy: str, rule: str) -> None:
    rng = random.Random(f"{policy}/{rule}")
    batch = Batch(policy, kv_write=rule, align="absolute")
    cases = []
    for i in range(12):
        case = (rng.choice(strategies()), classed_stream(rng.randrange(0, 40), i), rng.choice((0, 3, 17)))
        cases.append((batch.admit(case[0], case[1], prompt_tokens=case[2]), *case))
        for _ in range(rng.randrange(4)):
            batch.step()
    drain(batch)
    for number, strategy, text, prompt in cases:
        alone = run_audited(strategy, text, prompt_tokens=prompt, kv_write=rule, align="absolute")
        assert passes(batch.ledger, number) == passes(alone.ledger)
        assert batch.ledger.totals(number) == alone.totals
        assert batch.evict(number).totals == alone.totals


def test_totals_of_the_batch_are_those_of_its_requests() -> None:
    batch = Batch("lockstep")
    numbers = [batch.admit(strategy, classed_stream(33, i)) for i, strategy in enumerate(strategies())]
    drain(batch)
    whole, parts = batch.ledger.totals(), [batch.ledger.totals(n) for n in numbers]
    for name in ("tokens", "target_passes", "draft_passes", "committed", "forced_commits", "locked_errors"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)


def test_evicting_in_the_middle() -> None:
    batch = Batch(kv_write="none")
    first, second = batch.admit(SLOW, scripted_stream(8)), batch.admit(SLOW, scripted_stream(8))
    for _ in range(3):
        batch.step()
    taken = batch.evict(first)
    assert (taken.request, taken.totals.tokens, taken.totals.target_passes) == (first, 3, 3)
    assert batch.active == (second,)
    drain(batch)
    assert batch.evict(second).totals.tokens == 8
    with pytest.raises(UsageError, match="request 0 is not in this batch"):
        batch.evict(first)


@pytest.mark.parametrize("policy", ["lockstep", "padded"])
def test_evicting_whom_the_others_wait_for(policy: str) -> None:
    batch = Batch(policy, kv_write="none")
    batch.admit(FAST, scripted_stream(8))
    slow = batch.admit(SLOW, scripted_stream(8))
    batch.step()
    batch.evict(slow)
    steps = drain(batch)
    assert [step.padding_tokens for step in steps] == [0]


def test_numbers_are_never_used_again() -> None:
    batch = Batch()
    assert [batch.admit(FAST, scripted_stream(4)) for _ in range(2)] == [0, 1]
    batch.evict(1)
    assert batch.admit(FAST, scripted_stream(4)) == 2


def test_an_empty_batch_and_an_empty_request() -> None:
    assert Batch().step() is None
    batch = Batch()
    number = batch.admit(FAST, scripted_stream(0), prompt_tokens=9)
    assert batch.active == () and batch.step() is None
    assert batch.evict(number).totals.target_passes == 0


def test_unknown_policy() -> None:
    with pytest.raises(UsageError, match="did you mean 'lockstep'"):
        Batch("lock-step")


def test_a_fault_in_one_request_leaves_the_others_to_be_finished() -> None:
    def broken(canvas: Canvas) -> Any:
        yield canvas.block(4)
        canvas.commit([99])

    batch = Batch(kv_write="none")
    good, bad = batch.admit(SLOW, scripted_stream(4)), batch.admit(decoder(broken), scripted_stream(4))
    with pytest.raises(IllegalMove):
        batch.step()
    batch.evict(bad)
    while batch.step() is not None:
        pass
    assert batch.evict(good).totals.tokens == 4


def test_a_request_that_is_refused_at_admission_is_not_in_the_batch() -> None:
    batch = Batch()
    with pytest.raises(DecoderFault):
        batch.admit(object(), scripted_stream(4))
    assert batch.active == () and batch.step() is None
    assert batch.ledger.audit().target_passes == 0


def test_drafts_and_targets_take_turns() -> None:
    """A request that drafts without end for its cycle never starves the others, nor they it."""

    def eager(canvas: Canvas) -> Any:
        while canvas.remaining:
            for _ in range(min(6, canvas.remaining)):
                yield canvas.draft()
            view = yield canvas.next(7)
            canvas.commit(view.agreed())

    batch = Batch(kv_write="none")
    batch.admit(decoder(eager, draft_source=Drafter(None, (0.5,))), scripted_stream(14))
    batch.admit(TokenByToken(), scripted_stream(8))
    roles = [step.role.name for step in drain(batch)]
    assert roles[:6] == ["TARGET", "DRAFT"] * 3 or roles[:6] == ["DRAFT", "TARGET"] * 3
