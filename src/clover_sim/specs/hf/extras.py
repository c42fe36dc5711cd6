"""Parameters that are listed beside a language model: vision towers, and layers for multi-token prediction."""

from __future__ import annotations

from typing import Any

from clover_sim.specs.hf.fields import Fields
from clover_sim.specs.hf.parts import Plan


def mtp_params(f: Fields, plan: Plan) -> int | None:
    return None


def vision_params(table: dict[str, Any], where: str, model_type: str) -> int | None:
    return None
