"""What the boundary between decoder and engine can express: published kinds of decoding, each in a few lines.

The decoders are throw-away: they show that no edit of the core is needed. Their passes are worked out by hand.
"""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.records import BLOCK, CAUSAL, DRAFT, Drafter, Forward
from core.scripted import ScriptedPhysics, decoder, passes, run_audited, scripted_stream, settled

# ---- editing what was settled: joint threshold ----------------------------------------------------------------------


def joint_threshold(canvas: Canvas) -> Any:
    """Settle above 0.7 and edit above 0.9 in the same pass; a block is done with the pass that changes nothing."""
    while canvas.remaining:
        span = canvas.block(4)
        busy = True
        while busy:
            view = yield span
            edited = view.edits(0.9)
            new = view.above(0.7) or view.best()
            canvas.reopen(edited)
            canvas.commit([*edited, *new])
            busy = bool(edited or new)


EDITING = {"needs": {"edits"}, "revises": True, "max_idle_passes": 1, "kv_write": "fused"}


def edit_once(position: int) -> Any:
    """The model changes ``position`` the first time it is looked at once filled, and never again."""
    looked: set[int] = set()

    def edit(p: int, visit: int) -> float:
        if p != position or p in looked:
            return 0.0
        looked.add(p)
        return 0.95

    return edit


def test_joint_threshold_editing() -> None:
    confidence = {p: (0.8,) if p % 2 else (0.5, 0.8) for p in range(8)}
    text = scripted_stream(8, confidence, edit=edit_once(1))
    result = run_audited(decoder(joint_threshold, **EDITING), text)
    assert passes(result) == [
        ("denoise", 0, 4, 2),  # 1 and 3
        ("denoise", 0, 4, 3),  # 0 and 2, and 1 is changed
        ("edit", 0, 4, 0),  # changes nothing: it writes the block's K/V
        ("denoise", 4, 4, 2), ("denoise", 4, 4, 2), ("edit", 4, 4, 0),
    ]  # fmt: skip
    assert list(result.ledger.recompute) == [0] * 6  # so the next block's first pass carries nothing along
    assert list(result.ledger.reopened) == [0, 1, 0, 0, 0, 0]
    assert settled(result)[:4] == [(1, False, False), (1, False, False), (1, False, False), (0, False, False)]
    totals = result.totals
    assert (totals.committed, totals.reopened, totals.tokens, totals.kv_write_passes) == (9, 1, 8, 0)


def test_joint_threshold_under_separate_pays_the_write_again() -> None:
    text = scripted_stream(4, 0.8, edit=lambda p, visit: 0.0)
    kinds = [row[0] for row in passes(run_audited(decoder(joint_threshold, **EDITING), text, kv_write="separate"))]
    assert kinds == ["denoise", "edit", "kv_write"]


