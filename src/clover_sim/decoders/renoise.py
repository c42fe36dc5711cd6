"""A wide canvas that is re-noised every pass until it stands still."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Presets, at_least
from clover_sim.decoders.entropy_bound import within_budget
from clover_sim.records import CAUSAL, Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Renoise:
    """Accept positions of a canvas within an entropy budget a pass, give the others new noise, stop when it is stable.

    DiffusionGemma (google-deepmind/gemma ``diffusion/_sampler.py``): a canvas of 256 random tokens; each pass accepts
    positions in order of entropy while the entropies before each sum to <= ``entropy_bound`` and draws all others
    anew; nothing is final before the canvas is. It stops when a pass changes nothing and the mean entropy is <=
    ``confidence_threshold``, or after ``max_denoising_steps`` passes, when the best guesses stand. A causal encoder
    pass then writes the K/V of the canvas. Here an accepted position that the model would replace is taken back and
    drawn anew; the sampling temperature is not modelled.

    Args:
        block_size: positions of a canvas, >= 1.
        entropy_bound: budget in nats a pass, >= 0.
        max_denoising_steps: most passes over a canvas, >= 1.
        confidence_threshold: mean entropy in nats below which a stable canvas ends, >= 0.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"entropy", "edits"})
    revises: ClassVar[bool] = True
    max_idle_passes: ClassVar[int] = 1

    block_size: int = 256
    entropy_bound: float = 0.1
    max_denoising_steps: int = 48
    confidence_threshold: float = 0.005

    def __post_init__(self) -> None:
        at_least("renoise", block_size=self.block_size, max_denoising_steps=self.max_denoising_steps)
        at_least("renoise", 0, entropy_bound=self.entropy_bound, confidence_threshold=self.confidence_threshold)

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one canvas after the other, each followed by its encoder pass."""
        while canvas.remaining:
            span = canvas.block(self.block_size)
            for step in range(self.max_denoising_steps):
                view = yield span
                back = view.edits(0.5, strict=True)
                doubt = sum(map(view.entropy, view.positions))
                if not back and doubt <= self.confidence_threshold * len(span) and step and not view.positions:
                    break
                canvas.reopen(back)
                canvas.commit(within_budget(view, self.entropy_bound))
                if step == self.max_denoising_steps - 1:
                    canvas.commit(canvas.masked(span.start, span.stop))
            yield canvas.span(span.start, span.stop, CAUSAL)


DECODER = Renoise
PRESETS: Presets = {"diffusiongemma": {}}
