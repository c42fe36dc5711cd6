"""Models, hardware and engines: what a price is computed from. Each is one data file; see ``load``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clover_sim.specs.engine import EngineConstants, EngineSpec, default_engine, engine_from_table
from clover_sim.specs.hardware import HardwareSpec, hardware_from_table
from clover_sim.specs.load import (
    DEFAULT_DRAFTER,
    DEFAULT_HARDWARE,
    DEFAULT_MODEL,
    list_engines,
    list_hardware,
    list_models,
    load_engine,
    load_hardware,
    load_model,
)
from clover_sim.specs.model import ModelSpec, model_from_table
from clover_sim.specs.precision import KV_BITS, PRECISIONS, Precision, kv_bits, weight_precision

if TYPE_CHECKING:
    from clover_sim.specs.bare import bare_hardware, bare_model, bare_weights

__all__ = [
    "DEFAULT_DRAFTER", "DEFAULT_HARDWARE", "DEFAULT_MODEL", "KV_BITS", "PRECISIONS",
    "EngineConstants", "EngineSpec", "HardwareSpec", "ModelSpec", "Precision",
    "bare_hardware", "bare_model", "bare_weights", "default_engine", "engine_from_table", "hardware_from_table",
    "kv_bits",
    "list_engines", "list_hardware", "list_models", "load_engine", "load_hardware", "load_model",
    "model_from_table", "weight_precision",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Bare models and accelerators are loaded when they are asked for: most runs name theirs."""
    if name in ("bare_hardware", "bare_model", "bare_weights"):
        from clover_sim.specs import bare

        return getattr(bare, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
