"""What spoils a step: two readings of the same runs, one fitted to published accuracy, one of assumed chances."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from clover_sim.arguments import settle
from clover_sim.errors import UsageError
from clover_sim.records import TokenClass

CLASHES, LOCKED_ERRORS = "clashes", "locked-errors"
READINGS = (CLASHES, LOCKED_ERRORS)
"""Tokens settled together that clash (:mod:`clover_sim.physics.damage`), or every locked error with a chance."""

IMPLIED_CHANCES = (0.0003, 0.005)
"""Chance that one locked error spoils an answer, were published losses of accuracy due to locked errors alone: LLaDA-8B
on GSM8K implies 0.0003 (threshold 0.9) to 0.0041 (0.5), LLaDA2.0-mini 0.0016 to 0.0048 (from 0.95 to 0.90 and 0.85).
docs/how-to/agents-and-servers.md has the figures, a test works them out again."""

_CHANCES = ("structural", "value", "other", "thinking")


@dataclass(frozen=True, slots=True)
class Failure:
    """What spoils a step. The first five belong to the reading of locked errors.

    Args:
        structural: braces, quotes, colons, keywords: the call cannot be parsed. value: rare tokens and numbers, of
            which arguments consist. other: common words. All of the call or answer. ASSUMPTION: 1, 0.3, 0.05.
        thinking: any token of the thinking before it; wrong steps of thought may still end well. ASSUMPTION: 0.
        forced: whether errors of forced commits count; the token taken alone as the best one is what the model would
            have chosen token by token as well.
        loop_per_1000: chance per 1000 tokens written that a step ends in repetition. Not known for any model: 0.
        own: chance that a step fails whatever the decoding, by the model's own fault.
        reading: ``clashes``: a step survives as answers do by the damage model; ``locked-errors``: each locked error
            spoils it with the chances above; ``auto``: ``locked-errors`` if one of those was changed, else ``clashes``.

    >>> Failure(value=0.1).structural, Failure(value=0.1).chosen, Failure(own=0.1).chosen
    (1.0, 'locked-errors', 'clashes')
    """

    structural: float = 1.0
    value: float = 0.3
    other: float = 0.05
    thinking: float = 0.0
    forced: bool = False
    loop_per_1000: float = 0.0
    own: float = 0.0
    reading: str = "auto"

    def __post_init__(self) -> None:
        settle(self)
        for name in (*_CHANCES, "loop_per_1000", "own"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"failure {name} {getattr(self, name)!r}: expected a chance from 0 to 1")
        if self.reading not in ("auto", *READINGS):
            raise UsageError(f"failure reading {self.reading!r}: expected auto, {', '.join(READINGS)}")

    @property
    def chosen(self) -> str:
        """The reading that figures without a name of one follow."""
        if self.reading != "auto":
            return self.reading
        changed = any(getattr(self, f.name) != f.default for f in fields(self) if f.name in (*_CHANCES, "forced"))
        return LOCKED_ERRORS if changed else CLASHES

    def scaled(self, by: float, name: str = "") -> Failure:
        """All chances of a locked error times ``by``, or the one called ``name`` alone.

        >>> Failure().scaled(0.5).value, Failure().scaled(0.5, "structural").value
        (0.15, 0.3)
        """
        return replace(self, **{n: getattr(self, n) * by for n in ([name] if name else _CHANCES)})

    def survives(self, wrong: tuple[int, int, int], thinking: bool) -> float:
        """Chance that a text with so many locked errors (structural, value, other) is sound."""
        if thinking:
            return float((1.0 - self.thinking) ** sum(wrong))
        structural, value, other = wrong
        return float(
            (1.0 - self.structural) ** structural * (1.0 - self.value) ** value * (1.0 - self.other) ** other
        )


def error_group(token_class: int) -> int:
    """Which of the three chances of a call belongs to a token: 0 structural, 1 value, 2 other.

    >>> error_group(TokenClass.STRUCTURAL), error_group(TokenClass.RARE), error_group(TokenClass.COMMON)
    (0, 1, 2)
    """
    return {TokenClass.STRUCTURAL: 0, TokenClass.RARE: 1}.get(TokenClass(token_class), 2)
