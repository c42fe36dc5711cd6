"""The bar of a sweep, signals, and streams that break while a result is written; without a process of its own."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.cli._console import Console
from clover_sim.cli._progress import bar
from clover_sim.cli._streams import is_terminal, results_only, silence, stopped_by_signals
from clover_sim.errors import InputError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a terminal in the place of standard error, from within the test (pytest puts its own there before it)."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")

    def put() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return put


def test_a_resumed_sweep_is_not_credited_with_what_it_had(terminal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 2 s 10 of 100 cells are new beside the 50 that were there: 5 a second, so 40 more take 8 s."""
    stream, now = terminal(), [100.0]
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now[0])
        with bar("cells", quiet=False) as draw:
            assert draw is not None
            for moment, done in ((100.1, 50), (102.0, 60), (102.05, 61), (104.0, 70)):
                now[0] = moment
                draw(done, 100)
    assert stream.getvalue().split("\r\x1b[K") == [
        "",
        f"[{'#' * 14}{'.' * 10}] 60/100 cells, 5/s, about 8 s left",  # the first comes too early, the third too soon
        f"[{'#' * 16}{'.' * 8}] 70/100 cells, 5/s, about 6 s left",
        "",
    ]


def test_a_narrow_terminal_and_a_quick_sweep(terminal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream, now = terminal(), [100.0]
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now[0])
        with pytest.raises(KeyboardInterrupt), bar("cells", quiet=False) as draw:
            assert draw is not None
            now[0] = 101.0
            draw(1, 4)
            raise KeyboardInterrupt
    assert stream.getvalue() == f"\r\x1b[K[{'#' * 6}{'.' * 12}\r\x1b[K"
    stream = terminal()
    with bar("cells", quiet=False) as draw:
        assert draw is not None
        draw(1, 4)
    assert stream.getvalue() == ""


class Breaking(io.StringIO):
    """Breaks at the first write; written to a descriptor of its own, so that silencing it harms nobody."""

    def __init__(self, error: OSError, descriptor: int) -> None:
        super().__init__()
        self.error, self.descriptor = error, descriptor

    def write(self, text: str) -> int:
        raise self.error

    def fileno(self) -> int:
        return self.descriptor


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 0, ""),
        (OSError(errno.ENOSPC, "No space left on device"), 3,
         "clover-sim list: error: cannot write to standard output: No space left on device\n"),
        (OSError("odd"), 3, "clover-sim list: error: cannot write to standard output: odd\n"),
    ],
)  # fmt: skip
def test_an_output_that_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: OSError, code: int,
    said: str,
) -> None:  # fmt: skip
    with open(tmp_path / "out", "w") as file:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Breaking(error, file.fileno()))
            assert main(["list", "gpus"]) == code
        assert capsys.readouterr().err == said
        file.write("what is buffered goes nowhere")
    assert (tmp_path / "out").read_text() == ""


def test_a_silenced_stream_takes_no_descriptor_with_it(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w") as file:
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
        silence(file)
        if before is not None:
            assert len(os.listdir("/proc/self/fd")) == before
    silence(io.StringIO())  # which has no descriptor at all


def test_a_closed_stream_is_no_terminal() -> None:
    stream = Terminal()
    assert is_terminal(stream) and not is_terminal(None)
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)


def test_bytes_of_a_plugin_go_beside_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    with results_only():
        sys.stdout.buffer.write(b"bytes\n")
        sys.stdout.buffer.flush()
        Console().write("result\n")
    assert capsys.readouterr() == ("result\n", "bytes\n")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_signals_are_met_as_ctrl_c_is(number: str) -> None:
    meant = signal.Signals[number]
    both = (signal.SIGTERM, signal.SIGHUP)  # leaving ignores them all, which the processes of later tests would inherit
    before = [signal.signal(one, signal.SIG_DFL) for one in both]
    try:
        with pytest.raises(KeyboardInterrupt), stopped_by_signals(last=True) as stopped:
            os.kill(os.getpid(), meant)
            time.sleep(1)
        assert stopped == [meant]
        assert signal.getsignal(meant) is signal.SIG_IGN  # a second one does not disturb the tidying up
        signal.signal(meant, signal.SIG_IGN)
        with stopped_by_signals(last=True) as stopped:  # as under nohup: what is ignored stays so
            os.kill(os.getpid(), meant)
        assert stopped == [] and signal.getsignal(meant) is signal.SIG_IGN
        signal.signal(meant, signal.SIG_DFL)
        with stopped_by_signals(last=True):
            pass
        assert signal.getsignal(meant) is signal.SIG_DFL
    finally:
        for one, handler in zip(both, before, strict=True):
            signal.signal(one, handler)


def test_a_console_without_output(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    with pytest.raises(InputError, match=r"^standard output is closed, so the result would be lost; "):
        Console().write("lost")
