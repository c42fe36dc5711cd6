"""What a server says of itself when it starts: the configuration, field by field, with the place it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

FIELDS = (
    "model", "tensor_parallel_size", "precision", "gpu", "method", "drafter", "num_speculative_tokens",
    "speculative_num_draft_tokens", "speculative_num_steps", "speculative_eagle_topk", "parallel_drafting", "eager",
)  # fmt: skip
"""What is kept, in the words of engines: a name, a path, a count; the method and the format as they are spelt there."""

_MOST_STATEMENTS = 8
_LONGEST = 300


class Statement(NamedTuple):
    """A value and where it stands, ``file:line``."""

    value: str | int
    where: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """Start-up lines of one engine: for each of :data:`FIELDS` that it states, every value it states."""

    engine: str
    statements: Mapping[str, tuple[Statement, ...]]


class Collected:
    """Statements of one engine while they are being read."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self._found: dict[str, list[Statement]] = {}

    def state(self, where: str, **values: Any) -> bool:
        """Keep what is a name or a count; whether any of them is one."""
        said = False
        for name, value in values.items():
            if isinstance(value, bool):
                value = int(value) or None
            if value in (None, "", "None", "auto") or not isinstance(value, (str, int)) or len(str(value)) > _LONGEST:
                continue
            said = True
            known = self._found.setdefault(name, [])
            if len(known) < _MOST_STATEMENTS and all(str(s.value) != str(value) for s in known):
                known.append(Statement(value, where))
        return said

    def configurations(self) -> list[Configuration]:
        """One, or none."""
        kept = {name: tuple(self._found[name]) for name in FIELDS if name in self._found}
        return [Configuration(self.engine, kept)] if kept else []


def count(value: Any) -> int | None:
    """A whole number of at least 1 that an option can have.

    >>> count("4"), count(3), count(True), count("x"), count(0), count(10**9)
    (4, 3, None, None, None, None)
    """
    if isinstance(value, str) and value.isdecimal() and len(value) < 7:
        value = int(value)
    return value if type(value) is int and 1 <= value <= 1_000_000 else None


def flags(words: list[str], names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Values of the flags of a command line, by our name; ``--flag value`` and ``--flag=value``.

    >>> flags("serve m --tp-size 2 --spec=x".split(), {"tp": ("--tp-size",), "spec": ("--spec",)})
    {'tp': '2', 'spec': 'x'}
    """
    by_flag = {flag: name for name, all_flags in names.items() for flag in all_flags}
    found: dict[str, str] = {}
    for i, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in by_flag:
            following = value if equals else words[i + 1] if i + 1 < len(words) else ""
            if following and not following.startswith("--"):
                found.setdefault(by_flag[flag], following)
    return found


def command(text: str) -> list[str]:
    """The words of a command line as a shell splits them; split at blanks where its quotes do not close."""
    import shlex

    text = text[: 8 << 10]
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
