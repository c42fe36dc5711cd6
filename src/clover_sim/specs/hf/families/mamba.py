"""Mamba and its hybrids: Mamba 1 and 2, Bamba, Jamba, Falcon-H1, Nemotron-H, Granite 4."""

from __future__ import annotations

from collections.abc import Iterable

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.families.delta import state_bits
from clover_sim.specs.hf.ffn import mlp, moe
from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.layers import FULL, RECURRENT, indexes, layer_count, words
from clover_sim.specs.hf.parts import Block, Layer, Plan
from clover_sim.specs.hf.recurrent import mamba1, mamba2
from clover_sim.specs.hf.standard import Mixture, context, expert_counts, mixture_block, norms, shapes, top_modules

_NEMOTRON = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
_NEMOTRON_WORDS = {"linear_attention": "mamba", "full_attention": "attention"}


def _finish(f: Fields, hidden: int, layers: list[Layer], bits: int = 32, own_head: bool = False) -> Plan:
    vocab = f.whole("vocab_size")
    tied = f.untied() if own_head else f.tied()
    top = top_modules(f, hidden, vocab, tied, norm=hidden)
    return Plan(hidden, vocab, tied, top, tuple(layers), context(f), bits)


def _share(layers: Iterable[tuple[Block, ...]]) -> list[Layer]:
    """Layers in which equal ones are one object."""
    made: dict[tuple[int, ...], Layer] = {}
    return [made.setdefault(tuple(id(block) for block in blocks), Layer(blocks)) for blocks in layers]


def _expanded(f: Fields, hidden: int, key: str) -> int:
    """Inner width: the factor under ``key`` times the width."""
    factor = f.table.get(key)
    if isinstance(factor, float) and 0 < factor < LAYERS:
        return int(factor * hidden)
    return f.whole(key, high=LAYERS) * hidden


