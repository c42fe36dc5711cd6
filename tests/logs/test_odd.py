"""Logs with figures no server has, and lines made to take for ever: never an inf, an internal error or a hang."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cost import Machine, cost_model
from clover_sim.errors import InputError
from clover_sim.explain import Asked, explain
from clover_sim.logs._text import number, rates, real
from clover_sim.specs import load_engine, load_hardware, load_model

ENGINE = (
    "INFO 01-02 03:04:05 [loggers.py:116] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
    "50.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n"
)
WINDOW = (
    "INFO 01-02 03:04:05 [metrics.py:86] SpecDecoding metrics: Mean acceptance length: 3.25, Accepted throughput: "
    "10.00 tokens/s, Drafted throughput: 20.00 tokens/s, Accepted: 225 tokens, Drafted: 300 tokens, Per-position "
    "acceptance rate: 0.900, 0.800, 0.550, Avg Draft acceptance rate: 75.0%\n"
)
PAGE = (
    'vllm:spec_decode_num_drafts_total{{engine="0"}} {0}\nvllm:spec_decode_num_draft_tokens_total{{engine="0"}} {1}\n'
    'vllm:spec_decode_num_accepted_tokens_total{{engine="0"}} {2}\nvllm:generation_tokens_total{{engine="0"}} {3}\n'
    'vllm:request_decode_time_seconds_sum{{engine="0"}} {4}\nvllm:num_requests_running{{engine="0"}} {5}\n'
)
ODD = ("1e308", "1e-320", "1e999", "-5", "nan", "inf", "0", "9" * 40, "9" * 5000)


def said(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "log"
    path.write_text(text)
    machine = Machine(load_model("qwen3-8b"), load_hardware("h100"), load_engine("vllm"))
    found = explain([str(path)], asked=Asked(cost_model("roofline", machine))).to_dict()
    json.dumps(found, allow_nan=False)
    assert " inf" not in " ".join(found["warnings"]) + found["verdict"]
    return found


@pytest.mark.parametrize("odd", ODD, ids=lambda text: text[:8])
def test_odd_figures_in_any_place(odd: str, tmp_path: Path) -> None:
    texts = [ENGINE + WINDOW.replace(usual, odd, 1)
             for usual in ("3.25", "10.00", "20.00", "225", "300", "0.900", "75.0")]  # fmt: skip
    texts += [ENGINE.replace(usual, odd, 1) + WINDOW for usual in ("50.0", "Running: 1"[9:], "0 reqs"[:1])]
    usual = ["100", "300", "150", "400", "10", "2"]
    texts += [PAGE.format(*usual[:i], odd, *usual[i + 1 :]) for i in range(6)] + [PAGE.format(*[odd] * 6)]
    for text in texts:
        try:
            said(tmp_path, text)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("value", [10**400, -1, 1e-320, 1e308, float("nan"), "x", [1], {"a": 1}, True, None])
def test_odd_figures_in_json(value: object, tmp_path: Path) -> None:
    usual = {
        "completed": 10, "total_output_tokens": 1000, "output_throughput": 50.0, "mean_tpot_ms": 5, "duration": 20,
        "spec_decode_num_drafts": 100, "spec_decode_draft_tokens": 300, "spec_decode_accepted_tokens": 150,
        "accept_length": 2.5, "spec_decode_acceptance_rate": 50.0,
    }  # fmt: skip
    for key in usual:
        try:
            said(tmp_path, json.dumps({**usual, key: value}))
        except InputError as error:
            assert "\n" not in str(error)


def test_what_no_count_rate_or_time_can_be_is_unknown() -> None:
    assert [number(text) for text in ("-1", "1e300", "1e-300", "nan", "inf", "0")] == [None] * 5 + [0.0]
    assert [real(value) for value in (-1, 10**400, 1e300, 5e-324, 0)] == [None] * 4 + [0.0]
    assert rates("0.9, 1.5") is None and rates("1.0, 0.5") == [1.0, 0.5]


@pytest.mark.parametrize(
    "line",
    [
        "\x1b]" * 200_000 + " SpecDecoding metrics: ", '{"' + '\\"' * 300_000, "Avg generation throughput: " * 30_000,
        "Avg prompt throughput: " * 700 + "Avg generation throughput: " * 500,
        "\x1b]" * 8000 + "SpecDecoding metrics: ",
        "SpeculativeConfig(method='x'" * 1100, "SpeculativeConfig(method='x'" * 50_000, "(pid=" * 300_000,
        "SpecDecoding metrics: A" + " " * 30_000, "{" * 1_000_000, '{"a":' * 100_000,
        "SpecDecoding metrics: Accepted: " + "9" * 5000 + " tokens",
    ],
    ids=range(12),
)  # fmt: skip
def test_no_line_takes_for_ever(line: str, tmp_path: Path) -> None:
    started = time.process_time()
    assert said(tmp_path, f"{line}\n{ENGINE}{WINDOW}")["cycles"] == 100
    assert time.process_time() - started < 5
