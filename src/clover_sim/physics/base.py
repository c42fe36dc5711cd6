"""The stream's side of a run: what a model would be sure of, agree with, and get wrong.

A :class:`Physics` object serves one run. The engine asks it by position and in a fixed order; it knows no decoder.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from clover_sim.records import Drafter
from clover_sim.rng import Draws

EXTRAS = ("truth", "entropy", "kl", "changed", "edits", "draft-confidence", "proposals")
"""Abilities beyond confidence and agreement, which a decoder declares in ``needs`` and a physics in ``provides``."""


class Physics(Protocol):
    """What the engine asks of a stream. The methods after ``agrees`` exist only where ``provides`` names them."""

    provides: frozenset[str]
    uniform_lift: UniformLift | None
    """The rule of the bulk path, where confidences rise by one constant a pass; else ``None``."""

    def opened(self, positions: Sequence[int]) -> None:
        """Draw what belongs to positions at their first target BLOCK pass; called in position order."""

    def confidence(self, position: int) -> float:
        """Probability in [0, 1] that the model gives its best guess at a masked position that was opened."""

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """Move on by one target pass; ``still_masked`` are the positions it covered that stay open."""

    def wrong(self, position: int, forced: bool) -> bool:
        """Whether a BLOCK commit made now is an error; called once at each commit."""

    def agrees(self, position: int, offset: int, previous_matched: bool, drafter: Drafter) -> bool:
        """Whether the target agrees with a draft; called in order, stopping at the first miss."""


class Revisable(Protocol):
    """The optional abilities, one method a name in :data:`EXTRAS`."""

    def right(self, position: int) -> bool:
        """Whether a commit made now would be right (``truth``; yardsticks only)."""

    def entropy(self, position: int) -> float:
        """Entropy in nats of the guess at a masked position (``entropy``)."""

    def kl(self, position: int) -> float:
        """Divergence in nats from the position's last visit (``kl``)."""

    def changed(self, position: int) -> bool:
        """Whether the best guess differs from that of the last visit (``changed``)."""

    def edit(self, position: int) -> float:
        """Probability of a different token at a filled position, 0 when the model would keep it (``edits``)."""

    def draft_confidence(self, position: int) -> float:
        """The drafter's own confidence in a draft (``draft-confidence``)."""

    def proposes(self, position: int, tokens: int, drafter: Drafter) -> int:
        """How many drafts in [0, tokens] a zero-cost proposer finds here (``proposals``)."""


class UniformLift(NamedTuple):
    """Confidences that rise by ``lift`` a pass up to ``cap``: enough to work out a block's rounds in one go.

    ``open(a, b)`` draws the first confidences of positions a <= p < b. ``wrong(position, confidence, forced)``
    draws an error at a commit; where ``errors_only_when_forced``, it need not be asked for the others.
    """

    lift: float
    cap: float
    open: Callable[[int, int], list[float]]
    wrong: Callable[[int, float, bool], bool]
    errors_only_when_forced: bool


class PositionDrawn:
    """Agreement and proposals drawn by position: the shared half of every physics but the reference's.

    A position is tested as a draft at most once, so its draw never depends on the decoder that asks.
    """

    __slots__ = ("_agreement", "_proposals")

    def __init__(self, seed: int | str) -> None:
        self._agreement = Draws(seed, "agreement")
        self._proposals = Draws(seed, "proposals")

    def agrees(self, position: int, offset: int, previous_matched: bool, drafter: Drafter) -> bool:
        """See :class:`Physics`."""
        return self._agreement[position] < drafter.rate(offset)

    def proposes(self, position: int, tokens: int, drafter: Drafter) -> int:
        """See :class:`Revisable`."""
        return tokens if self._proposals[position] < drafter.hit_rate else 0


def open_positions(state: array[float], positions: Sequence[int], draw: Callable[[int, int], list[float]]) -> None:
    """Append the first confidences of ``positions`` to ``state``, which is indexed by position.

    Positions that a causal pass settled before any BLOCK pass saw them are skipped over.
    """
    if positions:
        state.extend([0.0] * (positions[0] - len(state)))
        state.extend(draw(positions[0], positions[-1] + 1))
