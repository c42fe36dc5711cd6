"""Numbers as they are typed: whole counts, ranges that include their end, half-open seeds."""

from __future__ import annotations

import math

from clover_sim.errors import UsageError

_LONGEST = 18
_MOST_VALUES = 100_000


def whole(text: str, least: int = 1) -> int:
    """A count of at least ``least``, in plain digits.

    >>> whole("128")
    128
    """
    if text.isascii() and text.startswith("-") and text[1:].isdecimal():
        raise UsageError(f"{text} is too small: at least {least} is needed")
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"{text!r} is not a whole number{_rewritten(text)}")
    if len(text.lstrip("0")) > _LONGEST:
        raise UsageError(f"{text[:_LONGEST]}... is too large")
    if int(text) < least:
        raise UsageError(f"{text} is too small: at least {least} is needed")
    return int(text)


def _rewritten(text: str) -> str:
    """How a number in another notation is written here."""
    try:
        value = float(text)
    except ValueError:
        return ""
    return f"; write {int(value)}" if value.is_integer() and 0 <= value < 10**_LONGEST else ""


def counts(text: str) -> tuple[int, ...]:
    """One or more counts: ``N``, ``N,N``, ``A:B:STEP`` (B included).

    >>> counts("128,256"), counts("100:300:100")
    ((128, 256), (100, 200, 300))
    """
    found: list[int] = []
    for part in text.split(","):
        if ":" not in part:
            found.append(whole(part))
            continue
        for value in decimal_range(part):
            if value != int(value):
                raise UsageError(f"{part!r} gives {value}, which is not a whole number")
            found.append(whole(str(int(value))))
    if len(found) > _MOST_VALUES:
        raise UsageError(f"{len(found)} values are too many; at most {_MOST_VALUES}")
    return tuple(found)


def decimal_range(text: str) -> list[float]:
    """The values of ``A:B:STEP``, B included when the steps meet it, without the drift of binary fractions.

    >>> decimal_range("0.5:0.7:0.1")
    [0.5, 0.6, 0.7]
    """
    from decimal import Decimal, InvalidOperation

    parts = text.split(":")
    if len(parts) != 3:
        raise UsageError(f"{text!r} is not a range A:B:STEP, as in 100:500:100")
    try:
        start, stop, step = (Decimal(part) for part in parts)
    except InvalidOperation:
        raise UsageError(f"{text!r} is not a range of numbers A:B:STEP") from None
    if not all(value.is_finite() for value in (start, stop, step)) or not step:
        raise UsageError(f"{text!r} needs finite numbers and a step that is not 0")
    steps = (stop - start) / step
    if steps < 0:
        raise UsageError(f"{text!r} is an empty range")
    if steps > _MOST_VALUES:
        raise UsageError(f"{text!r} has over {_MOST_VALUES} values")
    return [float(start + step * i) for i in range(int(steps) + 1)]


def seeds(text: str) -> range:
    """``A:B`` (half-open) or one seed.

    >>> seeds("0:32"), seeds("7")
    (range(0, 32), range(7, 8))
    """
    first, colon, last = text.partition(":")
    start = whole(first, 0)
    stop = whole(last, 0) if colon else start + 1
    if stop <= start:
        raise UsageError(f"{text!r} is an empty range; A:B means the seeds A, ..., B-1")
    return range(start, stop)


def positive(text: str) -> float:
    """A finite number above 0."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UsageError(f"{text!r} is not a number above 0")
    return value
