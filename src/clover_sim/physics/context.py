"""Confidence that depends on a position's own difficulty and on how much around it is settled.

The certainty of a masked position moves, in log-odds, between a guess made without context and what it will be sure of
once everything to its left is settled; settled positions to its right add to it. It moves only because something was
settled, apart from a little noise. With masked positions j in flight::

    z, w      unit streams along the text (neighbours resemble each other)      s     once a sequence
    a_i     = mu + offset(kind_i) + spread * s + sd * z_i                       what it will be sure of
    g_i     = need * exp(need_spread * w_i)                                     how much it needs its left context
    b_i     = sum over masked j < i of reach ** (i - 1 - j)                     what is missing to its left
    r_i     = (1 - right_reach) * sum over settled j > i of right_reach ** (j - i - 1)
    logit_i = floor + (a_i + right * r_i - floor) * exp(-g_i * b_i) + noise

``mu`` and ``sd`` are fitted to a data set (:mod:`clover_sim.fitting`); everything in
:class:`~clover_sim.physics.confidence.Universal` is one set for all of them. Errors follow from calibrated confidence;
a wrong token may lower what comes after it (``contagion``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import exp, inf, log

from clover_sim.physics.base import PositionDrawn, UniformLift
from clover_sim.physics.classed import chance_right
from clover_sim.physics.confidence import Confidence
from clover_sim.physics.normal import Normals, noise_table
from clover_sim.records import TokenClass
from clover_sim.rng import Draws

MOST_LOG_ODDS = 30.0
"""Nothing is surer than this, so that a threshold of exactly 1 is never reached."""

DIGIT = 4
"""A kind beside the token classes: digits are the least predictable of the rare tokens."""

_ENTROPY_OF_THE_REST = log(10.0)
_GUESSES_PER_LOG_ODDS = 2.0


class ContextPhysics(PositionDrawn):
    """One run over positions of the given kinds (:class:`TokenClass` values or :data:`DIGIT`), one byte each.

    ``hazard`` grows with every pass that settles unsure positions together; ``intact()`` is the chance that the answer
    came through.
    """

    __slots__ = (
        "provides", "uniform_lift", "confidence", "hazard", "damage", "_model", "_kinds", "_state", "_before",
        "_final", "_need", "_replacing", "_masked", "_low", "_passes", "_truth", "_stands", "_wrong", "_wrongs",
        "_own", "_local", "_needs", "_carry", "_centre", "_noise", "_shift",
    )  # fmt: skip

    def __init__(self, model: Confidence, kinds: bytes, seed: int | str) -> None:
        super().__init__(seed)
        self.provides = frozenset({"truth", "entropy", "kl", "changed", "edits", "proposals"})
        self.uniform_lift: UniformLift | None = None
        self.hazard, self.damage = 0.0, model.damage
        self._model, self._kinds = model, kinds
        self._state, self._before = array("d"), array("d")
        self._final, self._need = array("d"), array("d")
        self._masked, self._wrong = bytearray(), bytearray()
        self._replacing: dict[int, float] = {}
        self._low = self._passes = self._wrongs = 0
        self._truth, self._stands = Draws(seed, "truth"), Draws(seed, "stubborn")
        self._own, self._local, self._needs = (Normals(seed, name) for name in ("own", "difficulty", "need"))
        self._carry = (0.0, 0.0)
        self._centre = model.mu + (model.spread * Normals(seed, "sequence").next() if model.spread else 0.0)
        self._noise = noise_table()
        self._shift = int(Draws(seed, "noise")[0] * len(self._noise))
        self.confidence = self._state.__getitem__

    # ---- what the engine asks -----------------------------------------------------------------------------------

    def opened(self, positions: Sequence[int]) -> None:
        """See :class:`~clover_sim.physics.base.Physics`. Positions that causal passes settled before are drawn too."""
        if not positions:
            return
        first, begin, stop = len(self._final), positions[0], positions[-1] + 1
        self._draw(first, stop)
        for column in (self._state, self._before):
            column.extend([0.0] * (stop - first))
        self._wrong.extend(bytes(stop - first))
        self._masked.extend(bytes(begin - first) + b"\1" * (stop - begin))
        self._refresh()
        self._before[begin:stop] = array("d", [-1.0]) * (stop - begin)

    def _draw(self, first: int, stop: int) -> None:
        model, u = self._model, self._model.universal
        own, local, needs = self._own.next, self._local.next, self._needs.next
        z, w = self._carry
        step, step_need = (1 - u.rho * u.rho) ** 0.5, (1 - u.rho_need * u.rho_need) ** 0.5
        shared, alone = (1 - u.own) ** 0.5 * model.sd, u.own**0.5 * model.sd
        offsets = u.offsets if model.by_kind else (0.0, 0.0, 0.0, u.offsets[TokenClass.PADDING], 0.0)
        for p in range(first, stop):
            z = u.rho * z + step * local() if p else local()
            w = u.rho_need * w + step_need * needs() if p else needs()
            final = self._centre + offsets[self._kinds[p]] + shared * z + alone * own()
            self._final.append(min(max(final, -MOST_LOG_ODDS), 4 * MOST_LOG_ODDS))
            self._need.append(-u.need * exp(u.need_spread * w))
        self._carry = (z, w)

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        """Settle and reopen, note the damage of what was settled together, and work out every confidence anew."""
        masked, state = self._masked, self._state
        if len(committed) > 1 and self._model.damage is not None:
            self.hazard += self._model.damage.of_pass([(1.0 - state[p], p) for p in committed if p < len(state)])
        for p in committed:
            if p < len(masked):
                masked[p] = 0
        for p in reopened:
            if p not in committed:
                masked[p] = 1
                self._low = min(self._low, p)
                if self._wrong[p]:
                    self._wrong[p] = 0
                    self._wrongs -= 1
        self._passes += 1
        self._replacing.clear()
        self._refresh()

    def _refresh(self) -> None:
        """Confidences of all masked positions, in two sweeps: from the right, then from the left."""
        masked = self._masked
        low = masked.find(1, self._low)
        if low < 0:
            self._low = len(masked)
            return
        self._low = low
        u, stop = self._model.universal, len(masked)
        reach, right_reach, gain, floor = u.reach, u.right_reach, (1 - u.right_reach) * u.right, u.floor
        state, before, final, need = self._state, self._before, self._final, self._need
        table, scale = self._noise, u.noise
        mask = len(table) - 1
        turn = self._shift + 101 * self._passes
        right = 0.0
        lifts = []
        for p in range(stop - 1, low - 1, -1):
            if masked[p]:
                lifts.append(right)
                right *= right_reach
            else:
                right = right * right_reach + gain
        lifts.reverse()
        if self._wrongs and self._model.contagion:
            self._refresh_after_errors(low, lifts)
            return
        missing, i = 0.0, 0
        for p in range(low, stop):
            if masked[p]:
                logit = floor + (final[p] + lifts[i] - floor) * exp(need[p] * missing) + scale * table[
                    (turn + 37 * p) & mask
                ]
                i += 1
                before[p] = state[p]
                state[p] = 1.0 / (1.0 + exp(-logit if logit < MOST_LOG_ODDS else -MOST_LOG_ODDS))
                missing = missing * reach + 1.0
            else:
                missing *= reach

    def _refresh_after_errors(self, low: int, lifts: list[float]) -> None:
        """The same where wrong tokens lower what comes after them."""
        u, masked, wrong = self._model.universal, self._masked, self._wrong
        harm = missing = 0.0
        for p in range(max(0, low - 64), low):
            harm = harm * u.reach + (self._model.contagion if wrong[p] else 0.0)
        i = 0
        for p in range(low, len(masked)):
            if masked[p]:
                logit = self._logit(p, missing, lifts[i]) - harm
                i += 1
                self._before[p] = self._state[p]
                self._state[p] = 1.0 / (1.0 + exp(-min(max(logit, -MOST_LOG_ODDS), MOST_LOG_ODDS)))
            missing = missing * u.reach + masked[p]
            harm = harm * u.reach + (self._model.contagion if wrong[p] else 0.0)

    def _logit(self, p: int, missing: float, lift: float) -> float:
        u = self._model.universal
        noise = self._noise[(self._shift + 101 * self._passes + 37 * p) & (len(self._noise) - 1)]
        return u.floor + (self._final[p] + lift - u.floor) * exp(self._need[p] * missing) + u.noise * noise

    def wrong(self, position: int, forced: bool) -> bool:
        """See :class:`~clover_sim.physics.base.Physics`: as often as a calibrated model is wrong at this confidence."""
        confidence = self._replacing.pop(position, -1.0) if self._replacing else -1.0
        wrong = self._truth[position] >= chance_right(confidence if confidence >= 0 else self._state[position])
        self._wrongs += wrong - self._wrong[position]  # a replaced token may have been wrong before
        self._wrong[position] = wrong
        return wrong

    def intact(self) -> float | None:
        """Chance in [0, 1] that no tokens settled together clashed; ``None`` for a workload without ``[quality]``."""
        return None if self.damage is None else self.damage.share_intact(self.hazard)

    # ---- further abilities --------------------------------------------------------------------------------------

    def right(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`."""
        return self._truth[position] < chance_right(self._state[position])

    def entropy(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`: what is not the best guess is spread over ten others."""
        c = self._state[position]
        return _two_way(c) + (1.0 - c) * _ENTROPY_OF_THE_REST

    def kl(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`: divergence of best guess against the rest; inf at first."""
        now, was = self._state[position], self._before[position]
        if was < 0:
            return inf
        now, was = (min(max(c, 1e-15), 1 - 1e-15) for c in (now, was))
        return max(0.0, now * log(now / was) + (1 - now) * log((1 - now) / (1 - was)))

    def changed(self, position: int) -> bool:
        """See :class:`~clover_sim.physics.base.Revisable`: true at the first visit."""
        was = self._before[position]
        return was < 0 or self._guess(position, was) != self._guess(position, self._state[position])

    def _guess(self, position: int, confidence: float) -> int:
        """Which token the best guess is: 0 is the right one; wrong ones follow each other as confidence moves."""
        if self._truth[position] < chance_right(confidence):
            return 0
        return 1 + int((log(confidence / (1 - confidence)) + MOST_LOG_ODDS + 1) * _GUESSES_PER_LOG_ODDS)

    def edit(self, position: int) -> float:
        """See :class:`~clover_sim.physics.base.Revisable`: a wrong token is seen through once the context, which is
        now fuller, makes the right one the best guess."""
        if position >= len(self._wrong) or not self._wrong[position]:
            return 0.0
        if self._stands[position] < self._model.universal.stubborn:
            return 0.0
        c = self._as_if_masked(position)
        if self._truth[position] >= chance_right(c):
            return 0.0
        self._replacing[position] = c  # what a commit of the replacement in this pass is as sure as
        return c

    def _as_if_masked(self, position: int) -> float:
        u, masked = self._model.universal, self._masked
        missing = right = harm = 0.0
        for p in range(max(0, position - 64), position):
            missing = missing * u.reach + masked[p]
            harm = harm * u.reach + self._model.contagion * self._wrong[p]
        for p in range(min(len(masked), position + 64) - 1, position, -1):
            right = right * u.right_reach + (0.0 if masked[p] else (1 - u.right_reach) * u.right)
        logit = self._logit(position, missing, right) - harm
        return 1.0 / (1.0 + exp(-min(max(logit, -MOST_LOG_ODDS), MOST_LOG_ODDS)))


def _two_way(c: float) -> float:
    """Entropy in nats of a choice with chances c and 1 - c."""
    return -(c * log(c) + (1 - c) * log(1 - c)) if 0 < c < 1 else 0.0
