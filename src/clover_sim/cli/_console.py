"""Standard output for results, standard error for everything else; colour, pipes and progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from clover_sim.report import Look
from clover_sim.report._text import clean, clip

_WIDTH_WITHOUT_TERMINAL = 120
_PROGRESS_AFTER_S = 0.4
_PROGRESS_EVERY_S = 0.1


def wants_colour(choice: str, terminal: bool, environ: Mapping[str, str]) -> bool:
    """Whether to colour: ``--color`` decides, then NO_COLOR, FORCE_COLOR, TERM=dumb, and last the terminal itself.

    >>> wants_colour("auto", True, {"NO_COLOR": "1"}), wants_colour("auto", False, {"FORCE_COLOR": "1"})
    (False, True)
    """
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"


class Console:
    """What one run of a command prints.

    A closed pipe is not an error: the first write that meets it silences standard output, and the work (exports,
    checks, exit code) goes on.
    """

    def __init__(self, color: str = "auto", quiet: bool = False, prog: str = "clover-sim") -> None:
        self.color, self.quiet, self.prog = color, quiet, prog

    def look(self, columns: tuple[str, ...] = ()) -> Look:
        """How text for standard output may look."""
        encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
        return Look(
            width=terminal_width(),
            colour=wants_colour(self.color, _is_terminal(sys.stdout), os.environ),
            unicode=encoding.startswith("utf") and os.environ.get("TERM") != "dumb",
            columns=columns,
        )

    def write(self, text: str) -> None:
        """Write a result to standard output."""
        if sys.stdout is None:
            return
        encoding = sys.stdout.encoding or "utf-8"
        try:
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stdout.flush()
        except BrokenPipeError:
            _silence(sys.stdout)
        except OSError as error:
            _silence(sys.stdout)
            raise OSError(error.errno, error.strerror, "standard output") from None

    def warning(self, message: str) -> None:
        """Say what the reader should know but need not act on; silent with ``-q``."""
        if not self.quiet:
            self._note("33", "warning", message)

    def error(self, message: str) -> None:
        """Say why the command cannot go on; never silent."""
        self._note("31", "error", message)

    def failed(self, message: str) -> None:
        """Say which check was not met; never silent."""
        self._note("31", "check failed", message)

    def info(self, message: str) -> None:
        """Say what was done; silent with ``-q``."""
        if not self.quiet:
            self._chatter(f"{clean(message)}\n")

    @contextmanager
    def progress(self, noun: str) -> Iterator[Any]:
        """A callback ``(done, total)`` that draws one line on a terminal, and nothing anywhere else.

        The line appears only when the work takes a while, and is gone when it ends.
        """
        if self.quiet or not _is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
            yield None
            return
        import time

        start = last = time.monotonic()
        drawn = False

        def draw(done: int, total: int) -> None:
            nonlocal last, drawn
            now = time.monotonic()
            if now - start < _PROGRESS_AFTER_S or now - last < _PROGRESS_EVERY_S:
                return
            last, drawn = now, True
            left = (now - start) * (total - done) / done if done else 0
            text = f"{done}/{total} {noun}, about {left:.0f} s left" if done else f"0/{total} {noun}"
            self._chatter(f"\r\x1b[K{clip(text, terminal_width() - 1)}")

        try:
            yield draw
        finally:
            if drawn:
                self._chatter("\r\x1b[K")

    def _note(self, style: str, kind: str, message: str) -> None:
        colour = wants_colour(self.color, _is_terminal(sys.stderr), os.environ)
        self._chatter(f"{self.prog}: {Look(colour=colour).paint(f'1;{style}', f'{kind}:')} {clean(message)}\n")

    @staticmethod
    def _chatter(text: str) -> None:
        if sys.stderr is None:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            _silence(sys.stderr)


def terminal_width() -> int:
    """Columns to write for: COLUMNS, else the terminal that output, errors or input are on, else 120.

    Looking beyond standard output lets ``clover-sim compare | less`` fit the terminal that the reader sees.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH_WITHOUT_TERMINAL
        except (AttributeError, OSError, ValueError):
            continue
    return _WIDTH_WITHOUT_TERMINAL


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _silence(stream: IO[str]) -> None:
    """Send what is still buffered, and all that follows, nowhere: else Python complains about it at its exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass
