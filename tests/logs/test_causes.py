"""Causes of slow steps that stand in a log beside the figures of drafts: no captured graph, prompts in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.cost import Machine, price
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model
from logs.lines import decode, engine, v1
from logs.test_measured_cycle import FLAGS, ask

PREFILL = (
    "[2026-02-03 04:05:{second:02d} TP0] Prefill batch, #new-seq: 2, #new-token: {tokens}, #cached-token: 0, token "
    "usage: 0.11, #running-req: 4, #queue-req: 0,\n"
)


def test_lines_without_a_cuda_graph_are_counted(tmp_path: Path) -> None:
    lines = [decode(i, 100 + 160 * i, 160.0, 2.0, 0.33) for i in range(1, 5)]
    document, _ = ask(tmp_path, "".join(lines))
    assert document["sections"][0]["eager_share"] == 0 and not any("CUDA graph" in w for w in document["warnings"])
    lines[2:] = [line.replace("cuda graph: True", "cuda graph: False") for line in lines[2:]]
    document, _ = ask(tmp_path, "".join(lines))
    assert document["sections"][0]["eager_share"] == 0.5
    assert any("no CUDA graph in 50% of the lines" in w and "--cuda-graph-max-bs" in w for w in document["warnings"])
    none = [line.replace("cuda graph: True, ", "") for line in lines]
    assert ask(tmp_path, "".join(none[:2]))[0]["sections"][0]["eager_share"] is None


@pytest.mark.parametrize(
    ("start", "flag"),
    [
        ("non-default args: {'model': 'Qwen/Qwen3-8B', 'enforce_eager': True}", "--enforce-eager"),
        ("vllm serve Qwen/Qwen3-8B --enforce-eager", "--enforce-eager"),
        ("config: model='Qwen/Qwen3-8B', enforce_eager=True, kv_cache_dtype=auto", "--enforce-eager"),
    ],
)
def test_a_server_of_vllm_without_graphs(start: str, flag: str, tmp_path: Path) -> None:
    head = f"(APIServer pid=42) INFO 03-04 05:00:00 [utils.py:233] {start}\n".replace("] config:", "] with config:")
    head = head.replace("] with config:", "] Initializing a V1 LLM engine (v0.11.0) with config:")
    text = engine(960.0, 8) + v1(4000, [3200, 2400])
    warnings = ask(tmp_path, head + text)[0]["warnings"]
    assert any(f"captures no CUDA graphs ({flag}" in w and "--engine vllm-eager" in w for w in warnings), warnings
    without = ask(tmp_path, head.replace("enforce_eager=True", "enforce_eager=False") + text)[0]["warnings"]
    assert any("CUDA" in w for w in without) == ("enforce_eager=True" not in head)


def test_a_server_of_sglang_without_graphs(tmp_path: Path) -> None:
    head = "server_args=ServerArgs(model_path='Qwen/Qwen3-8B', speculative_algorithm='EAGLE3', disable_cuda_graph={})\n"
    lines = "".join(decode(i, 100 + 160 * i, 160.0, 2.0, 0.33) for i in range(1, 5)).replace("cuda graph: True, ", "")
    assert any("--disable-cuda-graph" in w for w in ask(tmp_path, head.format(True) + lines)[0]["warnings"])
    assert not any("CUDA" in w for w in ask(tmp_path, head.format(False) + lines)[0]["warnings"])


@pytest.mark.parametrize("layout", ["0.9", "modern"])
def test_prompts_beside_the_decoding(layout: str, tmp_path: Path) -> None:
    """Their share of the time is that of their pieces, priced one by one."""
    text = (engine(960.0, 8) + v1(4000, [3200, 2400], layout=layout)).replace("throughput: 12.0", "throughput: 9000.0")
    document, _ = ask(tmp_path, text, *FLAGS)
    (section,) = document["sections"]
    machine = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), load_engine("vllm"))
    piece_s = price(machine, PassShape(Kind.PREFILL, (2048,), 0)).latency_s
    share = 9000 / 2048 * piece_s
    assert section["prompt_tokens_per_s"] == 9000 and section["prediction"]["prompt_share"] == pytest.approx(share)
    assert any(f"9,000 tokens/s, about {share:.0%} of the time by price" in w for w in document["warnings"])
    assert any("9,000 tokens/s:" in w for w in ask(tmp_path, text)[0]["warnings"])
    quiet = ask(tmp_path, text.replace("9000.0", "12.0"), *FLAGS)[0]
    assert not any("prompts are processed" in w for w in quiet["warnings"])


def test_prompts_between_decode_lines(tmp_path: Path) -> None:
    """300 tokens of prompts in two windows of a second each."""
    text = decode(1, 1000, 160.0, 2.0, 0.33, running=4) + PREFILL.format(second=1, tokens=200)
    text += decode(2, 1400, 160.0, 2.0, 0.33, running=4) + PREFILL.format(second=2, tokens=100)
    text += decode(3, 1700, 160.0, 2.0, 0.33, running=4) + PREFILL.format(second=3, tokens=5000)
    (section,) = ask(tmp_path, text)[0]["sections"]
    assert section["prompt_tokens_per_s"] == pytest.approx(150)


def test_a_low_rate_of_long_drafts_is_told_from_a_poor_drafter(tmp_path: Path) -> None:
    """One token in two is no poor drafter: seven drafts are too many for it. One in ten is."""
    long = ask(tmp_path, v1(10000, [5000, 2500, 1250, 625, 312, 156, 78]))[0]["warnings"]
    assert any("accepted with 0.50 once those before it are" in w and "draft less" in w for w in long)
    poor = ask(tmp_path, v1(10000, [1000, 100, 10]))[0]["warnings"]
    assert any("low acceptance" in w and "belong together" in w and "draft less" not in w for w in poor)
