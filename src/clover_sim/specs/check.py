"""Checks on the figures of a specification: each raises :class:`InputError` with one line, or returns the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from clover_sim.errors import InputError, shown, suggest

UNLIMITED = math.inf

SMALLEST, LARGEST, MOST = 1e-30, 1e30, 10**18
"""Bounds of every figure above 0 and of every count: no product of a few of them leaves the range of a float."""


def number(owner: str, field: str, value: Any, low: float = 0.0, high: float = UNLIMITED, above: bool = False) -> float:
    """A finite real number with ``low <= value <= high`` (``low < value`` when ``above``); booleans are refused.

    >>> number("h200", "tdp_w", 700)
    700
    >>> number("x", "eta", float("nan"))
    Traceback (most recent call last):
        ...
    clover_sim.errors.InputError: x: eta is nan; expected a finite number of at least 0
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{owner}: {field} is {shown(value)}; expected a number, not {kind_of(value)}")
    if low <= value <= min(high, LARGEST) and not (above and value == low) and (value >= SMALLEST or value == 0):
        return value
    tiny = 0 < value < SMALLEST
    floor = f"of at least {SMALLEST:g}" if tiny else f"above {low:g}" if above else f"of at least {low:g}"
    ceiling = f" and at most {min(high, LARGEST):g}" if high != UNLIMITED or LARGEST < value < UNLIMITED else ""
    finite = "a number" if -UNLIMITED < value < UNLIMITED else "a finite number"
    raise InputError(f"{owner}: {field} is {shown(value)}; expected {finite} {floor}{ceiling}")


def whole(owner: str, field: str, value: Any, low: int = 0) -> int:
    """A whole number of at least ``low``; booleans and floats are refused."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{owner}: {field} is {shown(value)}; expected a whole number, not {kind_of(value)}")
    if not low <= value <= MOST:
        most = f" and at most {MOST:.0e}" if value > MOST else ""
        raise InputError(f"{owner}: {field} is {shown(value)}; expected a whole number of at least {low}{most}")
    return value


def text(owner: str, field: str, value: Any, empty: bool = False) -> str:
    """A string, not blank unless ``empty``."""
    if not isinstance(value, str):
        raise InputError(f"{owner}: {field} is {shown(value)}; expected text, not {kind_of(value)}")
    if not empty and not value.strip():
        raise InputError(f"{owner}: {field} is empty; expected text")
    return value


def texts(owner: str, field: str, value: Any) -> tuple[str, ...]:
    """A tuple of strings from a string or a list of strings."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{owner}: {field} is {shown(value)}; expected a list of texts, not {kind_of(value)}")
    return tuple(text(owner, field, item) for item in value)


def keys(owner: str, table: Iterable[str], known: Iterable[str]) -> None:
    """Refuse the first key that is not ``known``, naming the nearest one."""
    known = set(known)
    for key in table:
        if key not in known:
            raise InputError(f"{owner}: unknown key {shown(key)}{suggest(key, known)}")


def kind_of(value: Any) -> str:
    """The name of a value's type as a user of TOML or JSON knows it.

    >>> kind_of(True), kind_of([1]), kind_of(None)
    ('a boolean', 'a list', 'nothing')
    """
    names = {bool: "a boolean", str: "text", float: "a fraction", int: "a whole number", list: "a list"}
    names.update({tuple: "a list", dict: "a table", type(None): "nothing"})
    return names.get(type(value), type(value).__name__)


def toml_text(text: str) -> str:
    """A TOML string; what cannot stand in one is left out.

    >>> print(toml_text('a "name"'))
    "a \\"name\\""
    """
    kept = "".join(char for char in text if char.isprintable())
    return '"' + kept.replace("\\", "\\\\").replace('"', '\\"') + '"'
