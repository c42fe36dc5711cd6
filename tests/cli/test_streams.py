"""What plug-ins print never gets into a result, however they print it; and nobody is left with other streams."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from cli.harness import cli
from clover_sim.cli import main
from clover_sim.cli._console import Console, harmless
from clover_sim.cli._streams import chatter, output, results_only, terminal_width
from clover_sim.errors import InputError
from clover_sim.report._text import shorten

BODY = """
        while canvas.remaining:
            span = canvas.block(4)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.best())
"""

LOUD = f"""
import atexit, os, subprocess, sys
print("said-module")
sys.__stdout__.write("said-dunder\\n")
atexit.register(print, "said-exit")


class Loud:
    def __init__(self):
        print("said-init")
        sys.stdout.buffer.write(b"said-bytes\\n")
        sys.stdout.reconfigure(line_buffering=True)

    def decode(self, canvas):
        print("said-decode")
        os.write(1, b"said-descriptor\\n")
        subprocess.run([sys.executable, "-c", "print('said-child')"], check=True)
        {{action}}
{BODY}
    def __del__(self):
        print("said-del")
"""

SAID = {f"said-{w}" for w in ("module", "dunder", "exit", "init", "bytes", "decode", "descriptor", "child", "del")}


@pytest.mark.parametrize(
    "action",
    ["pass", "sys.stdout.close()", "sys.__stdout__.close()", "sys.stdout = None", "del sys.stdout", "os.close(1)"],
)
def test_plugins_print_beside_the_result(tmp_path, action):
    (tmp_path / "loud.py").write_text(LOUD.format(action=action))
    env = {"PYTHONPATH": str(tmp_path)}
    target = tmp_path / "r.json"
    done = cli("compare", "--tokens", "64", "-s", "loud:Loud", "--format", "json", "--export", target, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] and done.stdout == target.read_text()
    assert {"said-module", "said-init", "said-bytes", "said-decode", "said-exit"} <= {*done.stderr.split()}
    if action == "pass":
        assert {*done.stderr.split()} >= SAID


@pytest.mark.parametrize("error", ["SystemExit(0)", "GeneratorExit", "BaseException('x')", "KeyboardInterrupt"])
@pytest.mark.parametrize("place", ["module", "init", "decode"])
def test_a_plugin_cannot_end_the_program_quietly(tmp_path, error, place):
    lines = {key: f"raise {error}" if key == place else "pass" for key in ("module", "init", "decode")}
    (tmp_path / "ends.py").write_text(
        f"{lines['module']}\n\n\nclass Ends:\n    def __init__(self):\n        {lines['init']}\n\n"
        f"    def decode(self, canvas):\n        {lines['decode']}\n        yield\n"
    )
    done = cli("compare", "--tokens", "64", "-s", "ends:Ends", env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (130 if error == "KeyboardInterrupt" else 4, "")
    assert "Traceback" not in done.stderr and done.stderr.strip().count("\n") == 0


def test_output_is_put_back(capsys):
    before = sys.stdout
    assert main(["list", "profiles"]) == 0
    assert main(["compare", "-s", "nonsense"]) == 2
    assert sys.stdout is before and output() is before
    assert "reference" in capsys.readouterr().out


def test_commands_may_run_inside_commands(capsys):
    with results_only():
        Console().write("outer 1\n")
        assert main(["--version"]) == 0
        print("printed")
        Console().write("outer 2\n")
    out, err = capsys.readouterr()
    assert out == "outer 1\nouter 2\n"
    assert err.startswith("clover-sim ") and err.endswith("printed\n")


def test_what_stands_in_for_output_is_a_stream(capsys):
    with results_only():
        assert sys.stdout.writable() and not sys.stdout.isatty() and sys.stdout.encoding
        sys.stdout.close()
        print("after", end="", flush=True)
        assert isinstance(sys.stdout, io.TextIOBase) and not sys.stdout.closed
    assert capsys.readouterr() == ("", "after")


def test_no_output_to_write_to(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(InputError, match="closed"):
        Console().write("lost")


def test_lost_errors_are_no_error(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        chatter("lost")


@pytest.mark.parametrize(
    ("columns", "width"), [("1" * 5000, 10_000), ("0" * 5000 + "64", 64), ("99999", 10_000), ("0", None), ("٣", None)]
)
def test_any_columns(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    assert terminal_width() == (width or 120)
    assert terminal_width(80) == (width or 80)


def test_help_with_absurd_columns():
    for columns in ("9" * 5000, "1", "-5"):
        done = cli("compare", "--help", env={"COLUMNS": columns})
        assert done.returncode == 0 and "--tokens" in done.stdout


def test_messages_are_bounded():
    text = harmless("start " + "\x1b" * 100_000 + "\nmore end")
    assert len(text) <= 2000 and text.startswith("start \\x1b") and text.endswith("more end") and "..." in text
    assert shorten("0123456789", 7) == "01...89" and shorten("0123456789", 10) == "0123456789"


@pytest.mark.parametrize(
    "args", [["{}"], ["compare", "--{}"], ["compare", "--tokens", "{}"], ["compare", "-s", "{}"], ["compare", "{}"]]
)
def test_no_argument_makes_a_long_message(capsys, args):
    assert main([word.format("x" * 50_000) for word in args]) == 2
    err = capsys.readouterr().err
    assert len(err) < 2_100 and err.count("\n") == 1


def test_a_traceback_is_harmless_and_only_for_v(tmp_path, capsys, monkeypatch):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def decode(self, canvas):\n        raise ValueError('\\x1b[31m' + 'y' * 9000)\n        yield\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    quiet = ("-sspeculativ", "--export -v.json", "-s bad:Bad", "-sbad:Bad -q")
    for flags, loud in ((flags, flags not in quiet) for flags in (*quiet, "-s speculativ -v", "-vq -s bad:Bad")):
        assert main(["compare", "--tokens", "64", *flags.split()]) in (2, 4)
        err = capsys.readouterr().err
        assert ("Traceback" in err) is loud, flags
        assert "\x1b" not in err and max(map(len, err.splitlines())) < 2_100
    quiet = ("--color v compare",)
    for argv in (*quiet, "-v compare -s no", "-qv compare -s no", "compare -v --nothing"):
        loud = argv not in quiet
        assert main(argv.split()) == 2
        assert ("Traceback" in capsys.readouterr().err) is loud, argv


def test_an_error_without_words_is_still_one_line(capsys, monkeypatch):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def broken(*_args, **_kwargs):
        raise Mute

    monkeypatch.setattr("clover_sim.comparison.compare", broken)
    assert main(["compare"]) == 4
    err = capsys.readouterr().err
    assert "internal error, Mute" in err and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals")
def test_colour_follows_the_real_output():
    import subprocess

    from cli.harness import COMMAND, environment

    master, slave = os.openpty()
    done = subprocess.run(
        [*COMMAND, "compare", "--tokens", "64"], stdout=slave, stderr=subprocess.PIPE, env=environment(COLUMNS="100"),
        check=False, timeout=60,
    )  # fmt: skip
    os.close(slave)
    assert done.returncode == 0 and b"\x1b[" in os.read(master, 10_000)
    os.close(master)
