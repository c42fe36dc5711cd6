"""The one notation for named things with options: ``name:key=value,key=value``.

Strategies, stream profiles and cost models all use it, so that an option is written, checked and suggested alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args, get_origin, get_type_hints

from clover_sim.errors import UsageError, suggest
from clover_sim.faults import foreign, one_line

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def split_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split ``"name:key=value,..."`` into the name and its options, both still text.

    ``module:Class`` (a plug-in) keeps its colon; commas inside brackets belong to the value.

    >>> split_spec("speculative:acceptance=[0.9,0.7],num_speculative_tokens=2")
    ('speculative', {'acceptance': '[0.9,0.7]', 'num_speculative_tokens': '2'})
    >>> split_spec("mypkg.fast:Decoder:threshold=0.9")
    ('mypkg.fast:Decoder', {'threshold': '0.9'})
    """
    head, equals, _rest = text.partition("=")
    name, colon, _ = head.rpartition(":") if equals else (text, "", "")
    if equals and not colon:
        raise UsageError(f"{text!r}: options need a name before them, as in name:key=value")
    options: dict[str, str] = {}
    if equals:
        for part in _split_commas(text[len(name) + 1 :]):
            key, eq, value = part.partition("=")
            key = key.strip().replace("-", "_")
            if not eq or not key:
                hint = "; an option takes one value: repeat -s for several, or write a list as [a,b]" if options else ""
                raise UsageError(f"{text!r}: {part!r} is not of the form key=value{hint}")
            if key in options:
                raise UsageError(f"{text!r}: option {key!r} is given twice")
            options[key] = value.strip()
    elif text.endswith(":"):
        raise UsageError(f"{text!r}: options are missing after the colon, as in name:key=value")
    if not name.strip():
        raise UsageError(f"{text!r}: the name is missing, as in name:key=value")
    return name.strip(), options


def _split_commas(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return parts


def build(cls: type, options: Mapping[str, Any], where: str) -> Any:
    """Make the dataclass ``cls`` from options; text values take the type of their field.

    Raises :class:`UsageError` naming the option, what was got and what is expected.
    """
    known = {f.name: f for f in fields(cls) if f.init}
    hints = _field_types(cls, known, where) if any(isinstance(v, str) for v in options.values()) else {}
    values = {}
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"{where}: unknown option {key!r}{suggest(key, known) or '; it takes none'}")
        values[key] = _coerce(value, hints[key], f"{where}: {key}") if isinstance(value, str) else value
    for name, f in known.items():
        if name not in values and f.default is MISSING and f.default_factory is MISSING:
            raise UsageError(f"{where}: option {name!r} is missing; write {where}:{name}=...")
    with foreign(f"making {where}"):
        try:
            return cls(**values)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{where}: {one_line(error).partition(': ')[2]}") from None


_TYPES: dict[type, dict[str, Any]] = {}  # read once a class: a sweep builds the same one for every cell


def _field_types(cls: type, known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Types of the fields alone: other annotations may name what exists only for a type checker."""
    if cls not in _TYPES:
        annotations = {name: f.type for name, f in known.items()}
        shim = type(cls.__name__, (), {"__annotations__": annotations, "__module__": cls.__module__})
        with foreign(f"{where}: the types of its options cannot be read"):
            _TYPES[cls] = get_type_hints(shim)
    return _TYPES[cls]


def _coerce(text: str, hint: Any, where: str) -> Any:
    """Turn the text of an option into the type its field declares; the first type of a union that fits wins."""
    choices = get_args(hint) if _is_union(hint) else (hint,)
    if type(None) in choices and text.lower() == "none":
        return None
    for choice in choices:
        if choice is type(None):
            continue
        try:
            return _convert(text, choice)
        except ValueError:
            continue
    names = " or ".join(_describe(c) for c in choices if c is not type(None))
    raise UsageError(f"{where}={text} is not {names}")


def _is_union(hint: Any) -> bool:
    import types
    import typing

    return get_origin(hint) in (types.UnionType, typing.Union)


def _describe(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return "a list such as [0.9,0.8] or 0.9/0.8"
    return {
        int: "a whole number",
        float: "a finite number",
        bool: f"one of {', '.join(_TRUE[:1] + _FALSE[:1])}",
        str: "a text",
    }.get(kind) or f"{kind.__name__ if type(kind) is type else kind}, which cannot be written as text"


def _convert(text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise ValueError(text)
    if kind is int:
        if text.lstrip("+-").isdecimal() and text.isascii():
            return int(text)
        raise ValueError(text)
    if kind is float:
        if "_" in text or not text.isascii() or not math.isfinite(value := float(text)):
            raise ValueError(text)
        return value
    if get_origin(kind) is tuple:
        inner = text.strip()
        if inner.startswith(("[", "(")) and inner.endswith(("]", ")")):
            parts = inner[1:-1].split(",")
        elif "/" in inner:
            parts = inner.split("/")
        else:
            raise ValueError(text)
        return tuple(_convert(part.strip(), get_args(kind)[0]) for part in parts)
    if kind is str:
        return text
    raise ValueError(text)
