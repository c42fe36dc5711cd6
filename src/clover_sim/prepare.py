"""What a comparison runs: strategies made ready, the cost that prices them, and the limits of one command."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from clover_sim.checks import declare
from clover_sim.errors import InputError, UsageError
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
    """A strategy ready to run: its name, decoder, the cost model with its drafter, and its effective options."""

    name: str
    decoder: Any
    cost: Any
    options: dict[str, Any]

    def identity(self) -> dict[str, Any]:
        """The columns that say who decoded."""
        source = declare(self.decoder).draft_source
        drafter = {"model": source.model, "acceptance": list(source.acceptance)} if source else None
        return {"strategy": self.name, "options": self.options, "drafter": drafter}


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
        raise UsageError(f"cost {cost!r:.60} is no cost model: make one, as in cost_model('floor', machine)")
    return cost


def default_cost(
    model: str | None = None, gpu: str | None = None, engine: str | None = None, precision: str | None = None
) -> Any:
    """The roofline of a model on a card, each with its default: bf16, and the card's usual engine."""
    from clover_sim.cost import Machine, cost_model
    from clover_sim.specs import (
        DEFAULT_HARDWARE,
        DEFAULT_MODEL,
        default_engine,
        load_engine,
        load_hardware,
        load_model,
    )  # fmt: skip

    hardware = load_hardware(gpu or DEFAULT_HARDWARE)
    used = load_engine(engine or default_engine(hardware))
    return cost_model("roofline", Machine(load_model(model or DEFAULT_MODEL), hardware, used, precision or "bf16"))


def describe(cost: Any) -> dict[str, Any]:
    """The settings behind a price, by name."""
    machine = cost.machine
    if machine is None:
        return {"cost": cost.name}
    return {
        "cost": cost.name, "model": machine.model.name, "gpu": machine.hardware.name, "engine": machine.engine.name,
        "precision": machine.precision, "kv_cache_dtype": machine.kv_cache_dtype,
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
    return Strategy(name, decoder, cost, options_of(decoder))


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
            f"this asks for up to {passes:.3g} passes (limit 1e8): fewer tokens or seeds, or wait with --allow-long"
        )
