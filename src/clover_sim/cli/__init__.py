"""The command line: the only layer that prints, reads the environment of a terminal, or ends the process.

Every public module of this package is a command with ``SUMMARY``, ``configure(parser)`` and
``run(args, console) -> int``; modules with an underscore serve them. Adding a command is adding a file.

Exit codes: 0 done; 1 a ``--fail-under`` or ``--fail-over`` bar was missed; 2 usage; 3 a file or figure cannot be
used (read or written); 4 a decoder or plug-in is at fault, or the program itself; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130
FAULT = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no exception leaves this function."""
    arguments = [*(sys.argv[1:] if argv is None else argv)]  # not list(...): that is a command here
    try:
        try:
            from clover_sim.cli import _dispatch

            return _dispatch.run(arguments)
        except Exception as error:
            if _interrupted(error):
                raise KeyboardInterrupt from None
            from clover_sim.cli import _dispatch

            return _dispatch.report(error, arguments)
    except KeyboardInterrupt:
        sys.stderr.write("\nclover-sim: interrupted\n")
        return INTERRUPTED


def _interrupted(error: BaseException | None) -> bool:
    """Whether ``error`` was raised while the program unwound from an interruption."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
