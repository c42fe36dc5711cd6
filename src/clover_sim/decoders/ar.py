"""Token by token: the floor of every comparison."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from clover_sim.bulk import CausalPlan
from clover_sim.canvas import Canvas
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class TokenByToken:
    """One forward pass a token, each exact (autoregressive decoding, the baseline every paper compares with)."""

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield one causal pass a position."""
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())

    def plan(self) -> CausalPlan:
        """The bulk path's description of the same passes."""
        return CausalPlan()


DECODER = TokenByToken
