"""A decoder of one's own: block diffusion that lowers its bar as the block fills up."""

from dataclasses import dataclass

import clover_sim as cs


@dataclass(frozen=True)
class FallingBar:
    """Start at ``high``; fall to ``low`` as the last position of the block is reached."""

    block_size: int = 32
    high: float = 0.98
    low: float = 0.9

    def decode(self, canvas):
        while canvas.remaining:
            span = canvas.block(self.block_size)
            while canvas.frontier < span.stop:
                view = yield span
                done = 1 - len(view.positions) / len(span)
                bar = self.high + (self.low - self.high) * done
                canvas.commit(view.above(bar) or view.best())


print(cs.check_decoder(FallingBar()))
for row in cs.compare(["ar", "block-diffusion", FallingBar()], profile="code", tokens=[512]).rows:
    print(row["strategy"], row["target_passes"], row["locked_errors"])
