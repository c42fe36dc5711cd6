"""The checks that every decoder must pass, built in or plugged in.

One line of a test is enough::

    def test_my_decoder():
        check_decoder(MyDecoder(threshold=0.9)).raise_if_failed()

The decoder meets small streams of several kinds: the published reference, classed tokens, and three extreme models
(a hopeless one that is never sure, a perfect one that always is, a restless one that changes its mind). What a stream
cannot provide is skipped with a reason, never passed in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from clover_sim.conformance._laws import CHECKS, FOR_DATACLASSES, LENGTHS, Failed, Skipped, Suite, openers
from clover_sim.errors import CloverError, PluginError
from clover_sim.ledger import AuditError
from clover_sim.streams.base import Stream

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_LONGEST_NAME = 120
"""Letters of a decoder's repr that head its report."""

__all__ = ["FAILED", "LENGTHS", "PASSED", "SKIPPED", "Check", "ConformanceError", "Report", "check_decoder"]


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
    suite = Suite(decoder, make, openers(streams))
    checks = [_outcome(f"decodes {kind}", partial(suite.decode_all, kind, opener)) for kind, opener in suite.openers]
    broken = any(check.outcome == FAILED for check in checks)
    for title, test in CHECKS:
        if broken and test not in FOR_DATACLASSES:
            checks.append(Check(title, SKIPPED, "it does not decode every stream yet"))
        else:
            checks.append(_outcome(title, partial(test, suite)))
    return Report(name, tuple(checks))


def _outcome(title: str, test: Callable[[], None]) -> Check:
    try:
        test()
    except Skipped as skip:
        return Check(title, SKIPPED, str(skip))
    except Exception as error:
        return Check(title, FAILED, _reason(error))
    return Check(title, PASSED)


def _reason(error: Exception) -> str:
    known = isinstance(error, Failed | CloverError | AuditError)
    return " ".join((str(error) if known else f"{type(error).__name__}: {error}").split())


def _maker(given: Any) -> tuple[str, Callable[[], Any]]:
    """A name, and how to make the decoder anew (the same object again where only an object was given)."""
    if isinstance(given, str):
        from clover_sim.registry import build_strategy

        return given, lambda: build_strategy(given)[1]
    factory = isinstance(given, type) or not hasattr(given, "decode")
    made = given() if factory and callable(given) else given
    if isinstance(made, type) or not callable(getattr(made, "decode", None)):
        raise PluginError(f"{type(made).__name__} is not a decoder: it has no method decode(canvas)")
    shown = repr(made)
    shown = shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."
    return (getattr(given, "__name__", shown), given) if factory else (shown, lambda: made)
