"""Hybrids with linear attention: Qwen3-Next and 3.5, OLMo Hybrid, Kimi Linear, MiniMax, LFM2."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa, mla
from clover_sim.specs.hf.families.latent import latent_widths
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, Fields
from clover_sim.specs.hf.layers import (
    FULL,
    RECURRENT,
    WINDOWED,
    indexes,
    interval,
    layer_count,
    sparse,
    switches,
    words,
)
from clover_sim.specs.hf.parts import Block, Layer, Plan
from clover_sim.specs.hf.recurrent import gated_delta, kimi_delta, lightning, short_conv
from clover_sim.specs.hf.standard import (
    Mixture,
    context,
    expert_counts,
    kv_head_count,
    mixture_block,
    norms,
    shapes,
    top_modules,
)

_QWEN = Mixture("step", shared="shared_expert_intermediate_size", shared_gate=True)
_COUNTED = Mixture("first", shared="count")
_STATE_WORDS = ("float32", "bfloat16", "float16", "float64")


def state_bits(f: Fields, *keys: str) -> int:
    """Width of an element of recurrent state: what the file says, else 32, which engines keep."""
    word = f.word(*keys, choices=_STATE_WORDS)
    return {None: 32, "float32": 32, "float64": 64}.get(word, 16)


def _assemble(
    f: Fields, hidden: int, mixers: list[Block], networks: list[Block], bits: int = 32, own_head: bool = False
) -> Plan:
    """A plan from two lists with one entry a layer. own_head: the code never ties."""
    vocab = f.whole("vocab_size")
    between = norms(hidden, 2)
    made: dict[tuple[int, int], Layer] = {}
    layers = [
        made.setdefault((id(mixer), id(network)), Layer((mixer, network, between)))
        for mixer, network in zip(mixers, networks, strict=True)
    ]
    tied = f.untied() if own_head else f.tied()
    top = top_modules(f, hidden, vocab, tied, norm=hidden)
    return Plan(hidden, vocab, tied, top, tuple(layers), context(f), bits)


def _full(f: Fields, count: int, key: str = "full_attention_interval", default: int = 4) -> list[bool]:
    """Whether each layer attends in full."""
    types = words(f, count, FULL + RECURRENT, "layer_types", "layers_block_type")
    if types is not None:
        return [word in FULL for word in types]
    return interval(f, count, key, default)


def _delta(f: Fields, hidden: int) -> Block:
    key_heads = f.whole("linear_num_key_heads", high=HEADS)
    value_heads = f.whole("linear_num_value_heads", high=HEADS)
    if value_heads % key_heads:
        raise f.wrong(
            f"{f.prefix}linear_num_value_heads is {value_heads}; "
            f"expected a multiple of linear_num_key_heads {key_heads}"
        )
    key_dim, value_dim = f.whole("linear_key_head_dim"), f.whole("linear_value_head_dim")
    return gated_delta(
        hidden, key_heads, value_heads, key_dim, value_dim, f.whole("linear_conv_kernel_dim", high=HEADS)
    )


def _choose(flags: list[bool], yes: Block | None, no: Block | None) -> list[Block]:
    """One block a layer; a block no layer has is never built."""
    chosen = [yes if flag else no for flag in flags]
    return [block for block in chosen if block is not None]


def _qwen(f: Fields, experts: bool) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    full = _full(f, count)
    bias = f.flag("attention_bias")
    gate = "full" if "attn_output_gate" not in f.table or f.flag("attn_output_gate") else ""
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head", gate=gate)
    which = [False] * count
    if experts:
        # Qwen3.5 has experts in every layer, whatever the older keys say.
        which = sparse(f, count, "step" if f.family == "qwen3_next" else "all")
    network = _choose(
        which,
        mixture_block(f, hidden, _QWEN) if True in which else None,
        mlp(hidden, f.whole("intermediate_size")) if False in which else None,
    )
    mixers = _choose(full, attention, _delta(f, hidden) if False in full else None)
    return _assemble(f, hidden, mixers, network, state_bits(f, "mamba_ssm_dtype"))


def _olmo_hybrid(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    full = _full(f, count)
    if True not in full:  # the code makes one layer attend where the pattern leaves none
        full[-1] = True
    bias = f.flag("attention_bias")
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="full")
    for key in ("linear_num_key_heads", "linear_num_value_heads"):
        f.defaults.setdefault(key, heads)
    f.defaults.setdefault("linear_key_head_dim", int(0.75 * hidden / f.whole("linear_num_key_heads", high=HEADS)))
    f.defaults.setdefault("linear_value_head_dim", 2 * f.whole("linear_key_head_dim"))
    mixers = _choose(full, attention, _delta(f, hidden))
    network = mlp(hidden, f.whole("intermediate_size"))
    return _assemble(f, hidden, mixers, [network] * count)


def _kimi_linear(f: Fields) -> Plan:
    count = layer_count(f)
    hidden = f.whole("hidden_size", required=True)
    for key in ("routed_expert_hidden_size", "mla_use_output_gate", "attn_res_block_size"):
        if f.table.get(key):
            raise f.wrong(
                f"{f.prefix}{key} is {f.table[key]!r}: Kimi K3, whose modelling code is not public, cannot be counted; "
                "nearest: kimi_linear without it, or give --params-b and --active-b"
            )
    nested = f.table.get("linear_attn_config")
    if isinstance(nested, dict):
        inner = Fields(nested, f.where, f.family, f.defaults, f.prefix + "linear_attn_config.")
        heads, head_dim = inner.whole("num_heads", high=HEADS), inner.whole("head_dim")
        kernel = inner.whole("short_conv_kernel_size", high=HEADS)
        attends = indexes(inner, "full_attn_layers", first=1)
        full = [index in attends for index in range(count)]
    else:
        heads, head_dim = f.whole("linear_num_heads", high=HEADS), f.whole("linear_head_dim")
        kernel = f.whole("linear_conv_kernel_dim", high=HEADS)
        types = words(f, count, FULL + RECURRENT, "layer_types")
        if types is None:
            f.note(f"{f.prefix}layer_types missing: {f.family} default, every 4. layer after the first attends to all")
        full = [i > 0 and i % 4 == 0 for i in range(count)] if types is None else [word in FULL for word in types]
    latent = mla(hidden, *latent_widths(f), bias=f.flag("attention_bias")) if True in full else None
    which = sparse(f, count, "first")
    network = _choose(
        which,
        mixture_block(f, hidden, _COUNTED) if True in which else None,
        mlp(hidden, f.whole("intermediate_size")) if False in which else None,
    )
    mixers = _choose(full, latent, kimi_delta(hidden, heads, head_dim, kernel))
    return _assemble(f, hidden, mixers, network, own_head=True)


def _bailing_hybrid(f: Fields) -> Plan:
    count = layer_count(f)
    hidden = f.whole("hidden_size", required=True)
    full = _full(f, count, "layer_group_size", 6)
    widths = latent_widths(f)
    head_dim = f.whole("head_dim")
    which = sparse(f, count, "first")
    network = _choose(
        which,
        mixture_block(f, hidden, _COUNTED) if True in which else None,
        mlp(hidden, f.whole("intermediate_size")) if False in which else None,
    )
    latent = mla(hidden, *widths, bias=f.flag("attention_bias"), gate_width=widths[0])
    delta = kimi_delta(hidden, widths[0], head_dim, f.whole("short_conv_kernel_size", high=HEADS), low_rank=False)
    return _assemble(f, hidden, _choose(full, latent, delta), network, own_head=True)


def _minimax(f: Fields) -> Plan:
    """MiniMax-Text-01 and its transformers form: lightning attention, softmax in some layers, all mixtures."""
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    if f.has("attn_type_list"):
        full = [flag == 1 for flag in switches(f, "attn_type_list", count)]
    else:
        types = words(f, count, FULL + RECURRENT, "layer_types")
        if types is None:
            f.note(f"{f.prefix}layer_types missing: {f.family} default, full attention in every other layer")
        full = [index % 2 == 0 for index in range(count)] if types is None else [word in FULL for word in types]
    experts, per_token = expert_counts(f)
    shared = (f.maybe("shared_intermediate_size", low=0) or 0) if f.has("shared_intermediate_size") else 0
    network = moe(hidden, experts, per_token, f.whole("intermediate_size"), shared_width=shared)
    mixers = _choose(full, gqa(hidden, heads, kv_heads, head_dim), lightning(hidden, heads, head_dim))
    return _assemble(f, hidden, mixers, [network] * count)


def _lfm2(f: Fields, experts: bool) -> Plan:
    count = layer_count(f)
    hidden = f.whole("hidden_size", "block_dim", required=True)
    heads = f.whole("num_attention_heads", "num_heads", high=HEADS)
    kv_heads = kv_head_count(f, heads)
    head_dim = f.maybe("head_dim") or hidden // heads
    types = words(f, count, FULL + WINDOWED + RECURRENT, "layer_types")
    if types is not None:
        full = [word not in RECURRENT for word in types]
    elif f.has("full_attn_idxs"):
        attends = indexes(f, "full_attn_idxs")
        full = [index in attends for index in range(count)]
    else:
        f.note(f"{f.prefix}layer_types missing: {f.family} default, full attention in every layer")
        full = [True] * count
    filtered = short_conv(hidden, f.whole("conv_L_cache", high=HEADS), bias=f.flag("conv_bias"))
    mixers = _choose(full, gqa(hidden, heads, kv_heads, head_dim, qk_norm="head"), filtered)
    width = f.whole("block_ff_dim", "intermediate_size")
    if not experts:
        if f.flag("block_auto_adjust_ff_dim"):
            multiplier = f.table.get("block_ffn_dim_multiplier", 1.0)
            if isinstance(multiplier, bool) or not isinstance(multiplier, (int, float)) or not 0 < multiplier < 1000:
                raise f.fail("block_ffn_dim_multiplier", "a number above 0")
            step = f.whole("block_multiple_of")
            width = int(multiplier * (2 * width // 3))
            width = step * ((width + step - 1) // step)
        return _assemble(f, hidden, mixers, [mlp(hidden, width)] * count)
    dense = f.whole("num_dense_layers", low=0)
    block = mixture_block(f, hidden, Mixture()) if dense < count else None
    network = _choose([index >= dense for index in range(count)], block, mlp(hidden, width))
    return _assemble(f, hidden, mixers, network)


BUILDERS = {
    "qwen3_next": lambda f: _qwen(f, True),
    "qwen3_5_text": lambda f: _qwen(f, False),
    "qwen3_5_moe_text": lambda f: _qwen(f, True),
    "olmo_hybrid": _olmo_hybrid,
    "kimi_linear": _kimi_linear,
    "bailing_hybrid": _bailing_hybrid,
    "minimax": _minimax,
    "minimax_text_01": _minimax,
    "lfm2": lambda f: _lfm2(f, False),
    "lfm2_moe": lambda f: _lfm2(f, True),
}
