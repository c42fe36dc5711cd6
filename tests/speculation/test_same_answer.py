"""One log, one answer: ``explain`` and ``speculate --from-log`` agree at the log's own draft length and batch."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from logs.lines import engine, v1
from speculation.test_from_log import LOAD, START, TREE, WINDOW

FLAGS = ("--model", "qwen3-8b", "--gpu", "h100", "--method", "mtp")
TIMINGS = (
    "1.00.000.001 I slot print_timing: id  2 | task 5 |        eval time =    4000.00 ms /   181 tokens "
    "(   22.10 ms per token,    45.25 tokens per second)\n"
    "1.00.000.002 I slot print_timing: id  2 | task 5 | draft acceptance = 0.60000 (  120 accepted /   200 "
    "generated), mean acceptance length =  2.80, acceptance rate per position = (0.800, 0.600, 0.400)\n"
)


def ask(command: str, text: str, tmp_path: Path, *flags: str, code: int = 0) -> Any:
    """The document of a command on a log, or what it says on standard error."""
    log = tmp_path / "server.log"
    log.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    where = [str(log)] if command == "explain" else ["--from-log", str(log)]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main([command, *where, *flags, "--format", "json"]) == code, err.getvalue()
    return json.loads(out.getvalue()) if code == 0 else err.getvalue()


def both(text: str, tmp_path: Path, *flags: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The main section of ``explain`` and the answer of ``speculate``."""
    sections = [s for s in ask("explain", text, tmp_path, *flags)["sections"] if s["speculative"]]
    return max(sections, key=lambda s: s["cycles"] or 0), ask("speculate", text, tmp_path, *flags)


FAST, SLOW = engine(1600.0, 8) + v1(6666, [5333, 4000], seconds=10.0), engine(480.0, 8) + v1(2000, [1600, 1200])
MISSES = LOAD.replace("96.0", "136.0")
"""Half of the passes had no draft."""

