"""Will speculative decoding pay: tokens a cycle against the price of a cycle, and the answer in words.

The layer of costs: it prices with :mod:`clover_sim.cost` and takes acceptance from :mod:`clover_sim.acceptance`.
"""

from __future__ import annotations

from clover_sim.speculation.answer import Answer, Point, speculate
from clover_sim.speculation.cycles import Cycle, Measured, cycle
from clover_sim.speculation.heads import HEADS, drafter_model
from clover_sim.speculation.methods import ALIASES, METHODS, Shape, method_name, shape_of
from clover_sim.speculation.presets import WORKLOADS, preset

__all__ = [
    "ALIASES", "HEADS", "METHODS", "WORKLOADS", "Answer", "Cycle", "Measured", "Point", "Shape", "cycle",
    "drafter_model", "method_name", "preset", "shape_of", "speculate",
]  # fmt: skip
