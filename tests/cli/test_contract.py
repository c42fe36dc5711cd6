"""Each row of the command-line contract (docs: exit codes, streams, formats, JSON, size, colour, names, errors...)."""

from __future__ import annotations

import json
import math
import re

import pytest

from cli.harness import cli
from clover_sim.cli import main
from clover_sim.cli._console import wants_colour
from clover_sim.report import formats

QUICK = ("--tokens", "64")


def call(capsys, *args):
    """Exit code, standard output and standard error of a run inside this process."""
    code = main([str(a) for a in args])
    out, err = capsys.readouterr()
    return code, out, err


def write_plugin(folder, body):
    (folder / "plugged.py").write_text("from clover_sim.records import BLOCK, Forward\n\n" + body)
    return {"PYTHONPATH": str(folder)}


# exit codes


@pytest.mark.parametrize(
    ("code", "args"),
    [
        (0, ["compare", *QUICK]),
        (0, []),
        (0, ["--help"]),
        (0, ["compare", "--help"]),
        (0, ["--version"]),
        (1, ["compare", *QUICK, "--fail-under", "speedup_time=1000"]),
        (1, ["compare", "--tokens", "512", "--fail-over", "locked_errors=0"]),
        (1, ["compare", *QUICK, "-s", "ar", "--fail-under", "speedup_time=1"]),
        (0, ["compare", *QUICK, "--fail-under", "speedup_passes=1", "--fail-over", "locked_errors=5"]),
        (2, ["compare", "--tokens", "many"]),
        (2, ["compare", "-s", "nonsense"]),
        (2, ["nonsense"]),
        (3, ["compare", "--input", "there-is-no-such-file.json"]),
        (3, ["compare", *QUICK, "--gpu", "rtx-5070-ti", "--precision", "int4"]),
        (4, ["compare", *QUICK, "-s", "json:loads"]),
    ],
)
def test_exit_codes(capsys, code, args):
    assert call(capsys, *args)[0] == code


def test_a_decoder_that_breaks_a_rule_gives_4_and_its_own_line(tmp_path):
    env = write_plugin(tmp_path, "class Idle:\n    def decode(self, canvas):\n        return\n        yield\n")
    done = cli("compare", *QUICK, "-s", "plugged:Idle", env=env)
    assert done.returncode == 4
    assert "plugged.py:" in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_a_decoder_that_raises_gives_4_and_the_traceback_only_with_v(tmp_path):
    env = write_plugin(tmp_path, "class Bad:\n    def decode(self, canvas):\n        yield 1 / 0\n")
    done = cli("compare", *QUICK, "-s", "plugged:Bad", env=env)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "Traceback" not in done.stderr
    loud = cli("compare", *QUICK, "-s", "plugged:Bad", "-v", env=env)
    assert loud.returncode == 4 and "ZeroDivisionError" in loud.stderr and "Traceback" in loud.stderr


def test_a_fault_of_the_program_gives_4_in_one_line(capsys, monkeypatch):
    def broken(*_args, **_kwargs):
        raise KeyError("surprise")

    monkeypatch.setattr("clover_sim.comparison.compare", broken)
    code, out, err = call(capsys, "compare")
    assert (code, out) == (4, "")
    assert "internal error, KeyError" in err and err.count("\n") == 1


# streams


def test_results_go_to_stdout_and_everything_else_to_stderr():
    done = cli("compare", *QUICK)
    assert done.returncode == 0 and "block-diffusion" in done.stdout and done.stderr == ""
    failed = cli("compare", "--tokens", "0")
    assert failed.stdout == "" and failed.stderr


def test_warnings_are_on_stderr_and_silent_with_q(capsys, monkeypatch):
    from clover_sim import comparison as library

    real = library.compare

    def warned(*args, **kwargs):
        from dataclasses import replace

        return replace(real(*args, **kwargs), warnings=("3 of 9 rows cannot be told apart: add --seeds 0:64",))

    monkeypatch.setattr(library, "compare", warned)
    loud = call(capsys, "compare", *QUICK)
    quiet = call(capsys, "compare", *QUICK, "-q")
    assert "warning: 3 of 9 rows" in loud[2] and quiet[2] == "" and loud[1] == quiet[1]


def test_no_progress_without_a_terminal():
    assert cli("compare", "--tokens", "50000").stderr == ""


# formats


@pytest.mark.parametrize(
    ("name", "start"), [("table", "reference stream"), ("json", "{"), ("csv", "stream,tokens"), ("markdown", "**")]
)
def test_formats(capsys, name, start):
    assert call(capsys, "compare", *QUICK, "--format", name)[1].startswith(start)


def test_an_unknown_format_names_those_there_are(capsys):
    code, _, err = call(capsys, "compare", "--format", "xml")
    assert code == 2
    assert f"--format: there is no format 'xml'; there are {', '.join(formats())}" in err


# JSON


def _walk(value):
    if isinstance(value, dict):
        yield from (x for v in value.values() for x in _walk(v))
    elif isinstance(value, list):
        yield from (x for v in value for x in _walk(v))
    else:
        yield value


