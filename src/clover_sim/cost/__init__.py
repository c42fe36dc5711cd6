"""What a pass costs: a shape and a machine go in, seconds and their reasons come out."""

from __future__ import annotations

from clover_sim.cost.experts import BETAS, effective_tokens, expert_union
from clover_sim.cost.machine import Machine
from clover_sim.cost.memory import MemoryPicture, does_not_fit, memory_check, offloaded
from clover_sim.cost.models import CostModel, Fixed, Floor, Roofline, cost_model, list_cost_models
from clover_sim.cost.pricing import KindPrice, PricedRun, price_groups
from clover_sim.cost.roofline import PARTS, PassPrice, price

__all__ = [
    "BETAS", "PARTS", "CostModel", "Fixed", "Floor", "KindPrice", "Machine", "MemoryPicture", "PassPrice", "PricedRun",
    "Roofline", "cost_model", "does_not_fit", "effective_tokens", "expert_union", "list_cost_models", "memory_check",
    "offloaded",    "price", "price_groups",
]  # fmt: skip
