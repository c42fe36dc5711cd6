"""An argument parser whose errors are one line with a remedy, and the flags that every command has."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from clover_sim.errors import UsageError, suggest

setattr(argparse, "_", str)  # noqa: B010 (its messages in the language of ours, and no search for catalogues: 1 ms)

_NUMERIC = tuple("0123456789.")
_HELP_WIDTH = 80
OUTPUT = "output"
"""The group of flags that say how and where results are shown; every FILE in it is one to write."""


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
        self._words: list[str] = []

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing, in the words of this program."""
        message = message.removeprefix("argument ")
        flag, _, what = message.partition(": ")
        if what in ("expected one argument", "expected at least one argument"):
            message = f"{flag}: {self._missing(flag.split('/'))}"
        raise UsageError(message)

    def _missing(self, names: Sequence[str]) -> str:
        """What to say of a flag without a value: perhaps its value looks like a flag."""
        action = self._option_string_actions[names[0]]
        missing = f"a value is missing after it, {action.metavar or 'one word'}"
        for i, word in enumerate(self._words[:-1]):
            following = self._words[i + 1]
            if word in names and following.startswith("-"):
                if following in self._option_string_actions:
                    return f"{missing}: {following} is a flag of its own"
                joined = f"{word}={following}" if word.startswith("--") else f"{word}{following}"
                return f"{missing}: {following!r} begins with a dash; if it is the value, write {joined}"
        return missing

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """The value of any flag; an empty one is a slip, often of a shell variable that is not set."""
        if not arg_string.strip():
            raise argparse.ArgumentError(action, f"the value is empty; expected {action.metavar or 'one word'}")
        return super()._get_value(action, arg_string)

    def format_help(self) -> str:
        """The help; the formats are looked up only here, since most runs never show them."""
        from clover_sim.report import formats

        for action in self._actions:
            if action.dest == "format":
                action.help = f"{action.help or ', '.join(formats())} (default {action.default})"
        return super().format_help()

    def parse(self, argv: Sequence[str], into: argparse.Namespace | None = None) -> argparse.Namespace:
        """The values of ``argv``; :class:`UsageError` with one line for anything unknown or malformed.

        Args:
            into: where they are put, flag by flag, so that those before an error are known.
        """
        self._words = [*argv]
        args, unknown = self.parse_known_args(self._with_negative_values(argv), into)
        if unknown:
            word = next((w for w in unknown if w.startswith("-") and len(w) > 1), unknown[0])
            if not word.startswith("-"):
                file = "; to decode a file, --input FILE" if "--input" in self._option_string_actions else ""
                raise UsageError(f"unexpected argument {word!r}{file or '; run with --help to see what is taken'}")
            flag = word.partition("=")[0]
            if flag == "--":
                raise UsageError("unexpected argument '--'; run with --help to see what is taken")
            # Without the dashes: they alone would make "--help" look like any short flag.
            known = [f[2:] for f in self._option_string_actions if f.startswith("--")]
            hint = suggest(flag.lstrip("-"), known).replace("mean '", "mean '--")
            raise UsageError(f"unknown flag {flag}{hint if 'mean' in hint else '; run with --help to see all'}")
        return args

    def files(self, args: argparse.Namespace) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """The files that the values name, those to write and those to read, each as (flag, path).

        A flag names a file if its metavar says so, and it is written to if it stands in the group "output".
        """
        written: list[tuple[str, str]] = []
        read: list[tuple[str, str]] = []
        for group in self._action_groups:
            for action in group._group_actions:
                if "FILE" not in str(action.metavar):
                    continue
                value = getattr(args, action.dest, None)
                flag = action.option_strings[-1] if action.option_strings else str(action.metavar)
                paths = [value] if isinstance(value, str) else value or ()
                found = [(flag, path) for path in paths if isinstance(path, str)]
                (written if group.title == OUTPUT else read).extend(found)
        return written, read

    def _with_negative_values(self, argv: Sequence[str]) -> list[str]:
        """Values such as ``-1:3`` joined to their flag: they are numbers, and what is wrong with them can be said."""
        joined: list[str] = []
        for word in argv:
            action = self._option_string_actions.get(joined[-1]) if joined else None
            if word[:1] == "-" and word[1:2] in _NUMERIC and action is not None and action.nargs is None:
                joined[-1] += f"={word}" if joined[-1].startswith("--") else word
            else:
                joined.append(word)
        return joined


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
    def __init__(self, prog: str, **_look: Any) -> None:
        from clover_sim.cli._streams import terminal_width

        super().__init__(prog, max_help_position=30, width=max(20, terminal_width(_HELP_WIDTH) - 2))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Sentences in lines of words, commands in lines that a shell still reads as one."""
        return indent + f"\n{indent}".join(fitted_text(text, width - len(indent)))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """``-s, --strategy NAME``: as Python writes it from 3.13 on; before, it repeated the NAME."""
        names = ", ".join(action.option_strings)
        if not names or action.nargs == 0:
            return names or super()._format_action_invocation(action)
        return f"{names} {self._format_args(action, self._get_default_metavar_for_optional(action))}"


def fitted_text(text: str, width: int) -> list[str]:
    r"""The lines of a summary or of examples in ``width`` columns; an indented line is a command, broken with ``\``.

    >>> print("\n".join(fitted_text("try:\n  tool run --first 1 --second 2", 24)))
    try:
      tool run --first 1 \
          --second 2
    """
    from clover_sim.report._text import wrap

    lines: list[str] = []
    for line in text.replace("\\\n      ", "").split("\n"):
        lines += _command(line, width) if line.startswith("  ") else wrap(line, width)
    return lines


def _command(line: str, width: int) -> list[str]:
    """A command in lines; a flag stays with its value where both fit."""
    if len(line) <= width:
        return [line]
    pieces: list[str] = []
    for word in line.split():
        joins = pieces and pieces[-1].startswith("-") and not word.startswith("-") and " " not in pieces[-1]
        pieces[-1:] = [f"{pieces[-1]} {word}"] if joins else [*pieces[-1:], word]
    lines, current = [], " "
    for piece in pieces:
        if len(current) + 1 + len(piece) + 2 > width and current.strip():
            lines.append(current + " \\")
            current = " " * 5
        current += f" {piece}"
    return [*lines, current]


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

    made: Any = typed(convert)
    made.names = names  # what a shell may complete
    return made  # type: ignore[no-any-return]


def common_flags(parser: argparse.ArgumentParser, formats: Sequence[str] = ()) -> argparse._ArgumentGroup:
    """``--format``, ``--export``, ``--force``, colour, ``-q``, ``-v``, ``-h``; returns the group, for more of the kind.

    A flag added to it with the metavar FILE names a file to write: none that is there is replaced without ``--force``,
    nor one that another flag reads.

    Args:
        formats: those the command has; without it every format of :mod:`clover_sim.report`.
    """
    group = parser.add_argument_group(OUTPUT)
    group.add_argument("--format", metavar="NAME", default="table",
                       type=choice(*formats) if formats else typed(_format_name),
                       help=", ".join(formats))  # fmt: skip
    group.add_argument("--export", metavar="FILE", action="append", default=[],
                       help="also write the result to FILE, in the format of its ending; repeatable; - is "
                       "standard output")  # fmt: skip
    group.add_argument("-f", "--force", action="store_true", help="replace files that are there")
    return plain_flags(parser, group)


def plain_flags(
    parser: argparse.ArgumentParser, group: argparse._ArgumentGroup | None = None
) -> argparse._ArgumentGroup:
    """Colour, ``-q``, ``-v``, ``-h``: all that a command needs which writes no file. Returns the group."""
    group = group or parser.add_argument_group(OUTPUT)
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
