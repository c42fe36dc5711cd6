"""Mixtures whose windowed layers have heads of their own: MiMo-V2-Flash, Step 3.5 and 3.7, Laguna."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.families.sparse import finish, first_dense, networks_of
from clover_sim.specs.hf.ffn import moe
from clover_sim.specs.hf.fields import HEADS, LAYERS, Fields
from clover_sim.specs.hf.layers import FULL, WINDOWED, layer_count, switches, words
from clover_sim.specs.hf.parts import Plan
from clover_sim.specs.hf.standard import Mixture, expert_counts, kv_head_count, mixture_block, norms, shapes


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
    window = (
        f.maybe("sliding_window")
        if f.has("sliding_window") or not f.has("sliding_window_size")
        else f.maybe("sliding_window_size")
    )
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
    which = first_dense(f, count)
    mixture = mixture_block(f, hidden, Mixture(shared="count")) if True in which else None
    networks = networks_of(f, hidden, which, mixture, "intermediate_size")
    return finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


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
        which = first_dense(f, count, 3)
    mlp_bias = f.flag("mlp_bias")
    mixture = None
    if True in which:
        mixture = moe(
            hidden, *expert_counts(f), f.whole("moe_intermediate_size"), shared_bias=mlp_bias,
            shared_width=f.whole("share_expert_dim", "share_expert_dims"),
        )  # fmt: skip
    networks = networks_of(f, hidden, which, mixture, "intermediate_size", mlp_bias)
    return finish(f, hidden, [made[flag] for flag in full], networks, norms(hidden, 2))


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
    which = first_dense(f, count)
    shared = Mixture(shared="shared_expert_intermediate_size", correction=True)
    mixture = mixture_block(f, hidden, shared) if True in which else None
    networks = networks_of(f, hidden, which, mixture, "intermediate_size")
    mixers = [made[key] for key in zip(listed, near, strict=True)]
    return finish(f, hidden, mixers, networks, norms(hidden, 2))


BUILDERS = {
    "mimo_v2_flash": _mimo2,
    "step3p5": _step,
    "laguna": _laguna,
}
