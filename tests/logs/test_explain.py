"""From sections to the contract, predictions, warnings, verdicts and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clover_sim.cli import main
from clover_sim.cost import Machine, cost_model
from clover_sim.explain import FIELDS, SCHEMA, Asked, Explanation, explain, largest_speedup
from clover_sim.specs import load_engine, load_hardware, load_model
from logs.lines import BENCH, BENCH_SPEC, decode, engine, v0, v1

KEYS = ["schema", *FIELDS, "warnings"]


def told(tmp_path: Path, *texts: str, **given: object) -> Explanation:
    paths = []
    for index, text in enumerate(texts):
        path = tmp_path / f"{index}.log"
        path.write_text(text)
        paths.append(str(path))
    return explain(paths, **given)  # type: ignore[arg-type]


def asked(model: str = "llama-3.1-8b", gpu: str = "h100", **given: object) -> Asked:
    machine = Machine(load_model(model), load_hardware(gpu), load_engine("vllm"))
    return Asked(cost_model("roofline", machine), **given)  # type: ignore[arg-type]


def test_the_contract_and_its_sections(tmp_path):
    document = told(tmp_path, engine(960.0, 8) + v1(4000, [3200, 2400])).to_dict()
    assert list(document)[: len(KEYS)] == KEYS and document["schema"] == SCHEMA
    assert document["cycles"] == 4000 and isinstance(document["cycles"], int)
    assert document["per_position_survival"] == pytest.approx([0.8, 0.6])
    (section,) = document["sections"]
    assert [key for key in section if key in FIELDS] == list(FIELDS) and section["warnings"] == []
    assert {name: document[name] for name in FIELDS} == {name: section[name] for name in FIELDS}


def test_what_a_log_does_not_say_is_null(tmp_path):
    document = told(tmp_path, v1(200, [160], layout="0.8")).to_dict()
    for name in ("cycles", "acceptance_length", "tokens_per_pass", "per_position_survival", "cycle_time_s",
                 "generation_tokens_per_s", "num_speculative_tokens"):  # fmt: skip
        assert document[name] is None, name


def test_sections_are_pooled_where_they_can_be(tmp_path):
    document = told(tmp_path, v1(100, [80, 60, 40]) + BENCH.format(output=1010, speed="50.00") + BENCH_SPEC).to_dict()
    assert document["engine"] == "vllm" and document["num_speculative_tokens"] == 3
    assert (document["cycles"], document["accepted_tokens"]) == (500, 780)
    assert document["acceptance_length"] == pytest.approx(1 + 780 / 500)
    assert document["per_position_survival"] == pytest.approx([(80 + 300) / 500, (60 + 200) / 500, (40 + 100) / 500])
    assert document["generation_tokens_per_s"] is None and document["cycle_time_s"] is None


def test_different_engines_have_no_common_engine(tmp_path):
    text = v1(100, [80]) + decode(1, 9, 9.0, 2.17, 0.54) + decode(2, 96, 80.0, 2.17, 0.54)
    document = told(tmp_path, text).to_dict()
    assert document["engine"] is None and document["num_speculative_tokens"] is None and document["cycles"] is not None


def test_a_given_draft_length_fills_what_the_log_leaves_open(tmp_path):
    document = told(tmp_path, v1(200, [160, 100], layout="0.8"), num_speculative_tokens=2).to_dict()
    assert document["cycles"] == 200 and document["acceptance_length"] == pytest.approx(2.3)
    assert not any("what is the draft length" in w for w in document["warnings"])
    script = told(tmp_path, "Accept length: 2.50\n", num_speculative_tokens=3).to_dict()
    assert script["acceptance_rate"] == pytest.approx(0.5) and script["cycles"] is None


def test_verdict_against_the_plain_part_of_the_log(tmp_path):
    """High acceptance, yet slower: the other process decodes without drafts."""
    found = told(tmp_path, v1(650, [630], seconds=10.0, pid=1) + engine(340.0, 1, pid=2))
    assert found.verdict.startswith("Speculation is slower than plain decoding, 0.38x")
    assert "Even full acceptance (2)" in found.verdict
    assert any("high acceptance but slow" in warning for warning in found.warnings)
    measured = found.to_dict()["sections"][0]["measured"]
    assert measured["cost_ratio"] == pytest.approx((1 + 630 / 650) * 340 / 128)


def test_a_plain_part_under_another_load_is_no_baseline(tmp_path):
    found = told(tmp_path, engine(960.0, 8) + v1(4000, [3200, 2400]) + engine(340.0, 1, pid=2))
    assert "so speculation pays if" in found.verdict


@pytest.mark.parametrize(
    ("baseline", "start"),
    [(400.0, "Speculation pays, 2.40x"), (965.0, "Speculation breaks even"), (1500.0, "Speculation is slower")],
)
def test_verdict_against_a_given_speed(tmp_path, baseline, start):
    found = told(tmp_path, engine(960.0, 8) + v1(4000, [3200, 2400]), baseline_tokens_per_s=baseline)
    assert found.verdict.startswith(start)


def test_a_speed_up_beyond_the_acceptance_length_is_impossible(tmp_path):
    """461 of 1000 drafts of one token accepted cannot give 1.57x; 443 at 1.31x cost 1.10 steps a cycle."""
    found = told(tmp_path, v1(1000, [461], seconds=10.0), baseline_tokens_per_s=146.1 / 1.57)
    assert any("impossible without another change" in warning for warning in found.warnings)
    assert largest_speedup(0.461, 1) == pytest.approx(1.461)
    possible = told(tmp_path, v1(1000, [443], seconds=10.0), baseline_tokens_per_s=144.3 * 17.70 / 23.25)
    assert not possible.warnings
    assert 1.09 <= possible.to_dict()["sections"][0]["measured"]["cost_ratio"] <= 1.11


def test_prediction_and_measured_against_predicted(tmp_path):
    found = told(tmp_path, engine(960.0, 8) + v1(4000, [3200, 2400]), asked=asked())
    (p,) = found.predictions
    assert p is not None and (p.batch_size, p.verify_width) == (8, 3)
    assert p.low_s <= p.cycle_s <= p.high_s and p.plain_step_s < p.cycle_s
    assert p.speedup == pytest.approx(2.4 * p.plain_step_s / p.cycle_s)
    assert p.measured_over_predicted == pytest.approx(0.02 / p.cycle_s)
    assert found.to_dict()["sections"][0]["prediction"]["break_even_acceptance_length"] == p.cost_ratio


def test_the_engine_of_the_log_is_priced_unless_one_is_named(tmp_path):
    text = decode(1, 9, 9.0, 2.17, 0.54) + decode(2, 96, 80.0, 2.17, 0.54)
    machines = [told(tmp_path, text, asked=asked(log_engine=own)).predictions[0] for own in (True, False)]
    assert [p is not None and p.machine.split(", ")[-1] for p in machines] == ["sglang", "vllm"]


def test_a_named_drafter_makes_the_cycle_longer(tmp_path):
    machine = Machine(
        load_model("qwen3-8b"), load_hardware("h100"), load_engine("vllm"), drafter=load_model("qwen3-0.6b")
    )
    cost = cost_model("roofline", machine)
    text = engine(96.0, 1) + v1(400, [320, 240])
    serial, parallel = (
        told(tmp_path, text, asked=Asked(cost, drafter="qwen3-0.6b", parallel=p)).predictions[0] for p in (False, True)
    )
    assert serial is not None and parallel is not None
    assert serial.draft_s > parallel.draft_s > 0 and serial.cycle_s > serial.verify_s


def test_nothing_to_predict_without_a_draft_length(tmp_path):
    assert told(tmp_path, v1(200, [160], layout="0.8"), asked=asked()).predictions == (None,)


def test_warnings(tmp_path):
    low = told(tmp_path, v1(1000, [200, 10, 0, 0, 0])).warnings
    assert any("low acceptance" in w for w in low) and any("positions from 2 on" in w for w in low)
    assert any("computed for nothing" in w for w in low)
    assert any("zero drafts" in w for w in told(tmp_path, v1(0, [0])).warnings)
    assert any("requests wait" in w for w in told(tmp_path, engine(960.0, 8, 30) + v1(4000, [3200, 2400])).warnings)
    odd = told(tmp_path, v1(1000, [900, 100]).replace("0.900, 0.100", "0.900, 0.800")).warnings
    assert any("1 + sum of the positions" in w for w in odd)


def test_zero_drafts_have_a_verdict(tmp_path):
    assert told(tmp_path, v1(0, [0, 0])).verdict.startswith("Nothing was drafted")


# ---------------------------------------------------------------------------------------------------------------------
# Public cases, with figures as their sources state them.

MTP8 = """\
---------------Speculative Decoding---------------
Acceptance rate (%):                     43.71
Acceptance length:                       4.50
Drafts:                                  11043
Draft tokens:                            88344
Accepted tokens:                         38611
Per-position acceptance (%):
  Position 0:                            76.17
  Position 1:                            61.58
  Position 2:                            51.25
  Position 3:                            42.43
  Position 4:                            36.40
  Position 5:                            30.94
  Position 6:                            27.22
  Position 7:                            23.65
