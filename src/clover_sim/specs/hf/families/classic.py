"""Older families: learned positions, biases everywhere, parallel blocks. GPT-2 to Falcon, Phi, Command R, DBRX."""

from __future__ import annotations

from typing import NamedTuple

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, Fields
from clover_sim.specs.hf.layers import layer_count
from clover_sim.specs.hf.parts import NORM, OTHER, Layer, Module, Plan
from clover_sim.specs.hf.standard import context, expert_counts, head_width, kv_head_count, norms, top_modules


class _Old(NamedTuple):
    """What a plan of these families needs beyond its shapes; biases and norms as in ``standard``."""

    kv_heads: int
    width: int
    qkv_bias: bool = True
    out_bias: bool = True
    mlp_bias: bool = True
    gated: bool = False
    norms: int = 2
    norm_bias: bool = True
    head_bias: bool = False
    positions: int = 0
    window: int | None = None
    extra: int = 0
    final: bool = True


def _shapes(f: Fields) -> tuple[int, int, int]:
    hidden = f.whole("hidden_size", "n_embd", "d_model", required=True)
    heads = f.whole("num_attention_heads", "n_head", "n_heads", "num_heads", high=HEADS)
    return hidden, heads, head_width(f, hidden, heads)


def _plan(f: Fields, old: _Old, *extra_top: Module) -> Plan:
    count = layer_count(f)
    hidden, heads, head_dim = _shapes(f)
    vocab = f.whole("vocab_size")
    attention = gqa(hidden, heads, old.kv_heads, head_dim, bias=old.qkv_bias, out_bias=old.out_bias, window=old.window)
    network = mlp(hidden, old.width, gated=old.gated, bias=old.mlp_bias)
    layer = Layer((attention, network, norms(hidden, old.norms, old.norm_bias, old.extra)))
    tied = f.tied()
    last = hidden * (1 + old.norm_bias) * old.final
    top = top_modules(f, hidden, vocab, tied, norm=last, head_bias=old.head_bias)
    if old.positions:
        extra_top = (Module("positions", OTHER, 0, old.positions * hidden), *extra_top)
    return Plan(hidden, vocab, tied, (*top, *extra_top), (layer,) * count, context(f))


def _inner(f: Fields, hidden: int, *keys: str) -> int:
    """Feed-forward width: stated, else four times the width."""
    return f.maybe(*keys) or 4 * hidden


def _gpt2(f: Fields, multi_query: bool = False) -> Plan:
    hidden, heads, _ = _shapes(f)
    kv_heads = 1 if multi_query and f.flag("multi_query") else heads
    positions = f.whole("n_positions", "max_position_embeddings")
    if f.flag("add_cross_attention"):
        raise f.fail("add_cross_attention", "false: only decoders without an encoder can be counted")
    return _plan(f, _Old(kv_heads, _inner(f, hidden, "n_inner"), positions=positions))


