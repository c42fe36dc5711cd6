"""Fitting an engine's overheads to speeds measured on one machine, and using them again.

One measured speed fixes the host time of a pass; two or more also the fraction of the bandwidth that is reached.
Everything else keeps the constants of the engine's file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from clover_sim.cost.machine import Machine
from clover_sim.cost.roofline import price
from clover_sim.cost.surety import BAND as BAND
from clover_sim.cost.surety import at_point, elsewhere
from clover_sim.errors import InputError, UsageError, shown
from clover_sim.records import Kind, PassShape
from clover_sim.specs import EngineSpec, HardwareSpec, check
from clover_sim.specs.engine import Band, Known

SCHEMA = "clover-sim/calibration/1"
_BANDS = ("band_dense", "band_moe", "band_parallel")
_FLOORS = ("layer_s", "moe_layer_s", "moe_width_s", "index_layer_s", "quant_layer_s")
_FITTED = ("pass_s", *_FLOORS, "eta", "eta_experts", "eta_kv")


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured speed of plain decoding: tokens a second of all ``batch_size`` sequences together."""

    tokens_per_s: float
    batch_size: int = 1
    context_tokens: int = 1024

    def __post_init__(self) -> None:
        check.number("measurement", "tokens_per_s", self.tokens_per_s, above=True)
        check.whole("measurement", "batch_size", self.batch_size, 1)
        check.whole("measurement", "context_tokens", self.context_tokens)

    @property
    def step_s(self) -> float:
        """Time of one step."""
        return self.batch_size / self.tokens_per_s


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants of one engine on one accelerator, and the measurements they come from.

    Args:
        engine_name, hardware_name: whose constants they are. model: what was measured with.
        constants: ``(name, value)`` pairs of :class:`~clover_sim.specs.EngineConstants`.
        measured: the measurements. errors: what the calibrated price is off by for each, relative.
        precision, cards: format of the weights and cards that were measured with; empty and 0 if not known.
        factors: what a step elsewhere may cost of its price, as far as the measurements themselves leave it open.
        notes: where the difference went, and what the measurements cannot tell.
    """

    engine_name: str
    hardware_name: str
    model: str
    constants: tuple[tuple[str, float], ...]
    measured: tuple[Measured, ...] = ()
    errors: tuple[float, ...] = ()
    precision: str = ""
    cards: int = 0
    factors: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def band(self) -> Band:
        """Factors on the price of a plain step far from what was measured."""
        return elsewhere([*self.factors, *(1 / (1 + error) for error in self.errors)])

    @property
    def known(self) -> tuple[Known, ...]:
        """The measured steps with their bands."""
        if not self.precision or not self.cards:
            return ()
        return tuple(
            Known(self.model, self.precision, self.cards, m.batch_size, m.context_tokens, *at_point(error))
            for m, error in zip(self.measured, self.errors, strict=False)
        )

    def engine(self, name: str | None, hardware: HardwareSpec) -> EngineSpec:
        """The calibrated engine for ``hardware``.

        Raises:
            UsageError: another engine is asked for, or the hardware is not what was measured on.
        """
        from clover_sim.specs import load_engine

        if hardware.name != self.hardware_name:
            raise UsageError(
                f"the calibration was measured on {self.hardware_name}, not on {hardware.name}; "
                f"use --gpu {self.hardware_name}, or calibrate there"
            )
        spec = load_engine(name or self.engine_name)
        if spec.name != self.engine_name:
            raise UsageError(f"the calibration is of engine {self.engine_name}, not of {spec.name}; leave --engine out")
        return replace(calibrated(spec, hardware, dict(self.constants), self.band), known=self.known)

    def to_toml(self) -> str:
        """The file that ``--calibration`` takes."""
        from textwrap import wrap

        lines: list[str] = [
            "# Written by clover-sim calibrate; take it along with --calibration FILE.",
            f'schema = "{SCHEMA}"', f"engine = {check.toml_text(self.engine_name)}",
            f"hardware = {check.toml_text(self.hardware_name)}", f"model = {check.toml_text(self.model)}",
            f"precision = {check.toml_text(self.precision)}", f"cards = {self.cards}",
            f"factors = {list(self.factors)!r} # on the price far from what was measured",
            *(f"# {line}" for note in self.notes for line in wrap(note, 76)),
            "", "[constants]",
            *(f"{name} = {value!r}" for name, value in self.constants),
        ]  # fmt: skip
        for measured, error in zip(self.measured, self.errors, strict=True):
            lines += [
                "", f"[[measured]] # the calibrated price is off by {round(error, 6) + 0.0:+.1%}",
                f"tokens_per_s = {measured.tokens_per_s!r}", f"batch_size = {measured.batch_size}",
                f"context_tokens = {measured.context_tokens}", f"error = {round(error, 6) + 0.0!r}",
            ]  # fmt: skip
        return "\n".join(lines) + "\n"


    def to_dict(self) -> dict[str, Any]:
        """The JSON document ``clover-sim/calibration/1``, which ``--calibration`` takes as well."""
        return {
            "schema": SCHEMA, "engine": self.engine_name, "hardware": self.hardware_name, "model": self.model,
            "precision": self.precision, "cards": self.cards, "factors": list(self.factors),
            "constants": dict(self.constants),
            "measured": [
                {**{key: getattr(m, key) for key in Measured.__slots__}, "error": error}
                for m, error in zip(self.measured, self.errors, strict=True)
            ],
            "max_abs_error": max(map(abs, self.errors), default=0.0),
            "notes": list(self.notes),
        }  # fmt: skip


def calibrated(engine: EngineSpec, hardware: HardwareSpec, constants: dict[str, Any], band: Band = BAND) -> EngineSpec:
    """The engine with other constants on ``hardware``; its bands narrow to those of a measured machine."""
    changes = tuple({**constants, **dict.fromkeys(_BANDS, band)}.items())
    return replace(engine, overrides=(*engine.overrides, (hardware.name, changes)))


def calibrate(machine: Machine, measured: Sequence[Measured]) -> Calibration:
    """Fit the constants of ``machine``'s engine to speeds measured on it.

    With one measurement the host time of a pass takes up the difference (the floor of a mixture layer on Apple
    silicon, which is what differs there); if the machine is faster than without any host time, the floors of the
    layers shrink, and last the bandwidth fraction grows. With two or more, host time and bandwidth fraction are
    fitted together to the relative errors.

    Raises:
        UsageError: nothing was measured. InputError: a speed that no bandwidth fraction up to 1 can explain.
    """
    if not measured:
        raise UsageError("nothing to calibrate with: give --measured-tokens-per-s")
    points = [(m.step_s, *_parts(machine, m)) for m in measured]
    two = len({round(p[1], 9) for p in points}) > 1
    constants = _two(machine, points) if two else _one(machine, points)
    fitted = replace(machine, engine=calibrated(machine.engine, machine.hardware, constants))
    for _ in range(_ROUNDS if two else 0):  # near the ridge a part scales less than the bandwidth does
        constants = _two(fitted, [(m.step_s, *_parts(fitted, m)) for m in measured])
        fitted = replace(machine, engine=calibrated(machine.engine, machine.hardware, constants))
    errors = tuple(price(fitted, _shape(m)).latency_s / m.step_s - 1 for m in measured)
    names = machine.engine.name, machine.hardware.name, machine.model.name
    from clover_sim.cost.doubts import doubts

    other = None if two else _otherwise(machine, points)
    rival = replace(machine, engine=calibrated(machine.engine, machine.hardware, other)) if other else None
    factors, notes = doubts(machine, fitted, measured, rival)
    return Calibration(
        *names, tuple(constants.items()), tuple(measured), errors, machine.target_precision.name,
        machine.tensor_parallel_size, factors, notes,
    )  # fmt: skip


def load_calibration(path: str) -> Calibration:
    """Read what :meth:`Calibration.to_toml` or :meth:`Calibration.to_dict` wrote.

    Raises:
        InputError: the file cannot be used; one line with file and key.
    """
    from clover_sim.specs.load import read_table

    table = read_table(path)
    if table.get("schema") != SCHEMA:
        found = shown(table.get("schema"))
        raise InputError(f"{path}: schema is {found}; expected {SCHEMA!r}, what calibrate writes")
    check.keys(path, table, _KEYS)
    constants = table.get("constants")
    if not isinstance(constants, dict) or not constants:
        raise InputError(f"{path}: constants is {shown(constants)}; expected a table such as pass_s = 0.001")
    check.keys(f"{path}: constants", constants, _FITTED)
    for name, value in constants.items():
        high = 1.0 if name.startswith("eta") else check.UNLIMITED
        check.number(path, f"constants.{name}", value, 0, high, above=name.startswith("eta"))
    engine, hardware, model = (check.text(path, key, table.get(key)) for key in ("engine", "hardware", "model"))
    pairs = tuple((name, float(value)) for name, value in constants.items())
    measured, errors = _measured(path, table.get("measured", []))
    factors = table.get("factors", [])
    if not isinstance(factors, list):
        raise InputError(f"{path}: factors is {shown(factors)}; expected a list such as [1.2]")
    return Calibration(
        engine, hardware, model, pairs, measured, errors,
        check.text(path, "precision", table.get("precision", ""), empty=True),
        int(check.whole(path, "cards", table.get("cards", 0))),
        tuple(float(check.number(path, "factors", factor, above=True)) for factor in factors),
    )  # fmt: skip


_KEYS = (
    "schema", "engine", "hardware", "model", "precision", "cards", "factors", "constants", "measured",
    "max_abs_error", "notes",
)  # fmt: skip


_MOST_OFF = 1000


def _measured(path: str, entries: Any) -> tuple[tuple[Measured, ...], tuple[float, ...]]:
    """The measurements of a file with their errors; those without one are left out."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: measured is {shown(entries)}; expected tables [[measured]]")
    found, errors = [], []
    for entry in entries:
        check.keys(f"{path}: measured", entry, ("tokens_per_s", "batch_size", "context_tokens", "error"))
        if "error" not in entry:
            continue
        values = (entry.get(key) for key in ("tokens_per_s", "batch_size", "context_tokens"))
        try:
            found.append(Measured(*values))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        off = entry["error"]
        if isinstance(off, bool) or not isinstance(off, (int, float)) or not -1 < off < _MOST_OFF:
            raise InputError(f"{path}: measured: error is {shown(off)}; expected a number from -1 to {_MOST_OFF}")
        errors.append(float(off))
    return tuple(found), tuple(errors)


