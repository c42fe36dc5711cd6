"""Replay: confidences are looked up in a recording, by position and visit, instead of being drawn."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from clover_sim.errors import InputError
from clover_sim.physics.base import PositionDrawn, UniformLift
from clover_sim.physics.classed import chance_right
from clover_sim.rng import Draws


class Visits(NamedTuple):
    """What a recording shows of each position at each of its visits, from the pass that opened it to its commit.

    ``confidence[p][v]`` in [0, 1]; ``entropy`` and ``kl`` in nats; ``guess[p][v]`` is the id of the best token;
    ``None`` where the recording does not hold it. ``wrong[p]`` is 1 where a recorded reference shows an error.
    """

    confidence: Sequence[array[float]]
    guess: Sequence[array[int]] | None = None
    entropy: Sequence[array[float]] | None = None
    kl: Sequence[array[float]] | None = None
    wrong: bytes | None = None


class ReplayPhysics(PositionDrawn):
    """The recorded values, one visit after the other; a position visited more often than recorded keeps its last ones.

    Under the recorded rule the replay is exact. Under another one it is an approximation, since later confidences
    were conditioned on the recorded commits. Errors are those of the recording where it says, otherwise drawn as a
    calibrated model makes them at the recorded confidence.
    """

    __slots__ = (
        "provides", "uniform_lift", "confidence", "_state", "_visits", "_visit", "_length", "_where", "_truth",
        "_edits", "_passes",
    )  # fmt: skip

    def __init__(
        self, visits: Visits | None, length: int, where: str, seed: int, edits: Sequence[frozenset[int]] = ()
    ) -> None:
        super().__init__(seed)
        provides = {"proposals", "recorded-order"}
        if visits is not None:
            provides.add("truth")
            provides.update(
                name for name, held in (("entropy", visits.entropy), ("kl", visits.kl), ("changed", visits.guess))
                if held is not None
            )  # fmt: skip
        if any(edits):
            provides.add("edits")
        self.provides = frozenset(provides)
        self._edits, self._passes = edits, 0
        self.uniform_lift: UniformLift | None = None
        self._visits, self._length, self._where = visits, length, where
        self._visit = array("I")
        self._state = array("d")
        self._truth = Draws(seed, "truth")
        self.confidence = self._state.__getitem__ if visits is not None else self._unknown

    def _unknown(self, position: int) -> float:
        raise InputError(f"{self._where}: this trace holds no confidences: only its recorded order can be replayed")

    def opened(self, positions: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`."""
        visits, state, length = self._visits, self._state, self._length
        if visits is None or not positions:
            return
        stop = positions[-1] + 1
        for p in range(len(state), stop):
            state.append(visits.confidence[p][0] if p < length else 1.0)  # nothing is recorded after the end
        self._visit.extend([0] * (stop - len(self._visit)))

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """Go on to the next recorded visit of what stays masked."""
        visits = self._visits
        self._passes += 1
        if visits is None:
            return
        state, visit, length, confidence = self._state, self._visit, self._length, visits.confidence
        for p in still_masked:
            visit[p] += 1
            if p < length:
                values = confidence[p]
                if visit[p] < len(values):
                    state[p] = values[visit[p]]

    def _at(self, values: Sequence[array[float]] | None, position: int) -> float:
        assert values is not None
        if position >= self._length:
            return 0.0
        row = values[position]
        return row[min(self._visit[position], len(row) - 1)]

    def wrong(self, position: int, forced: bool) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`. Without confidences nothing is known of errors."""
        visits = self._visits
        if visits is None or position >= self._length:
            return False
        if visits.wrong is not None:
            return bool(visits.wrong[position])
        return self._truth[position] >= chance_right(self._state[position])

    def right(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return not self.wrong(position, False)

    def entropy(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return self._at(self._visits.entropy if self._visits else None, position)

    def kl(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return self._at(self._visits.kl if self._visits else None, position)

    def edit(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`: certain where the pass of this number took it back."""
        now = self._passes
        return 1.0 if now < len(self._edits) and position in self._edits[now] else 0.0

    def changed(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        guess = self._visits.guess if self._visits else None
        if guess is None or position >= self._length:
            return False
        now, row = self._visit[position], guess[position]
        return now == 0 or (now < len(row) and row[now] != row[now - 1])
