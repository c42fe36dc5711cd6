"""LLaDA: the dense model with its own spellings, and the mixture of experts that shares its ``model_type``."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp
from clover_sim.specs.hf.fields import Fields
from clover_sim.specs.hf.layers import EXPERTS, layer_count, switches
from clover_sim.specs.hf.parts import EMBED, HEAD, NORM, Block, Layer, Module, Plan
from clover_sim.specs.hf.standard import Mixture, context, mixture_block, norms, shapes, top_modules


def _llada(f: Fields) -> Plan:
    if any(f.has(key) for key in EXPERTS):
        return _llada_moe(f)
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    if f.flag("multi_query_attention") and not f.has("n_kv_heads"):
        kv_heads = 1
    vocab = f.whole("embedding_size") if f.has("embedding_size") else f.whole("vocab_size")
    bias = f.flag("include_bias")
    qkv_bias = bias or f.flag("include_qkv_bias")
    block_type = f.word("block_type")
    if block_type not in (None, "llama", "sequential"):
        raise f.fail("block_type", "llama or sequential")
    gated = block_type == "llama"
    ratio = f.whole("mlp_ratio") if not f.has("mlp_hidden_size") else 0
    width = f.whole("mlp_hidden_size") if f.has("mlp_hidden_size") else ratio * hidden
    affine = 1 if f.flag("layer_norm_with_affine") else 0
    per_norm = affine + (1 if f.flag("bias_for_layer_norm") and affine else 0)
    qk_norm = "full" if f.flag("attention_layer_norm") else ""
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=qkv_bias, out_bias=bias, qk_norm=qk_norm)
    network = mlp(hidden, width, gated=gated, bias=bias)
    between = Block((Module("norms", NORM, 0, 2 * hidden * per_norm),))
    key = "weight_tying" if "weight_tying" in f.table else "tie_word_embeddings"
    tied = f.flag(key)
    if key not in f.table:
        f.note(f"{f.prefix}weight_tying missing: {f.family} default {str(tied).lower()}")
    top = [Module("embed_tokens", EMBED, vocab * hidden)]
    if not tied:
        top.append(Module("lm_head", HEAD, vocab * hidden, vocab * bias))
    top.append(Module("norm", NORM, 0, hidden * per_norm * (2 if f.flag("input_emb_norm") else 1)))
    layer = Layer((attention, network, between))
    return Plan(hidden, vocab, tied, tuple(top), (layer,) * count, context(f))


def _llada_moe(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    vocab = f.whole("vocab_size")
    bias = f.flag("attention_bias")
    qk_norm = "head" if f.flag("qk_layernorm") else ""
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm=qk_norm)
    which = [True] * count
    if isinstance(f.table.get("moe_layer_freq"), list):
        which = [flag == 1 for flag in switches(f, "moe_layer_freq", count)]
    width = ("expert_intermediate_size", "moe_intermediate_size", "intermediate_size")
    shared = "shared_expert_intermediate_size" if f.has("shared_expert_intermediate_size") else ""
    networks: dict[bool, Block] = {}
    if True in which:
        networks[True] = mixture_block(f, hidden, Mixture(width=width, shared=shared))
    if False in which:
        networks[False] = mlp(hidden, f.whole("dense_intermediate_size", "intermediate_size"))
    between = norms(hidden, 2)
    made = {flag: Layer((attention, network, between)) for flag, network in networks.items()}
    tied = f.tied()
    top = top_modules(f, hidden, vocab, tied, norm=hidden)
    return Plan(hidden, vocab, tied, top, tuple(made[flag] for flag in which), context(f))


BUILDERS = {"llada": _llada, "llada_moe": _llada_moe}
