"""What a decoder can do: make requests for passes, and settle positions.

A decoder holds a :class:`Canvas`, yields :class:`~clover_sim.records.Forward` requests made from it, and gets a
:class:`~clover_sim.view.View` back for each. It commits through the canvas; whether that is legal, forced or wrong is
decided here and in ``request.py``, by the stream's physics, never by the decoder.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, Protocol

from clover_sim.errors import IllegalMove
from clover_sim.faults import caller_location
from clover_sim.ledger import FORCED, PADDING, UNSETTLED, WRONG, Positions
from clover_sim.records import BLOCK, CAUSAL, DRAFT, TARGET, Attend, Declared, Forward


class Shown(Protocol):
    """What a commit asks of the :class:`~clover_sim.view.View` it stands on."""

    _forward: Forward
    _ruled: set[int]
    _last_ruled: tuple[int, ...] | None

    def _agreement(self) -> range: ...


class Canvas:
    """The positions of one new text, 0 to ``limit``, seen by the decoder that fills them.

    >>> from clover_sim import open_stream, run
    >>> class Halves:
    ...     def decode(self, canvas):
    ...         while canvas.remaining:
    ...             span = canvas.block(8)
    ...             while canvas.frontier < span.stop:
    ...                 view = yield span
    ...                 _ = canvas.commit(view.above(0.9) or view.best())
    >>> run(Halves(), open_stream("reference", 24), kv_write="none").totals.tokens
    24
    """

    __slots__ = (
        "_limit", "_frontier", "_remaining", "_filled", "_places", "_length", "_written", "_settled", "_opened_stop",
        "_covered_stop", "_drafted", "_view", "_row", "_committed", "_reopened", "_physics", "_decoder_needs",
        "_drafter", "_drafter_after", "_revises", "_fault", "_prompt_tokens", "_absolute", "_last_matched",
        "_eos_stop", "_ended",
    )  # fmt: skip

    def __init__(
        self, declared: Declared, physics: Any, length: int, limit: int, prompt_tokens: int, absolute: bool,
        eos_stop: str,
    ) -> None:  # fmt: skip
        self._limit = limit
        self._frontier = 0
        self._remaining = limit
        self._filled = bytearray(limit)
        self._places = Positions(limit, length, prompt_tokens)
        self._length = length
        self._written = 0  # K/V of positions before this are final
        self._settled = 0  # positions before this were filled when the last BLOCK pass began, and stayed so
        self._opened_stop = 0
        self._covered_stop = 0
        self._drafted = 0  # drafts reach up to here since the last commit
        self._view: Shown | None = None
        self._row = 0
        self._committed: list[int] = []
        self._reopened: list[int] = []
        self._physics = physics
        self._decoder_needs = declared.needs
        self._drafter = source = declared.draft_source
        self._drafter_after = (None, None) if source is None else (source.after(False), source.after(True))
        self._revises = declared.revises
        self._fault: IllegalMove | None = None
        self._prompt_tokens = prompt_tokens
        self._absolute = absolute
        self._eos_stop = eos_stop
        self._ended = length == limit  # nothing lies after the text, or its end is known
        self._last_matched = True  # whether the last draft that was tested agreed; a text starts as after a match

    def __repr__(self) -> str:
        return f"<Canvas: frontier {self._frontier} of {self._limit}, {self._remaining} masked>"

    @property
    def limit(self) -> int:
        """The most new tokens there may be. Where the text ends before it shows when its last token is settled."""
        return self._limit

    @property
    def frontier(self) -> int:
        """The first masked position; everything before it is filled. Equals ``limit`` when all is done."""
        return self._frontier

    @property
    def written(self) -> int:
        """Positions before this have final K/V; everything from here on may still be reopened."""
        return self._written

    @property
    def remaining(self) -> int:
        """How many positions are still masked (0 once the text is known to have ended)."""
        return self._remaining

    def filled(self, position: int) -> bool:
        """Whether a position holds a token, final or not."""
        if not 0 <= position < self._limit:
            self._refuse(f"filled({position}) is outside the canvas 0..{self._limit}")
        return bool(self._filled[position])

    def masked(self, start: int = 0, stop: int | None = None) -> tuple[int, ...]:
        """The masked positions p with start <= p < stop, in order."""
        stop = self._limit if stop is None else min(stop, self._limit)
        filled = self._filled
        return tuple([p for p in range(max(start, 0), stop) if not filled[p]])

    # ---- requests -----------------------------------------------------------------------------------------------

    def next(self, tokens: int = 1) -> Forward:
        """A causal pass over the next ``tokens`` positions: all but the last must have been drafted."""
        self._check_count(tokens, "next")
        return Forward(self._frontier, min(self._frontier + tokens, self._limit), CAUSAL, TARGET)

    def block(self, size: int) -> Forward:
        """A BLOCK pass over the block of ``size`` positions that holds the frontier, cut to the limit.

        Blocks start at multiples of ``size``, counted from the first new token, or from the first prompt token when
        the run aligns blocks absolutely.
        """
        self._check_count(size, "block")
        shift = self._prompt_tokens if self._absolute else 0
        first = (self._frontier + shift) // size * size - shift
        return Forward(max(first, self._written), min(first + size, self._limit), BLOCK, TARGET)

    def span(
        self, start: int, stop: int, attend: Attend = BLOCK, tokens: int | None = None, recompute: int = 0
    ) -> Forward:
        """A target pass over any span, cut to the limit; see :class:`~clover_sim.records.Forward`."""
        return Forward(start, min(stop, self._limit), attend, TARGET, tokens, recompute)

    def draft(self, tokens: int = 1, nodes: int | None = None) -> Forward:
        """A draft pass that proposes the next ``tokens`` positions not drafted yet, cut to the limit.

        ``nodes`` is the number of tokens really computed, where a tree is drafted.
        """
        self._check_count(tokens, "draft")
        start = max(self._drafted, self._frontier)
        return Forward(start, min(start + tokens, self._limit), CAUSAL, DRAFT, nodes)

    def propose(self, tokens: int) -> int:
        """Ask the declared zero-cost proposer for up to ``tokens`` drafts; returns how many there are, 0 for a miss."""
        self._check_count(tokens, "propose")
        if self._drafter is None:
            self._refuse("propose() needs a declared drafter: set 'draft_source' on the decoder")
        self._require("proposals", "propose()")
        room = min(tokens, self._limit - self._frontier)
        found: int = self._physics.proposes(self._frontier, room, self._drafter) if room else 0
        self._drafted = max(self._drafted, self._frontier + min(found, room))
        return found

    # ---- moves --------------------------------------------------------------------------------------------------

    def commit(self, positions: Iterable[int]) -> None:
        """Settle positions that the current view covers.

        After a causal pass exactly ``view.agreed()`` may be committed. After a BLOCK pass any masked position of the
        span may be; a commit that no rule call of the view returned counts as forced, and may be wrong.
        """
        view = self._view
        if view is None:
            self._refuse("commit without a pass: yield a Forward first")
        forward = view._forward
        if forward.attend is CAUSAL:
            self._commit_causal(view, positions)
            return
        if forward.role is DRAFT:
            self._refuse("a draft pass shows drafts only; a target pass must verify them before a commit")
        filled, row, rows, flags = self._filled, self._row, self._places.row, self._places.flags
        ruled = None if positions is view._last_ruled else view._ruled
        wrong, length, start, stop = self._physics.wrong, self._length, forward.start, forward.stop
        done = self._committed
        before = len(done)
        for p in positions:
            if type(p) is not int or not start <= p < stop:
                self._refuse(f"commit of position {p!r}, which this pass (positions {start}..{stop - 1}) has not seen")
            if filled[p]:
                if rows[p] == UNSETTLED:
                    continue  # the text ended earlier in this pass, which the decoder could not know
                self._refuse(f"commit of position {p}, which is already filled")
            forced = ruled is not None and p not in ruled
            flag = FORCED if forced else 0
            if p >= length:
                flag |= PADDING
            elif wrong(p, forced):
                flag |= WRONG
            filled[p] = 1
            flags[p] = flag
            rows[p] = row
            done.append(p)
        self._remaining -= len(done) - before
        if filled[self._frontier : self._frontier + 1] != b"\0":
            self._advance()
        self._drafted = self._frontier  # drafts were made for the text as it was
        if len(done) > before and self._frontier >= length and not self._ended:
            self._end_of_text(max(stop, self._frontier) if self._eos_stop == "block" else self._frontier)

    def _commit_causal(self, view: Shown, positions: Iterable[int]) -> None:
        if view._forward.role is DRAFT:
            self._refuse("a draft pass shows drafts only; a target pass must verify them before a commit")
        agreed = view._agreement()
        if positions is not agreed and list(positions) != list(agreed):
            self._refuse(f"a causal pass commits exactly its verified prefix and bonus token, here {list(agreed)}")
        if self._committed:
            self._refuse("the tokens of this causal pass are already committed")
        start, stop = agreed.start, agreed.stop
        if stop - start == 1:
            self._filled[start] = 1
            self._places.row[start] = self._row
        else:
            for p in agreed:
                self._filled[p] = 1
                self._places.row[p] = self._row
        for p in range(max(start, self._length), stop):
            self._places.flags[p] = PADDING
        self._committed.extend(agreed)
        self._remaining -= stop - start
        self._frontier = stop
        if stop < self._limit and self._filled[stop]:
            self._advance()
        self._drafted = self._frontier
        if self._written == start:
            self._written = stop
        if self._frontier >= self._length and not self._ended:
            self._end_of_text(self._frontier)

    def reopen(self, positions: Iterable[int]) -> None:
        """Take back filled positions of the current view whose K/V are not written yet (decoders that revise)."""
        view = self._view
        if view is None or view._forward.role is DRAFT:
            self._refuse("reopen without a target pass: yield a Forward first")
        if not self._revises:
            self._refuse("reopen needs a decoder that declares revises = True")
        forward, places = view._forward, self._places
        for p in positions:
            if type(p) is not int or not forward.start <= p < forward.stop:
                self._refuse(f"reopen of position {p!r}, which this pass has not seen")
            if not self._filled[p] or places.row[p] == UNSETTLED:
                self._refuse(f"reopen of position {p}, which is masked")
            if p < self._written:
                self._refuse(f"reopen of position {p}, whose K/V are already written")
            if places.row[p] == self._row:
                self._refuse(f"reopen of position {p}, which this very pass settled")
            places.taken_back.append((p, places.row[p], self._row))
            places.row[p] = UNSETTLED
            places.flags[p] = 0
            self._filled[p] = 0
            self._reopened.append(p)
            self._remaining += 1
            self._frontier = self._drafted = min(self._frontier, p)
            self._settled = min(self._settled, p)

    # ---- inside -------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        found = self._filled.find(b"\0", self._frontier)
        self._frontier = self._limit if found < 0 else found

    def _end_of_text(self, position: int) -> None:
        """The last token is settled with all before it: nothing at or after ``position`` will be decoded."""
        self._ended = True
        if self._eos_stop == "canvas":
            return
        self._filled[position:] = b"\1" * (self._limit - position)
        self._remaining = self._filled.count(b"\0")
        self._advance()
        self._drafted = self._frontier

    def _check_count(self, value: int, what: str) -> None:
        if type(value) is not int or value < 1:
            self._refuse(f"{what}({value!r}): expected a whole number of at least 1")

    def _require(self, ability: str, what: str) -> None:
        if ability not in self._decoder_needs:
            self._refuse(f"{what} needs an ability the decoder has not declared: add {ability!r} to its 'needs'")

    def _refuse(self, message: str) -> NoReturn:
        fault = IllegalMove(message, caller_location())
        if self._fault is None:
            self._fault = fault
        raise fault
