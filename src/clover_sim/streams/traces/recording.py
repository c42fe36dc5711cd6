"""A recorded decoding run: which positions each pass scored, how sure it was, and what it committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from clover_sim.errors import InputError
from clover_sim.physics.base import Physics
from clover_sim.physics.replay import ReplayPhysics, Visits
from clover_sim.streams.base import Stream

HOLDS = {
    # what a form may hold -> what can then be asked of it
    "passes": "passes and tokens per pass",
    "order": "which positions each pass settled",
    "confidence": "forced commits and errors; other thresholds and block sizes, approximately",
    "guess": "stability rules, approximately",
    "entropy": "entropy rules, approximately",
    "kl": "divergence rules, approximately",
}


class RecordedPass(NamedTuple):
    """What one pass settled (``committed``) and took back (``reopened``; a replaced token stands in both), which
    commits were a fallback (``None``: the recording does not say), and its ``span`` where it is not the block's."""

    committed: tuple[int, ...]
    reopened: tuple[int, ...] = ()
    forced: tuple[int, ...] | None = None
    span: tuple[int, int] | None = None


class RecordedBlock(NamedTuple):
    """Positions ``start`` to ``stop`` and the passes over them; ``kv_writes`` counts recorded cache-writing passes."""

    start: int
    stop: int
    passes: tuple[RecordedPass, ...]
    kv_writes: int = 0


@dataclass(frozen=True, slots=True)
class Recording:
    """One sequence of a trace.

    Args:
        name: the sequence's id in the file, or its number.
        where: ``file:line`` it was read from.
        form: name of the file format (see docs/how-to/record-a-trace.md).
        block_size: positions of a block, >= 1.
        blocks: in order, without gaps, from position 0.
        threshold: the recorded confidence bar, if any.
        comparison: ``ge`` or ``gt``, whichever reproduces every commit under ``threshold``; ``None`` if the commits
            do not follow a threshold, or the form cannot tell.
        classes: one :class:`~clover_sim.records.TokenClass` byte a position.
        visits: confidences and the like by position and visit; ``None`` where the form holds none.
        holds: keys of :data:`HOLDS`.
        domain: a label of the file, such as ``tool``; empty without one.
    """

    name: str
    where: str
    form: str
    block_size: int
    blocks: tuple[RecordedBlock, ...] = field(repr=False)
    threshold: float | None = None
    comparison: str | None = None
    classes: bytes = field(default=b"", repr=False)
    texts: tuple[str, ...] = field(default=(), repr=False)
    visits: Visits | None = field(default=None, repr=False)
    holds: frozenset[str] = frozenset({"passes"})
    domain: str = ""

    def __len__(self) -> int:
        return self.blocks[-1].stop

    @property
    def passes(self) -> int:
        """Recorded denoise and edit passes."""
        return sum(len(block.passes) for block in self.blocks)

    @property
    def kv_write(self) -> str:
        """The K/V-write rule that the recording shows: ``none`` unless it lists cache-writing passes."""
        writes = [block.kv_writes > 0 for block in self.blocks]
        if all(writes):
            return "separate"
        return "skip-last" if len(writes) > 1 and all(writes[:-1]) else "none"

    @property
    def rule(self) -> str | None:
        """The recorded rule as a strategy, or ``None``: then only the recorded order itself can be replayed."""
        size, blocks = self.block_size, self.blocks
        aligned = all(b.stop - b.start == size for b in blocks[:-1]) and blocks[-1].stop - blocks[-1].start <= size
        if self.comparison is None or not aligned or self.revises:
            return None
        text = f"block-diffusion:block_size={size},threshold={self.threshold!r}"
        return text if self.comparison == "ge" else f"{text},comparison=gt"

    @property
    def revises(self) -> bool:
        """Whether a pass took anything back."""
        return any(p.reopened for block in self.blocks for p in block.passes)

    def stream(self, seed: int = 0) -> Stream:
        """The recording as a stream; ``seed`` draws what it does not hold (errors, drafts)."""
        settings: dict[str, Any] = {"form": self.form, "block_size": self.block_size}
        if self.threshold is not None:
            settings["threshold"] = self.threshold
        make = partial(_physics, self, seed)
        return Stream(self.name, self.classes, make, self.kv_write, self.texts, tuple(settings.items()))

    def answers(self) -> tuple[str, ...]:
        """What can be asked of this recording, in words: a step map has no confidences, so no other threshold."""
        return tuple(text for key, text in HOLDS.items() if key in self.holds)

    def require(self, need: str, who: str) -> None:
        """Raise :class:`InputError` if the recording does not hold ``need``, a key of :data:`HOLDS`."""
        if need not in self.holds:
            raise InputError(
                f"{self.where}: {who} needs the {need} of every masked position, and the form {self.form!r} holds "
                f"none; it can tell: {'; '.join(self.answers())}. Record it (docs/how-to/record-a-trace.md)"
            )


def _physics(recording: Recording, seed: int, limit: int) -> Physics:
    taken = [frozenset(p.reopened) for block in recording.blocks for p in block.passes] if recording.revises else ()
    return ReplayPhysics(recording.visits, len(recording), recording.where, seed, taken)