def _mamba1(f: Fields) -> Plan:
    count = layer_count(f)
    hidden = f.whole("hidden_size", "d_model", required=True)
    inner = f.maybe("intermediate_size", "d_inner") or _expanded(f, hidden, "expand")
    stated = f.table.get("time_step_rank")
    rank = -(-hidden // 16) if stated is None or stated == "auto" else f.whole("time_step_rank")
    block = mamba1(
        hidden, inner, f.whole("state_size", "d_state"), f.whole("conv_kernel", "d_conv", high=HEADS), rank,
        conv_bias=f.flag("use_conv_bias"), bias=f.flag("use_bias"),
    )  # fmt: skip
    return _finish(f, hidden, [Layer((block, norms(hidden, 1)))] * count)


def _mamba2(f: Fields) -> Plan:
    count = layer_count(f)
    hidden = f.whole("hidden_size", "d_model", required=True)
    heads, head_dim = f.whole("num_heads", high=HEADS), f.whole("head_dim")
    _matches(f, heads * head_dim, _expanded(f, hidden, "expand"), "num_heads x head_dim", "expand x hidden_size")
    block = mamba2(
        hidden, heads, head_dim, f.whole("state_size"), f.whole("n_groups", high=HEADS),
        f.whole("conv_kernel", high=HEADS), conv_bias=f.flag("use_conv_bias"), bias=f.flag("use_bias"),
    )  # fmt: skip
    return _finish(f, hidden, [Layer((block, norms(hidden, 1)))] * count)


def _matches(f: Fields, found: int, expected: int, what: str, of: str) -> None:
    if found != expected:
        raise f.wrong(f"{f.prefix or ''}{what} is {found}; expected {expected}, {of}")


def _prefixed(f: Fields, hidden: int, *, inner: int | None = None, norm: bool = True, projector: str = "") -> Block:
    """Mamba 2 spelt with ``mamba_`` keys (Bamba, Falcon-H1, Granite)."""
    heads = f.whole("mamba_n_heads", high=HEADS)
    wide = _expanded(f, hidden, "mamba_expand") if inner is None else inner
    if wide % heads:
        raise f.wrong(f"{f.prefix}mamba_n_heads is {heads}; expected a divisor of the inner width {wide}")
    stated = f.table.get("mamba_d_head")
    head_dim = wide // heads if stated in (None, "auto") else f.whole("mamba_d_head")
    _matches(f, heads * head_dim, wide, "mamba_n_heads x mamba_d_head", "the inner width")
    bias = f.flag("mamba_proj_bias")
    return mamba2(
        hidden, heads, head_dim, f.whole("mamba_d_state"), f.whole("mamba_n_groups", high=HEADS),
        f.whole("mamba_d_conv", high=HEADS), inner=wide, conv_bias=f.flag("mamba_conv_bias"), bias=bias,
        out_bias=f.flag(projector) if projector else bias, norm=norm,
    )  # fmt: skip


def _attention(f: Fields, bias: bool) -> tuple[int, Block]:
    hidden, heads, kv_heads, head_dim = shapes(f)
    return hidden, gqa(hidden, heads, kv_heads, head_dim, bias=bias, out_bias=bias)


def _bamba(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, attention = _attention(f, f.flag("attention_bias"))
    types = words(f, count, FULL + RECURRENT, "layer_types", "layers_block_type")
    attends = indexes(f, "attn_layer_indices")
    full = [index in attends for index in range(count)] if types is None else [word in FULL for word in types]
    recurrent = _prefixed(f, hidden) if False in full else attention
    network = mlp(hidden, f.whole("intermediate_size"), bias=f.flag("mlp_bias"))
    between = norms(hidden, 2)
    return _finish(f, hidden, _share([(attention if flag else recurrent, network, between) for flag in full]))


def _falcon_h1(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, attention = _attention(f, f.flag("attention_bias"))
    if f.has("attn_layer_indices"):
        f.note(f"{f.prefix}attn_layer_indices: every layer of {f.family} attends, the list is not used")
    inner = f.maybe("mamba_d_ssm") or _expanded(f, hidden, "mamba_expand")
    recurrent = _prefixed(f, hidden, inner=inner, norm=f.flag("mamba_rms_norm"), projector="projectors_bias")
    network = mlp(hidden, f.whole("intermediate_size"), bias=f.flag("mlp_bias"))
    return _finish(f, hidden, [Layer((attention, recurrent, network, norms(hidden, 2)))] * count)


def _jamba(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, attention = _attention(f, False)
    period, offset = f.whole("attn_layer_period", high=LAYERS), f.whole("attn_layer_offset", low=0, high=LAYERS)
    types = words(f, count, FULL + RECURRENT, "layer_types", "layers_block_type")
    full = [index % period == offset for index in range(count)] if types is None else [t in FULL for t in types]
    every, first = f.whole("expert_layer_period", high=LAYERS), f.whole("expert_layer_offset", low=0, high=LAYERS)
    experts, per_token = expert_counts(f)
    # A single expert is an ordinary network without a router.
    which = [index % every == first and experts > 1 for index in range(count)]
    inner = _expanded(f, hidden, "mamba_expand")
    rank = f.table.get("mamba_dt_rank")
    recurrent = mamba1(
        hidden, inner, f.whole("mamba_d_state"), f.whole("mamba_d_conv", high=HEADS),
        -(-hidden // 16) if rank is None or rank == "auto" else f.whole("mamba_dt_rank"),
        conv_bias=f.flag("mamba_conv_bias"), bias=f.flag("mamba_proj_bias"), norms=True,
    )  # fmt: skip
    width = f.whole("intermediate_size")
    networks = {True: moe(hidden, experts, per_token, width), False: mlp(hidden, width)}
    between = norms(hidden, 2)
    layers = [
        (attention if attends else recurrent, networks[mixture], between)
        for attends, mixture in zip(full, which, strict=True)
    ]
    return _finish(f, hidden, _share(layers))


def _nemotron_h(f: Fields) -> Plan:
    hidden, attention = _attention(f, False)
    kinds = _nemotron_kinds(f)
    mlp_bias = f.flag("mlp_bias")
    blocks: dict[str, Block] = {"attention": attention}
    if "mamba" in kinds:
        blocks["mamba"] = mamba2(
            hidden, f.whole("mamba_num_heads", high=HEADS), f.whole("mamba_head_dim"), f.whole("ssm_state_size"),
            f.whole("n_groups", "mamba_n_groups", high=HEADS), f.whole("conv_kernel", "mamba_d_conv", high=HEADS),
            conv_bias=f.flag("use_conv_bias", "mamba_conv_bias"), bias=f.flag("use_bias"),
        )  # fmt: skip
    if "mlp" in kinds:
        blocks["mlp"] = mlp(hidden, f.whole("intermediate_size"), gated=False, bias=mlp_bias)
    if "moe" in kinds:
        experts, per_token = expert_counts(f)
        latent = f.maybe("moe_latent_size", low=0) or 0
        shared = f.whole("moe_shared_expert_intermediate_size", low=0)
        if f.maybe("n_shared_experts", low=0) == 0:
            f.note(f"{f.prefix}n_shared_experts is 0: the shared expert of {f.family} is built all the same")
        blocks["moe"] = moe(
            hidden, experts, per_token, f.whole("moe_intermediate_size"), gated=False, shared_width=shared,
            shared_bias=mlp_bias, latent=latent, latent_bias=mlp_bias,
        )  # fmt: skip
    between = norms(hidden, 1)
    layers = _share([(blocks[kind], between) for kind in kinds])
    return _finish(f, hidden, layers, state_bits(f, "mamba_ssm_cache_dtype", "mamba_ssm_dtype"), True)


def _nemotron_kinds(f: Fields) -> list[str]:
    """The kind of each layer, from a list of words or a string such as ``M-M*E``."""
    known = (*_NEMOTRON.values(), *_NEMOTRON_WORDS)
    types = words(f, None, known, "layers_block_type", "layer_types")
    pattern = f.word("hybrid_override_pattern")
    if types is None and pattern is not None:
        wrong = [letter for letter in pattern if letter not in _NEMOTRON]
        if wrong or not 0 < len(pattern) <= LAYERS:
            found = repr(wrong[0]) if wrong else f"{len(pattern)} letters"
            raise f.wrong(
                f"{f.prefix}hybrid_override_pattern holds {found}; expected letters M (Mamba), * (attention), "
                "- (MLP) and E (experts), one a layer"
            )
        types = [_NEMOTRON[letter] for letter in pattern]
    if types is None:
        raise f.fail("layers_block_type", "a list with one entry a layer, or hybrid_override_pattern")
    if f.has("num_hidden_layers"):
        count = layer_count(f)
        if count != len(types):
            raise f.wrong(f"{f.prefix}num_hidden_layers is {count}; expected {len(types)}, the length of the pattern")
    return [_NEMOTRON_WORDS.get(word, word) for word in types]


def _granite(f: Fields) -> Plan:
    count = layer_count(f)
    hidden, attention = _attention(f, f.flag("attention_bias"))
    types = words(f, count, FULL + RECURRENT, "layer_types", "layers_block_type")
    if types is None:
        f.note(f"{f.prefix}layer_types missing: {f.family} default, Mamba in every layer")
    full = [False] * count if types is None else [word in FULL for word in types]
    recurrent = _prefixed(f, hidden) if False in full else attention
    shared = f.whole("shared_intermediate_size")
    if f.maybe("num_local_experts", low=0) == 0:
        network = mlp(hidden, shared)
    else:
        network = mixture_block(f, hidden, Mixture(width=("intermediate_size",), shared="shared_intermediate_size"))
    between = norms(hidden, 2)
    return _finish(f, hidden, _share([(attention if flag else recurrent, network, between) for flag in full]))


BUILDERS = {
    "mamba": _mamba1,
    "falcon_mamba": _mamba1,
    "mamba2": _mamba2,
    "bamba": _bamba,
    "jamba": _jamba,
    "falcon_h1": _falcon_h1,
    "nemotron_h": _nemotron_h,
    "granitemoehybrid": _granite,
}
