"""Every error a user can meet, each with the exit code the command line gives it.

A message is one line: who, where, what was found, what was expected, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class CloverError(Exception):
    """Base of all errors that ``clover_sim`` raises on purpose.

    >>> from clover_sim import load_model
    >>> try:
    ...     load_model("no-such-model")
    ... except CloverError as error:
    ...     type(error).__name__, error.exit_code
    ('UsageError', 2)
    """

    exit_code = 3

    def __init__(self, message: object = "") -> None:
        super().__init__(" ".join(str(message).splitlines()))  # whatever of a file or an option stands in it


class UsageError(CloverError):
    """The request itself is off: an unknown name or option, contradictory flags.

    >>> UsageError("unknown name").exit_code
    2
    """

    exit_code = 2


class InputError(CloverError):
    """A file or a figure that was handed in cannot be used.

    >>> InputError("cannot be read").exit_code
    3
    """

    exit_code = 3


class DecoderFault(CloverError):
    """A decoder or a plug-in did something it must not do.

    ``location`` is ``file:line`` in the decoder's own source where one is known.

    >>> DecoderFault("it raised", "mine.py:7").location
    'mine.py:7'
    """

    exit_code = 4

    def __init__(self, message: str, location: str | None = None) -> None:
        self.location = location
        super().__init__(f"{location}: {message}" if location else message)


class IllegalMove(DecoderFault):
    """A decoder asked the engine for something the seven rules forbid.

    >>> issubclass(IllegalMove, DecoderFault), IllegalMove("commit outside the view").exit_code
    (True, 4)
    """


class PluginError(DecoderFault):
    """A plug-in cannot be loaded, or is not a decoder.

    >>> issubclass(PluginError, DecoderFault)
    True
    """


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for a near miss, else the list of known names.

    >>> suggest("speculativ", ["ar", "speculative"])
    "; did you mean 'speculative'?"
    >>> suggest("zzz", ["b", "a"])
    '; known: a, b'
    """
    import difflib

    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    more = f", ... ({len(known)} in all)" if len(known) > 12 else ""
    return f"; known: {', '.join(known[:12])}{more}" if known else ""


_LONGEST = 60
"""Characters of a value in a message, so that the line stays one."""


def shown(value: Any) -> str:
    """A value as it may stand in a one-line message: short, and never an error of its own.

    >>> shown("abc"), shown([7] * 100)
    ("'abc'", '[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,...')
    """
    try:
        written = " ".join(repr(value).split())
    except ValueError:  # more digits than Python turns into text
        return "a number of thousands of digits"
    except RecursionError:
        return "nested too deeply"
    except Exception:  # the repr of an object of others may do anything
        return f"of type {type(value).__name__}"
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."
