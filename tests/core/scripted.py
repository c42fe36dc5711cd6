"""What the core tests share: a physics that does what a test writes down, throw-away decoders, short ways to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from clover_sim.canvas import Canvas
from clover_sim.engine import run
from clover_sim.ledger import FORCED, WRONG, Ledger
from clover_sim.physics.base import EXTRAS, UniformLift
from clover_sim.physics.classed import ClassedPhysics, ClassedSettings
from clover_sim.records import Drafter, TokenClass
from clover_sim.request import Run
from clover_sim.streams.base import Stream


class ScriptedPhysics:
    """Every answer comes from a function of (position, visit), where visit 0 is the pass that opens a position.

    ``calls`` logs what the engine asked, in order, for the tests that are about the order.
    """

    def __init__(
        self,
        confidence: Callable[[int, int], float],
        wrong: Callable[[int, bool], bool],
        agrees: Callable[[int], bool],
        extras: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.provides = frozenset(EXTRAS)
        self.uniform_lift: UniformLift | None = None
        self.visits: dict[int, int] = {}
        self.calls: list[tuple[Any, ...]] = []
        self._confidence, self._wrong, self._agrees, self._extras = confidence, wrong, agrees, extras

    def opened(self, positions: Sequence[int]) -> None:
        self.calls.append(("opened", *positions))
        self.visits.update(dict.fromkeys(positions, 0))

    def confidence(self, position: int) -> float:
        return self._confidence(position, self.visits[position])

    def after(self, committed: Sequence[int], reopened: Sequence[int], still_masked: Sequence[int]) -> None:
        self.calls.append(("after", tuple(committed), tuple(reopened), tuple(still_masked)))
        for position in still_masked:
            self.visits[position] += 1

    def wrong(self, position: int, forced: bool) -> bool:
        self.calls.append(("wrong", position, forced))
        return self._wrong(position, forced)

    def agrees(self, position: int, offset: int, previous_matched: bool, drafter: Drafter) -> bool:
        self.calls.append(("agrees", position, offset, previous_matched))
        return self._agrees(position)

    def right(self, position: int) -> bool:
        return not self._wrong(position, False)

    def proposes(self, position: int, tokens: int, drafter: Drafter) -> int:
        return int(self._extras["proposes"](position, tokens))

    def __getattr__(self, name: str) -> Any:
        if name in ("entropy", "kl", "changed", "edit"):
            return lambda position: self._extras[name](position, self.visits[position])
        if name == "draft_confidence":
            return self._extras[name]
        raise AttributeError(name)


def scripted_stream(
    tokens: int,
    confidence: Callable[[int, int], float] | Mapping[int, Sequence[float]] | float = 0.5,
    *,
    wrong: Callable[[int, bool], bool] = lambda position, forced: False,
    agrees: Callable[[int], bool] = lambda position: True,
    made: list[ScriptedPhysics] | None = None,
    kv_write: str | None = None,
    **extras: Callable[..., Any],
) -> Stream:
    """A stream over :class:`ScriptedPhysics`; a mapping gives each position's confidence visit by visit (the last
    one stays). The physics that runs make are appended to ``made``."""
    if isinstance(confidence, Mapping):
        table = confidence

        def look_up(position: int, visit: int) -> float:
            return table[position][min(visit, len(table[position]) - 1)]

        ask: Callable[[int, int], float] = look_up
    elif callable(confidence):
        ask = confidence
    else:
        ask = lambda position, visit: confidence  # noqa: E731

    def make(limit: int) -> ScriptedPhysics:
        physics = ScriptedPhysics(ask, wrong, agrees, extras)
        if made is not None:
            made.append(physics)
        return physics

    return Stream("scripted", bytes([TokenClass.COMMON]) * tokens, make, kv_write=kv_write)


def classed_stream(tokens: int, seed: int = 0, lift: float = 0.09, classes: bytes | None = None) -> Stream:
    """Hand-made classes over the classed physics: the ordinary profile, without a grammar."""
    if classes is None:
        classes = bytes([(5 * p + p // 9) % 3 for p in range(tokens)])
    return Stream("classed", classes, partial(_classed_physics, ClassedSettings(seed, lift), classes))


def _classed_physics(settings: ClassedSettings, classes: bytes, limit: int) -> ClassedPhysics:
    return ClassedPhysics(settings, classes + bytes([TokenClass.PADDING]) * (limit - len(classes)))


def decoder(decode: Callable[[Canvas], Any], **declared: Any) -> Any:
    """A throw-away decoder from a generator function and what it declares (needs, revises, draft_source, ...)."""

    class ThrowAway:
        def decode(self, canvas: Canvas) -> Any:
            return decode(canvas)

    for name, value in declared.items():
        setattr(ThrowAway, name, value)
    return ThrowAway()


class Stepped:
    """A decoder with its plan() hidden, so that the engine goes by its generator."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "plan":
            raise AttributeError(name)
        return getattr(self._inner, name)


def passes(source: Run | Ledger, request: int | None = None) -> list[tuple[Any, ...]]:
    """(kind, start, tokens, committed) of each pass, in order."""
    ledger = source if isinstance(source, Ledger) else source.ledger
    return [(r["kind"], r["start"], r["tokens"], r["committed"]) for r in ledger.rows(request)]


def settled(source: Run, request: int = 0) -> list[tuple[int, bool, bool]]:
    """(ordinal of the pass that settled it, forced, wrong) of each position."""
    places = source.ledger.positions[request]
    flags = places.flags
    return [(row, bool(flags[p] & FORCED), bool(flags[p] & WRONG)) for p, row in enumerate(places.row)]


def contents(source: Run) -> tuple[Any, ...]:
    """Everything a ledger of one request holds, for comparing two runs."""
    places = source.ledger.positions[source.request]
    rows = [tuple(row.items()) for row in source.ledger.rows()]
    return rows, list(places.row), bytes(places.flags), list(places.taken_back), source.totals


def run_audited(decoder: Any, stream: Stream, **options: Any) -> Run:
    """``run`` and ``audit``; the audit's totals must be the run's."""
    result = run(decoder, stream, **options)
    assert result.ledger.audit() == result.totals
    return result


def once_each(source: Run) -> Iterator[int]:
    """Positions in the order in which passes settled them."""
    places = source.ledger.positions[source.request]
    return iter(sorted(range(len(places.row)), key=lambda p: (places.row[p], p)))
