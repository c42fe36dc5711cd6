"""Small draws that the grammars share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Draw = Callable[[], float]
"""A source of uniform numbers in [0, 1)."""

T = TypeVar("T")


def words(text: str) -> list[str]:
    """The words of ``text``."""
    return text.split()


_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_HEX = "0123456789abcdef"
_ONSETS = words("b br c ch d dr f g gr h j k kl l m n p r s sh st t tr v w z")
_NUCLEI = words("a e i o u ai ea ia io")
_CODAS = ["", "", "", "n", "r", "s", "l", "m", "nd", "rt"]


def pick(draw: Draw, options: Sequence[T]) -> T:
    """One of ``options``, all alike."""
    return options[int(draw() * len(options))]


def often(draw: Draw, options: Sequence[T]) -> T:
    """One of ``options``, the earlier ones more often (the square of a uniform draw)."""
    return options[int(draw() ** 2 * len(options))]


def whole(draw: Draw, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``, both included."""
    return low + int(draw() * (high - low + 1))


def letters(draw: Draw, size: int, alphabet: str = _ALNUM) -> str:
    """A random identifier, as services hand them out."""
    return "".join([alphabet[int(draw() * len(alphabet))] for _ in range(size)])


def hexadecimal(draw: Draw, size: int) -> str:
    """Random hexadecimal digits."""
    return letters(draw, size, _HEX)


def invented(draw: Draw) -> str:
    """A pronounceable name that is in no list."""
    syllables = 2 + (draw() < 0.3)
    parts = [pick(draw, _ONSETS) + pick(draw, _NUCLEI) for _ in range(syllables)]
    return ("".join(parts) + pick(draw, _CODAS)).capitalize()


def date(draw: Draw) -> str:
    """A date of the years 2023 to 2026."""
    return f"{whole(draw, 2023, 2026)}-{whole(draw, 1, 12):02d}-{whole(draw, 1, 28):02d}"
