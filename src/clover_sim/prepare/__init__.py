"""What a comparison runs: strategies made ready, the cost that prices them, and the limits of one command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from clover_sim.arguments import fitted
from clover_sim.checks import MOST_TOKENS, declare
from clover_sim.errors import InputError, UsageError, shown, suggest
from clover_sim.faults import foreign
from clover_sim.registry import build_strategy, check_is_decoder

DEFAULT_STRATEGIES = ("ar", "speculative:parallel_draft=true", "block-diffusion")
"""Those of the published table; one draft pass there proposes all drafts."""

WORK_LIMIT_PASSES = 100_000_000
"""More than this asks for ``allow_long``: minutes to hours in pure Python."""

RUN_PASSES = 300
"""A run's own overhead, in passes."""

MOST_BATCH = 65_536
"""Largest batch: far above what any card holds, and small enough to list its sequences."""


class Strategy(NamedTuple):
    """A strategy ready to run: its name, decoder, the cost model with its drafter, its effective options, and the
    words it was asked for in."""

    name: str
    decoder: Any
    cost: Any
    options: dict[str, Any]
    spec: str = ""

    def identity(self) -> dict[str, Any]:
        """The columns that say who decoded."""
        source = declare(self.decoder).draft_source
        drafter: dict[str, Any] | None = None
        if source is not None:
            drafter = {"model": source.model, "acceptance": list(source.acceptance)}
            if source.clustering is not None:
                drafter["clustering"] = list(source.clustering)
        return {"strategy": self.name, "options": self.options, "drafter": drafter}


class Rules(NamedTuple):
    """What all runs of a comparison share.

    Args:
        batch_size: requests decoded in step, for which each pass is priced.
        prompt_tokens, kv_write, eos_stop, align, max_new_tokens: see :func:`clover_sim.engine.run`.
        schedule: draft lengths by batch (:mod:`clover_sim.prepare.schedule`), ``None`` for the strategies' own.
    """

    batch_size: int = 1
    prompt_tokens: int = 0
    kv_write: str | None = None
    eos_stop: str = "block"
    align: str = "relative"
    max_new_tokens: int | None = None
    schedule: Any = None

    def check(self) -> None:
        """Raise :class:`UsageError` for a figure that is out of range."""
        check_whole("batch_size", self.batch_size, 1, MOST_BATCH)
        check_whole("prompt_tokens", self.prompt_tokens, 0, MOST_TOKENS)
        if self.max_new_tokens is not None:
            check_whole("max_new_tokens", self.max_new_tokens, 1, MOST_TOKENS)

    def longest(self, tokens: int) -> int:
        """Most positions that a run over so many tokens decodes."""
        return max(tokens, self.max_new_tokens or 0)

    def of_run(self) -> dict[str, Any]:
        """Those that :func:`clover_sim.engine.run` takes."""
        return {
            "kv_write": self.kv_write, "eos_stop": self.eos_stop, "align": self.align,
            "prompt_tokens": self.prompt_tokens, "max_new_tokens": self.max_new_tokens,
        }  # fmt: skip

    def echo(self) -> dict[str, Any]:
        """Those that a result repeats; what is rarely given only where it was."""
        rare: dict[str, Any] = {}
        if self.max_new_tokens is not None:
            rare["max_new_tokens"] = self.max_new_tokens
        if self.schedule is not None:
            from clover_sim.prepare.schedule import schedule_text

            rare["schedule"] = schedule_text(self.schedule)
        return {
            "batch_size": self.batch_size, "prompt_tokens": self.prompt_tokens, "kv_write": self.kv_write or "default",
            "eos_stop": self.eos_stop, "align": self.align, **rare,
        }  # fmt: skip


def choose_cost(cost: Any = None, **named: str | None) -> Any:
    """The cost model that is meant: a given one (or machine, for its roofline), or that of the named machine."""
    given = [name for name, value in named.items() if value is not None]
    if cost is None:
        return default_cost(**named)
    if given:
        raise UsageError(f"cost and {given[0]} contradict each other: name the machine, or give its cost model")
    from clover_sim.cost import Machine, Roofline

    if isinstance(cost, Machine):
        return Roofline(cost)
    if not callable(getattr(cost, "price", None)):
        raise UsageError(f"cost {shown(cost)} is no cost model: make one, as in cost_model('floor', machine)")
    return cost


def default_cost(
    model: str | None = None, gpu: str | None = None, engine: str | None = None, precision: str | None = None
) -> Any:
    """The roofline of a model on a card, each with its default: the file's own format or bf16, the usual engine."""
    from clover_sim.cost import Machine, cost_model
    from clover_sim.specs import DEFAULT_HARDWARE, default_engine, load_engine, load_hardware
    from clover_sim.specs.load import model_and_precision

    hardware = load_hardware(gpu or DEFAULT_HARDWARE)
    used = load_engine(engine or default_engine(hardware))
    spec, stored = model_and_precision(model, precision)
    return cost_model("roofline", Machine(spec, hardware, used, stored))


def describe(cost: Any) -> dict[str, Any]:
    """The settings behind a price, by name."""
    machine = cost.machine
    if machine is None:
        return {"cost": cost.name}
    return {
        "cost": cost.name, "model": machine.model.name, "gpu": machine.hardware.name, "engine": machine.engine.name,
        "precision": getattr(machine.precision, "name", machine.precision), "kv_cache_dtype": machine.kv_cache_dtype,
        "tensor_parallel_size": machine.tensor_parallel_size,
    }  # fmt: skip