def _shape(measured: Measured) -> PassShape:
    sequences = measured.batch_size
    return PassShape(Kind.DECODE, (1,) * sequences, measured.context_tokens * sequences)


def _parts(machine: Machine, measured: Measured) -> tuple[float, float]:
    """Time of moving bytes (or of arithmetic) and everything else but the host time of a pass."""
    found = price(machine, _shape(measured))
    moving = found.memory_s + found.compute_s
    return moving, found.latency_s - moving - machine.constants.pass_s


_ROUNDS = 12

Point = tuple[float, float, float]
"""Measured time of a step, the part that scales with the bandwidth fraction, the rest without the host."""


def _one(machine: Machine, points: list[Point]) -> dict[str, float]:
    c, model = machine.constants, machine.model
    step, moving, rest = (fsum(values) / len(points) for values in zip(*points, strict=True))
    host = step - moving - rest
    if machine.hardware.vendor == "apple" and model.moe_layers:
        floor = c.moe_layer_s + (host - c.pass_s) / model.moe_layers
        if floor >= 0:
            return {"moe_layer_s": floor}
    if host >= 0:
        return {"pass_s": host}
    layers = machine.target_rates.layers_s
    if layers and layers + host >= 0:
        share = 1 + host / layers
        return {"pass_s": 0.0, **{name: getattr(c, name) * share for name in _FLOORS}}
    bare = step - rest + layers
    none = dict.fromkeys(_FLOORS, 0.0)
    return {"pass_s": 0.0, **none, **_fractions(machine, bare / moving if bare > 0 else 0.0)}


