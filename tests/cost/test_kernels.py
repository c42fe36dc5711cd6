"""Steps of measured GPU kernels, priced without a host.

Facts: decode steps of ai-dynamo/aiconfigurator 0.12 (Apache-2.0), sums over its measured kernel tables at exact
context. A kernel table is itself within 10 % (dense) and 25 % (mixture) of a real step; so are the bounds here.
"""

from __future__ import annotations

import statistics

import pytest

from clover_sim.cost import Machine, price
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model

# model, GPU, weights, cache, cards, sequences, context of each, measured ms
DENSE = [
    ("llama-3.1-70b", "h100", "fp8", "fp8", 2, 128, 1024, 24.727),
    ("llama-3.1-70b", "h200", "bf16", "bf16", 4, 1, 8192, 12.587),
    ("llama-3.1-70b", "b200", "bf16", "bf16", 4, 32, 1024, 11.075),
    ("llama-3.1-70b", "gb300", "bf16", "bf16", 4, 1, 1024, 9.176),
    ("llama-3.1-70b", "a100-80gb", "bf16", "bf16", 4, 1, 8192, 28.34),
    ("llama-3.1-70b", "l40s", "fp8", "fp8", 4, 1, 1024, 33.513),
    ("qwen3-32b", "h200", "fp8", "fp8", 1, 8, 1024, 12.696),
    ("qwen3-32b", "gb300", "bf16", "bf16", 2, 32, 8192, 13.002),
    ("qwen3-32b", "a100-80gb", "bf16", "bf16", 2, 128, 1024, 43.632),
    ("qwen3-32b", "rtx-pro-6000", "bf16", "bf16", 1, 1, 1024, 46.075),
    ("qwen3-8b", "h200", "fp8", "bf16", 1, 1, 8192, 4.357),
    ("qwen3-8b", "b200", "fp8", "bf16", 1, 32, 8192, 8.642),
    ("qwen3-8b", "l40s", "bf16", "bf16", 1, 32, 1024, 31.838),
    ("qwen3.5-27b", "h200", "bf16", "bf16", 1, 8, 1024, 15.903),
    ("qwen3.5-27b", "b200", "bf16", "bf16", 1, 1, 8192, 10.158),
    ("qwen3-0.6b", "h100", "bf16", "bf16", 1, 128, 1024, 6.641),
    ("qwen3-0.6b", "b200", "bf16", "bf16", 1, 32, 1024, 1.651),
    ("qwen3-1.7b", "h100", "bf16", "bf16", 1, 1, 8192, 2.355),
]
MIXTURE = [
    ("qwen3.6-35b-a3b", "h200", "bf16", "bf16", 1, 1, 32768, 3.836),
    ("qwen3.6-35b-a3b", "b200", "fp8", "bf16", 1, 128, 1024, 11.212),
    ("qwen3-30b-a3b", "b200", "bf16", "bf16", 1, 32, 1024, 9.544),
    ("gpt-oss-120b", "gb300", "mxfp4", "bf16", 2, 1, 8192, 2.596),
    ("gpt-oss-120b", "h100", "mxfp4", "bf16", 1, 128, 1024, 26.803),
    ("gpt-oss-20b", "h100", "mxfp4", "bf16", 1, 32, 1024, 6.936),
    ("mixtral-8x7b", "h100", "fp8", "bf16", 1, 8, 1024, 17.901),
    ("qwen3.5-122b-a10b", "b200", "nvfp4", "fp8", 1, 1, 8192, 3.934),
    ("qwen3.5-397b-a17b", "h200", "fp8", "bf16", 8, 128, 1024, 22.565),
    ("deepseek-v3", "b200", "nvfp4", "fp8", 8, 1, 1024, 6.279),
]
Row = tuple[str, str, str, str, int, int, int, float]


def ratio(row: Row) -> float:
    model, gpu, precision, cache, cards, sequences, context, measured_ms = row
    machine = Machine(load_model(model), load_hardware(gpu), load_engine("kernels"), precision, cache, cards)
    shape = PassShape(Kind.DECODE, (1,) * sequences, context * sequences)
    return price(machine, shape).latency_s * 1e3 / measured_ms


@pytest.mark.parametrize("row", DENSE, ids=lambda row: "-".join(map(str, row[:7])))
def test_dense_steps(row: Row) -> None:
    assert ratio(row) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("row", MIXTURE, ids=lambda row: "-".join(map(str, row[:7])))
def test_mixture_steps(row: Row) -> None:
    assert ratio(row) == pytest.approx(1, abs=0.30)


def test_the_median_error_is_small() -> None:
    assert statistics.median(abs(ratio(row) - 1) for row in DENSE) < 0.06
    assert statistics.median(abs(ratio(row) - 1) for row in MIXTURE) < 0.13
