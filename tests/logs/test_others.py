"""llama.cpp, TensorRT-LLM, aiperf and genai-perf, the DFlash benchmark."""

from __future__ import annotations

import json

import pytest

from clover_sim.errors import InputError
from logs.lines import one, read

TIMINGS = """\
{p}prompt eval time =     200.00 ms /    20 tokens (   10.00 ms per token,   100.00 tokens per second)
{p}       eval time =    {ms:.2f} ms /   {n} tokens (   10.00 ms per token,   {tps:.2f} tokens per second)
{p}      total time =    9999.00 ms /   999 tokens
"""


def timings(n: int, ms: float, prefix: str = "") -> str:
    return TIMINGS.format(p=prefix, n=n, ms=ms, tps=n / ms * 1e3)


def test_old_server(tmp_path):
    text = timings(201, 5000.0) + "slot print_timing: id  0 | task 0 |\n"
    s = one(tmp_path, text + "draft acceptance rate = 0.50000 (   80 accepted /   160 generated)\n")
    assert (s.engine, s.draft_tokens, s.accepted_tokens) == ("llama.cpp", 160, 80)
    assert s.cycles is None and s.acceptance_length is None and s.acceptance_rate == 0.5
    assert s.passes == 120 and s.tokens_per_pass == pytest.approx(200 / 120)
    assert s.cycle_time_s == pytest.approx(5.0 / 120) and s.generation_tokens_per_s == pytest.approx(201 / 5.0)


NEW = (
    "1.02.003.004 I slot print_timing: id  0 | task {task} | draft acceptance = 0.60000 (  120 accepted /   200 "
    "generated), {name} =  2.50{rest}\n"
)
RATES = ", acceptance rate per position = (0.700, 0.500, 0.300)"


@pytest.mark.parametrize(("name", "rest"), [("mean acceptance length", RATES), ("mean len", ""), ("mean acc len", "")])
def test_new_server(tmp_path, name, rest):
    prefix = "1.02.003.000 I slot print_timing: id  0 | task 7 | "
    s = one(tmp_path, timings(202, 4050.0, prefix) + NEW.format(task=7, name=name, rest=rest))
    assert s.cycles == 80 and s.acceptance_length == pytest.approx(2.5) and s.passes == 81
    assert s.per_position_survival == ((0.7, 0.5, 0.3) if rest else None)
    assert s.cycle_time_s == pytest.approx(0.05)


def test_statistics_give_draft_time_and_hit_rate(tmp_path):
    stats = (
        "1.02.003.009 I spec common_specu: statistics        ngram-mod: #calls(b,g,a) =    4    400     80, #gen "
        "drafts =     80, #acc drafts =    70, #gen tokens =    200, #acc tokens =   120, #mean acc len = 2.50, "
        "#acc rate/pos = (0.700, 0.500, 0.300), dur(b,g,a) = 0.004, 800.000, 0.100 ms\n"
    )
    s = one(tmp_path, NEW.format(task=7, name="mean len", rest="") + stats)
    assert s.cycles == 80 and s.draft_time_s == pytest.approx(0.002) and s.method == "ngram-mod"
    assert s.tokens_per_pass == pytest.approx(520 / 400) and any("20% hit rate" in w for w in s.warnings)


def test_old_statistics(tmp_path):
    line = (
        "statistics ngram_simple: #calls = 15, #gen drafts = 5, #acc drafts = 5, #gen tokens = 187, #acc tokens = 73\n"
    )
    s = one(tmp_path, line)
    assert (s.cycles, s.draft_tokens, s.accepted_tokens) == (5, 187, 73) and s.tokens_per_pass == pytest.approx(88 / 15)


def test_requests_without_drafts_stay_apart(tmp_path):
    a, b = "1.02.003.000 I slot print_timing: id  0 | task 7 | ", "1.02.003.000 I slot print_timing: id  1 | task 8 | "
    text = timings(202, 4000.0, a) + NEW.format(task=7, name="mean len", rest="") + timings(100, 9000.0, b)
    drafting, plain = read(tmp_path, text).sections
    assert drafting.output_tokens == 202 and plain.output_tokens == 100 and not plain.speculative


def test_a_timing_that_cannot_belong_to_its_draft_line_is_not_joined(tmp_path):
    s = one(tmp_path, "draft acceptance rate = 0.5 (  500 accepted /  1000 generated)\n" + timings(100, 5000.0))
    assert s.cycle_time_s is None and s.generation_tokens_per_s == pytest.approx(20.0)


