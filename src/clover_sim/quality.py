"""What speed costs in quality, beyond counting wrong tokens: the chance that the answer as a whole survives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from clover_sim.engine import run
from clover_sim.errors import UsageError
from clover_sim.physics.context import ContextPhysics
from clover_sim.request import Run
from clover_sim.streams.base import Stream


class Quality(NamedTuple):
    """A run with the chance in [0, 1] that its answer is the one that token-by-token decoding gives as often."""

    run: Run
    intact: float


def run_with_quality(decoder: Any, stream: Stream, **options: Any) -> Quality:
    """Run once over a stream of context physics whose workload knows its damage.

    ``accuracy = base * mean of intact over answers``. Raises :class:`UsageError` for any other stream.
    """
    made: list[Any] = []

    def make(limit: int) -> Any:
        made.append(stream.make_physics(limit))
        return made[-1]

    finished = run(decoder, replace(stream, make_physics=make), **options)
    physics = made[0]
    if not isinstance(physics, ContextPhysics) or physics.damage is None:
        raise UsageError(
            f"stream {stream.name!r} does not know how errors spoil an answer; use the profile context with a workload "
            "that has a [quality] section"
        )
    return Quality(finished, physics.damage.share_intact(physics.hazard))


def accuracy(base: float, qualities: Sequence[Quality]) -> float:
    """Expected accuracy in percent where token-by-token decoding reaches ``base``."""
    return base * sum(q.intact for q in qualities) / len(qualities)