def _otherwise(machine: Machine, points: list[Point]) -> dict[str, float] | None:
    """What else would explain one speed: the bandwidth in place of the host; ``None`` where nothing would."""
    step, moving, rest = (fsum(values) / len(points) for values in zip(*points, strict=True))
    bare = step - rest - machine.constants.pass_s
    try:
        return _fractions(machine, bare / moving) if bare > 0 and moving else None
    except InputError:
        return None


def _two(machine: Machine, points: list[Point]) -> dict[str, float]:
    """Least squares of the relative error in the host time and in the scale of the moving part."""
    a = b = d = x = y = 0.0
    for step, moving, rest in points:
        u, v, w = 1 / step, moving / step, (step - rest) / step
        a, b, d, x, y = a + u * u, b + u * v, d + v * v, x + u * w, y + v * w
    det = a * d - b * b
    host, scale = (d * x - b * y) / det, (a * y - b * x) / det
    if host < 0:
        host, scale = 0.0, y / d
    highest = max(machine.constants.eta, machine.constants.eta_experts, machine.constants.eta_kv)
    if scale < highest:  # no fraction above 1: what is left is the host's
        scale = highest
        host = max(0.0, (x - b * scale) / a)
    return {"pass_s": host, **_fractions(machine, scale)}


def _fractions(machine: Machine, scale: float) -> dict[str, float]:
    c = machine.constants
    found = {name: getattr(c, name) / scale if scale > 0 else 2.0 for name in ("eta", "eta_experts", "eta_kv")}
    if max(found.values()) > 1 + 1e-9:
        raise InputError(
            f"{machine.model.name} on {machine.hardware.name}: the measured speed needs more than all of the memory "
            "bandwidth; check model, format (--precision), GPU and that the speed is of plain decoding"
        )
    return {name: min(1.0, value) for name, value in found.items()}
