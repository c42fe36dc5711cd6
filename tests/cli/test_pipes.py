"""Closed pipes, full disks, closed streams and Ctrl-C, each with a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from cli.harness import COMMAND, cli, environment
from clover_sim.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")


def _into_closed_pipe(*args, **env):
    read, write = os.pipe()
    os.close(read)
    try:
        return subprocess.run(
            [*COMMAND, *args], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, env=environment(**env),
            check=False,
        )  # fmt: skip
    finally:
        os.close(write)


@pytest.mark.parametrize(
    "words", ["", "compare --tokens 64", "list columns --format json", "--version", "compare --help", "trace"]
)
def test_a_closed_pipe_ends_quietly(words):
    done = _into_closed_pipe(*words.split())
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_stops_early_ends_quietly():
    command = " ".join([sys.executable, "-m clover_sim compare --tokens 1:400:1 -s ar --format json | head -n 1"])
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, timeout=60, env=environment(), check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["{", "0"]
    assert done.stderr == ""


def test_after_a_closed_pipe_the_work_goes_on(tmp_path):
    target = tmp_path / "out.json"
    done = _into_closed_pipe(
        "compare", "--tokens", "64", "-q", "--export", str(target), "--fail-under", "speedup_time=99"
    )
    assert done.returncode == 1
    assert target.read_text().startswith("{")


def _in_shell(redirection, *args, **env):
    """Run with a redirection as a shell writes it."""
    return subprocess.run(
        ["bash", "-c", f'exec "$@" {redirection}', "bash", *COMMAND, *args],
        capture_output=True, text=True, timeout=60, env=environment(**env), check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", ["compare --tokens 64", "list gpus", "--version", "compare --help", ""])
def test_a_closed_output_loses_the_result_and_says_so(words):
    done = _in_shell(">&-", *words.split())
    assert done.returncode == 3
    assert "standard output is closed" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>&- <&-", "2>/dev/full"])
def test_a_lost_error_stream_changes_neither_result_nor_code(redirection):
    good = _in_shell(redirection, "compare", "--tokens", "64", "--format", "json")
    assert good.returncode == 0 and good.stdout.startswith("{") and good.stdout.endswith("}\n")
    for words, code in (("compare -s nonsense -v", 2), ("compare --tokens 64 -v --fail-under speedup_time=99", 1),
                        ("-v nonsense", 2), ("compare -v --input nowhere.json", 3)):  # fmt: skip
        assert _in_shell(redirection, *words.split()).returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "compare", "--tokens", "64"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            env=environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert "standard output" in done.stderr and done.stderr.count("\n") == 1


def test_ctrl_c_gives_130_without_a_traceback(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n\n\nclass Slow:\n    def decode(self, canvas):\n"
        f"        pathlib.Path({str(tmp_path / 'started')!r}).touch()\n        time.sleep(60)\n        yield\n"
    )
    target = tmp_path / "out.json"
    process = subprocess.Popen(
        [*COMMAND, "compare", "--tokens", "64", "-s", "slow:Slow", "--export", str(target)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(PYTHONPATH=str(tmp_path)),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (a runner may ignore it)
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err == "\nclover-sim: interrupted\n"
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix in (".json", ".tmp")) == []


@pytest.mark.parametrize("delay_s", [0.05, 0.1, 0.2, 0.4])  # earlier, it may not have entered main yet
def test_ctrl_c_at_any_moment(delay_s):
    code = "import sys; from clover_sim.cli import main; print('up', flush=True); sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "compare", "--tokens", "500000", "--cost", "fixed:pass_ms=15"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    assert process.stdout.readline() == "up\n"
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "\nclover-sim: interrupted\n")


def test_an_interruption_that_python_drops_is_raised_again(capsys, monkeypatch):
    class Dropping:
        def __del__(self):
            raise KeyboardInterrupt

    def work(*_args, **_kwargs):
        Dropping()
        for _ in range(500):
            time.sleep(0.01)  # what is raised again shows between two of Python's own steps

    monkeypatch.setattr("clover_sim.comparison.compare", work)
    before = sys.unraisablehook
    assert main(["compare"]) == 130
    assert capsys.readouterr() == ("", "\nclover-sim: interrupted\n")
    assert sys.unraisablehook is before and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_non_utf8_terminal_gets_ascii(tmp_path):
    name = tmp_path / "städte.json"
    name.write_text('{"a": 1}\n' * 10)
    for args in (["compare", "--tokens", "64"], ["trace"], ["compare", "--input", str(name)]):
        done = cli(*args, env={"PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()


def test_a_dumb_terminal_gets_ascii():
    assert cli("compare", "--tokens", "64", env={"TERM": "dumb"}).stdout.isascii()
