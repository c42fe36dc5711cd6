"""The standard streams and the signals that end a program: results whole, errors said, nothing left half done."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from clover_sim.cli import INTERRUPTED

_WIDTH_WITHOUT_TERMINAL = 120
_WIDEST = 10_000
_OUT, _ERR = 1, 2

_kept: list[TextIO | None] = []
"""The real standard output of each command that is running; the last one is that of the innermost."""


def output() -> TextIO | None:
    """Where results go; ``None`` where standard output was closed before the program started."""
    return _kept[-1] if _kept else sys.stdout


@contextmanager
def results_only(last: bool = False) -> Iterator[None]:
    """Keep standard output for :func:`output` alone; what anything else prints meanwhile goes to standard error.

    Plug-ins print, close ``sys.stdout`` and start programs that write to descriptor 1: none of it may land in a
    result. Everything is put back at the end.

    Args:
        last: whether only the end of the process follows. What plug-ins print while they are torn down then goes to
            standard error too, and Ctrl-C ends the process without a traceback from its last moments.
    """
    if last:
        import atexit

        atexit.register(_last)
    real = sys.stdout
    kept = _take_descriptor(real)
    _kept.append(kept or real)
    sys.stdout = _Aside()
    try:
        yield
    finally:
        sys.stdout = real
        _kept.pop()
        if kept is not None and real is not None:
            with suppress(OSError, ValueError):
                real.flush()  # a plug-in may have kept the object; what it printed goes where the descriptor points
            with suppress(OSError, ValueError):
                os.dup2(kept.fileno(), _OUT)
            with suppress(OSError, ValueError):
                kept.close()
        if last:
            atexit.register(_end)


@contextmanager
def stopped_by_signals(last: bool) -> Iterator[list[Any]]:
    """Meet the signals that end a program as Ctrl-C is met, so that nothing is left half done; the list names them.

    Args:
        last: whether the process is that of the command; another one keeps its own manners.
    """
    stopped: list[Any] = []
    if not last:
        yield stopped
        return
    import signal

    own = os.getpid()

    def stop(number: int, _frame: Any) -> None:
        if os.getpid() != own:  # a worker, which has nothing to put right
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not stopped:  # a second one would disturb the tidying up
            stopped.append(signal.Signals(number))
            raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores one
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN if stopped else signal.SIG_DFL)


def _take_descriptor(real: TextIO | None) -> TextIO | None:
    """Move what descriptor 1 refers to into a stream of its own; ``None`` if ``real`` is not that descriptor."""
    try:
        if real is None or real.fileno() != _OUT:
            return None
        real.flush()
        _fill_standard_descriptors()
        kept = open(os.dup(_OUT), "w", encoding=real.encoding, errors=real.errors)  # noqa: SIM115
        os.dup2(_ERR, _OUT)
    except (AttributeError, OSError, ValueError):
        return None
    return kept


def _fill_standard_descriptors() -> None:
    """Open the null device where a standard stream is closed: no file may get its number and its output."""
    if sys.stdin is None or sys.stderr is None:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _ERR:
            pass
        os.close(descriptor)


def _end() -> None:
    """Called when the process ends, before whatever plug-ins have registered for it."""
    with suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
        if sys.stdout.fileno() == _OUT:
            os.dup2(_ERR, _OUT)
    sys.stdout = _Aside()
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))


def _last() -> None:
    """Called when the process ends, after whatever plug-ins have registered: nothing is left to interrupt."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Aside(io.TextIOBase):
    """Stands in for standard output while a command runs: writes to standard error, and cannot be closed."""

    def write(self, text: str) -> int:
        chatter(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return is_terminal(sys.stderr)

    def fileno(self) -> int:
        return sys.stderr.fileno()

    @property
    def buffer(self) -> Any:
        """The bytes behind it, for those who write bytes."""
        return sys.stderr.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of standard error."""
        return getattr(sys.stderr, "encoding", None) or "utf-8"

    def reconfigure(self, **_options: Any) -> None:
        """Accepted, since programs ask standard output for it; nothing changes."""

    def close(self) -> None:
        """Not done: the next one still wants to write."""


def chatter(text: str) -> None:
    """Write to standard error; where that is closed or full the text is lost, and nothing else happens."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send what is still buffered, and all that follows, nowhere: else Python complains about it at its exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is likely to read the stream at once."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def terminal_width(without: int = _WIDTH_WITHOUT_TERMINAL) -> int:
    """Columns to write for: COLUMNS, else the terminal that output, errors or input are on, else ``without``.

    Looking beyond standard output lets ``clover-sim compare | less`` fit the terminal that the reader sees.
    """
    columns = os.environ.get("COLUMNS", "").lstrip("0")
    if columns.isascii() and columns.isdecimal():
        return min(int(columns[: len(str(_WIDEST))]), _WIDEST)
    for stream in (output(), sys.stderr, sys.stdin):
        try:
            return os.get_terminal_size(stream.fileno()).columns or without  # type: ignore[union-attr]
        except (AttributeError, OSError, ValueError):
            continue
    return without
