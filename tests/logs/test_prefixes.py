"""What stands before a line changes no figure, and keeps lines of different writers apart."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from clover_sim.logs import Section
from clover_sim.logs._prefix import split_prefix
from logs.lines import decode, engine, one, read, v0, v1

WINDOWS = engine(280.0, 4) + v1(1000, [800, 600, 400]) + engine(281.0, 4) + v1(500, [400, 300, 200])
LLAMA = """\
slot print_timing: id  0 | task 7 |
prompt eval time =     300.00 ms /    30 tokens (   10.00 ms per token,   100.00 tokens per second)
       eval time =    2000.00 ms /   281 tokens (    7.12 ms per token,   140.50 tokens per second)
draft acceptance rate = 0.60000 (  180 accepted /   300 generated)
"""
PAGE = """\
vllm:spec_decode_num_drafts_total{engine="0"} 100.0
vllm:spec_decode_num_draft_tokens_total{engine="0"} 300.0
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 180.0
"""
REPORT = """\
============ Serving Benchmark Result ============
Successful requests:                     10
Total generated tokens:                  290
Output token throughput (tok/s):         140.50
---------------Speculative Decoding---------------
Drafts:                                  100
Draft tokens:                            300
Accepted tokens:                         180
==================================================
"""
SCRIPT = "num_drafts: 100\nnum_draft_tokens: 300\nnum_accepted_tokens: 180\n"
TEXTS = {"windows": WINDOWS, "v0": v0(4, 2800, 4000, 3100), "llama": LLAMA, "page": PAGE, "report": REPORT,
         "script": SCRIPT}  # fmt: skip
PREFIXES = (
    "2026-01-02T03:04:05.123456789Z ", "2026-01-02T03:04:05Z stdout F ", "web-1             | 2026-01-02T03:04:05.1Z ",
    "Jan  2 03:04:05 box python3[123]: ", "2026-01-02T03:04:05+00:00 box docker/abc[1]: ", "2026-01-02 03:04:05,123 ",
    "2026-01-02 03:04:05,123 - INFO - ", "2026-01-02 03:04:05.123 | INFO     | a.b:run:12 - ", "INFO:a.b:",
    "(ServeReplica:app:LLM pid=12, ip=10.0.0.1) ", "[36m(pid=12)[0m ", "[rank0]: ", "[0] ", "[1,0]<stdout>:", "0: ",
    "node01: ", "[pod/llm-0/vllm] ", "serve.log:123:", "123:", "    123\t", "[03:04:05] ", "03:04:05.123 | ", "| ",
    "> ", "I0102 03:04:05.123456 1234 ", "[INFO][2026-01-02 03:04:05] ", "[2026-01-02 03:04:05 INFO] ",
    "1767323045.123 ", "<134>1 2026-01-02T03:04:05Z box vllm 1 - - ", "\u2502 ", "- ",
    "0|serve  | 2026-01-02 03:04:05 +00:00: ", "llm-7d9 vllm 2026-01-02T03:04:05Z ", "[gpu_id=0] ",
)  # fmt: skip


def figures(section: Section) -> tuple[object, ...]:
    return (
        section.format, section.cycles, section.draft_tokens, section.accepted_tokens, section.acceptance_length,
        section.tokens_per_pass, section.cycle_time_s, section.generation_tokens_per_s, section.running_requests,
    )  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", TEXTS)
def test_no_prefix_changes_a_figure(tmp_path, name, prefix):
    text = TEXTS[name]
    prefixed = "".join(prefix + line + "\n" for line in text.splitlines())
    assert figures(one(tmp_path, prefixed)) == figures(one(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "origin", "message"),
    [
        ("a-1  | [pod/b/c] (API pid=7) INFO 01-02 03:04:05 [x.py:1] hello", "a-1/pod/b/c/API pid=7", "hello"),
        ("[2026-01-02 03:04:05 DP3 TP0] Decode batch", "DP3 TP0", "Decode batch"),
        ("2026-01-02T03:04:05Z [2026-01-02 03:04:05 DP1 TP0 EP2] x", "DP1 TP0 EP2", "x"),
        ("[2026-01-02 03:04:05 INFO] x", "", "x"),
        ("Drafts: 12", "", "Drafts: 12"),
        ("target: 5", "", "target: 5"),
        ("num_drafts: 5", "", "num_drafts: 5"),
        ("[0.8, 0.7]", "", "[0.8, 0.7]"),
        ("one two had Acceptance length: 5", "", "one two had Acceptance length: 5"),
        ("-----Speculative Decoding-----", "", "-----Speculative Decoding-----"),
    ],
)
def test_what_a_prefix_is(text, origin, message):
    assert split_prefix(text) == (origin, message)


def interleaved(tag: Callable[[str], str], first: str, second: str) -> str:
    """Lines of two writers in turn."""
    pairs = zip(first.splitlines(), second.splitlines(), strict=True)
    return "".join(tag("a") + x + "\n" + tag("b") + y + "\n" for x, y in pairs)


TAGS = [
    lambda n: f"[pod/{n}-0/vllm] ", lambda n: f"{n}-1  | ", lambda n: f"Jan 02 03:04:05 {n} vllm[1]: ",
    lambda n: f"(Replica:{n} pid=7) ",
]  # fmt: skip


@pytest.mark.parametrize("tag", TAGS)
def test_a_window_takes_the_engine_line_of_its_own_server(tmp_path, tag):
    busy, quiet = engine(280.0, 4) + v1(1000, [800, 600, 400]), engine(100.0, 1) + v1(500, [300, 150, 50])
    section = one(tmp_path, interleaved(tag, busy, quiet))
    assert section.cycles == 1500 and section.running_requests == 2.5
    assert section.generation_tokens_per_s == pytest.approx(190)


@pytest.mark.parametrize("tag", TAGS)
def test_running_counters_of_two_servers_are_two(tmp_path, tag):
    """Seen as one server's, each line would be a restart of the other."""
    many, few = "".join(v0(4, 280 * i, 400 * i, 310 * i) for i in range(1, 6)), ""
    few = "".join(v0(4, 28 * i, 40 * i, 31 * i) for i in range(1, 6))
    section = one(tmp_path, interleaved(tag, many, few))
    assert (section.cycles, section.draft_tokens) == (550, 2200)


