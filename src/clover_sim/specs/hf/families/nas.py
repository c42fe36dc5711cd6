"""Nemotron-NAS (DeciLM): every layer has its own K/V heads and width, or none, in ``block_configs``."""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa
from clover_sim.specs.hf.ffn import mlp
from clover_sim.specs.hf.fields import HEADS, Fields
from clover_sim.specs.hf.layers import layer_count
from clover_sim.specs.hf.parts import ATTENTION, DENSE, Block, Layer, Module, Plan
from clover_sim.specs.hf.standard import context, head_width, norms, top_modules

_STEP = 256
"""Widths are rounded up to a multiple of this."""


def _part(f: Fields, block: object, index: int, name: str) -> Fields:
    path = f"{f.prefix}block_configs[{index}].{name}"
    table = block.get(name) if isinstance(block, dict) else None
    if not isinstance(table, dict):
        raise f.wrong(f'{path} is missing; expected a table such as {{"no_op": false}}')
    return Fields(table, f.where, f.family, {}, path + ".")


def _attention(f: Fields, part: Fields, hidden: int, heads: int, head_dim: int, bias: bool) -> Block | None:
    if part.flag("no_op"):
        return None
    if part.flag("replace_with_linear"):
        return Block((Module("self_attn.linear_attn", ATTENTION, hidden * hidden, hidden * bias),))
    if part.has("mamba") or part.has("sparsify") or part.has("llama4"):
        raise part.wrong(f"{part.prefix}mamba, sparsify or llama4 is set; expected plain attention blocks")
    group = part.whole("n_heads_in_group", high=HEADS)
    if heads % group:
        raise part.fail("n_heads_in_group", f"a divisor of the {heads} heads")
    window = part.maybe("window_length")
    return gqa(hidden, heads, heads // group, head_dim, bias=bias, out_bias=bias, window=window)


def _network(f: Fields, part: Fields, hidden: int, bias: bool) -> Block | None:
    if part.flag("no_op"):
        return None
    if part.flag("replace_with_linear"):
        return Block((Module("mlp.linear_mlp", DENSE, hidden * hidden),))
    if part.has("moe"):
        raise part.fail("moe", "dense blocks only")
    if part.has("intermediate_size"):
        return mlp(hidden, part.whole("intermediate_size"), bias=bias)
    factor = part.table.get("ffn_mult")
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor < 1000:
        raise part.fail("ffn_mult", "a number above 0")
    width = int(2 * factor * hidden / 3)
    return mlp(hidden, -(-width // _STEP) * _STEP, bias=bias)


def _nas(f: Fields) -> Plan:
    blocks = f.items("block_configs")
    if blocks is None:
        raise f.fail("block_configs", "a list with one table a layer")
    count = layer_count(f)
    if len(blocks) != count:
        raise f.wrong(f"{f.prefix}block_configs has {len(blocks)} entries; expected {count}, one a layer")
    hidden = f.whole("hidden_size", required=True)
    heads = f.whole("num_attention_heads", high=HEADS)
    head_dim = f.maybe("head_dim") or head_width(f, hidden, heads)
    vocab = f.whole("vocab_size")
    bias, mlp_bias = f.flag("attention_bias"), f.flag("mlp_bias")
    made: dict[str, Layer] = {}
    layers = []
    for index, block in enumerate(blocks):
        key = repr(block)
        if key not in made:
            attention = _attention(f, _part(f, block, index, "attention"), hidden, heads, head_dim, bias)
            network = _network(f, _part(f, block, index, "ffn"), hidden, mlp_bias)
            present = [part for part in (attention, network) if part is not None]
            made[key] = Layer((*present, norms(hidden, len(present))) if present else ())
        layers.append(made[key])
    tied = f.tied()
    return Plan(hidden, vocab, tied, top_modules(f, hidden, vocab, tied, norm=hidden), tuple(layers), context(f))


BUILDERS = {"nemotron-nas": _nas}
