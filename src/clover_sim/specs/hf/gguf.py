"""GGUF metadata as JSON: its keys, turned into those of a configuration of the same family.

Both the flat form (``{"general.architecture": ...}``) and what ``gguf-dump --json`` prints are read.
"""

from __future__ import annotations

from typing import Any

from clover_sim.errors import InputError
from clover_sim.specs.hf.fields import shown
from clover_sim.specs.precision import weight_precision

_FAMILIES = {
    "llama": "llama", "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen3": "qwen3", "qwen3moe": "qwen3_moe",
    "qwen3next": "qwen3_next", "qwen35": "qwen3_5_text", "qwen35moe": "qwen3_5_moe_text", "gemma": "gemma",
    "gemma2": "gemma2", "gemma3": "gemma3_text", "phi3": "phi3", "deepseek2": "deepseek_v3", "gpt-oss": "gpt_oss",
    "glm4": "glm4", "glm4moe": "glm4_moe", "minimax-m2": "minimax_m2", "granite": "granite", "olmo2": "olmo2",
    "olmoe": "olmoe", "smollm3": "smollm3", "seed_oss": "seed_oss", "starcoder2": "starcoder2", "command-r": "cohere",
    "cohere2": "cohere2", "exaone4": "exaone4", "ernie4_5": "ernie4_5", "hunyuan-dense": "hunyuan_v1_dense",
    "mistral3": "ministral3", "dream": "dream", "bailingmoe2": "bailing_moe_v2", "llada-moe": "llada",
    "internlm2": "internlm2", "mimo2": "mimo_v2_flash",
}  # fmt: skip
"""Families by GGUF architecture."""

_KEYS = {
    "embedding_length": "hidden_size", "block_count": "num_hidden_layers", "feed_forward_length": "intermediate_size",
    "context_length": "max_position_embeddings", "vocab_size": "vocab_size",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim", "attention.sliding_window": "sliding_window", "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok", "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size", "expert_shared_count": "n_shared_experts",
    "leading_dense_block_count": "first_k_dense_replace", "full_attention_interval": "full_attention_interval",
    "ssm.conv_kernel": "linear_conv_kernel_dim", "ssm.state_size": "linear_key_head_dim",
    "ssm.group_count": "linear_num_key_heads", "ssm.time_step_rank": "linear_num_value_heads",
}  # fmt: skip
"""Keys of a configuration by GGUF key, after the architecture's own prefix."""

_LATENT = {"attention.q_lora_rank": "q_lora_rank", "attention.kv_lora_rank": "kv_lora_rank"}

_FILE_TYPES = {
    2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L",
    14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 23: "IQ3_XXS", 25: "IQ4_NL", 26: "IQ3_S",
    27: "IQ3_M", 30: "IQ4_XS", 38: "MXFP4",
}  # fmt: skip
"""Formats by ``general.file_type``, as llama.cpp numbers them; the others keep 16 bits and more, or are rare."""


def is_gguf(table: dict[str, Any]) -> bool:
    """Whether a decoded JSON file holds GGUF metadata."""
    if "general.architecture" in table:
        return True
    inner = table.get("metadata")
    return isinstance(inner, dict) and "general.architecture" in inner


def from_gguf(table: dict[str, Any], where: str) -> dict[str, Any]:
    """The configuration that GGUF metadata amounts to.

    Raises:
        InputError: the architecture has no family here, or a key that sets the size is missing.
    """
    tensors = table.get("tensors")
    nested = table.get("metadata")
    if "general.architecture" not in table and isinstance(nested, dict):
        table = nested
    flat = {
        key: value["value"] if isinstance(value, dict) and "value" in value else value for key, value in table.items()
    }
    name = flat["general.architecture"]
    family = _FAMILIES.get(name) if isinstance(name, str) else None
    if family is None:
        known = ", ".join(sorted(_FAMILIES))
        raise InputError(
            f"{where}: general.architecture is {shown(name)}; expected one of {known}, "
            "or the config.json of the model the file was made from"
        )
    config: dict[str, Any] = {}
    for key, target in _KEYS.items():
        value = flat.get(f"{name}.{key}")
        if value is not None:
            config[target] = _one(value, f"{name}.{key}", where)
    for key in ("block_count", "embedding_length"):
        if _KEYS[key] not in config:
            raise InputError(
                f"{where}: {name}.{key} is missing; expected a whole number, it sets the size of the model"
            )
    experts = config.get("num_experts")
    if family == "llama" and isinstance(experts, int) and experts > 0:
        family = "mixtral"
    if not experts:
        for key in ("num_experts", "num_experts_per_tok", "moe_intermediate_size"):
            config.pop(key, None)
    tokens = flat.get("tokenizer.ggml.tokens")
    if "vocab_size" not in config and isinstance(tokens, list) and len(tokens) > 1000:
        config["vocab_size"] = len(tokens)
    extra = flat.get(f"{name}.nextn_predict_layers")
    layers = config.get("num_hidden_layers")
    if isinstance(extra, int) and isinstance(layers, int) and 0 < extra < layers:
        config["num_hidden_layers"] = layers - extra  # llama.cpp counts layers for multi-token prediction too
    _latent(flat, f"{name}.", config)
    if family.startswith("qwen3_") and "linear_num_value_heads" in config and f"{name}.ssm.inner_size" in flat:
        inner, heads = flat[f"{name}.ssm.inner_size"], config["linear_num_value_heads"]
        if isinstance(inner, int) and isinstance(heads, int) and heads > 0:
            config["linear_value_head_dim"] = inner // heads
    tied = _tied(tensors)
    if tied is not None:
        config["tie_word_embeddings"] = tied
    kind = flat.get("general.file_type")
    if isinstance(kind, int) and kind in _FILE_TYPES:
        word = _FILE_TYPES[kind]
        bits = weight_precision(word).bits
        config["quantization_config"] = {"quant_method": "gguf", "bits": bits, "name": word}
    return {"model_type": family, **config}


def _one(value: Any, key: str, where: str) -> Any:
    """A figure that holds for all layers: a list must repeat it."""
    if not isinstance(value, list):
        return value
    figures = [item for item in value if item != 0]
    if not figures or any(item != figures[0] for item in figures):
        raise InputError(
            f"{where}: {key} differs from layer to layer; expected the model's config.json for such a model"
        )
    return figures[0]


def _latent(flat: dict[str, Any], prefix: str, config: dict[str, Any]) -> None:
    """Widths of latent attention, which GGUF states as lengths of whole heads."""
    if f"{prefix}attention.kv_lora_rank" not in flat:
        return
    for key, target in _LATENT.items():
        config[target] = flat.get(prefix + key)
    rope = flat.get(f"{prefix}rope.dimension_count")
    key_length = flat.get(f"{prefix}attention.key_length_mla", flat.get(f"{prefix}attention.key_length"))
    value_length = flat.get(f"{prefix}attention.value_length_mla", flat.get(f"{prefix}attention.value_length"))
    config.pop("head_dim", None)
    config.pop("num_key_value_heads", None)
    if isinstance(rope, int) and isinstance(key_length, int):
        config.update(qk_rope_head_dim=rope, qk_nope_head_dim=key_length - rope)
    if value_length is not None:
        config["v_head_dim"] = value_length


def _tied(tensors: Any) -> bool | None:
    """Whether the file has no output matrix of its own; ``None`` if it lists no tensors."""
    if isinstance(tensors, dict):
        return "output.weight" not in tensors
    if isinstance(tensors, list) and tensors:
        return not any((t.get("name") if isinstance(t, dict) else t) == "output.weight" for t in tensors)
    return None
