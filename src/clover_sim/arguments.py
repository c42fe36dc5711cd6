"""Arguments of the public functions, held against their annotations: whoever hands over something else gets one line.

What stands for the same is taken: a path for a text, a number of another library for one of Python's, any iterable for
a sequence. Annotations are read as they are written, so nothing is evaluated and an import costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from itertools import islice
from math import isfinite
from operator import index
from os import PathLike, fspath
from typing import Any, ParamSpec, TypeVar

from clover_sim.errors import UsageError, shown, suggest

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Fit = Callable[[Any], Any]
MOST = 1_000_000
"""Most values of one argument: an endless iterator must come to an end somewhere."""


_LARGEST = 10**1000
"""Python writes no number of more than a few thousand digits, not even into a message."""


class _Misfit(Exception):
    """A value is not what an annotation says; with the part of it that is to blame, where that is one of several."""


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, each of its arguments taken as its annotation says.

    >>> @checked
    ... def twice(seeds: int | Sequence[int]) -> Any:
    ...     return seeds
    >>> twice(3), twice(n for n in (1, 2))
    (3, (1, 2))
    >>> try:
    ...     twice("many")
    ... except UsageError as error:
    ...     print(error)
    twice: seeds 'many': expected a whole number, or several such as [1, 2]
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    takes = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    more = bool(code.co_flags & _MORE_KEYWORDS)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        said = function.__annotations__
        for name in kwargs:
            if name not in takes and not more:
                raise unknown(function.__name__, name, takes)
        taken = [fitted(function.__name__, n, v, said[n]) for n, v in zip(names, args, strict=False)]
        named = {
            n: fitted(function.__name__, n, v, said[n]) if n in said and n != "return" else v
            for n, v in kwargs.items()
        }
        return function(*taken, *args[len(taken) :], **named)  # type: ignore[arg-type]

    return call


_MORE_KEYWORDS = 0x08
"""Flag of a code object that takes keywords of any name."""
_PARTS = ("model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size")
_OPTIONS = ("threshold", "block_size", "num_speculative_tokens", "acceptance")
_SAME = {
    "method": "shape", "strategy": "strategies", "seed": "seeds", "seeds": "seed", "card": "gpu", "hardware": "gpu",
    "device": "gpu", "batch": "batch_size", "batch_sizes": "batch_size", "width": "widths", "context": "context_tokens",
    "prompt": "prompt_tokens", "input": "inputs", "texts": "inputs", "length": "tokens", "task": "workload",
    "k": "most_k",
}  # fmt: skip
"""What others, or the command line, call an argument."""


def unknown(where: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a keyword that a function does not have, with what stands in its place there.

    >>> print(unknown("sweep", "gpu", ["vary", "machine"]))
    sweep: unknown argument 'gpu'; it is a part of the machine: machine={'gpu': ...}, or vary={'gpu': [...]}
    >>> print(unknown("speculate", "method", ["shape", "gpu"]))
    speculate: unknown argument 'method'; did you mean 'shape'?
    """
    known = list(known)
    vary = f", or vary={{{name!r}: [...]}}" if "vary" in known else ""
    if name in _PARTS and "machine" in known:
        hint = f"; it is a part of the machine: machine={{{name!r}: ...}}{vary}"
    elif name == "machine" and "gpu" in known:
        hint = "; its parts are arguments of their own: model=..., gpu=..., engine=..., precision=..."
    elif name in _OPTIONS and "strategies" in known:
        hint = f"; it is an option of a strategy, as in 'NAME:{name}=...'{vary}"
    elif _SAME.get(name) in known:
        hint = f"; did you mean {_SAME[name]!r}?"
    else:
        hint = suggest(name, known)
        hint = hint if "did you mean" in hint else f"; known: {', '.join(known)}"
    return UsageError(f"{where}: unknown argument {name!r}{hint}")


def settle(record: Any) -> None:
    """The same for the fields of a dataclass, from its ``__post_init__``."""
    where = type(record).__name__
    for name, annotation in type(record).__annotations__.items():
        value = getattr(record, name)
        if (taken := fitted(where, name, value, annotation)) is not value:
            object.__setattr__(record, name, taken)


def fitted(where: str, name: str, value: Any, annotation: Any) -> Any:
    """The value as an annotation (its text, or a reference with it) has it; :class:`UsageError` if it is not that."""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    try:
        return _fit(annotation)(value)
    except _Misfit as misfit:
        wrong = misfit.args[0] if misfit.args else value
        raise UsageError(f"{where}: {name} {shown(wrong)}: expected {_words(annotation)}") from None


