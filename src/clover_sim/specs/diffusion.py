"""Which models write by diffusion, by the start of their names, and the block that each family was made for."""

from __future__ import annotations

from typing import NamedTuple

from clover_sim.specs.model import ModelSpec


class Family(NamedTuple):
    """Diffusion models whose name starts alike: default block size, and whether finished blocks stay in the cache."""

    start: str
    block_size: int
    block_causal: bool


FAMILIES = (
    Family("llada2", 32, True), Family("llada-moe", 64, False), Family("llada", 32, False),
    Family("dream", 32, False), Family("sdar", 4, True), Family("diffusiongemma", 256, True),
    Family("clover", 32, True),
)  # fmt: skip
"""First match wins. Sources: sglang dllm/config.py (LLaDA2, SDAR, DiffusionGemma), dInfer's README (LLaDA-MoE),
NVlabs/Fast-dLLM and hao-ai-lab/d3LLM (LLaDA, Dream), the release notes of Clover."""


def family_of(model: ModelSpec) -> Family | None:
    """The family of a diffusion model; ``None``: the model writes token by token, as far as its name says.

    >>> from clover_sim.specs import load_model
    >>> family_of(load_model("llada2.0-mini")).block_size, family_of(load_model("qwen3-8b"))
    (32, None)
    """
    return next((family for family in FAMILIES if model.name.startswith(family.start)), None)
