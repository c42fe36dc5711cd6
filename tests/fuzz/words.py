"""Command lines, drawn from the parsers themselves: a new flag or command is fuzzed without an edit here."""

from __future__ import annotations

import ast
import re
import shlex
from argparse import Action
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

from clover_sim.cli._dispatch import commands
from clover_sim.cli._parser import OUTPUT, Parser
from fuzz.corpus import TESTS, corpus
from fuzz.mutation import NUMBERS, TEXTS, damage, damage_word

KINDS = {
    "model": ("config", "gguf", "model"), "drafter": ("config", "model"), "gpu": ("hardware",), "engine": ("engine",),
    "calibration": ("calibration",), "trace": ("trace",), "log": ("sizes",), "logs": ("log",), "from_log": ("log",),
    "input": ("text", "task"), "ledger": ("ledger",), "resume": ("resume",), "measurements": ("rows",),
    "workload": ("task", "sizes"),
}  # fmt: skip
"""What a file that a flag reads should be; for a flag that is not named here it may be anything."""
ENDINGS = {"hardware": "toml", "engine": "toml", "model": "toml", "calibration": "toml", "workload": "toml",
           "config": "json", "gguf": "json", "rows": "json", "log": "log", "sizes": "csv", "text": "txt"}  # fmt: skip
CHEAP = {
    "compare": ("--tokens", "24"), "trace": ("--tokens", "48"),
    "sweep": ("--tokens", "16", "--jobs", "1", "--vary", "threshold=0.9,0.95"), "agent": ("--tasks", "10"),
    "serve": ("--requests", "12", "--pool", "5", "--ladder", "none"), "validate": ("--rows", "worst"),
}  # fmt: skip
"""Small work for commands whose defaults take long."""
SLOW = {"--claims", "--published", "--tpf-at", "--seeds"}
"""What makes a run long for good reasons; given rarely."""
TOO_SLOW = {"--diffusion", "--leave-out", "--allow-long"}
"""Fits and samples that take longer than a try may, by design; never given."""
LONG_RUNS = frozenset(CHEAP) - {"validate"}
"""Commands where a large figure that is allowed takes long for good reasons."""
_FILE_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:jsonl?|toml|log|txt|csv|gz|py|md)")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag, or a positional argument (no names): what may follow it, as far as the parser says."""

    names: tuple[str, ...]
    dest: str
    metavar: str
    takes: bool
    many: bool
    values: tuple[str, ...]
    written: bool


def _choices(convert: Any, depth: int = 0) -> tuple[str, ...]:
    """The names that a ``choice(...)`` accepts, found in its closure."""
    for cell in getattr(convert, "__closure__", None) or ():
        inside = cell.cell_contents
        if isinstance(inside, tuple) and inside and all(isinstance(name, str) for name in inside):
            return inside
        if callable(inside) and depth < 3 and (found := _choices(inside, depth + 1)):
            return found
    return ()


def _flag(action: Action, written: bool, known: dict[str, tuple[str, ...]]) -> Flag:
    values = known.get(action.dest, ()) + _choices(action.type)
    many = action.nargs in ("*", "+") or type(action).__name__ in ("_AppendAction", "_ExtendAction")
    return Flag(
        tuple(action.option_strings), action.dest, str(action.metavar or ""), action.nargs != 0, many, values, written
    )


@cache
def flags() -> dict[str, tuple[Flag, ...]]:
    """The flags of every command."""
    from clover_sim.cli.completion import _known_values

    known = _known_values()
    found = {}
    for name, module in sorted(commands().items()):
        parser = Parser(name, module.SUMMARY)
        module.configure(parser)
        found[name] = tuple(
            _flag(action, group.title == OUTPUT, known)
            for group in parser._action_groups for action in group._group_actions
        )  # fmt: skip
    return found


def _in_code(text: str) -> Iterator[list[str]]:
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        for found in re.findall(r"(?:^|[\s`$])clover-sim ([a-z][^`|#>]*)", line):
            try:
                yield shlex.split(found)
            except ValueError:
                continue


