"""Formats beside the usual: diffusion models, several engines, benchmarks without drafts, ranks of a page."""

from __future__ import annotations

import json
import re

import pytest

from clover_sim.errors import InputError
from clover_sim.logs._reader import readers
from logs.lines import engine, one, read, v0, v1


def diffusion(committed: int, steps: int, canvas: int, seconds: float = 10.0) -> str:
    per_canvas = f"{canvas / committed:.2f}" if committed else "nan"
    return (
        "(APIServer pid=42) INFO 03-04 05:06:07 [metrics.py:180] DiffusionDecoding metrics: "
        f"Committed token throughput: {committed / seconds:.2f} tokens/s, "
        f"Mean denoising steps per canvas: {per_canvas}, "
        f"Mean tokens committed per denoising step: {committed / steps:.2f}, Committed: {committed} tokens, "
        f"Denoising steps: {steps}, Canvas positions evaluated: {canvas}\n"
    )


def test_windows_of_a_diffusion_model(tmp_path):
    text = engine(200.0, 2) + diffusion(2000, 125, 125 * 64) + engine(100.0, 2) + diffusion(1000, 75, 75 * 64)
    section = one(tmp_path, text)
    assert (section.passes, section.output_tokens, section.tokens_per_pass) == (200, 3000, 15)
    assert not section.speculative and section.method == "block diffusion" and section.lines_used == 4
    assert section.generation_tokens_per_s == pytest.approx(150) and section.running_requests == 2
    assert section.cycle_time_s == pytest.approx(2 * 20 / 200)  # two requests share 20 s of 200 steps
    stated = {identity.name: identity.derived for identity in section.identities}
    assert stated == {"denoising steps a canvas": pytest.approx(12800 / 3000), "canvas": pytest.approx(64)}


def test_a_diffusion_window_without_commits_and_a_cut_one(tmp_path):
    whole = diffusion(2000, 125, 8000)
    reading = read(tmp_path, diffusion(0, 4, 256) + whole + whole[: whole.index("Denoising steps: ")] + "\n")
    assert reading.sections[0].passes == 129 and reading.lines_used == 2


def test_a_page_of_a_diffusion_model(tmp_path):
    names = {"denoising_steps": 500, "canvas_positions": 32000, "committed_tokens": 7000}
    page = "".join(f'vllm:diffusion_num_{name}_total{{engine="0"}} {value}.0\n' for name, value in names.items())
    section = one(tmp_path, page)
    assert (section.passes, section.output_tokens, section.tokens_per_pass) == (500, 7000, 14)
    assert not section.speculative


def test_engines_of_one_server_are_counted_together_and_timed_each(tmp_path):
    first = engine(280.0, 4) + v1(1000, [800, 600, 400])
    section = one(tmp_path, (first + first.replace("Engine 000", "Engine 001")) * 3)
    assert section.cycles == 6000
    assert (section.generation_tokens_per_s, section.running_requests) == (pytest.approx(280), 4)
    assert section.cycle_time_s == pytest.approx(0.04)
    assert any("one of the 2 engines" in text for text in section.conventions)


def test_a_sum_over_engines_is_that_of_each(tmp_path):
    """The same server, whose lines state the sum."""
    summed = engine(560.0, 8).replace("Engine 000", "2 Engines Aggregated") + v1(2000, [1600, 1200, 800])
    section = one(tmp_path, summed * 3)
    assert section.cycles == 6000 and section.cycle_time_s == pytest.approx(0.04)
    assert (section.generation_tokens_per_s, section.running_requests) == (pytest.approx(280), 4)
    assert [i.derived == pytest.approx(i.stated) for i in section.identities if i.stated] == [True, True]


def test_one_engine_is_no_news(tmp_path):
    section = one(tmp_path, (engine(280.0, 4) + v1(1000, [800, 600, 400])) * 2)
    assert not any("engines" in text for text in section.conventions)


def gauge(name: str, value: float, dp: int, tp: int) -> str:
    return f'sglang:{name}{{dp_rank="{dp}",engine_type="unified",model_name="m",pp_rank="0",tp_rank="{tp}"}} {value}\n'


def test_ranks_of_an_sglang_page_show_one_figure(tmp_path):
    page = "".join(
        gauge("num_running_reqs", running, dp, tp) + gauge("gen_throughput", 100.0 * running, dp, tp)
        + gauge("spec_accept_length", 2.0 + dp, dp, tp)
        for dp, running in ((0, 3), (1, 5))
        for tp in (2 * dp, 2 * dp + 1)
    )  # fmt: skip
    section = one(tmp_path, page + 'sglang:spec_num_draft_tokens{model_name="m"} 4.0\n')
    assert (section.running_requests, section.generation_tokens_per_s) == (8, 800)
    assert (section.acceptance_length, section.num_speculative_tokens) == (2.5, 3)
    assert section.acceptance_rate == pytest.approx(0.5) and section.cycle_time_s == pytest.approx(8 * 2.5 / 800)


