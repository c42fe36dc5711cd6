"""Parameters that are listed beside a language model: vision towers, and layers for multi-token prediction."""

from __future__ import annotations

from typing import Any

from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.parts import DENSE, ROUTED, Plan

_MTP_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers")

_PATCHES = {"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}
_SIGLIP = {"gemma3"}
_GEMMA4 = {"gemma4", "diffusion_gemma"}


def mtp_params(f: Fields, plan: Plan) -> int | None:
    """Parameters of the layers for multi-token prediction, if the file says that there are any.

    Each is taken as the last layer of the kind that attends and has the largest network, with a projection that joins
    two vectors, and three norms; its embedding and head are those of the model.
    """
    count = next((f.whole(key, low=0, high=LAYERS) for key in _MTP_KEYS if f.has(key)), 0)
    if not count:
        return None
    attending = [
        layer for layer in plan.layers if any(block.cache and block.cache.query_width for block in layer.blocks)
    ]
    whole = [
        layer for layer in attending
        if any(module.part in (ROUTED, DENSE) for block in layer.blocks for module in block.modules)
    ]  # fmt: skip
    if not whole:
        return None
    layer = whole[-1]
    own = sum(module.matrix + module.vector for block in layer.blocks for module in block.modules)
    return count * (own + 2 * plan.hidden * plan.hidden + 3 * plan.hidden)


def vision_params(table: dict[str, Any], where: str, model_type: str) -> int | None:
    """Parameters of the vision tower and what joins it to the language model, for the families whose form is known."""
    vision = table.get("vision_config")
    text = table.get("text_config")
    if not isinstance(vision, dict):
        return None
    f = Fields(vision, where, model_type, {}, "vision_config.")
    if model_type in _PATCHES:
        return _patches(f)
    if isinstance(text, dict) and isinstance(text.get("hidden_size"), int):
        if model_type in _SIGLIP:
            return _siglip(f, text["hidden_size"])
        if model_type in _GEMMA4:
            return _gemma4(f, text["hidden_size"])
    return None


def _patches(f: Fields) -> int | None:
    """Qwen3-VL and Qwen3.5: a plain encoder, positions as a table, one merger and one more for each deep stack."""
    needed = ("depth", "hidden_size", "intermediate_size", "out_hidden_size", "patch_size", "num_position_embeddings")
    if not all(f.has(key) for key in needed):
        return None
    depth, width, inner = f.whole("depth", high=LAYERS), f.whole("hidden_size"), f.whole("intermediate_size")
    out, patch, positions = f.whole("out_hidden_size"), f.whole("patch_size"), f.whole("num_position_embeddings")
    merge = f.whole("spatial_merge_size", high=HEADS) if f.has("spatial_merge_size") else 2
    frames = f.whole("temporal_patch_size", high=HEADS) if f.has("temporal_patch_size") else 2
    channels = f.whole("in_channels", high=HEADS) if f.has("in_channels") else 3
    stacks = len(f.items("deepstack_visual_indexes") or [])
    embed = width * channels * frames * patch * patch + width + positions * width
    layer = 4 * width + 4 * width * width + 4 * width + 2 * width * inner + inner + width
    joined = width * merge * merge
    merger = joined * joined + joined + joined * out + out
    # The first merger norms what it joins, the others what they have joined.
    return embed + depth * layer + merger + 2 * width + stacks * (merger + 2 * joined)


def _siglip(f: Fields, hidden: int) -> int | None:
    """Gemma 3: SigLIP without its pooling head, and a projection with a norm."""
    needed = ("num_hidden_layers", "hidden_size", "intermediate_size", "image_size", "patch_size")
    if not all(f.has(key) for key in needed) or f.table.get("vision_use_head") is not False:
        return None
    depth, width, inner = (
        f.whole("num_hidden_layers", high=LAYERS),
        f.whole("hidden_size"),
        f.whole("intermediate_size"),
    )
    patch = f.whole("patch_size")
    positions = (f.whole("image_size") // patch) ** 2
    embed = 3 * patch * patch * width + width + positions * width
    layer = 4 * width + 4 * width * width + 4 * width + 2 * width * inner + inner + width
    return embed + depth * layer + 2 * width + width * hidden + width


def _gemma4(f: Fields, hidden: int) -> int | None:
    """Gemma 4: two tables of positions, gated networks, four norms a layer, and a plain projection."""
    needed = ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "head_dim", "patch_size")
    if not all(f.has(key) for key in needed):
        return None
    depth, width = f.whole("num_hidden_layers", high=LAYERS), f.whole("hidden_size")
    heads, head_dim = f.whole("num_attention_heads", high=HEADS), f.whole("head_dim")
    kv_heads = f.maybe("num_key_value_heads", high=HEADS) or heads
    positions = f.maybe("position_embedding_size") or 10240
    patch = f.whole("patch_size")
    layer = (
        2 * width * (heads + kv_heads) * head_dim + 2 * head_dim + 3 * width * f.whole("intermediate_size") + 4 * width
    )
    return 2 * positions * width + 3 * patch * patch * width + depth * layer + width * hidden
