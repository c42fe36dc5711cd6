"""Standard output for results, standard error for everything else; colour, pipes and progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from clover_sim.cli._streams import chatter, is_terminal, output, silence, terminal_width
from clover_sim.errors import InputError
from clover_sim.report import Look
from clover_sim.report._text import clean, clip, shorten

_PROGRESS_AFTER_S = 0.4
_PROGRESS_EVERY_S = 0.1
_LONGEST_MESSAGE = 1_000


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
        stream = output()
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        return Look(
            width=terminal_width(),
            colour=wants_colour(self.color, is_terminal(stream), os.environ),
            unicode=encoding.startswith("utf") and os.environ.get("TERM") != "dumb",
            columns=columns,
        )

    def write(self, text: str) -> None:
        """Write a result to standard output."""
        stream = output()
        if stream is None or stream.closed:
            raise InputError(NO_OUTPUT)
        encoding = stream.encoding or "utf-8"
        try:
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except BrokenPipeError:
            silence(stream)
        except OSError as error:
            silence(stream)
            raise InputError(f"cannot write to standard output: {error.strerror or error}") from None

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
            chatter(f"{harmless(message)}\n")

    @contextmanager
    def progress(self, noun: str) -> Iterator[Any]:
        """A callback ``(done, total)`` that draws one line on a terminal, and nothing anywhere else.

        The line appears only when the work takes a while, and is gone when it ends.
        """
        if self.quiet or not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
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
            chatter(f"\r\x1b[K{clip(text, terminal_width() - 1)}")

        try:
            yield draw
        finally:
            if drawn:
                chatter("\r\x1b[K")

    def _note(self, style: str, kind: str, message: str) -> None:
        colour = wants_colour(self.color, is_terminal(sys.stderr), os.environ)
        chatter(f"{self.prog}: {Look(colour=colour).paint(f'1;{style}', f'{kind}:')} {harmless(message)}\n")


NO_OUTPUT = (
    "standard output is closed, so the result would be lost; send it to a file, or to the null device if an --export "
    "is all you want"
)


def harmless(message: str) -> str:
    """A message as one line of bounded length that cannot steer a terminal."""
    return shorten(clean(shorten(message, _LONGEST_MESSAGE)), _LONGEST_MESSAGE)
