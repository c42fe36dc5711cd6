"""Which family an unknown model resembles: by its class, which may name one, or by the keys that it states."""

from __future__ import annotations

import re
from typing import Any

from clover_sim.errors import InputError
from clover_sim.specs.hf.layers import EXPERTS

_ENDINGS = re.compile(r"(?:ForCausalLM|ForConditionalGeneration|LMHeadModel|ModelLM|LM|Model)$")
_WIDTHS = {"intermediate_size", "moe_intermediate_size"}
_SHAPE = {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}
_OTHERWISE = re.compile(r"mamba|ssm|linear_|rwkv|conv|recurr|ngram|hyper|hc_|lora_rank$")
"""Keys of layers that no standard decoder has."""
_CONTROLS = re.compile(r"token|rope|rotary|max_|_eps$|version|num_labels|pretraining|layers_block|chunk_size|seed|pad_")
_EAGLE = re.compile(r"forcausallmeagle\b|\beagle(?:\w*forcausallm|speculator|draftmodel|model)?$")
_NAMES = ("qwen3", "qwen2", "gemma3", "gemma2", "mistral", "phi3", "glm4")


def by_class(name: str) -> str:
    """The family that a class is named after, or an empty text.

    >>> by_class("Glm4MoeForCausalLM"), by_class("Qwen2_5_VLForConditionalGeneration"), by_class("MyForCausalLM")
    ('glm4_moe', 'qwen2_5_vl', '')
    """
    from clover_sim.specs.hf.families import known

    wanted = _ENDINGS.sub("", name).replace("_", "").lower()
    return next((family for family in known() if family.replace("_", "").lower() == wanted), "")


def drafter_of(table: dict[str, Any]) -> str:
    """The family of a drafter's configuration, or an empty text for a model's.

    >>> drafter_of({"architectures": ["LlamaForCausalLMEagle3"]}), drafter_of({"architectures": ["LlamaForCausalLM"]})
    ('eagle3', '')
    """
    classes = table.get("architectures")
    names = [*(classes if isinstance(classes, list) else ()), table.get("speculators_model_type")]
    words = " ".join(name for name in names if isinstance(name, str)).lower()
    if "dflash" in words or isinstance(table.get("dflash_config"), dict):
        return "dflash"
    if "eagle3" in words or table.get("draft_vocab_size") is not None:
        return "eagle3"
    return "eagle" if _EAGLE.search(words) else ""


def decoder_of(table: dict[str, Any]) -> dict[str, Any]:
    """The table of a drafter's layers with what stands around it."""
    inner = table.get("transformer_layer_config")
    if not isinstance(inner, dict):
        return table
    return {**{key: value for key, value in table.items() if key != "transformer_layer_config"}, **inner}


def by_keys(table: dict[str, Any], model_type: str) -> str:
    """The family whose keys a table has, or an empty text where it has others that bear on the count.

    >>> dense = dict.fromkeys(("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"), 8)
    >>> by_keys({**dense, "vocab_size": 9}, "mine"), by_keys({**dense, "vocab_size": 9, "mamba_d_state": 8}, "mine")
    ('llama', '')
    """
    stated = {key for key, value in table.items() if value not in (None, False)}
    if {"kv_lora_rank", "qk_rope_head_dim", "v_head_dim"} <= stated:
        return "deepseek_v32" if "index_head_dim" in stated else "deepseek_v3" if stated & set(EXPERTS) else ""
    if not stated >= _SHAPE or not stated & _WIDTHS or any(_OTHERWISE.search(key) for key in stated):
        return ""
    if not stated & set(EXPERTS):
        return next((name for name in _NAMES if name in model_type.lower().replace("_", "")), "llama")
    if "shared_expert_intermediate_size" in stated:
        return "qwen2_moe"
    if stated & {"n_shared_experts", "first_k_dense_replace"}:
        return "glm4_moe"
    return "qwen3_moe" if "moe_intermediate_size" in stated else "mixtral"


def unread(table: dict[str, Any], family: str, where: str) -> tuple[int, list[str]] | None:
    """Parameters of a table counted as that family, and its whole numbers that the count did not look at."""
    from clover_sim.specs.hf.defaults import defaults_of
    from clover_sim.specs.hf.families import find
    from clover_sim.specs.hf.fields import Fields

    found = find(family)
    seen = _Seen(table)
    try:
        plan = found[1](Fields(seen, where, family, defaults_of(family))) if found else None
    except InputError:
        return None
    if plan is None:
        return None
    blocks = [block for layer in plan.layers for block in layer.blocks]
    modules = [*plan.top, *(module for block in blocks for module in block.modules)]
    whole = {key for key, value in table.items() if type(value) is int and value > 1}
    left = sorted(key for key in whole - seen.keys_read if not _CONTROLS.search(key))
    return sum(module.matrix + module.vector for module in modules), left


class _Seen(dict[str, Any]):
    """A table that remembers which keys were looked at."""

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.keys_read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.keys_read.add(key)
        return super().__getitem__(key)
