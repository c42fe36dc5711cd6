"""SGLang: decode lines with both meanings of the rate, scripts, benchmark reports, responses, block diffusion."""

from __future__ import annotations

import json

import pytest

from logs.lines import BENCH, decode, one, read

START = (
    "[2026-02-03 04:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='{name}', "
    "speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens={n})\n"
)


def test_windows_are_weighted_by_passes_and_the_first_line_only_opens_one(tmp_path):
    text = decode(1, 100, 0.4, 3.90, 0.97) + decode(1, 180, 200.0, 2.00, 0.50) + decode(2, 300, 240.0, 3.00, 0.75)
    s = one(tmp_path, text)
    assert s.cycles == 40 + 40 and s.output_tokens == 200 and s.accepted_tokens == 120
    assert s.acceptance_length == pytest.approx(2.5) == s.tokens_per_pass
    assert s.num_speculative_tokens == 3 and s.draft_tokens == 240 and s.acceptance_rate == pytest.approx(0.5)
    seconds = 80 / 200 + 120 / 240
    assert s.generation_tokens_per_s == pytest.approx(200 / seconds) and s.cycle_time_s == pytest.approx(seconds / 80)


@pytest.mark.parametrize(
    ("rate", "meaning", "k"),
    [(lambda al: al / 6, "older SGLang", 5), (lambda al: (al - 1) / 15, "since 2026", 15)],
)
def test_the_meaning_of_the_rate_follows_from_the_figures(tmp_path, rate, meaning, k):
    lengths = (2.1, 3.33, 4.5, 2.75, 3.9)
    s = one(tmp_path, "".join(decode(i, 100 * i, 90.0, al, rate(al)) for i, al in enumerate(lengths, 1)))
    assert s.num_speculative_tokens == k and any(meaning in c for c in s.conventions)
    assert s.acceptance_rate == pytest.approx((s.acceptance_length - 1) / k)


def test_both_meanings_in_one_file_are_two_sections(tmp_path):
    old = "".join(decode(i, 100 * i, 90.0, al, al / 4) for i, al in enumerate((2.17, 1.95, 2.8), 1))
    new = "".join(decode(10 + i, 100 * i, 90.0, al, (al - 1) / 3) for i, al in enumerate((2.17, 1.95, 2.8), 1))
    sections = read(tmp_path, old + new).sections
    assert [s.num_speculative_tokens for s in sections] == [3, 3]
    assert ["older" in " ".join(s.conventions) for s in sections] == [True, False]


def test_the_server_says_how_many_draft_tokens_there_are(tmp_path):
    text = START.format(name="DFLASH", n=16) + decode(1, 50, 1.0, 4.5, 0.23) + decode(3, 400, 175.0, 4.5, 0.23)
    s = one(tmp_path, text)
    assert (
        s.num_speculative_tokens == 15 and s.method == "DFLASH" and any("counts the root" in c for c in s.conventions)
    )


def test_a_rate_that_fits_both_meanings_asks_the_question(tmp_path):
    s = one(tmp_path, decode(1, 10, 9.0, 1.0, 0.02) + decode(2, 50, 40.0, 1.02, 0.02))
    assert s.num_speculative_tokens is None and any("draft-tokens" in w for w in s.warnings)


def test_several_requests_are_weighted_by_throughput_and_seconds(tmp_path):
    text = decode(0, 900, 5.0, 2.0, 0.5, running=4) + decode(2, 1000, 400.0, 2.0, 0.5, running=4)
    s = one(tmp_path, text + decode(3, 800, 800.0, 4.0, 1.0, running=4))
    assert s.cycles == pytest.approx(400 + 200) and s.acceptance_length == pytest.approx(1600 / 600)
    assert s.cycle_time_s == pytest.approx(4 * 3 / 600)


def test_a_prompt_in_between_does_not_count_as_growth(tmp_path):
    prefill = (
        "[2026-02-03 04:05:01 TP0] Prefill batch. #new-seq: 1, #new-token: 5000, #running-req: 0, #queue-req: 0, \n"
    )
    s = one(tmp_path, decode(1, 100, 80.0, 2.0, 0.5) + prefill + decode(2, 5180, 80.0, 2.0, 0.5))
    assert s.output_tokens == pytest.approx(80)


def test_another_request_of_the_same_number_does_not_count_as_growth(tmp_path):
    s = one(tmp_path, decode(1, 100, 80.0, 2.0, 0.5) + decode(2, 9000, 80.0, 2.0, 0.5))
    assert s.output_tokens == pytest.approx(80)


def test_ranks_have_windows_of_their_own(tmp_path):
    text = "".join(decode(1, 100, 5.0, 2.0, 0.5, tag=tag) for tag in (" DP0 TP0", " DP1 TP1"))
    text += decode(2, 180, 80.0, 2.0, 0.5, tag=" DP0 TP0") + decode(2, 190, 90.0, 2.0, 0.5, tag=" DP1 TP1")
    assert one(tmp_path, text).output_tokens == 170


def test_a_new_file_opens_a_new_window(tmp_path):
    assert one(tmp_path, decode(1, 10, 5.0, 2.0, 0.5), decode(2, 90, 80.0, 2.0, 0.5)).cycles is None


def test_one_line_alone_is_as_printed(tmp_path):
    s = one(tmp_path, decode(1, 100, 0.4, 2.17, 0.54))
    assert s.acceptance_length == pytest.approx(2.17) and s.cycles is None and s.generation_tokens_per_s is None
    assert any("no second line closes" in w for w in s.warnings)


