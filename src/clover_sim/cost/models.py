"""The cost models that can be named: ``floor``, ``roofline`` and ``fixed:pass_ms=15``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from clover_sim.cost.machine import Machine
from clover_sim.cost.roofline import PassPrice, price
from clover_sim.errors import UsageError, suggest
from clover_sim.records import PassShape


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
        from clover_sim.cost.bounds import Fixed

        pass_s = _milliseconds("pass_ms", options["pass_ms"], above=True)
        return Fixed(pass_s, _milliseconds("draft_ms", options.get("draft_ms", "0")), machine)
    if machine is None:
        raise UsageError(f"cost model {name} needs a model and a GPU; or give a price, as in fixed:pass_ms=15")
    if name == "roofline":
        return Roofline(machine)
    from clover_sim.cost.bounds import Floor

    return Floor(machine)


def _milliseconds(key: str, text: str, above: bool = False) -> float:
    """Seconds from the text of an option in milliseconds."""
    try:
        value = float(text) if _FIGURE.issuperset(text) else math.nan
    except ValueError:
        value = math.nan
    if not (1e-9 <= value <= 1e9 or (value == 0 and not above)):
        least = "above 0" if above else "of at least 0"
        bounds = " (from 1e-9 to 1e9)" if math.isfinite(value) and value > 0 else ""
        raise UsageError(f"cost model fixed: {key} is {text!r}; expected a number of milliseconds {least}{bounds}")
    return value / 1000


_FIGURE = frozenset("0123456789+-.eE")