LOGS = {
    "as priced": (FAST, FLAGS), "slower than priced": (SLOW, FLAGS),
    "all stated": (START + LOAD + WINDOW, ("--gpu", "h100")),
    "plain speed given": (SLOW, (*FLAGS, "--baseline", "400")),
    "a plain part": (v1(650, [630], pid=1) + engine(340.0, 1, pid=2), FLAGS),
    "no time at all": (v1(400, [320, 240]), FLAGS),
    "one request alone": (v1(400, [320, 240]), (*FLAGS, "--batch-size", "3")),
    "tree": (TREE, ("--gpu", "h100")),
    "timings of llama.cpp": (TIMINGS, ("--model", "qwen3-8b", "--gpu", "rtx-4090", "--method", "mtp")),
    "n-grams that miss": (START.replace("'mtp'", "'ngram'") + MISSES + WINDOW, ("--gpu", "h100")),
    "drafts that are missing": (MISSES + WINDOW, FLAGS),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_the_same_speed_up(name: str, tmp_path: Path) -> None:
    text, flags = LOGS[name]
    section, answer = both(text, tmp_path, *flags)
    told = section["measured"] or section["estimated"]
    prediction = section["prediction"]
    assert answer["speedup"] == pytest.approx(told["speedup"], rel=2e-3)
    assert prediction["fitted_speedup"] == pytest.approx(told["speedup"], rel=2e-3)
    assert (answer["num_speculative_tokens"], answer["batch_size"]) == (
        len(section["per_position_survival"] or ()) or answer["num_speculative_tokens"], prediction["batch_size"],
    )  # fmt: skip
    assert answer["best_num_speculative_tokens"] == prediction["best_num_speculative_tokens"]
    assert answer["cycle_factor"] == pytest.approx(prediction["cycle_factor"] or 1.0, rel=2e-3)
    assert answer["crossover_batch"] == prediction["crossover_batch"]
    assert answer["speedup_by_prices"] == pytest.approx(answer["speedup"] * answer["cycle_factor"])


@pytest.mark.parametrize("name", ["slower than priced", "n-grams that miss", "drafts that are missing", "all stated"])
def test_an_estimate_is_the_speed_over_that_of_priced_plain_steps(name: str, tmp_path: Path) -> None:
    """Whatever a cycle is: the tokens that were written in a second over those of plain decoding."""
    text, flags = LOGS[name]
    section, _ = both(text, tmp_path, *flags)
    plain = section["prediction"]["plain_tokens_per_s"]
    assert section["estimated"]["speedup"] == pytest.approx(section["generation_tokens_per_s"] / plain, rel=0.01)


def test_the_difference_to_prices_is_said_with_its_place(tmp_path: Path) -> None:
    answer = ask("speculate", SLOW, tmp_path, *FLAGS)
    (row,) = (row for row in answer["from_log"] if row["name"] == "cycle time")
    factor = answer["cycle_factor"]
    assert row["value"] == pytest.approx(40.0) and f"{factor:.2f} times its price" in row["where"]
    assert "h100 is taken for the card it ran on" in row["where"] and "server.log:1 to 2" in row["where"]
    assert f"{factor:.2f} times its price" in answer["verdict"]
    assert f"{answer['speedup_by_prices']:.2f}x" in answer["verdict"]


def test_a_verdict_on_an_unexplained_cycle_takes_no_side(tmp_path: Path) -> None:
    """Slower if a plain step takes its price, faster if it is off as much: neither command decides it."""
    section, answer = both(SLOW, tmp_path, *FLAGS)
    assert section["estimated"]["speedup"] < 0.9 and section["prediction"]["speedup"] > 1.3
    for verdict in (section["verdict"], answer["verdict"]):
        assert verdict.startswith("Whether speculation pays cannot be told")
        assert "Even full acceptance" not in verdict and "leave it off" not in verdict
        assert "no draft length pays" not in verdict and "only a plain speed (--baseline) tells" in verdict


@pytest.mark.parametrize("baseline", ["150", "200", "300", "375", "500", "700", "1500"])
@pytest.mark.parametrize("text", [FAST, SLOW], ids=["fast", "slow"])
def test_no_verdict_contradicts_its_advice(baseline: str, text: str, tmp_path: Path) -> None:
    """A gain that was measured cannot stand beside "no draft length pays"."""
    flags = (*FLAGS, "--baseline", baseline)
    section = ask("explain", text, tmp_path, *flags)["sections"][0]
    gain = section["measured"]["speedup"]
    if gain > section["acceptance_length"]:
        assert section["verdict"].startswith("No verdict") and section["prediction"]["fitted_speedup"] is None
        assert "more than its tokens a cycle allow" in ask("speculate", text, tmp_path, *flags, code=2)
        return
    answer = ask("speculate", text, tmp_path, *flags)
    assert (gain > 1) <= (section["prediction"]["best_num_speculative_tokens"] > 0)
    for verdict in (section["verdict"], answer["verdict"]):
        if gain > 1:
            assert "no draft length pays" not in verdict.lower() and "could not pay" not in verdict
        if verdict.startswith("Speculation pays"):
            assert gain > 1


def test_the_misfit_of_one_card_on_another(tmp_path: Path) -> None:
    home = ask("speculate", SLOW, tmp_path, *FLAGS)
    flags = ("--model", "qwen3-8b", "--method", "mtp", "--gpu", "b200", "--log-gpu", "h100")
    away = ask("speculate", SLOW, tmp_path, *flags)
    assert away["gpu"] == "b200" and away["cycle_factor"] == pytest.approx(home["cycle_factor"])
    (row,) = (row for row in away["from_log"] if row["name"] == "cycle time")
    assert "for qwen3-8b on h100" in row["where"] and "is taken for" not in row["where"]
    assert "unknown" in ask("speculate", SLOW, tmp_path, "--log-gpu", "h1000", *FLAGS, code=2)


def test_another_batch_and_length_take_the_misfit_along(tmp_path: Path) -> None:
    home = ask("speculate", SLOW, tmp_path, *FLAGS)
    other = ask("speculate", SLOW, tmp_path, *FLAGS, "--batch-size", "64", "--num-speculative-tokens", "4")
    assert (other["batch_size"], other["num_speculative_tokens"]) == (64, 4)
    assert other["cycle_factor"] == pytest.approx(home["cycle_factor"])
    assert [p["speedup"] for p in home["lengths"]][3] == pytest.approx(
        ask("speculate", SLOW, tmp_path, *FLAGS, "--num-speculative-tokens", "4")["speedup"]
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--model", "qwen3-8b", "--method", "mtp", "--gpu", "t4"), "say where with --log-gpu"),
        (("--gpu", "h100", "--method", "mtp"), "give --model of the machine"),
        (("--model", "qwen3-8b", "--method", "mtp"), "give --gpu of the machine"),
    ],
)
def test_times_that_cannot_be_held_against_anything_are_not_used(
    flags: tuple[str, ...], words: str, tmp_path: Path
) -> None:  # fmt: skip
    answer = ask("speculate", FAST, tmp_path, *flags)
    (row,) = (row for row in answer["from_log"] if row["name"] == "cycle time")
    assert words in row["where"] and answer["cycle_factor"] == 1


def test_where_the_log_ran_goes_with_a_log(tmp_path: Path) -> None:
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        assert main(["speculate", "--alpha", "0.7", "--log-gpu", "h100", "--gpu", "b200"]) == 2
    assert "--from-log" in out.getvalue() and out.getvalue().count("\n") == 1


def test_a_log_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = ask("speculate", FAST, tmp_path, *FLAGS)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FAST.encode())))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["speculate", "--from-log", "-", *FLAGS, "--format", "json"]) == 0
    assert json.loads(out.getvalue())["speedup"] == direct["speedup"]


def test_what_is_not_in_the_answer_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    log = tmp_path / "a.log"
    log.write_text(LOGS["a plain part"][0])
    assert main(["speculate", "--from-log", str(log), "--model", "qwen3-8b", "--gpu", "t4", "--method", "mtp"]) == 0
    warnings = capsys.readouterr().err.splitlines()
    (said,) = (line for line in warnings if "what the log measured" in line)
    assert "is not in the answer: a measured plain step of 2.94 ms" in said and "--log-gpu" in said
