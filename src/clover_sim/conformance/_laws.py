"""The checks themselves: what each demands of a decoder, on which streams and under which rules of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clover_sim.engine import POLICIES, Batch, run
from clover_sim.errors import CloverError
from clover_sim.ledger import FORCED, UNSETTLED, AuditError, Ledger
from clover_sim.physics.extremes import MOODS, extreme_stream, mixed_stream
from clover_sim.records import EOS_STOPS, KV_WRITE_RULES, Kind
from clover_sim.streams.base import Stream
from clover_sim.streams.reference import reference_stream

LENGTHS = (0, 1, 2, 31, 32, 33, 100)
"""Text lengths that every decoder meets: empty, tiny, around a block's end, and several blocks."""

Opener = Callable[[int], Stream]


class Failed(Exception):
    """The reason of a failed check."""


class Skipped(Exception):
    """The reason of a check that cannot be made."""


@dataclass(slots=True)
class Suite:
    """A decoder under test, and the streams by name, each opened at a length."""

    decoder: Any
    make: Callable[[], Any]
    openers: Sequence[tuple[str, Opener]]

    def lacks(self, opener: Opener) -> frozenset[str]:
        needs: frozenset[str] = frozenset(getattr(self.decoder, "needs", ()))
        return needs - opener(LENGTHS[-1]).physics().provides

    def decode_all(self, kind: str, opener: Opener) -> None:
        if lacks := self.lacks(opener):
            raise Skipped(f"needs {', '.join(sorted(lacks))}, which this stream does not provide")
        for tokens in LENGTHS:
            for options in _options(tokens):
                self.decode(self.decoder, kind, opener(tokens), options)

    def each(self, lengths: Sequence[int] = LENGTHS) -> Iterator[tuple[str, Stream]]:
        """Every stream that provides what the decoder needs, at the given lengths."""
        for kind, opener in self.openers:
            if not self.lacks(opener):
                for tokens in lengths:
                    yield kind, opener(tokens)

    def decode(self, decoder: Any, kind: str, stream: Stream, options: dict[str, Any]) -> list[Any]:
        """One run, its audit, and the laws that hold for any decoder; returns what the ledger holds of it."""
        case = ", ".join([kind, f"{len(stream)} tokens", *(f"{key}={value}" for key, value in options.items())])
        try:
            result = run(decoder, stream, **options)
            totals = result.ledger.audit()
        except (CloverError, AuditError) as error:
            raise Failed(f"{case}: {error}") from error
        limit = options.get("max_new_tokens", len(stream))
        tokens = min(len(stream), limit)
        _expect(totals.tokens == tokens, f"{case}: {totals.tokens} tokens came out, not {tokens}")
        passes = totals.target_passes - totals.kv_write_passes
        idle = getattr(decoder, "max_idle_passes", 0)
        _expect(idle > 0 or passes <= totals.committed, f"{case}: {passes} passes for {totals.committed} commits")
        if options.get("eos_stop") == "canvas":
            padding = totals.padding == limit - tokens
            _expect(padding, f"{case}: {totals.padding} positions of padding, not {limit - tokens}")
        return _record(result.ledger, 0)


def _options(tokens: int) -> Iterator[dict[str, Any]]:
    """The settings that every stream is decoded with."""
    yield {}
    for rule in KV_WRITE_RULES:
        yield {"kv_write": rule}
    for eos_stop in EOS_STOPS:
        yield {"eos_stop": eos_stop, "max_new_tokens": tokens + 45}
    yield {"prompt_tokens": 7, "align": "absolute"}
    yield {"prompt_tokens": 39, "align": "absolute", "kv_write": "fused", "max_new_tokens": max(tokens - 1, 0)}


def _deterministic(suite: Suite) -> None:
    for kind, stream in suite.each():
        first, again, fresh = [suite.decode(d, kind, stream, {}) for d in (suite.decoder, suite.decoder, suite.make())]
        _expect(first == again, f"{kind}, {len(stream)} tokens: the same object gave two different results")
        _expect(first == fresh, f"{kind}, {len(stream)} tokens: a fresh object differs from one that was used before")


def _batches(suite: Suite) -> None:
    for kind, stream in suite.each((2, 33)):
        alone = suite.decode(suite.decoder, kind, stream, {"prompt_tokens": 5})
        for policy in POLICIES:
            batch = Batch(policy)
            requests = [batch.admit(suite.decoder, stream, prompt_tokens=5) for _ in range(2)]
            batch.step()
            requests.append(batch.admit(suite.decoder, stream, prompt_tokens=5))
            while batch.step() is not None:
                pass
            batch.ledger.audit()
            same = all(_record(batch.ledger, request) == alone for request in requests)
            _expect(same, f"{kind}, {len(stream)} tokens, {policy}: in a batch it does not do what it does alone")


