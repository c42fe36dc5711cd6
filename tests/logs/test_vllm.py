"""vLLM: both generations of server logs, the offline script, metrics pages, benchmark reports, requests."""

from __future__ import annotations

import json

import pytest

from clover_sim.errors import InputError
from clover_sim.logs._section import cycles_of
from logs.lines import BENCH, BENCH_SPEC, engine, one, read, v0, v1


@pytest.mark.parametrize("layout", ["modern", "depth", "september", "0.9"])
def test_every_layout_with_positions_gives_the_same(tmp_path, layout):
    s = one(tmp_path, v1(200, [160, 100, 60], layout=layout))
    assert (s.engine, s.cycles, s.draft_tokens, s.accepted_tokens) == ("vllm", 200, 600, 320)
    assert s.num_speculative_tokens == 3
    assert s.acceptance_rate == pytest.approx(320 / 600)
    assert s.acceptance_length == pytest.approx(2.6)
    assert s.per_position_survival == pytest.approx((0.8, 0.5, 0.3))


@pytest.mark.parametrize("layout", ["0.8", "first"])
def test_layouts_without_positions_do_not_tell_cycles(tmp_path, layout):
    s = one(tmp_path, v1(200, [160, 100, 60], layout=layout) * 2)
    assert (s.draft_tokens, s.accepted_tokens, s.cycles, s.acceptance_length) == (1200, 640, None, None)
    assert s.acceptance_rate == pytest.approx(320 / 600)
    assert any("what is the draft length" in w for w in s.warnings)


def test_windows_are_weighted_by_their_drafts_never_averaged(tmp_path):
    s = one(tmp_path, v1(900, [900, 900]) + v1(100, [0, 0]))
    assert s.acceptance_length == pytest.approx(1 + 1800 / 1000)
    assert s.per_position_survival == pytest.approx((0.9, 0.9))


def test_cycle_time_pairs_a_window_with_the_engine_line_before_it(tmp_path):
    window = v1(4000, [3200, 2400], seconds=10.0)
    s = one(tmp_path, engine(960.0, 8, 7) + window + engine(100.0, 3))
    assert s.cycle_time_s == pytest.approx(8 / 400)
    assert (s.running_requests, s.waiting_requests) == (8, 7)
    assert s.generation_tokens_per_s == pytest.approx(960.0)
    assert s.tokens_per_pass == pytest.approx(2.4)
    stated = {i.name: (i.derived, i.stated) for i in s.identities}
    assert stated["throughput"] == pytest.approx((960.0, 960.0))


def test_a_window_of_another_process_is_not_paired(tmp_path):
    drafting, plain = read(tmp_path, engine(500.0, 8, pid=1) + v1(100, [90], pid=2)).sections
    assert drafting.cycle_time_s is None and drafting.generation_tokens_per_s is None
    assert not plain.speculative and plain.generation_tokens_per_s == 500.0


def test_two_containers_with_the_same_pid_are_two_processes(tmp_path):
    text = f"a-1  | {engine(500.0, 8, pid=1)}b-1  | {v1(100, [90], pid=1)}"
    assert len(read(tmp_path, text).sections) == 2


def test_passes_without_a_draft_lower_tokens_per_pass(tmp_path):
    """1000 cycles and 1500 accepted drafts in 10 s, but 400 tokens/s: 1500 tokens came one a pass."""
    s = one(tmp_path, engine(400.0, 4) + v1(1000, [900, 600], seconds=10.0))
    assert s.acceptance_length == pytest.approx(2.5)
    assert s.tokens_per_pass == pytest.approx(4000 / 2500)
    assert s.passes == 2500


def test_a_window_that_its_tokens_do_not_fill_says_nothing_of_all_passes(tmp_path):
    s = one(tmp_path, engine(300.0, 40) + v1(100, [50, 30], layout="0.9"))
    assert s.tokens_per_pass is None and s.acceptance_length == pytest.approx(1.8)
    assert any("no draft" in w for w in s.warnings)


