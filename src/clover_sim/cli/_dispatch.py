"""From the words of the command line to one command, and from any error to one line and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from clover_sim.cli._console import Console
from clover_sim.errors import CloverError, DecoderFault, InputError, UsageError, suggest

FAULT = DecoderFault.exit_code
"""Also the code of an error nobody foresaw."""

_ABOUT = "How many passes a decoder needs, what they cost, and what the speed did to quality."
_EXAMPLES = """\
examples:
  clover-sim compare
  clover-sim compare --input calls.jsonl -s ar -s block-diffusion:threshold=0.9 --gpu b200

"clover-sim COMMAND --help" says more about a command, "clover-sim list" what can be named.
"""


def run(argv: Sequence[str]) -> int:
    """Find the command, build only its parser, run it."""
    before, rest = _leading(argv)
    name = rest[0] if rest else ""
    if name in ("", "-h", "--help", "help") and len(rest) < 2:
        Console().write(overview())
        return 0
    if name in ("-V", "--version"):
        from clover_sim import __version__

        Console().write(f"clover-sim {__version__}\n")
        return 0
    if name == "help":
        return run([rest[1], "--help"])
    if name.startswith("-"):
        known = ", ".join(commands())
        raise UsageError(f"the command comes first, as in: clover-sim compare {name} (commands: {known})")
    command = _load(name)
    if command is None:
        raise UsageError(f"unknown command {name!r}{suggest(name, commands())}")
    from clover_sim.cli._parser import Parser

    parser = Parser(name, command.SUMMARY, getattr(command, "EXAMPLES", ""))
    command.configure(parser)
    if "-h" in rest or "--help" in rest:
        Console().write(parser.format_help())
        return 0
    args = parser.parse([*before, *rest[1:]])
    console = Console(color=args.color, quiet=args.quiet, prog=parser.prog)
    code: int = command.run(args, console)
    return code


def commands() -> dict[str, Any]:
    """All commands by name: the public modules of this package."""
    import pkgutil

    from clover_sim import cli

    names = sorted(info.name for info in pkgutil.iter_modules(cli.__path__) if not info.name.startswith("_"))
    return {name: _load(name) for name in names}


def overview() -> str:
    """The short help: what it is for, the commands, two examples."""
    found = commands()
    width = max(map(len, found))
    lines = [f"  {name:{width}}  {module.SUMMARY}" for name, module in found.items()]
    return "\n".join([_ABOUT, "", "usage: clover-sim COMMAND [OPTIONS]", "", "commands:", *lines, "", _EXAMPLES])


def report(error: Exception, argv: Sequence[str]) -> int:
    """Say what went wrong in one line on standard error and return the exit code; the traceback only with ``-v``."""
    _, rest = _leading(argv)
    prog = f"clover-sim {rest[0]}" if rest and _load(rest[0]) else "clover-sim"
    verbose = any(word == "--verbose" or (word[:1] == "-" and word[:2] != "--" and "v" in word) for word in argv)
    if verbose:
        import traceback

        sys.stderr.write("".join(traceback.format_exception(error)))
    code, message = _explain(error)
    Console(prog=prog).error(message)
    return code


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, DecoderFault) and error.__cause__ is not None:
        return error.exit_code, f"{error}; add -v for the traceback"
    if isinstance(error, CloverError):
        return error.exit_code, str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename!r}" if error.filename else ""
        return InputError.exit_code, f"cannot use{where or ' a file'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return InputError.exit_code, "not enough memory for this run; ask for fewer tokens or seeds at once"
    return (
        FAULT,
        f"internal error, {type(error).__name__}: {error}; please report it with what the same run says with -v",
    )


def _leading(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the flags every command has, so that they may also stand before the command."""
    before: list[str] = []
    rest = list(argv)
    while rest and rest[0].partition("=")[0] in ("-q", "--quiet", "-v", "--verbose", "--color"):
        before.append(rest.pop(0))
        if before[-1] == "--color" and rest:
            before.append(rest.pop(0))
    return before, rest


def _load(name: str) -> Any:
    """The module of a command, or ``None`` if there is no such command."""
    if not name.isidentifier() or name.startswith("_"):
        return None
    path = f"clover_sim.cli.{name}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
