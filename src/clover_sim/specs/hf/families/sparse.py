"""Mixtures whose layers differ more than a style can say: Llama 4, MiniMax M3, ERNIE, Hunyuan, AFMoE."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.layers import EXPERTS, FULL, WINDOWED, indexes, layer_count, sparse, switches, words
from clover_sim.specs.hf.parts import ATTENTION, Block, Cache, Layer, Module, Plan
from clover_sim.specs.hf.standard import (
    Mixture,
    context,
    expert_counts,
    mixture_block,
    norms,
    shapes,
    standard,
    top_modules,
)


def finish(
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


def networks_of(
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
    networks = networks_of(f, hidden, which, mixture, "intermediate_size_mlp")
    return finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


def first_dense(f: Fields, count: int, dense: int = 1) -> list[bool]:
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
    networks = networks_of(f, hidden, which, mixture, "dense_intermediate_size")
    return finish(f, hidden, [made[flag] for flag in chosen], networks, norms(hidden, 2))


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
    networks = networks_of(f, hidden, which, mixture, "intermediate_size", bias)
    attention = gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias)
    return finish(f, hidden, [attention] * count, networks, norms(hidden, 2), bias)


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
    share = f.whole("cla_share_factor", high=LAYERS) if f.has("use_cla") and f.flag("use_cla") else 1
    own, reused = (
        gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head", reuses_cache=reuses)
        for reuses in (False, True)
    )
    attention = [reused if index % share else own for index in range(count)]  # K/V of the layer before
    return finish(f, hidden, attention, [network] * count, norms(hidden, 2))


def _hunyuan_first(f: Fields) -> Plan:
    """Hunyuan as first published: mixtures and dense models under one name."""
    from clover_sim.specs.hf.families.dense import STYLES

    if f.stated(*EXPERTS)[1] in (None, 0, 1):
        return standard(f, STYLES["hunyuan_v1_dense"])
    f.note("mixture as its modelling code builds it; the publisher's stated sizes differ by 1 % in all, 5 % active")
    return _hunyuan(f)


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
    networks = networks_of(f, hidden, which, mixture, "intermediate_size")
    return finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 4))


BUILDERS = {
    "llama4_text": _llama4,
    "minimax_m3_vl_text": _minimax3,
    "ernie4_5_moe": _ernie,
    "hunyuan_v1_moe": _hunyuan,
    "hunyuan": _hunyuan_first,
    "afmoe": _afmoe,
}
