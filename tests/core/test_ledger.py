"""Reading the record: groups that are priced, counts by request, what a row settled."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.clairvoyant import Clairvoyant
from clover_sim.decoders.fixed_steps import FixedSteps
from clover_sim.decoders.speculative import Speculative
from clover_sim.engine import Batch
from clover_sim.errors import UsageError
from clover_sim.ledger import Ledger
from clover_sim.physics.classed import ClassedSettings
from clover_sim.physics.reference import ReferenceSettings
from clover_sim.records import Drafter, Kind, PassShape, TokenClass
from core.scripted import classed_stream, run_audited, scripted_stream

FAST, SLOW = BlockDiffusion(4, 0.5), BlockDiffusion(4, 0.9)


def drained(batch: Batch) -> Ledger:
    while batch.step() is not None:
        pass
    batch.ledger.audit()
    return batch.ledger


def test_equal_passes_are_one_group_with_their_mean_context() -> None:
    ledger = run_audited(FAST, scripted_stream(12), prompt_tokens=10, kv_write="fused").ledger
    assert ledger.shapes() == [
        (PassShape(Kind.PREFILL, (10,), 0, 0), 1),
        (PassShape(Kind.DENOISE, (4,), 10, 0), 1),
        (PassShape(Kind.DENOISE, (4,), 12, 4), 2),  # contexts 10 and 14: the block before is computed again
    ]


def test_groups_add_up() -> None:
    ledger = run_audited(Speculative(3, 0.6), classed_stream(100), prompt_tokens=7).ledger
    shapes = ledger.shapes()
    assert sum(count for _, count in shapes) == len(ledger)
    assert sum(shape.widths[0] * count for shape, count in shapes) == sum(ledger.tokens)
    assert sum(shape.context_tokens * count for shape, count in shapes) == pytest.approx(sum(ledger.context))


def test_a_batch_is_listed_step_by_step() -> None:
    batch = Batch("lockstep", kv_write="none")
    for prompt in (5, 9):
        batch.admit(FAST, scripted_stream(4), prompt_tokens=prompt)
    assert drained(batch).shapes() == [
        (PassShape(Kind.PREFILL, (5, 9), 0, 0), 1), (PassShape(Kind.DENOISE, (4, 4), 14, 0), 1),
    ]  # fmt: skip


def test_padding_is_one_entry_a_waiting_request() -> None:
    """Two requests wait for the third: three sequences of four tokens are computed, not one of 4 and one of 8."""
    batch = Batch("padded", kv_write="none")
    for decoder in (FAST, FAST, SLOW):
        batch.admit(decoder, scripted_stream(4))
    assert [shape.widths for shape, _ in drained(batch).shapes()] == [(4, 4, 4)] * 4


def test_counts_by_request() -> None:
    batch = Batch(kv_write="separate")
    batch.admit(FAST, scripted_stream(8))
    batch.admit(TokenByToken(), scripted_stream(3))
    ledger = drained(batch)
    assert [ledger.count(Kind.DENOISE, n) for n in (0, 1)] == [2, 0]
    assert [ledger.count(Kind.DECODE, n) for n in (None, 0, 1)] == [3, 0, 3]
    assert ledger.count(Kind.KV_WRITE) == 2
    assert dict(ledger.totals(1).passes) == {"decode": 3}
    assert repr(ledger) == f"<Ledger: {len(ledger)} passes, 2 requests>"
    assert len(list(ledger.rows(1))) == 3


def test_what_a_row_settled() -> None:
    ledger = run_audited(BlockDiffusion(4, 0.9), scripted_stream(6, lambda p, v: 0.95 if p % 2 else 0.1)).ledger
    assert [ledger.settled(row) for row in range(len(ledger))] == [(1, 3), (0,), (2,), (), (5,), (4,), ()]


def test_records_show_themselves() -> None:
    assert [Kind.KV_WRITE.label, TokenClass.RARE.label] == ["kv_write", "rare"]
    assert eval(repr(Drafter("small", (0.5, 0.25)))) == Drafter("small", (0.5, 0.25))


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (BlockDiffusion, {"block_size": 0}), (BlockDiffusion, {"threshold": 1.01}),
        (BlockDiffusion, {"threshold": -0.1}), (BlockDiffusion, {"threshold": float("nan")}),
        (BlockDiffusion, {"comparison": "lt"}),
        (Clairvoyant, {"block_size": 0}), (FixedSteps, {"tokens_per_pass": 0}), (FixedSteps, {"block_size": -3}),
        (Speculative, {"num_speculative_tokens": 0}),
    ],
)  # fmt: skip
def test_options_out_of_range(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        make(**options)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (ReferenceSettings, {"lift": -0.1}), (ReferenceSettings, {"lift": float("nan")}),
        (ReferenceSettings, {"forced_error": 1.5}), (ReferenceSettings, {"forced_error": float("nan")}),
        (ClassedSettings, {"lift": -1.0}), (ClassedSettings, {"lift": float("nan")}),
        (Drafter, {"acceptance": (1.5,)}), (Drafter, {"acceptance": ()}), (Drafter, {"hit_rate": -0.1}),
    ],
)  # fmt: skip
def test_settings_out_of_range(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options)) if make is not Drafter else "Drafter"):
        make(**options)


@pytest.mark.parametrize("at", range(5))
def test_small_columns_hold_large_numbers_from_the_row_that_has_one(at: int) -> None:
    """Request, tokens, recompute, committed, reopened: a byte a row until one of them does not fit."""
    columns = ("request", "tokens", "recompute", "committed", "reopened")
    rows = [[1, 2, 3, 4, 5], [255] * 5, [7] * 5, [0] * 5]
    rows[2][at] = 70_000
    ledger, bulk = Ledger(), Ledger()
    for step, (request, tokens, recompute, committed, reopened) in enumerate(rows):
        ledger.append(request, step, Kind.DENOISE, 10, tokens, recompute, committed, reopened)
    assert [[getattr(ledger, name)[i] for name in columns] for i in range(4)] == rows
    bulk.extend(0, 0, Kind.DENOISE, 4, 300 if at == 0 else 4, [1, 256 if at == 1 else 2, 3])
    assert list(bulk.committed) == [1, 256 if at == 1 else 2, 3] and bulk.tokens[0] == (300 if at == 0 else 4)


def test_steps_are_stored_from_the_first_that_two_requests_share() -> None:
    batch = Batch(kv_write="none")
    batch.admit(TokenByToken(), scripted_stream(4))
    assert batch.step() is not None and batch.step() is not None
    assert list(batch.ledger.step) == [0, 1]
    batch.admit(TokenByToken(), scripted_stream(3), prompt_tokens=5)
    ledger = drained(batch)
    assert list(ledger.step) == [0, 1, 2, 3, 3, 4, 4, 5] and list(ledger.request) == [0, 0, 1, 0, 1, 0, 1, 1]
    assert list(ledger.context) == [0, 1, 0, 2, 5, 3, 6, 7]  # the prompt's own pass reads nothing


def test_a_block_in_bulk_after_a_shared_step() -> None:
    ledger = Ledger()
    ledger.append(0, 0, Kind.DECODE, 0, 1, 0, 1, 0)
    ledger.extend(0, 1, Kind.DENOISE, 1, 4, [2, 2])
    assert list(ledger.step) == [0, 1, 2]
    ledger.append(1, 2, Kind.DECODE, 0, 1, 0, 1, 0)
    ledger.extend(0, 3, Kind.DENOISE, 5, 4, [3, 1])
    assert list(ledger.step) == [0, 1, 2, 2, 3, 4]
