"""Golden traces: small scripted cases whose every pass and commit is written out by hand.

A pass is (kind, first position, tokens computed, tokens computed again, context, {position: how it was settled}),
where "rule" is a commit that a rule let through, "forced" the fallback, "exact" a causal one; "!" marks an error.
"""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.clairvoyant import Clairvoyant
from clover_sim.decoders.fixed_steps import FixedSteps
from clover_sim.decoders.speculative import Speculative
from clover_sim.ledger import FORCED, WRONG
from clover_sim.request import Run
from core.scripted import Stepped, decoder, run_audited, scripted_stream

Pass = tuple[str, int, int, int, int, dict[int, str]]


def trace(result: Run) -> list[Pass]:
    """The ledger in the notation of this file."""
    places, found = result.ledger.positions[0], []
    for i, row in enumerate(result.ledger.rows()):
        settled = {}
        for p, by in enumerate(places.row):
            if by == i:
                causal = row["kind"] in ("decode", "verify")
                how = "exact" if causal else "forced" if places.flags[p] & FORCED else "rule"
                settled[p] = how + ("!" if places.flags[p] & WRONG else "")
        found.append((
            str(row["kind"]), int(row["start"]), int(row["tokens"]), int(row["recompute_tokens"]),
            int(row["context_tokens"]), settled,
        ))  # fmt: skip
    return found


CONFIDENCE = {
    # position: confidence at the 1st, 2nd, ... pass that covers it while masked (the last one stays)
    0: (0.99,), 1: (0.50, 0.96), 2: (0.70, 0.80, 0.85), 3: (0.95,),
    4: (0.60, 0.70, 0.97), 5: (0.60, 0.70, 0.90), 6: (0.949999, 0.95), 7: (0.20, 0.20, 0.20, 0.95),
    8: (0.10,), 9: (0.99,),
}  # fmt: skip
WRONG_WHEN = {2: "forced", 3: "always", 8: "forced"}


def text(tokens: int = 10) -> Any:
    def wrong(position: int, forced: bool) -> bool:
        when = WRONG_WHEN.get(position)
        return when == "always" or (when == "forced" and forced)

    return scripted_stream(tokens, CONFIDENCE, wrong=wrong, agrees=lambda p: p not in (2, 7))


BLOCKS: list[Pass] = [
    # first block, 0.95: 0 and 3 at once (3 is an error), then 1, then 2 as the fallback (an error: it was forced)
    ("denoise", 0, 4, 0, 0, {0: "rule", 3: "rule!"}),
    ("denoise", 0, 4, 0, 0, {1: "rule"}),
    ("denoise", 0, 4, 0, 0, {2: "forced!"}),
    ("kv_write", 0, 4, 0, 0, {}),
    # second block: nothing reaches 0.95, 6 is closest; then nothing again, 4 and 5 tie at 0.70: the lower one;
    # then nothing, 5 at 0.90; then 7 at its fourth visit
    ("denoise", 4, 4, 0, 4, {6: "forced"}),
    ("denoise", 4, 4, 0, 4, {4: "forced"}),
    ("denoise", 4, 4, 0, 4, {5: "forced"}),
    ("denoise", 4, 4, 0, 4, {7: "rule"}),
    ("kv_write", 4, 4, 0, 4, {}),
    # the last block is cut to the limit
    ("denoise", 8, 2, 0, 8, {9: "rule"}),
    ("denoise", 8, 2, 0, 8, {8: "forced!"}),
    ("kv_write", 8, 2, 0, 8, {}),
]


def test_block_diffusion() -> None:
    result = run_audited(BlockDiffusion(4, 0.95), text())
    assert trace(result) == BLOCKS
    totals = result.totals
    assert (totals.tokens, totals.target_passes, totals.kv_write_passes) == (10, 12, 3)
    assert (totals.forced_commits, totals.locked_errors) == (5, 3)


