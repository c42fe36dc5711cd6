"""A stream: the tokens that a model is about to write, with the physics of writing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from clover_sim.physics.base import Physics


@dataclass(frozen=True, slots=True)
class Stream:
    """Tokens of one text. One object serves every strategy of a comparison; each run gets fresh physics.

    Args:
        name: what rows call it (a profile, or a file's name).
        classes: one :class:`~clover_sim.records.TokenClass` byte a token; its length is the number of useful tokens.
        make_physics: called with the canvas limit (>= the length), returns the physics of one run.
        kv_write: the K/V-write rule this stream is counted with, or ``None`` to leave it to the decoder.
        texts: the tokens as text where there is any (shown by ``trace``).
        settings: the options it was made from, echoed in results.

    >>> from clover_sim import open_stream
    >>> stream = open_stream("tool-call", 64, seed=1)
    >>> stream.name, len(stream.classes), len(stream.texts)
    ('tool-call', 64, 64)
    """

    name: str
    classes: bytes
    make_physics: Callable[[int], Physics] = field(repr=False)
    kv_write: str | None = None
    texts: Sequence[str] = field(default=(), repr=False)
    settings: tuple[tuple[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.classes)

    def physics(self, limit: int | None = None) -> Physics:
        """A fresh physics for one run over a canvas of ``limit`` positions (default: the length)."""
        return self.make_physics(len(self.classes) if limit is None else limit)
