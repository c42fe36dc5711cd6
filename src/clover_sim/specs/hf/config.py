"""A model from its own ``config.json``: counts by part, caches, how weights are stored, and what was assumed."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from clover_sim.errors import InputError
from clover_sim.specs.check import kind_of
from clover_sim.specs.hf.alike import by_class, decoder_of, drafter_of
from clover_sim.specs.hf.families import ALIASES, find
from clover_sim.specs.hf.fields import Fields, shown
from clover_sim.specs.hf.parts import Plan, index_elements, spec_of
from clover_sim.specs.hf.read import locate, read_json
from clover_sim.specs.hf.refuse import check_kind, refused, unknown_type
from clover_sim.specs.hf.stored import BLOCKS, Quantisation, plain
from clover_sim.specs.model import ModelSpec, Reading

NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
"""Keys under which a multimodal configuration holds its language model."""

_WARNINGS = {
    "kimi_k25": "the vision projector, which transformers files under the language model, is not counted",
    "deepseek_v4": "compressed caches and hyper-connections as transformers builds them; no other count confirms them",
    "eagle": "a drafter, for --drafter: counted without an embedding and with a head, both of them its target's",
    "eagle3": "a drafter, for --drafter: counted without an embedding, as it uses its target's",
    "dflash": "a drafter, for --drafter: counted without an embedding and with a head, both of them its target's",
    "step3p5": "head gates as transformers builds them; publishers' stated size differs by 1 %",
    "minimax_m3_vl_text": "block-sparse indexers as transformers builds them; publishers' stated sizes differ by 0.3 %",
}

_BY_ARCHITECTURE = {
    "DeciLMForCausalLM": "nemotron-nas", "LLaDAMoEModelLM": "llada", "LLaDA2MoeModelLM": "llada2_moe",
    "DreamModel": "dream",
}  # fmt: skip
"""Families of classes that are named otherwise, for files whose ``model_type`` is missing or a stand-in."""


class ConfigModel(NamedTuple):
    """What a configuration file says about a model.

    Args:
        spec: parameters by part, cached elements and state of the language model.
        path, model_type, family: the file, what it calls itself, and the family it was counted as.
        notes: every default that was filled in, and what else a reader must know. warnings: where care is due.
        quantisation: how the weights are stored, part by part.
        vision_params, mtp_params: parameters of the vision tower and of the layers for multi-token prediction,
            counted in no other figure; ``None`` where they cannot be derived (or there are none).
        index_elements_per_token: elements a token cached by sparse-attention indexers, beside the K/V.
    """

    spec: ModelSpec
    path: str
    model_type: str
    family: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    quantisation: Quantisation
    vision_params: int | None = None
    mtp_params: int | None = None
    index_elements_per_token: int = 0

    @property
    def active_params(self) -> dict[Reading, int]:
        """Active parameters under the three readings publishers use."""
        readings: tuple[Reading, ...] = ("with_head", "no_embedding", "with_both")
        return {reading: self.spec.active(reading) for reading in readings}


def load_config(path: str | os.PathLike[str]) -> ConfigModel:
    """The model of a ``config.json``, of a directory that holds one, or of GGUF metadata as JSON.

    An ``hf_quant_config.json`` beside it is read too.

    Raises:
        InputError: the file cannot be read, is no model configuration, names a model that cannot be counted, or holds
            a figure that cannot be right. One line: file and key, what was found, what was expected.
    """
    file, extra = locate(os.fspath(path))
    return config_model(read_json(file), file, read_json(extra) if extra else None)


def config_model(table: dict[str, Any], where: str, quant: dict[str, Any] | None = None) -> ConfigModel:
    """The model of a decoded configuration. quant: the decoded ``hf_quant_config.json``, if there is one."""
    converted = ""
    if "general.architecture" in table or "metadata" in table:
        from clover_sim.specs.hf.gguf import from_gguf, is_gguf

        if is_gguf(table):
            table = from_gguf(table, where)
            converted = f"GGUF metadata, read as a configuration of {table['model_type']}"
    check_kind(table, where)
    drafter = drafter_of(table)
    inner, prefix = (decoder_of(table), "") if drafter else _language_model(table, where)
    model_type, family, builder, taken = _family(table, inner, where, prefix, drafter)
    from clover_sim.specs.hf.defaults import defaults_of

    outer = table if inner is not table else None
    fields = Fields(dict(inner), where, family, defaults_of(family), prefix, outer)
    for note in filter(None, (converted, taken)):
        fields.note(note)
    plan: Plan = builder(fields)
    if not sum(module.matrix for layer in plan.layers for block in layer.blocks for module in block.modules):
        raise InputError(f"{where}: no layer has any weight; expected a model")
    try:
        spec = spec_of(plan, _name(table, where), (os.path.basename(where),))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    from clover_sim.specs.hf.extras import mtp_params, vision_params

    if quant is None and not any(source.get(key) for source in (table, inner) for key in (*BLOCKS, "expert_dtype")):
        quantisation = plain(spec)
    else:
        from clover_sim.specs.hf.quant import quantisation_of

        quantisation = quantisation_of(table, inner, quant, plan, where)
    warnings = [_WARNINGS[key] for key in dict.fromkeys((model_type, family)) if key in _WARNINGS]
    if quantisation.note:
        warnings.append(quantisation.note)
    return ConfigModel(
        spec=spec, path=where, model_type=model_type, family=family,
        notes=tuple(fields.notes), warnings=tuple(warnings), quantisation=quantisation,
        vision_params=vision_params(table, where, model_type), mtp_params=mtp_params(fields, plan),
        index_elements_per_token=index_elements(plan),
    )  # fmt: skip


def _language_model(table: dict[str, Any], where: str) -> tuple[dict[str, Any], str]:
    """The table of the language model and its path: the file itself, or what it nests."""
    prefix = ""
    for _ in range(3):  # an omni model nests its thinker, which nests its text model
        key = next((name for name in NESTED if table.get(name) is not None), None)
        if key is None:
            return table, prefix
        inner = table[key]
        if not isinstance(inner, dict):
            raise InputError(f"{where}: {prefix}{key} is {shown(inner)}; expected a table, not {kind_of(inner)}")
        table, prefix = inner, f"{prefix}{key}."
    return table, prefix


def _family(
    table: dict[str, Any], inner: dict[str, Any], where: str, prefix: str, drafter: str = ""
) -> tuple[str, str, Any, str]:
    """The file's own type, its family, the builder, and a note where the type had to be read from elsewhere."""
    drafting = find(drafter) if drafter else None
    if drafting:
        own = inner.get("model_type")
        return own if isinstance(own, str) and own else drafter, *drafting, ""
    stated: list[tuple[str, str]] = []
    for source, path in ((inner, prefix + "model_type"), (table, "model_type")):
        value = source.get("model_type")
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise InputError(f"{where}: {path} is {shown(value)}; expected text, not {kind_of(value)}")
        stated.append((path, value))
    outer_type = stated[-1][1] if stated else ""
    for path, value in reversed(stated):
        if refused(value):
            raise unknown_type(value, where, path)
    for path, value in stated:
        found = find(value)
        if found:
            note = "" if value == found[0] or value in ALIASES else f"{path} {value!r} is counted as {found[0]}"
            return outer_type, *found, note
    classes = table.get("architectures") or inner.get("architectures")
    for name in classes if isinstance(classes, list) else ():
        family = _BY_ARCHITECTURE.get(name) or by_class(name) if isinstance(name, str) else None
        found = find(family) if family else None
        if found:
            word = f"{stated[0][0]} {stated[0][1][:40]!r}" if stated else "model_type missing:"
            return outer_type or found[0], *found, f"{word} counted as {found[0]}, by its class {name}"
    if stated:
        raise unknown_type(stated[0][1], where, stated[0][0], inner)
    raise InputError(f'{where}: model_type is missing; expected one, such as "llama"')


def _name(table: dict[str, Any], where: str) -> str:
    """A name for the model: of its file, or of the directory of a ``config.json``."""
    from clover_sim.specs.hardware import slug

    path, name = os.path.split(os.path.abspath(where))
    cache, kept = os.path.split(os.path.dirname(path))
    if kept == "snapshots":  # of a download cache, where the directory is a hash: models--owner--name/snapshots/hash
        path = os.path.basename(cache).rpartition("--")[2]
    stem = os.path.basename(path) if name == "config.json" else name.removesuffix(".json")
    return slug(stem) or "custom"
