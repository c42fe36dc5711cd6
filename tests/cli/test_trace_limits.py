"""``trace`` ends in time whatever it is asked, and no flag of the stream is set aside without a word."""

from __future__ import annotations

from argparse import Namespace

import pytest

from clover_sim import trace, trace_block
from clover_sim.cli import main
from clover_sim.cli._stream_checks import check_streams
from clover_sim.errors import UsageError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("block_size=100000", "a block of 100,000 positions is too wide to show (limit 10,000); choose a smaller one"),
        ("block_size=5000,threshold=0.9999", "the passes over one block of 5,000 positions compute over 1,000,000: too "
         "many to show; choose a smaller block"),
    ],
)  # fmt: skip
def test_a_block_that_nobody_reads_is_refused(options, said, capsys):
    assert main(["trace", "-s", f"block-diffusion:{options}"]) == 2
    assert capsys.readouterr() == ("", f"clover-sim trace: error: {said}\n")


def test_what_stands_before_the_block_counts_too(monkeypatch):
    """Plain decoding: 32 positions a block, each a pass of its own overhead and one position."""
    monkeypatch.setattr(trace, "MOST_COMPUTED", 10 * 32 * 101)
    assert trace_block("ar", block=8).start == 8 * 32
    with pytest.raises(UsageError, match="the passes up to that block compute over 32,320 positions; choose a lower"):
        trace_block("ar", block=10)


@pytest.mark.parametrize("command", ["trace", "compare", "sweep"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tokenizer", "qwen"], "--tokenizer says how --input is split"),
        (["--tokenizer", "o200k", "--profile", "chat"], "--tokenizer says how --input is split"),
        (["--profile", "code", "--input", "f.txt"], "--profile code: with --input the text is that of the file"),
        (["--profile", "reference", "--input", "f.txt"], "--profile reference: with --input the text is that of"),
        (["--profile", "reference:lift=0.1", "--input", "f.txt"], "--profile reference:lift=0.1: with --input"),
    ],
)
def test_flags_that_would_change_nothing_are_refused(command, words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.txt").write_text("some words of a text that is long enough to be decoded in a block or two\n")
    assert main([command, *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith(f"clover-sim {command}: error: {said}")


@pytest.mark.parametrize("profile", [None, "context", "context:mu=3", "tool-call:lift=0.3", "code:seed=3"])
def test_profiles_that_say_how_sure_the_model_is_stay(profile):
    check_streams(Namespace(input=["f.txt"], profile=profile, _given={"tokenizer", "profile"}))
    check_streams(Namespace(input=[], profile=profile, _given={"profile"}))


@pytest.mark.parametrize("profile", ["context", "code:lift=0.01", "code:seed=3"])
def test_and_they_do_change_something(profile, tmp_path):
    """Else they would have to be refused as well."""
    file = tmp_path / "f.txt"
    file.write_text("for every file a name, and for every name a line that says what the file holds\n" * 8)
    usual, other = (trace_block("block-diffusion", inputs=[str(file)], **kw) for kw in ({}, {"profile": profile}))
    assert [dict(p.confidence) for p in usual.passes] != [dict(p.confidence) for p in other.passes]
