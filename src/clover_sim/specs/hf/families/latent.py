"""Latent attention (MLA) with dense layers first and mixtures after: DeepSeek V2 to V3.2, Kimi K2, GLM 5 and kin."""

from __future__ import annotations

from clover_sim.specs.hf.attention import mla
from clover_sim.specs.hf.ffn import mlp
from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.layers import layer_count, sparse, words
from clover_sim.specs.hf.parts import Block, Layer, Plan
from clover_sim.specs.hf.standard import Mixture, context, head_width, mixture_block, norms, top_modules

_MIXTURE = Mixture("first", shared="count")


def latent_widths(f: Fields) -> tuple[int, int | None, int, int, int, int]:
    """Heads, ranks of query and cache, widths of a head without and with rotation and of a value."""
    return (
        f.whole("num_attention_heads", high=HEADS),
        f.maybe("q_lora_rank"),
        f.whole("kv_lora_rank"),
        f.whole("qk_nope_head_dim"),
        f.whole("qk_rope_head_dim", low=0),
        f.maybe("v_head_dim") or head_width(f, f.whole("hidden_size"), f.whole("num_attention_heads", high=HEADS)),
    )


def _plan(f: Fields, mixtures: bool, index: str = "", biased: bool = False) -> Plan:
    """Plan such a model.

    Args:
        mixtures: it has experts. index: ``all`` or ``some`` layers have a sparse indexer.
        biased: ``mlp_bias`` counts (elsewhere the key stands but is not used).
    """
    count = layer_count(f)
    hidden = f.whole("hidden_size", required=True)
    vocab = f.whole("vocab_size")
    heads, q_rank, kv_rank, nope, rope, value = latent_widths(f)
    bias = f.flag("attention_bias")
    indexed = _indexed(f, count, index)
    indexer = (f.whole("index_n_heads", high=HEADS), f.whole("index_head_dim")) if True in indexed else None
    mixers = {
        flag: mla(hidden, heads, q_rank, kv_rank, nope, rope, value, bias=bias, index=indexer if flag else None)
        for flag in set(indexed)
    }
    which = sparse(f, count, "first") if mixtures else [False] * count
    mlp_bias = biased and f.flag("mlp_bias")
    networks: dict[bool, Block] = {}
    if True in which:
        networks[True] = mixture_block(f, hidden, _MIXTURE, mlp_bias=mlp_bias)
    if False in which:
        networks[False] = mlp(hidden, f.whole("intermediate_size"), bias=mlp_bias)
    between = norms(hidden, 2)
    # A.X K1 norms what its mixtures return.
    after = norms(hidden, 3) if f.family == "axk1" else between
    made: dict[tuple[bool, bool], Layer] = {}
    layers = tuple(
        made.setdefault(pair, Layer((mixers[pair[0]], networks[pair[1]], after if pair[1] else between)))
        for pair in zip(indexed, which, strict=True)
    )
    tied = f.tied()
    return Plan(hidden, vocab, tied, top_modules(f, hidden, vocab, tied, norm=hidden), layers, context(f))


def _indexed(f: Fields, count: int, rule: str) -> list[bool]:
    """Whether each layer has an indexer of its own: GLM 5.2 lets layers share the choice of an earlier one."""
    if not rule:
        return [False] * count
    if rule == "all":
        return [True] * count
    types = words(f, count, ("full", "shared"), "indexer_types")
    if types is not None:
        return [word == "full" for word in types]
    pattern = f.word("index_topk_pattern") if isinstance(f.table.get("index_topk_pattern"), str) else None
    if pattern is not None:
        if len(pattern) != count or set(pattern) - {"F", "S"}:
            raise f.fail("index_topk_pattern", f"{count} letters F or S, one a layer")
        return [letter == "F" for letter in pattern]
    every = f.whole("index_topk_freq", high=LAYERS) if f.has("index_topk_freq") else 1
    offset = f.whole("index_skip_topk_offset", low=0, high=LAYERS) if f.has("index_skip_topk_offset") else 2
    return [max(index - offset + 1, 0) % every == 0 for index in range(count)]


BUILDERS = {
    "deepseek_v2": lambda f: _plan(f, True, biased=True),
    "deepseek_v3": lambda f: _plan(f, True),
    "glm4_moe_lite": lambda f: _plan(f, True),
    "axk1": lambda f: _plan(f, True),
    "mistral4": lambda f: _plan(f, True),
    "deepseek_v32": lambda f: _plan(f, True, "all"),
    "glm_moe_dsa": lambda f: _plan(f, True, "some"),
    "minicpm3": lambda f: _plan(f, False, biased=True),
    "youtu": lambda f: _plan(f, False),
}
