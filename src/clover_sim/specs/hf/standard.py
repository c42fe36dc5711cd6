"""The builder most families share: embedding, layers of attention and a feed-forward network, norm, head."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, Fields, shown
from clover_sim.specs.hf.layers import EXPERTS, PER_TOKEN, layer_count, sparse, windows
from clover_sim.specs.hf.parts import EMBED, HEAD, NORM, OTHER, Block, Layer, Module, Plan

Switch = bool | str
"""A constant, or the key of a flag in the configuration."""


class Mixture(NamedTuple):
    """How a family spells its mixture of experts.

    Args:
        rule: which layers are mixtures, see :func:`layers.sparse`. width: keys of one expert's width.
        shared: ``""`` none, ``count`` (``n_shared_experts`` times the expert's width), or the key of a width.
        shared_gate, router_bias, expert_bias: as in :func:`ffn.moe`. correction: a bias an expert in the router.
        dense: keys of the width of layers that are no mixture.
    """

    rule: str = "all"
    width: tuple[str, ...] = ("moe_intermediate_size",)
    shared: str = ""
    shared_gate: bool = False
    router_bias: bool = False
    expert_bias: bool = False
    correction: bool = False
    dense: tuple[str, ...] = ("intermediate_size",)


class Style(NamedTuple):
    """What sets a standard decoder apart.

    Args:
        qkv_bias, out_bias, mlp_bias, norm_bias, head_bias: constants or keys of flags.
        qk_norm: ``head`` or ``full``; qk_norm_key: the flag that turns it on, if there is one.
        norms: norms of a layer; parallel: the flag that drops one of them; final: whether there is one at the end.
        gated: three-matrix networks. gate, sinks: as in :func:`attention.gqa`.
        window: rule of :func:`layers.windows`. mixture: experts, if any. extra: further vectors a layer.
    """

    qkv_bias: Switch = False
    out_bias: Switch = False
    mlp_bias: Switch = False
    norm_bias: Switch = False
    head_bias: Switch = False
    qk_norm: str = ""
    qk_norm_key: str = ""
    qk_norm_bias: bool = False
    norms: int = 2
    final: bool = True
    parallel: str = ""
    gated: bool = True
    gate: str = ""
    sinks: bool = False
    window: str = ""
    mixture: Mixture | None = None
    extra: int = 0


def switch(f: Fields, value: Switch) -> bool:
    """The constant, or the flag under that key."""
    return f.flag(value) if isinstance(value, str) else value


def shapes(f: Fields) -> tuple[int, int, int, int]:
    """Width, query heads, K/V heads and head width of grouped-query attention, checked against each other."""
    hidden = f.whole("hidden_size", "d_model", "n_embd", required=True)
    heads = f.whole("num_attention_heads", "n_heads", "n_head", "num_heads", high=HEADS)
    kv_heads = kv_head_count(f, heads)
    stated = f.maybe("head_dim", "attention_head_dim", "kv_channels", "head_width")
    return hidden, heads, kv_heads, stated or head_width(f, hidden, heads)


def head_width(f: Fields, hidden: int, heads: int) -> int:
    """``hidden / heads``, which must come out whole."""
    if hidden % heads:
        raise f.wrong(
            f"{f.prefix}hidden_size is {hidden}, not a multiple of num_attention_heads {heads}; "
            "expected one, or head_dim to be stated"
        )
    return hidden // heads


def kv_head_count(f: Fields, heads: int) -> int:
    """K/V heads: as many as query heads where the file states none (or null) and the family has no default."""
    keys = ("num_key_value_heads", "n_kv_heads", "num_kv_heads", "num_attention_groups")
    kv_heads = f.maybe(*keys, high=HEADS)
    if kv_heads is None:
        if not any(key in f.table for key in keys):
            f.note(f"{f.prefix}num_key_value_heads missing: one for each of the {heads} heads")
        kv_heads = heads
    if heads % kv_heads:
        raise f.wrong(
            f"{f.prefix}num_attention_heads is {heads}; expected a multiple of num_key_value_heads {kv_heads}"
        )
    return kv_heads


def context(f: Fields) -> int | None:
    """The longest context the file states."""
    keys = (
        "max_position_embeddings",
        "max_sequence_length",
        "n_positions",
        "seq_length",
        "max_seq_len",
        "model_max_length",
    )
    for key in keys:
        if f.has(key):
            return f.whole(key, high=1 << 40)
    return None


def expert_counts(f: Fields) -> tuple[int, int]:
    """Experts, and those a token takes, checked against each other."""
    experts = f.whole(*EXPERTS, high=HEADS)
    per_token = f.whole(*PER_TOKEN, high=HEADS)
    if per_token > experts:
        name = f.stated(*PER_TOKEN)[0] or PER_TOKEN[0]
        raise f.wrong(f"{f.prefix}{name} is {per_token}; expected at most the {experts} experts")
    return experts, per_token


def top_modules(
    f: Fields, hidden: int, vocab: int, tied: bool, *, norm: int, head_bias: bool = False
) -> tuple[Module, ...]:
    """Embedding, head (unless tied) and last norm."""
    modules = [Module("embed_tokens", EMBED, vocab * hidden)]
    bias = vocab * head_bias
    if not tied:
        modules.append(Module("lm_head", HEAD, hidden * vocab, bias))
    elif bias:
        modules.append(Module("lm_head", OTHER, 0, bias))
    if norm:
        modules.append(Module("norm", NORM, 0, norm))
    return tuple(modules)


def norms(hidden: int, count: int, bias: bool = False, extra: int = 0) -> Block:
    """The norms of a layer as one block."""
    return Block((Module("norms", NORM, 0, hidden * count * (2 if bias else 1) + extra),))


def mixture_block(f: Fields, hidden: int, m: Mixture, gated: bool = True, mlp_bias: bool = False) -> Block:
    """The mixture layer of a family's spelling."""
    experts, per_token = expert_counts(f)
    width = f.whole(*m.width)
    shared = 0
    if m.shared == "count":
        keys = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
        shared = width * (f.maybe(*keys, low=0, high=HEADS) or 0)
    elif m.shared:
        shared = f.maybe(m.shared, low=0) or 0
    return moe(
        hidden, experts, per_token, width, gated=gated, expert_bias=m.expert_bias, router_bias=m.router_bias,
        router_extra=experts if m.correction else 0, shared_width=shared, shared_gate=m.shared_gate,
        shared_bias=mlp_bias,
    )  # fmt: skip


def _no_experts(f: Fields) -> None:
    """Refuse experts in a dense family: counted without them, a model would be a fraction of itself."""
    for key in EXPERTS:
        value = f.table.get(key)
        if isinstance(value, (int, list)) and not isinstance(value, bool) and value not in (0, 1):
            raise f.wrong(
                f"{f.prefix}{key} is {shown(value)}, but {f.family} is a dense family, whose layers have no experts; "
                "expected another model_type, or give --params-b and --active-b"
            )


def build(style: Style) -> Callable[[Fields], Plan]:
    """The builder of a family of that style."""
    return lambda f: standard(f, style)


def standard(f: Fields, style: Style) -> Plan:
    """Plan a decoder of that style."""
    count = layer_count(f)
    hidden, heads, kv_heads, head_dim = shapes(f)
    vocab = f.whole("vocab_size")
    if style.mixture is None:
        _no_experts(f)
    norm_bias = switch(f, style.norm_bias)
    qkv_bias, out_bias, mlp_bias = (switch(f, b) for b in (style.qkv_bias, style.out_bias, style.mlp_bias))
    qk_norm = style.qk_norm if not style.qk_norm_key or f.flag(style.qk_norm_key) else ""
    dropped = bool(style.parallel) and f.flag(style.parallel)
    between = norms(hidden, style.norms - dropped, norm_bias, style.extra)
    per_layer = windows(f, count, style.window)
    attention = {
        window: gqa(
            hidden, heads, kv_heads, head_dim, bias=qkv_bias, out_bias=out_bias, qk_norm=qk_norm,
            norm_bias=style.qk_norm_bias, gate=style.gate, sinks=style.sinks, window=window,
        )
        for window in dict.fromkeys(per_layer)
    }  # fmt: skip
    which = [False] * count if style.mixture is None else sparse(f, count, style.mixture.rule)
    networks: dict[bool, Block] = {}
    if style.mixture is not None and True in which:
        networks[True] = mixture_block(f, hidden, style.mixture, style.gated, mlp_bias)
    if False in which:
        keys = style.mixture.dense if style.mixture else ("intermediate_size",)
        networks[False] = mlp(hidden, f.whole(*keys), gated=style.gated, bias=mlp_bias)
    made: dict[tuple[int | None, bool], Layer] = {}
    layers = tuple(
        made.setdefault(pair, Layer((attention[pair[0]], networks[pair[1]], between)))
        for pair in zip(per_layer, which, strict=True)
    )
    tied = f.tied()
    last = hidden * (2 if norm_bias else 1) if style.final else 0
    top = top_modules(f, hidden, vocab, tied, norm=last, head_bias=switch(f, style.head_bias))
    return Plan(hidden, vocab, tied, top, layers, context(f))
