"""``clover-sim speculate --from-log``: what a log states is taken, said with its place, and flags win."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.harness import cli

START = (
    "(APIServer pid=42) INFO 03-04 05:00:00 [utils.py:233] non-default args: {'model': 'Qwen/Qwen3-8B-FP8', "
    "'tensor_parallel_size': 2, 'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 2}}\n"
)
LOAD = (
    "(APIServer pid=42) INFO 03-04 05:06:07 [loggers.py:271] Engine 000: Avg prompt throughput: 12.0 tokens/s, Avg "
    "generation throughput: 96.0 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.5%\n"
)
WINDOW = (
    "(APIServer pid=42) INFO 03-04 05:06:07 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.40, "
    "Accepted throughput: 56.00 tokens/s, Drafted throughput: 80.00 tokens/s, Accepted: 560 tokens, Drafted: 800 "
    "tokens, Per-position acceptance rate: 0.800, 0.600, Avg Draft acceptance rate: 70.0%\n"
)
TREE = (
    "server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', speculative_algorithm='EAGLE3', "
    "speculative_num_steps=5, speculative_eagle_topk=8, speculative_num_draft_tokens=32)\n"
    + "".join(
        f"[2026-02-03 04:05:0{second} TP0] Decode batch. #running-req: 1, #token: {tokens}, token usage: 0.01, accept "
        f"len: 3.20, accept rate: 0.10, cuda graph: True, gen throughput (token/s): 160.00, #queue-req: 0, \n"
        for second, tokens in ((1, 100), (2, 260), (3, 420))
    )
)


def asked(tmp_path: Path, text: str, *flags: str) -> dict[str, Any]:
    log = tmp_path / "server.log"
    log.write_text(text)
    done = cli("speculate", "--from-log", str(log), *flags, "--format", "json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_all_that_the_log_states(tmp_path: Path) -> None:
    found = asked(tmp_path, START + LOAD + WINDOW, "--gpu", "h100")
    assert (found["model"], found["precision"], found["cards"]) == ("qwen3-8b", "fp8", 2)
    assert (found["engine"], found["method"], found["num_speculative_tokens"]) == ("vllm", "mtp", 2)
    assert found["batch_size"] == 4 and found["acceptance"]["acceptance_length"] == pytest.approx(2.4)
    places = {row["name"]: row["where"].rpartition("server.log:")[2] for row in found["from_log"]}
    assert places["--model"] == places["--method"] == "1" and places["--engine"] == places["--batch-size"] == "2 to 3"


def test_flags_win_and_are_not_said_to_be_the_logs(tmp_path: Path) -> None:
    flags = ("--gpu", "h100", "--model", "llama-3.1-8b", "--method", "eagle3", "--engine", "sglang",
             "--batch-size", "1", "--num-speculative-tokens", "1", "--tensor-parallel-size", "1")  # fmt: skip
    found = asked(tmp_path, START + LOAD + WINDOW, *flags)
    assert (found["model"], found["precision"], found["cards"]) == ("llama-3.1-8b", "bf16", 1)
    assert (found["engine"], found["method"], found["batch_size"]) == ("sglang", "eagle3", 1)
    assert found["num_speculative_tokens"] == 1
    assert found["acceptance"]["per_position_survival"] == pytest.approx([0.8])
    assert {row["name"] for row in found["from_log"]} == {"acceptance", "cycle time"}


def test_a_tree_keeps_its_shape(tmp_path: Path) -> None:
    found = asked(tmp_path, TREE, "--gpu", "h100")
    assert (found["method"], found["verify_width"], found["num_speculative_tokens"]) == ("eagle-tree", 32, 5)
    assert found["draft_widths"] == [1, 8, 8, 8, 8]
    assert found["acceptance"]["acceptance_length"] == pytest.approx(3.2)


def test_n_grams_bring_their_hit_rate(tmp_path: Path) -> None:
    """Half of the passes had a draft: 192 tokens a window of 10 s at 4 requests, 1 token for each without."""
    start = START.replace("'mtp'", "'ngram'")
    found = asked(tmp_path, start + LOAD.replace("96.0", "136.0") + WINDOW, "--gpu", "h100")
    assert found["method"] == "ngram" and found["hit_rate"] == pytest.approx(0.5)
    assert found["tokens_per_cycle"] == pytest.approx(1 + 0.5 * 1.4)


def test_a_rate_alone_needs_the_draft_length(tmp_path: Path) -> None:
    text = "INFO 03-04 05:06:07 [metrics.py:53] SpecDecoding metrics: Draft acceptance rate: 70.0%, "
    text += "Accepted: 560 tokens, Drafted: 800 tokens\n"
    found = asked(tmp_path, text, "--model", "qwen3-8b", "--gpu", "h100", "--num-speculative-tokens", "2")
    assert found["acceptance"]["acceptance_length"] == pytest.approx(2.4)
    done = cli("speculate", "--from-log", str(tmp_path / "server.log"), "--model", "qwen3-8b", "--gpu", "h100")
    assert done.returncode == 3 and "draft length" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--clustering", "0.8,0.7", "--rho", "0.9"), "--rho goes with"),
        (("--alpha", "0.7", "--hit-rate", "0.5"), "belongs to ngram"),
        (("--alpha", "0.7", "--from-log", "x.log"), "give one of them"),
        (("--from-log", "no-such.log"), "No such file"),
    ],
)
def test_refusals(flags: tuple[str, ...], words: str) -> None:
    done = cli("speculate", *flags)
    assert done.returncode in (2, 3) and words in done.stderr and done.stderr.count("\n") == 1


def test_rho_draws_the_positions_of_a_list_on() -> None:
    lengths = []
    for rho in ("1", "0.9"):
        flags = ("--per-position", "0.8,0.64", "--num-speculative-tokens", "4", "--rho", rho)
        lengths.append(json.loads(cli("speculate", *flags, "--format", "json").stdout)["acceptance"])
    assert lengths[0]["conditional"] == pytest.approx([0.8] * 4)
    assert lengths[1]["conditional"] == pytest.approx([0.8, 0.8, 0.72, 0.648])
