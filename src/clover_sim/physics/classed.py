"""Classed physics: first confidences by token class, a uniform lift, errors as a calibrated model makes them.

A first model of a stream, to be read for its mechanism: its uniform lift makes tokens per pass grow with the block
size, which real models do not show (docs/design.md, "Known limits").
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from clover_sim.physics.base import PositionDrawn, UniformLift, open_positions
from clover_sim.records import TokenClass
from clover_sim.rng import Draws

CAP = 0.999
"""Confidences rise no further than this (as in the reference rules)."""

FIRST_CONFIDENCE = {
    # floor and spread of confidence = floor + spread * u. The three bands are those of the published reference stream
    # (structural .965 to .995 depending on the sign, common .86 to .96, rare .55 to .80); padding after the end of a
    # text is as sure as structure.
    TokenClass.STRUCTURAL: (0.965, 0.03),
    TokenClass.COMMON: (0.86, 0.10),
    TokenClass.RARE: (0.55, 0.25),
    TokenClass.PADDING: (0.965, 0.03),
}

CALIBRATION = (
    # (confidence, share of such guesses that are right), measured on recorded greedy decoding of a small
    # block-diffusion model trained on tool-call JSON and Python (3.9 M parameters, 80 prompts); ends by definition.
    (0.0, 0.0),
    (0.15, 0.15),
    (0.55, 0.55),
    (0.75, 0.70),
    (0.85, 0.83),
    (0.93, 0.91),
    (0.966, 0.986),
    (0.986, 0.997),
    (1.0, 1.0),
)
_BOUNDS = [confidence for confidence, _ in CALIBRATION]


def chance_right(confidence: float) -> float:
    """Probability that a guess of this confidence is right, between the measured points by straight lines.

    >>> chance_right(0.55), chance_right(1.0), round(chance_right(0.8), 3)
    (0.55, 1.0, 0.765)
    """
    i = min(bisect_right(_BOUNDS, confidence), len(CALIBRATION) - 1)
    (x0, y0), (x1, y1) = CALIBRATION[i - 1], CALIBRATION[i]
    return y0 + (y1 - y0) * (confidence - x0) / (x1 - x0)


@dataclass(frozen=True, slots=True)
class ClassedSettings:
    """Options of the synthetic and real-text profiles.

    Args:
        seed: seed of the text (synthetic profiles) and of every draw.
        lift: confidence gained by each masked position of a pass, >= 0.
    """

    seed: int = 0
    lift: float = 0.09

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lift) and self.lift >= 0):
            raise ValueError(f"lift={self.lift}: expected a number of at least 0")


class ClassedPhysics(PositionDrawn):
    """One run over classed tokens; every draw belongs to a position and a purpose."""

    __slots__ = ("provides", "uniform_lift", "confidence", "_state", "_classes", "_lift", "_first", "_truth")

    def __init__(self, settings: ClassedSettings, classes: bytes) -> None:
        super().__init__(settings.seed)
        self.provides = frozenset({"truth", "proposals"})
        self._classes, self._lift = classes, settings.lift
        self._first = Draws(settings.seed, "confidence")
        self._truth = Draws(settings.seed, "truth")
        self._state = array("d")
        self.confidence = self._state.__getitem__
        self.uniform_lift: UniformLift | None = UniformLift(
            settings.lift, CAP, self._draw, self._wrong_at, errors_only_when_forced=False
        )

    def _draw(self, start: int, stop: int) -> list[float]:
        first, bands = self._first, FIRST_CONFIDENCE
        values = []
        for position, token_class in enumerate(self._classes[start:stop], start):
            floor, spread = bands[token_class]  # type: ignore[index]
            values.append(floor + spread * first[position])
        return values

    def _wrong_at(self, position: int, confidence: float, forced: bool) -> bool:
        return self._truth[position] >= chance_right(confidence)

    def opened(self, positions: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`."""
        open_positions(self._state, positions, self._draw)

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """Raise what is still masked by the lift. Confidences of filled positions stay, in case they are reopened."""
        state, lift = self._state, self._lift
        for p in still_masked:
            state[p] = min(state[p] + lift, CAP)

    def wrong(self, position: int, forced: bool) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`."""
        return self._wrong_at(position, self._state[position], forced)

    def right(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return not self._wrong_at(position, self._state[position], False)
