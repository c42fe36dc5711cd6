"""Families that are a standard decoder: what sets each apart from Llama, dense ones first, then mixtures."""

from __future__ import annotations

from clover_sim.specs.hf.standard import Mixture, Style

_LLAMA = Style(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias")
_QWEN3 = Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", window="qwen")
_GEMMA2 = Style(qkv_bias="attention_bias", out_bias="attention_bias", norms=4, window="2")
_GLM = Style(qkv_bias="attention_bias")
_OLMO2 = Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="full")
_COHERE = Style(qkv_bias="attention_bias", out_bias="attention_bias", norms=1)
_GRANITE_MOE = Style(
    qkv_bias="attention_bias",
    out_bias="attention_bias",
    mixture=Mixture(width=("intermediate_size",), shared="shared_intermediate_size"),
)
_DEEPSEEK_LIKE = Mixture("first", shared="count")
_QWEN3_MOE = _QWEN3._replace(window="use", mixture=Mixture("step"))
_BAILING = Style(qkv_bias="use_qkv_bias", out_bias="use_bias", mlp_bias="use_bias", mixture=_DEEPSEEK_LIKE)

STYLES: dict[str, Style] = {
    "llama": _LLAMA,
    "exaone": _LLAMA,
    "internlm3": _LLAMA,
    "internlm": Style(qkv_bias="bias", out_bias="bias"),
    "minicpm": _LLAMA,
    "orion": Style(norm_bias=True),
    "pangu_embedded": Style(qkv_bias="bias", out_bias="bias"),
    "helium": _LLAMA._replace(out_bias=False),
    "arcee": _LLAMA._replace(gated=False),
    "nemotron": _LLAMA._replace(gated=False, norm_bias=True),
    "granite": _LLAMA,
    "granite_swa": _LLAMA._replace(sinks=True, window="types"),
    "cwm": Style(mlp_bias="mlp_bias", window="4"),
    "internlm2": Style(qkv_bias="bias", out_bias="bias"),
    "mistral": Style(window="all"),
    "ministral": Style(window="types"),
    "ministral3": Style(),
    "baichuan": Style(),
    "qwen2": Style(qkv_bias=True, window="qwen"),
    "mimo": Style(qkv_bias="attention_bias", window="qwen"),
    "dream": Style(qkv_bias=True),
    "qwen3": _QWEN3,
    "qwen3_vl_text": _QWEN3._replace(window=""),
    "sdar": _QWEN3,
    "smollm3": Style(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias", window="nope"),
    "seed_oss": Style(qkv_bias="attention_bias", out_bias="attention_out_bias", mlp_bias="mlp_bias"),
    "hunyuan_v1_dense": Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head"),
    "ernie4_5": Style(qkv_bias="use_bias", out_bias="use_bias", mlp_bias="use_bias"),
    "exaone4": Style(qk_norm="head", window="4"),
    "apertus": Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", gated=False, extra=2),
    "phi3": Style(window="all"),
    "starcoder2": Style("use_bias", "use_bias", "use_bias", norm_bias=True, gated=False, window="all"),
    "stablelm": Style(
        qkv_bias="use_qkv_bias",
        norm_bias=True,
        qk_norm="full",
        qk_norm_key="qk_layernorm",
        parallel="use_parallel_residual",
    ),
    "gemma": Style(qkv_bias="attention_bias", out_bias="attention_bias"),
    "gemma2": _GEMMA2,
    "vaultgemma": _GEMMA2._replace(norms=2),
    "gemma3_text": _GEMMA2._replace(qk_norm="head", window="6"),
    "glm": _GLM,
    "glm4": _GLM._replace(norms=4),
    "olmo": Style(qkv_bias="attention_bias", out_bias="attention_bias", norms=0, final=False),
    "olmo2": _OLMO2,
    "olmo3": _OLMO2._replace(window="4"),
    "cohere2": _COHERE._replace(window="4"),
    "mixtral": Style(window="all", mixture=Mixture(width=("intermediate_size",))),
    "qwen2_moe": Style(
        qkv_bias="qkv_bias",
        window="qwen",
        mixture=Mixture("step", shared="shared_expert_intermediate_size", shared_gate=True),
    ),
    "qwen3_moe": _QWEN3_MOE,
    "qwen3_vl_moe_text": _QWEN3_MOE._replace(window=""),
    "sdar_moe": _QWEN3_MOE,
    "mellum": _QWEN3._replace(window="types", mixture=Mixture("kinds")),
    "minimax_m2": Style(qk_norm="full", mixture=Mixture(width=("intermediate_size",))),
    "olmoe": _OLMO2._replace(mixture=Mixture(width=("intermediate_size",))),
    "flex_olmo": _OLMO2._replace(mixture=Mixture(width=("intermediate_size",))),
    "phimoe": Style(
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        norm_bias=True,
        head_bias="lm_head_bias",
        window="all",
        mixture=Mixture(width=("intermediate_size",)),
    ),
    "gpt_oss": Style(
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        sinks=True,
        window="2",
        mixture=Mixture(width=("intermediate_size",), router_bias=True, expert_bias=True),
    ),
    "granitemoe": _GRANITE_MOE._replace(mixture=Mixture(width=("intermediate_size",))),
    "granitemoeshared": _GRANITE_MOE,
    "granitemoe_swa": _GRANITE_MOE._replace(sinks=True, window="types"),
    "glm4_moe": _GLM._replace(qk_norm="head", qk_norm_key="use_qk_norm", mixture=_DEEPSEEK_LIKE),
    "deepseek": Style(qkv_bias="attention_bias", out_bias="attention_bias", mixture=_DEEPSEEK_LIKE),
    "pangu_pro_moe": Style(qkv_bias=True, out_bias=True, mixture=Mixture(shared="shared_expert_intermediate_size")),
    "solar_open": Style(qkv_bias="attention_bias", mixture=Mixture("all", shared="count")),
    "dots1": Style(
        qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", window="types", mixture=_DEEPSEEK_LIKE
    ),
    "hy_v3": Style(
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        mlp_bias="mlp_bias",
        qk_norm="head",
        mixture=Mixture("first", shared="count"),
    ),
    "exaone_moe": Style(qk_norm="head", window="4", mixture=Mixture("first", shared="count")),
    "llada2_moe": _BAILING._replace(qk_norm="head"),
    "bailing_moe": _BAILING,
    "bailing_moe_v2": _BAILING._replace(qk_norm="head"),
}
"""Style by family."""
