"""Prices that do not work a pass out: the floor under every machine, and a time that is given."""

from __future__ import annotations

from dataclasses import dataclass

from clover_sim.cost.machine import Machine
from clover_sim.cost.roofline import FREE, PassPrice
from clover_sim.records import Kind, PassShape


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
