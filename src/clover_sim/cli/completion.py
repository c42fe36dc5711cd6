"""``clover-sim completion``: a script for the shell, made from the parsers of all commands."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from typing import Any, NamedTuple

from clover_sim.cli._console import Console
from clover_sim.cli._parser import Parser, choice

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
    group = parser.add_argument_group("output")
    group.add_argument("--color", metavar="WHEN", default="auto", type=choice("auto", "always", "never"),
                       help="auto, always or never")  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings")
    group.add_argument("-v", "--verbose", action="store_true", help="show the traceback of an error")
    group.add_argument("-h", "--help", action="store_true", help="show this help")


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
    values = " ".join(known.get(action.dest, ())) if action.nargs != 0 else None
    text = " ".join((action.help or action.dest).replace("%%", "%").split())
    return Flag(tuple(action.option_strings), text, values, "FILE" in metavar)


def _known_values() -> dict[str, tuple[str, ...]]:
    """What may follow a flag, where that is a list of names."""
    from clover_sim.records import EOS_STOPS, KV_WRITE_RULES
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
        "kv_write": tuple(KV_WRITE_RULES),
        "eos_stop": tuple(EOS_STOPS),
        "align": ("relative", "absolute"),
        "tokenizer": ("qwen", "o200k"),
        "color": ("auto", "always", "never"),
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
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for name, (_, all_flags) in known.items():
        spelled = " ".join(n for flag in all_flags for n in flag.names)
        extra = " bash zsh fish" if name == "completion" else ""
        lines.append(f'        {name}) words="{spelled}{extra}" ;;')
    lines += [
        "    esac",
        '    if [[ $cur == -* || ${COMP_WORDS[1]} == completion ]]; then',
        '        COMPREPLY=($(compgen -W "$words" -- "$cur"))',
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
    for name, (_, all_flags) in known.items():
        lines.append(f"    {name})")
        lines.append("      shift words; (( CURRENT-- ))")
        lines.append("      _arguments \\")
        lines += [f"        {_zsh_flag(flag, spelled)} \\" for flag in all_flags for spelled in flag.names]
        rest = "'1:shell:(bash zsh fish)'" if name == "completion" else "'*:file:_files'"
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
    lines.append("complete -c clover-sim -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
