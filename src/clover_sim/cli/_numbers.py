"""Numbers as they are typed: plain digits, whole counts, ranges that include their end, half-open seeds."""

from __future__ import annotations

import math
from collections.abc import Callable

from clover_sim.errors import UsageError

_LONGEST = 18
_LONGEST_FIGURE = 40
_WIDEST_EXPONENT = 30
_FIGURE = frozenset("0123456789+-.eE")
MOST_VALUES = 10_000
"""Most values of one list; no list is built before it is known to be shorter."""


def whole(text: str, least: int = 1) -> int:
    """A count of at least ``least``, in plain digits.

    >>> whole("128")
    128
    """
    if text.isascii() and text.startswith("-") and text[1:].isdecimal():
        raise UsageError(f"{text} is too small: at least {least} is needed")
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"{text!r} is not a whole number of at least {least}{_rewritten(text, least)}")
    digits = text.lstrip("0") or "0"
    if len(digits) > _LONGEST:
        raise UsageError(f"{digits[:_LONGEST]}... is too large")
    if int(digits) < least:
        raise UsageError(f"{digits} is too small: at least {least} is needed")
    return int(digits)


def _rewritten(text: str, least: int) -> str:
    """How a number in another notation is written here."""
    try:
        value = float(text)
    except ValueError:
        return ""
    return f"; write {int(value)}" if value.is_integer() and least <= value < 10**_LONGEST else ""


def counts(text: str, least: int = 1) -> tuple[int, ...]:
    """One or more counts of at least ``least``: ``N``, ``N,N``, ``A:B:STEP`` (B included), at most
    :data:`MOST_VALUES` in all.

    >>> counts("128,256"), counts("100:300:100"), counts("0:10:5", 0)
    ((128, 256), (100, 200, 300), (0, 5, 10))
    """
    found: list[int] = []
    for part in text.split(","):
        values = _count_range(part, least) if ":" in part else (whole(part, least),)
        _check_length(len(found) + len(values))
        found += values
    return tuple(found)


def _count_range(text: str, least: int) -> range:
    """The counts of ``A:B:STEP``, nothing of which is built yet."""
    parts = _three(text)
    start, stop = whole(parts[0], least), whole(parts[1], least)
    falls = parts[2].startswith("-")
    if parts[2].strip("-") == "0":
        raise UsageError(f"{text!r} needs a step that is not 0")
    step = whole(parts[2].removeprefix("-")) * (-1 if falls else 1)
    found = range(start, stop + (-1 if falls else 1), step)
    if not found:
        raise UsageError(f"{text!r} is an empty range")
    return found


def _three(text: str) -> list[str]:
    parts = text.split(":")
    if len(parts) != 3:
        raise UsageError(f"{text!r} is not a range A:B:STEP, as in 100:500:100")
    return parts


def _check_length(count: int) -> None:
    if count > MOST_VALUES:
        raise UsageError(f"more values than the {MOST_VALUES:,} that a list may have; take larger steps")


def decimal_range(text: str) -> list[float]:
    """The values of ``A:B:STEP``, B included when the steps meet it, without the drift of binary fractions.

    >>> decimal_range("0.5:0.7:0.1")
    [0.5, 0.6, 0.7]
    """
    from decimal import Decimal

    parts = _three(text)
    for part in parts:
        number(part)
    start, stop, step = (Decimal(part) for part in parts)
    if not step:
        raise UsageError(f"{text!r} needs a step that is not 0")
    if any(value and abs(value.adjusted()) > _WIDEST_EXPONENT for value in (start, stop, step)):
        raise UsageError(f"{text!r} has a number too large or too small for a range")
    steps = (stop - start) / step
    if steps < 0:
        raise UsageError(f"{text!r} is an empty range")
    count = int(steps) + 1
    _check_length(count)
    return [float(start + step * i) for i in range(count)]


def seeds(text: str) -> range:
    """``A:B`` (half-open) or one seed; at most :data:`MOST_VALUES`.

    >>> seeds("0:32"), seeds("7")
    (range(0, 32), range(7, 8))
    """
    first, colon, last = text.partition(":")
    try:
        start = whole(first, 0)
        stop = whole(last, 0) if colon else start + 1
    except UsageError as error:
        raise UsageError(f"{error}; expected a seed such as 7, or A:B such as 0:32 for the seeds 0 to 31") from None
    if stop <= start:
        raise UsageError(f"{text!r} is an empty range; A:B means the seeds A, ..., B-1")
    _check_length(stop - start)
    return range(start, stop)


def number(text: str) -> float:
    """A finite number in plain ASCII notation, without blanks or underscores.

    >>> number("0.95"), number("-1e3")
    (0.95, -1000.0)
    """
    try:
        value = float(text) if _FIGURE.issuperset(text) and len(text) <= _LONGEST_FIGURE else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{text!r} is not a finite number in plain digits, without blanks or underscores")
    return value


def positive(text: str) -> float:
    """A finite number above 0."""
    value = number(text)
    if value <= 0:
        raise UsageError(f"{text!r} is not a number above 0")
    return value


def between(least: float, most: float, unit: str) -> Callable[[str], float]:
    """A reader of numbers from ``least`` to ``most``, beyond which a typing error is likelier than a question.

    >>> between(0.001, 1e6, "TB/s")("4.8")
    4.8
    """

    def read(text: str) -> float:
        value = number(text)
        if not least <= value <= most:
            raise UsageError(f"{text!r} is out of range: expected {least:,g} to {most:,.0f} {unit}")
        return value

    return read


params_b = between(0.001, 1e6, "billion parameters")
"""Parameters in billions: from a million to a million billions."""

bandwidth_tb_s = between(0.001, 1e6, "TB/s")
"""Memory bandwidth: from a gigabyte a second to forty times a wafer's."""


def format_name(text: str) -> str:
    """The name of a number format, or a number of bits in plain digits.

    >>> format_name("fp8"), format_name("4.5")
    ('fp8', '4.5')
    """
    try:
        float(text)
    except ValueError:
        if not text.isascii() or text != text.strip():
            raise UsageError(f"{text!r} is not the name of a format or a number of bits") from None
        return text
    number(text)
    return text