def check_memory(cost: Any, batch_size: int, context_tokens: int) -> None:
    """Refuse what the card cannot hold; bounds and given prices (``floor``, ``fixed``) do not ask."""
    if cost.name != "roofline":
        return
    from clover_sim.cost import memory_check

    picture = memory_check(cost.machine, batch_size, context_tokens)
    if not picture.fits:
        from clover_sim.cost import does_not_fit

        raise InputError(does_not_fit(cost.machine, picture))


def make_strategy(given: Any, cost: Any) -> Strategy:
    """A strategy ready to run: its decoder, and the cost model with its drafter."""
    if isinstance(given, str):
        name, decoder = build_strategy(given)
    else:
        name, decoder = type(given).__name__, check_is_decoder(given, type(given).__name__)
    source, machine = declare(decoder).draft_source, cost.machine
    if source is not None and machine is not None:
        from clover_sim.speculation.heads import drafter_model

        drafter = drafter_model(source.model, machine.model)
        cost = replace(cost, machine=replace(machine, drafter=drafter))
    return Strategy(name, decoder, cost, options_of(decoder), given if isinstance(given, str) else name)


def several_strategies(given: Any, default: Sequence[Any]) -> list[Any]:
    """One name or decoder, or several, as a list; ``default`` for none.

    >>> several_strategies("ar", ()), several_strategies(None, ("ar", "speculative"))
    (['ar'], ['ar', 'speculative'])
    """
    if isinstance(given, str) or (callable(getattr(type(given), "decode", None)) and not isinstance(given, bytes)):
        return [given]
    if given is None:
        return [*default]
    if isinstance(given, (bytes, dict)) or not hasattr(type(given), "__iter__"):
        raise UsageError(f"strategies {shown(given)}: expected a name such as 'block-diffusion:threshold=0.9', a "
                         "decoder, or several of them")  # fmt: skip
    return [*given] or [*default]


def check_rules(rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """The rules of counting that were given, after a look at their names and values.

    >>> check_rules({"kv_write": "fused"}), check_rules(None)
    ({'kv_write': 'fused'}, {})
    """
    known = {"kv_write": "str | None", "eos_stop": "str", "align": "str"}
    for key in rules or {}:
        if key not in known:
            raise UsageError(f"rules: unknown rule {key!r}{suggest(str(key), known)}")
    return {key: fitted("rules", key, value, known[key]) for key, value in (rules or {}).items()}


def options_of(decoder: Any) -> dict[str, Any]:
    """A dataclass decoder's effective options as plain JSON values; what is not plain is shown by its ``repr``."""
    if not is_dataclass(decoder):
        return {}
    with foreign(f"reading the options of {type(decoder).__name__}"):
        return {f.name: _plain(getattr(decoder, f.name)) for f in fields(decoder)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)) and abs(value) < 1e18:  # NaN is not below anything
        return value
    if isinstance(value, tuple) and len(value) < 1000:
        return [_plain(v) for v in value]
    from reprlib import repr as short_repr

    return short_repr(value)


def check_whole(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise UsageError(f"{name} {value!r}: expected a whole number from {low} to {high}")


def listed(name: str, values: Any) -> list[Any]:
    """The values as a list, after making sure that there are not absurdly many."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise UsageError(f"{name} {values!r}: expected whole numbers, such as [128, 256]")
    if isinstance(values, range) and len(values) > WORK_LIMIT_PASSES // RUN_PASSES:
        raise UsageError(f"{name}: {len(values)} values are more than can be run; give fewer")
    return list(values)


def check_work(passes: int, allow_long: bool) -> None:
    """Refuse more passes than anybody waits for, unless ``allow_long``."""
    if passes > WORK_LIMIT_PASSES and not allow_long:
        raise UsageError(
            f"this asks for up to {min(passes, 10**300):.3g} passes (limit 1e8): fewer tokens or seeds, or wait with "
            "--allow-long"
        )


def asked(strategies: Sequence[Strategy], rules: Rules, streams: Sequence[Any]) -> str:
    """Everything that the bytes of a result follow from, as one text: equal texts, equal results.

    Version, rules, streams, and for each strategy its options, its code where it is not of this package, and the
    contents (not the names alone) of model, hardware, engine and drafter.
    """
    from clover_sim import __version__

    parts: list[Any] = [__version__, tuple(rules), *streams, _contents(strategies[0].cost)]
    for name, decoder, cost, options, spec in strategies:
        machine = cost.machine
        drafter = machine.drafter if machine is not None else None
        said = spec if rules.schedule is not None else ""  # only then does a report repeat it
        parts.append((name, said, options, declare(decoder), drafter, _contents(decoder), _code(type(decoder))))
    return repr(parts)


def _contents(value: Any) -> str:
    """All fields of an object; of one that cannot say them, its attributes."""
    if is_dataclass(value):
        return repr(value)
    with foreign(f"reading the attributes of {type(value).__name__}"):
        return repr((type(value).__qualname__, sorted(getattr(value, "__dict__", {}).items())))


def _code(cls: type) -> Any:
    """What a class from outside this package does: a hash of its file, or of its bytes where it has none."""
    if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return cls.__qualname__
    from hashlib import sha256

    code = getattr(getattr(cls, "decode", None), "__code__", None)
    try:
        with open(code.co_filename, "rb") as stream:  # type: ignore[union-attr]
            return sha256(stream.read()).hexdigest()
    except (OSError, ValueError, AttributeError):
        plain = [c for c in getattr(code, "co_consts", ()) if isinstance(c, (int, float, str, type(None)))]
        return cls.__qualname__, getattr(code, "co_code", b""), plain
