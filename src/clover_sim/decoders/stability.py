"""Block diffusion that trusts what is sure and has stopped moving."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from clover_sim.canvas import Canvas
from clover_sim.decoders._unlock import Chooser, Presets, at_least, chances, fill_blocks
from clover_sim.records import Forward
from clover_sim.view import View


@dataclass(frozen=True, slots=True)
class Stability:
    """Commit positions whose confidence is above a bar and whose distribution hardly moved in the last passes.

    KLASS (arXiv 2511.05664, ``llada_klass.py``): confidence > ``conf_threshold`` and each of the last
    ``kl_history_length`` divergences from pass to pass < ``kl_threshold``; if there is none, the schedule's number of
    most confident positions. The first visit of a position has nothing to compare with.

    Args:
        block_size: positions of a block, >= 1.
        conf_threshold: bar in [0, 1] (GSM8K script 0.6, HumanEval 0.9).
        kl_threshold: largest divergence in nats that counts as stable, > 0.
        kl_history_length: how many passes in a row, >= 1.
        tokens_per_pass: positions of the fallback, >= 1 (length over steps; 1 for 256 steps over 256 tokens).
    """

    needs: ClassVar[frozenset[str]] = frozenset({"kl"})

    block_size: int = 64
    conf_threshold: float = 0.9
    kl_threshold: float = 0.01
    kl_history_length: int = 2
    tokens_per_pass: int = 1

    def __post_init__(self) -> None:
        at_least(
            "stability", block_size=self.block_size, kl_history_length=self.kl_history_length,
            tokens_per_pass=self.tokens_per_pass,
        )  # fmt: skip
        at_least("stability", 1e-12, kl_threshold=self.kl_threshold)
        chances("stability", conf_threshold=self.conf_threshold)

    def begin(self, masked: int) -> Chooser:
        """See :class:`~clover_sim.decoders._unlock.UnlockRule`; the state is how long each position has been stable."""
        stable: dict[int, int] = {}

        def choose(view: View) -> tuple[int, ...]:
            for p in view.positions:
                if p not in stable:
                    stable[p] = 0
                else:
                    stable[p] = stable[p] + 1 if view.kl(p) < self.kl_threshold else 0
            calm = [p for p in view.positions if stable[p] >= self.kl_history_length]
            return view.above(self.conf_threshold, calm, strict=True) or view.best(self.tokens_per_pass)

        return choose

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield denoise passes over one block after the other."""
        yield from fill_blocks(canvas, self.block_size, self)


DECODER = Stability
PRESETS: Presets = {"klass": {}}