@pytest.mark.parametrize("tag", TAGS)
def test_slots_and_statistics_of_two_llama_servers(tmp_path, tag):
    def server(tokens: int, accepted: int, drafts: int) -> str:
        return (
            f"slot print_timing: id  0 | task 0 |        eval time =    2000.00 ms /   {tokens} tokens (    7.00 ms "
            "per token,   140.00 tokens per second)\n"
            f"slot print_timing: id  0 | task 0 | draft acceptance = 0.60000 (  {accepted} accepted /   {3 * drafts} "
            "generated)\n"
            f"statistics draft-mtp: #calls(b,g,a) = 1 {drafts} {drafts}, #gen drafts = {drafts}, #acc drafts = 9, "
            f"#gen tokens = {3 * drafts}, #acc tokens = {accepted}, dur(b,g,a) = 0.005, 400.000, 0.114 ms\n"
        )

    section = one(tmp_path, interleaved(tag, server(281, 180, 100), server(121, 60, 60)))
    assert (section.cycles, section.draft_tokens, section.accepted_tokens) == (160, 480, 240)
    assert section.passes == 160 and section.output_tokens == 402


def test_ranks_behind_a_second_stamp_keep_their_windows_apart(tmp_path):
    """Growth of ``#token`` is a rank's own."""

    def line(second: int, rank: int) -> str:
        length, speed = ((2.4, 96.0), (3.0, 120.0))[rank]
        return (
            f"2026-01-02T03:04:{second:02d}.5Z [2026-01-02 03:04:{second:02d} DP{rank} TP{rank}] Decode batch, "
            f"#running-req: 1, #token: {9 + speed * second:.0f}, accept len: {length:.2f}, "
            f"gen throughput (token/s): {speed}, #queue-req: 0\n"
        )

    section = one(tmp_path, "".join(line(second, rank) for second in range(1, 6) for rank in (0, 1)))
    assert section.cycles == pytest.approx(4 * (96 / 2.4 + 120 / 3.0))
    assert section.output_tokens == pytest.approx(4 * 216)
    assert any("one of the 2 processes" in text for text in section.conventions)


