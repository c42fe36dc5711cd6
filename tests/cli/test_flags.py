"""What is refused on the way from words to values, and what is said then."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize(
    "words",
    [
        "compare --model D", "compare --gpu D", "compare --engine D", "compare --input D", "compare --trace D",
        "compare --calibration D", "compare --ledger D", "compare --record D", "price --model D", "price --gpu D",
        "price --ledger D", "price --calibration D", "sweep --model D --vary batch_size=1,2", "sweep --resume D",
        "speculate --workload code --model D", "speculate --from-log D", "agent D", "agent --gpu D", "serve --log D",
        "serve --model D", "explain D", "trace --trace D", "trace --input D", "validate --measurements D",
        "validate --diffusion --trace D", "calibrate --trace D",
        "calibrate --measured-tokens-per-s 9 --model D --gpu h100",
    ],
)  # fmt: skip
def test_a_directory_where_a_file_or_name_belongs(words, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    for spelled in ("folder", "./folder", str(folder)):
        code = main([spelled if word == "D" else word for word in words.split()])
        out, err = capsys.readouterr()
        assert code in (2, 3) and out == "" and err.count("\n") == 1
        assert "directory" in err.lower() and "folder" in err


def test_a_downloaded_model_is_named_by_its_directory(tmp_path, capsys, monkeypatch):
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "config.json").write_text(json.dumps({
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 512, "num_hidden_layers": 4,
        "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000, "tie_word_embeddings": False,
    }))  # fmt: skip
    monkeypatch.chdir(tmp_path)
    found = set()
    for spelled in ("snapshot", "snapshot/", "./snapshot", str(tmp_path / "snapshot"), "snapshot/config.json"):
        assert main(["compare", "-s", "ar", "--tokens", "16", "--model", spelled, "--format", "csv"]) == 0
        found.add(capsys.readouterr().out)
    assert len(found) == 1
