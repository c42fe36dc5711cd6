from __future__ import annotations
from dataclasses import dataclass
from typing import Any
from clover_sim.specs.hf.parts import Plan

@dataclass(frozen=True, slots=True)
class Quantisation:
    method: str = "none"

def quantisation_of(table: dict[str, Any], inner: dict[str, Any], quant: dict[str, Any] | None, plan: Plan, where: str) -> Quantisation:
    return Quantisation()
