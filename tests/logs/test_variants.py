"""Spellings that real logs have: broken lines, doubled words, collectors, prefixes, and clients that report drafts."""

from __future__ import annotations

import codecs
import json

import pytest

from clover_sim.errors import InputError
from clover_sim.logs import read_logs
from logs.lines import decode, engine, one, read, v0, v1

WINDOW = v1(1000, [800, 600, 400])


def test_v0_with_a_doubled_word(tmp_path):
    """vLLM 0.5 wrote ``Number of draft tokens tokens``."""
    line = v0(4, 2800, 4000, 3100).replace("draft tokens:", "draft tokens tokens:")
    section = one(tmp_path, line.replace("emitted tokens:", "emitted tokens tokens:"))
    assert (section.cycles, section.draft_tokens, section.acceptance_length) == (1000, 4000, 3.1)


@pytest.mark.parametrize("at", ["Accepted throughput", "throughput: 300", "Accepted: 1800", "tokens, Drafted", "0.400"])
def test_a_line_broken_by_a_terminal_is_put_together(tmp_path, at):
    cut = WINDOW.index(at)
    broken = WINDOW[:cut].rstrip() + "\n" + WINDOW[cut:]
    reading = read(tmp_path, "some line\n" + engine(280.0, 4) + broken + "another line\n")
    (section,) = reading.sections
    assert (section.cycles, section.accepted_tokens, section.acceptance_length) == (1000, 1800, 2.8)
    assert section.per_position_survival == pytest.approx((0.8, 0.6, 0.4))
    assert reading.lines_read == 5 and reading.lines_used == 3 and sum(s.lines for s in reading.skipped) == 2


def test_a_number_broken_in_the_middle_is_one_number(tmp_path):
    cut = WINDOW.index("3000 tokens") + 2
    assert one(tmp_path, WINDOW[:cut] + "\n" + WINDOW[cut:]).draft_tokens == 3000


def test_what_follows_a_cut_line_is_not_glued_to_it(tmp_path):
    cut = WINDOW.index("Accepted: 1800")
    reading = read(tmp_path, WINDOW + WINDOW[:cut] + "\n" + "unrelated\n" * 9 + WINDOW)
    (section,) = reading.sections
    assert section.cycles == 2000 and reading.lines_used == 2
    assert {skip.reason: skip.first.rpartition(":")[2] for skip in reading.skipped} == {
        "cut off, or its fields contradict each other": "2", "no known format": "3",
    }  # fmt: skip
    assert reading.lines_read == 12 == reading.lines_used + sum(skip.lines for skip in reading.skipped)


@pytest.mark.parametrize("key", ["log", "message", "MESSAGE", "event", "line", "body"])
def test_collectors_wrap_lines_under_many_names(tmp_path, key):
    assert one(tmp_path, json.dumps({"time": "t", key: WINDOW.strip()}) + "\n").cycles == 1000


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-02-11 09:08:07.123 | ", "[pod/vllm-0/vllm] ", "(RayWorkerWrapper pid=900, ip=10.0.0.4) ", "a.log:12:",
        "2026-02-11T09:08:07+0100 gpu-box vllm[4242]: ", "\x1b[36m(ServeReplica:llm:VLLM pid=900)\x1b[0m ", "[41907] ",
    ],
)  # fmt: skip
def test_prefixes_of_more_collectors(tmp_path, prefix):
    assert one(tmp_path, prefix + WINDOW).acceptance_length == pytest.approx(2.8)
    run = prefix + decode(1, 9, 9.0, 2.4, 0.6) + prefix + decode(2, 105, 96.0, 2.4, 0.6)
    assert one(tmp_path, run).cycles == pytest.approx(40)


LLAMA = """\
13.06.287.070 I slot print_timing: id  2 | task 5 |        eval time =    2000.00 ms /   281 tokens (    7.12 ms per token,   140.50 tokens per second)
13.06.287.071 I slot print_timing: id  2 | task 5 | draft acceptance = 0.60000 (  180 accepted /   300 generated), mean acceptance length =  2.80, acceptance rate per position = (0.800, 0.600, 0.400)
13.06.287.074 I statistics        draft-mtp: #calls(b,g,a) =    1    100    100, #gen drafts =    100, #acc drafts =    80, #gen tokens =    300, #acc tokens =   180, #mean acc len = 2.80, #acc rate/pos = (0.800, 0.600, 0.400), dur(b,g,a) = 0.005, 400.000, 0.114 ms
"""  # noqa: E501