def test_decode_lines_with_underscores(tmp_path):
    """TokenSpeed's; read as lines without drafts they would be plain decoding."""
    line = (
        "[2026-02-03 04:05:0{second}] Decode batch. #running-req: 2, #pages(active/cached/total): 10/20/300, "
        "page ratio: 0.10, gen throughput (token/s): 120.00, avg_accept_len: 2.40, accept_rate: 0.35, #queue-req: 0\n"
    )
    section = one(tmp_path, "".join(line.format(second=second) for second in (1, 2, 3)))
    assert section.speculative and section.acceptance_length == pytest.approx(2.4)
    assert section.cycles == pytest.approx(100) and section.num_speculative_tokens == 4


def test_a_finished_request_in_the_log(tmp_path):
    line = (
        "[2026-02-03 04:05:06] Finish: obj=GenerateReqInput(rid='a', stream=True, session_params=None), "
        "out={{'meta_info': {{'id': 'a', 'finish_reason': {{'type': 'stop', 'matched': 1}}, "
        "'completion_tokens': {tokens}, 'spec_verify_ct': {passes}, 'e2e_latency': 2.0}}}}\n"
    )
    section = one(tmp_path, line.format(tokens=300, passes=120) + line.format(tokens=100, passes=40))
    assert (section.cycles, section.output_tokens, section.acceptance_length) == (160, 400, 2.5)
    assert section.user_tokens_per_s == 100


def test_stage_times_of_v0(tmp_path):
    times = (
        "INFO 02-03 04:05:06 spec_decode_worker.py:1071] SpecDecodeWorker stage times: "
        "average_time_per_proposal_tok_ms=2.00 scoring_time_ms={scoring}.00 verification_time_ms=1.00\n"
    )
    section = one(tmp_path, times.format(scoring=10) + v0(4, 2800, 4000, 3100) + times.format(scoring=14))
    assert section.draft_time_s == pytest.approx(4 * 0.002)
    assert section.verify_time_s == pytest.approx((11 + 15) / 2 / 1000)


ROWS = """\
### first
Output token throughput (tok/s): 70.00
Mean TPOT (ms): 12.00
Acceptance rate (%): 60.00
Acceptance length: 2.80
Per-position acceptance (%):
Position 0: 80.00
Position 1: 60.00
Position 2: 40.00

### second
Output token throughput (tok/s): 90.00
Mean TPOT (ms): 10.00
Acceptance length: 3.00
"""


def test_rows_of_a_report_without_their_frame(tmp_path):
    first, second = read(tmp_path, ROWS).sections
    assert (first.generation_tokens_per_s, first.acceptance_length) == (70, 2.8)
    assert first.per_position_survival == pytest.approx((0.8, 0.6, 0.4))
    assert (second.generation_tokens_per_s, second.acceptance_length) == (90, 3.0)
    assert second.per_position_survival is None


def test_no_more_requests_run_than_the_client_allows(tmp_path):
    result = {
        "backend": "vllm", "duration": 10.0, "completed": 40, "total_output_tokens": 8000, "output_throughput": 800.0,
        "mean_tpot_ms": 25.0, "mean_itl_ms": 40.0, "mean_ttft_ms": 100.0,
    }  # fmt: skip
    assert one(tmp_path, json.dumps(result)).running_requests == pytest.approx(20)
    assert one(tmp_path, json.dumps({**result, "max_concurrency": 16})).running_requests == 16


TABLE = """\
| model                          |       size |     params | backend    | ngl |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |
| some 8B Q4_K - Medium          |   4.60 GiB |     8.03 B | CUDA       |  99 |           pp512 |      5000.10 ± 10.00 |
| some 8B Q4_K - Medium          |   4.60 GiB |     8.03 B | CUDA       |  99 |           tg128 |        125.00 ± 0.50 |
| some 8B Q4_K - Medium          |   4.60 GiB |     8.03 B | CUDA       |  99 |   tg128 @ d4096 |        100.00 ± 0.50 |
"""


def test_llama_bench_as_a_table_and_as_json(tmp_path):
    short, deep = read(tmp_path, TABLE).sections
    assert (short.format, short.generation_tokens_per_s) == ("llama-bench tg128", 125)
    assert (deep.format, deep.generation_tokens_per_s) == ("llama-bench tg128 @ d4096", 100)
    assert not short.speculative and short.identities[0].derived == pytest.approx(0.008)
    tests = [{"n_prompt": 512, "n_gen": 0, "avg_ts": 5000.0}, {"n_prompt": 0, "n_gen": 128, "avg_ts": 125.0}]
    assert one(tmp_path, json.dumps(tests)).generation_tokens_per_s == 125


def test_a_llama_program_without_drafts(tmp_path):
    lines = (
        "llama_perf_context_print: prompt eval time =     100.00 ms /    10 tokens (   10.00 ms per token)\n"
        "llama_perf_context_print:        eval time =    2000.00 ms /   100 runs   (   20.00 ms per token)\n"
    )
    section = one(tmp_path, lines)
    assert not section.speculative and section.generation_tokens_per_s == 50


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("ggml_vulkan: 0 = AMD Radeon Some Card (RADV X1) (radv) | uma: 0 | fp16: 1", "AMD Radeon Some Card"),
        ("llama_load: using device CUDA0 (NVIDIA Some Card) - 23306 MiB free", "NVIDIA Some Card"),
    ],
)
def test_cards_of_llama_programs(tmp_path, line, name):
    timing = "eval time =    2000.00 ms /   100 tokens (   20.00 ms per token,    50.00 tokens per second)\n"
    (found,) = read(tmp_path, line + "\n" + timing).configurations
    assert found.statements["gpu"][0].value == name


