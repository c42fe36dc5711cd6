"""Replaying a recorded order: the passes and commits of a trace whose rule is not known."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, ClassVar

from clover_sim.canvas import Canvas
from clover_sim.records import Forward
from clover_sim.view import View

if TYPE_CHECKING:
    from clover_sim.streams.traces.recording import Recording

_REST = 32


class RecordedOrder:
    """Commit in each pass what the recording committed in it.

    A commit counts as forced where the recording says so; where it says nothing, it does not (a recording without
    confidences cannot tell).
    """

    revises: ClassVar[bool] = True
    max_idle_passes: ClassVar[int] = 10_000

    __slots__ = ("_recording",)

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def needs(self) -> frozenset[str]:
        """Edits where the recording took something back."""
        return frozenset({"recorded-order", "edits"} if self._recording.revises else {"recorded-order"})

    def __repr__(self) -> str:
        return f"RecordedOrder({self._recording.where})"

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        """Yield the recorded passes; what lies beyond them is filled in one pass a block."""
        for block in self._recording.blocks:
            if block.start >= canvas.limit:
                break
            for step in block.passes:
                view = yield canvas.span(*(step.span or (block.start, block.stop)))
                if step.reopened:
                    canvas.reopen(view.edits(0.5))
                committed = {p for p in step.committed if p < canvas.limit}
                view.where(committed.difference(step.forced or ()).__contains__)
                canvas.commit(sorted(committed))
        while canvas.remaining:
            view = yield canvas.block(_REST)
            canvas.commit(view.positions)
