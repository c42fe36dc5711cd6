"""Gemma 3n and 4 and DiffusionGemma: two head widths, shared caches, tables of embeddings for each layer."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp
from clover_sim.specs.hf.fields import HEADS, LAYERS, WIDTH, Fields
from clover_sim.specs.hf.layers import FULL, WINDOWED, layer_count, words
from clover_sim.specs.hf.parts import (
    DENSE,
    EMBED,
    HEAD,
    NORM,
    OTHER,
    ROUTED,
    ROUTER,
    Block,
    Layer,
    Module,
    Plan,
    Routing,
)
from clover_sim.specs.hf.standard import context, expert_counts, kv_head_count, norms, top_modules


def _full(f: Fields, count: int, every: int) -> list[bool]:
    """Whether each layer attends to all; the last one always does in Gemma 4."""
    types = words(f, count, FULL + WINDOWED, "layer_types")
    if types is None:
        f.note(f"{f.prefix}layer_types missing: {f.family} default, every {every}. layer attends to all")
        return [(index + 1) % every == 0 for index in range(count)]
    return [word in FULL for word in types]


def _tables(f: Fields, hidden: int, vocab: int, count: int, width: int, tied: bool) -> tuple[Module, ...]:
    """Top modules of a model with a table of embeddings for each layer.

    That table is gathered, never read whole, while a tied table is read as the head: so the latter is listed as the
    head here, and only the former as embedding.
    """
    if not width:
        return top_modules(f, hidden, vocab, tied, norm=hidden)
    rows = f.whole("vocab_size_per_layer_input")
    f.note("the table of per-layer embeddings is gathered and listed as embedding; a tied table is listed as head")
    gathered = rows * count * width + (0 if tied else vocab * hidden)
    return (
        Module("embed_tokens", EMBED, gathered),
        Module("lm_head", HEAD, vocab * hidden),
        Module("per_layer_model_projection", OTHER, hidden * count * width),
        Module("norm", NORM, 0, hidden + width),
    )


def _experts(f: Fields, hidden: int) -> Block:
    """Gemma's mixture: a router with a scale a channel and one an expert."""
    experts, per_token = expert_counts(f)
    width = f.whole("moe_intermediate_size")
    return Block(
        (
            Module("gate", ROUTER, hidden * experts, hidden + experts),
            Module("experts", ROUTED, experts * 3 * hidden * width),
        ),
        routing=Routing(experts, per_token, 3 * hidden * width),
    )


def _gemma4(f: Fields, diffusion: bool = False) -> Plan:
    count = layer_count(f)
    hidden, vocab = f.whole("hidden_size", required=True), f.whole("vocab_size")
    heads = f.whole("num_attention_heads", high=HEADS)
    kv_heads = kv_head_count(f, heads)
    head_dim = f.whole("head_dim")
    wide_dim = f.maybe("global_head_dim") or 512
    if not f.has("global_head_dim"):
        f.note(f"{f.prefix}global_head_dim missing: {f.family} default 512")
    same = False if diffusion else f.flag("attention_k_eq_v")
    wide_heads = (f.maybe("num_global_key_value_heads", high=HEADS) if same or diffusion else None) or kv_heads
    window = f.maybe("sliding_window")
    if f.word("use_bidirectional_attention") == "all" and window:
        window = window // 2 + 1
    full = _full(f, count, 6)
    full[-1] = True
    bias = f.flag("attention_bias")
    shared = 0 if diffusion else f.whole("num_kv_shared_layers", low=0, high=LAYERS)
    if shared > count:
        raise f.wrong(f"{f.prefix}num_kv_shared_layers is {shared}; expected at most the {count} layers")
    ple = 0 if diffusion else f.whole("hidden_size_per_layer_input", low=0)
    experts = diffusion or f.flag("enable_moe_block")
    doubled = False if diffusion else f.flag("use_double_wide_mlp")
    width = f.whole("intermediate_size")
    mixture = _experts(f, hidden) if experts else None
    made: dict[tuple[bool, bool], Layer] = {}
    layers = []
    for index, wide in enumerate(full):
        key = (wide, reuses := index >= count - shared)
        if key not in made:
            attention = gqa(
                hidden, heads, wide_heads if wide else kv_heads, wide_dim if wide else head_dim, bias=bias,
                out_bias=bias, qk_norm="head", window=None if wide else window, reuses_cache=reuses,
                keys_as_values=wide and (same or diffusion),
            )  # fmt: skip
            blocks = [attention, mlp(hidden, width * (2 if doubled and reuses else 1))]
            blocks.append(norms(hidden, 4 + (3 if experts else 0) + (1 if ple else 0)))
            if ple:
                blocks.append(mlp(hidden, ple, gated=False, part=OTHER, name="per_layer"))
            if mixture is not None:
                blocks.append(mixture)
            made[key] = Layer(tuple(blocks))
        layers.append(made[key])
    tied = f.tied()
    top = _tables(f, hidden, vocab, count, ple, tied)
    if diffusion:
        top += (Module("self_conditioning", OTHER, 3 * hidden * width, hidden),)
    return Plan(hidden, vocab, tied and not ple, top, tuple(layers), context(f))


def _widths(f: Fields, count: int) -> list[int]:
    """Feed-forward widths, one for all layers or a list."""
    if not isinstance(f.table.get("intermediate_size"), list):
        return [f.whole("intermediate_size")] * count
    found = f.items("intermediate_size", count) or []
    for index, value in enumerate(found):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= WIDTH:
            raise f.wrong(f"{f.prefix}intermediate_size[{index}] is {value!r:.40}; expected a whole number from 1")
    return list(found)


def _gemma3n(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, vocab = f.whole("hidden_size", required=True), f.whole("vocab_size")
    heads = f.whole("num_attention_heads", high=HEADS)
    kv_heads, head_dim = kv_head_count(f, heads), f.whole("head_dim")
    window = f.maybe("sliding_window")
    full = _full(f, count, 5)
    shared = f.whole("num_kv_shared_layers", low=0, high=LAYERS)
    ple = f.whole("hidden_size_per_layer_input")
    streams = f.whole("altup_num_inputs", high=HEADS)
    rank = f.whole("laurel_rank")
    bias = f.flag("attention_bias")
    # AltUp mixes parallel streams; LAuReL is a low-rank path beside attention.
    altup = Block(
        (
            Module("altup", OTHER, streams * hidden + streams**2 + streams**3, hidden),
            Module("laurel", OTHER, 2 * hidden * rank),
            Module("per_layer", OTHER, 2 * hidden * ple),
            Module("norms", NORM, 0, 7 * hidden),
        )
    )
    made: dict[tuple[bool, bool, int], Layer] = {}
    layers = []
    for index, (wide, width) in enumerate(zip(full, _widths(f, count), strict=True)):
        key = (wide, index >= count - shared, width)
        if key not in made:
            attention = gqa(
                hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias, qk_norm="head",
                window=None if wide else window, reuses_cache=key[1],
            )  # fmt: skip
            made[key] = Layer((attention, mlp(hidden, width, part=DENSE), altup))
        layers.append(made[key])
    tied = f.tied()
    top = _tables(f, hidden, vocab, count, ple, tied)
    top += (Module("altup_projections", OTHER, 2 * (streams - 1) * hidden * hidden),)
    return Plan(hidden, vocab, False, top, tuple(layers), context(f))


BUILDERS = {
    "gemma3n_text": _gemma3n,
    "gemma4_text": _gemma4,
    "diffusion_gemma_text": lambda f: _gemma4(f, diffusion=True),
}