def test_zero_drafts_and_nan(tmp_path):
    s = one(tmp_path, v1(0, [0, 0]) + v1(0, [0], layout="0.8"))
    assert (s.cycles, s.draft_tokens, s.accepted_tokens) == (0, 0, 0)
    assert s.acceptance_rate is None and s.acceptance_length is None and s.per_position_survival is None


def test_one_position_and_fifteen(tmp_path):
    assert one(tmp_path, v1(100, [97])).num_speculative_tokens == 1
    s = one(tmp_path, v1(100, [60, 40, 20, *[0] * 12]))
    assert s.num_speculative_tokens == 15 and len(s.per_position_survival or ()) == 15


def test_lengths_without_the_bonus_token_are_recognised(tmp_path):
    line = v1(100, [80, 50], layout="0.9").replace("Mean acceptance length: 2.30", "Mean acceptance length: 1.30")
    s = one(tmp_path, line)
    assert s.cycles == 100 and s.acceptance_length == pytest.approx(2.3)
    assert any("without the bonus" in c for c in s.conventions)


def test_short_drafts_are_counted_by_the_printed_length(tmp_path):
    """n-grams: 150 drafts of at most 5 tokens, 400 in all."""
    line = v1(150, [100, 60, 40, 20, 10]).replace("Drafted: 750", "Drafted: 400")
    assert one(tmp_path, line).cycles == pytest.approx(150, abs=1)
    assert cycles_of(400, 230, 5, 2.53) == 150


def test_a_changed_draft_length_is_said(tmp_path):
    s = one(tmp_path, v1(100, [80, 50]) + v1(100, [80, 50, 30, 10]))
    assert s.num_speculative_tokens == 4 and s.cycles == 200
    assert any("2, 4 tokens" in w for w in s.warnings)


def test_v0_counters_are_cumulative_and_runs_add_up(tmp_path):
    s = one(tmp_path, v0(3, 500, 900, 700) + v0(3, 900, 1500, 1200), v0(3, 100, 300, 180))
    assert (s.cycles, s.draft_tokens, s.accepted_tokens, s.output_tokens) == (600, 1800, 1000, 1380)
    assert s.acceptance_length == pytest.approx(1380 / 600) == s.tokens_per_pass
    assert any("behind a rejected" in w for w in s.warnings)


def test_v0_and_v1_in_one_file_stay_apart(tmp_path):
    sections = read(tmp_path, v0(4, 50, 100, 60) + v1(100, [80])).sections
    assert {s.format for s in sections} == {"vLLM V0 log", "vLLM V1 log"}


def test_v0_engine_lines_give_speed_and_cycle_time(tmp_path):
    line = (
        "INFO 02-03 04:05:06 metrics.py:455] Avg prompt throughput: 5.0 tokens/s, Avg generation throughput: 240.0 "
        "tokens/s, Running: 4 reqs, Swapped: 0 reqs, Pending: 2 reqs, GPU KV cache usage: 1.0%, CPU KV cache "
        "usage: 0.0%.\n"
    )
    s = one(tmp_path, line + v0(3, 500, 900, 720))
    assert s.generation_tokens_per_s == 240.0 and s.cycle_time_s == pytest.approx(4 * 2.4 / 240)


@pytest.mark.parametrize("cut", [1, 20, 60, 110, 140, 180])
def test_a_line_cut_off_at_the_end_is_not_used(tmp_path, cut):
    whole = v1(1000, [800, 400])
    reading = read(tmp_path, whole + whole[: len(whole) - 1 - cut])
    (s,) = reading.sections
    if reading.lines_used == 1:
        assert s.cycles == 1000
    else:
        assert cut < 32 and s.cycles == 2000  # only the average rate is missing or cut, and that is not needed


def test_a_last_line_without_a_line_break_is_used_if_it_is_whole(tmp_path):
    for layout in ("modern", "september", "0.9", "0.8"):
        assert one(tmp_path, v1(100, [80, 50], layout=layout).rstrip("\n")).draft_tokens == 200


