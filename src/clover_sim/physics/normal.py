"""Normal draws from uniform ones, so that they are the same on every Python."""

from __future__ import annotations

from array import array
from functools import cache
from math import cos, log, pi, sin, sqrt

from clover_sim.rng import substream


class Normals:
    """Standard normal numbers in a fixed order (Box and Muller 1958).

    >>> a, b = Normals(1, "x"), Normals(1, "x")
    >>> a.next() == b.next() and a.next() != a.next()
    True
    """

    __slots__ = ("_random", "_spare")

    def __init__(self, seed: int | str, purpose: str) -> None:
        self._random = substream(seed, purpose).random
        self._spare: float | None = None

    def next(self) -> float:
        """The next number."""
        if (spare := self._spare) is not None:
            self._spare = None
            return spare
        radius = sqrt(-2.0 * log(1.0 - self._random()))
        angle = 2.0 * pi * self._random()
        self._spare = radius * sin(angle)
        return radius * cos(angle)


@cache
def noise_table() -> array[float]:
    """4096 standard normal numbers for noise that depends on position and pass: looked up, not drawn."""
    normals = Normals("clover-sim", "noise table")
    return array("d", [normals.next() for _ in range(4096)])
