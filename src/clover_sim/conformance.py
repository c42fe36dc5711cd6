"""The checks that every decoder must pass, built in or plugged in.

One line of a test is enough::

    def test_my_decoder():
        check_decoder(MyDecoder(threshold=0.9)).raise_if_failed()

The decoder meets small streams of several kinds: the published reference, classed tokens, and three scripted models
(a hopeless one that is never sure, a perfect one that always is, a restless one that changes its mind). What a stream
cannot provide is skipped with a reason, never passed in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clover_sim.engine import POLICIES, Batch, run
from clover_sim.errors import CloverError, DecoderFault
from clover_sim.ledger import FORCED, UNSETTLED, AuditError, Ledger
from clover_sim.physics.base import EXTRAS, Physics, UniformLift
from clover_sim.physics.classed import ClassedPhysics, ClassedSettings
from clover_sim.records import EOS_STOPS, KV_WRITE_RULES, Drafter, Kind, TokenClass
from clover_sim.rng import mix
from clover_sim.streams.base import Stream
from clover_sim.streams.reference import reference_stream

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
LENGTHS = (0, 1, 2, 31, 32, 33, 100)
"""Text lengths that every decoder meets: empty, tiny, and around and across a block's end."""

_BLOCK_KINDS = frozenset({Kind.DENOISE, Kind.EDIT})


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
    def skipped(self) -> tuple[Check, ...]:
        """The checks that could not be made, each with a reason."""
        return tuple(check for check in self.checks if check.outcome == SKIPPED)

    @property
    def ok(self) -> bool:
        """True when nothing failed and at least one check passed."""
        return not self.failed and any(check.outcome == PASSED for check in self.checks)

    def __str__(self) -> str:
        counts = ", ".join(
            f"{sum(check.outcome == outcome for check in self.checks)} {outcome}"
            for outcome in (PASSED, FAILED, SKIPPED)
        )
        width = max((len(check.name) for check in self.checks), default=0)
        lines = [f"{self.decoder}: {counts}"]
        lines += [f"  {c.outcome:7}  {c.name:{width}}  {c.reason}".rstrip() for c in self.checks]
        return "\n".join(lines)

    def raise_if_failed(self) -> None:
        """Raise :class:`ConformanceError` with the whole report unless it is ``ok``."""
        if not self.ok:
            raise ConformanceError(str(self))


def check_decoder(decoder_or_factory: Any, *, streams: Iterable[Stream] | None = None) -> Report:
    """Run a decoder through everything the engine demands of it, and report each check by name.

    Args:
        decoder_or_factory: a decoder, a class or function that makes one, or a strategy text such as
            ``"block-diffusion:threshold=0.9"``.
        streams: streams to use besides the scripted ones, in place of the reference and the classed tokens.

    Never raises for what the decoder does wrong: that is in the report. Takes well under a second for most decoders.

    >>> report = check_decoder("block-diffusion:block_size=8")
    >>> report.ok, report.failed
    (True, ())
    >>> print(str(report).splitlines()[0].partition(":")[0])
    block-diffusion:block_size=8
    """
    try:
        name, make = _maker(decoder_or_factory)
        decoder = make()
    except Exception as error:
        reason = str(error) if isinstance(error, CloverError) else f"{type(error).__name__}: {error}"
        return Report(str(decoder_or_factory)[:80], (Check("can be made", FAILED, _line(reason)),))
    suite = _Suite(decoder, make, _kinds(streams))
    checks = [suite.decodes(kind) for kind in suite.kinds]
    suite.usable = [k for k, c in zip(suite.kinds, checks, strict=True) if c.outcome == PASSED]
    broken = any(check.outcome == FAILED for check in checks)
    for title, test in _TESTS:
        if broken and test not in (_frozen, _copies):
            checks.append(Check(title, SKIPPED, "it does not decode every stream yet"))
        else:
            checks.append(_outcome(title, lambda test=test: test(suite)))  # type: ignore[misc]
    return Report(name, tuple(checks))


# ---- the suite ------------------------------------------------------------------------------------------------------


class _Failed(Exception):
    """Carries the reason of a failed check."""


class _Skipped(Exception):
    """Carries the reason of a check that cannot be made."""