def test_hybrid_models_iterations_and_disaggregation(tmp_path):
    line = (
        "[service]: [2026-02-03 04:05:0{s} DP6 TP6 EP6] Decode batch [5134{s}], #running-req: 1, #full token: {t}, "
        "full token usage: 0.00, #swa token: 9, swa token usage: 0.00, mamba num: 2, mamba usage: 0.01, "
        "accept len: 2.17, accept rate: 0.54, pre-allocated usage: 0.00, #prealloc-req: 0, #transfer-req: 0, "
        "#retracted-req: 0, npu graph: True, gen throughput (token/s): 80.00, #queue-req: 0\n"
    )
    s = one(tmp_path, line.format(s=1, t=100) + line.format(s=2, t=187))
    assert s.cycles == pytest.approx(87 / 2.17) and s.num_speculative_tokens == 3


def test_lines_without_drafts_are_plain(tmp_path):
    s = one(tmp_path, decode(1, 100, 3.0, None) + decode(2, 180, 80.0, None))
    assert not s.speculative and s.generation_tokens_per_s == pytest.approx(80.0)


def test_zero_and_nan_accept_len_are_skipped(tmp_path):
    bad = decode(2, 150, 80.0, 2.0, 0.5).replace("accept len: 2.00", "accept len: nan")
    reading = read(tmp_path, decode(1, 100, 3.0, 2.0, 0.5) + bad + decode(3, 200, 80.0, 2.0, 0.5))
    assert reading.lines_used == 2 and "accept len" in reading.skipped[0].reason


@pytest.mark.parametrize(
    ("text", "length", "speed"),
    [
        ("#questions: 40, Throughput: 210.50 token/s, Acceptance length: 3.25\n", 3.25, 210.5),
        (
            "Average Latency: 9.5 s\nAverage Output throughput: 81.9 token/s\nAverage Accept length: 2.047\n",
            2.047,
            81.9,
        ),
        ("Accept length: 2.61\n", 2.61, None),
    ],
)
def test_three_spellings_of_the_scripts(tmp_path, text, length, speed):
    s = one(tmp_path, text)
    assert (s.engine, s.acceptance_length, s.generation_tokens_per_s) == ("sglang", length, speed)


def test_two_summaries_are_not_pooled(tmp_path):
    assert len(read(tmp_path, "Accept length: 2.61\nAccept length: 3.01\n").sections) == 2


def test_bench_serving_report(tmp_path):
    text = BENCH.format(output=1000, speed="50.00").replace(
        "Request throughput", "Total generated tokens (retokenized):    998\n"
        "Concurrency:                             3.50\n"
        "Accept length:                           2.40\nRequest throughput",
    )  # fmt: skip
    s = one(tmp_path, text + "=" * 50 + "\n")
    assert (s.engine, s.acceptance_length, s.generation_tokens_per_s) == ("sglang", 2.4, 50.0)
    assert s.running_requests == 3.5 and s.cycles is None


def test_bench_serving_json_line(tmp_path):
    document = {
        "backend": "sglang", "duration": 20.0, "completed": 10, "output_throughput": 50.0, "accept_length": 2.4,
        "mean_tpot_ms": 8.0, "mean_itl_ms": 19.0, "mean_ttft_ms": 100.0, "total_output_tokens": 1000,
        "concurrency": 3.5,
    }  # fmt: skip
    s = one(tmp_path, json.dumps(document) + "\n")
    assert s.engine == "sglang" and s.acceptance_length == 2.4


def test_responses_add_up(tmp_path):
    text = json.dumps({"text": "x", "meta_info": {"completion_tokens": 100, "spec_verify_ct": 40, "e2e_latency": 1.0}})
    s = one(tmp_path, f"{text}\n{text}\n")
    assert (s.cycles, s.output_tokens, s.accepted_tokens) == (80, 200, 120) and s.acceptance_length == 2.5


def test_block_diffusion_step_log(tmp_path):
    rows = [
        {"raw_forward_calls": 1, "forward_duration_ms": 9.0, "unmask_steps": 0, "block_steps": [0],
         "final_block_steps": [], "req_modes": ["prefill"], "kv_saved": [False]},
        {"raw_forward_calls": 4, "forward_duration_ms": 39.0, "unmask_steps": 3, "block_steps": [3, 4, 2],
         "final_block_steps": [3], "req_modes": ["kv_save", "unmask", "unmask"], "kv_saved": [True, False, False]},
    ]  # fmt: skip
    s = one(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    assert s.passes == 5 and s.cycle_time_s == pytest.approx(48e-3 / 5) and not s.speculative
    assert {i.name: i.derived for i in s.identities}["unmasking steps a block"] == 3


def test_block_diffusion_requests_and_stats(tmp_path):
    request = {"request_id": 0, "output_len": 96, "latency_ms": 500.0, "block_steps_list": [4, 3, 5]}
    s = one(tmp_path, json.dumps(request) + "\n")
    assert s.passes == 15 and s.tokens_per_pass == pytest.approx(6.4)
    linear = one(tmp_path, json.dumps({"forward_passes": 30, "tokens": 90, "acceptance_rate": 0.7}) + "\n")
    assert linear.tokens_per_pass == 3.0


def test_block_diffusion_batches_leave_prompts_out(tmp_path):
    rows = [{"seq": 0, "phase": "initial_prefill", "forward_result_ms": 95.0, "num_reqs": 8},
            {"seq": 1, "phase": "decode", "forward_result_ms": 12.0, "num_reqs": 4, "num_masked_reqs": 3}]  # fmt: skip
    s = one(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    assert s.passes == 1 and s.cycle_time_s == pytest.approx(0.012) and s.running_requests == 4
