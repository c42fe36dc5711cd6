"""Every numeric flag of every command, found in the parsers, against every odd way to write a number."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

import pytest

from clover_sim.cli import main
from clover_sim.cli._dispatch import commands
from clover_sim.registry import build_strategy, strategy_names
from clover_sim.streams.profiles import PROFILES
from safety.invocations import parser, quick, samples

NEVER = (
    "nan", "-nan", "inf", "-inf", "Infinity", "1e309", "-1e309", "0x10", "0b1", "１２", "٣", "½", "1_000", "9" * 5000,
    "1" + "0" * 5000 + ".0", "", "  ", " 1", "1 ", "1,", "+-1", "--1", "1e", "1e5000", "1.2.3", "True", "null", "1\n",
    "1\0", "1;2", "1 2", "²",
)  # fmt: skip
"""What is no number here, whichever is asked for."""

PERHAPS = (
    "0", "-0", "-0.0", "1", "-1", "1e-320", "5e-324", "1e-308", "1e308", "999999999999999999", "0.5", "1e9", "+1", "01",
    ".5", "5.", "1e2", "1000000000000000000000",
)  # fmt: skip
"""What some flags take and others refuse."""

FEW = ("0", "-0.0", "1", "1e-320", "1e308", "999999999999999999")
SLOW = ("agent", "serve", "sweep")
"""Commands that are asked only these few."""

WORK = {"--pool", "--rate", "--burst"}
"""Flags of ``serve`` whose extremes are the business of tests/serving."""


def is_numeric(action):
    """Whether a flag takes some number and no word."""
    if not action.option_strings or action.type is None:
        return False

    def takes(text):
        try:
            action.type(text)
        except Exception:
            return False
        return True

    return any(map(takes, ("1", "2", "0.5", "1:2", "1=2", "0.5=2"))) and not takes("zzz")


def numeric_flags():
    """(command, flag), read from the parsers themselves."""
    found = []
    for name in commands():
        found += [(name, action.option_strings[-1]) for action in parser(name)._actions if is_numeric(action)]
    return found


def run(words):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def test_the_parsers_have_many_of_them():
    found = numeric_flags()
    assert len(found) > 80 and len({name for name, _ in found}) >= 8
    assert {("compare", "--tokens"), ("price", "--context"), ("serve", "--rate"), ("agent", "--tasks"),
            ("speculate", "--alpha"), ("calibrate", "--tpf-at")} <= set(found)  # fmt: skip


@pytest.mark.parametrize(("command", "flag"), numeric_flags())
def test_what_is_no_number_is_refused_in_one_line(command, flag):
    for text in NEVER:
        if flag == "--per-position" and text.strip() == "1":
            continue  # a list may have blanks after its commas
        code, out, err = run([command, f"{flag}={text}"])
        assert (code, out, err.count("\n")) == (2, "", 1), (text[:20], err)
        assert flag in err and len(err) < 2500 and "Traceback" not in err, (text[:20], err)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return samples(tmp_path_factory.mktemp("numbers"))


def shaping():
    """Flags that change what a strategy does: with every other one, plain decoding and blocks are enough."""
    decoders = [build_strategy(name)[1] for name, _ in strategy_names()]
    fields = {key for decoder in decoders for key in getattr(decoder, "__dataclass_fields__", ())}
    return {"--" + key.replace("_", "-") for key in fields}


@pytest.mark.parametrize(("command", "flag"), [f for f in numeric_flags() if f[1] not in WORK])
def test_extremes_are_taken_or_refused_never_a_fault(command, flag, folder):
    words = quick(command, folder)
    if flag in words:
        at = words.index(flag)
        del words[at : at + 2]
    if command in SLOW and flag not in shaping():
        words += ["-s", "ar", "-s", "block-diffusion"]
    for text in FEW if command in SLOW else PERHAPS:
        code, out, err = run([*words, f"{flag}={text}"])
        assert code in (0, 2, 3), (text, err)
        if code:
            assert out == "" and "error: " in err.splitlines()[-1] and "internal" not in err, (text, err)
        assert not re.search(r"\b(nan|NaN|Infinity)\b|\binf\b", out), text
        assert "Traceback" not in err


def numeric_options():
    """(spec, key) of every numeric option of every built-in strategy."""
    found = []
    for name, _ in strategy_names():
        decoder = build_strategy(name)[1]
        for key in getattr(type(decoder), "__dataclass_fields__", {}):
            value = getattr(decoder, key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                found.append((name, key))
    return found


@pytest.mark.parametrize(("name", "key"), numeric_options())
def test_options_of_strategies(name, key):
    for text in ("nan", "inf", "-inf", "1e309", "0x10", "１２", "1_000", "9" * 5000, "", " ", "True"):
        code, out, err = run(["compare", "--tokens", "32", "-s", f"{name}:{key}={text}"])
        assert (code, out, err.count("\n")) == (2, "", 1), (text[:20], err)
    for text in ("0", "-0", "-1", "1e-320", "99", "1e308", "0.5", "1"):
        code, out, err = run(["compare", "--tokens", "32", "-s", f"{name}:{key}={text}"])
        assert code in (0, 2) and "Traceback" not in err, (text, err)
        assert not re.search(r"\b(nan|NaN|Infinity)\b", out)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_options_of_profiles(profile):
    for key in ("lift", "seed", "mu", "sd", "spread", "nothing"):
        for text in ("nan", "inf", "1e309", "0x10", "１２", "1_000", "9" * 5000, "", "1e308", "-1e308", "1e-320", "-0"):
            code, out, err = run(["compare", "--tokens", "32", "-s", "ar", "--profile", f"{profile}:{key}={text}"])
            assert code in (0, 2, 3) and "Traceback" not in err and err.count("\n") <= 1, (key, text[:20], err)
            assert not code or out == ""


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0x10", "１２", "1e309", "", "9" * 5000, "1e-400"])
@pytest.mark.parametrize(
    "words",
    [
        ["compare", "--cost", "fixed:pass_ms=@"], ["compare", "--fail-under", "speedup_time=@"],
        ["compare", "--fail-over", "locked_errors=@"], ["sweep", "--vary", "threshold=@"],
        ["sweep", "--vary", "block_size=@"], ["sweep", "--vary", "threshold=0.1:@:0.1"],
        ["compare", "--tokens", "1:@:1"], ["compare", "--seeds", "0:@"],
        ["calibrate", "--tpf-at", "0.9=@"], ["calibrate", "--tpf-at", "@=3"], ["speculate", "--per-position", "0.5,@"],
    ],
)  # fmt: skip
def test_numbers_inside_values(words, text):
    if text == "-1" and words[1].startswith("--fail"):
        return  # a bar may be negative
    if text == "1e-400" and words[1] != "--tokens":
        return  # reads as 0, which some of them take
    code, out, err = run([word.replace("@", text) for word in words])
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "Traceback" not in err and len(err) < 2500


@pytest.mark.parametrize("command", ["compare", "trace", "sweep"])
def test_long_texts_are_asked_about_first(command):
    code, out, err = run([command, "--tokens", "1000000000"])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--allow-long" in err or command == "trace", "which shows one block, of texts up to a million tokens"


@pytest.mark.parametrize("tokens", ["0", "1"])
def test_no_token_and_one_token(tokens):
    for command in ("compare", "trace", "sweep"):
        code, out, err = run([command, "--tokens", tokens])
        if tokens == "0":
            assert (code, out, err.count("\n")) == (2, "", 1) and "--tokens" in err
        else:
            assert code == 0 and err == "" and "nan" not in out, err
    code, out, _ = run(["compare", "--tokens", "1", "--seeds", "0:3", "--format", "json"])
    assert code == 0 and "NaN" not in out