@dataclass(slots=True)
class _Suite:
    decoder: Any
    make: Callable[[], Any]
    kinds: list[tuple[str, Callable[[int], Stream]]]
    usable: Sequence[tuple[str, Callable[[int], Stream]]] = ()

    def decodes(self, kind: tuple[str, Callable[[int], Stream]]) -> Check:
        """Every length of one kind of stream, or a skip that names what the stream lacks."""
        name, open_stream = kind
        title = f"decodes {name}"
        lacks = frozenset(_needs(self.decoder)) - open_stream(LENGTHS[-1]).physics().provides
        if lacks:
            return Check(title, SKIPPED, f"needs {', '.join(sorted(lacks))}, which the stream does not provide")
        return _outcome(title, lambda: self._decode_all(name, open_stream))

    def _decode_all(self, name: str, open_stream: Callable[[int], Stream]) -> None:
        for tokens in LENGTHS:
            stream = open_stream(tokens)
            for options in _options(len(stream)):
                self.decode(self.decoder, name, stream, options)

    def decode(self, decoder: Any, name: str, stream: Stream, options: dict[str, Any]) -> _Record:
        """One run with its audit and the laws that hold for any decoder; failures name the case."""
        case = " ".join([f"{name}, {len(stream)} tokens", *(f"{k}={v}" for k, v in options.items())])
        try:
            result = run(decoder, stream, **options)
            totals = result.ledger.audit()
        except (CloverError, AuditError) as error:
            raise _Failed(f"{case}: {error}") from error
        expected = min(len(stream), options.get("max_new_tokens", len(stream)))
        _expect(totals.tokens == expected, f"{case}: {totals.tokens} tokens came out, not {expected}")
        _expect(
            totals.committed - totals.reopened == totals.tokens + totals.padding,
            f"{case}: {totals.committed} commits - {totals.reopened} reopened is not {totals.tokens} tokens",
        )
        if not getattr(decoder, "max_idle_passes", 0):
            passes = totals.target_passes - totals.kv_write_passes
            _expect(passes <= totals.committed, f"{case}: {passes} passes for {totals.committed} commits")
        prefills = int(bool(options.get("prompt_tokens", 0)) and expected > 0)
        _expect(totals.prefill_passes == prefills, f"{case}: {totals.prefill_passes} prefill passes, not {prefills}")
        if options.get("eos_stop") == "canvas":
            room = options["max_new_tokens"] - expected
            _expect(totals.padding == room, f"{case}: {totals.padding} padding positions, not {room}")
        if options.get("kv_write") == "none":
            written = result.ledger.count(Kind.KV_WRITE)
            _expect(not written, f"{case}: {written} K/V-write passes although the rule is none")
        return _record(result.ledger, 0)

    def each(self, lengths: Sequence[int] = LENGTHS) -> Iterator[tuple[str, Stream]]:
        """Every usable stream at the given lengths."""
        if not self.usable:
            raise _Skipped("no stream provides what it needs")
        for name, open_stream in self.usable:
            for tokens in lengths:
                yield name, open_stream(tokens)


def _options(tokens: int) -> Iterator[dict[str, Any]]:
    yield {}
    for rule in KV_WRITE_RULES:
        yield {"kv_write": rule}
    for eos_stop in EOS_STOPS:
        yield {"eos_stop": eos_stop, "max_new_tokens": tokens + 45}
    yield {"prompt_tokens": 7, "align": "absolute"}
    yield {"prompt_tokens": 39, "align": "absolute", "kv_write": "fused", "max_new_tokens": max(tokens - 1, 0)}


def _deterministic(suite: _Suite) -> None:
    for name, stream in suite.each():
        first, again = (suite.decode(suite.decoder, name, stream, {}) for _ in range(2))
        _expect(first == again, f"{name}, {len(stream)} tokens: the same decoder object gave two different ledgers")
        fresh = suite.decode(suite.make(), name, stream, {})
        _expect(first == fresh, f"{name}, {len(stream)} tokens: a fresh decoder differs from one that was used before")


def _batches(suite: _Suite) -> None:
    for name, stream in suite.each((2, 33)):
        alone = suite.decode(suite.decoder, name, stream, {"prompt_tokens": 5})
        for policy in POLICIES:
            batch = Batch(policy)
            numbers = [batch.admit(suite.decoder, stream, prompt_tokens=5) for _ in range(2)]
            batch.step()
            numbers.append(batch.admit(suite.decoder, stream, prompt_tokens=5))
            while batch.step() is not None:
                pass
            batch.ledger.audit()
            for number in numbers:
                same = _record(batch.ledger, number) == alone
                _expect(same, f"{name}, {len(stream)} tokens, {policy}: a request of a batch differs from a single run")


def _rule_can_fail(suite: _Suite) -> None:
    asked = False
    for tokens in LENGTHS:
        ledger = run(suite.decoder, _scripted("hopeless", _Hopeless, tokens)).ledger
        places = ledger.positions[0]
        for position, row in enumerate(places.row):
            if row != UNSETTLED and ledger.kind[row] in _BLOCK_KINDS:
                asked = True
                _expect(
                    bool(places.flags[position] & FORCED),
                    f"hopeless, {tokens} tokens: its rule let position {position} through at confidence 0",
                )
    if not asked:
        raise _Skipped("it settles nothing in a BLOCK pass, so it has no such rule")


