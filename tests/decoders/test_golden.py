"""One golden trace for each rule, small enough to work out by hand: which positions each pass settles, and which are
forced. Positions are 0-based; a mapping gives a position's confidence visit by visit (the last one stays)."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from clover_sim.engine import run
from clover_sim.ledger import FORCED
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from core.scripted import passes, run_audited, scripted_stream


def trace(strategy: str, stream: Stream, **options: Any) -> tuple[list[list[int]], set[int]]:
    """(positions that each block pass settled for good, forced positions)."""
    result = run_audited(build_strategy(strategy)[1], stream, **{"kv_write": "none", **options})
    ledger, places = result.ledger, result.ledger.positions[0]
    by_row: dict[int, list[int]] = {
        row: [] for row in range(len(ledger)) if passes(result)[row][0] in ("denoise", "edit")
    }
    for p, row in enumerate(places.row):
        by_row[row].append(p)
    return list(by_row.values()), {p for p, flag in enumerate(places.flags) if flag & FORCED}


TABLE: dict[int, tuple[float, ...]] = {
    0: (0.98,), 1: (0.30, 0.60, 0.92), 2: (0.70, 0.91), 3: (0.55, 0.62, 0.85, 0.97),
}  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "by_pass", "forced"),
    [
        # n-th best >= 1 - 1/(n + 1): .98 >= 1/2, .70 >= 2/3, .55 < 3/4; then .62 >= 1/2, .60 < 2/3; then .92 >= 1/2.
        ("factor:block_size=4", [[0, 2], [3], [1]], set()),
        # A small factor: .98 < 1 - .02/2, so even the best is forced; .91 < .99; .97 < .99; .92 < .99.
        ("factor:block_size=4,factor=0.02", [[0], [2], [1], [3]], {0, 1, 2, 3}),
        # 4 positions in 2 steps: two best a pass.
        ("schedule:denoising_steps=2,remasking_strategy=low_confidence_static", [[0, 2], [1, 3]], {0, 1, 2, 3}),
        # Dynamic at 0.5 in 4 steps: 3 of 4 pass in step 1; 1 in step 2.
        ("schedule:confidence_threshold=0.5", [[0, 2, 3], [1]], set()),
        # Dynamic at 0.95 in 2 steps: only 0 passes and two are due, so the two best: 0 passed the bar, 2 did not.
        ("schedule:confidence_threshold=0.95,denoising_steps=2", [[0, 2], [1, 3]], {1, 2, 3}),
        ("schedule:denoising_steps=3,remasking_strategy=sequential", [[0, 1], [2], [3]], {0, 1, 2, 3}),
        # One position a step.
        ("llada:block_size=4,denoising_steps=4", [[0], [2], [1], [3]], {0, 1, 2, 3}),
        # Bar .9 (best .98, clamped): 0. Mean .98 -> .9: 2 (.91). Mean .945 -> .9: 1 (.92). Mean .9367 -> .9: 3 (.97).
        ("running-mean:block_size=4", [[0], [2], [1], [3]], set()),
        # Bounds .5 to .7: .7 lets 0 and 2 through; mean .84 -> .7: none, so the best of .60 and .62; then .92.
        ("running-mean:block_size=4,confidence_lower_threshold=0.5,confidence_upper_threshold=0.7",
         [[0, 2], [3], [1]], {3}),
        # Sub-blocks of 2: 0; then 1 (.60) as the best of its sub-block; then 2 (.91), and 3 (.97).
        ("hierarchy:block_size=4,sub_block_size=2", [[0], [1], [2], [3]], {1}),
        # The same bar without sub-blocks: 0; 2; 1; 3.
        ("fast-dllm:block_size=4", [[0], [2], [1], [3]], set()),
        ("dinfer:block_size=4,threshold=0.6", [[0, 2], [1, 3]], set()),
        ("llada2.0:block_size=4,threshold=0.97", [[0], [2], [1], [3]], {1, 2, 3}),
    ],
)  # fmt: skip
def test_rules_over_confidence(strategy: str, by_pass: list[list[int]], forced: set[int]) -> None:
    assert trace(strategy, scripted_stream(4, TABLE)) == (by_pass, forced)


def test_the_schedule_of_a_short_block() -> None:
    """Two masked positions in four steps: one a step, and no step without a commit."""
    assert trace("schedule", scripted_stream(6, 0.1))[0] == [[0], [1], [2], [3], [4], [5]]
    assert trace("schedule:denoising_steps=1", scripted_stream(6, 0.1))[0] == [[0, 1, 2, 3], [4, 5]]


def test_entropy_bound() -> None:
    """Entropies .05, .20, .08, .30 and budget .15: before 0 lie 0, before 2 lie .05, before 1 lie .13, before 3 .33."""
    values = (0.05, 0.20, 0.08, 0.30)
    text = scripted_stream(4, 0.5, entropy=lambda p, visit: values[p])
    assert trace("entropy-bound:block_size=4", text) == ([[0, 1, 2], [3]], {3})  # .30 alone exceeds the budget
    assert trace("eb-sampler:block_size=4,gamma=0.06", text) == ([[0, 2], [1], [3]], {1, 3})


def test_credit() -> None:
    """Confidence stays .8, the guess never changes: credit .8^.2 = .9564 gives odds 4 * 1.9564^.7 = 6.40, p = .865;
    then .9564 * 1.8 = 1.7215, odds 4 * 2.7215^.7 = 8.06, p = .890; then 2.3336, odds 9.29, p = .903."""
    text = scripted_stream(2, {0: (0.8,), 1: (0.1,)}, changed=lambda p, visit: visit == 0)
    by_pass, forced = trace("credit:block_size=2", text)
    assert by_pass == [[0], [1]] and forced == {0, 1}  # 0 is the best of a pass in which none passes
    settled = scripted_stream(3, {0: (0.8,), 1: (0.95,), 2: (0.96,)}, changed=lambda p, visit: visit == 0)
    assert trace("credit:block_size=3,threshold=0.86", settled) == ([[0, 1, 2]], set())
    late = {0: (0.85,), 1: (0.99,), 2: (0.1, 0.99)}
    text = scripted_stream(3, late, changed=lambda p, visit: visit == 0)
    # pass 1: 0 has odds 5.67 * 1.968^.7 = 9.10, p = .9010 < .92; pass 2: 5.67 * 2.743^.7 = 11.5, p = .92
    assert trace("credit:block_size=3,threshold=0.919", text) == ([[1], [0, 2]], set())
    restless = scripted_stream(3, late, changed=lambda p, visit: True)
    assert trace("credit:block_size=3,threshold=0.919", restless) == ([[1], [2], [0]], {0})


def test_stability() -> None:
    """Both have .95; 0 moves less than .01 from its second visit on, 1 only from its third."""
    text = scripted_stream(2, 0.95, kl=lambda p, visit: 0.001 if visit > p else 0.5)
    # Passes 1 and 2 have no two small steps behind them and fall back to the best; the block of 2 is done by then.
    assert trace("stability:block_size=2", text) == ([[0], [1]], {0, 1})
    text = scripted_stream(4, {0: (0.99,), 1: (0.98,), 2: (0.95,), 3: (0.5,)},
                           kl=lambda p, visit: 0.001 if p > 1 else 0.5)  # fmt: skip
    # Fallbacks 0, 1; then 2 was stable twice and is above .9; 3 is stable but below the bar.
    assert trace("klass:block_size=4", text) == ([[0], [1], [2], [3]], {0, 1, 3})
    assert trace("klass:block_size=4,kl_history_length=1,conf_threshold=0.4", text) == ([[0], [2, 3], [1]], {0, 1})


def test_joint_threshold_modes() -> None:
    """Position 0 is replaced once; in speed mode at any probability, in quality mode only above .5."""

    def stream(value: float) -> Stream:
        asked: set[int] = set()

        def edit(p: int, visit: int) -> float:
            if p == 0 and p not in asked:
                asked.add(p)
                return value
            return 0.0

        return scripted_stream(3, {0: (0.9,), 1: (0.6,), 2: (0.3, 0.8)}, edit=edit)

    speed = run_audited(build_strategy("llada2.1-speed:block_size=3")[1], stream(0.4))
    # 0 and 1; then 2, and 0 is replaced; then nothing changes: that pass writes the K/V.
    assert passes(speed) == [("denoise", 0, 3, 2), ("denoise", 0, 3, 2), ("edit", 0, 3, 0)]
    assert speed.totals.reopened == 1 and speed.totals.kv_write_passes == 0
    quality = run_audited(build_strategy("llada2.1-quality:block_size=3")[1], stream(0.4))
    assert passes(quality) == [("denoise", 0, 3, 1), ("denoise", 0, 3, 1), ("denoise", 0, 3, 1), ("edit", 0, 3, 0)]
    assert quality.totals.forced_commits == 1  # 1 stays at .6, below .7


def test_joint_threshold_stops_at_its_budget() -> None:
    restless = scripted_stream(4, 0.9, edit=lambda p, visit: 0.9 if p == 0 else 0.0)
    rows = passes(run_audited(build_strategy("joint-threshold:block_size=2,max_post_edit_steps=3")[1], restless))
    assert [row[0] for row in rows] == ["denoise", *["edit"] * 3, "denoise", "edit"]
    none = passes(run_audited(build_strategy("joint-threshold:block_size=2,max_post_edit_steps=0")[1], restless))
    assert [row[0] for row in none] == ["denoise"] * 2


def test_wide_in_narrow_out() -> None:
    """0, 1 and 2 pass .6 (three settled); 1 is taken back in the next pass, in which 3 (.5) is forced."""
    asked: set[int] = set()

    def edit(p: int, visit: int) -> float:
        if p == 1 and p not in asked:
            asked.add(p)
            return 0.3
        return 0.0

    text = scripted_stream(4, {0: (0.7,), 1: (0.8, 0.8), 2: (0.9,), 3: (0.5,)}, edit=edit)
    result = run_audited(build_strategy("wino:block_size=4")[1], text)
    assert passes(result) == [("denoise", 0, 8, 3), ("denoise", 0, 8, 1), ("denoise", 0, 8, 1)]
    assert result.ledger.positions[0].taken_back == [(1, 0, 1)]
    assert result.totals.forced_commits == 1 and result.kv_write == "none"
    capped = run_audited(build_strategy("wino:block_size=4,max_accept=1")[1], scripted_stream(4, 0.7, edit=edit))
    assert [row[3] for row in passes(capped)] == [1, 1, 1, 1]


def test_wide_in_narrow_out_keeps_no_cache() -> None:
    text = scripted_stream(6, 0.9, edit=lambda p, visit: 0.0)
    rows = list(run(build_strategy("wino:block_size=3")[1], text).ledger.rows())
    assert [(r["tokens"], r["recompute_tokens"]) for r in rows] == [(6, 0), (6, 3)]


def test_renoise() -> None:
    """Entropies fall from visit to visit; the canvas ends with one pass that changes nothing, then it is encoded."""
    text = scripted_stream(6, 0.5, entropy=lambda p, visit: max(0.0, 0.09 * (p - 2 * visit)), edit=lambda p, visit: 0.0)
    result = run_audited(build_strategy("diffusiongemma:block_size=4")[1], text, kv_write=None)
    # pass 1: 0 (0), 1 (.09; before it 0), 2 (.18; before it .09); .27 before 3 is too much. pass 2: 3 (.09). pass 3: -.
    assert passes(result) == [
        ("denoise", 0, 4, 3), ("denoise", 0, 4, 1), ("edit", 0, 4, 0), ("encode", 0, 4, 0),
        ("denoise", 4, 2, 1), ("denoise", 4, 2, 1), ("edit", 4, 2, 0), ("encode", 4, 2, 0),
    ]  # fmt: skip
    assert result.totals.kv_write_passes == 2
    assert result.totals.forced_commits == 2  # 4 and 5 exceed the budget alone and lead their passes


def test_renoise_at_its_cap() -> None:
    text = scripted_stream(8, 0.5, entropy=lambda p, visit: 9.0, edit=lambda p, visit: 0.0)
    rows = passes(run_audited(build_strategy("renoise:block_size=8,max_denoising_steps=3")[1], text, kv_write=None))
    assert rows == [("denoise", 0, 8, 1), ("denoise", 0, 8, 1), ("denoise", 0, 8, 6), ("encode", 0, 8, 0)]


def test_pipelined_blocks() -> None:
    """Blocks of 2: the second begins once a tenth of the first is done, and is semi-active until that is done."""
    text = scripted_stream(6, {0: (0.95,), 1: (0.2, 0.3, 0.4), 2: (0.5, 0.95), 3: (0.1,), 4: (0.95,), 5: (0.95,)})
    result = run_audited(build_strategy("d2f:block_size=2")[1], text)
    # 0 passes; then 1 is forced (first block), 2 does not pass (.5); then the first block is done: 2 passes; 4 and 5
    # come in with the next pass, in which 3 is forced.
    assert passes(result) == [("denoise", 0, 2, 1), ("denoise", 0, 4, 1), ("denoise", 2, 2, 1), ("denoise", 2, 4, 3)]
    assert result.totals.forced_commits == 2
    assert result.kv_write == "fused" and result.totals.kv_write_passes == 0


def test_pipelined_by_entropy() -> None:
    text = scripted_stream(4, 0.5, entropy=lambda p, visit: 0.1 * p)
    rows = passes(run_audited(build_strategy("d3llm:block_size=2,entropy_threshold=0.15")[1], text))
    assert rows == [("denoise", 0, 2, 2), ("denoise", 2, 2, 1), ("denoise", 2, 2, 1)]


def test_presets_have_the_published_settings() -> None:
    def of(name: str) -> Any:
        return build_strategy(name)[1]

    assert (of("sdar").block_size, of("sdar").denoising_steps, of("sdar").confidence_threshold) == (4, 4, 0.85)
    assert (of("clover").threshold, of("clover").block_size, of("clover").comparison) == (0.95, 32, "gt")
    assert (of("fast-dllm").threshold, of("fast-dllm-v2").sub_block_size) == (0.9, 8)
    assert (of("llada2.1-speed").threshold, of("llada2.1-speed").edit_threshold) == (0.5, 0.0)
    assert (of("diffusiongemma").block_size, of("diffusiongemma").max_denoising_steps) == (256, 48)
    assert (of("d3llm").entropy_threshold, of("d3llm").block_add_threshold) == (0.5, 0.1)
    assert log(2) > of("eb-sampler").gamma
