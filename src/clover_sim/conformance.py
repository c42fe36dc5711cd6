"""The checks that every decoder must pass, built in or plugged in.

One line of a test is enough::

    def test_my_decoder():
        check_decoder(MyDecoder(threshold=0.9)).raise_if_failed()

The decoder meets small streams of several kinds: the published reference, classed tokens, and three extreme models
(a hopeless one that is never sure, a perfect one that always is, a restless one that changes its mind). What a stream
cannot provide is skipped with a reason, never passed in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clover_sim.engine import POLICIES, Batch, run
from clover_sim.errors import CloverError, PluginError
from clover_sim.ledger import FORCED, UNSETTLED, AuditError, Ledger
from clover_sim.physics.extremes import MOODS, extreme_stream, mixed_stream
from clover_sim.records import EOS_STOPS, KV_WRITE_RULES, Kind
from clover_sim.streams.base import Stream
from clover_sim.streams.reference import reference_stream

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
LENGTHS = (0, 1, 2, 31, 32, 33, 100)
"""Text lengths that every decoder meets: empty, tiny, around a block's end, and several blocks."""

_Opener = Callable[[int], Stream]


class ConformanceError(AssertionError):
    """A decoder failed at least one check; the message is the whole report."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, ``passed``, ``failed`` or ``skipped``, and why (empty when passed)."""

    name: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What :func:`check_decoder` found, one :class:`Check` after the other."""

    decoder: str
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == FAILED)

    @property
    def ok(self) -> bool:
        """True when nothing failed and at least one check passed."""
        return {check.outcome for check in self.checks} - {SKIPPED} == {PASSED}

    def __str__(self) -> str:
        count = [sum(check.outcome == outcome for check in self.checks) for outcome in (PASSED, FAILED, SKIPPED)]
        width = max(len(check.name) for check in self.checks)
        lines = [f"{self.decoder}: {count[0]} passed, {count[1]} failed, {count[2]} skipped"]
        return "\n".join(lines + [f"  {c.outcome:7}  {c.name:{width}}  {c.reason}".rstrip() for c in self.checks])

    def raise_if_failed(self) -> None:
        """Raise :class:`ConformanceError` with the whole report unless it is ``ok``."""
        if not self.ok:
            raise ConformanceError(str(self))


def check_decoder(decoder_or_factory: Any, *, streams: Iterable[Stream] | None = None) -> Report:
    """Run a decoder through everything the engine demands of it, and report each check by name.

    Args:
        decoder_or_factory: a decoder, a class or function that makes one, or a strategy text such as
            ``"block-diffusion:threshold=0.9"``.
        streams: streams to use, cut to several lengths, in place of the reference and the classed tokens; the
            extreme models are always used.

    Never raises for what a decoder does wrong: that stands in the report.

    >>> report = check_decoder("block-diffusion:block_size=8")
    >>> report.ok, report.failed
    (True, ())
    >>> print(str(report).splitlines()[1])
      passed   decodes reference
    """
    try:
        name, make = _maker(decoder_or_factory)
        decoder = make()
    except Exception as error:
        return Report(str(decoder_or_factory)[:80], (Check("can be made", FAILED, _reason(error)),))
    suite = _Suite(decoder, make, _openers(streams))
    checks = [_outcome(f"decodes {kind}", partial(suite.decode_all, kind, opener)) for kind, opener in suite.openers]
    broken = any(check.outcome == FAILED for check in checks)
    for title, test in _TESTS:
        if broken and test not in (_frozen, _copies):
            checks.append(Check(title, SKIPPED, "it does not decode every stream yet"))
        else:
            checks.append(_outcome(title, partial(test, suite)))
    return Report(name, tuple(checks))


class _Failed(Exception):
    """The reason of a failed check."""


class _Skipped(Exception):
    """The reason of a check that cannot be made."""


@dataclass(slots=True)
class _Suite:
    """A decoder under test, and the streams by name, each opened at a length."""

    decoder: Any
    make: Callable[[], Any]
    openers: Sequence[tuple[str, _Opener]]

    def lacks(self, opener: _Opener) -> frozenset[str]:
        needs: frozenset[str] = frozenset(getattr(self.decoder, "needs", ()))
        return needs - opener(LENGTHS[-1]).physics().provides

    def decode_all(self, kind: str, opener: _Opener) -> None:
        if lacks := self.lacks(opener):
            raise _Skipped(f"needs {', '.join(sorted(lacks))}, which this stream does not provide")
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
            raise _Failed(f"{case}: {error}") from error
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


def _deterministic(suite: _Suite) -> None:
    for kind, stream in suite.each():
        first, again, fresh = [suite.decode(d, kind, stream, {}) for d in (suite.decoder, suite.decoder, suite.make())]
        _expect(first == again, f"{kind}, {len(stream)} tokens: the same object gave two different results")
        _expect(first == fresh, f"{kind}, {len(stream)} tokens: a fresh object differs from one that was used before")


def _batches(suite: _Suite) -> None:
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


def _rule_can_fail(suite: _Suite) -> None:
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
        raise _Skipped("it settles nothing in a BLOCK pass, so it has no such rule")


def _right_when_perfect(suite: _Suite) -> None:
    for tokens in LENGTHS:
        errors = run(suite.decoder, extreme_stream("perfect", tokens)).totals.locked_errors
        _expect(not errors, f"{errors} locked errors in {tokens} tokens of a model that makes none")


def _plan_equals_decode(suite: _Suite) -> None:
    if not hasattr(suite.decoder, "plan"):
        raise _Skipped("it has no plan()")
    for kind, stream in suite.each():
        for options in _options(len(stream)):
            planned, stepped = [suite.decode(d, kind, stream, options) for d in (suite.decoder, _NoPlan(suite.decoder))]
            _expect(planned == stepped, f"{kind}, {len(stream)} tokens, {options}: plan() and decode() differ")


def _frozen(suite: _Suite) -> None:
    parameters = getattr(suite.decoder, "__dataclass_params__", None)
    if parameters is None:
        raise _Skipped("it is no dataclass")
    _expect(parameters.frozen, "its dataclass can be changed: write @dataclass(frozen=True, slots=True)")


def _copies(suite: _Suite) -> None:
    import copy
    import pickle

    if not hasattr(suite.decoder, "__dataclass_fields__"):
        raise _Skipped("it is no dataclass")
    _expect(copy.deepcopy(suite.decoder) == suite.decoder, "copy.deepcopy() gives something that is not equal to it")
    if "<locals>" in type(suite.decoder).__qualname__:
        raise _Skipped("pickle cannot find a class that is made inside a function; deepcopy works")
    _expect(pickle.loads(pickle.dumps(suite.decoder)) == suite.decoder, "pickle gives something not equal to it")


_TESTS: tuple[tuple[str, Callable[[_Suite], None]], ...] = (
    ("same result every time", _deterministic),
    ("same passes in a batch", _batches),
    ("its rule can fail", _rule_can_fail),
    ("no error on a perfect model", _right_when_perfect),
    ("plan() equals decode()", _plan_equals_decode),
    ("frozen", _frozen),
    ("can be copied and pickled", _copies),
)


def _openers(streams: Iterable[Stream] | None) -> list[tuple[str, _Opener]]:
    openers: list[tuple[str, _Opener]] = [(mood, partial(extreme_stream, mood)) for mood in MOODS]
    if streams is None:
        return [("reference", reference_stream), ("classed", mixed_stream), *openers]
    return [(stream.name, partial(_cut, stream)) for stream in streams] + openers


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


def _outcome(title: str, test: Callable[[], None]) -> Check:
    try:
        test()
    except _Skipped as skip:
        return Check(title, SKIPPED, str(skip))
    except Exception as error:
        return Check(title, FAILED, _reason(error))
    return Check(title, PASSED)


def _reason(error: Exception) -> str:
    known = isinstance(error, _Failed | CloverError | AuditError)
    return " ".join((str(error) if known else f"{type(error).__name__}: {error}").split())


def _expect(condition: bool, reason: str) -> None:
    if not condition:
        raise _Failed(reason)


def _maker(given: Any) -> tuple[str, Callable[[], Any]]:
    """A name, and how to make the decoder anew (the same object again where only an object was given)."""
    if isinstance(given, str):
        from clover_sim.registry import build_strategy

        return given, lambda: build_strategy(given)[1]
    factory = isinstance(given, type) or not hasattr(given, "decode")
    made = given() if factory and callable(given) else given
    if isinstance(made, type) or not callable(getattr(made, "decode", None)):
        raise PluginError(f"{type(made).__name__} is not a decoder: it has no method decode(canvas)")
    return (getattr(given, "__name__", repr(made)), given) if factory else (repr(made), lambda: made)


class _NoPlan:
    """The same decoder without its plan(), so that the engine takes the generator path."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def __getattr__(self, name: str) -> Any:
        if name == "plan":
            raise AttributeError(name)
        return getattr(self._decoder, name)