OFFLINE = """\
--------------------------------------------------
total_num_output_tokens: 5000
num_drafts: 800
num_draft_tokens: 4000
num_accepted_tokens: 3200
mean acceptance length: 5.00
num_tokens_generated_without_sd: 1000
seq normalized acceptance length: 2.78
--------------------------------------------------
acceptance at token 0: 0.90
acceptance at token 1: 0.85
acceptance at token 2: 0.80
acceptance at token 3: 0.75
acceptance at token 4: 0.70
"""


def test_offline_script_counts_passes_without_drafts(tmp_path):
    s = one(tmp_path, OFFLINE)
    assert (s.cycles, s.draft_tokens, s.accepted_tokens, s.passes) == (800, 4000, 3200, 1800)
    assert s.acceptance_length == 5.0 and s.tokens_per_pass == pytest.approx(5000 / 1800)
    assert s.num_speculative_tokens == 5 and s.per_position_survival == (0.90, 0.85, 0.80, 0.75, 0.70)


def test_the_oldest_offline_script_prints_the_bonus_as_token_0(tmp_path):
    s = one(tmp_path, "mean acceptance length: \t 2.30\nacceptance at token 0:1.00\nacceptance at token 1:0.80\n"
            "acceptance at token 2:0.50\n")  # fmt: skip
    assert s.per_position_survival == (0.8, 0.5) and s.num_speculative_tokens == 2 and s.acceptance_length == 2.3


def test_two_offline_runs_are_two_sections(tmp_path):
    assert len(read(tmp_path, OFFLINE + OFFLINE).sections) == 2


def test_offline_run_without_drafts(tmp_path):
    text = "total_num_output_tokens: 90\nnum_drafts: 0\nnum_draft_tokens: 0\nnum_accepted_tokens: 0\n"
    s = one(tmp_path, text + "mean acceptance length: 1.00\nacceptance at token 0: 0.00\n")
    assert s.cycles == 0 and s.acceptance_length is None and s.acceptance_rate is None