def _gptj(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    width = _inner(f, hidden, "n_inner")
    return _plan(f, _Old(heads, width, qkv_bias=False, out_bias=False, norms=1, head_bias=True))


def _neox(f: Fields) -> Plan:
    _, heads, _ = _shapes(f)
    bias = f.flag("attention_bias")
    return _plan(f, _Old(heads, f.whole("intermediate_size"), qkv_bias=bias, out_bias=bias))


def _neo(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    f.note("local layers of gpt_neo are listed with the whole context")
    positions = f.whole("max_position_embeddings")
    return _plan(f, _Old(heads, _inner(f, hidden, "intermediate_size"), qkv_bias=False, positions=positions))


def _bloom(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    return _plan(f, _Old(heads, 4 * hidden), Module("embed_norm", NORM, 0, 2 * hidden))


def _mpt(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    if not f.flag("no_bias"):
        raise f.fail("no_bias", "true: the modelling code builds MPT without biases")
    nested = f.table.get("attn_config")
    inner = Fields(nested if isinstance(nested, dict) else {}, f.where, f.family, {}, f.prefix + "attn_config.")
    if inner.flag("qk_ln") or inner.word("attn_type") not in (None, "multihead_attention"):
        raise inner.wrong(f"{inner.prefix}qk_ln or attn_type is set; expected plain multi-head attention")
    if f.whole("expansion_ratio", high=HEADS) != 4:
        raise f.fail("expansion_ratio", "4, which the modelling code builds whatever stands here")
    width = 4 * hidden
    return _plan(f, _Old(heads, width, qkv_bias=False, out_bias=False, mlp_bias=False, norm_bias=False))


def _opt(f: Fields) -> Plan:
    hidden, heads, head_dim = _shapes(f)
    bias, affine = f.flag("enable_bias"), f.flag("layer_norm_elementwise_affine")
    inner = f.maybe("word_embed_proj_dim") or hidden
    count, vocab = layer_count(f), f.whole("vocab_size")
    # Two positions are kept free in front of the table.
    positions = f.whole("max_position_embeddings") + 2
    attention = gqa(hidden, heads, heads, head_dim, bias=bias, out_bias=bias)
    network = mlp(hidden, f.whole("ffn_dim"), gated=False, bias=bias)
    layer = Layer((attention, network, norms(hidden, 2 if affine else 0, True)))
    tied = f.tied()
    final = affine and f.flag("do_layer_norm_before") and not f.flag("_remove_final_layer_norm")
    top = top_modules(f, inner, vocab, tied, norm=2 * hidden if final else 0)
    top += (Module("positions", OTHER, 0, positions * hidden),)
    if inner != hidden:
        top += (Module("projections", OTHER, 2 * inner * hidden),)
    return Plan(hidden, vocab, tied, top, (layer,) * count, context(f))


def _falcon(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    bias = f.flag("bias")
    new = f.flag("new_decoder_architecture")
    kv_heads = 1 if f.flag("multi_query") and not new else heads
    if new:
        kv_heads = kv_head_count(f, heads)
    parallel = f.flag("parallel_attn")
    stated = f.maybe("num_ln_in_parallel_attn", high=2)
    count = 2 if not parallel or (stated == 2 or (stated is None and new)) else 1
    width = _inner(f, hidden, "ffn_hidden_size")
    return _plan(f, _Old(kv_heads, width, qkv_bias=bias, out_bias=bias, mlp_bias=bias, norms=count))


def _phi(f: Fields) -> Plan:
    _, heads, head_dim = _shapes(f)
    extra = 4 * head_dim if f.flag("qk_layernorm") else 0
    return _plan(f, _Old(kv_head_count(f, heads), f.whole("intermediate_size"), norms=1, head_bias=True, extra=extra))


def _cohere(f: Fields) -> Plan:
    _, heads, head_dim = _shapes(f)
    kv_heads = kv_head_count(f, heads)
    bias = f.flag("attention_bias")
    extra = (heads + kv_heads) * head_dim if f.flag("use_qk_norm") else 0
    width = f.whole("intermediate_size")
    return _plan(
        f,
        _Old(kv_heads, width, bias, bias, mlp_bias=False, gated=True, norms=1, norm_bias=False, extra=extra),
    )


def _persimmon(f: Fields) -> Plan:
    _, heads, head_dim = _shapes(f)
    extra = 4 * head_dim if f.flag("qk_layernorm") else 0
    return _plan(f, _Old(heads, f.whole("intermediate_size"), extra=extra))


def _codegen(f: Fields) -> Plan:
    hidden, heads, _ = _shapes(f)
    width = _inner(f, hidden, "n_inner")
    return _plan(f, _Old(heads, width, qkv_bias=False, out_bias=False, norms=1, head_bias=True))


def _dbrx(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, head_dim = _shapes(f)
    vocab = f.whole("vocab_size")
    nested = []
    for key in ("attn_config", "ffn_config"):
        table = f.table.get(key)
        if not isinstance(table, dict):
            raise f.fail(key, "a table")
        nested.append(Fields(table, f.where, f.family, {}, f"{f.prefix}{key}."))
    kv_heads = nested[0].whole("kv_n_heads", high=HEADS)
    experts, per_token = expert_counts(nested[1])
    attention = gqa(hidden, heads, kv_heads, head_dim)
    network = moe(hidden, experts, per_token, nested[1].whole("ffn_hidden_size"))
    tied = f.tied()
    layer = Layer((attention, network, norms(hidden, 2)))
    return Plan(hidden, vocab, tied, top_modules(f, hidden, vocab, tied, norm=hidden), (layer,) * count, context(f))


BUILDERS = {
    "gpt2": _gpt2,
    "gpt_bigcode": lambda f: _gpt2(f, multi_query=True),
    "gptj": _gptj,
    "gpt_neox": _neox,
    "gpt_neo": _neo,
    "bloom": _bloom,
    "mpt": _mpt,
    "opt": _opt,
    "falcon": _falcon,
    "phi": _phi,
    "cohere": _cohere,
    "persimmon": _persimmon,
    "codegen": _codegen,
    "dbrx": _dbrx,
}
