"""Laws that hold between two runs of a command, whatever the numbers are: tried on the command line itself."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from typing import Any

import pytest

from clover_sim.cli import main

GPU = """memory_gb = {memory}
memory_bandwidth_gbs = {bandwidth}
bf16_tflops = {tflops}
fp8_tflops = {fp8}
interconnect_gbs = 900
price_usd_per_hour = {price}
"""
BASE = {"memory": 141, "bandwidth": 4800, "tflops": 989, "fp8": 1979, "price": 4}
BETTER = [{"bandwidth": 9600}, {"tflops": 1978, "fp8": 3958}, {"memory": 282}]


@cache
def run(*arguments: str) -> Any:
    """The JSON document of a command, worked out once."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*arguments, "--format", "json"])
    assert code == 0, err.getvalue()
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Writes a card; ``gpu(bandwidth=9600)`` changes one of its figures."""
    folder = tmp_path_factory.mktemp("cards")

    def write(**changes: float) -> str:
        path = folder / f"gpu-{'-'.join(f'{k}={v}' for k, v in changes.items()) or 'base'}.toml"
        path.write_text(GPU.format(**{**BASE, **changes}))
        return str(path)

    return write


SECONDS: dict[str, tuple[tuple[str, ...], Any]] = {
    "compare": (("compare", "--tokens", "300"), lambda d: [row["latency_s"] for row in d["rows"]]),
    "price": (("price", "--width", "1,32", "--batch-size", "1,64"), lambda d: [p["latency_s"] for p in d["passes"]]),
    "agent": (("agent", "--tasks", "5"), lambda d: [row["task_s_median"] for row in d["rows"]]),
    "serve": (
        ("serve", "--requests", "12", "--pool", "6", "--ladder", "1,8,64"),
        lambda d: [1 / s["tokens_per_s"] for row in d["ladder"] for s in row["strategies"].values()],
    ),
    "speculate": (
        ("speculate", "--alpha", "0.7", "--num-speculative-tokens", "3"), lambda d: [d["plain_step_s"], d["cycle_s"]],
    ),
    "sweep": (("sweep", "--vary", "threshold=0.8,0.95", "--tokens", "200"),
              lambda d: [1 / row["tokens_per_s"] for row in d["rows"]]),
}  # fmt: skip
"""Each command that prices, and the times in its document."""


@pytest.mark.parametrize("changes", BETTER, ids=lambda c: next(iter(c)))
@pytest.mark.parametrize("command", SECONDS)
def test_a_better_card_is_never_slower(command: str, changes: dict[str, float], gpu: Any) -> None:
    arguments, seconds = SECONDS[command]
    model = ("--model", "qwen3-30b-a3b")
    before, after = (seconds(run(*arguments, *model, "--gpu", card)) for card in (gpu(), gpu(**changes)))
    assert len(before) == len(after) > 0
    assert all(b <= a * (1 + 1e-9) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("strategy", ["ar", "block-diffusion", "speculative", "ngram", "eagle-tree"])
def test_a_batch_of_one_is_the_request_alone(strategy: str) -> None:
    alone = run("compare", "-s", strategy, "--tokens", "200", "--profile", "chat")["rows"]
    batch = run("compare", "-s", strategy, "--tokens", "200", "--profile", "chat", "--batch-size", "1")["rows"]
    assert alone == batch


@pytest.mark.parametrize("strategy", ["speculative", "draft-model", "eagle3", "mtp", "dflash"])
def test_drafts_that_are_all_rejected_cost_at_least_plain_decoding(strategy: str) -> None:
    document = run("compare", "-s", "ar", "-s", f"{strategy}:acceptance=0", "--tokens", "200", "--profile", "chat")
    plain, drafted = document["rows"]
    assert drafted["target_passes"] == plain["target_passes"] == 200
    assert drafted["latency_s"] >= plain["latency_s"]
    none = run("speculate", "--method", "eagle3", "--alpha", "0", "--num-speculative-tokens", "3")
    assert none["speedup"] <= 1 and none["tokens_per_cycle"] == 1


def test_units_convert_round(gpu: Any) -> None:
    """Seconds and milliseconds, GB and bytes, tokens a second and seconds say the same."""
    row = run("compare", "-s", "block-diffusion", "--tokens", "300", "--gpu", gpu())["rows"][0]
    assert row["ms_per_pass"] * row["target_passes"] == pytest.approx(row["latency_s"] * 1e3)
    assert row["tokens"] / row["tokens_per_s"] == pytest.approx(row["latency_s"])
    card = run("price", "--gpu", gpu())["hardware"]
    assert (card["memory_bytes"], card["bandwidth_bytes_per_s"]) == (141_000_000_000, 4_800e9)
    assert card["bf16_flop_per_s"] == 989e12


def test_a_dearer_card_costs_more_in_proportion_and_takes_as_long(gpu: Any) -> None:
    cheap, dear = (run("agent", "--tasks", "20", "--gpu", gpu(price=price))["rows"] for price in (2, 6))
    for a, b in zip(cheap, dear, strict=True):
        assert b["usd_per_task"] == pytest.approx(3 * a["usd_per_task"])
        assert b["task_s_median"] == a["task_s_median"]


def test_twice_the_tokens_take_twice_the_passes_of_plain_decoding() -> None:
    one, two = (run("compare", "-s", "ar", "--tokens", n)["rows"][0] for n in ("150", "300"))
    assert two["target_passes"] == 2 * one["target_passes"]
    assert two["latency_s"] > 2 * one["latency_s"] * (1 - 1e-9)  # later tokens read more cache


def test_a_higher_threshold_never_saves_passes_or_adds_forced_commits() -> None:
    cells = run("sweep", "-s", "block-diffusion", "--vary", "threshold=0.6:0.99:0.03", "--tokens", "600",
                "--profile", "chat")["rows"]  # fmt: skip
    passes = [cell["target_passes"] for cell in cells]
    assert passes == sorted(passes)