def page(drafts: int, positions: list[int], engine_index: int = 0, system: str = "vllm") -> str:
    labels = f'model_name="m",engine="{engine_index}"'
    lines = [
        "# HELP a page", f"{system}:spec_decode_num_drafts_total{{{labels}}} {drafts}.0",
        f"{system}:spec_decode_num_draft_tokens_total{{{labels}}} {drafts * len(positions)}.0",
        f"{system}:spec_decode_num_accepted_tokens_total{{{labels}}} {sum(positions):.3e}",
        f"{system}:spec_decode_num_drafts_created{{{labels}}} 1.7e+09",
        *(f'{system}:spec_decode_num_accepted_tokens_per_pos_total{{position="{i}",{labels}}} {n}.0'
          for i, n in enumerate(positions)),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def test_metrics_page_sums_engines_and_ignores_created(tmp_path):
    s = one(tmp_path, page(100, [80, 40]) + page(300, [300, 180], 1))
    assert (s.cycles, s.accepted_tokens, s.draft_tokens) == (400, 600, 800)
    assert s.acceptance_length == pytest.approx(2.5) and s.num_speculative_tokens == 2
    assert s.per_position_survival == pytest.approx((0.95, 0.55))


def test_two_scrapes_are_differenced(tmp_path):
    s = one(tmp_path, page(100, [80, 40]), page(150, [100, 50]))
    assert (s.cycles, s.accepted_tokens) == (50, 30)
    assert s.per_position_survival == pytest.approx((0.4, 0.2))


def test_a_restarted_counter_counts_from_zero(tmp_path):
    assert one(tmp_path, page(100, [80, 40]), page(30, [20, 10])).cycles == 30


def test_generated_tokens_of_a_page_tell_passes_without_drafts(tmp_path):
    s = one(tmp_path, page(100, [60, 40]) + 'vllm:generation_tokens_total{engine="0"} 500.0\n')
    assert s.acceptance_length == 2.0 and s.tokens_per_pass == pytest.approx(500 / 400)


def test_llama_server_uses_the_same_names(tmp_path):
    sections = read(tmp_path, page(100, [80]) + page(10, [5, 1], system="llamacpp")).sections
    assert [s.engine for s in sections] == ["vllm", "llama.cpp"]


def test_sglang_page_has_gauges(tmp_path):
    text = 'sglang:spec_accept_length{tp_rank="0"} 2.5\nsglang:gen_throughput{tp_rank="0"} 500\n'
    s = one(tmp_path, text + "sglang:num_running_reqs{} 4\n")
    assert s.acceptance_length == 2.5 and s.cycle_time_s == pytest.approx(4 * 2.5 / 500)


def test_a_page_without_drafts_is_refused(tmp_path):
    with pytest.raises(InputError, match="none of 1 lines"):
        read(tmp_path, 'vllm:num_requests_running{engine="0"} 3.0\n')


def test_bench_serve_report(tmp_path):
    s = one(tmp_path, BENCH.format(output=1010, speed="50.00") + BENCH_SPEC)
    assert (s.cycles, s.draft_tokens, s.accepted_tokens, s.num_speculative_tokens) == (400, 1200, 600, 3)
    assert s.acceptance_length == 2.5 == s.tokens_per_pass and s.per_position_survival == (0.75, 0.5, 0.25)
    assert s.generation_tokens_per_s == 50.0 and s.cycle_time_s == pytest.approx(0.02)
    assert {i.name: i.derived for i in s.identities}["ITL / TPOT"] == 2.5


def test_bench_serve_report_with_passes_without_drafts(tmp_path):
    s = one(tmp_path, BENCH.format(output=1510, speed="75.00") + BENCH_SPEC)
    assert s.tokens_per_pass == pytest.approx(1500 / 900) and s.acceptance_length == 2.5


def test_a_bench_block_pasted_alone(tmp_path):
    s = one(tmp_path, BENCH_SPEC)
    assert s.output_tokens == 1000 and s.generation_tokens_per_s is None


def test_a_bench_report_without_drafts_is_no_speculation(tmp_path):
    s = one(tmp_path, BENCH.format(output=1000, speed="50.00") + "=" * 50 + "\n")
    assert not s.speculative and s.generation_tokens_per_s == 50.0 and s.cycles is None


def test_bench_json_has_percent_rates_and_fraction_positions(tmp_path):
    document = {
        "duration": 20.0, "completed": 10, "output_throughput": 50.0, "mean_tpot_ms": 8.0, "mean_itl_ms": 20.0,
        "total_output_tokens": 1010, "spec_decode_acceptance_rate": 50.0, "spec_decode_acceptance_length": 2.5,
        "spec_decode_num_drafts": 400, "spec_decode_draft_tokens": 1200, "spec_decode_accepted_tokens": 600,
        "spec_decode_per_position_acceptance_rates": [0.75, 0.5, 0.25], "itls": [[0.02, 0.02]], "errors": [""],
    }  # fmt: skip
    for text in (json.dumps(document), json.dumps(document, indent=2)):
        s = one(tmp_path, text)
        assert s.acceptance_rate == 0.5 and s.per_position_survival == (0.75, 0.5, 0.25) and s.cycles == 400


def test_metrics_of_requests_add_up(tmp_path):
    metrics = {
        "num_spec_steps": 43, "num_accepted_draft_tokens": 10, "num_draft_tokens": 129, "num_spec_tokens": 3,
        "acceptance_histogram": [39, 1, 0, 3],
    }  # fmt: skip
    text = json.dumps({"id": "a", "metrics": {"speculative_decoding": metrics}}) + "\n"
    s = one(tmp_path, text * 2)
    assert (s.cycles, s.accepted_tokens, s.draft_tokens, s.num_speculative_tokens) == (86, 20, 258, 3)
    assert s.acceptance_length == pytest.approx(1.2326, abs=1e-4)
    assert s.per_position_survival == pytest.approx((4 / 43, 3 / 43, 3 / 43))
