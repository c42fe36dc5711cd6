"""Mixtures whose layers differ more than a style can say: Llama 4, MiMo-V2, MiniMax M3, Step 3.5, Laguna and kin."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.layers import FULL, WINDOWED, indexes, layer_count, sparse, switches, words
from clover_sim.specs.hf.parts import ATTENTION, Block, Cache, Layer, Module, Plan
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


def _finish(
    f: Fields, hidden: int, mixers: list[Block], networks: list[Block], between: Block, head_bias: bool = False
) -> Plan:
    vocab = f.whole("vocab_size")
    made: dict[tuple[int, int], Layer] = {}
    layers = tuple(
        made.setdefault((id(mixer), id(network)), Layer((mixer, network, between)))
        for mixer, network in zip(mixers, networks, strict=True)
    )
    tied = f.tied()
    top = top_modules(f, hidden, vocab, tied, norm=hidden, head_bias=head_bias)
    return Plan(hidden, vocab, tied, top, layers, context(f))


def _networks(
    f: Fields, hidden: int, which: list[bool], mixture: Block | None, dense: str, bias: bool = False
) -> list[Block]:
    plain = mlp(hidden, f.whole(dense), bias=bias) if False in which else None
    chosen = [mixture if flag else plain for flag in which]
    return [block for block in chosen if block is not None]


def _llama4(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    bias = f.flag("attention_bias")
    if f.has("moe_layers"):
        routed = indexes(f, "moe_layers")
        which = [index in routed for index in range(count)]
    else:
        step = f.whole("interleave_moe_layer_step", high=LAYERS)
        which = [(index + 1) % step == 0 for index in range(count)]
    chunk = f.maybe("attention_chunk_size")
    types = words(f, count, FULL + WINDOWED, "layer_types")
    if types is not None:
        full = [word in FULL for word in types]
    else:
        step = f.whole("no_rope_layer_interval", high=LAYERS)
        rope = switches(f, "no_rope_layers", count) if f.table.get("no_rope_layers") else []
        full = [not (rope[index] if rope else (index + 1) % step) for index in range(count)]
    made = {
        flag: gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, window=None if flag else chunk)
        for flag in set(full)
    }
    width = f.whole("intermediate_size")
    mixture = moe(hidden, *expert_counts(f), width, shared_width=width) if True in which else None
    networks = _networks(f, hidden, which, mixture, "intermediate_size_mlp")
    return _finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


def _mimo2(f: Fields) -> Plan:
    """MiMo-V2-Flash: windowed layers have K/V heads, widths and sinks of their own."""
    count = layer_count(f)
    hidden = f.whole("hidden_size", required=True)
    heads = f.whole("num_attention_heads", high=HEADS)
    kv_heads = kv_head_count(f, heads)
    head_dim = f.whole("head_dim")
    value = f.whole("v_head_dim")
    types = words(f, count, FULL + WINDOWED, "layer_types")
    if types is not None:
        full = [word in FULL for word in types]
    elif f.has("hybrid_layer_pattern"):
        full = [flag == 0 for flag in switches(f, "hybrid_layer_pattern", count)]
    else:
        f.note(f"{f.prefix}layer_types missing: {f.family} default, the first and every 6. layer attend to all")
        full = [index == 0 or (index + 1) % 6 == 0 for index in range(count)]
    bias = f.flag("attention_bias")
    window = f.maybe("sliding_window", "sliding_window_size")
    near = (
        f.maybe("swa_num_attention_heads", high=HEADS) or heads,
        f.maybe("swa_num_key_value_heads", high=HEADS) or 2 * kv_heads,
        f.maybe("swa_head_dim") or head_dim,
        f.maybe("swa_v_head_dim") or value,
    )
    if near[0] % near[1]:
        raise f.wrong(
            f"{f.prefix}swa_num_attention_heads is {near[0]}; expected a multiple of swa_num_key_value_heads {near[1]}"
        )
    sinks = f.flag("add_swa_attention_sink_bias", default=True), f.flag("add_full_attention_sink_bias", default=False)
    made = {
        True: gqa(hidden, heads, kv_heads, head_dim, value_dim=value, bias=bias, sinks=sinks[1]),
        False: gqa(hidden, *near[:3], value_dim=near[3], bias=bias, sinks=sinks[0], window=window),
    }
    which = _first_dense(f, count)
    mixture = mixture_block(f, hidden, Mixture(shared="count")) if True in which else None
    networks = _networks(f, hidden, which, mixture, "intermediate_size")
    return _finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


def _first_dense(f: Fields, count: int, dense: int = 1) -> list[bool]:
    """Whether each layer is a mixture; the first ``dense`` are not where the file says nothing."""
    if any(f.has(key) for key in ("mlp_layer_types", "moe_layer_freq", "first_k_dense_replace")):
        return sparse(f, count, "first")
    f.note(f"{f.prefix}mlp_layer_types missing: {f.family} default, mixtures after the first {dense} layers")
    return [index >= dense for index in range(count)]


def _minimax3(f: Fields) -> Plan:
    """MiniMax M3: some layers choose blocks of the cache with an indexer of a few heads."""
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    nested = f.table.get("sparse_attention_config")
    inner = Fields(
        nested if isinstance(nested, dict) else {}, f.where, f.family, {}, f.prefix + "sparse_attention_config."
    )
    types = words(f, count, (*FULL, "minimax_m3_sparse"), "layer_types")
    if types is not None:
        chosen = [word == "minimax_m3_sparse" for word in types]
    elif inner.has("sparse_attention_freq"):
        chosen = [flag == 1 for flag in switches(inner, "sparse_attention_freq", count)]
    else:
        chosen = [False] * count
    index_heads = inner.maybe("sparse_num_index_heads", high=HEADS) or f.whole("index_n_heads", high=HEADS)
    index_dim = inner.maybe("sparse_index_dim") or f.whole("index_head_dim")
    plain = gqa(hidden, heads, kv_heads, head_dim, qk_norm="head")
    indexer = Module(
        "self_attn.indexer", ATTENTION, hidden * index_heads * index_dim + hidden * index_dim, 2 * index_dim
    )
    cache = (plain.cache or Cache())._replace(indexed=index_dim)
    made = {False: plain, True: Block((*plain.modules, indexer), cache)}
    which = sparse(f, count, "first" if isinstance(f.table.get("moe_layer_freq"), list) else "kinds")
    width = f.whole("intermediate_size", "moe_intermediate_size")
    shared = f.whole("shared_intermediate_size", low=0)
    if f.has("n_shared_experts") and f.whole("n_shared_experts", low=0, high=HEADS) == 0:
        shared = 0
    mixture = moe(hidden, *expert_counts(f), width, shared_width=shared) if True in which else None
    networks = _networks(f, hidden, which, mixture, "dense_intermediate_size")
    return _finish(f, hidden, [made[flag] for flag in chosen], networks, norms(hidden, 2))


def _step(f: Fields) -> Plan:
    """Step 3.5 and 3.7: a gate a head, and a number of query heads of its own in windowed layers."""
    extra = f.maybe("num_nextn_predict_layers", low=0, high=LAYERS) or 0
    count = layer_count(f)
    for key in ("layer_types", "mlp_layer_types"):
        found = f.table.get(key)
        if isinstance(found, list) and len(found) == count + extra:
            f.table[key] = found[:count]
    hidden, heads, kv_heads, head_dim = shapes(f)
    types = words(f, count, FULL + WINDOWED, "layer_types")
    full = [True] * count if types is None else [word in FULL for word in types]
    near = f.maybe("num_sliding_attention_heads", high=HEADS)
    other = f.table.get("attention_other_setting")
    if near is None and isinstance(other, dict):
        nested = Fields(other, f.where, f.family, {}, f.prefix + "attention_other_setting.")
        near = nested.maybe("num_attention_heads", high=HEADS)
    bias, window = f.flag("attention_bias"), f.maybe("sliding_window")
    made = {
        flag: gqa(
            hidden, heads if flag else near or heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head",
            gate="head", window=None if flag else window,
        )
        for flag in set(full)
    }  # fmt: skip
    listed = f.table.get("moe_layers_enum")
    if not f.has("mlp_layer_types") and isinstance(listed, str):
        numbers = {item.strip() for item in listed.split(",")}
        which = [str(index) in numbers for index in range(count)]
    else:
        which = _first_dense(f, count, 3)
    mlp_bias = f.flag("mlp_bias")
    mixture = None
    if True in which:
        mixture = moe(
            hidden, *expert_counts(f), f.whole("moe_intermediate_size"), shared_bias=mlp_bias,
            shared_width=f.whole("share_expert_dim", "share_expert_dims"),
        )  # fmt: skip
    networks = _networks(f, hidden, which, mixture, "intermediate_size", mlp_bias)
    return _finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


def _ernie(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    bias = f.flag("use_bias")
    first = f.whole("moe_layer_start_index", low=0, high=LAYERS)
    last = f.whole("moe_layer_end_index", low=-1, high=LAYERS)
    every = f.whole("moe_layer_interval", high=LAYERS)
    last = count - 1 if last == -1 else last
    which = [(index + 1) % every == 0 and first <= index <= last for index in range(count)]
    mixture = None
    if True in which:
        mixture = mixture_block(f, hidden, Mixture(shared="count", correction=True), mlp_bias=bias)
    networks = _networks(f, hidden, which, mixture, "intermediate_size", bias)
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias)
    return _finish(f, hidden, [attention] * count, networks, norms(hidden, 2), bias)


def _same(f: Fields, key: str) -> None:
    """Turn a list of one repeated figure into that figure."""
    found = f.table.get(key)
    if isinstance(found, list) and found and all(value == found[0] for value in found):
        f.table[key] = found[0]


def _hunyuan(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    for key in ("moe_topk", "num_experts", "moe_intermediate_size", "num_shared_expert"):
        _same(f, key)
    bias, width = f.flag("attention_bias"), f.whole("intermediate_size")
    if f.has("moe_intermediate_size") and f.whole("moe_intermediate_size") != width:
        raise f.wrong(
            f"{f.prefix}moe_intermediate_size differs from intermediate_size {width}: the modelling code builds "
            "experts as wide as the latter; expected the two to agree, or give --params-b and --active-b"
        )
    shared = f.maybe("num_shared_expert", low=0, high=HEADS)
    network = moe(hidden, *expert_counts(f), width, shared_width=width * (1 if shared is None else shared))
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head")
    return _finish(f, hidden, [attention] * count, [network] * count, norms(hidden, 2))


def _afmoe(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    bias = f.flag("attention_bias")
    every = f.whole("global_attn_every_n_layers", high=LAYERS)
    types = words(f, count, FULL + WINDOWED, "layer_types")
    full = [(index + 1) % every == 0 for index in range(count)] if types is None else [t in FULL for t in types]
    window = f.maybe("sliding_window")
    made = {
        flag: gqa(
            hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head", gate="own",
            window=None if flag else window,
        )
        for flag in set(full)
    }  # fmt: skip
    dense = f.whole("num_dense_layers", low=0, high=LAYERS)
    which = [index >= dense for index in range(count)]
    mixture = mixture_block(f, hidden, Mixture(shared="count", correction=True)) if True in which else None
    networks = _networks(f, hidden, which, mixture, "intermediate_size")
    return _finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 4))


def _laguna(f: Fields) -> Plan:
    """Laguna: query heads counted layer by layer, a gate a head or a channel, correction biases in the router."""
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    listed = f.items("num_attention_heads_per_layer", count) or [heads] * count
    for index, value in enumerate(listed):
        whole = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= HEADS
        if not whole or value % kv_heads:
            raise f.wrong(
                f"{f.prefix}num_attention_heads_per_layer[{index}] is {value!r:.40}; "
                f"expected a multiple of num_key_value_heads {kv_heads}"
            )
    types = words(f, count, FULL + WINDOWED, "layer_types")
    window = f.maybe("sliding_window")
    near = [None if types is None or word in FULL else window for word in types or FULL[:1] * count]
    gating = f.table.get("gating", True)
    if gating not in (True, "per-head", "per-channel", "per_channel"):
        raise f.fail("gating", "true, per-head or per-channel", kind=False)
    gate = "head" if gating in (True, "per-head") else "own"
    bias = f.flag("attention_bias")
    made = {
        key: gqa(
            hidden, key[0], kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head", gate=gate, window=key[1]
        )
        for key in set(zip(listed, near, strict=True))
    }  # fmt: skip
    which = _first_dense(f, count)
    shared = Mixture(shared="shared_expert_intermediate_size", correction=True)
    mixture = mixture_block(f, hidden, shared) if True in which else None
    networks = _networks(f, hidden, which, mixture, "intermediate_size")
    mixers = [made[key] for key in zip(listed, near, strict=True)]
    return _finish(f, hidden, mixers, networks, norms(hidden, 2))


BUILDERS = {
    "laguna": _laguna,
    "llama4_text": _llama4,
    "mimo_v2_flash": _mimo2,
    "minimax_m3_vl_text": _minimax3,
    "step3p5": _step,
    "ernie4_5_moe": _ernie,
    "hunyuan_v1_moe": _hunyuan,
    "afmoe": _afmoe,
}