@pytest.mark.parametrize("prefix", ["", "[41907] ", "2026-05-17 10:44:45.460 | ", "llama-1  | "])
def test_a_router_and_containers_before_llamacpp(tmp_path, prefix):
    section = one(tmp_path, "".join(prefix + line + "\n" for line in LLAMA.splitlines()))
    assert (section.cycles, section.passes, section.acceptance_length) == (100, 100, 2.8)
    assert section.cycle_time_s == pytest.approx(0.02) and section.draft_time_s == pytest.approx(0.004)


@pytest.mark.parametrize(("encoding", "mark"), [("utf-16", b""), ("utf-8", codecs.BOM_UTF8)])
def test_files_of_windows(tmp_path, encoding, mark):
    path = tmp_path / "a.log"
    path.write_bytes(mark + WINDOW.replace("\n", "\r\n").encode(encoding))
    assert read_logs([str(path)]).sections[0].cycles == 1000


def test_sglang_of_early_2025_has_no_rate(tmp_path):
    lines = (decode(1, 9, 9.0, 2.5, 0.6) + decode(2, 109, 100.0, 2.5, 0.6)).replace("accept rate: 0.60, ", "")
    section = one(tmp_path, lines.replace("#queue-req", "largest-len: 0, #queue-req"))
    assert section.acceptance_length == pytest.approx(2.5) and section.num_speculative_tokens is None


def figure(value: float, unit: str) -> dict[str, object]:
    return {"unit": unit, "avg": value, "p50": value, "p99": value}


AIPERF = {
    "inter_token_latency": figure(3.5, "ms"), "output_token_throughput": figure(512.0, "tokens/sec"),
    "time_to_first_token": figure(20.0, "ms"), "total_spec_decode_steps": figure(1000, "count"),
    "total_draft_tokens": figure(3000, "tokens"), "total_accepted_draft_tokens": figure(1800, "tokens"),
    "spec_decode_overall_draft_acceptance_rate": figure(60.0, "%"),
}  # fmt: skip


def test_aiperf_reports_the_drafts_of_the_server(tmp_path):
    section = one(tmp_path, json.dumps(AIPERF, indent=1))
    assert (section.cycles, section.draft_tokens, section.accepted_tokens) == (1000, 3000, 1800)
    assert section.acceptance_length == pytest.approx(2.8) and section.acceptance_rate == pytest.approx(0.6)
    assert section.num_speculative_tokens == 3 and section.generation_tokens_per_s == 512.0
    means = {k: v for k, v in AIPERF.items() if not k.startswith("total")}
    means["spec_decode_acceptance_length"] = figure(2.7, "ratio")
    section = one(tmp_path, json.dumps(means))
    assert section.acceptance_length == 2.7 and section.acceptance_rate == pytest.approx(0.6) and section.cycles is None


def test_aiperf_records_with_drafts_add_up(tmp_path):
    def record(steps: int, accepted: int) -> str:
        metrics = {
            "output_sequence_length": {"value": steps + accepted, "unit": "tokens"},
            "inter_token_latency": {"value": 4.0, "unit": "ms"},
            "spec_decode_steps": {"value": steps, "unit": "count"},
            "spec_decode_draft_tokens": {"value": 3 * steps, "unit": "tokens"},
            "spec_decode_accepted_draft_tokens": {"value": accepted, "unit": "tokens"},
        }
        return json.dumps({"metadata": {"was_cancelled": False}, "metrics": metrics, "error": None}) + "\n"

    section = one(tmp_path, record(100, 180) + record(50, 60))
    assert (section.cycles, section.draft_tokens, section.accepted_tokens) == (150, 450, 240)
    assert section.acceptance_length == pytest.approx(2.6)


@pytest.mark.parametrize(
    "prose",
    [
        "The acceptance rate was 0.8 and the mean acceptance length: 2.5, we think.\n",
        "SpecDecoding metrics: look at these lines to see the Draft acceptance rate\n",
        "> accept len: 2.5 is what SGLang prints in its Decode batch lines\n",
        "| Acceptance length | 2.8 |\n",
    ],
)
def test_prose_is_no_metric(tmp_path, prose):
    with pytest.raises(InputError, match="none of 1 lines"):
        read(tmp_path, prose)
    assert read(tmp_path, prose + WINDOW).lines_used == 1


def test_a_wrapped_line_over_several_lines_is_counted_whole(tmp_path):
    text = json.dumps({"log": WINDOW.strip(), "stream": "stderr"}, indent=1) + "\n"
    reading = read(tmp_path, text + json.dumps({"log": "hello", "stream": "stderr"}, indent=1) + "\n")
    assert reading.lines_used == 4 and reading.lines_read == 8 and sum(s.lines for s in reading.skipped) == 4
