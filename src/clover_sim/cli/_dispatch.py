"""From the words of the command line to one command, and from any error to one line and an exit code."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from clover_sim.cli._console import NO_OUTPUT, Console, harmless
from clover_sim.cli._streams import chatter, output, results_only, stopped_by_signals
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
_MOST_CAUSES = 100
_HELP_WIDTH = 80


class Invocation:
    """What is known of a run so far, for the words with which it fails."""

    __slots__ = ("color", "prog", "verbose")

    def __init__(self) -> None:
        self.prog, self.verbose, self.color = "clover-sim", False, "auto"


def main(argv: Sequence[str], last: bool = False) -> int:
    """Run and return the exit code; only Ctrl-C leaves as an exception.

    Args:
        last: whether the process ends afterwards.
    """
    invocation = Invocation()
    with results_only(last), stopped_by_signals(last) as stopped:
        try:
            code = run(argv, invocation)
        except KeyboardInterrupt:
            if not stopped:
                raise
        except BaseException as error:  # a plug-in may raise SystemExit or worse
            if not stopped:
                if _interrupted(error):
                    raise KeyboardInterrupt from None
                return report(error, invocation)
        if stopped:
            chatter("\nclover-sim: stopped by " + stopped[0].name + "\n")
            code = 128 + int(stopped[0])
        return code


def run(argv: Sequence[str], invocation: Invocation) -> int:
    """Find the command, build only its parser, run it."""
    before, rest = _leading(argv)
    invocation.verbose = any(
        word == "--verbose" or (word[:1] == "-" != word[1:2] and "v" in word) for word in before
    )
    if output() is None:
        raise InputError(NO_OUTPUT)
    name = rest[0] if rest else ""
    if name in ("-V", "--version", "help") and len(rest) > 1 + (name == "help"):
        raise UsageError(f"unexpected argument {rest[-1]!r}: nothing comes after {' '.join(rest[:-1])}")
    if (name in ("", "-h", "--help", "help") and len(rest) < 2) or rest == ["help", "help"]:
        Console().write(overview())
        return 0
    if name in ("-V", "--version"):
        from clover_sim import __version__

        Console().write(f"clover-sim {__version__}\n")
        return 0
    if name == "help":
        return run([rest[1], "--help"], invocation)
    if name.startswith("-"):
        known = ", ".join(commands())
        raise UsageError(f"the command comes first, as in: clover-sim compare {name} (commands: {known})")
    command = _load(name)
    if command is None:
        raise UsageError(f"unknown command {name!r}{suggest(name, commands())}")
    return _run_command(name, command, [*before, *rest[1:]], invocation)


def _run_command(name: str, command: Any, words: Sequence[str], invocation: Invocation) -> int:
    from argparse import Namespace

    from clover_sim.cli._parser import Parser

    parser = Parser(name, command.SUMMARY, getattr(command, "EXAMPLES", ""))
    invocation.prog = parser.prog
    command.configure(parser)
    args = Namespace()
    asked = "-h" in words or "--help" in words
    try:
        if not asked:
            parser.parse(words, args)
    finally:  # what was read before an error counts
        invocation.verbose = getattr(args, "verbose", invocation.verbose)
        invocation.color = getattr(args, "color", invocation.color)
    if getattr(args, "help", asked):
        Console().write(parser.format_help())
        return 0
    console = Console(color=getattr(args, "color", "auto"), quiet=getattr(args, "quiet", False), prog=parser.prog)
    written, read = parser.files(args)
    if not written:
        return int(command.run(args, console))
    from clover_sim.cli import _export

    with _export.forced(getattr(args, "force", False)):
        _export.check_flags(written, read)
        return int(command.run(args, console))


def commands() -> dict[str, Any]:
    """All commands by name: the public modules of this package, ``_`` in a file's name being ``-`` in the command's."""
    import pkgutil

    from clover_sim import cli

    files = (info.name for info in pkgutil.iter_modules(cli.__path__) if not info.name.startswith("_"))
    names = sorted(file.replace("_", "-") for file in files)
    return {name: _load(name) for name in names}


def overview() -> str:
    """The short help: what it is for, the commands, two examples."""
    found = commands()
    from clover_sim.cli._parser import fitted_text
    from clover_sim.cli._streams import terminal_width
    from clover_sim.report._text import wrap

    longest = max(map(len, found))
    width = max(20 + longest, terminal_width(_HELP_WIDTH))
    lines = [
        line
        for name, module in found.items()
        for line in wrap(f"  {name:{longest}}  {module.SUMMARY}", width, " " * (longest + 4))
    ]
    about, examples = fitted_text(_ABOUT, width), fitted_text(_EXAMPLES, width)
    return "\n".join([*about, "", "usage: clover-sim COMMAND [OPTIONS]", "", "commands:", *lines, "", *examples])


def report(error: BaseException, invocation: Invocation) -> int:
    """Say what went wrong in one line on standard error and return the exit code; the traceback only with ``-v``."""
    if invocation.verbose:
        import traceback

        lines = "".join(traceback.format_exception(error)).split("\n")
        chatter("\n".join(map(harmless, lines)))
    code, message = _explain(error)
    Console(color=invocation.color, prog=invocation.prog).error(message)
    return code


def _explain(error: BaseException) -> tuple[int, str]:
    if isinstance(error, DecoderFault) and error.__cause__ is not None:
        return error.exit_code, f"{error}; add -v for the traceback"
    if isinstance(error, CloverError):
        return error.exit_code, str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"cannot use {error.filename!r}" if error.filename else "cannot read or write"
        return InputError.exit_code, f"{where}: {error.strerror}"
    if isinstance(error, MemoryError):
        return InputError.exit_code, "not enough memory for this run; ask for fewer tokens or seeds at once"
    try:
        said = str(error)
    except Exception:  # the exceptions of plug-ins may be broken too
        said = "(no message can be had)"
    if not isinstance(error, Exception):
        return FAULT, f"a decoder or plug-in tried to end the program, {type(error).__name__}: {said}"
    return (
        FAULT,
        f"internal error, {type(error).__name__}: {said}; please report it with what the same run says with -v",
    )


def _interrupted(error: BaseException | None) -> bool:
    """Whether ``error`` was raised while the program unwound from an interruption."""
    for _ in range(_MOST_CAUSES):
        if error is None or isinstance(error, KeyboardInterrupt):
            break
        error = error.__context__
    return isinstance(error, KeyboardInterrupt)


def _leading(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the flags every command has, so that they may also stand before the command."""
    before: list[str] = []
    rest = list(argv)
    while rest and (rest[0].partition("=")[0] in ("--quiet", "--verbose", "--color") or _quiet_or_verbose(rest[0])):
        before.append(rest.pop(0))
        if before[-1] == "--color" and rest:
            before.append(rest.pop(0))
    return before, rest


def _quiet_or_verbose(word: str) -> bool:
    """Whether ``word`` is ``-q``, ``-v`` or both at once."""
    return len(word) > 1 and word[0] == "-" and set(word[1:]) <= {"q", "v"}


def _load(name: str) -> Any:
    """The module of a command, or ``None`` if there is no such command."""
    file = name.replace("-", "_")
    if not file.isidentifier() or "_" in name or file.startswith("_"):
        return None
    path = f"clover_sim.cli.{file}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
