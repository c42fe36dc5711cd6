"""The published reference stream's physics: a uniform lift, and two shared generators followed to the letter.

Confidences and the errors of forced commits come from one generator in the order in which they are asked for, so a
changed threshold shifts later confidences. That belongs to this profile alone; every other one draws by position.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from clover_sim.physics.base import UniformLift, open_positions
from clover_sim.records import Drafter

CAP = 0.999
"""Confidences rise no further than this (reference rules)."""


@dataclass(frozen=True, slots=True)
class ReferenceSettings:
    """Options of the ``reference`` profile.

    Args:
        stream_seed, block_seed, spec_seed: seeds of the tokens, of confidences and forced errors, of acceptance.
        lift: confidence gained by each masked position of the block a pass, >= 0.
        forced_error: chance in [0, 1] that a forced commit is an error that stays.
    """

    stream_seed: int = 42
    block_seed: int = 42
    spec_seed: int = 7
    lift: float = 0.09
    forced_error: float = 0.18

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lift) and self.lift >= 0):
            raise ValueError(f"lift={self.lift}: expected a number of at least 0")
        if not 0 <= self.forced_error <= 1:
            raise ValueError(f"forced_error={self.forced_error}: expected a probability from 0 to 1")


class ReferencePhysics:
    """One run over ``tokens`` (one byte each); a token t opens with confidence ``floor[t] + spread[t] * u``."""

    __slots__ = (
        "provides", "uniform_lift", "confidence", "_state", "_settings", "_random", "_accept", "_tokens", "_floor",
        "_spread",
    )  # fmt: skip

    def __init__(
        self, settings: ReferenceSettings, tokens: bytes, floor: Sequence[float], spread: Sequence[float]
    ) -> None:
        self.provides: frozenset[str] = frozenset()
        self._settings = settings
        self._random = random.Random(settings.block_seed).random
        self._accept = random.Random(settings.spec_seed).random
        self._tokens, self._floor, self._spread = tokens, floor, spread
        self._state = array("d")
        self.confidence = self._state.__getitem__
        self.uniform_lift: UniformLift | None = UniformLift(
            settings.lift, CAP, self._draw, self._wrong_now, errors_only_when_forced=True
        )

    def _draw(self, start: int, stop: int) -> list[float]:
        draw, floor, spread = self._random, self._floor, self._spread
        return [floor[t] + spread[t] * draw() for t in self._tokens[start:stop]]

    def _wrong_now(self, position: int, confidence: float, forced: bool) -> bool:
        return forced and self._random() < self._settings.forced_error

    def opened(self, positions: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`."""
        open_positions(self._state, positions, self._draw)

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """Raise what is still masked by the lift."""
        state, lift = self._state, self._settings.lift
        for p in still_masked:
            state[p] = min(state[p] + lift, CAP)

    def wrong(self, position: int, forced: bool) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`."""
        return forced and self._random() < self._settings.forced_error

    def agrees(self, position: int, offset: int, previous_matched: bool, drafter: Drafter) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`."""
        return self._accept() < drafter.rate(offset)