def test_what_is_read_follows_from_the_readers(tmp_path):
    *writers, last = sorted({reader.WRITER for _, reader in readers()} - {""}, key=str.lower)
    assert {"aiperf", "llama.cpp", "SGLang", "TensorRT-LLM", "the DFlash benchmark", "vLLM"} <= {*writers, last}
    with pytest.raises(InputError, match=re.escape(f"reports of {', '.join(writers)} or {last}") + "$"):
        read(tmp_path, "nothing\n")
    with pytest.raises(InputError, match=r"only says how the server was started; expected its metric lines too$"):
        read(tmp_path, "python3 -m sglang.launch_server --model-path some/model\n")


def test_meta_info_of_newer_servers(tmp_path):
    """Drafts under their newer names, a histogram of them, and a length instead of passes."""
    first = {"completion_tokens": 280, "spec_verify_ct": 100, "spec_num_proposed_drafts": 300,
             "spec_correct_drafts_histogram": [20, 20, 20, 40]}  # fmt: skip
    section = one(tmp_path, json.dumps({"meta_info": first}))
    assert (section.cycles, section.draft_tokens, section.acceptance_length) == (100, 300, 2.8)
    assert section.per_position_survival == pytest.approx((0.8, 0.6, 0.4))
    bare = one(tmp_path, json.dumps({"meta_info": {"completion_tokens": 280, "spec_accept_length": 2.8}}))
    assert bare.cycles == pytest.approx(100) and bare.draft_tokens is None


def test_a_streamed_response_counts_once(tmp_path):
    """Its parts state running sums, the last one those of the whole."""
    stream = "".join(
        "data: " + json.dumps({"text": "x", "meta_info": {
            "id": "r", "finish_reason": {"type": "stop"} if n == 4 else None, "completion_tokens": 3 * n,
            "spec_verify_ct": n, "e2e_latency": 0.1 * n,
        }}) + "\n\n"
        for n in (1, 2, 3, 4)
    ) + "data: [DONE]\n"  # fmt: skip
    for text in (stream, stream.replace("data: ", "")):
        section = one(tmp_path, text)
        assert (section.cycles, section.output_tokens, section.acceptance_length) == (4, 12, 3)


@pytest.mark.parametrize("ends", [{"stop": True}, {"choices": [{"finish_reason": "stop"}]}, {"choices": []}])
def test_timings_of_each_token_of_a_stream_count_once(tmp_path, ends):
    going = {"stop": False} if "stop" in ends else {"choices": [{"finish_reason": None, "delta": {"content": "x"}}]}
    parts = [
        {**(ends if n == 40 else going), "timings": {
            "predicted_n": n, "predicted_ms": 20.0 * n, "draft_n": n, "draft_n_accepted": n // 2,
        }}
        for n in (10, 20, 40)
    ]  # fmt: skip
    section = one(tmp_path, "".join(f"data: {json.dumps(part)}\n" for part in parts))
    assert (section.output_tokens, section.draft_tokens, section.accepted_tokens) == (40, 40, 20)
    assert section.generation_tokens_per_s == pytest.approx(50)


def test_statistics_of_an_evaluation_of_tensorrt_llm(tmp_path):
    stamp = "[03/04/2026-05:06:07] [TRT-LLM] [I] Spec-dec stats: "
    length = stamp + "AL (decoded tokens/step, iteration-weighted) 2.500 (per-request min 1.200, max 3.000, n=131)\n"
    rate = stamp + "AR (corpus draft acceptance) 15000/20000 = 75.0%\n"
    section = one(tmp_path, length + rate)
    assert (section.acceptance_length, section.acceptance_rate, section.lines_used) == (2.5, 0.75, 2)
    assert [s.acceptance_length for s in read(tmp_path, (length + rate) * 2 + length).sections] == [2.5] * 3
    assert one(tmp_path, rate).acceptance_length is None
    assert one(tmp_path, length + rate.replace("15000/", "25000/")).acceptance_rate is None


def test_a_page_of_llama_cpp_gives_the_speed_of_one_request(tmp_path):
    counters = {
        "tokens_predicted_total": 5000, "tokens_predicted_seconds_total": 50, "predicted_tokens_seconds": 0,
        "spec_decode_num_drafts_total": 2000, "spec_decode_num_draft_tokens_total": 6000,
        "spec_decode_num_accepted_tokens_total": 3000,
    }  # fmt: skip
    section = one(tmp_path, "".join(f"llamacpp:{name} {value}\n" for name, value in counters.items()))
    assert (section.user_tokens_per_s, section.cycle_time_s) == (100, pytest.approx(0.025))