def test_block_diffusion_strictly_above() -> None:
    """With > in place of >=, 3 (exactly 0.95) is no longer let through in the first pass, nor 7 in the last."""
    assert trace(run_audited(BlockDiffusion(4, 0.95, "gt"), text(), kv_write="none"))[:8] == [
        ("denoise", 0, 4, 0, 0, {0: "rule"}),
        ("denoise", 0, 4, 0, 0, {1: "rule"}),
        ("denoise", 0, 4, 0, 0, {3: "forced!"}),
        ("denoise", 0, 4, 0, 0, {2: "forced!"}),
        ("denoise", 4, 4, 0, 4, {6: "forced"}),
        ("denoise", 4, 4, 0, 4, {4: "forced"}),
        ("denoise", 4, 4, 0, 4, {5: "forced"}),
        ("denoise", 4, 4, 0, 4, {7: "forced"}),
    ]


def test_block_diffusion_after_a_prompt_fused_and_aligned() -> None:
    """Prompt of 6, blocks of 4 from its start: 2, 4 and 4 new positions; each first pass carries the block before."""
    result = run_audited(
        BlockDiffusion(4, 0.9), text(), prompt_tokens=6, align="absolute", kv_write="fused", eos_stop="block"
    )
    assert trace(result) == [
        ("prefill", 0, 6, 0, 0, {}),
        ("denoise", 0, 2, 0, 6, {0: "rule"}),
        ("denoise", 0, 2, 0, 6, {1: "rule"}),
        ("denoise", 2, 4, 2, 6, {3: "rule!"}),
        ("denoise", 2, 4, 0, 8, {2: "forced!"}),
        ("denoise", 2, 4, 0, 8, {4: "rule", 5: "rule"}),
        ("denoise", 6, 4, 4, 8, {6: "rule", 9: "rule"}),
        ("denoise", 6, 4, 0, 12, {7: "forced"}),
        ("denoise", 6, 4, 0, 12, {8: "forced!"}),
    ]


def test_fixed_steps() -> None:
    result = run_audited(FixedSteps(3, 4), text(), kv_write="skip-last")
    assert trace(result) == [
        ("denoise", 0, 4, 0, 0, {0: "forced", 2: "forced!", 3: "forced!"}),
        ("denoise", 0, 4, 0, 0, {1: "forced"}),
        ("kv_write", 0, 4, 0, 0, {}),
        ("denoise", 4, 4, 0, 4, {4: "forced", 5: "forced", 6: "forced"}),
        ("denoise", 4, 4, 0, 4, {7: "forced"}),
        ("kv_write", 4, 4, 0, 4, {}),
        ("denoise", 8, 2, 0, 8, {8: "forced!", 9: "forced"}),
    ]


def test_clairvoyant() -> None:
    """2 and 8 would be right by a rule; 3 never is, so that it is settled last and by force."""
    assert trace(run_audited(Clairvoyant(4), text(), kv_write="none")) == [
        ("denoise", 0, 4, 0, 0, {0: "rule", 1: "rule", 2: "rule"}),
        ("denoise", 0, 4, 0, 0, {3: "forced!"}),
        ("denoise", 4, 4, 0, 4, {4: "rule", 5: "rule", 6: "rule", 7: "rule"}),
        ("denoise", 8, 2, 0, 8, {8: "rule", 9: "rule"}),
    ]


def test_token_by_token() -> None:
    result = run_audited(TokenByToken(), text(3), prompt_tokens=5)
    assert trace(result) == [
        ("prefill", 0, 5, 0, 0, {}),
        ("decode", 0, 1, 0, 5, {0: "exact"}),
        ("decode", 1, 1, 0, 6, {1: "exact"}),
        ("decode", 2, 1, 0, 7, {2: "exact"}),
    ]