def test_response_timings(tmp_path):
    timing = {
        "predicted_n": 101,
        "predicted_ms": 2000.0,
        "predicted_per_second": 50.5,
        "draft_n": 80,
        "draft_n_accepted": 60,
    }
    s = one(tmp_path, json.dumps({"content": "x", "timings": timing}) + "\n")
    assert s.passes == 40 and s.tokens_per_pass == 2.5 and s.acceptance_rate == 0.75
    assert not one(tmp_path, json.dumps({"predicted_n": 100, "predicted_ms": 2000.0}) + "\n").speculative


CLI = """\
encoded   11 tokens in    0.100 seconds, speed:  110.000 t/s
decoded  301 tokens in   10.000 seconds, speed:   30.100 t/s

n_draft   = 4
n_predict = 301
n_drafted = 400
n_accept  = 200
accept    = 50.000%

draft:

llama_perf_context_print:        eval time =    3000.00 ms /   300 runs   (   10.00 ms per token,   100.00 tokens per second)

target:

llama_print_timings:      sample time =     0.00 ms /     1 runs   (    0.00 ms per token,      inf tokens per second)
"""  # noqa: E501


def test_cli(tmp_path):
    s = one(tmp_path, CLI)
    assert (s.cycles, s.passes, s.num_speculative_tokens, s.draft_passes) == (100, 101, 4, 400)
    assert s.acceptance_length == 3.0 and s.tokens_per_pass == pytest.approx(301 / 101)
    assert s.verify_time_s == pytest.approx(0.07) and s.draft_time_s == pytest.approx(0.03)
    assert s.generation_tokens_per_s == pytest.approx(30.1)


def test_cli_with_drafts_that_ended_early_has_no_cycles(tmp_path):
    s = one(tmp_path, CLI.replace("n_drafted = 400", "n_drafted = 240").replace("50.000%", "83.333%"))
    assert s.cycles is None and s.acceptance_length is None and s.tokens_per_pass == pytest.approx(301 / 101)


def test_cli_without_drafts(tmp_path):
    text = CLI.replace("n_drafted = 400", "n_drafted = 0").replace("n_accept  = 200", "n_accept  = 0")
    s = one(tmp_path, text.replace("50.000%", "-nan%"))
    assert s.draft_tokens == 0 and s.acceptance_rate is None and s.tokens_per_pass == 1.0


TRT = """\
[02/03/2026-04:05:06] [TRT-LLM] [I]
===========================================================
= REQUEST DETAILS
===========================================================
Number of requests:             50
Number of concurrent requests:  16.5000
Average Input Length (tokens):  128.0000
Average Output Length (tokens): 500.0000
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     2.0000
Total Output Throughput (tokens/sec):             1000.0000
Average time-per-output-token [TPOT] (ms):        10.0000
Per User Output Speed (tps/user):                 100.0000

-- Per-Request Time-per-Output-Token [TPOT] Breakdown (ms)

[TPOT] MINIMUM: 9.0000
[TPOT] P50    : 10.0000

===========================================================
= DECODING STATISTICS (Eagle3)
===========================================================

-- Number of Draft Tokens Details --------------------------------

[DT] MINIMUM: 500.00
[DT] AVERAGE: 750.00
-- Number of Accepted Draft Tokens Details --------------------------------

[ADT] AVERAGE: 250.00
-- Draft Acceptance Rate Details --------------------------------

[DAR] P50    : 0.35
[DAR] AVERAGE: 0.34
-- Acceptance Length Details --------------------------------

[AL] AVERAGE: 2.05
===========================================================
"""


def test_trtllm_bench_text(tmp_path):
    s = one(tmp_path, TRT)
    assert (s.engine, s.cycles, s.draft_tokens, s.accepted_tokens) == ("trtllm", 12500, 37500, 12500)
    assert s.num_speculative_tokens == 3 and s.acceptance_length == 2.0 and s.acceptance_rate == pytest.approx(1 / 3)
    assert s.generation_tokens_per_s == 1000.0 and s.cycle_time_s == pytest.approx(0.02) and s.method == "Eagle3"
    assert any("upper bound" in c for c in s.conventions)


def test_trtllm_bench_without_drafts(tmp_path):
    s = one(tmp_path, TRT[: TRT.index("===========================================================\n= DECODING")])
    assert not s.speculative and s.acceptance_length is None and s.generation_tokens_per_s == 1000.0


