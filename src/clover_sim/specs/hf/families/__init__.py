"""The families that are known: which builder a ``model_type`` gets, and what else it may be called.

Only the module of the family asked for is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from clover_sim.specs.hf.fields import Fields
from clover_sim.specs.hf.parts import Plan

Builder = Callable[[Fields], Plan]

MODULES: dict[str, str] = {
    name: module
    for module, names in {
        "gemma": "gemma3n_text gemma4_text diffusion_gemma_text",
        "latent": "deepseek_v2 deepseek_v3 deepseek_v32 glm_moe_dsa glm4_moe_lite minicpm3 youtu axk1 mistral4",
        "deepseek4": "deepseek_v4",
        "sparse": "llama4_text minimax_m3_vl_text ernie4_5_moe hunyuan_v1_moe hunyuan afmoe",
        "heads": "mimo_v2_flash step3p5 laguna",
        "delta": "qwen3_next qwen3_5_text qwen3_5_moe_text olmo_hybrid kimi_linear bailing_hybrid minimax "
        "minimax_text_01 lfm2 lfm2_moe",
        "mamba": "mamba falcon_mamba mamba2 bamba jamba falcon_h1 nemotron_h granitemoehybrid",
        "diffusion": "llada llada_moe",
        "nas": "nemotron-nas",
        "renamed": "chatglm qwen",
        "drafters": "eagle eagle3 dflash",
        "classic": "gpt2 gpt_bigcode gptj gpt_neox gpt_neo bloom mpt opt falcon phi cohere persimmon codegen dbrx",
    }.items()
    for name in names.split()
}

ALIASES: dict[str, str] = {
    "kimi_k2": "deepseek_v3", "kimi_k25": "deepseek_v3", "dreammodel": "dream", "Dream": "dream",
    "llada2_moe_veomni": "llada2_moe", "llada2": "llada2_moe", "sdar_moe_text": "sdar_moe", "SDAR": "sdar",
    "qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text", "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text", "qwen2_vl": "qwen2", "qwen2_vl_text": "qwen2", "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2", "gemma3": "gemma3_text", "gemma3n": "gemma3n_text", "gemma4": "gemma4_text",
    "diffusion_gemma": "diffusion_gemma_text", "llama4": "llama4_text", "minimax_m3": "minimax_m3_vl_text",
    "minimax_m3_vl": "minimax_m3_vl_text", "minimax_m2_5": "minimax_m2", "step3p7": "step3p5", "yi": "llama",
    "sarvam_mla": "deepseek_v3", "sarvam_moe": "glm4_moe", "iquestcoder": "llama", "Yi": "llama",
    "hunyuan_moe": "hunyuan_v1_moe", "exaone4_5_text": "exaone4",
    "Fast_dLLM_Qwen": "qwen2", "rnd1": "qwen3_moe", "RND1": "qwen3_moe", "a2d-llama": "llama", "a2d-qwen2": "qwen2",
    "a2d-qwen3": "qwen3", "qwen3_omni_moe_text": "qwen3_moe", "qwen2_5_omni_text": "qwen2", "glm4v_text": "glm4",
    "glm4v_moe_text": "glm4_moe", "glm4v": "glm4", "glm4v_moe": "glm4_moe", "phi3_v": "phi3", "xverse": "llama",
    "aquila": "llama", "stablelm_epoch": "stablelm", "minimax_m1": "minimax_text_01", "MiniMaxM1": "minimax_text_01",
    "PanguEmbedded": "pangu_embedded", "PanguProMoE": "pangu_pro_moe",
    "bailing_moe_linear": "bailing_hybrid", "RefinedWeb": "falcon", "RefinedWebModel": "falcon",
}  # fmt: skip
"""Other names of a family: wrappers around its text model, training repositories, derived models."""


def known() -> list[str]:
    """Every ``model_type`` that can be counted, sorted."""
    from clover_sim.specs.hf.families.dense import STYLES

    return sorted({*MODULES, *STYLES, *ALIASES})


def find(model_type: str) -> tuple[str, Builder] | None:
    """The family of a ``model_type`` and its builder, or ``None``."""
    family = ALIASES.get(model_type, model_type)
    module = MODULES.get(family)
    if module is not None:
        found: Builder = import_module(f"clover_sim.specs.hf.families.{module}").BUILDERS[family]
        return family, found
    from clover_sim.specs.hf.families.dense import STYLES

    style = STYLES.get(family)
    if style is None:
        return None
    from clover_sim.specs.hf.standard import build

    return family, build(style)
