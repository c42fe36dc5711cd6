"""What a log measured belongs to its own batch, card and model; what is missing is named."""

from __future__ import annotations

import json

import pytest

from clover_sim.cli import main
from logs.lines import engine, v1

LOAD = engine(960.0, 8) + v1(4000, [3200, 2400])
FLAGS = ("--model", "qwen3-8b", "--gpu", "h100", "--method", "mtp")
STARTED = (
    "(APIServer pid=42) INFO 03-04 05:00:00 [utils.py:233] non-default args: {'model': 'Qwen/Qwen3-8B', "
    "'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 2}}\n"
)
TIMINGS = (
    "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 4090) - 23000 MiB free\n"
    "1.00.000.001 I slot print_timing: id  2 | task 5 |        eval time =    4000.00 ms /   181 tokens "
    "(   22.10 ms per token,    45.25 tokens per second)\n"
    "1.00.000.002 I slot print_timing: id  2 | task 5 | draft acceptance = 0.60000 (  120 accepted /   200 "
    "generated), mean acceptance length =  2.80, acceptance rate per position = (0.800, 0.600, 0.400)\n"
)


@pytest.fixture
def run(tmp_path, capsys):
    def asked(text, *flags, code=0):
        path = tmp_path / "server.log"
        path.write_text(text)
        assert main(["explain", str(path), *flags, "--format", "json"]) == code
        out, err = capsys.readouterr()
        return json.loads(out) if code == 0 else err

    return asked


@pytest.mark.parametrize("batch", ["1", "4", "10", "32", "65536"])
def test_a_measured_cycle_cannot_be_moved_to_another_batch(run, batch):
    err = run(LOAD, *FLAGS, "--batch-size", batch, code=2)
    assert "the log ran 8.0 requests together" in err and "server.log:1 to 2" in err
    assert "--from-log" in err and f"--batch-size {batch}" in err and err.count("\n") == 1


@pytest.mark.parametrize("batch", ["7", "8", "9"])
def test_a_batch_that_is_nearly_the_logs_is_the_logs(run, batch):
    alone = run(LOAD, *FLAGS)["sections"][0]
    document = run(LOAD, *FLAGS, "--batch-size", batch)
    assert document["sections"][0]["prediction"] == alone["prediction"]
    assert any("is not used" in w for w in document["warnings"]) == (batch != "8")


def test_a_log_that_counts_no_requests_takes_the_batch_on_both_sides(run):
    """Seconds over cycles is the cycle of one request alone; with three of them it is three times as long."""
    text = v1(400, [320, 240], seconds=10.0)
    (section,) = run(text, *FLAGS, "--batch-size", "3")["sections"]
    assert section["cycle_time_s"] == pytest.approx(3 * 10 / 400) and section["prediction"]["batch_size"] == 3
    assert section["estimated"]["cost_ratio"] == pytest.approx(0.075 / section["prediction"]["plain_step_s"])
    assert run(text, *FLAGS)["sections"][0]["cycle_time_s"] is None


def test_the_plain_part_of_a_log_keeps_its_own_requests(run):
    text = v1(650, [630], seconds=10.0, pid=1) + engine(340.0, 1, pid=2)
    sections = run(text, *FLAGS, "--batch-size", "4")["sections"]
    assert [s["prediction"]["batch_size"] for s in sections] == [4, 1]
    assert sections[0]["measured"] is None  # four requests are no comparison for one


def test_another_card_than_the_logs_is_refused(run):
    ours = ("--model", "qwen3-8b", "--method", "mtp")
    assert run(TIMINGS, *ours)["configuration"]["gpu"]["value"] == "rtx-4090"
    err = run(TIMINGS, *ours, "--gpu", "h100", code=2)
    assert "the log ran on rtx-4090" in err and "speculate --from-log" in err and err.count("\n") == 1
    assert run(TIMINGS, *ours, "--gpu", "rtx-4090")["sections"][0]["prediction"] is not None


def test_a_card_on_which_the_cycle_cannot_have_run(run, capsys):
    document = run(LOAD, "--model", "qwen3-8b", "--gpu", "t4", "--method", "mtp")
    assert document["verdict"].startswith("The log did not run on what it is held against: its cycle takes 20.00 ms")
    assert "speculate" in document["verdict"] and document["sections"][0]["estimated"] is None
    assert not document["sections"][0]["prediction"]["possible"]


