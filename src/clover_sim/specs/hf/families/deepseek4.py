"""DeepSeek V4: one shared key-value head, caches compressed 4 or 128 to one, hyper-connections between layers."""

from __future__ import annotations

from clover_sim.specs.hf.ffn import moe
from clover_sim.specs.hf.fields import HEADS, Fields
from clover_sim.specs.hf.layers import layer_count, words
from clover_sim.specs.hf.parts import ATTENTION, OTHER, Block, Cache, Layer, Module, Plan
from clover_sim.specs.hf.standard import context, expert_counts, norms, top_modules

_KINDS = ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")
_RATIOS = {0: _KINDS[0], 4: _KINDS[1], 128: _KINDS[2]}


def _kinds(f: Fields, count: int) -> list[str]:
    """The attention kind of each layer, from ``layer_types`` or ``compress_ratios`` (which counts MTP layers too)."""
    types = words(f, count, _KINDS, "layer_types")
    if types is not None:
        return types
    ratios = f.items("compress_ratios")
    if ratios is None:
        f.note(f"{f.prefix}layer_types missing: {f.family} default, compression by 128 and 4 in turn")
        later = [_KINDS[1 if index % 2 else 2] for index in range(max(count - 2, 0))]
        return [_KINDS[2]] * min(count, 2) + later
    if len(ratios) < count:
        raise f.wrong(f"{f.prefix}compress_ratios has {len(ratios)} entries; expected at least {count}, one a layer")
    for index, ratio in enumerate(ratios):
        if isinstance(ratio, bool) or not isinstance(ratio, int) or ratio not in _RATIOS:
            raise f.wrong(f"{f.prefix}compress_ratios[{index}] is {ratio!r:.40}; expected 0, 4 or 128")
    return [_RATIOS[ratio] for ratio in ratios[:count]]


def _rate(f: Fields, kind: str, default: int) -> int:
    """Tokens that share one compressed entry."""
    rates = f.table.get("compress_rates")
    if not isinstance(rates, dict):
        return default
    return Fields(rates, f.where, f.family, {}, f.prefix + "compress_rates.").whole(kind) if kind in rates else default


def _attention(f: Fields, hidden: int, kind: str) -> Block:
    heads, head_dim = f.whole("num_attention_heads", high=HEADS), f.whole("head_dim")
    q_rank, o_rank = f.whole("q_lora_rank"), f.whole("o_lora_rank")
    groups = f.whole("o_groups", high=HEADS)
    if heads * head_dim % groups:
        raise f.wrong(f"{f.prefix}o_groups is {groups}; expected a divisor of heads x head_dim {heads * head_dim}")
    modules = [
        Module("self_attn.q_a_proj", ATTENTION, hidden * q_rank, q_rank),
        Module("self_attn.q_b_proj", ATTENTION, q_rank * heads * head_dim),
        Module("self_attn.kv_proj", ATTENTION, hidden * head_dim, head_dim),
        Module("self_attn.o_a_proj", ATTENTION, heads * head_dim * o_rank),
        Module("self_attn.o_b_proj", ATTENTION, groups * o_rank * hidden, heads),
    ]
    kv = index = 0
    if kind != _KINDS[0]:
        sparse = kind == _KINDS[1]
        rate = _rate(f, kind, 4 if sparse else 128)
        wide = head_dim * (2 if sparse else 1)
        modules.append(Module("self_attn.compressor", ATTENTION, 2 * hidden * wide, rate * wide + head_dim))
        kv = head_dim // rate
        if sparse:
            index_heads, index_dim = f.whole("index_n_heads", high=HEADS), f.whole("index_head_dim")
            wide = 2 * index_dim
            matrix = 2 * hidden * wide + q_rank * index_heads * index_dim + hidden * index_heads
            modules.append(Module("self_attn.compressor.indexer", ATTENTION, matrix, rate * wide + index_dim))
            index = index_dim // rate
    # Every layer keeps a window of plain entries; compressed ones, one for several tokens, stand beside it.
    cache = Cache(kv=kv, indexed=index, query_width=heads * head_dim, kv_heads=1)
    return Block(tuple(modules), cache)


def _window(f: Fields) -> Block:
    """The window of plain entries each layer keeps: one shared key-value head."""
    return Block((), Cache(kv=f.whole("head_dim"), window=f.whole("sliding_window"), kv_heads=1))


def _deepseek4(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, vocab = f.whole("hidden_size", required=True), f.whole("vocab_size")
    experts, per_token = expert_counts(f)
    width = f.whole("moe_intermediate_size", "intermediate_size")
    shared = f.maybe("n_shared_experts", low=0, high=HEADS) or 0
    if shared > 1:
        f.note(f"{f.prefix}n_shared_experts is {shared}: {f.family} builds one shared expert")
    network = moe(hidden, experts, per_token, width, shared_width=width, shared_bias=f.flag("mlp_bias"))
    streams = f.whole("hc_mult", high=HEADS)
    mixes = (2 + streams) * streams
    hyper = Block((Module("hyper_connections", OTHER, 2 * mixes * streams * hidden, 2 * (mixes + 3)),))
    between, window = norms(hidden, 2), _window(f)
    made: dict[str, Layer] = {}
    layers = []
    for kind in _kinds(f, count):
        if kind not in made:
            made[kind] = Layer((_attention(f, hidden, kind), window, network, between, hyper))
        layers.append(made[kind])
    tied = f.tied()
    top = top_modules(f, hidden, vocab, tied, norm=hidden)
    top += (Module("hc_head", OTHER, streams * streams * hidden, streams + 1),)
    f.note("K/V is cached compressed: a window of plain entries, and one entry for every 4 or 128 tokens")
    return Plan(hidden, vocab, tied, top, tuple(layers), context(f))


BUILDERS = {"deepseek_v4": _deepseek4}