@cache
def examples() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Command lines by command: of the help, the documentation, and lists of words in the tests."""
    found: set[tuple[str, ...]] = set()
    for name, module in commands().items():
        found.add((name,))
        found.update(map(tuple, _in_code(getattr(module, "EXAMPLES", ""))))
    root = TESTS.parent
    for page in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        found.update(map(tuple, _in_code(page.read_text(encoding="utf-8"))))
    for path in sorted(TESTS.glob("*/*.py")):
        if path.parent.name == "fuzz":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.List) and all(isinstance(e, ast.Constant) for e in node.elts):
                found.add(tuple(str(e.value) for e in node.elts if isinstance(e, ast.Constant)))
    by_name: dict[str, list[tuple[str, ...]]] = {name: [] for name in flags()}
    for words in sorted(found):
        if words and words[0] in by_name:
            by_name[words[0]].append(words[1:])
    return {name: tuple(lines) for name, lines in by_name.items()}


@cache
def seen_values() -> dict[str, tuple[str, ...]]:
    """Values that the examples give, by flag."""
    found: dict[str, set[str]] = {}
    for name, lines in examples().items():
        takes = {spelled for flag in flags()[name] for spelled in flag.names if flag.takes}
        for words in lines:
            for flag, value in pairwise(words):
                if flag in takes and not value.startswith("--"):
                    found.setdefault(flag, set()).add(value)
    return {flag: tuple(sorted(values)) for flag, values in sorted(found.items())}


@cache
def options() -> dict[str, tuple[tuple[str, str], ...]]:
    """Options of every strategy and profile with their defaults as text."""
    from clover_sim.registry import build_strategy, strategy_names
    from clover_sim.streams.profiles import PROFILES

    found = {}
    for name, _ in strategy_names():
        decoder = build_strategy(name)[1]
        found[name] = tuple((f.name, str(getattr(decoder, f.name))) for f in fields(decoder) if f.init)
    for name, profile in PROFILES.items():
        found[name] = tuple((f.name, str(f.default)) for f in fields(profile.settings()))
    return found


def spec(rng: Random, names: tuple[str, ...] = ()) -> str:
    """``name:option=value,...`` of something that exists, with values that may not."""
    known = options()
    name = rng.choice(names or tuple(known))
    given = []
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        if known.get(name):
            key, default = rng.choice(known[name])
            given.append(f"{key}={option_value(rng, default)}")
    return f"{name}:{','.join(given)}" if given else name


def option_value(rng: Random, default: str) -> str:
    """The default, or near it, or far from it."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return damage_word(rng, default)
    if kind == 2:
        return "/".join(str(rng.choice((0, 0.2, 0.5, 0.9, 1, 1.5, -1, "nan"))) for _ in range(rng.randrange(1, 5)))
    plain = (default, str(rng.randrange(1, 40)), str(round(rng.random(), 2)), "true", "false", "none")
    return default if kind == 3 else rng.choice(plain[1:2] if default.isdigit() else plain)


def value(rng: Random, flag: Flag, name: str, files: dict[str, bytes]) -> str:
    """A word that may follow a flag; a file it names is put into ``files``."""
    if "FILE" in flag.metavar and rng.random() < (0.6 if "NAME" in flag.metavar else 0.9):
        if flag.written:
            return "out." + rng.choice(("json", "csv", "md", "svg", "html", "toml", "txt", "jsonl", "JSON", "json.gz"))
        return file_for(rng, flag.dest, files)
    seen = tuple(v for spelled in flag.names for v in seen_values().get(spelled, ()))
    plausible: list[str] = [*flag.values, *seen]
    kind = rng.random()
    if flag.dest in ("strategy", "profile", "text", "thinking_text") and kind < 0.5:
        return spec(rng, flag.values)
    if flag.dest in ("vary", "where", "fail_under", "fail_over", "best", "pareto", "columns") and kind < 0.4:
        return figure_spec(rng, flag.dest)
    if kind < 0.35 or not plausible:
        small = (str(rng.randrange(0, 40)), str(round(rng.random(), 3)), rng.choice(NUMBERS))
        plausible += [*small, f"{rng.randrange(9)}:{rng.randrange(9)}", f"{rng.randrange(9)},{rng.randrange(9)}"]
        return rng.choice(plausible)
    word = rng.choice(plausible)
    return word if kind < 0.7 else damage_word(rng, word)


@cache
def _figures() -> tuple[str, ...]:
    from clover_sim.columns import COLUMNS
    from clover_sim.sweeping import _axes

    keys = {key for found in options().values() for key, _ in found}
    return tuple(sorted({c.key for c in COLUMNS} | keys | set(_axes.RUN_KEYS) | set(_axes.MACHINE_KEYS)))


