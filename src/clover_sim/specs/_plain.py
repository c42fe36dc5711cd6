"""The files of the package, read without ``tomllib``: loading that takes as long as a comparison of 128 tokens.

They are TOML, and nearly all of them plain: a key, a number or a text without escapes, lists of those, tables. For
whatever is not, there is no answer here, and ``tomllib`` reads the file. A test holds the two to be equal.
"""

from __future__ import annotations

from typing import Any


def plain_table(text: str) -> dict[str, Any] | None:
    """The table in a plain TOML file that is known to be valid; ``None`` for one that is not plain.

    >>> plain_table('a = 1_000 # of them\\nb = ["x", "y"]\\n[c.d]\\ne = true\\n')
    {'a': 1000, 'b': ['x', 'y'], 'c': {'d': {'e': True}}}
    >>> plain_table('a = {b = 1}\\n') is plain_table("a = 'b'") is plain_table('a = "\\\\t"') is None
    True
    """
    if any(sign in text for sign in ("\\", "\r", "\n[[", '"""')):
        return None
    table: dict[str, Any] = {}
    here = table
    lines = iter(text.split("\n"))
    try:
        for line in lines:
            if not line or line[0] == "#":
                continue
            if line[0] == "[":
                here = table
                for part in line[1:].partition("]")[0].split("."):
                    here = here.setdefault(_bare(part), {})
                continue
            key, _, value = line.partition(" = ")
            if value == "[":  # an entry a line
                found: Any = []
                while (line := next(lines)) != "]":
                    found.append(_scalar(line.strip().removesuffix(",")))
            elif value[0] == "[":
                found = _list(_before_remark(value))
            else:
                found = _scalar(value)
            here[_bare(key)] = found
    except (ValueError, IndexError, StopIteration):
        return None
    return table


def _bare(key: str) -> str:
    """A key that needs no quotes and has no dots."""
    if not key.replace("_", "").replace("-", "").isalnum():
        raise ValueError(key)
    return key


def _before_remark(value: str) -> str:
    return value.partition(" #")[0].rstrip()


def _list(value: str) -> list[Any]:
    """A list in one line; one list inside it is as far as it goes."""
    if value[-1] != "]":
        raise ValueError(value)
    inside = value[1:-1]
    if inside[:1] == "[" and inside.count("[") == 1:
        return [_list(inside)]
    return [_scalar(part) for part in inside.split(", ")] if inside else []


def _scalar(value: str) -> Any:
    """A text, a number or a truth value, with a remark behind it or not."""
    if value[0] == '"':
        text, quote, rest = value[1:].partition('"')
        if not quote or (rest and not rest.lstrip().startswith("#")):
            raise ValueError(value)
        return text
    word = _before_remark(value)
    if word in ("true", "false"):
        return word == "true"
    if not word.isascii() or word.lstrip("+-")[:1] not in tuple("0123456789"):
        raise ValueError(value)
    return int(word) if word.lstrip("+-").replace("_", "").isdigit() else float(word)
