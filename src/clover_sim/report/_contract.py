"""The two sides of a renderer, for type checkers only: what it is given and what it has to offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from clover_sim.report import Look


class Result(Protocol):
    """What a renderer needs of a result; ``clover_sim.comparison.Comparison`` is one."""

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def seeds(self) -> Sequence[int]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    def to_dict(self) -> dict[str, Any]: ...


class Format(Protocol):
    """A module of this package that turns a result into text."""

    EXTENSIONS: tuple[str, ...]

    def render(self, result: Result, look: Look = ...) -> str:
        """The whole text, with its last line ended."""


class Pass(Protocol):
    """One pass over the block."""

    @property
    def index(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def confidence(self) -> Mapping[int, float]: ...
    @property
    def committed(self) -> Sequence[int]: ...
    @property
    def forced(self) -> Sequence[int]: ...
    @property
    def wrong(self) -> Sequence[int]: ...
    @property
    def reopened(self) -> Sequence[int]: ...


class Trace(Protocol):
    """What is drawn; ``clover_sim.trace.BlockTrace`` is one."""

    @property
    def stream(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Any]: ...
    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def passes(self) -> Sequence[Pass]: ...
