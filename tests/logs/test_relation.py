"""Start-up lines as defaults, one prediction, and two figures never without what relates them."""

from __future__ import annotations

import json

import pytest

from clover_sim.cli import main
from clover_sim.cost import Machine
from clover_sim.explain import explain
from clover_sim.explain._known import accelerator, method, model, precision
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.speculation import cycle, drafter_model, shape_of
from logs.lines import engine, v1

ARGS = "(APIServer pid=42) INFO 03-04 05:00:00 [utils.py:233] non-default args: {}\n"
DRAFTS = {"method": "eagle3", "model": "a/b", "num_speculative_tokens": 3}
EAGLE = {"model": "Qwen/Qwen3-8B", "speculative_config": DRAFTS}
LOAD = engine(1120.0, 8) + v1(4000, [3200, 2400, 1600])


def written(tmp_path, text: str) -> str:
    path = tmp_path / "server.log"
    path.write_text(text)
    return str(path)


def told(tmp_path, capsys, text: str, *flags: str) -> dict:
    assert main(["explain", written(tmp_path, text), "--format", "json", *flags]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_card_alone_suffices_if_the_log_names_the_rest(tmp_path, capsys):
    document = told(tmp_path, capsys, ARGS.format(EAGLE) + LOAD, "--gpu", "h100")
    (section,) = document["sections"]
    found = section["prediction"]
    assert found["machine"] == "qwen3-8b bf16 on h100, vllm" and found["method"] == "eagle3"
    target = load_model("qwen3-8b")
    machine = Machine(target, load_hardware("h100"), load_engine("vllm"), drafter=drafter_model("eagle3-head", target))
    priced = cycle(machine, shape_of("eagle3", 3), 8, 1024)
    assert found["cycle_s"] == pytest.approx(priced.cycle_s) and found["cost_ratio"] == pytest.approx(priced.cost_ratio)
    assert document["configuration"]["model"] == {
        "value": "qwen3-8b", "stated": "Qwen/Qwen3-8B", "where": f"{tmp_path}/server.log:1",
    }  # fmt: skip


def test_flags_win_over_the_log(tmp_path, capsys):
    text = ARGS.format({**EAGLE, "tensor_parallel_size": 2}) + LOAD
    flags = ("--gpu", "h100", "--model", "llama-3.1-8b", "--method", "mtp", "--tensor-parallel-size", "1")
    (section,) = told(tmp_path, capsys, text, *flags)["sections"]
    assert section["prediction"]["machine"] == "llama-3.1-8b bf16 on h100, vllm"
    assert section["prediction"]["method"] == "mtp"
    (section,) = told(tmp_path, capsys, text, "--gpu", "h100")["sections"]
    assert section["prediction"]["machine"].startswith("qwen3-8b bf16 on 2 x h100")


def test_the_draft_length_of_the_start_up_line_fills_lines_without_one(tmp_path, capsys):
    document = told(tmp_path, capsys, ARGS.format(EAGLE) + v1(200, [160, 100, 40], layout="0.8"))
    assert document["num_speculative_tokens"] == 3 and document["cycles"] == 200
    assert document["acceptance_length"] == pytest.approx(2.5)


def test_two_speed_ups_are_related_in_words(tmp_path, capsys):
    """The verdict takes the log's cycle; by prices alone it is another figure, and both say which they are."""
    text = ARGS.format(EAGLE) + LOAD
    (section,) = told(tmp_path, capsys, text, "--gpu", "h100")["sections"]
    found, verdict = section["prediction"], section["verdict"]
    measured = 2.8 / (0.02 / found["plain_step_s"])
    assert f"{measured:.2f}x" in verdict and f"{found['speedup']:.2f}x" in verdict
    assert "times its price" in verdict and "if a plain step is off as much" in verdict
    assert found["fitted"] and found["fitted_speedup"] == pytest.approx(measured, rel=1e-3)
    assert main(["explain", written(tmp_path, text), "--gpu", "h100", "--color", "never"]) == 0
    assert "the verdict takes the cycle of the log" in capsys.readouterr().out


def test_a_measured_plain_speed_goes_into_the_prediction(tmp_path, capsys):
    document = told(tmp_path, capsys, ARGS.format(EAGLE) + LOAD, "--gpu", "h100", "--baseline", "800")
    (section,) = document["sections"]
    found = section["prediction"]
    assert found["plain_measured"] and found["plain_step_s"] == pytest.approx(8 / 800)
    assert section["measured"]["speedup"] == pytest.approx(1.4) and "1.40x" in document["verdict"]
    assert found["fitted_speedup"] == pytest.approx(1.4, rel=1e-3)
    impossible = told(tmp_path, capsys, ARGS.format(EAGLE) + LOAD, "--gpu", "h100", "--baseline", "90000")
    assert "left out" in impossible["sections"][0]["prediction"]["note"]


def test_without_a_method_the_gain_is_a_bound_only(tmp_path, capsys):
    text, flags = v1(4000, [3200, 2400, 1600], layout="0.9"), ("--gpu", "h100", "--model", "qwen3-8b")
    document = told(tmp_path, capsys, text, *flags)
    assert document["verdict"].startswith("Speculation gains at most") and "--method" in document["verdict"]
    priced = told(tmp_path, capsys, text, *flags, "--method", "eagle3")
    assert "Speculation pays" in priced["verdict"] and "draft length" in priced["verdict"]


def test_a_loss_says_where_it_goes_and_what_to_do(tmp_path, capsys):
    text = ARGS.format(EAGLE) + engine(500.0, 8) + v1(2400, [1500, 480, 180])
    document = told(tmp_path, capsys, text, "--gpu", "h100", "--baseline", "900")
    assert "slower than plain decoding" in document["verdict"] and "Verifying takes" in document["verdict"]
    assert "drafting" in document["verdict"] and "It would pay from" in document["verdict"]


def test_tokens_per_pass_beyond_the_acceptance_length_are_noticed(tmp_path):
    text = (
        "1.00.000.001 I slot print_timing: id  2 | task 5 |        eval time =    4000.00 ms /   261 tokens "
        "(   15.33 ms per token,    65.25 tokens per second)\n"
        "1.00.000.002 I slot print_timing: id  2 | task 5 | draft acceptance = 0.60000 (  180 accepted /   300 "
        "generated), mean acceptance length =  2.80, acceptance rate per position = (0.800, 0.600, 0.400)\n"
    )
    assert any("different spans" in warning for warning in explain([written(tmp_path, text)]).warnings)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--gpu", "h100"], "acme/own-7b"),
        (["--cost", "floor", "--gpu", "h100", "--model", "qwen3-8b"], "--baseline"),
        (["--method", "eagel3"], "did you mean"),
        (["--method", "mtp"], "--model and --gpu"),
    ],
)
def test_refusals_are_one_line(tmp_path, capsys, flags, words):
    path = written(tmp_path, ARGS.format({"model": "acme/own-7b"}) + LOAD)
    assert main(["explain", path, *flags]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


def test_an_unknown_model_is_said_and_nothing_is_guessed(tmp_path, capsys):
    document = told(tmp_path, capsys, ARGS.format({"model": "acme/own-7b"}) + LOAD)
    assert any("acme/own-7b" in warning and "give --model" in warning for warning in document["warnings"])
    assert document["sections"][0]["prediction"] is None and document["configuration"]["model"] is None


@pytest.mark.parametrize(
    ("stated", "ours"),
    [
        ("Qwen/Qwen3-8B", "qwen3-8b"),
        ("/data/hub/models--Qwen--Qwen3-30B-A3B-Instruct-2507/snapshots/0a", "qwen3-30b-a3b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"), ("unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3-8b"),
        ("/m/Qwen3-235B-A22B-UD-Q4_K_XL-00001-of-00003.gguf", "qwen3-235b-a22b"), ("openai/gpt-oss-20b", "gpt-oss-20b"),
        ("Qwen/Qwen3-Embedding-8B", None), ("acme/Qwen3-8B-pruned", None), ("../../../etc/passwd", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_models(stated, ours):
    assert model(stated) == ours


def test_a_path_in_a_log_opens_nothing(tmp_path):
    """A configuration file of that name exists here; a log has no business with it."""
    (tmp_path / "config.json").write_text("{}")
    assert model(str(tmp_path)) is None and model(str(tmp_path / "config.json")) is None


def test_names_of_formats_cards_and_methods():
    formats = ("modelopt_fp4", "gptq_marlin", "a/B-NVFP4", "x-Q8_0.gguf", "compressed-tensors")
    assert [precision(x) for x in formats] == ["nvfp4", "int4", "nvfp4", "8.5", None]
    assert accelerator("NVIDIA H100 80GB HBM3") == "h100" and accelerator("Apple M2 Ultra") == "m2-ultra"
    assert [method(x, "own") for x in ("deepseek_mtp", "ngram-mod", "draft-dflash", "suffix", "medusa")] == [
        "mtp", "ngram", "dflash", "suffix", None,
    ]  # fmt: skip
    assert method("ngram-mod, draft-mtp") == "mtp"