def figure_spec(rng: Random, dest: str) -> str:
    """A figure or option with values, bounds, or others."""
    if dest == "vary" and rng.random() < 0.4:
        usual = ("threshold=0.5,0.9", "threshold=0.5:0.9:0.2", "block_size=4,8", "gpu=h100,b200", "batch_size=1,8",
                 "precision=fp8,bf16", "tokens=4,8", "prompt_tokens=1,99", "align=absolute,relative")  # fmt: skip
        text = rng.choice(usual)
        return text if rng.random() < 0.6 else damage_word(rng, text)
    key = rng.choice(_figures())
    number = rng.choice((rng.choice(NUMBERS), str(rng.randrange(1, 9)), str(round(rng.random(), 2))))
    if dest in ("best", "columns", "pareto"):
        return ",".join([key, *(rng.choice(_figures()) for _ in range(rng.randrange(3)))])
    if dest == "vary":
        several = (number, f"{number},2,0.5", f"0.5:0.9:{number}", "1:3:1", "h100,h200", "x", "[1,2]")
        return f"{key}={rng.choice(several)}"
    bar = dest.startswith("fail") and rng.random() < 0.8
    return f"{key}{'=' if bar else rng.choice(('<=', '>=', '=', '<', '>', '==', '!=', ' <= '))}{number}"


def file_for(rng: Random, dest: str, files: dict[str, bytes], name: str | None = None) -> str:
    """Put a file of the kind a flag expects, often damaged, into ``files``; returns its name."""
    seeds = corpus()
    kinds = KINDS.get(dest) or tuple(seeds)
    kind = rng.choice(kinds) if rng.random() < 0.95 else rng.choice(tuple(seeds))
    items = seeds[kind]
    name = name or f"{dest}{len(files)}.{ENDINGS.get(kind, 'jsonl')}"
    content = rng.choice(items)
    files[name] = damage(rng, content, items) if rng.random() < 0.6 else content
    return name


def harmless(word: str) -> str:
    """Without a path that leads out of the working folder."""
    word = re.sub(r"(^|[=,:])[/~]+(?!dev/null$)", r"\1", word)
    return re.sub(r"\.\.+/?", "", word)


def small(word: str) -> str:
    """Without figures that are allowed and take long for good reasons; absurd ones stay."""
    return re.sub(r"(?<![\d.e])\d{3,17}(?![\d])", lambda m: m.group()[:2], word)


def line(rng: Random, command: str) -> tuple[list[str], dict[str, bytes]]:
    """A command line, and the files it names."""
    known = flags()[command]
    files: dict[str, bytes] = {}
    words = list(rng.choice(examples()[command])) if rng.random() < 0.6 and examples()[command] else []
    if not known:
        return words, files
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 5))):
        flag = rng.choice(known)
        if set(flag.names) & TOO_SLOW or (set(flag.names) & SLOW and rng.random() < 0.95):
            continue
        if not flag.names:
            words[:0] = [value(rng, flag, command, files) for _ in range(rng.choice((1, 1, 2)) if flag.many else 1)]
        elif not flag.takes:
            words.append(rng.choice(flag.names))
        elif rng.random() < 0.9:
            words += [rng.choice(flag.names), value(rng, flag, command, files)]
        else:
            words.append(f"{flag.names[-1]}={value(rng, flag, command, files)}")
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        at = rng.randrange(len(words) + 1)
        kind = rng.randrange(4)
        if kind == 0 or not words:
            words.insert(at, rng.choice(TEXTS))
        elif kind == 1:
            del words[at - 1]
        elif kind == 2:
            words.insert(at, rng.choice(words))
        else:
            words[at - 1] = damage_word(rng, words[at - 1])
    _name_files(rng, words, known, files)
    given = {word.partition("=")[0] for word in words}
    cheap = CHEAP.get(command, ())
    for flag_name, cheap_value in zip(cheap[::2], cheap[1::2], strict=True):
        if flag_name not in given and rng.random() < 0.97:
            words += [flag_name, cheap_value]
    words = [harmless(word) for word in words if word.partition("=")[0] not in TOO_SLOW]
    if command in LONG_RUNS:
        words = [small(word) for word in words]
    before = rng.choice(([], [], [], ["-q"], ["-v"], ["--color", "never"]))
    return [*before, command, *words], files


def _name_files(rng: Random, words: list[str], known: tuple[Flag, ...], files: dict[str, bytes]) -> None:
    """Make the files that stand in examples."""
    by_name = {name: flag for flag in known for name in flag.names}
    flag = next((flag for flag in known if not flag.names), None)
    for word in words:
        if word in by_name:
            flag = by_name[word]
        elif flag is not None and _reads(flag) and _FILE_NAME.fullmatch(word) and len(word) < 80 and word not in files:
            file_for(rng, flag.dest, files, word)


def _reads(flag: Flag) -> bool:
    return not flag.written and ("FILE" in flag.metavar or not flag.names)