def test_a_plain_speed_that_cannot_be_gives_no_verdict(run):
    over = run(LOAD, *FLAGS, "--baseline", "100")
    assert over["verdict"].startswith("No verdict: the log is 9.60 times as fast as the plain speed given")
    assert any("impossible without another change" in warning for warning in over["warnings"])
    under = run(LOAD, *FLAGS, "--baseline", "900000")
    assert under["verdict"].startswith("No verdict: a measured plain step of 0.00889 ms at batch 8 is under a quarter")
    assert not any("plain steps" in warning for warning in under["warnings"])


def test_what_was_measured_on_both_sides_stands_whatever_the_card(run):
    """A plain part too fast for the card that was given: the measured ratio holds, prices do not."""
    text = v1(650, [630], seconds=10.0, pid=1) + engine(340.0, 1, pid=2)
    verdict = run(text, "--model", "qwen3-8b", "--gpu", "t4", "--method", "mtp")["verdict"]
    assert verdict.startswith("Speculation is slower than plain decoding, 0.38x")
    assert "No price stands beside it: a measured plain step of 2.94 ms" in verdict and "by price" not in verdict


def test_a_draft_model_must_be_named(run):
    err = run(LOAD, "--model", "qwen3-8b", "--gpu", "h100", "--method", "draft-model", code=2)
    assert "which model drafts? Name it: --drafter" in err and err.count("\n") == 1


def test_where_the_log_names_no_card_the_table_says_that_it_must_be_its_own(tmp_path, capsys):
    path = tmp_path / "a.log"
    path.write_text(LOAD)
    assert main(["explain", str(path), *FLAGS, "--color", "never"]) == 0
    assert "the card must be the one that the log ran on" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("flags", "words"),
    [(("--model", "llama-3.1-8b"), "--model llama-3.1-8b: the log states Qwen/Qwen3-8B"),
     (("--engine", "sglang"), "--engine sglang: the log states vllm")],
)  # fmt: skip
def test_another_model_or_engine_is_said_to_be_another(run, flags, words):
    document = run(STARTED + LOAD, "--gpu", "h100", *flags)
    assert any(words in warning for warning in document["warnings"])
    assert not any("the log states" in warning for warning in run(STARTED + LOAD, "--gpu", "h100")["warnings"])


@pytest.mark.parametrize("text", [v1(200, [160], layout="0.8"), "Accept length: 2.50\n"], ids=["rate", "length"])
def test_a_missing_draft_length_is_asked_for_by_its_flag(run, text):
    verdict = run(text, "--model", "qwen3-8b", "--gpu", "h100")["verdict"]
    assert "give --num-speculative-tokens" in verdict and "--gpu" not in verdict
    given = run(text, "--model", "qwen3-8b", "--gpu", "h100", "--num-speculative-tokens", "4")["verdict"]
    assert "--num-speculative-tokens" not in given


def test_what_else_is_missing_is_asked_for_with_it(run):
    verdict = run("Accept length: 2.50\n")["verdict"]
    assert "give --model and --gpu with --num-speculative-tokens, or --baseline" in verdict


@pytest.mark.parametrize(
    "flags",
    [("--prompt-tokens", "0"), ("--kv-cache-dtype", "fp8"), ("--tensor-parallel-size", "2"), ("--active-b", "3"),
     ("--parallel-drafting",)],
)  # fmt: skip
def test_flags_of_a_price_are_refused_where_nothing_is_priced(run, flags):
    err = run(LOAD, *flags, code=2)
    assert f"{flags[0]} needs a machine to price on: give --model and --gpu" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "other"),
    [(("--params-b", "8"), "--gpu"), (("--gpu-bandwidth-tb-s", "3.35"), "--model"), (("--model", "qwen3-8b"), "--gpu")],
)  # fmt: skip
def test_half_a_machine_is_named_by_the_flag_given(run, flags, other):
    err = run(LOAD, *flags, code=2)
    assert f"{flags[0]} alone does not say what ran the log: give {other} too" in err