def _rule_can_fail(suite: Suite) -> None:
    asked = False
    for tokens in LENGTHS:
        ledger = run(suite.decoder, extreme_stream("hopeless", tokens)).ledger
        places = ledger.positions[0]
        for position, row in enumerate(places.row):
            if row != UNSETTLED and ledger.kind[row] in (Kind.DENOISE, Kind.EDIT):
                asked = True
                forced = bool(places.flags[position] & FORCED)
                _expect(forced, f"its rule let position {position} of {tokens} through at confidence 0")
    if not asked:
        raise Skipped("it settles nothing in a BLOCK pass, so it has no such rule")


def _right_when_perfect(suite: Suite) -> None:
    for tokens in LENGTHS:
        errors = run(suite.decoder, extreme_stream("perfect", tokens)).totals.locked_errors
        _expect(not errors, f"{errors} locked errors in {tokens} tokens of a model that makes none")


def _plan_equals_decode(suite: Suite) -> None:
    if not hasattr(suite.decoder, "plan"):
        raise Skipped("it has no plan()")
    for kind, stream in suite.each():
        for options in _options(len(stream)):
            planned, stepped = [suite.decode(d, kind, stream, options) for d in (suite.decoder, _NoPlan(suite.decoder))]
            _expect(planned == stepped, f"{kind}, {len(stream)} tokens, {options}: plan() and decode() differ")


def _frozen(suite: Suite) -> None:
    parameters = getattr(suite.decoder, "__dataclass_params__", None)
    if parameters is None:
        raise Skipped("it is no dataclass")
    _expect(parameters.frozen, "its dataclass can be changed: write @dataclass(frozen=True, slots=True)")


def _copies(suite: Suite) -> None:
    import copy
    import pickle

    if not hasattr(suite.decoder, "__dataclass_fields__"):
        raise Skipped("it is no dataclass")
    _expect(copy.deepcopy(suite.decoder) == suite.decoder, "copy.deepcopy() gives something that is not equal to it")
    if "<locals>" in type(suite.decoder).__qualname__:
        raise Skipped("pickle cannot find a class that is made inside a function; deepcopy works")
    _expect(pickle.loads(pickle.dumps(suite.decoder)) == suite.decoder, "pickle gives something not equal to it")


CHECKS: tuple[tuple[str, Callable[[Suite], None]], ...] = (
    ("same result every time", _deterministic),
    ("same passes in a batch", _batches),
    ("its rule can fail", _rule_can_fail),
    ("no error on a perfect model", _right_when_perfect),
    ("plan() equals decode()", _plan_equals_decode),
    ("frozen", _frozen),
    ("can be copied and pickled", _copies),
)
FOR_DATACLASSES = (_frozen, _copies)
"""The checks that look at the object alone, and so are made even of a decoder that cannot decode."""


def openers(streams: Iterable[Stream] | None) -> list[tuple[str, Opener]]:
    found: list[tuple[str, Opener]] = [(mood, partial(extreme_stream, mood)) for mood in MOODS]
    if streams is None:
        return [("reference", reference_stream), ("classed", mixed_stream), *found]
    return [(stream.name, partial(_cut, stream)) for stream in streams] + found


def _cut(stream: Stream, tokens: int) -> Stream:
    return replace(stream, classes=stream.classes[:tokens])  # its physics still knows the rest


def _record(ledger: Ledger, request: int) -> list[Any]:
    """Everything the ledger holds of one request, free of step and row numbers."""
    rows = [i for i, owner in enumerate(ledger.request) if owner == request]
    order = {row: i for i, row in enumerate(rows)}
    columns = (ledger.kind, ledger.start, ledger.tokens, ledger.recompute, ledger.context, ledger.committed)
    places = ledger.positions[request]
    passes = [tuple(column[row] for column in (*columns, ledger.reopened)) for row in rows]
    back = [(position, order[by], order[row]) for position, by, row in places.taken_back]
    return [passes, [order.get(row) for row in places.row], bytes(places.flags), back]


def _expect(condition: bool, reason: str) -> None:
    if not condition:
        raise Failed(reason)


class _NoPlan:
    """The same decoder without its plan(), so that the engine takes the generator path."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def __getattr__(self, name: str) -> Any:
        if name == "plan":
            raise AttributeError(name)
        return getattr(self._decoder, name)
