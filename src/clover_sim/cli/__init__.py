"""The command line: the only layer that prints, reads the environment of a terminal, or ends the process.

Every public module of this package is a command with ``SUMMARY``, ``configure(parser)`` and
``run(args, console) -> int``; modules with an underscore serve them. Adding a command is adding a file.

Exit codes: 0 done; 1 a ``--fail-under`` or ``--fail-over`` bar was missed; 2 usage; 3 a file or figure cannot be
used (read or written); 4 a decoder or plug-in is at fault, or the program itself; 130 interrupted.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # nothing is imported before main() is ready for Ctrl-C
    from collections.abc import Sequence
    from typing import Any

INTERRUPTED = 130
FAULT = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no exception leaves this function.

    Args:
        argv: the words after the program's name. ``None``: those of this process, which ends afterwards.
    """
    before = sys.unraisablehook

    def heed(lost: Any) -> None:
        """Ctrl-C inside a finaliser or a callback is dropped by Python; here it is raised again."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        import _thread

        _thread.start_new_thread(_thread.interrupt_main, ())  # later: what is raised in here is dropped too

    try:
        sys.unraisablehook = heed
        if argv is None:
            import gc

            gc.set_threshold(50_000)  # a short run makes no garbage worth looking for: a sixth of its time
        from clover_sim.cli import _dispatch

        return _dispatch.main([*(sys.argv[1:] if argv is None else argv)], last=argv is None)
    except KeyboardInterrupt:
        return _interrupted()
    finally:
        sys.unraisablehook = before
        if argv is None:
            import gc

            gc.freeze()  # else the end of the process walks every object again


def _interrupted() -> int:
    """Say so, undisturbed by a second Ctrl-C."""
    import signal

    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # only the main thread may
        before = None
    from clover_sim.cli._streams import chatter

    chatter("\nclover-sim: interrupted\n")
    exec(
        "pass", {}
    )  # else Python, which saw an interruption leave such a call, ends the process by a signal, not by 130
    if before is not None:
        signal.signal(signal.SIGINT, before)
    return INTERRUPTED
