"""Python values as logs print them, read without running anything.

``{'a': 1}``, ``Name(a=1, b=[...])`` and lists; calls become dictionaries of their keyword arguments. What is not
understood, or is cut off, ends the value: what came before it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

MOST_CHARACTERS = 32 << 10
_MOST_DEPTH, _MOST_ENTRIES = 12, 4000

_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{0,18})?(?:[eE][-+]?\d{1,3})?(?![\w.])")
_NAME = re.compile(r"[A-Za-z_][\w.]{0,200}")
_KEY = re.compile(r"([A-Za-z_]\w{0,100})\s*=\s*")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_OTHER = re.compile(r"<[^<>]{0,200}>|[^\s,()\[\]{}'\"=]{1,200}")
_CONSTANTS = {"None": None, "True": True, "False": False, "true": True, "false": False, "null": None}


class _Ends(Exception):
    """The text breaks off, or goes on in a way that is not understood."""


def value_at(text: str, at: int = 0) -> Any:
    """The value that begins at ``at``; of one that is cut off, what is there; ``None`` where there is none.

    >>> value_at("{'model': 'a/b', 'config': {'k': 3}, 'x': torch.bfloat16, 'y': [1, ")
    {'model': 'a/b', 'config': {'k': 3}, 'x': 'torch.bfloat16', 'y': [1]}
    """
    return _Scan(text[: at + MOST_CHARACTERS], at).top()


def keywords_at(text: str, at: int = 0) -> dict[str, Any]:
    """Keyword arguments from ``at`` on, up to a closing bracket or the first thing that is none.

    >>> keywords_at("model='a/b', spec=Spec(method='mtp', k=3), tp=2 and more")
    {'model': 'a/b', 'spec': {'method': 'mtp', 'k': 3}, 'tp': 2}
    """
    found: dict[str, Any] = {}
    with suppress(_Ends):
        _Scan(text[: at + MOST_CHARACTERS], at).arguments(found)
    return found


class _Scan:
    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.depth, self.left = text, at, 0, _MOST_ENTRIES

    def top(self) -> Any:
        found: list[Any] = []
        with suppress(_Ends):
            self.value(found.append)
        return found[0] if found else None

    def value(self, keep: Callable[[Any], None]) -> None:
        """Hand the next value to ``keep``; containers first, so that what fills them later is kept if they break."""
        self.blanks()
        self.left -= 1
        opening = self.text[self.at : self.at + 1]
        if self.left < 0 or not opening:
            raise _Ends
        if opening in "{[(":
            self.container(opening, keep)
            return
        for pattern in (_STRING, _NUMBER, _NAME, _OTHER):
            if found := pattern.match(self.text, self.at):
                break
        else:
            raise _Ends
        self.at = found.end()
        if pattern is _STRING:
            keep(_unescaped(found[1] if found[1] is not None else found[2]))
        elif pattern is _NUMBER:
            keep(float(found[0]) if set(found[0]) & set(".eE") else int(found[0]))
        elif pattern is _NAME and self.text[self.at : self.at + 1] == "(":
            self.at += 1
            arguments: dict[str, Any] = {}
            keep(arguments)
            self.deeper(lambda: self.arguments(arguments))
        else:
            keep(_CONSTANTS.get(found[0], found[0]))

    def container(self, opening: str, keep: Callable[[Any], None]) -> None:
        self.at += 1
        if opening == "{":
            table: dict[Any, Any] = {}
            keep(table)
            self.deeper(lambda: self.entries(table))
        else:
            items: list[Any] = []
            keep(items)
            self.deeper(lambda: self.items(items, "]" if opening == "[" else ")"))

    def deeper(self, read: Callable[[], None]) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _Ends
        read()
        self.depth -= 1

    def entries(self, table: dict[Any, Any]) -> None:
        while not self.closed("}"):
            key: list[Any] = []
            self.value(key.append)
            self.blanks()
            if self.text[self.at : self.at + 1] == ":":
                self.at += 1
                name = key[0] if isinstance(key[0], (str, int)) else str(key[0])
                self.value(partial(table.__setitem__, name))
            self.comma("}")

    def items(self, items: list[Any], closing: str) -> None:
        while not self.closed(closing):
            self.value(items.append)
            self.comma(closing)

    def arguments(self, table: dict[str, Any]) -> None:
        while not self.closed(")"):
            found = _KEY.match(self.text, self.at)
            if found is None:
                raise _Ends
            self.at = found.end()
            self.value(partial(table.__setitem__, found[1]))
            self.comma(")")

    def closed(self, closing: str) -> bool:
        self.blanks()
        if self.text[self.at : self.at + 1] != closing:
            return False
        self.at += 1
        return True

    def comma(self, closing: str) -> None:
        self.blanks()
        following = self.text[self.at : self.at + 1]
        if following == ",":
            self.at += 1
        elif following != closing:
            raise _Ends

    def blanks(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text