==================================================
"""


def test_eight_draft_tokens_are_marginal_rates(tmp_path):
    """vllm-project/vllm#48892: 1 + sum of the positions is 4.496; their product would say 2.63."""
    document = told(tmp_path, MTP8).to_dict()
    assert document["cycles"] == 11043 and document["sections"][0]["output_tokens"] == 49654
    assert 4.49 <= document["tokens_per_pass"] <= 4.50 and 4.49 <= document["acceptance_length"] <= 4.50
    assert 227 <= 1024 / document["tokens_per_pass"] <= 229


M4_PRO = """\
encoded   12 tokens in    0.514 seconds, speed:   23.325 t/s
decoded  371 tokens in   34.412 seconds, speed:   10.781 t/s

n_draft   = 16
n_predict = 371
n_drafted = 912
n_accept  = 313
accept    = 34.320%

draft:

llama_perf_context_print:        eval time =    8806.60 ms /   855 runs   (   10.30 ms per token,    97.09 tokens per second)
"""  # noqa: E501


def test_many_accepted_drafts_without_a_gain(tmp_path):
    """ggml-org/llama.cpp#10455: a 17-token verify pass costs about five steps on that GPU."""
    document = told(tmp_path, M4_PRO, baseline_tokens_per_s=11.0).to_dict()
    (section,) = document["sections"]
    assert document["cycles"] == 57 and 57 <= section["target_passes"] <= 58 and section["draft_passes"] == 912
    assert 6.3 <= document["tokens_per_pass"] <= 6.6
    assert section["measured"]["speedup"] == pytest.approx(0.98, abs=0.005)
    assert 0.350 <= section["verify_time_s"] <= 0.520
    assert document["verdict"].startswith("Speculation breaks even")


