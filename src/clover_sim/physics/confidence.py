"""The figures of the context model: what is universal, and what belongs to one data set (formula: :mod:`.context`)."""

from __future__ import annotations

from dataclasses import dataclass

from clover_sim.physics.damage import Damage


@dataclass(frozen=True, slots=True)
class Universal:
    """Constants of the model that hold for every data set; how they were found stands in
    docs/reference/confidence-model.md.

    Args:
        rho, rho_need: correlation of neighbouring positions in difficulty, and in need.
        own: share of the variance of difficulty that is a position's own.
        reach, right_reach: how far left and right context reach, in (0, 1): weight a position.
        need, need_spread: median need for left context, and its spread in log units.
        right: log-odds that a fully settled right context adds.
        floor: log-odds of a guess without any left context.
        noise: standard deviation of the log-odds from pass to pass.
        stubborn: share of wrong tokens that the model stands by once it sees them in place (an assumption, not fitted).
        offsets: log-odds by kind: structural, common, rare, padding, digit.
    """

    rho: float = 0.97
    rho_need: float = 0.8
    own: float = 0.27
    reach: float = 0.905
    right_reach: float = 0.45
    need: float = 0.2
    need_spread: float = 0.7
    right: float = 8.8
    floor: float = -2.25
    noise: float = 0.15
    stubborn: float = 0.5
    offsets: tuple[float, ...] = (1.5, -0.3, -0.5, 6.0, -2.5)


UNIVERSAL = Universal()


@dataclass(frozen=True, slots=True)
class Confidence:
    """What belongs to one data set.

    Args:
        mu, sd: mean and spread over positions of the log-odds a position reaches with its left context settled.
        spread: standard deviation of ``mu`` over sequences, >= 0.
        contagion: log-odds that a wrong token takes from those right after it, >= 0, fading with ``reach``.
        by_kind: whether the offsets of the token kinds apply.
        damage: how commits of one pass spoil an answer, or ``None``.
        universal: the constants.
    """

    mu: float
    sd: float
    spread: float = 0.0
    contagion: float = 0.0
    by_kind: bool = True
    damage: Damage | None = None
    universal: Universal = UNIVERSAL
