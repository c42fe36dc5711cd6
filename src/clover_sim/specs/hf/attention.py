"""Softmax attention: grouped queries with their variants, latent attention (MLA), sparse-attention indexers."""

from __future__ import annotations

from clover_sim.specs.hf.parts import ATTENTION, Block, Cache, Module


def gqa(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    *,
    value_dim: int | None = None,
    bias: bool = False,
    out_bias: bool = False,
    qk_norm: str = "",
    norm_bias: bool = False,
    gate: str = "",
    sinks: bool = False,
    window: int | None = None,
    keys_as_values: bool = False,
    reuses_cache: bool = False,
    input_width: int | None = None,
    extra: int = 0,
) -> Block:
    """Grouped-query attention (multi-head where ``kv_heads == heads``).

    Args:
        hidden, heads, kv_heads, head_dim: shapes; heads x head_dim need not be ``hidden``.
        value_dim: width of a value head where it differs. input_width: width that q, k and v read.
        bias, out_bias: biases of q, k, v; of the output.
        qk_norm: ``head`` (one norm of a head's width each for q and k), ``full`` (over the whole projection).
        norm_bias: those norms have biases. gate: ``full`` (doubled q), ``head`` (one gate a head), ``own`` (a matrix
            of its own as wide as q). sinks: one a head. extra: further vectors.
        keys_as_values: no v projection, though K and V are both cached. reuses_cache: keeps no K/V of its own.
    """
    inner = input_width or hidden
    value = head_dim if value_dim is None else value_dim
    wide_q, wide_k, wide_v = heads * head_dim, kv_heads * head_dim, kv_heads * value
    doubled = 2 if gate == "full" else 1
    modules = [Module("self_attn.q_proj", ATTENTION, inner * wide_q * doubled, wide_q * doubled * bias)]
    if not reuses_cache:
        modules.append(Module("self_attn.k_proj", ATTENTION, inner * wide_k, wide_k * bias))
        if not keys_as_values:
            modules.append(Module("self_attn.v_proj", ATTENTION, inner * wide_v, wide_v * bias))
    modules.append(Module("self_attn.o_proj", ATTENTION, heads * value * hidden, hidden * out_bias))
    if gate == "head":
        modules.append(Module("self_attn.g_proj", ATTENTION, hidden * heads))
    elif gate == "own":
        modules.append(Module("self_attn.gate_proj", ATTENTION, hidden * heads * value))
    norms = {"": 0, "head": head_dim * (1 if reuses_cache else 2), "full": wide_q + wide_k}[qk_norm]
    small = norms * (2 if norm_bias else 1) + heads * sinks + extra
    if small:
        modules.append(Module("self_attn.norms", ATTENTION, 0, small))
    kv = 0 if reuses_cache else kv_heads * (head_dim + value)
    return Block(tuple(modules), Cache(kv=kv, window=window, query_width=wide_q, kv_heads=kv_heads))


def mla(
    hidden: int,
    heads: int,
    q_rank: int | None,
    kv_rank: int,
    nope: int,
    rope: int,
    value: int,
    *,
    bias: bool = False,
    gate_width: int = 0,
    index: tuple[int, int] | None = None,
    extra: int = 0,
) -> Block:
    """Multi-head latent attention: the cache holds ``kv_rank + rope`` elements a token whatever the heads.

    Args:
        q_rank: width of the latent query, ``None`` for a plain projection. nope, rope, value: widths of a head.
        bias: biases of the first projections and of the output. gate_width: an output gate's width.
        index: heads and head width of a sparse-attention indexer in this layer. extra: further vectors.
    """
    wide_q = heads * (nope + rope)
    if q_rank is None:
        modules = [Module("self_attn.q_proj", ATTENTION, hidden * wide_q)]
    else:
        modules = [
            Module("self_attn.q_a_proj", ATTENTION, hidden * q_rank, q_rank * bias + q_rank),
            Module("self_attn.q_b_proj", ATTENTION, q_rank * wide_q),
        ]
    modules += [
        Module("self_attn.kv_a_proj_with_mqa", ATTENTION, hidden * (kv_rank + rope), (kv_rank + rope) * bias + kv_rank),
        Module("self_attn.kv_b_proj", ATTENTION, kv_rank * heads * (nope + value)),
        Module("self_attn.o_proj", ATTENTION, heads * value * hidden, hidden * bias + extra),
    ]
    if gate_width:
        modules.append(Module("self_attn.g_proj", ATTENTION, hidden * gate_width))
    indexed = 0
    if index is not None:
        index_heads, indexed = index
        modules += [
            Module("self_attn.indexer.wq_b", ATTENTION, (q_rank or hidden) * index_heads * indexed),
            Module("self_attn.indexer.wk", ATTENTION, hidden * indexed, 2 * indexed),
            Module("self_attn.indexer.weights_proj", ATTENTION, hidden * index_heads),
        ]
    return Block(tuple(modules), Cache(kv=kv_rank + rope, indexed=indexed, query_width=wide_q, kv_heads=1))
