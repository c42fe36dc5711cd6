"""Questions asked in public about traces and tokens per pass, answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clover_sim.cost import Machine, cost_model
from clover_sim.physics.extremes import mixed_stream
from clover_sim.recordings import replays
from clover_sim.registry import build_strategy
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.trace_comparison import compare_recordings
from core.scripted import run_audited
from traces.test_forms import write

# NVlabs/Fast-dLLM#45: a loop that never ended when no token reached the threshold; written to the rule with fallback.
N = None
NONE_OVER = [
    [0.62, 0.91, 0.4, 0.55, 0.71, 0.33, 0.8, 0.47], [0.7, N, 0.52, 0.58, 0.74, 0.41, 0.88, 0.5],
    [0.75, N, 0.6, 0.66, 0.79, 0.48, N, 0.61], [0.77, N, 0.63, 0.7, N, 0.55, N, 0.66],
    [N, N, 0.72, 0.74, N, 0.6, N, 0.69], [N, N, 0.8, N, N, 0.66, N, 0.71], [N, N, N, N, N, 0.73, N, 0.78],
    [N, N, N, N, N, 0.94, N, N],
]  # fmt: skip
MIXED = [
    [0.99, 0.97, 0.4, 0.62, 0.96, 0.33, 0.71, 0.5], [N, N, 0.81, 0.9, N, 0.66, 0.94, 0.73],
    [N, N, 0.96, 0.97, N, 0.88, N, 0.91], [N, N, N, N, N, 0.955, N, 0.99],
]  # fmt: skip
AT_ONCE = [[0.99, 0.98, 0.97, 0.99, 0.96, 0.99, 0.999, 0.96]]


@pytest.mark.parametrize(("rows", "passes", "fallbacks"), [(NONE_OVER, 8, 8), (MIXED, 4, 1), (AT_ONCE, 1, 0)])
def test_how_many_passes_do_these_blocks_take(tmp_path: Path, rows: Any, passes: int, fallbacks: int) -> None:
    [replay] = replays(write(tmp_path / "t.json", {"block_size": 8, "threshold": 0.95, "passes": rows}, indent=2))
    plain = run_audited(replay.decoder, replay.stream).totals
    assert (plain.target_passes, plain.forced_commits) == (passes, fallbacks)
    assert run_audited(replay.decoder, replay.stream, kv_write="separate").totals.target_passes == passes + 1


def test_padding_is_paid_for_and_is_no_output() -> None:
    """hao-ai-lab/d3LLM#1: 256 passes for a canvas of 256 that holds 180 useful tokens are 0.703 tokens a pass."""
    _, one = build_strategy("fixed-steps:tokens_per_pass=1")
    totals = run_audited(one, mixed_stream(180), max_new_tokens=256, eos_stop="canvas", kv_write="none").totals
    assert totals.target_passes == 256 and totals.tokens / totals.target_passes == pytest.approx(0.703, abs=0.001)
    assert (totals.tokens + totals.padding) / totals.target_passes == 1


def test_a_short_answer_pays_for_the_whole_canvas(tmp_path: Path) -> None:
    """ggml-org/llama.cpp#24423: 96 tokens asked, 21 passes of 216.72 ms over a canvas of 256."""
    path = write(tmp_path / "t.json", {"block_steps_list": [21], "block_size": 256, "output_len": 96})
    hardware, engine = load_hardware("l4"), load_engine("llama.cpp")
    machine = Machine(load_model("diffusiongemma-26b-a4b"), hardware, engine, precision="int4")
    [row] = compare_recordings(path, cost=cost_model("fixed:pass_ms=216.72", machine)).rows
    assert row["latency_s"] == pytest.approx(4.551, abs=0.005)
    assert row["tokens_per_s"] == pytest.approx(21.1, abs=0.1)
    assert row["tokens_per_pass"] == pytest.approx(4.57, abs=0.01)