@cache
def _fit(annotation: str) -> _Fit:
    choices = _split(annotation, "|")
    if len(choices) > 1:
        return _any_of([_fit(choice) for choice in choices])
    head, _, inner = annotation.partition("[")
    parts = _split(inner.removesuffix("]"), ",")
    if head in ("Sequence", "list") or (head == "tuple" and parts[-1] == "..."):
        return _several(_fit(parts[0]), keep=parts[0] == "int")
    if head == "tuple":
        return _row([_fit(part) for part in parts])
    return _PLAIN.get(head) or _instance(head)


def _split(text: str, sign: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == sign and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _any_of(fits: list[_Fit]) -> _Fit:
    def fit(value: Any) -> Any:
        closest = _Misfit()
        for one in fits:
            try:
                return one(value)
            except _Misfit as misfit:
                closest = misfit if misfit.args else closest
        raise closest

    return fit


def _several(one: _Fit, keep: bool) -> _Fit:
    def fit(value: Any) -> Any:
        if isinstance(value, range) and keep:
            return value  # however long: what it is for says how many are too many
        return tuple(_part(one, each) for each in _values(value))

    return fit


def _row(fits: list[_Fit]) -> _Fit:
    def fit(value: Any) -> Any:
        values = _values(value)
        if len(values) != len(fits):
            raise _Misfit
        return tuple(_part(one, each) for one, each in zip(fits, values, strict=True))

    return fit


def _part(one: _Fit, value: Any) -> Any:
    try:
        return one(value)
    except _Misfit as misfit:
        raise _Misfit(*(misfit.args or (value,))) from None


def _values(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise _Misfit
    try:
        found = list(islice(value, MOST + 1))
    except TypeError:  # an array without a dimension
        raise _Misfit from None
    if len(found) > MOST:
        raise _Misfit
    return found


def _text(value: Any) -> str:
    if isinstance(value, PathLike):
        value = fspath(value)
    if not isinstance(value, str):
        raise _Misfit
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise _Misfit
    try:
        found = index(value)
    except TypeError:  # an array of several
        raise _Misfit from None
    if abs(found) > _LARGEST:
        raise _Misfit
    return found


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes, bool)) or not hasattr(type(value), "__float__"):
        raise _Misfit
    try:
        if not isfinite(value) or abs(value) > _LARGEST:
            raise _Misfit
        return value if isinstance(value, (int, float)) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise _Misfit from None


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool_", "bool", "int") and value in (0, 1):
        return bool(value)
    raise _Misfit


def _nothing(value: Any) -> None:
    if value is not None:
        raise _Misfit


def _function(value: Any) -> Any:
    if not callable(value):
        raise _Misfit
    return value


def _mapping(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _Misfit
    return value


def _instance(name: str) -> _Fit:
    """An object of the class of that name, which need not be imported for it."""

    def fit(value: Any) -> Any:
        if all(base.__name__ != name for base in type(value).__mro__):
            raise _Misfit
        return value

    return fit


_PLAIN: dict[str, _Fit] = {
    "Any": lambda value: value, "str": _text, "int": _whole, "float": _number, "bool": _truth, "None": _nothing,
    "Callable": _function, "Mapping": _mapping, "dict": _mapping,
}  # fmt: skip
_CALLED = {
    "str": "a text", "int": "a whole number", "float": "a finite number", "bool": "True or False",
    "Callable": "a function", "Mapping": "a dictionary", "dict": "a dictionary", "Sequence[int]": "whole numbers such "
    "as [1, 2]", "Sequence[str]": "texts such as ['a', 'b']",
}  # fmt: skip


def _words(annotation: str) -> str:
    choices = [choice for choice in _split(annotation, "|") if choice != "None"]
    if {"int", "Sequence[int]"} <= set(choices):
        return "a whole number, or several such as [1, 2]"
    if {"str", "Sequence[str]"} <= set(choices):
        choices = [c for c in choices if c != "Sequence[str]"]
        return " or ".join([_called(choice) for choice in choices]) + ", or several"
    return " or ".join([_called(choice) for choice in choices])


def _called(choice: str) -> str:
    head, _, inner = choice.partition("[")
    if choice in _CALLED or head in _CALLED:
        return _CALLED.get(choice) or _CALLED[head]
    if head == "tuple" and "..." not in inner:
        return "(" + ", ".join(_called(part) for part in _split(inner.removesuffix("]"), ",")) + ")"
    if inner:
        return "several of: " + _called(_split(inner.removesuffix("]"), ",")[0])
    return f"an object of the class {choice}"
