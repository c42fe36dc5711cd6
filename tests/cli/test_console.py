"""Progress, width and chatter of the console."""

from __future__ import annotations

import io
import os
import sys
import time

import pytest

from clover_sim.cli._console import Console, terminal_width


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True

    def fileno(self):
        return 0


@pytest.fixture
def use(monkeypatch):
    """Put a stream in the place of standard error (in the test itself: pytest puts its own there before it)."""

    def put(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    return put


def test_progress_is_one_line_that_goes_away(use, monkeypatch):
    stream = use(Terminal())
    with Console().progress("runs") as draw:
        seconds = iter((1.0, 2.0))
        with monkeypatch.context() as patch:
            start = time.monotonic()
            patch.setattr(time, "monotonic", lambda: start + next(seconds))
            draw(1, 4)
            draw(2, 4)
    shown = stream.getvalue().split("\r\x1b[K")
    assert shown == ["", "1/4 runs, about 3 s left", "2/4 runs, about 2 s left", ""]


def test_a_quick_run_draws_nothing(use):
    stream = use(Terminal())
    with Console().progress("runs") as draw:
        draw(1, 2)
    assert stream.getvalue() == ""


def test_progress_goes_away_when_interrupted(use, monkeypatch):
    stream = use(Terminal())
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Console().progress("runs") as draw:
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: start + 5)
            draw(1, 4)
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("change", ["quiet", "dumb", "pipe"])
def test_no_progress_where_it_would_disturb(use, monkeypatch, change):
    stream = use(io.StringIO() if change == "pipe" else Terminal())
    if change == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    with Console(quiet=change == "quiet").progress("runs") as draw:
        assert draw is None
    assert stream.getvalue() == ""


def test_width(use, monkeypatch):
    assert terminal_width() == 40
    monkeypatch.setenv("COLUMNS", "no")
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    assert terminal_width() == 120
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((64, 20)))
    use(Terminal())
    assert terminal_width() == 64


def test_messages_are_one_harmless_line(use):
    stream = use(Terminal())
    console = Console(color="never", prog="clover-sim compare")
    console.error("a\nb\x1b[31m")
    console.warning("careful")
    assert stream.getvalue() == "clover-sim compare: error: a\\nb\\x1b[31m\nclover-sim compare: warning: careful\n"


def test_errors_are_never_quiet(use):
    stream = use(Terminal())
    console = Console(color="always", quiet=True)
    console.warning("not said")
    console.info("not said")
    console.error("said")
    console.failed("said too")
    assert "not said" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 2 and "\x1b[1;31merror:\x1b[0m" in stream.getvalue()
