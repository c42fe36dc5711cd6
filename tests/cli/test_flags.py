"""What is refused on the way from words to values, and what is said then."""

from __future__ import annotations

import pytest

from clover_sim.cli import main
from clover_sim.cli._parser import Parser, common_flags
from clover_sim.errors import UsageError

FLAGS = (
    "--tokens", "--profile", "--input", "--seeds", "-s", "--threshold", "--model", "--gpu", "--engine", "--precision",
    "--kv-cache-dtype", "--cost", "--params-b", "--export", "--format", "--columns", "--fail-under",
)  # fmt: skip


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", ["", "  "])
def test_empty_values_are_refused(capsys, flag, value):
    assert main(["compare", flag, value]) == 2
    err = capsys.readouterr().err
    assert "the value is empty" in err and flag in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--threshold", "0.9,comparison=gt"], "--threshold: '0.9,comparison=gt' is not"),
        (["--seeds", "-1:3"], "--seeds: -1 is too small"),
        (["--seeds", "-1:3"], "0:32 for the seeds 0 to 31"),
        (["--tokens", "-5"], "--tokens: -5 is too small: at least 1"),
        (["--threshold", "-.5x"], "'-.5x' is not"),
        (["-s", "-mine"], "write -s-mine"),
        (["--export", "-r.json"], "write --export=-r.json"),
        (["--input", "-1.json"], "write --input=-1.json"),
        (["--tokens", "-q"], "-q is a flag of its own"),
        (["--tokens"], "--tokens: a value is missing after it, N[,N...]"),
        (["--params-b", "1e-10"], "--params-b: '1e-10' is out of range: expected 0.001 to 1,000,000 billion"),
        (["--gpu-bandwidth-tb-s", "1e300"], "--gpu-bandwidth-tb-s: '1e300' is out of range"),
        (["--params-b", "3", "--active-b", "5"], "--active-b 5 is more than the whole model"),
        (["--precision", "1_6"], "--precision: '1_6'"),
        (["--fail-under", "speedup_time=1_0"], "--fail-under: '1_0'"),
        (["--block-size", " 4 "], "write 4"),
        (["--", "x"], "unexpected argument '--'"),
        (["--tokens", "1:1e9999999999:1"], "--tokens: '1e9999999999' is not a whole number"),
    ],
)
def test_what_is_said(capsys, args, said):
    assert main(["compare", *args]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-V", "x"], "unexpected argument 'x'"),
        (["--version", "--bogus"], "unexpected argument '--bogus'"),
        (["help", "compare", "x"], "unexpected argument 'x'"),
        (["--version", "-q", "x"], "unexpected argument 'x'"),
    ],
)
def test_the_rest_is_refused(capsys, argv, said):
    assert main(argv) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [["compare", "-vh"], ["compare", "-qh", "--tokens", "8"], ["-qv", "compare", "--help"]]
)
def test_help_among_other_flags(capsys, argv):
    assert main(argv) == 0
    assert "usage: clover-sim compare" in capsys.readouterr().out


def test_negative_values_reach_their_flag():
    parser = Parser("x", "")
    common_flags(parser)
    parser.add_argument("--one")
    parser.add_argument("-o", "--other", action="append")
    args = parser.parse(["--one", "-1:2", "-o", "-.5", "-o", "7", "-v"])
    assert (args.one, args.other, args.verbose) == ("-1:2", ["-.5", "7"], True)
    with pytest.raises(UsageError, match="unknown flag -7"):
        parser.parse(["-v", "-7"])