def _perfect_is_right(suite: _Suite) -> None:
    for tokens in LENGTHS:
        totals = run(suite.decoder, _scripted("perfect", _Perfect, tokens)).totals
        _expect(not totals.locked_errors, f"perfect, {tokens} tokens: {totals.locked_errors} locked errors")


def _bulk_equals_generator(suite: _Suite) -> None:
    if not hasattr(suite.decoder, "plan"):
        raise _Skipped("it has no plan()")
    for name, stream in suite.each():
        for options in _options(len(stream)):
            bulk, stepped = (suite.decode(d, name, stream, options) for d in (suite.decoder, _NoPlan(suite.decoder)))
            _expect(bulk == stepped, f"{name}, {len(stream)} tokens {options}: plan() and decode() differ")


def _frozen(suite: _Suite) -> None:
    parameters = getattr(suite.decoder, "__dataclass_params__", None)
    if parameters is None:
        raise _Skipped("it is no dataclass")
    _expect(parameters.frozen, "its dataclass is not frozen: write @dataclass(frozen=True, slots=True)")


def _copies(suite: _Suite) -> None:
    if not hasattr(suite.decoder, "__dataclass_fields__"):
        raise _Skipped("it is no dataclass")
    import copy
    import pickle

    _expect(copy.deepcopy(suite.decoder) == suite.decoder, "copy.deepcopy() gives something that is not equal to it")
    if "<locals>" in type(suite.decoder).__qualname__:
        raise _Skipped("its class is made inside a function, which pickle cannot find again; deepcopy works")
    try:
        same = pickle.loads(pickle.dumps(suite.decoder)) == suite.decoder
    except Exception as error:
        raise _Failed(f"it cannot be pickled, so not be sent to other processes: {error}") from error
    _expect(same, "pickle gives something that is not equal to it")


_TESTS: tuple[tuple[str, Callable[[_Suite], None]], ...] = (
    ("same result every time", _deterministic),
    ("same rows in a batch", _batches),
    ("its rule can fail", _rule_can_fail),
    ("no error on a perfect model", _perfect_is_right),
    ("plan() equals decode()", _bulk_equals_generator),
    ("frozen", _frozen),
    ("can be copied and pickled", _copies),
)


# ---- small parts ----------------------------------------------------------------------------------------------------

type_Record = tuple[Any, ...]
_Record = type_Record


def _record(ledger: Ledger, request: int) -> _Record:
    """Everything the ledger holds of one request, free of step and row numbers."""
    rows = [i for i, r in enumerate(ledger.request) if r == request]
    order = {row: i for i, row in enumerate(rows)}
    columns = (ledger.kind, ledger.start, ledger.tokens, ledger.recompute, ledger.context, ledger.committed)
    places = ledger.positions[request]
    return (
        [tuple(column[row] for column in (*columns, ledger.reopened)) for row in rows],
        [order.get(row) for row in places.row],
        bytes(places.flags),
        [(p, order[by], order[back]) for p, by, back in places.taken_back],
    )


def _outcome(title: str, test: Callable[[], None]) -> Check:
    try:
        test()
    except _Skipped as skip:
        return Check(title, SKIPPED, str(skip))
    except (_Failed, CloverError, AuditError) as error:
        return Check(title, FAILED, _line(str(error)))
    except Exception as error:
        return Check(title, FAILED, _line(f"{type(error).__name__}: {error}"))
    return Check(title, PASSED)


def _expect(condition: bool, reason: str) -> None:
    if not condition:
        raise _Failed(reason)


def _line(text: str) -> str:
    return " ".join(text.split())


def _needs(decoder: Any) -> Iterable[str]:
    needs: Iterable[str] = getattr(decoder, "needs", ())
    return needs


def _maker(given: Any) -> tuple[str, Callable[[], Any]]:
    """A name, and how to make the decoder anew (the same object again where only an object was given)."""
    if isinstance(given, str):
        from clover_sim.registry import build_strategy

        return given, lambda: build_strategy(given)[1]
    if isinstance(given, type) or not hasattr(given, "decode"):
        if not callable(given):
            raise DecoderFault(f"{type(given).__name__} is not a decoder: it has no method decode(canvas)")
        made = given()
        if isinstance(made, type) or not callable(getattr(made, "decode", None)):
            raise DecoderFault(f"{type(made).__name__} is not a decoder: it has no method decode(canvas)")
        return getattr(given, "__name__", type(made).__name__), given
    return repr(given)[:100], lambda: given


class _NoPlan:
    """The same decoder without its plan(), so that the engine takes the generator path."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def __getattr__(self, name: str) -> Any:
        if name == "plan":
            raise AttributeError(name)
        return getattr(self._decoder, name)
