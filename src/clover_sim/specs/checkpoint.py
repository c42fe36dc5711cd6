"""A model from a file of its own: the configuration of a checkpoint, or a table of this package's keys in JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from clover_sim.specs.hf.config import config_model
from clover_sim.specs.hf.quant import Quantisation
from clover_sim.specs.hf.read import locate, read_json
from clover_sim.specs.model import ModelSpec, model_from_table
from clover_sim.specs.precision import Precision


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model and how its file says that it is stored.

    Args:
        spec: the counts. precision: the file's own format of the weights, ``None`` where it states none (bf16).
        notes, warnings: defaults that were filled in; where care is due.
        vision_params, mtp_params: parameters counted nowhere else, ``None`` if unknown or there are none.
        index_elements_per_token: cached elements a token of a sparse-attention indexer, beside the K/V.
    """

    spec: ModelSpec
    precision: Precision | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    vision_params: int | None = None
    mtp_params: int | None = None
    index_elements_per_token: int = 0


def load_checkpoint(path: str) -> Checkpoint:
    """Read a ``config.json``, a directory that holds one, GGUF metadata as JSON, or a model file in JSON.

    Raises:
        InputError: the file cannot be used; one line with file and key.
    """
    file, extra = locate(path)
    table = read_json(file)
    if "params" in table or any(key.endswith("_params") for key in table):
        return Checkpoint(model_from_table(table, file))
    found = config_model(table, file, read_json(extra) if extra else None)
    spec = found.spec
    if found.family in HALF_LAYERS:
        spec = replace(spec, blocks=spec.layers)
    absorbed = _absorbed_width(table)
    if absorbed:
        spec = replace(spec, query_width=absorbed)
    if found.index_elements_per_token:
        spec = replace(spec, index_layers=_index_layers(table, found.index_elements_per_token))
    return Checkpoint(
        spec, own_precision(spec, found.quantisation), found.notes, found.warnings,
        found.vision_params, found.mtp_params, found.index_elements_per_token,
    )  # fmt: skip


def _absorbed_width(table: dict[str, Any]) -> int:
    """Query width of latent attention as it decodes: scores over the latent and the rotary part, values over the
    latent, so heads x (2 rank + rope) / 2. 0 for other attention.
    """
    inner = table.get("text_config")
    keys = ("num_attention_heads", "kv_lora_rank", "qk_rope_head_dim")
    found = [(inner if isinstance(inner, dict) else table).get(key) for key in keys]
    heads, rank, rope = (value if isinstance(value, int) and value > 0 else 0 for value in found)
    return heads * (2 * rank + rope) // 2 if rank and rope else 0


def _index_layers(table: dict[str, Any], elements: int) -> int:
    """Layers with an indexer: its cached elements over those of one layer, 128 where the file does not say."""
    inner = table.get("text_config")
    width = (inner if isinstance(inner, dict) else table).get("index_head_dim") or 128
    return elements // int(width)


HALF_LAYERS = frozenset(("nemotron_h", "mamba2"))
"""Families whose layers are one mixer or one feed-forward network each."""


def own_precision(model: ModelSpec, quantisation: Quantisation) -> Precision | None:
    """The format that a configuration states, as a precision; ``None`` for plain 16-bit weights.

    Arithmetic runs at the rate of the part that most multiplications of a token are with.
    """
    if not quantisation.is_quantised:
        return None
    active = {part: getattr(model, part) for part in quantisation.bits if part != "embed_params"}
    if "routed_expert_params" in active:
        active["routed_expert_params"] = model.active_expert_params
    total = sum(active.values())
    largest = max(active, key=lambda part: active[part])
    rate = quantisation.rates.get(largest, "bf16")
    return Precision(
        name=quantisation.method,
        bits=sum(quantisation.bits[part] * params for part, params in active.items()) / total,
        nominal_bits=sum(quantisation.nominal_bits[part] * params for part, params in active.items()) / total,
        rates=(rate, "bf16") if rate != "bf16" else ("bf16",),
        part_bits=tuple(quantisation.bits.items()),
    )
