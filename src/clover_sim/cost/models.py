"""The cost models that can be named: ``floor``, ``roofline`` and ``fixed:pass_ms=15``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from clover_sim.cost.machine import Machine
from clover_sim.cost.roofline import FREE, PassPrice, price
from clover_sim.errors import UsageError, suggest
from clover_sim.records import Kind, PassShape


class CostModel(Protocol):
    """Anything that turns the shape of a pass into seconds."""

    @property
    def name(self) -> str:
        """As written on the command line, options included."""
        ...

    @property
    def machine(self) -> Machine | None:
        """What the passes run on, ``None`` if the price does not depend on it."""
        ...

    def price(self, shape: PassShape) -> PassPrice:
        """The price of one pass."""
        ...


@dataclass(frozen=True, slots=True)
class Roofline:
    """The default: see :mod:`clover_sim.cost.roofline`."""

    machine: Machine

    @property
    def name(self) -> str:
        """``roofline``."""
        return "roofline"

    def price(self, shape: PassShape) -> PassPrice:
        """The price of one pass."""
        return price(self.machine, shape)


@dataclass(frozen=True, slots=True)
class Floor:
    """What no machine can beat token by token: the bytes of the active parameters over the peak bandwidth.

    Nothing else is counted, neither scales nor cache nor the experts that a wider pass adds, so a pass of any width
    costs the same. A draft costs the drafter's bytes.

    >>> from clover_sim.specs import bare_hardware, bare_model, load_engine
    >>> floor = Floor(Machine(bare_model(35e9, 3e9), bare_hardware(3), load_engine("ideal"), precision="fp8"))
    >>> floor.price(PassShape(Kind.DECODE, (1,))).latency_s
    0.001
    """

    machine: Machine

    @property
    def name(self) -> str:
        """``floor``."""
        return "floor"

    def price(self, shape: PassShape) -> PassPrice:
        """The price of one pass, which depends only on whose pass it is."""
        machine = self.machine
        model, precision = machine.model, machine.target_precision
        if shape.kind is Kind.DRAFT:
            if machine.drafter is None:
                return FREE
            model, precision = machine.drafter, machine.draft_precision
        read_bytes = model.active_params * precision.nominal_bits / 8
        seconds = read_bytes / (machine.hardware.bandwidth_bytes_per_s * machine.tensor_parallel_size)
        return PassPrice(seconds, seconds, seconds, weights_s=seconds, weight_bytes=read_bytes)


@dataclass(frozen=True, slots=True)
class Fixed:
    """A given time a pass, whatever its kind or width; a draft pass may have one of its own (default: free).

    >>> Fixed(pass_s=0.015).price(PassShape(Kind.DECODE, (1,))).latency_s * 2000
    30.0
    """

    pass_s: float
    draft_s: float = 0.0
    machine: Machine | None = None

    @property
    def name(self) -> str:
        """``fixed:pass_ms=...``."""
        draft = f",draft_ms={self.draft_s * 1e3:g}" if self.draft_s else ""
        return f"fixed:pass_ms={self.pass_s * 1e3:g}{draft}"

    def price(self, shape: PassShape) -> PassPrice:
        """The price of one pass."""
        seconds = self.draft_s if shape.kind is Kind.DRAFT else self.pass_s
        return PassPrice(seconds, seconds, seconds, fixed=True)


_OPTIONS: dict[str, tuple[str, ...]] = {"floor": (), "roofline": (), "fixed": ("pass_ms", "draft_ms")}


def list_cost_models() -> list[str]:
    """Names of the cost models, sorted."""
    return sorted(_OPTIONS)


def cost_model(spec: str, machine: Machine | None = None) -> CostModel:
    """The cost model written as ``name`` or ``name:key=value,...``.

    Args:
        spec: ``roofline``, ``floor`` or ``fixed:pass_ms=15[,draft_ms=2]``.
        machine: what it prices on; ``fixed`` needs none.

    Raises:
        UsageError: an unknown name or option, a missing one, or a figure that is not a finite positive number.

    >>> cost_model("fixed:pass_ms=15").name
    'fixed:pass_ms=15'
    """
    from clover_sim.options import split_spec

    name, options = split_spec(spec)
    if name not in _OPTIONS:
        raise UsageError(f"unknown cost model {name!r}{suggest(name, _OPTIONS)}")
    known = _OPTIONS[name]
    for key in options:
        if key not in known:
            hint = suggest(key, known) if known else f"; {name} takes none"
            raise UsageError(f"cost model {name}: unknown option {key!r}{hint}")
    if name == "fixed":
        if "pass_ms" not in options:
            raise UsageError("cost model fixed: pass_ms is missing; write fixed:pass_ms=15")
        pass_s = _milliseconds("pass_ms", options["pass_ms"], above=True)
        return Fixed(pass_s, _milliseconds("draft_ms", options.get("draft_ms", "0")), machine)
    if machine is None:
        raise UsageError(f"cost model {name} needs a model and a GPU; or give a price, as in fixed:pass_ms=15")
    make: Callable[[Machine], CostModel] = Floor if name == "floor" else Roofline
    return make(machine)


def _milliseconds(key: str, text: str, above: bool = False) -> float:
    """Seconds from the text of an option in milliseconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (above and value == 0):
        least = "above 0" if above else "of at least 0"
        raise UsageError(f"cost model fixed: {key} is {text!r}; expected a number of milliseconds {least}")
    return value / 1000