def test_json_is_the_contract():
    done = cli("compare", *QUICK, "--format", "json")
    document = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert document["schema"] == "clover-sim/comparison/1"
    assert {"schema", "version", "rules", "seeds", "inputs", "rows"} <= set(document)
    wanted = {
        "stream", "tokens", "strategy", "options", "target_passes", "draft_passes", "kv_write_passes",
        "tokens_per_pass", "forced_commits", "locked_errors", "latency_s", "tokens_per_s", "speedup_passes",
        "speedup_time", "bound",
    }  # fmt: skip
    assert all(wanted <= set(row) for row in document["rows"])
    assert all(math.isfinite(x) for x in _walk(document) if isinstance(x, float))


def test_the_same_inputs_give_the_same_bytes(tmp_path):
    runs = []
    for name, env in (
        ("one", {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"}),
        ("two", {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "COLUMNS": "40"}),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "calls.json").write_text('{"name": "search", "args": {"city": "Zürich"}}\n' * 20, encoding="utf-8")
        done = cli("compare", "--input", folder / "calls.json", "--format", "json", env=env, cwd=folder)
        assert done.returncode == 0, done.stderr
        runs.append(done.stdout)
    assert runs[0] == runs[1]
    assert str(tmp_path) not in runs[0]
    inputs = json.loads(runs[0])["inputs"]
    assert inputs[0]["name"] == "calls.json" and len(inputs[0]["sha256"]) == 64


# size


@pytest.mark.parametrize(
    "args", [["compare"], ["trace"], *(["list", topic] for topic in ("models", "gpus", "columns"))]
)
def test_default_arguments_end_within_ten_seconds(args):
    assert cli(*args, timeout=10).returncode == 0


@pytest.mark.parametrize(
    "tokens", ["1e9", "1_000", "0", "-1", "1.5", "", "128,,256", "5:1:1", "1:5:0", "1:5", "9" * 40]
)
def test_counts_are_whole_numbers(capsys, tokens):
    code, out, err = call(capsys, "compare", f"--tokens={tokens}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--tokens" in err


def test_a_count_in_another_notation_is_rewritten(capsys):
    assert "write 1000000000" in call(capsys, "compare", "--tokens", "1e9")[2]


def test_ranges_include_their_end(capsys):
    _, out, _ = call(capsys, "compare", "-s", "ar", "--tokens", "100:500:200,7", "--format", "json")
    assert [row["tokens"] for row in json.loads(out)["rows"]] == [100, 300, 500, 7]


def test_long_work_is_refused_in_one_line(capsys):
    code, _, err = call(capsys, "compare", "--tokens", "9999999999")
    assert code == 2 and "--allow-long" in err and err.count("\n") == 1


@pytest.mark.parametrize("seeds", ["0:0", "5:2", "a:b", "-1:3", ":", "1:2:3"])
def test_empty_ranges_of_seeds_are_usage_errors(capsys, seeds):
    assert call(capsys, "compare", f"--seeds={seeds}")[0] == 2


def test_one_seed_is_a_range_of_one(capsys):
    document = json.loads(call(capsys, "compare", *QUICK, "--seeds", "7", "--format", "json")[1])
    assert document["seeds"] == [7]


# colour


@pytest.mark.parametrize(
    ("choice", "terminal", "environ", "coloured"),
    [
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ("auto", False, {"FORCE_COLOR": "0"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm"}, True),
        ("auto", False, {"TERM": "xterm"}, False),
    ],
)
def test_who_decides_about_colour(choice, terminal, environ, coloured):
    assert wants_colour(choice, terminal, environ) is coloured


def test_colour_reaches_the_output():
    assert "\x1b[" in cli("compare", *QUICK, "--color", "always").stdout
    assert "\x1b[" in cli("compare", *QUICK, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in cli("compare", *QUICK).stdout
    assert "\x1b[" not in cli("compare", *QUICK, "--color", "always", "--format", "json").stdout


# names


def _options(out, name):
    return next(row["options"] for row in json.loads(out)["rows"] if row["strategy"] == name)


def test_flags_have_the_names_of_the_field(capsys):
    flags = ["--block-size", "16", "--threshold", "0.9", "--num-speculative-tokens", "3", "--batch-size", "2",
             "--tensor-parallel-size", "2", "--kv-cache-dtype", "fp8"]  # fmt: skip
    code, out, err = call(capsys, "compare", *QUICK, *flags, "--format", "json")
    assert code == 0, err
    assert _options(out, "block-diffusion")["block_size"] == 16
    assert _options(out, "block-diffusion")["threshold"] == 0.9
    assert _options(out, "speculative")["num_speculative_tokens"] == 3
    assert _options(out, "speculative")["parallel_draft"] is True, "the default strategies stay what they are"


def test_draft_tokens_of_sglang_count_the_root(capsys):
    _, out, _ = call(capsys, "compare", *QUICK, "--speculative-num-draft-tokens", "6", "--format", "json")
    assert _options(out, "speculative")["num_speculative_tokens"] == 5


@pytest.mark.parametrize(
    "args",
    [
        ["--num-speculative-tokens", "5", "--speculative-num-draft-tokens", "6"],
        ["--speculative-num-draft-tokens", "1"],
        ["-s", "ar", "--block-size", "8"],
        ["-s", "block-diffusion:block_size=8", "--block-size", "8"],
        ["--model", "qwen3-8b", "--params-b", "8"],
        ["--gpu", "h200", "--gpu-bandwidth-tb-s", "3"],
        ["--active-b", "3"],
    ],
)
def test_contradictions_are_usage_errors(capsys, args):
    code, out, err = call(capsys, "compare", *QUICK, *args)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_bare_figures(capsys):
    args = ["--params-b", "35", "--active-b", "3", "--gpu-bandwidth-tb-s", "3", "--precision", "fp8", "--cost", "floor"]
    code, out, err = call(capsys, "compare", "-s", "ar", "--tokens", "1000", *args, "--format", "json")
    assert code == 0, err
    row = json.loads(out)["rows"][0]
    assert row["ms_per_pass"] == pytest.approx(1.0) and row["latency_s"] == pytest.approx(1.0)


def test_a_fixed_price(capsys):
    _, out, _ = call(
        capsys, "compare", "-s", "ar", "--tokens", "2000", "--cost", "fixed:pass_ms=15", "--format", "json"
    )
    row = json.loads(out)["rows"][0]
    assert (row["target_passes"], row["latency_s"], row["bound"]) == (2000, pytest.approx(30.0), "fixed")


def test_flags_are_never_abbreviated(capsys):
    code, _, err = call(capsys, "compare", "--thresh", "0.9")
    assert code == 2 and "did you mean '--threshold'?" in err


def test_common_flags_may_stand_before_the_command(capsys):
    assert call(capsys, "-q", "--color", "never", "list", "profiles")[0] == 0


# strategies


def test_strategies_with_options_and_plugins(tmp_path):
    body = (
        "class One:\n    def decode(self, canvas):\n        while canvas.remaining:\n"
        "            span = canvas.block(4)\n            while canvas.frontier < span.stop:\n"
        "                view = yield span\n                canvas.commit(view.best())\n"
    )
    env = write_plugin(tmp_path, body)
    specs = ["-s", "ar", "-s", "block-diffusion:threshold=0.9,block_size=16", "-s", "plugged:One"]
    done = cli("compare", *QUICK, *specs, "--format", "json", env=env)
    assert done.returncode == 0, done.stderr
    assert [row["strategy"] for row in json.loads(done.stdout)["rows"]] == ["ar", "block-diffusion", "plugged:One"]


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["compare", "-s", "speculativ"], "did you mean 'speculative'?"),
        (["compare", "-s", "block-diffusion:thresold=0.9"], "did you mean 'threshold'?"),
        (["compare", "--profile", "toolcall"], "did you mean 'tool-call'?"),
        (["compare", "--model", "qwen3-8"], "did you mean 'qwen3-8b'?"),
        (["compare", "--gpu", "h20O"], "did you mean"),
        (["compare", "--tokns", "5"], "did you mean '--tokens'?"),
        (["compare", "--fail-under", "speed_time=2"], "did you mean 'speedup_time'?"),
        (["comprae"], "did you mean 'compare'?"),
        (["list", "model"], "did you mean 'models'?"),
    ],
)
def test_near_misses_get_a_suggestion(capsys, args, hint):
    code, out, err = call(capsys, *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert hint in err


# errors


@pytest.mark.parametrize(
    "args",
    [
        ["compare", "--kv-write", "sideways"],
        ["compare", "--batch-size", "0"],
        ["compare", "--tokens"],
        ["compare", "stray"],
        ["compare", "--threshold", "nan"],
        ["compare", "--cost", "fixed:pass_ms=inf"],
        ["compare", "--profile", "reference:lift=inf"],
        ["compare", "--fail-under", "locked_errors=1"],
        ["compare", "--fail-under", "speedup_time=nan"],
        ["compare", "--fail-under", "bound=1"],
        ["compare", "--columns", "nothing"],
        ["compare", "-s", "a\nb\x1b[31m"],
        ["trace", "--format", "csv"],
        ["trace", "--seeds", "0:4"],
        ["trace", "--export", "x.csv"],
        ["list"],
        ["--tokens", "5"],
    ],
)
def test_errors_are_one_line_that_says_who(capsys, args):
    code, out, err = call(capsys, *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.match(r"clover-sim( compare| trace| list)?: error: \S", err)
    assert "\x1b" not in err and "Traceback" not in err


# advice


def test_a_missed_bar_says_by_how_much_and_where(capsys):
    _, out, err = call(capsys, "compare", "--tokens", "64,128", "--fail-under", "speedup_passes=3")
    assert "block-diffusion" in out
    assert "check failed: --fail-under speedup_passes=3: 2 of 4 rows below it; worst is speculative at" in err


def test_bars_ignore_the_baseline(capsys):
    assert call(capsys, "compare", *QUICK, "--fail-under", "speedup_passes=1.01")[0] == 0
