"""A cycle that no line states follows from requests, tokens a pass and speed, in every layout of every engine."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from logs.lines import BENCH, BENCH_SPEC, engine, v0, v1

FLAGS = ("--model", "llama-3.1-8b", "--gpu", "h100", "--method", "eagle3")


def ask(tmp_path: Path, text: str, *flags: str, command: str = "explain") -> tuple[Any, str]:
    log = tmp_path / "server.log"
    log.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    where = [str(log)] if command == "explain" else ["--from-log", str(log)]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main([command, *where, *flags, "--format", "json"]) == 0, err.getvalue()
    return json.loads(out.getvalue()), err.getvalue()


def sglang(running: int, speed: float, length: float, stamps: bool = True) -> str:
    lines = [
        f"Decode batch, #running-req: {running}, #token: {2000 + 900 * i}, token usage: 0.10, accept len: "
        f"{length:.2f}, accept rate: {(length - 1) / 3:.2f}, cuda graph: True, gen throughput (token/s): {speed:.2f}, "
        "#queue-req: 0, \n"
        for i in range(4)
    ]
    return "".join(f"[2026-02-03 04:05:0{i}] {line}" if stamps else line for i, line in enumerate(lines))


TRTLLM = """\
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     2.0000
Total Output Throughput (tokens/sec):             400.0000
Per User Output Speed (tps/user):                 100.0000
===========================================================
= DECODING STATISTICS (Eagle3)
===========================================================
[DT] Average: 300.00
[ADT] Average: 100.00
[DAR] Average: 0.3333
[AL] Average: 2.00
"""
WITHOUT_TPOT = BENCH.format(output=1000, speed=50.0).replace("Mean TPOT (ms):                          8.00\n", "")

K2 = ("--num-speculative-tokens", "2")

LAYOUTS = {  # text, flags, tokens a pass, requests, tokens/s
    "vllm 0.9": (engine(96.0, 1) + v1(612, [227, 121], layout="0.9"), (), 1 + 348 / 612, 1, 96.0),
    "vllm 0.8": (engine(96.0, 1) + v1(612, [227, 121], layout="0.8"), K2, 1 + 348 / 612, 1, 96.0),
    "vllm first": (
        engine(96.0, 1).replace("(APIServer pid=42) ", "") + v1(612, [227, 121], layout="first"), K2, 1 + 348 / 612, 1,
        96.0,
    ),
    "vllm modern": (engine(480.0, 5) + v1(3060, [1135, 605]), (), 1 + 1740 / 3060, 5, 480.0),
    "vllm V0": (
        "INFO 02-03 04:05:06 metrics.py:467] Avg prompt throughput: 5.0 tokens/s, Avg generation throughput: "
        "96.0 tokens/s, Running: 2 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 1.0%, CPU KV "
        "cache usage: 0.0%.\n"
        + v0(2, 348, 1224, 960), (), 960 / 612, 2, 96.0,
    ),
    "sglang": (sglang(4, 160.0, 2.0), (), 2.0, 4, 160.0),
    "sglang without stamps": (sglang(4, 160.0, 2.0, stamps=False), ("--num-speculative-tokens", "3"), 2.0, 4, 160.0),
    "sglang script": ("Accept length: 2.00\n", ("--num-speculative-tokens", "3"), 2.0, None, None),
    "script with a batch": (
        "batch_size=4, input_len=1024, acc_length=2.00, output_throughput=160.00\n", ("--num-speculative-tokens", "3"),
        2.0, 4, 160.0,
    ),
    "script, batch given": (
        "#questions: 8, Throughput: 160.00 token/s, Acceptance length: 2.00\n",
        ("--num-speculative-tokens", "3", "--batch-size", "4"), 2.0, 4, 160.0,
    ),
    "sglang page": (
        "sglang:gen_throughput 160.0\nsglang:spec_accept_length 2.0\nsglang:num_running_reqs 4\n"
        "sglang:spec_num_draft_tokens 4\n", (), 2.0, 4, 160.0,
    ),
    "trtllm": (TRTLLM, (), 2.0, 1, 100.0),
    "bench without a time a token": (
        WITHOUT_TPOT + "Concurrency:                             2.00\n" + BENCH_SPEC, (), 2.5, 2, 50.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_has_its_cycle(name: str, tmp_path: Path) -> None:
    text, flags, tokens, running, speed = LAYOUTS[name]
    machine = FLAGS if "--batch-size" in flags else ()
    document, _ = ask(tmp_path, text, *flags, *machine)
    (section,) = (s for s in document["sections"] if s["speculative"])
    assert section["tokens_per_pass"] == pytest.approx(tokens, rel=0.01)
    expected = None if running is None else running * tokens / speed
    assert section["cycle_time_s"] == (expected and pytest.approx(expected, rel=0.01))


@pytest.mark.parametrize("layout", ["0.9", "september", "modern", "depth"])
def test_a_log_slower_than_plain_decoding_never_pays(layout: str, tmp_path: Path) -> None:
    """96 tokens/s are 0.68 of the 140 that a plain step gives: whatever the layout, both commands take it so."""
    text = engine(96.0, 1) + v1(612, [227, 121], layout=layout)
    document, _ = ask(tmp_path, text, *FLAGS)
    (section,) = document["sections"]
    plain = section["prediction"]["plain_tokens_per_s"]
    assert plain > 130
    assert section["estimated"]["speedup"] == pytest.approx(96.0 / plain, rel=0.01)
    answer, _ = ask(tmp_path, text, *FLAGS, command="speculate")
    assert answer["speedup"] == pytest.approx(96.0 / plain, rel=0.01)
    for verdict in (document["verdict"], answer["verdict"]):
        assert "Speculation pays" not in verdict and "cannot be told" in verdict and "--baseline" in verdict
    measured, _ = ask(tmp_path, text, *FLAGS, "--baseline", "140")
    assert measured["verdict"].startswith("Speculation is slower than plain decoding, 0.69x")


def test_a_speed_without_tokens_a_pass_still_tells_the_gain(tmp_path: Path) -> None:
    """Passes without a draft fill the window: what a pass writes is unknown, what a second writes is not."""
    text = engine(300.0, 1) + v1(100, [40, 20], layout="0.9")
    document, _ = ask(tmp_path, text, *FLAGS)
    (section,) = document["sections"]
    assert section["tokens_per_pass"] is None and section["cycle_time_s"] is None
    plain = section["prediction"]["plain_tokens_per_s"]
    assert section["estimated"] is None  # twice the speed of plain decoding with 1.6 tokens a pass did not run here
    slow = text.replace("300.0", "120.0")
    (section,) = ask(tmp_path, slow, *FLAGS)[0]["sections"]
    assert section["estimated"]["speedup"] == pytest.approx(120.0 / plain, rel=1e-6)
    assert section["verdict"].startswith(f"Speculation ran at {120.0 / plain:.2f}x of the predicted plain step")
    _, err = ask(tmp_path, slow, *FLAGS, command="speculate")
    assert "not how many tokens a pass wrote" in err


@pytest.mark.parametrize(
    "text",
    ["#questions: 8, Throughput: 1600.00 token/s, Acceptance length: 2.00\n", v1(4000, [3200, 2400, 1600])],
    ids=["script", "window alone"],
)
def test_a_speed_of_an_unknown_number_of_requests_gives_no_verdict(text: str, tmp_path: Path) -> None:
    k = ("--num-speculative-tokens", "3")
    document, _ = ask(tmp_path, text, *FLAGS, *k)
    assert document["verdict"].startswith("Whether speculation pays cannot be told")
    assert "give --batch-size" in document["verdict"] and "Speculation pays" not in document["verdict"]
    given, _ = ask(tmp_path, text, *FLAGS, *k, "--batch-size", "8")
    assert "give --batch-size" not in given["verdict"] and given["sections"][0]["cycle_time_s"]
    _, err = ask(tmp_path, text, *FLAGS, *k, command="speculate")
    assert "give --batch-size" in err and err.count("\n") == 1


def test_a_cycle_that_is_stated_stays(tmp_path: Path) -> None:
    """A benchmark's time a token is of decoding alone, its throughput is not."""
    text = BENCH.format(output=1000, speed=50.0) + BENCH_SPEC
    (section,) = ask(tmp_path, text)[0]["sections"]
    assert section["cycle_time_s"] == pytest.approx(8e-3 * 2.5)
