"""Foreign code: where it went wrong, and the one guard that every call into it goes through."""

from __future__ import annotations

import contextlib
import sys
from types import GeneratorType, TracebackType
from typing import Any

from clover_sim.errors import CloverError, DecoderFault, PluginError

CORE = frozenset(f"clover_sim.{m}" for m in ("canvas", "view", "checks", "faults", "request", "bulk", "engine"))
"""Modules whose frames are never a decoder's."""


def caller_location() -> str:
    """``file:line`` of the nearest frame outside the core: the decoder's own line."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in CORE:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def one_line(error: BaseException) -> str:
    """A foreign exception as one line of bounded length, even if it cannot say what it is."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    name = type(error).__name__
    return f"{name}: {text[:500]}" if text else name


def raised_at(error: BaseException, own: str | None = None) -> str | None:
    """``file:line`` where an exception passed through the decoder's own file, else the innermost foreign frame."""
    inside = outside = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if trace.tb_frame.f_globals.get("__name__") not in CORE and not file.startswith("<frozen "):
            outside = f"{file}:{trace.tb_lineno}"
            inside = outside if file == own else inside
        trace = trace.tb_next
    if outside is None and error.__cause__ is not None:  # a StopIteration that Python turned into a RuntimeError
        return raised_at(error.__cause__, own)
    return inside or outside


class foreign:
    """Run foreign code: whatever it raises, SystemExit included, becomes a :class:`DecoderFault` of one line.

    Our own errors and the user's Ctrl-C pass.

    >>> with foreign("strategy x"):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    clover_sim.errors.DecoderFault: <doctest clover_sim.faults.foreign[0]>:2: strategy x: SystemExit: 0
    """

    __slots__ = ("_fault", "_what")

    def __init__(self, what: str, fault: type[DecoderFault] = DecoderFault) -> None:
        self._what = what
        self._fault = fault

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, (CloverError, KeyboardInterrupt)):
            return
        location = None if self._fault is PluginError else raised_at(error)
        raise self._fault(f"{self._what}: {one_line(error)}", location) from error


class Hosted:
    """A decoder's generator: whatever it does but yield becomes a fault with the decoder's own file and line."""

    __slots__ = ("_canvas", "_generator", "_name")

    def __init__(self, decoder: Any, canvas: Any) -> None:
        self._name = type(decoder).__name__
        self._canvas = canvas
        with foreign(f"{self._name}.decode()"):
            generator: Any = decoder.decode(canvas)
        if not isinstance(generator, GeneratorType):
            with foreign(f"{self._name}.decode()"):
                getattr(generator, "close", str)()  # a coroutine would warn that nobody awaited it
            raise DecoderFault(f"{self._name}.decode must be a generator function (it has to yield passes)")
        self._generator: GeneratorType[Any, Any, Any] = generator

    def send(self, view: Any) -> Any:
        """What it yields on seeing ``view``; ``None`` once it has ended."""
        try:
            forward = self._generator.send(view)
        except StopIteration:
            forward = None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A fault stands even if the decoder caught it and raised something else.
            fault = self._canvas._fault
            if fault is not None or isinstance(error, DecoderFault):
                raise fault or error from None
            raise DecoderFault(one_line(error), raised_at(error, self._generator.gi_code.co_filename)) from error
        if self._canvas._fault is not None:
            self.abandon()
            raise self._canvas._fault  # the decoder swallowed it; it stands all the same
        return forward

    def line(self) -> str:
        """Where the decoder stands: the line of the innermost generator."""
        inner: Any = self._generator
        while isinstance(deeper := getattr(inner, "gi_yieldfrom", None), GeneratorType):
            inner = deeper
        frame = inner.gi_frame
        return f"{inner.gi_code.co_filename}:{frame.f_lineno if frame else inner.gi_code.co_firstlineno}"

    def abandon(self) -> None:
        """Close the generator of a refused decoder, whatever it says to that."""
        with contextlib.suppress(BaseException):
            self._generator.close()

    def close(self) -> None:
        """Close the generator; one that objects is at fault."""
        with foreign(f"closing {self._name}.decode()"):
            self._generator.close()
