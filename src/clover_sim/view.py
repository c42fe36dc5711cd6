"""What a decoder can see: the view that each pass buys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from clover_sim.canvas import Canvas
from clover_sim.ledger import UNSETTLED
from clover_sim.records import BLOCK, CAUSAL, DRAFT, Forward


class View:
    """What one pass shows. It is valid until the next ``yield``.

    Rule calls (``above``, ``where``, ``edits``, ``right``) return positions that a test on the model's own values let
    through; a commit of any other position is counted as forced.

    >>> from clover_sim import open_stream, run
    >>> class Look:
    ...     def decode(self, canvas):
    ...         while canvas.remaining:
    ...             view = yield canvas.block(4)
    ...             assert set(view.above(0.5)) <= set(view.positions)
    ...             _ = canvas.commit(view.positions)
    >>> run(Look(), open_stream("reference", 8), kv_write="none").totals.target_passes
    2
    """

    __slots__ = ("_canvas", "_forward", "_masked", "_ruled", "_last_ruled", "_agreed", "_tested")

    def __init__(self, canvas: Canvas, forward: Forward, masked: Sequence[int], tested: int) -> None:
        self._canvas = canvas
        self._forward = forward
        self._masked = masked
        self._ruled: set[int] = set()
        self._last_ruled: tuple[int, ...] | None = None
        self._agreed: range | None = None
        self._tested = tested

    @property
    def positions(self) -> tuple[int, ...]:
        """The masked positions this pass scored, in order."""
        return tuple(self._masked)

    def above(self, threshold: float, within: Iterable[int] | None = None, strict: bool = False) -> tuple[int, ...]:
        """Masked positions whose confidence is >= ``threshold`` (> if ``strict``), in order. A rule call."""
        confidence = self._block("above()")
        masked = self._within(within)
        if strict:
            return self._rule([p for p in masked if confidence(p) > threshold])
        return self._rule([p for p in masked if confidence(p) >= threshold])

    def where(self, test: Callable[[int], bool], within: Iterable[int] | None = None) -> tuple[int, ...]:
        """Masked positions that pass ``test(position)``, a rule of the decoder's own over this view's values.

        A rule must be a test that can fail: the conformance suite shows it a hopeless model, where it may let
        nothing through. A rule call.
        """
        self._block("where()")
        return self._rule([p for p in self._within(within) if test(p)])

    def best(self, k: int = 1, within: Iterable[int] | None = None) -> tuple[int, ...]:
        """The ``k`` most confident masked positions, best first; the lowest position wins a tie."""
        confidence = self._block("best()")
        self._canvas._check_count(k, "best")
        masked = self._within(within)
        if k == 1:
            return (max(masked, key=confidence),) if masked else ()
        return tuple(sorted(masked, key=confidence, reverse=True)[:k])

    def confidence(self, position: int) -> float:
        """Probability in [0, 1] of the model's best guess at a masked position of this pass."""
        return self._value("confidence", position)

    def entropy(self, position: int) -> float:
        """Entropy in nats of the guess at a masked position; needs ``entropy``."""
        self._canvas._require("entropy", "entropy()")
        return self._value("entropy", position)

    def kl(self, position: int) -> float:
        """Divergence in nats from the last visit of a masked position; needs ``kl``."""
        self._canvas._require("kl", "kl()")
        return self._value("kl", position)

    def changed(self) -> tuple[int, ...]:
        """Masked positions whose best guess differs from the last visit's; needs ``changed``."""
        self._block("changed()")
        self._canvas._require("changed", "changed()")
        changed = self._canvas._physics.changed
        return tuple([p for p in self._masked if changed(p)])

    def edits(self, threshold: float, strict: bool = False) -> tuple[int, ...]:
        """Filled positions, not final, where the model would put another token with probability >= ``threshold``
        (> if ``strict``); needs ``edits``. A rule call: reopen them, then commit them."""
        self._block("edits()")
        canvas = self._canvas
        canvas._require("edits", "edits()")
        edit, rows = canvas._physics.edit, canvas._places.row
        found = []
        for p in range(max(self._forward.start, canvas._written), self._forward.stop):
            if rows[p] != UNSETTLED and rows[p] != canvas._row:
                value = edit(p)
                if value > 0 and (value > threshold if strict else value >= threshold):
                    found.append(p)
        return self._rule(found)

    def right(self) -> tuple[int, ...]:
        """Masked positions that would be right if committed now; needs ``truth`` (yardsticks only). A rule call."""
        self._block("right()")
        self._canvas._require("truth", "right()")
        right = self._canvas._physics.right
        return self._rule([p for p in self._masked if right(p)])

    def agreed(self) -> range:
        """Positions a causal pass may commit: the verified prefix of the drafts and one bonus token."""
        if self._canvas._view is not self:
            self._stale()
        if self._forward.attend is not CAUSAL or self._forward.role is DRAFT:
            self._canvas._refuse("agreed() belongs to a causal target pass")
        return self._agreement()

    def draft_confidence(self, position: int) -> float:
        """The drafter's confidence in its own draft; only on the view of a draft pass; needs ``draft-confidence``."""
        canvas, forward = self._canvas, self._forward
        if canvas._view is not self:
            self._stale()
        if forward.role is not DRAFT:
            canvas._refuse("draft_confidence() belongs to a draft pass")
        canvas._require("draft-confidence", "draft_confidence()")
        if type(position) is not int or not forward.start <= position < forward.stop:
            canvas._refuse(f"draft_confidence({position}): this pass drafted {forward.start}..{forward.stop - 1}")
        value: float = canvas._physics.draft_confidence(position)
        return value

    # ---- inside -------------------------------------------------------------------------------------------------

    def _block(self, what: str) -> Callable[[int], float]:
        canvas = self._canvas
        if canvas._view is not self:
            self._stale()
        if self._forward.attend is not BLOCK or self._forward.role is DRAFT:
            canvas._refuse(f"{what} belongs to a BLOCK pass of the target")
        confidence: Callable[[int], float] = canvas._physics.confidence
        return confidence

    def _value(self, name: str, position: int) -> float:
        self._block(f"{name}()")
        canvas, forward = self._canvas, self._forward
        seen = type(position) is int and forward.start <= position < forward.stop
        if not seen or canvas._filled[position] or position in canvas._reopened:
            canvas._refuse(f"{name}({position!r}): this pass has not scored a masked position there")
        value: float = getattr(canvas._physics, name)(position)
        return value

    def _within(self, within: Iterable[int] | None) -> Sequence[int]:
        if within is None and not self._canvas._committed and not self._canvas._ended:
            return self._masked
        filled = self._canvas._filled
        if within is None:
            return [p for p in self._masked if not filled[p]]
        inside = set(within)
        return [p for p in self._masked if p in inside and not filled[p]]

    def _rule(self, found: list[int]) -> tuple[int, ...]:
        result = tuple(found)
        self._ruled.update(result)
        self._last_ruled = result
        return result

    def _agreement(self) -> range:
        if self._agreed is None:
            canvas, start, accepted = self._canvas, self._forward.start, 0
            if self._forward.stop <= canvas._frontier:
                canvas._refuse("an encoding pass writes K/V and commits nothing")
            if self._tested:
                agrees, after, matched = canvas._physics.agrees, canvas._drafter_after, canvas._last_matched
                while accepted < self._tested:
                    matched = agrees(start + accepted, accepted, matched, after[matched])
                    if not matched:
                        break
                    accepted += 1
                canvas._last_matched = matched
            self._agreed = range(start, min(start + accepted + 1, self._forward.stop))
        return self._agreed

    def _stale(self) -> NoReturn:
        self._canvas._refuse("this view is stale: it ended at the yield after the one that gave it")