def test_draft_and_verify() -> None:
    """k = 3, the target disagrees at 2 and 7: 0 1 kept and 2 corrected; 3 4 5 kept and 6 a bonus; 7 corrected."""
    result = run_audited(Speculative(3, 0.5), text(), prompt_tokens=1)
    assert trace(result) == [
        ("prefill", 0, 1, 0, 0, {}),
        ("draft", 0, 1, 0, 1, {}), ("draft", 1, 1, 0, 2, {}), ("draft", 2, 1, 0, 3, {}),
        ("verify", 0, 4, 0, 1, {0: "exact", 1: "exact", 2: "exact"}),
        ("draft", 3, 1, 0, 4, {}), ("draft", 4, 1, 0, 5, {}), ("draft", 5, 1, 0, 6, {}),
        ("verify", 3, 4, 0, 4, {3: "exact", 4: "exact", 5: "exact", 6: "exact"}),
        ("draft", 7, 1, 0, 8, {}), ("draft", 8, 1, 0, 9, {}), ("draft", 9, 1, 0, 10, {}),
        ("verify", 7, 3, 0, 8, {7: "exact"}),
        ("draft", 8, 1, 0, 9, {}), ("draft", 9, 1, 0, 10, {}),
        ("verify", 8, 2, 0, 9, {8: "exact", 9: "exact"}),
    ]  # fmt: skip


def test_the_end_of_the_text_inside_a_block() -> None:
    """A text of 6 on a canvas of 10: the second block runs to its end as padding, the third one never starts."""
    result = run_audited(BlockDiffusion(4, 0.95), text(6), max_new_tokens=10, eos_stop="block")
    assert trace(result) == BLOCKS[:9]
    totals = result.totals
    assert (totals.tokens, totals.padding, result.wasted_positions) == (6, 2, 2)
    assert totals.forced_commits == 3  # of 2, 4 and 5; that of 6 is padding


def test_the_end_of_the_text_stops_early() -> None:
    """The same text: 6 is settled first, then 4, and 5 ends the text; 7 is never settled."""
    result = run_audited(BlockDiffusion(4, 0.95), text(6), max_new_tokens=10, eos_stop="early")
    assert trace(result) == [*BLOCKS[:7], BLOCKS[8]]
    assert (result.totals.tokens, result.totals.padding, result.wasted_positions) == (6, 1, 2)


def test_editing() -> None:
    """Settle above 0.6; the model changes 1 once it is filled: taken back and settled by the same rule pass."""
    looked: list[int] = []

    def edit(position: int, visit: int) -> float:
        first = position == 1 and position not in looked
        looked.append(position)
        return 0.9 if first else 0.0

    def joint(canvas: Canvas) -> Any:
        while canvas.remaining:
            span, busy = canvas.block(4), True
            while busy:
                view = yield span
                changed, new = view.edits(0.8), view.above(0.6) or view.best()
                canvas.reopen(changed)
                canvas.commit([*changed, *new])
                busy = bool(changed or new)

    strategy = decoder(joint, needs={"edits"}, revises=True, max_idle_passes=1, kv_write="fused")
    result = run_audited(strategy, scripted_stream(4, {0: (0.9,), 1: (0.7,), 2: (0.1,), 3: (0.3, 0.6)}, edit=edit))
    assert trace(result) == [
        ("denoise", 0, 4, 0, 0, {0: "rule"}),
        ("denoise", 0, 4, 0, 0, {1: "rule", 3: "rule"}),
        ("denoise", 0, 4, 0, 0, {2: "forced"}),
        ("edit", 0, 4, 0, 0, {}),
    ]
    assert list(result.ledger.committed) == [2, 2, 1, 0] and list(result.ledger.reopened) == [0, 1, 0, 0]
    assert result.ledger.positions[0].taken_back == [(1, 0, 1)]


@pytest.mark.parametrize("rule", ["separate", "none"])
def test_the_same_trace_by_the_generator(rule: str) -> None:
    assert trace(run_audited(Stepped(BlockDiffusion(4, 0.95)), text(), kv_write=rule)) == [
        step for step in BLOCKS if rule == "separate" or step[0] != "kv_write"
    ]
