"""A strategy in a package of its own: the surer half of a block in each pass."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Halves:
    """Commit the more confident half of what is masked in a block, pass after pass (log2 of its size, and one more)."""

    block_size: int = 32

    def __post_init__(self):
        if self.block_size < 1:
            raise ValueError(f"block_size={self.block_size}: expected at least 1 position")

    def decode(self, canvas):
        while canvas.remaining:
            view = yield canvas.block(self.block_size)
            canvas.commit(view.best((len(view.positions) + 1) // 2))