# ---------------------------------------------------------------------------------------------------------------------
# The command.


def test_the_command_prints_json_and_words(tmp_path, capsys):
    path = tmp_path / "a.log"
    path.write_text(engine(960.0, 8) + v1(4000, [3200, 2400]) + v0(3, 500, 900, 720))
    assert main(["explain", str(path), "--format", "json", "--model", "llama-3.1-8b", "--gpu", "h100"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["lines_read"] == 3 == document["lines_used"] and len(document["sections"]) == 2
    assert main(["explain", str(path), "--color", "never"]) == 0
    text = capsys.readouterr().out
    for words in (
        "bonus token included",
        "must not be multiplied",
        "SGLang's num_draft_tokens",
        "verdict",
        "cycle time",
    ):
        assert words in text, words


def test_the_command_exports(tmp_path, capsys):
    path = tmp_path / "a.log"
    path.write_text(v1(400, [320, 240]))
    assert main(["explain", str(path), "--export", str(tmp_path / "o.json"), "--export", str(tmp_path / "o.txt")]) == 0
    assert json.loads((tmp_path / "o.json").read_text())["cycles"] == 400
    assert "verdict" in (tmp_path / "o.txt").read_text()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "name a log file"),
        (["-", "-"], 2, "only once"),
        (["{log}", "--num-speculative-tokens", "3", "--speculative-num-draft-tokens", "4"], 2, "give one of them"),
        (["{log}", "--speculative-num-draft-tokens", "1"], 2, "at least 2"),
        (["{log}", "--drafter", "qwen3-0.6b"], 2, "--model and --gpu"),
        (["{log}", "--baseline", "0"], 2, "above 0"),
        (["{log}", "--format", "csv"], 2, "csv"),
        (["{none}"], 3, "No such file"),
        (["{prose}"], 3, "none of 1 lines can be used"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path, capsys, words, code, message):
    (tmp_path / "a.log").write_text(v1(400, [320, 240]))
    (tmp_path / "b.log").write_text("the acceptance rate was 0.8\n")
    names = {"log": tmp_path / "a.log", "none": tmp_path / "none", "prose": tmp_path / "b.log"}
    assert main(["explain", *(word.format(**names) for word in words)]) == code
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_the_command_reads_a_pipe(tmp_path):
    src = Path(__file__).resolve().parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-m", "clover_sim", "explain", "-", "--format", "json"], input=v1(400, [320, 240]), text=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(src)}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["acceptance_length"] == pytest.approx(2.4)


def test_a_draft_length_other_than_the_counted_one_is_said_not_to_be_used(tmp_path):
    log = v1(4000, [3200, 2400])
    found = told(tmp_path, log, num_speculative_tokens=1)
    assert found.to_dict()["num_speculative_tokens"] == 2
    assert any("a draft length of 1 was given, but the log counts 2" in warning for warning in found.warnings)
    assert not any("was given" in warning for warning in told(tmp_path, log, num_speculative_tokens=2).warnings)
