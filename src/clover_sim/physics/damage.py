"""How positions settled in one pass spoil an answer: the price of committing unsure tokens together.

That two positions could each go several ways is no error; settled one after the other they agree with each other.
Settled in the same pass they may clash, the more likely the less sure both are and the nearer they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

_FAR = 24
_SURE = 1e-5


@dataclass(frozen=True, slots=True)
class Damage:
    """Chance that an answer survives its passes.

    The commits of a pass are taken from most to least certain. With u = 1 - confidence and U = the sum over the more
    certain ones of u * exp(-distance / reach), a commit adds u^2 * (exp(growth * U) - 1) to the hazard, so that a
    single commit is free and several unsure ones side by side are worse than their sum. An answer is intact with
    probability exp(-scale * hazard).

    Args:
        scale, growth: fitted on two points of a curve of accuracy.
        reach: distance in positions over which two commits clash.

    >>> damage = Damage(0.04, 2.0)
    >>> damage.of_pass([(0.3, 5)]), damage.of_pass([(0.3, 5), (0.3, 6)]) > damage.of_pass([(0.3, 5), (0.3, 9)]) > 0
    (0.0, True)
    """

    scale: float
    growth: float
    reach: float = 1.0

    def of_pass(self, commits: Sequence[tuple[float, int]]) -> float:
        """Hazard of one pass; ``commits`` are (1 - confidence, position)."""
        order = sorted(commits)
        total = 0.0
        for i in range(1, len(order)):
            doubt, position = order[i]
            if doubt >= _SURE:
                before = sum(
                    u * exp(-abs(position - p) / self.reach) for u, p in order[:i] if abs(position - p) < _FAR
                )
                total += doubt * doubt * (exp(self.growth * before) - 1.0)
        return total

    def share_intact(self, hazard: float) -> float:
        """Probability that an answer with this hazard is not spoiled."""
        return exp(-self.scale * hazard)
