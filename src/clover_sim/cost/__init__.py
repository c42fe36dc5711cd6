"""What a pass costs: a shape and a machine go in, seconds and their reasons come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clover_sim.cost.experts import BETAS, effective_tokens, expert_union
from clover_sim.cost.machine import Machine
from clover_sim.cost.memory import MemoryPicture, memory_check
from clover_sim.cost.models import CostModel, Roofline, cost_model, list_cost_models
from clover_sim.cost.pricing import KindPrice, PricedRun, price_groups
from clover_sim.cost.roofline import PARTS, PassPrice, price

if TYPE_CHECKING:
    from clover_sim.cost.bounds import Fixed, Floor
    from clover_sim.cost.remedy import does_not_fit, offloaded

__all__ = [
    "BETAS", "PARTS", "CostModel", "Fixed", "Floor", "KindPrice", "Machine", "MemoryPicture", "PassPrice", "PricedRun",
    "Roofline", "cost_model", "does_not_fit", "effective_tokens", "expert_union", "list_cost_models", "memory_check",
    "offloaded", "price", "price_groups",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Advice is loaded where something does not fit, the other cost models where they are asked for."""
    if name in ("does_not_fit", "offloaded"):
        from clover_sim.cost import remedy

        return getattr(remedy, name)
    if name in ("Fixed", "Floor"):
        from clover_sim.cost import bounds

        return getattr(bounds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
