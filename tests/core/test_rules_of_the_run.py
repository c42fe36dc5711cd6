"""When K/V are written, how far decoding goes after the end, where blocks start: cases worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.speculative import Speculative
from clover_sim.engine import run
from clover_sim.errors import DecoderFault, UsageError
from clover_sim.records import CAUSAL, EOS_STOPS, KV_WRITE_RULES, Kind
from clover_sim.streams.reference import reference_stream
from core.scripted import Stepped, classed_stream, decoder, passes, run_audited, scripted_stream

ONE_PASS = BlockDiffusion(4, 0.5)
"""Over confidences of 0.5, one pass fills a block of four."""


# ---- K/V writes (rule 4) --------------------------------------------------------------------------------------------


def test_separate_writes_every_block() -> None:
    result = run_audited(ONE_PASS, scripted_stream(10), kv_write="separate")
    assert passes(result) == [
        ("denoise", 0, 4, 4), ("kv_write", 0, 4, 0),
        ("denoise", 4, 4, 4), ("kv_write", 4, 4, 0),
        ("denoise", 8, 2, 2), ("kv_write", 8, 2, 0),
    ]  # fmt: skip
    assert list(result.ledger.context) == [0, 0, 4, 4, 8, 8]
    assert (result.totals.kv_write_passes, result.totals.target_passes, result.kv_write) == (3, 6, "separate")


def test_skip_last_leaves_the_last_one_out() -> None:
    result = run_audited(ONE_PASS, scripted_stream(10), kv_write="skip-last")
    assert [row[0] for row in passes(result)] == ["denoise", "kv_write", "denoise", "kv_write", "denoise"]


def test_skip_last_of_a_single_block_writes_nothing() -> None:
    assert [row[0] for row in passes(run_audited(ONE_PASS, scripted_stream(3), kv_write="skip-last"))] == ["denoise"]


def test_none_counts_denoise_rounds_only() -> None:
    result = run_audited(ONE_PASS, scripted_stream(10), kv_write="none")
    assert passes(result) == [("denoise", 0, 4, 4), ("denoise", 4, 4, 4), ("denoise", 8, 2, 2)]
    assert list(result.ledger.recompute) == [0, 0, 0]


def test_fused_widens_the_first_pass_of_the_next_block() -> None:
    """Two passes a block: confidences 0.4 and 0.5 a visit; only the first of each later block carries the old block."""
    confidence = {p: (0.5,) if p % 2 else (0.4, 0.5) for p in range(10)}
    result = run_audited(ONE_PASS, scripted_stream(10, confidence), kv_write="fused")
    assert passes(result) == [
        ("denoise", 0, 4, 2), ("denoise", 0, 4, 2),
        ("denoise", 4, 4, 2), ("denoise", 4, 4, 2),
        ("denoise", 8, 2, 1), ("denoise", 8, 2, 1),
    ]  # fmt: skip
    assert list(result.ledger.recompute) == [0, 0, 4, 0, 4, 0]
    assert list(result.ledger.context) == [0, 0, 0, 4, 4, 8]  # what is computed again is not read from the cache


def test_fused_on_the_bulk_path_is_the_same() -> None:
    for options in ({}, {"prompt_tokens": 5, "align": "absolute"}):
        bulk, stepped = (
            run_audited(d, classed_stream(70), kv_write="fused", **options)
            for d in (BlockDiffusion(32, 0.95), Stepped(BlockDiffusion(32, 0.95)))
        )
        assert list(bulk.ledger.recompute) == list(stepped.ledger.recompute)
        assert sum(bulk.ledger.recompute) == (64 if not options else 27 + 32)


def test_fused_with_recompute_computes_the_finished_block_once() -> None:
    """What the decoder computes again itself lies right before its span, so it already holds the finished block."""

    def refreshing(again: int) -> Any:
        def decode(canvas: Canvas) -> Any:
            while canvas.remaining:
                block = canvas.block(4)
                view = yield canvas.span(block.start, block.stop, recompute=min(again, block.start))
                canvas.commit(view.above(0.5))

        return decode

    for again, expected in ((0, [0, 4, 4]), (3, [0, 4, 4]), (4, [0, 4, 4]), (7, [0, 4, 7]), (8, [0, 4, 8])):
        ledger = run_audited(decoder(refreshing(again)), scripted_stream(12), kv_write="fused").ledger
        assert list(ledger.recompute) == expected
        assert list(ledger.context) == [s - r for s, r in zip((0, 4, 8), expected, strict=True)]


def test_causal_passes_need_no_write() -> None:
    for rule in KV_WRITE_RULES:
        assert run_audited(TokenByToken(), scripted_stream(5), kv_write=rule).totals.kv_write_passes == 0


def test_a_causal_pass_after_a_block_waits_for_its_write() -> None:
    def decode(canvas: Canvas) -> Any:
        view = yield canvas.block(4)
        canvas.commit(view.above(0.5))
        view = yield canvas.next()
        canvas.commit(view.agreed())

    assert passes(run_audited(decoder(decode), scripted_stream(5))) == [
        ("denoise", 0, 4, 4), ("kv_write", 0, 4, 0), ("decode", 4, 1, 1),
    ]  # fmt: skip


def test_an_encoding_pass_is_the_write() -> None:
    def decode(canvas: Canvas) -> Any:
        while canvas.remaining:
            span = canvas.block(4)
            view = yield span
            canvas.commit(view.above(0.5))
            yield canvas.span(span.start, span.stop, CAUSAL)

    for rule in KV_WRITE_RULES:
        result = run_audited(decoder(decode), scripted_stream(6), kv_write=rule)
        assert passes(result) == [
            ("denoise", 0, 4, 4), ("encode", 0, 4, 0), ("denoise", 4, 2, 2), ("encode", 4, 2, 0),
        ]  # fmt: skip
        assert result.totals.kv_write_passes == 2


@pytest.mark.parametrize(
    ("override", "of_stream", "of_decoder", "chosen"),
    [
        (None, None, None, "separate"),
        (None, None, "fused", "fused"),
        (None, "none", "fused", "none"),
        ("skip-last", "none", "fused", "skip-last"),
    ],
)
def test_whose_rule_counts(override: str | None, of_stream: str | None, of_decoder: str | None, chosen: str) -> None:
    def decode(canvas: Canvas) -> Any:
        view = yield canvas.block(4)
        canvas.commit(view.best(4))

    declared = {"kv_write": of_decoder} if of_decoder else {}
    result = run_audited(decoder(decode, **declared), scripted_stream(4, kv_write=of_stream), kv_write=override)
    assert result.kv_write == chosen


def test_the_reference_stream_counts_denoise_rounds_only() -> None:
    assert run_audited(BlockDiffusion(), reference_stream(64)).kv_write == "none"
    assert run_audited(BlockDiffusion(), reference_stream(64), kv_write="separate").totals.kv_write_passes == 2


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'fused'"):
        run(ONE_PASS, scripted_stream(4), kv_write="fussed")
    with pytest.raises(DecoderFault, match="kv_write = 'later'"):
        run(decoder(lambda canvas: iter(()), kv_write="later"), scripted_stream(4))
    with pytest.raises(UsageError, match=r"eos_stop 'blocks'.*did you mean 'block'"):
        run(ONE_PASS, scripted_stream(4), eos_stop="blocks")
    with pytest.raises(UsageError, match="align 'abs'"):
        run(ONE_PASS, scripted_stream(4), align="abs")
    for bad in (-1, 1.0, True, "4"):
        with pytest.raises(UsageError, match="max_new_tokens"):
            run(ONE_PASS, scripted_stream(4), max_new_tokens=bad)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="prompt_tokens"):
            run(ONE_PASS, scripted_stream(4), prompt_tokens=bad)  # type: ignore[arg-type]


# ---- the end of the text (rule 6) -----------------------------------------------------------------------------------

ENDS = [
    # decoder, tokens, limit, eos_stop -> target passes without K/V writes, padding, wasted positions
    (TokenByToken(), 5, 12, "early", 5, 0, 0),
    (TokenByToken(), 5, 12, "block", 5, 0, 0),
    (TokenByToken(), 5, 12, "canvas", 12, 7, 7),
    (ONE_PASS, 5, 12, "early", 2, 3, 3),  # the pass that settles the end settles the rest of its block with it
    (ONE_PASS, 5, 12, "block", 2, 3, 3),
    (ONE_PASS, 5, 12, "canvas", 3, 7, 7),
    (ONE_PASS, 8, 12, "early", 2, 0, 0),  # the text ends with a block: nothing was computed in vain
    (ONE_PASS, 8, 12, "block", 2, 0, 0),
    (ONE_PASS, 8, 12, "canvas", 3, 4, 4),
    (BlockDiffusion(4, 0.9), 5, 12, "early", 5, 0, 3),  # nothing reaches 0.9: one position a pass, from the left
    (BlockDiffusion(4, 0.9), 5, 12, "block", 8, 3, 3),
    (BlockDiffusion(4, 0.9), 5, 12, "canvas", 12, 7, 7),
    (BlockDiffusion(4, 0.9), 5, 6, "block", 6, 1, 1),  # the last block is cut to the limit
    (Speculative(3, 1.0, parallel_draft=True), 5, 12, "early", 2, 3, 3),
    (Speculative(3, 1.0, parallel_draft=True), 5, 12, "block", 2, 3, 3),
    (Speculative(3, 1.0, parallel_draft=True), 5, 12, "canvas", 3, 7, 7),
]


@pytest.mark.parametrize("path", [lambda d: d, Stepped], ids=["as-is", "generator"])
@pytest.mark.parametrize(("strategy", "tokens", "limit", "eos_stop", "steps", "padding", "wasted"), ENDS)
def test_end_of_the_text(
    strategy: Any, tokens: int, limit: int, eos_stop: str, steps: int, padding: int, wasted: int, path: Any
) -> None:
    result = run_audited(path(strategy), scripted_stream(tokens), eos_stop=eos_stop, max_new_tokens=limit)
    totals = result.totals
    found = (totals.tokens, totals.target_passes - totals.kv_write_passes, totals.padding, result.wasted_positions)
    assert found == (tokens, steps, padding, wasted)


def test_commits_after_the_end_in_the_same_pass_are_passed_over() -> None:
    """The decoder took both lists before it could know that the first one ends the text."""

    def in_two_goes(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(4)
            sure, rest = view.positions[:2], view.positions[2:]
            canvas.commit(sure)
            canvas.commit(rest)

    totals = run_audited(decoder(in_two_goes), scripted_stream(2), eos_stop="early", max_new_tokens=12).totals
    assert (totals.tokens, totals.padding, totals.passes[0]) == (2, 0, ("denoise", 1))
    totals = run_audited(decoder(in_two_goes), scripted_stream(2), eos_stop="block", max_new_tokens=12).totals
    assert (totals.tokens, totals.padding) == (2, 2)


def test_the_view_shows_no_position_after_the_end() -> None:
    def look_again(canvas: Canvas) -> Any:
        view = yield canvas.block(4)
        canvas.commit([0, 1])
        assert view.above(0.0) == view.best(4) == () and not canvas.remaining and canvas.masked() == ()

    run_audited(decoder(look_again), scripted_stream(2), eos_stop="early", max_new_tokens=12)


def test_padding_is_left_out_of_errors_and_forced_commits() -> None:
    result = run_audited(
        BlockDiffusion(8, 0.9), scripted_stream(3, wrong=lambda p, forced: True), max_new_tokens=8, eos_stop="block"
    )
    assert (result.totals.tokens, result.totals.locked_errors, result.totals.forced_commits) == (3, 3, 3)


@pytest.mark.parametrize("eos_stop", EOS_STOPS)
def test_an_empty_text_still_pays_for_nothing_before_it_is_known(eos_stop: str) -> None:
    assert run_audited(TokenByToken(), scripted_stream(0), eos_stop=eos_stop).totals.target_passes == 0
    assert run_audited(ONE_PASS, scripted_stream(9), max_new_tokens=0).totals.tokens == 0


def test_a_limit_below_the_text_cuts_it() -> None:
    result = run_audited(ONE_PASS, scripted_stream(50), max_new_tokens=10)
    assert (result.totals.tokens, result.totals.padding, result.wasted_positions) == (10, 0, 0)


# ---- alignment and prefill ------------------------------------------------------------------------------------------


def test_a_prompt_costs_one_prefill_pass_and_is_context_ever_after() -> None:
    result = run_audited(ONE_PASS, scripted_stream(6), prompt_tokens=100, kv_write="none")
    rows = [(r["kind"], r["tokens"], r["context_tokens"]) for r in result.ledger.rows()]
    assert rows == [("prefill", 100, 0), ("denoise", 4, 100), ("denoise", 2, 104)]
    assert (result.totals.prefill_passes, result.totals.target_passes) == (1, 2)


def test_no_prompt_no_prefill() -> None:
    assert run_audited(ONE_PASS, scripted_stream(6)).ledger.count(Kind.PREFILL) == 0


@pytest.mark.parametrize(
    ("prompt", "align", "blocks"),
    [
        (0, "absolute", [(0, 4), (4, 4), (8, 2)]),
        (6, "relative", [(0, 4), (4, 4), (8, 2)]),
        (6, "absolute", [(0, 2), (2, 4), (6, 4)]),
        (8, "absolute", [(0, 4), (4, 4), (8, 2)]),
        (7, "absolute", [(0, 1), (1, 4), (5, 4), (9, 1)]),
    ],
)
@pytest.mark.parametrize("path", [lambda d: d, Stepped], ids=["bulk", "generator"])
def test_where_blocks_start(prompt: int, align: str, blocks: list[tuple[int, int]], path: Any) -> None:
    text = classed_stream(10)
    ledger = run_audited(path(BlockDiffusion(4, 0.0)), text, prompt_tokens=prompt, align=align, kv_write="none").ledger
    found = [(r["start"], r["tokens"]) for r in ledger.rows() if r["kind"] == "denoise"]
    assert found == blocks
