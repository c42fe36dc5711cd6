"""Drafters published as models of their own: EAGLE heads and DFlash blocks, which use their target's embedding.

Sources: LlamaForCausalLMEagle3 and Eagle3DeepseekV2ForCausalLM (SGLang, vLLM), DFlashDraftModel (z-lab/dflash), and the
speculators format of vLLM, which nests the decoder under ``transformer_layer_config``.
"""

from __future__ import annotations

from clover_sim.specs.hf.attention import gqa, mla
from clover_sim.specs.hf.families.latent import latent_widths
from clover_sim.specs.hf.ffn import mlp
from clover_sim.specs.hf.fields import Fields
from clover_sim.specs.hf.layers import layer_count, windows
from clover_sim.specs.hf.parts import HEAD, NORM, OTHER, Block, Layer, Module, Plan
from clover_sim.specs.hf.standard import context, norms, shapes

_READING = {f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "q_a_proj", "kv_a_proj_with_mqa")}
"""Matrices that read what enters a layer."""


def _features(f: Fields, block: str, *keys: str) -> int | None:
    """How many layers of the target a drafter reads, where the file names them."""
    table = f.table.get(block)
    for source in (table if isinstance(table, dict) else {}, f.table):
        for key in keys:
            if isinstance(found := source.get(key), list) and found:
                return len(found)
    return None


def _mixers(f: Fields, count: int, qk_norm: str) -> list[Block]:
    bias = f.flag("attention_bias")
    if f.has("kv_lora_rank"):
        return [mla(f.whole("hidden_size", required=True), *latent_widths(f), bias=bias)] * count
    per_layer = windows(f, count, "types")
    made = {window: gqa(*shapes(f), bias=bias, qk_norm=qk_norm, window=window) for window in set(per_layer)}
    return [made[window] for window in per_layer]


def _doubled(block: Block) -> Block:
    """The attention of a layer that reads the features beside the embedding."""
    wide = (m._replace(matrix=2 * m.matrix) if m.name in _READING else m for m in block.modules)
    return block._replace(modules=tuple(wide))


def _plan(f: Fields, features: int, qk_norm: str = "", doubled: bool = False) -> Plan:
    """Layers, the projection of the features, and the head. doubled: the first layer reads two vectors."""
    count = layer_count(f)
    hidden = f.whole("hidden_size", required=True)
    rows = f.maybe("draft_vocab_size") or f.whole("vocab_size")
    network, between = mlp(hidden, f.whole("intermediate_size"), bias=f.flag("mlp_bias")), norms(hidden, 2)
    mixers = _mixers(f, count, qk_norm)
    made: dict[int, Layer] = {}
    if doubled:
        mixers[0] = _doubled(mixers[0])
    layers = tuple(made.setdefault(id(mixer), Layer((mixer, network, between))) for mixer in mixers)
    top = (
        Module("fc", OTHER, features * (f.maybe("target_hidden_size") or hidden) * hidden),
        Module("lm_head", HEAD, rows * hidden),
        Module("norm", NORM, 0, 2 * hidden),  # that of the features, and the last
    )
    return Plan(hidden, rows, False, top, layers, context(f))


def _eagle(f: Fields) -> Plan:
    """The first EAGLE: the embedding and the target's last feature, joined."""
    return _plan(f, 2)


def _eagle3(f: Fields) -> Plan:
    features = _features(f, "eagle_config", "eagle_aux_hidden_state_layer_ids")
    if features is None:
        features = 3
        f.note(f"{f.prefix}eagle_aux_hidden_state_layer_ids missing: three layers of the target")
    return _plan(f, features, doubled=True)


def _dflash(f: Fields) -> Plan:
    features = _features(f, "dflash_config", "target_layer_ids", "aux_hidden_state_layer_ids")
    if features is None:
        features = layer_count(f)
        f.note(f"{f.prefix}dflash_config.target_layer_ids missing: as many layers of the target as its own")
    return _plan(f, features, qk_norm="head")


BUILDERS = {"eagle": _eagle, "eagle3": _eagle3, "dflash": _dflash}
