"""Randomness: always named, always drawn by position and purpose.

Every strategy of a comparison meets the same stream because a draw belongs to a position and a purpose,
never to the order in which a decoder happens to ask. Only :meth:`random.Random.random` is drawn, whose sequence
Python guarantees for a given seed (the ``reference`` profile is the documented exception).
"""

from __future__ import annotations

import random
from array import array

_MASK = (1 << 64) - 1


def substream(seed: int | str, purpose: str) -> random.Random:
    """Return an independent generator for ``purpose`` under ``seed``.

    >>> substream(1, "confidence").random() == substream(1, "confidence").random()
    True
    >>> substream(1, "confidence").random() == substream(1, "agreement").random()
    False
    """
    return random.Random(f"{seed}/{purpose}")


class Draws:
    """Uniform draws in [0, 1) indexed by position; drawn in position order, whatever the order of asking.

    >>> a, b = Draws(7, "x"), Draws(7, "x")
    >>> a[5] == b[5], a[0] == b[0]
    (True, True)
    """

    __slots__ = ("_random", "_values")

    def __init__(self, seed: int | str, purpose: str) -> None:
        self._random = substream(seed, purpose).random
        self._values = array("d")

    def __getitem__(self, position: int) -> float:
        values = self._values
        if position >= len(values):
            draw = self._random
            values.extend([draw() for _ in range(position + 1 - len(values))])
        return values[position]


def mix(key: int, position: int, visit: int) -> float:
    """Map (stream key, position, visit) to a uniform number in [0, 1): for what depends on the visit.

    A counter hash (the SplitMix64 finaliser, Steele, Lea and Flood 2014, applied twice), so that the value of one
    visit never depends on how many other visits were drawn before.

    >>> 0 <= mix(1, 2, 3) < 1 and mix(1, 2, 3) == mix(1, 2, 3) != mix(1, 2, 4)
    True
    """
    z = (key + position * 0x9E3779B97F4A7C15 + visit * 0xD1B54A32D192ED03) & _MASK
    for _ in range(2):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        z = ((z ^ (z >> 31)) + 0x9E3779B97F4A7C15) & _MASK
    return (z >> 11) * (1.0 / (1 << 53))
