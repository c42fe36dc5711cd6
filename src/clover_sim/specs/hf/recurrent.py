"""Mixers with a state of fixed size: gated DeltaNet, Kimi delta attention, Mamba 1 and 2, lightning, short filters."""

from __future__ import annotations

from clover_sim.specs.hf.parts import LINEAR, Block, Cache, Module

_AT = "linear_attn."


def _block(cache: Cache, *modules: tuple[str, int, int]) -> Block:
    return Block(tuple(Module(_AT + name, LINEAR, matrix, vector) for name, matrix, vector in modules), cache)


def gated_delta(hidden: int, key_heads: int, value_heads: int, key_dim: int, value_dim: int, kernel: int) -> Block:
    """Gated DeltaNet: state ``value_heads x key_dim x value_dim``, filter over the joined q, k and v."""
    keys, values = key_heads * key_dim, value_heads * value_dim
    filtered = 2 * keys + values
    return _block(
        Cache(state=value_heads * key_dim * value_dim, conv=filtered * (kernel - 1)),
        ("in_proj_qkv", hidden * filtered, 0),
        ("in_proj_z", hidden * values, 0),
        ("in_proj_b", hidden * value_heads, 0),
        ("in_proj_a", hidden * value_heads, 0),
        ("conv1d", 0, filtered * kernel),
        ("norm", 0, 2 * value_heads + value_dim),
        ("out_proj", values * hidden, 0),
    )


def kimi_delta(hidden: int, heads: int, head_dim: int, kernel: int, *, low_rank: bool = True) -> Block:
    """Kimi delta attention (KDA): a decay for every channel. low_rank: its gates pass through a head's width."""
    wide = heads * head_dim
    gate = hidden * head_dim + head_dim * wide if low_rank else hidden * wide
    return _block(
        Cache(state=heads * head_dim * head_dim, conv=3 * wide * (kernel - 1)),
        ("q_proj", hidden * wide, 0),
        ("k_proj", hidden * wide, 0),
        ("v_proj", hidden * wide, 0),
        ("conv1d", 0, 3 * wide * kernel),
        ("f_proj", gate, wide + heads),
        ("b_proj", hidden * heads, 0),
        ("g_proj", gate, head_dim),
        ("o_proj", wide * hidden, 0),
    )


def mamba1(
    hidden: int,
    inner: int,
    state: int,
    kernel: int,
    rank: int,
    *,
    conv_bias: bool = True,
    bias: bool = False,
    norms: bool = False,
) -> Block:
    """Mamba: state ``inner x state``. rank: width of the time step's projection. norms: over step, B and C."""
    return _block(
        Cache(state=inner * state, conv=inner * (kernel - 1)),
        ("in_proj", hidden * 2 * inner, 2 * inner * bias),
        ("conv1d", 0, inner * kernel + inner * conv_bias),
        ("x_proj", inner * (rank + 2 * state), 0),
        ("dt_proj", rank * inner, inner),
        ("A_log", 0, inner * state + inner),
        ("out_proj", inner * hidden, hidden * bias + (rank + 2 * state) * norms),
    )


def mamba2(
    hidden: int,
    heads: int,
    head_dim: int,
    state: int,
    groups: int,
    kernel: int,
    *,
    inner: int | None = None,
    conv_bias: bool = True,
    bias: bool = False,
    out_bias: bool | None = None,
    norm: bool = True,
) -> Block:
    """Mamba 2: state ``heads x head_dim x state``. inner: inner width where it is not heads x head_dim."""
    wide = heads * head_dim if inner is None else inner
    filtered = wide + 2 * groups * state
    projected = wide + filtered + heads
    last = bias if out_bias is None else out_bias
    return _block(
        Cache(state=heads * head_dim * state, conv=filtered * (kernel - 1)),
        ("in_proj", hidden * projected, projected * bias),
        ("conv1d", 0, filtered * kernel + filtered * conv_bias),
        ("norm", 0, 3 * heads + wide * norm),
        ("out_proj", wide * hidden, hidden * last),
    )


def lightning(hidden: int, heads: int, head_dim: int) -> Block:
    """Lightning attention: q, k, v, an output gate and an output projection; state ``heads x head_dim^2``."""
    wide = heads * head_dim
    return _block(
        Cache(state=heads * head_dim * head_dim),
        ("qkv_proj", hidden * 3 * wide, 0),
        ("output_gate", hidden * wide, 0),
        ("norm", 0, wide),
        ("out_proj", wide * hidden, 0),
    )


def short_conv(hidden: int, kernel: int, *, bias: bool = False) -> Block:
    """A gated short filter (LFM2): three input projections, the filter, one output projection."""
    return _block(
        Cache(conv=hidden * (kernel - 1)),
        ("in_proj", hidden * 3 * hidden, 3 * hidden * bias),
        ("conv1d", 0, hidden * kernel + hidden * bias),
        ("out_proj", hidden * hidden, hidden * bias),
    )
