"""Taking values out of JSON records, each with a message that names the place and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from clover_sim.errors import InputError, shown


class Place:
    """A record's place in a file, for messages: ``file:line``, then block, pass and position as one goes down."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def at(self, what: str) -> Place:
        """A place inside this one."""
        return Place(f"{self.text}: {what}")

    def refuse(self, message: str) -> NoReturn:
        """Raise :class:`InputError` with the place before the message."""
        raise InputError(f"{self.text}: {message}")


def mapping(value: Any, place: Place) -> Mapping[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        place.refuse(f"{shown(value)} is not an object")
    return value


def items(record: Mapping[str, Any], key: str, place: Place) -> list[Any]:
    """The list under ``key``; missing reads as an error."""
    value = record.get(key)
    if not isinstance(value, list):
        place.refuse(f"{key!r} is {shown(value)}: expected a list" if key in record else f"{key!r} is missing")
    return value


def whole(value: Any, what: str, place: Place, least: int = 0) -> int:
    """A whole number of at least ``least``."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value < 1 << 31:
        place.refuse(f"{what} is {shown(value)}: expected a whole number of at least {least}")
    return int(value)


def optional_whole(record: Mapping[str, Any], keys: tuple[str, ...], place: Place, least: int = 0) -> int | None:
    """The whole number under the first of ``keys`` that is there and not null."""
    for key in keys:
        if record.get(key) is not None:
            return whole(record[key], repr(key), place, least)
    return None


ROUNDED = 1 + 1e-4
"""A softmax in 32 or 16 bits may come out above 1 by so much; it counts as 1."""


def probability(value: Any, what: str, place: Place) -> float:
    """A number in [0, 1], up to rounding."""
    if type(value) not in (int, float) or not 0 <= value <= ROUNDED:
        place.refuse(f"{what} is {shown(value)}: expected a number from 0 to 1")
    return min(float(value), 1.0)


def amount(value: Any, what: str, place: Place) -> float:
    """A finite number of at least 0."""
    if type(value) not in (int, float) or not 0 <= value < float("inf"):
        place.refuse(f"{what} is {shown(value)}: expected a number of at least 0")
    return float(value)


def positions(value: Any, what: str, place: Place) -> tuple[int, ...]:
    """A list of positions, each a whole number."""
    if value is None:
        return ()
    if not isinstance(value, list):
        place.refuse(f"{what} is {shown(value)}: expected a list of positions")
    if all(type(p) is int and p >= 0 for p in value):
        return tuple(value)
    return tuple(whole(p, f"a position in {what}", place) for p in value)
