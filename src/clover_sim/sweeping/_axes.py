"""What is varied: ``KEY=a:b:step`` and ``KEY=x,y,z`` as lists of texts, and where each key belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.errors import InputError, UsageError, suggest

MOST_VALUES = 10_000
"""Most values of one axis."""

RUN_KEYS = (
    "tokens", "profile", "batch_size", "prompt_tokens", "max_new_tokens", "kv_write", "eos_stop", "align",
)  # fmt: skip
"""Settings of a run that can be varied."""

WHOLE = frozenset(("tokens", "batch_size", "prompt_tokens", "max_new_tokens", "tensor_parallel_size"))
FIGURES = frozenset(("params_b", "active_b", "gpu_bandwidth_tb_s", "routing_beta"))

MACHINE_KEYS = (
    "model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "cost", "params_b", "active_b",
    "gpu_bandwidth_tb_s", "routing_beta",
)  # fmt: skip
"""Settings of the machine that can be varied."""


USUAL = (
    ("threshold", "0.8,0.85,0.9,0.95,0.99"), ("block_size", "8,16,32"), ("num_speculative_tokens", "1,2,3,5,8"),
)  # fmt: skip
"""What is varied of strategies that have it when nobody says what: the knobs that decide speed against errors."""


class Axis(NamedTuple):
    """One varied setting: ``kind`` is ``strategy``, ``stream``, ``run`` or ``machine``; values are text or numbers."""

    key: str
    kind: str
    values: tuple[Any, ...]


def parse_vary(text: str) -> tuple[str, tuple[str, ...]]:
    """Key and values of ``KEY=VALUES``; a range includes its end and is worked out in decimal arithmetic.

    >>> parse_vary("threshold=0.8:0.9:0.05")
    ('threshold', ('0.8', '0.85', '0.9'))
    >>> parse_vary("batch-size=1,8:24:8")
    ('batch_size', ('1', '8', '16', '24'))
    """
    key, equals, values = text.partition("=")
    key = key.strip().replace("-", "_")
    if not equals or not key or not values.strip():
        raise UsageError(f"vary {text!r}: expected KEY=A:B:STEP or KEY=X,Y,Z, as in threshold=0.8:0.95:0.05")
    found: list[str] = []
    for part in _split(values):
        found += _range(part, text) if part.count(":") == 2 and _numeric(part) else [part.strip()]
        if len(found) > MOST_VALUES:
            raise UsageError(f"vary {key}: more than {MOST_VALUES:,} values; take larger steps")
    if "" in found:
        raise UsageError(f"vary {text!r}: a value is missing between two commas")
    _once(key, found, [_number(value) for value in found])
    return key, tuple(found)


def _number(text: str) -> Any:
    """What a text means as a number, however it is written; the text itself where it is none."""
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(text) if _numeric(text) else text
    except InvalidOperation:
        return text


def _once(key: str, values: Sequence[Any], meant: Sequence[Any]) -> None:
    """Refuse two values that mean the same."""
    seen: dict[Any, Any] = {}
    for value, meaning in zip(values, meant, strict=True):
        if meaning not in seen:
            seen[meaning] = value
        else:
            first = seen[meaning]
            same = f"{value} is given twice" if first == value else f"{first} and {value} are the same"
            raise UsageError(f"vary {key}: {same}")


def _named_once(key: str, values: Sequence[Any]) -> None:
    """Refuse two names of one model, card or engine."""
    if key not in ("model", "gpu", "engine") or len(values) < 2:
        return
    from clover_sim.specs import load

    read = {"model": load.load_model, "gpu": load.load_hardware, "engine": load.load_engine}[key]
    try:
        _once(key, values, [repr(read(value)) for value in values])
    except InputError:
        return  # a file that cannot be read is told of where it is used


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _numeric(text: str) -> bool:
    return all(set(part) <= set("0123456789+-.eE") for part in text.split(":"))


def _range(text: str, whole: str) -> list[str]:
    from decimal import Decimal, InvalidOperation

    try:
        start, stop, step = (Decimal(part) for part in text.split(":"))
    except InvalidOperation:
        raise UsageError(f"vary {whole!r}: {text!r} is not a range of numbers A:B:STEP") from None
    if not step:
        raise UsageError(f"vary {whole!r}: the step is 0")
    if any(abs(value.adjusted()) > 30 for value in (start, stop, step) if value):
        raise UsageError(f"vary {whole!r}: a number is too large or too small for a range")
    steps = (stop - start) / step
    if steps < 0:
        raise UsageError(f"vary {whole!r}: {text!r} is an empty range")
    if steps >= MOST_VALUES:
        raise UsageError(f"vary {whole!r}: more than {MOST_VALUES:,} values; take larger steps")
    return [_plain(start + step * i) for i in range(int(steps) + 1)]


def _plain(value: Any) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def resolve(vary: Any, specs: Sequence[str], profile: str, has_inputs: bool) -> list[Axis]:
    """The axes of a sweep, each assigned to what has the key.

    Args:
        vary: ``{"threshold": "0.8:0.95:0.05", "block_size": [8, 16]}``, or texts as on the command line.
        specs: the strategies. profile: the stream. has_inputs: whether files are decoded instead.
    """
    pairs = list(_pairs(vary))
    axes: list[Axis] = []
    profiles = next((values for key, values in pairs if key == "profile"), (profile,))
    for key, values in pairs:
        if any(axis.key == key for axis in axes):
            raise UsageError(f"vary {key}: given twice; list all values in one")
        axes.append(Axis(key, _kind(key, specs, profiles, has_inputs), _typed(key, values)))
        _named_once(key, axes[-1].values)
    return axes


def _pairs(vary: Any) -> Iterable[tuple[str, tuple[str, ...]]]:
    if isinstance(vary, str):
        vary = [vary]
    if isinstance(vary, Mapping):
        for key, values in vary.items():
            if isinstance(values, str):
                yield parse_vary(f"{key}={values}")
            elif isinstance(values, Iterable):
                yield parse_vary(f"{key}=" + ",".join(_text(value) for value in values))
            else:
                yield parse_vary(f"{key}={_text(values)}")
    else:
        for text in vary:
            yield parse_vary(text)


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _kind(key: str, specs: Sequence[str], profiles: Sequence[str], has_inputs: bool) -> str:
    takers = {name for spec in specs for name in option_names(spec)}
    stream = {name for text in profiles for name in stream_names(text, has_inputs)}
    if key in RUN_KEYS:
        if key == "profile" and has_inputs:
            raise UsageError("vary profile: files are decoded, which have no profile; leave out --input")
        return "run"
    if key in MACHINE_KEYS:
        return "machine"
    if key in takers and key in stream:
        raise UsageError(f"vary {key}: strategies and the stream both have it; give it in -s or --profile instead")
    if key in takers:
        return "strategy"
    if key in stream:
        return "stream"
    known = sorted({*takers, *stream, *RUN_KEYS, *MACHINE_KEYS})
    raise UsageError(f"vary {key}: nothing here has that option{suggest(key, known)}")


def usual(specs: Sequence[str]) -> list[str]:
    """The usual question about these strategies: those of :data:`USUAL` that they take and do not set.

    >>> usual(["block-diffusion:block_size=16"]), usual(["ar"])
    (['threshold=0.8,0.85,0.9,0.95,0.99'], [])
    """
    from clover_sim.options import split_spec

    free = {name for spec in specs for name in option_names(spec)}
    given = {name for spec in specs for name in split_spec(spec)[1]}
    return [f"{key}={values}" for key, values in USUAL if key in free - given]


def option_names(spec: str) -> list[str]:
    """Names of the options that a strategy takes."""
    from dataclasses import fields, is_dataclass

    from clover_sim.registry import build_strategy

    decoder = build_strategy(spec)[1]
    return [f.name for f in fields(decoder) if f.init] if is_dataclass(decoder) else []


def stream_names(profile: str, has_inputs: bool) -> list[str]:
    """Names of the options that a stream's profile takes; seeds are varied by ``seeds``."""
    from dataclasses import fields

    from clover_sim.streams.profiles import profile_settings

    name = "tool-call" if has_inputs and profile == "reference" else profile
    return [f.name for f in fields(profile_settings(name)[1]) if f.init and not f.name.endswith("seed")]


def _typed(key: str, values: tuple[str, ...]) -> tuple[Any, ...]:
    """Counts and figures as numbers, everything else as it was written: what takes it reads it."""
    if key in WHOLE:
        for value in values:
            if not (value.isascii() and value.isdecimal() and len(value) <= 12):
                raise UsageError(f"vary {key}: {value!r} is not a whole number")
        return tuple(int(value) for value in values)
    if key in FIGURES:
        try:
            return tuple(int(n) if (n := float(value)).is_integer() else n for value in values)
        except ValueError:
            raise UsageError(f"vary {key}: {', '.join(values)} are not all numbers") from None
    return values
