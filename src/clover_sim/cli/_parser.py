"""An argument parser whose errors are one line with a remedy, and the flags that every command has."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from clover_sim.errors import UsageError, suggest

setattr(argparse, "_", str)  # noqa: B010 (its messages in the language of ours, and no search for catalogues: 1 ms)


class Parser(argparse.ArgumentParser):
    """The parser of one command: flags are never abbreviated, unknown ones get "did you mean"."""

    def __init__(self, command: str, summary: str, examples: str = "") -> None:
        super().__init__(
            prog=f"clover-sim {command}",
            usage=f"clover-sim {command} [OPTIONS]",
            description=summary,
            epilog=examples or None,
            formatter_class=_Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.register("action", None, _Once)
        self.register("action", "store", _Once)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing, in the words of this program."""
        message = message.removeprefix("argument ")
        raise UsageError(message.replace("expected one argument", "a value is missing after it"))

    def format_help(self) -> str:
        """The help; the formats are looked up only here, since most runs never show them."""
        from clover_sim.report import formats

        for action in self._actions:
            if action.dest == "format":
                action.help = f"{action.help or ', '.join(formats())} (default table)"
        return super().format_help()

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The values of ``argv``; :class:`UsageError` with one line for anything unknown or malformed."""
        args, unknown = self.parse_known_args(argv)
        if unknown:
            word = next((w for w in unknown if w.startswith("-") and len(w) > 1), unknown[0])
            if not word.startswith("-"):
                raise UsageError(f"unexpected argument {word!r}; run with --help to see what is taken")
            flag = word.partition("=")[0]
            known = [f for f in self._option_string_actions if f.startswith("--")]
            hint = suggest(flag, known)
            raise UsageError(f"unknown flag {flag}{hint if 'mean' in hint else '; run with --help to see all'}")
        return args


class _Once(argparse._StoreAction):
    """A flag of one value; a second one would silently win."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            raise argparse.ArgumentError(self, "given twice; it takes one value, so run once for each")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)


def typed(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Make the errors of ``convert`` argument errors, so that they name their flag."""

    def converted(text: str) -> Any:
        try:
            return convert(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return converted


def choice(*names: str) -> Callable[[str], Any]:
    """A value that is one of ``names``."""

    def convert(text: str) -> str:
        if text not in names:
            raise UsageError(f"{text!r} is not one of {', '.join(names)}")
        return text

    return typed(convert)


def common_flags(parser: argparse.ArgumentParser, formats: Sequence[str] = ()) -> argparse._ArgumentGroup:
    """``--format``, ``--export``, colour, ``-q``, ``-v``, ``-h``; returns the group, for more of the kind.

    Args:
        formats: those the command has; without it every format of :mod:`clover_sim.report`.
    """
    group = parser.add_argument_group("output")
    group.add_argument("--format", metavar="NAME", default="table",
                       type=choice(*formats) if formats else typed(_format_name),
                       help=", ".join(formats))  # fmt: skip
    group.add_argument("--export", metavar="FILE", action="append", default=[],
                       help="also write the result to FILE, in the format of its ending; repeatable; - is "
                       "standard output")  # fmt: skip
    group.add_argument("--color", metavar="WHEN", default="auto", type=choice("auto", "always", "never"),
                       help="auto, always or never; NO_COLOR and FORCE_COLOR are followed")  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings, no progress")
    group.add_argument("-v", "--verbose", action="store_true", help="show the traceback of an error")
    group.add_argument("-h", "--help", action="store_true", help="show this help")
    return group


def _format_name(text: str) -> str:
    from clover_sim.report import get_format

    get_format(text)
    return text
