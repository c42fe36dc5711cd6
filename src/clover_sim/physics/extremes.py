"""Models at the extremes, with every ability: what a decoder meets before it may call itself one.

They are no model of any text. The conformance suite uses them, and so can the tests of a plug-in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from clover_sim.physics.base import EXTRAS, Physics, UniformLift
from clover_sim.physics.classed import ClassedPhysics, ClassedSettings
from clover_sim.records import Drafter, TokenClass
from clover_sim.rng import mix
from clover_sim.streams.base import Stream

MOODS = ("hopeless", "perfect", "restless")


class ExtremePhysics:
    """A model of one mood: ``hopeless`` is never sure and always wrong, ``perfect`` is certain and right at once,
    ``restless`` grows sure over some visits, and changes every fifth token once after it was settled."""

    __slots__ = ("_edited", "_visits", "mood", "provides", "uniform_lift")

    def __init__(self, mood: str) -> None:
        self.provides = frozenset(EXTRAS)
        self.uniform_lift: UniformLift | None = None
        self.mood = mood
        self._visits: Counter[int] = Counter()
        self._edited: set[int] = set()

    def opened(self, positions: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`."""

    def confidence(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Physics`."""
        if self.mood == "restless":
            return min(1.0, 0.6 * mix(1, position, self._visits[position]) + 0.2 * self._visits[position])
        return 1.0 if self.mood == "perfect" else 0.0

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`."""
        self._visits.update(still_masked)
        self._edited.update(reopened)

    def wrong(self, position: int, forced: bool) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`."""
        return self.confidence(position) < 0.5

    def agrees(self, position: int, offset: int, previous_matched: bool, drafter: Drafter) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`."""
        return self.draft_confidence(position) > 0.4

    def right(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return not self.wrong(position, False)

    def entropy(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return 12.0 * (1.0 - self.confidence(position))

    def kl(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return 1.0 - self.confidence(position)

    def changed(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return self.confidence(position) < 0.5

    def edit(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return 0.99 if self.mood == "restless" and position % 5 == 0 and position not in self._edited else 0.0

    def draft_confidence(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return mix(2, position, 0) if self.mood == "restless" else self.confidence(position)

    def proposes(self, position: int, tokens: int, drafter: Drafter) -> int:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return int(tokens * self.draft_confidence(position))


def extreme_stream(mood: str, tokens: int) -> Stream:
    """A stream of ``tokens`` common tokens over a model of that mood.

    >>> extreme_stream("hopeless", 8).physics().confidence(3)
    0.0
    """
    return Stream(mood, bytes([TokenClass.COMMON]) * tokens, partial(_make, mood))


def mixed_stream(tokens: int) -> Stream:
    """A stream of every token class in turn over the classed model: the ordinary case beside the extremes.

    >>> mixed_stream(8).classes.hex()
    '0001020001020000'
    """
    classes = bytes([TokenClass(position % 7 % 3) for position in range(tokens)])
    return Stream("classed", classes, partial(_classed, classes))


def _classed(classes: bytes, limit: int) -> Physics:
    return ClassedPhysics(ClassedSettings(seed=1), classes + bytes([TokenClass.PADDING]) * (limit - len(classes)))


def _make(mood: str, limit: int) -> Physics:
    return ExtremePhysics(mood)
