r"""Lines as people paste them, made plain: colours in every spelling, numbers, fields."""

from __future__ import annotations

import re

_ESCAPE = r"(?:\x1b|\\x1b|\\u001b|\\033|\\e|\^\[|\u241b|\u2190|ESC)"
_COLOUR = re.compile(
    rf"{_ESCAPE}\[[0-9;?]*[A-Za-z]"  # with the escape character, real or spelled out
    r"|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)"  # a title
    r"|\[\d{1,3}(?:;\d{1,3})*m"  # the escape character lost on the way
)
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\u200b]|\^M$|\*\*|`")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)", re.IGNORECASE)


def clean(text: str) -> str:
    r"""``text`` without colours, control characters and Markdown marks, and without blanks at its end.

    >>> clean("\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO ^[[31mx^[[0m ESC[1my [0;0mz\r\n")
    '(APIServer pid=1) INFO x y z'
    """
    if "[" in text:
        text = _COLOUR.sub("", text)
    return _INVISIBLE.sub("", text.rstrip("\r\n")).rstrip()


_STAMPED = re.compile(
    r"(?:\(\w+ pid=\d+\) )*INFO \d\d-\d\d \d\d:\d\d:\d\d |"
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [A-Z]+\d+)*\] (?=(?:Decode|Prefill) batch)"
)
"""How lines of vLLM and SGLang begin."""


def joined(text: str) -> list[str]:
    """The lines of a text that has lost its line breaks, such as one copied from a web page; else the text alone.

    A line that a collector repeats in another field counts once.

    >>> joined("INFO 03-04 05:06:07 [a.py:1] x, INFO 03-04 05:06:17 [a.py:1] y")
    ['INFO 03-04 05:06:07 [a.py:1] x, ', 'INFO 03-04 05:06:17 [a.py:1] y']
    """
    if text.count("INFO ") + text.count(" batch") < 2:
        return [text]
    starts = [found.start() for found in _STAMPED.finditer(text)][1:]
    if not starts:
        return [text]
    parts = [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]
    first = _STAMPED.search(parts[0])
    known = [parts[0][first.start() :] if first else ""]
    for part in parts[1:]:
        if not any(other.startswith(part.rstrip(' ,"}]')) for other in known):
            known.append(part)
    return [parts[0], *known[1:]]


def number(text: str | None) -> float | None:
    """The number that ``text`` starts with; ``None`` where there is none, or none that a count, rate or time can be.

    >>> number("62.3%"), number("1,024.5 tokens"), number("nan%"), number("inf"), number("-5"), number("1e308")
    (62.3, 1024.5, None, None, None, None)
    """
    found = _NUMBER.match(text.strip()) if text else None
    if not found:
        return None
    return _figure(float(found[0].replace(",", "")))


def real(value: object) -> float | None:
    """A number of a JSON document that a count, rate or time can be, else ``None``.

    >>> real(3), real(True), real("x"), real(float("nan")), real(10**400)
    (3.0, None, None, None, None)
    """
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else _figure(value)


SMALLEST, LARGEST = 1e-12, 1e18
"""Bounds of what a count, a rate or a time of a log can be, 0 beside them."""


def _figure(value: float) -> float | None:
    return float(value) if value == 0 or SMALLEST <= value <= LARGEST else None


_FIELD = re.compile(r"(?:^|,)\s*(#?[A-Za-z][A-Za-z0-9_ \-/()#]{0,80}?)\s{0,8}[:=]\s*")


def fields(text: str) -> dict[str, str]:
    """``Name: value, Name: value`` by name, in lower case; a value that is a list keeps its commas.

    >>> fields("Mean length: 2.5, Per-position rate: 0.8, 0.7, Rate: 76.7%")
    {'mean length': '2.5', 'per-position rate': '0.8, 0.7', 'rate': '76.7%'}
    """
    parts = _FIELD.split(text)
    return {name.lower(): value.strip(" ,") for name, value in zip(parts[1::2], parts[2::2], strict=True)}


def rates(text: str | None) -> list[float] | None:
    """A list of rates such as ``0.8, 0.7``; ``None`` if any entry is not a number from 0 to 1."""
    if not text:
        return None
    found = [number(part) for part in text.strip("()[] ").split(",")]
    known = [value for value in found if value is not None and value <= 1]
    return known if len(known) == len(found) else None