def test_two_sglang_servers_with_different_draft_lengths(tmp_path):
    first = decode(1, 9, 9.0, 2.4, 0.6) + decode(2, 105, 96.0, 2.4, 0.6) + decode(3, 201, 96.0, 2.4, 0.6)
    second = decode(1, 9, 9.0, 2.4, 0.3) + decode(2, 105, 96.0, 2.4, 0.3) + decode(3, 201, 96.0, 2.4, 0.3)
    sections = read(tmp_path, interleaved(lambda n: f"{n}-1  | ", first, second)).sections
    assert [section.num_speculative_tokens for section in sections] == [3, 7]


WRAPPED: dict[str, Callable[[str], object]] = {
    "docker": lambda line: {"log": line + "\n", "stream": "stdout"},
    "cloud": lambda line: {"textPayload": line, "resource": {"labels": {"pod_name": "a", "container_name": "v"}}},
    "payload": lambda line: {"jsonPayload": {"message": line}, "severity": "INFO"},
    "tracing": lambda line: {"level": "INFO", "fields": {"message": line}, "target": "x"},
    "loguru": lambda line: {"text": line + "\n", "record": {"message": line}},
    "journal": lambda line: {"MESSAGE": line, "_HOSTNAME": "h", "_PID": "1"},
    "otel": lambda line: {"body": {"stringValue": line}},
    "gelf": lambda line: {"host": "h", "short_message": line},
    "id": lambda line: {"log": line, "container_id": "0123456789ab"},
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("indent", [None, 1])
def test_lines_that_collectors_wrap(tmp_path, name, indent):
    text = "".join(json.dumps(WRAPPED[name](line), indent=indent) + "\n" for line in WINDOWS.splitlines())
    assert figures(one(tmp_path, text)) == figures(one(tmp_path, WINDOWS))


def test_wrapped_lines_name_their_pod(tmp_path):
    busy, quiet = engine(280.0, 4) + v1(1000, [800, 600, 400]), engine(100.0, 1) + v1(500, [300, 150, 50])
    pairs = zip(busy.splitlines(), quiet.splitlines(), strict=True)
    lines = [(pod, line) for pair in pairs for pod, line in zip("ab", pair, strict=True)]
    text = "".join(json.dumps({"log": line, "kubernetes": {"pod_name": pod}}) + "\n" for pod, line in lines)
    assert one(tmp_path, text).running_requests == 2.5


def test_several_lines_wrapped_in_one(tmp_path):
    reading = read(tmp_path, json.dumps({"log": WINDOWS}) + "\n" + json.dumps({"log": "a\nb\n"}) + "\n")
    assert reading.sections[0].cycles == 1500
    assert (reading.lines_read, reading.lines_used, sum(skip.lines for skip in reading.skipped)) == (2, 1, 1)


def test_lines_that_lost_their_breaks(tmp_path):
    reading = read(tmp_path, " ".join(WINDOWS.split("\n")) + "\n")
    assert reading.sections[0].cycles == 1500 and (reading.lines_read, reading.lines_used) == (1, 1)


@pytest.mark.parametrize("blank", ["  ", "    --port 8000 \\\n  "])
def test_a_command_over_several_lines(tmp_path, blank):
    command = f"vllm serve org/some-model \\\n{blank}--tensor-parallel-size 2 \\\n  --speculative-config.method ngram\n"
    reading = read(tmp_path, command + WINDOWS)
    stated = {name: values[0].value for name, values in reading.configurations[0].statements.items()}
    assert stated == {"model": "org/some-model", "tensor_parallel_size": 2, "method": "ngram"}
    assert reading.lines_read == reading.lines_used + sum(skip.lines for skip in reading.skipped)


def test_a_command_that_the_file_ends_in(tmp_path):
    reading = read(tmp_path, WINDOWS + "vllm serve org/some-model \\\n")
    assert reading.lines_read == 5 == reading.lines_used + sum(skip.lines for skip in reading.skipped)
