"""``clover-sim completion``: a script for the shell, made from the parsers of all commands."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from typing import Any, NamedTuple

from clover_sim.cli._console import Console
from clover_sim.cli._parser import Parser, choice, plain_flags

SUMMARY = "Print a completion script for bash, zsh or fish."
EXAMPLES = """\
examples:
  clover-sim completion bash > ~/.local/share/bash-completion/completions/clover-sim
  clover-sim completion zsh > "${fpath[1]}/_clover-sim"
  clover-sim completion fish > ~/.config/fish/completions/clover-sim.fish
"""


class Flag(NamedTuple):
    """A flag of a command: its spellings, what it says, and what may follow (``None``: nothing, ``""``: anything)."""

    names: tuple[str, ...]
    help: str
    values: str | None
    files: bool


def configure(parser: ArgumentParser) -> None:
    """Declare the argument of the command."""
    parser.add_argument("shell", metavar="SHELL", type=choice("bash", "zsh", "fish"), help="bash, zsh or fish")
    plain_flags(parser)


def run(args: Namespace, console: Console) -> int:
    """Print the script."""
    console.write({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](flags()))
    return 0


def flags() -> dict[str, tuple[str, list[Flag]]]:
    """Summary and flags of every command, read from its parser."""
    from clover_sim.cli._dispatch import commands

    known = _known_values()
    found: dict[str, tuple[str, list[Flag]]] = {}
    for name, module in commands().items():
        parser = Parser(name, module.SUMMARY)
        module.configure(parser)
        shown = [a for a in parser._actions if a.option_strings and a.help != "==SUPPRESS=="]
        found[name] = (module.SUMMARY, [_flag(action, known) for action in shown])
    return found


def _flag(action: Action, known: dict[str, tuple[str, ...]]) -> Flag:
    metavar = str(action.metavar or "")
    values = " ".join(_names(action, known)) if action.nargs != 0 else None
    text = " ".join((action.help or action.dest).replace("%%", "%").split())
    return Flag(tuple(action.option_strings), text, values, "FILE" in metavar)


def _names(action: Action, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """What may follow, by the type of the value, else by its name."""
    return getattr(action.type, "names", None) or known.get(action.dest, ())


def _arguments() -> dict[str, str]:
    """The names that may stand as an argument of a command, for those that take one of a list."""
    from clover_sim.cli._dispatch import commands

    known = _known_values()
    found: dict[str, str] = {}
    for name, module in commands().items():
        parser = Parser(name, module.SUMMARY)
        module.configure(parser)
        found[name] = " ".join(n for a in parser._actions if not a.option_strings for n in _names(a, known))
    return found


def _known_values() -> dict[str, tuple[str, ...]]:
    """What may follow a flag, where that is a list of names."""
    from clover_sim.cli.list import TOPICS
    from clover_sim.registry import strategy_names
    from clover_sim.report import formats
    from clover_sim.specs import load
    from clover_sim.streams.profiles import PROFILES

    return {
        "strategy": tuple(name for name, _ in strategy_names()),
        "profile": tuple(PROFILES),
        "model": tuple(load._names("models")),
        "gpu": tuple(load._names("hardware")),
        "engine": tuple(load._names("engines")),
        "topic": tuple(TOPICS),
        "format": tuple(formats()),
        "cost": ("floor", "roofline", "fixed:pass_ms=15"),
    }


def bash(known: dict[str, tuple[str, list[Flag]]]) -> str:
    """The script for bash."""
    lines = [
        "# bash completion for clover-sim",
        "_clover_sim() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=",
        "    COMPREPLY=()",
        "    if [[ $COMP_CWORD -eq 1 ]]; then",
        f'        COMPREPLY=($(compgen -W "{" ".join(known)}" -- "$cur"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $prev" in',
    ]
    for name, (_, all_flags) in known.items():
        for flag in all_flags:
            if flag.values is None:
                continue
            pattern = "|".join(f'"{name} {spelled}"' for spelled in flag.names)
            listed = f'$(compgen -W "{flag.values}" -- "$cur")' if flag.values else ""
            files = '$(compgen -f -- "$cur")' if flag.files or not flag.values else ""
            lines.append(f"        {pattern}) COMPREPLY=({' '.join(x for x in (listed, files) if x)}); return ;;")
    lines += ["    esac", '    local args=', '    case "${COMP_WORDS[1]}" in']
    arguments = _arguments()
    for name, (_, all_flags) in known.items():
        spelled = " ".join(n for flag in all_flags for n in flag.names)
        lines.append(f'        {name}) words="{spelled}" args="{arguments[name]}" ;;')
    lines += [
        "    esac",
        "    if [[ $cur == -* ]]; then",
        '        COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "    elif [[ -n $args ]]; then",
        '        COMPREPLY=($(compgen -W "$args" -- "$cur"))',
        "    else",
        '        COMPREPLY=($(compgen -f -- "$cur"))',
        "    fi",
        "}",
        "complete -o filenames -F _clover_sim clover-sim",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(known: dict[str, tuple[str, list[Flag]]]) -> str:
    """The script for zsh."""
    lines = ["#compdef clover-sim", "_clover_sim() {", "  local -a commands=("]
    lines += [f"    {_quoted(name + ':' + summary)}" for name, (summary, _) in known.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
              '  case "${words[2]}" in']  # fmt: skip
    arguments = _arguments()
    for name, (_, all_flags) in known.items():
        lines.append(f"    {name})")
        lines.append("      shift words; (( CURRENT-- ))")
        lines.append("      _arguments \\")
        lines += [f"        {_zsh_flag(flag, spelled)} \\" for flag in all_flags for spelled in flag.names]
        rest = f"'1:name:({arguments[name]})'" if arguments[name] else "'*:file:_files'"
        lines.append(f"        {rest} ;;")
    lines += ["  esac", "}", '_clover_sim "$@"']
    return "\n".join(lines) + "\n"


def _zsh_flag(flag: Flag, spelled: str) -> str:
    said = flag.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    text = f"*{spelled}[{said}]"
    if flag.values is not None:
        text += f":value:({flag.values.replace(':', chr(92) + ':')})" if flag.values else ":value:_files"
    return _quoted(text)


def fish(known: dict[str, tuple[str, list[Flag]]]) -> str:
    """The script for fish."""
    lines = ["# fish completion for clover-sim"]
    for name, (summary, _) in known.items():
        lines.append(f"complete -c clover-sim -n __fish_use_subcommand -f -a {name} -d {_fish(summary)}")
    for name, (_, all_flags) in known.items():
        seen: Any = f"-n '__fish_seen_subcommand_from {name}'"
        for flag in all_flags:
            spelled = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
            takes = "" if flag.values is None else f" -r{' -f' if flag.values and not flag.files else ''}"
            takes += f" -a {_fish(flag.values)}" if flag.values else ""
            lines.append(f"complete -c clover-sim {seen} {spelled}{takes} -d {_fish(flag.help)}")
    for name, words in _arguments().items():
        if words:
            lines.append(f"complete -c clover-sim -n '__fish_seen_subcommand_from {name}' -f -a {_fish(words)}")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
