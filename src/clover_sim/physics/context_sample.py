"""The same model many times over, without the engine: what fitting asks thousands of times.

One loop over thresholds and fixed counts, in log-odds, without views and ledger; a test holds it equal to the engine.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import exp, inf, log
from typing import NamedTuple

from clover_sim.physics.confidence import Confidence
from clover_sim.physics.context import MOST_LOG_ODDS
from clover_sim.physics.damage import Damage
from clover_sim.physics.normal import Normals, noise_table
from clover_sim.records import TokenClass
from clover_sim.rng import Draws


class DrawnSequence(NamedTuple):
    """Draws of one sequence, free of what is fitted: difficulty and need as unit numbers, by position."""

    kinds: bytes
    difficulty: array[float]
    need: array[float]
    level: float
    shift: int


class Counts(NamedTuple):
    """What decoding a sample took: passes and forced commits in all, tokens, and the hazard of each sequence."""

    tokens: int
    passes: int
    forced: int
    hazards: tuple[float, ...]

    @property
    def tokens_per_pass(self) -> float:
        """Tokens over denoise passes."""
        return self.tokens / self.passes


def draw_sample(
    model: Confidence, kinds: Sequence[bytes], seed: int = 0, mirrored: bool = False
) -> list[DrawnSequence]:
    """Draw one sequence for each entry of ``kinds``, seeds counted up from ``seed``.

    The draws are those of :class:`~clover_sim.physics.context.ContextPhysics` with the same seeds. ``mirrored`` adds
    each sequence with all signs turned, which cancels much of the sampling error of a mean.
    """
    u = model.universal
    step, step_need = (1 - u.rho * u.rho) ** 0.5, (1 - u.rho_need * u.rho_need) ** 0.5
    shared, alone = (1 - u.own) ** 0.5, u.own**0.5
    size = len(noise_table())
    sample = []
    for number, of in enumerate(kinds, seed):
        own, local, needs = (Normals(number, name).next for name in ("own", "difficulty", "need"))
        level = Normals(number, "sequence").next()
        shift = int(Draws(number, "noise")[0] * size)
        z = w = 0.0
        difficulty, need = array("d"), array("d")
        for p in range(len(of)):
            z = u.rho * z + step * local() if p else local()
            w = u.rho_need * w + step_need * needs() if p else needs()
            difficulty.append(shared * z + alone * own())
            need.append(w)
        sample.append(DrawnSequence(of, difficulty, need, level, shift))
        if mirrored:
            easy, needless = (array("d", [-v for v in values]) for values in (difficulty, need))
            sample.append(DrawnSequence(of, easy, needless, -level, shift))
    return sample


def decode_sample(
    model: Confidence,
    sample: Sequence[DrawnSequence],
    block_size: int = 32,
    *,
    threshold: float | None = None,
    tokens_per_pass: int | None = None,
    with_hazards: bool = False,
) -> Counts:
    """Decode every sequence by a threshold (>=, best as fallback) or by a fixed number of positions a pass."""
    u = model.universal
    offsets = u.offsets if model.by_kind else (0.0, 0.0, 0.0, u.offsets[TokenClass.PADDING], 0.0)
    bar = inf
    if threshold is not None and threshold < 1:
        bar = log(threshold / (1 - threshold)) if threshold > 0 else -inf
    damage = model.damage if with_hazards else None
    tokens = passes = forced = 0
    hazards = []
    for of in sample:
        centre = model.mu + model.spread * of.level
        final = [
            min(max(centre + offsets[k] + model.sd * d, -MOST_LOG_ODDS), 4 * MOST_LOG_ODDS)
            for k, d in zip(of.kinds, of.difficulty, strict=True)
        ]
        need = [-u.need * exp(u.need_spread * w) for w in of.need]
        done = _decode(model, final, need, of.shift, block_size, bar, tokens_per_pass, damage)
        tokens += len(final)
        passes += done[0]
        forced += done[1]
        hazards.append(done[2])
    return Counts(tokens, passes, forced, tuple(hazards))


def _decode(
    model: Confidence, final: list[float], need: list[float], shift: int, block_size: int, bar: float,
    fixed: int | None, damage: Damage | None,
) -> tuple[int, int, float]:  # fmt: skip
    u, table = model.universal, noise_table()
    mask, floor, scale, reach = len(table) - 1, u.floor, u.noise, u.reach
    longest = min(block_size, len(final)) + 1
    fade = [reach**d for d in range(longest)]
    past = [u.right_reach**d for d in range(longest)]
    gain = [u.right * (1 - past[d]) for d in range(longest)]
    turn, passes, forced, hazard = shift, 0, 0, 0.0
    for start in range(0, len(final), block_size):
        stop = min(start + block_size, len(final))
        masked = list(range(start, stop))
        while masked:
            lifts = []
            right, after = 0.0, stop
            for p in reversed(masked):
                gap = after - p - 1
                right = (past[gap + 1] * right + gain[gap]) if after < stop else gain[gap]
                lifts.append(right)
                after = p
            odds = []
            missing, before = 0.0, start - 1
            for p in masked:
                missing = (missing * reach + 1.0) * fade[p - before - 1] if before >= start else 0.0
                before = p
                odds.append(
                    floor + (final[p] + lifts.pop() - floor) * exp(need[p] * missing)
                    + scale * table[(turn + 37 * p) & mask]
                )  # fmt: skip
            if fixed is not None:
                order = sorted(range(len(masked)), key=odds.__getitem__, reverse=True)[:fixed]
                chosen = set(order)
                forced += len(order)
            else:
                chosen = {i for i, v in enumerate(odds) if v >= bar}
                if not chosen:
                    chosen = {max(range(len(odds)), key=odds.__getitem__)}
                    forced += 1
            if damage is not None and len(chosen) > 1:
                hazard += damage.of_pass([(1 / (1 + exp(min(odds[i], MOST_LOG_ODDS))), masked[i]) for i in chosen])
            masked = [p for i, p in enumerate(masked) if i not in chosen]
            passes += 1
            turn += 101
    return passes, forced, hazard