def test_a_block_left_without_the_pass_that_changes_nothing_is_carried_along() -> None:
    def hasty(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(4)
            canvas.commit(view.above(0.7))

    result = run_audited(decoder(hasty, kv_write="fused"), scripted_stream(8, 0.8))
    assert list(result.ledger.recompute) == [0, 4]


# ---- taking back what was settled too early: wide-in, narrow-out ----------------------------------------------------


def wide_in_narrow_out(canvas: Canvas) -> Any:
    """Settle generously above 0.6; shadow positions score the filled ones again, and what falls out is masked again."""
    while canvas.remaining:
        first, stop = canvas.frontier, min(canvas.frontier + 4, canvas.limit)
        while canvas.frontier < stop:
            filled = sum(canvas.filled(p) for p in range(first, stop))
            view = yield canvas.span(first, stop, tokens=stop - first + filled)
            doubtful = view.edits(0.9)
            canvas.commit(view.above(0.6) or view.best())
            canvas.reopen(doubtful)


def test_taking_back_and_settling_in_one_pass() -> None:
    confidence = {0: (0.7,), 1: (0.7, 0.8), 2: (0.5, 0.7), 3: (0.5, 0.5, 0.7)}
    text = scripted_stream(4, confidence, edit=edit_once(1))
    result = run_audited(decoder(wide_in_narrow_out, needs={"edits"}, revises=True), text, kv_write="none")
    assert passes(result) == [
        ("denoise", 0, 4, 2),  # 0 and 1
        ("denoise", 0, 6, 1),  # 2; two shadows; 1 is masked again
        ("denoise", 0, 6, 2),  # 1 and 3
    ]
    assert [row for row, _, _ in settled(result)] == [0, 2, 1, 2]
    assert list(result.ledger.reopened) == [0, 1, 0]
    assert result.ledger.positions[0].taken_back == [(1, 0, 1)]


# ---- re-noising a canvas: nothing is final until its end ------------------------------------------------------------


def renoise(canvas: Canvas) -> Any:
    """256 positions at a time; stop when the guesses are stable and sure, after at most 48 passes; then encode."""
    while canvas.remaining:
        start, stop = canvas.frontier, min(canvas.frontier + 256, canvas.limit)
        for _ in range(48):
            view = yield canvas.span(start, stop)
            sure = view.where(lambda p, view=view: view.entropy(p) < 0.1)
            if len(sure) == stop - start and not view.changed():
                break
        canvas.commit(sure)
        canvas.commit(view.best(canvas.limit))
        yield canvas.span(start, stop, CAUSAL)


def renoised(entropy: Any, changed: Any, tokens: int = 300) -> Any:
    text = scripted_stream(tokens, 0.5, entropy=entropy, changed=changed, wrong=lambda p, forced: forced)
    return run_audited(decoder(renoise, needs={"entropy", "changed"}, max_idle_passes=48), text)


def test_renoising_a_canvas_that_settles_down() -> None:
    result = renoised(lambda p, visit: 0.0 if visit >= 11 else 1.0, lambda p, visit: visit < 12)
    rows = passes(result)
    assert [row[0] for row in rows] == ["denoise"] * 13 + ["encode"] + ["denoise"] * 13 + ["encode"]
    assert rows[12] == ("denoise", 0, 256, 256) and rows[13] == ("encode", 0, 256, 0)
    assert rows[26] == ("denoise", 256, 44, 44)
    assert (result.totals.kv_write_passes, result.totals.forced_commits, result.totals.locked_errors) == (2, 0, 0)


def test_renoising_a_canvas_that_never_does() -> None:
    result = renoised(lambda p, visit: 1.0 if p % 2 else 0.0, lambda p, visit: True)
    assert [row[0] for row in passes(result)].count("denoise") == 96
    assert (result.totals.forced_commits, result.totals.locked_errors) == (150, 150)


# ---- several blocks in flight ---------------------------------------------------------------------------------------


def pipelined(canvas: Canvas) -> Any:
    """Blocks of 4, at most 3 in flight: the next one joins once the last one is half full; only the first is forced."""
    size, start, stop = 4, 0, 4
    while canvas.remaining:
        view = yield canvas.span(start, stop)
        first = range(start, start + size)
        canvas.commit(view.above(0.7, within=range(start, stop)) or view.best(within=first))
        start = max(start, canvas.frontier // size * size) if canvas.frontier < canvas.limit else start
        last = range(stop - size, stop)
        if sum(canvas.filled(p) for p in last if p < canvas.limit) * 2 >= size and stop - start < 3 * size:
            stop = min(stop + size, canvas.limit)


def test_pipelined_blocks() -> None:
    made: list[ScriptedPhysics] = []
    confidence = {p: (0.8,) if p % 2 else (0.5, 0.5, 0.8) for p in range(12)}
    result = run_audited(decoder(pipelined, kv_write="fused"), scripted_stream(12, confidence, made=made))
    assert passes(result) == [
        ("denoise", 0, 4, 2),  # 1 3; half of the block: the second one joins
        ("denoise", 0, 8, 2),  # 5 7; the third one joins
        ("denoise", 0, 12, 4),  # 0 2 (third visit), 9 11
        ("denoise", 4, 8, 2),  # the first block left full, its K/V carried along; 4 6
        ("denoise", 8, 4, 2),  # the second one too; 8 10
    ]
    assert list(result.ledger.recompute) == [0, 0, 0, 4, 4]
    opened = [call[1:] for call in made[0].calls if call[0] == "opened"]  # each position once, at its own first pass
    assert opened == [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)]


def test_state_belongs_to_the_position_not_to_the_span() -> None:
    """Overlapping, growing and shrinking spans: a position's visits count the passes that covered it."""
    made: list[ScriptedPhysics] = []

    def decode(canvas: Canvas) -> Any:
        yield canvas.span(0, 2)
        yield canvas.span(0, 6)
        view = yield canvas.span(0, 3)
        assert [view.confidence(p) for p in (0, 1, 2)] == [0.2, 0.2, 0.1]
        canvas.commit([0, 1, 2])
        view = yield canvas.span(0, 6)
        assert [view.confidence(p) for p in (3, 4, 5)] == [0.1, 0.1, 0.1]
        canvas.commit([3, 4, 5])

    text = scripted_stream(6, lambda p, visit: visit / 10, made=made)
    run_audited(decoder(decode, max_idle_passes=2), text, kv_write="none")
    assert [call for call in made[0].calls if call[0] == "opened"] == [("opened", 0, 1), ("opened", 2, 3, 4, 5)]


# ---- drafts ---------------------------------------------------------------------------------------------------------


def test_a_draft_tree_computes_more_nodes_than_positions() -> None:
    def tree(canvas: Canvas) -> Any:
        while canvas.remaining:
            yield canvas.draft(3, nodes=7)
            depth = min(4, canvas.limit - canvas.frontier)
            view = yield canvas.span(canvas.frontier, canvas.frontier + depth, CAUSAL, tokens=8)
            canvas.commit(view.agreed())

    strategy = decoder(tree, draft_source=Drafter("small", (0.9,)))
    result = run_audited(strategy, scripted_stream(6, agrees=lambda p: p != 1))
    assert passes(result) == [
        ("draft", 0, 7, 0), ("verify", 0, 8, 2),
        ("draft", 2, 7, 0), ("verify", 2, 8, 4),
    ]  # fmt: skip


def test_zero_cost_proposals_hit_and_miss() -> None:
    def lookup(canvas: Canvas) -> Any:
        while canvas.remaining:
            found = canvas.propose(3)
            view = yield canvas.next(found + 1)
            canvas.commit(view.agreed())

    text = scripted_stream(9, agrees=lambda p: p != 6, proposes=lambda p, tokens: tokens if p in (1, 5) else 0)
    strategy = decoder(lookup, needs={"proposals"}, draft_source=Drafter(None, (0.5,), 0.3))
    result = run_audited(strategy, text)
    assert passes(result) == [
        ("decode", 0, 1, 1),  # a miss is a plain pass
        ("verify", 1, 4, 4),  # 1 2 3, and 4 as the bonus
        ("verify", 5, 4, 2),  # 5, and 6 is the target's own
        ("decode", 7, 1, 1), ("decode", 8, 1, 1),
    ]  # fmt: skip
    assert result.totals.draft_passes == 0 and result.drafter == Drafter(None, (0.5,), 0.3)


def test_a_proposer_that_finds_more_than_there_is_room_for() -> None:
    seen = []

    def greedy(canvas: Canvas) -> Any:
        while canvas.remaining:
            seen.append(canvas.propose(50))
            view = yield canvas.next(seen[-1] + 1)
            canvas.commit(view.agreed())

    text = scripted_stream(5, proposes=lambda p, tokens: tokens)
    result = run_audited(decoder(greedy, needs={"proposals"}, draft_source=Drafter(None)), text)
    assert seen == [5] and passes(result) == [("verify", 0, 5, 5)]


def test_one_forward_a_round() -> None:
    """Self-speculation: the pass that verifies also drafts the next round, at the price of a wider pass."""

    def self_speculate(canvas: Canvas) -> Any:
        width = 1
        while canvas.remaining:
            stop = min(canvas.frontier + width, canvas.limit)
            view = yield canvas.span(canvas.frontier, stop, CAUSAL, tokens=stop - canvas.frontier + 3)
            canvas.commit(view.agreed())
            width = canvas.propose(3) + 1 if canvas.remaining else 1

    text = scripted_stream(9, agrees=lambda p: p != 2, proposes=lambda p, tokens: tokens)
    strategy = decoder(self_speculate, needs={"proposals"}, draft_source=Drafter(None, (0.8,)))
    assert passes(run_audited(strategy, text)) == [
        ("decode", 0, 4, 1), ("verify", 1, 7, 2), ("verify", 3, 7, 4), ("verify", 7, 5, 2),
    ]  # fmt: skip


def test_drafting_until_the_drafter_doubts() -> None:
    def cautious(canvas: Canvas) -> Any:
        while canvas.remaining:
            for drafted in range(1, min(4, canvas.remaining) + 1):
                view = yield canvas.draft()
                if view.draft_confidence(canvas.frontier + drafted - 1) < 0.5:
                    break
            view = yield canvas.next(drafted + 1)
            canvas.commit(view.agreed())

    text = scripted_stream(7, draft_confidence=lambda p: 0.1 if p == 1 else 0.9, agrees=lambda p: p != 1)
    strategy = decoder(cautious, needs={"draft-confidence"}, draft_source=Drafter("small", (0.9,)))
    assert passes(run_audited(strategy, text)) == [
        ("draft", 0, 1, 0), ("draft", 1, 1, 0), ("verify", 0, 3, 2),
        ("draft", 2, 1, 0), ("draft", 3, 1, 0), ("draft", 4, 1, 0), ("draft", 5, 1, 0), ("verify", 2, 5, 5),
    ]  # fmt: skip


def test_a_drafter_that_fills_a_block_both_ways() -> None:
    def block_drafter(canvas: Canvas) -> Any:
        while canvas.remaining:
            stop = min(canvas.frontier + 4, canvas.limit)
            yield Forward(canvas.frontier, stop, BLOCK, DRAFT)
            view = yield canvas.next(5)
            canvas.commit(view.agreed())

    result = run_audited(decoder(block_drafter, draft_source=Drafter("small")), scripted_stream(7))
    assert passes(result) == [("draft", 0, 4, 0), ("verify", 0, 5, 5), ("draft", 5, 2, 0), ("verify", 5, 2, 2)]


# ---- caches: what is computed again ---------------------------------------------------------------------------------


def test_decoding_without_a_cache() -> None:
    """Every pass computes the whole text so far again: width, not context."""

    def uncached(canvas: Canvas) -> Any:
        while canvas.remaining:
            block = canvas.block(4)
            span = canvas.span(block.start, block.stop, recompute=block.start + 10)
            view = yield span
            canvas.commit(view.above(0.5))

    result = run_audited(decoder(uncached), scripted_stream(8), prompt_tokens=10, kv_write="none")
    rows = [(r["kind"], r["tokens"], r["recompute_tokens"], r["context_tokens"]) for r in result.ledger.rows()]
    assert rows == [("prefill", 10, 0, 0), ("denoise", 4, 10, 0), ("denoise", 4, 14, 0)]


def test_a_refresh_now_and_then() -> None:
    def refreshing(canvas: Canvas) -> Any:
        count = 0
        while canvas.remaining:
            block = canvas.block(2)
            count += 1
            view = yield canvas.span(block.start, block.stop, recompute=block.start if count % 2 == 0 else 0)
            canvas.commit(view.best(1))

    result = run_audited(decoder(refreshing), scripted_stream(4), kv_write="none")
    assert list(result.ledger.recompute) == [0, 0, 0, 2]
    assert list(result.ledger.context) == [0, 0, 2, 0]


# ---- mixtures -------------------------------------------------------------------------------------------------------


def test_blocks_and_single_tokens_in_turn() -> None:
    def hybrid(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())
            if canvas.remaining:
                view = yield canvas.span(canvas.frontier, canvas.frontier + 3)
                canvas.commit(view.above(0.5))

    result = run_audited(decoder(hybrid), scripted_stream(8))
    assert passes(result) == [
        ("decode", 0, 1, 1), ("denoise", 1, 3, 3), ("kv_write", 1, 3, 0),
        ("decode", 4, 1, 1), ("denoise", 5, 3, 3), ("kv_write", 5, 3, 0),
    ]  # fmt: skip


def test_a_kl_rule_over_two_visits() -> None:
    def stable(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(4)
            canvas.commit(view.where(lambda p, view=view: view.kl(p) < 0.01))

    text = scripted_stream(4, 0.9, kl=lambda p, visit: 1.0 if visit < p else 0.0)
    result = run_audited(decoder(stable, needs={"kl"}), text, kv_write="none")
    assert settled(result) == [(p, False, False) for p in range(4)]


# ---- replay: a physics made from a recorded trace -------------------------------------------------------------------

TRACE = [
    # position, confidence at each visit of the recording, whether the recorded guess was wrong at the end
    (0, (0.99,), False), (1, (0.40, 0.97), False), (2, (0.30, 0.50, 0.60), True), (3, (0.96,), False),
    (4, (0.10, 0.20, 0.96), False), (5, (0.98,), True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "by_pass", "forced"),
    [
        (0.95, [[0, 3, 5], [1], [4], [2]], [2]),  # 2 never gets beyond 0.6
        (0.97, [[0, 5], [1], [3], [4], [2]], [2, 3, 4]),  # 3 and 4 tie at 0.96: the lower one first
        (0.5, [[0, 3, 5], [1, 2], [4]], []),
    ],
)
def test_replay_of_a_trace(threshold: float, by_pass: list[list[int]], forced: list[int]) -> None:
    """The counts follow from the table: what a recording says, not what a model of it would draw."""
    confidences = {p: values for p, values, _ in TRACE}
    wrong = {p for p, _, is_wrong in TRACE if is_wrong}

    def threshold_rule(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(6)
            canvas.commit(view.above(threshold) or view.best())

    text = scripted_stream(6, confidences, wrong=lambda p, _: p in wrong)
    commits = settled(run_audited(decoder(threshold_rule, kv_write="none"), text))
    assert [[p for p, (by, _, _) in enumerate(commits) if by == n] for n in range(len(by_pass))] == by_pass
    assert [p for p, (_, is_forced, _) in enumerate(commits) if is_forced] == forced
    assert [p for p, (_, _, is_wrong) in enumerate(commits) if is_wrong] == [2, 5]


# ---- rule calls at their bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "strict", "above", "edits"),
    [(0.5, False, (0, 1), (3, 4)), (0.5, True, (1,), (4,)), (0.0, False, (0, 1, 2), (3, 4)), (0.9, False, (), ())],
)
def test_thresholds_at_their_bounds(
    threshold: float, strict: bool, above: tuple[int, ...], edits: tuple[int, ...]
) -> None:
    """>= by default and > if strict; a model that would keep the token (0) is never an edit, even at threshold 0."""

    def look(canvas: Canvas) -> Any:
        yield canvas.block(6)
        canvas.commit([3, 4, 5])
        view = yield canvas.block(6)
        assert view.positions == (0, 1, 2)
        assert view.above(threshold, strict=strict) == above
        assert view.above(threshold, within=[2, 1, 9], strict=strict) == tuple(p for p in above if p in (1, 2))
        assert view.edits(threshold, strict=strict) == edits
        canvas.commit(view.best(3))

    text = scripted_stream(
        6, {0: (0.5,), 1: (0.6,), 2: (0.0,), 3: (1.0,), 4: (1.0,), 5: (1.0,)},
        edit=lambda p, visit: {3: 0.5, 4: 0.7}.get(p, 0.0),
    )  # fmt: skip
    run_audited(decoder(look, needs={"edits"}), text, kv_write="none")


def test_the_best_come_first_and_the_lowest_wins_a_tie() -> None:
    def look(canvas: Canvas) -> Any:
        view = yield canvas.block(5)
        assert view.best() == (2,) and view.best(3) == (2, 4, 0) and view.best(99) == (2, 4, 0, 1, 3)
        assert view.best(2, within=[3, 1]) == (1, 3) and view.best(1, within=()) == ()
        canvas.commit(view.best(2))
        assert view.best(2) == (0, 1)
        canvas.commit(view.best(5))

    run_audited(decoder(look), scripted_stream(5, {0: (0.4,), 1: (0.1,), 2: (0.8,), 3: (0.1,), 4: (0.8,)}))


def test_an_empty_commit_before_another_changes_nothing() -> None:
    """A rule may commit what it finds, which may be nothing, and then the best token of the same view."""

    def twice(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(4)
            canvas.commit(view.above(2.0))
            canvas.commit(view.best())

    for tokens in (0, 1, 9):
        done = run_audited(decoder(twice), scripted_stream(tokens), max_new_tokens=max(tokens, 1), kv_write="none")
        assert done.totals.tokens == tokens
