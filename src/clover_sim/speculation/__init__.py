"""Will speculative decoding pay: tokens a cycle against the price of a cycle, and the answer in words.

The layer of costs: it prices with :mod:`clover_sim.cost` and takes acceptance from :mod:`clover_sim.acceptance`. Names
are loaded when first used: a comparison needs the heads alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clover_sim.speculation.answer import Answer as Answer
    from clover_sim.speculation.answer import Point as Point
    from clover_sim.speculation.cycles import Cycle as Cycle
    from clover_sim.speculation.cycles import Measured as Measured
    from clover_sim.speculation.cycles import cycle as cycle
    from clover_sim.speculation.heads import HEADS as HEADS
    from clover_sim.speculation.heads import drafter_model as drafter_model
    from clover_sim.speculation.methods import ALIASES as ALIASES
    from clover_sim.speculation.methods import METHODS as METHODS
    from clover_sim.speculation.methods import Shape as Shape
    from clover_sim.speculation.methods import method_name as method_name
    from clover_sim.speculation.methods import shape_of as shape_of
    from clover_sim.speculation.presets import WORKLOADS as WORKLOADS
    from clover_sim.speculation.presets import preset as preset
    from clover_sim.speculation.question import speculate as speculate

_HOMES = {
    "answer": ("Answer", "Point"), "question": ("speculate",), "cycles": ("Cycle", "Measured", "cycle"),
    "heads": ("HEADS", "drafter_model"), "methods": ("ALIASES", "METHODS", "Shape", "method_name", "shape_of"),
    "presets": ("WORKLOADS", "preset"),
}  # fmt: skip

__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