def test_trtllm_json(tmp_path):
    document = {
        "engine": {"model": "m"}, "request_info": {"num_requests": 50, "avg_num_concurrent_requests": 16.5,
        "avg_output_length": 500.0}, "performance": {"system_output_throughput_tok_s": 1000.0, "total_latency_ms": 5.0},
        "streaming_metrics": {"avg_tpot_ms": 10.0, "token_output_speed_tok_s": 100.0}, "decoding_stats": {
        "mode": "MTP", "num_draft_tokens_percentiles": {"p50": 700.0, "average": 750.0},
        "num_accepted_draft_tokens_percentiles": {"average": 250.0},
        "draft_acceptance_rate_percentiles": {"average": 0.34}, "acceptance_length_percentiles": {"average": 2.05}},
    }  # fmt: skip
    s = one(tmp_path, json.dumps(document, indent=4))
    assert s.cycles == 12500 and s.acceptance_length == 2.0 and s.method == "MTP" and s.num_speculative_tokens == 3


def record(gaps: list[float], tokens: int, error: object = None) -> str:
    itl = sum(gaps) / (tokens - 1)
    metrics = {
        "inter_chunk_latency": {"value": gaps, "unit": "ms"}, "inter_token_latency": {"value": itl, "unit": "ms"},
        "output_sequence_length": {"value": tokens, "unit": "tokens"},
    }  # fmt: skip
    return json.dumps({"metadata": {"was_cancelled": error is not None}, "metrics": metrics, "error": error}) + "\n"


def test_aiperf_records(tmp_path):
    text = record([20.0] * 10, 26) + record([10.0] * 10, 16) + record([1.0], 5, {"code": 499, "type": "x"})
    reading = read(tmp_path, text)
    (s,) = reading.sections
    assert (reading.lines_used, reading.lines_read) == (2, 3) and "cancelled" in reading.skipped[0].reason
    assert s.engine is None and s.tokens_per_pass == pytest.approx(40 / 20) and s.cycle_time_s == pytest.approx(0.015)


def test_aiperf_summary(tmp_path):
    document = {
        "inter_token_latency": {"unit": "ms", "avg": 5.0, "p50": 4.9},
        "inter_chunk_latency": {"unit": "ms", "avg": 12.5},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 800.0},
        "request_count": {"unit": "requests", "avg": 10},
        "output_token_throughput_per_user": {"unit": "tokens/sec/user", "avg": 200.0}, "input_config": {"a": [1, 2]},
    }  # fmt: skip
    s = one(tmp_path, json.dumps(document, indent=2))
    assert s.tokens_per_pass == 2.5 == s.acceptance_length and s.generation_tokens_per_s == 800.0
    assert s.running_requests == pytest.approx(4) and s.cycle_time_s == pytest.approx(0.0125)


def test_genai_perf_summary_without_chunks(tmp_path):
    document = {"inter_token_latency": {"unit": "ms", "avg": 5.0},
                "output_token_throughput": {"unit": "t", "avg": 800.0},
                "request_latency": {"unit": "ms", "avg": 5000.0}}  # fmt: skip
    s = one(tmp_path, json.dumps(document))
    assert s.tokens_per_pass is None and s.acceptance_length is None and not s.speculative


TABLE = """\
                NVIDIA AIPerf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━┓
┃              Metric ┃      avg ┃   min ┃
┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━┩
│ Inter Token Latency │     5.00 │  4.00 │
│                (ms) │          │       │
│ Inter Chunk Latency │    10.00 │  9.00 │
│                (ms) │          │       │
│        Output Token │ 1,200.50 │   N/A │
│          Throughput │          │       │
│        (tokens/sec) │          │       │
└─────────────────────┴──────────┴───────┘
"""


def test_printed_table_with_wrapped_names(tmp_path):
    s = one(tmp_path, TABLE)
    assert s.generation_tokens_per_s == 1200.5 and s.tokens_per_pass == 2.0


def test_csv_export(tmp_path):
    s = one(
        tmp_path, "Metric,avg,min\nInter Token Latency (ms),5.00,4.00\nOutput Token Throughput (tokens/sec),900.00\n"
    )
    assert s.generation_tokens_per_s == 900.0


def test_dflash_benchmark_is_weighted_by_blocks(tmp_path):
    text = (
        "Baseline throughput: 50.00 tok/s\nDFlash throughput: 120.00 tok/s\nDecoding speedup: 2.40\n"
        "Average Acceptance length: 2.30\nAcceptance length histogram: ['0.0%', '50.0%', '20.0%', '30.0%', '0.0%']\n"
    )
    s = one(tmp_path, text)
    assert s.acceptance_length == pytest.approx(1.8) and s.num_speculative_tokens == 3
    assert s.per_position_survival == pytest.approx((0.5, 0.3, 0.0)) and s.baseline_tokens_per_s == 50.0


@pytest.mark.parametrize(
    "text", ["[1, 2]", '{"a": 1}', '{"timings": {}}', '{"metrics": null, "metadata": {}, "error": 1}']
)
def test_other_json_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="none of 1 lines"):
        read(tmp_path, text + "\n")
