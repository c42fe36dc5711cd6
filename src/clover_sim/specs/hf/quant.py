"""Reading a quantisation block: bits by part with scales, what is exempt, arithmetic, and the cache."""

from __future__ import annotations

from typing import Any

from clover_sim.errors import InputError
from clover_sim.specs.check import kind_of
from clover_sim.specs.hf.fields import Fields, shown
from clover_sim.specs.hf.parts import ATTENTION, DENSE, EMBED, HEAD, LINEAR, ROUTED, ROUTER, SHARED, Module, Plan
from clover_sim.specs.hf.quant_formats import (
    PLAIN,
    Format,
    algorithm,
    bitsandbytes,
    cache_name,
    fp8_blocks,
    integers,
    mlx,
    tensors_group,
)
from clover_sim.specs.hf.quant_rules import Rules
from clover_sim.specs.hf.stored import BLOCKS
from clover_sim.specs.hf.stored import Quantisation as Quantisation
from clover_sim.specs.model import PARTS

_LINEAR = frozenset((ATTENTION, LINEAR, DENSE, SHARED, ROUTED))
"""Parts whose matrices a block means when it names none."""


class _Scheme:
    """A block as read: the format meant when none is named, exceptions, and the parts it covers."""

    def __init__(self) -> None:
        self.method = "none"
        self.default: Format | None = None
        self.parts: frozenset[str] = _LINEAR
        self.rules = Rules()
        self.kv_cache: str | None = None
        self.base = PLAIN
        self.experts: Format | None = None
        self.note = ""


def quantisation_of(
    table: dict[str, Any], inner: dict[str, Any], quant: dict[str, Any] | None, plan: Plan, where: str
) -> Quantisation:
    """What a configuration (``inner``: its language model) and an ``hf_quant_config.json`` say."""
    scheme = _Scheme()
    block, path = _block(table, inner, quant, where)
    if block is not None:
        try:
            _read(scheme, Fields(dict(block), where, "quantisation", {}, path))
        except ValueError as error:
            raise InputError(f"{where}: {path}ignore holds {error}; expected a regular expression after re:") from None
    dtype = inner.get("expert_dtype", table.get("expert_dtype"))
    if dtype == "fp4":
        scheme.experts = Format("mxfp4", 4 + 8 / 32, 4, "fp8")
        scheme.method += " with 4-bit experts" if scheme.method != "none" else ""
    return _apply(scheme, plan)


def _block(
    table: dict[str, Any], inner: dict[str, Any], quant: dict[str, Any] | None, where: str
) -> tuple[dict[str, Any] | None, str]:
    """The block that counts and its path: the file beside the configuration, then the configuration's own."""
    own = table.get("quantization_config")
    if quant is not None and not (isinstance(own, dict) and "quantized_layers" in own):
        found = quant.get("quantization")
        if isinstance(found, dict):
            return found, "hf_quant_config.json: quantization."
    for source, prefix in ((table, ""), (inner, "text_config." if inner is not table else "")):
        for key in BLOCKS:
            found = source.get(key)
            if found is None or found == {}:
                continue
            if not isinstance(found, dict):
                raise InputError(f"{where}: {prefix}{key} is {shown(found)}; expected a table, not {kind_of(found)}")
            if (
                key == "quantization_config"
                and "quant_method" not in found
                and isinstance(source.get("quantization"), dict)
            ):
                continue  # MLX repeats its block there
            return found, f"{prefix}{key}."
    return None, ""


def _read(scheme: _Scheme, f: Fields) -> None:
    """Fill a scheme from a block."""
    method = (f.word("quant_method") or "").lower().replace("_", "-")
    if not method:
        method = "modelopt" if f.has("quant_algo") or f.has("config_groups") or f.has("quantized_layers") else "mlx"
        if method == "mlx" and not (f.has("bits") or f.has("mode")):
            scheme.note = f"{f.prefix}quant_method is missing: taken as 16-bit; give --precision"
            return
    names = f.items("modules_to_not_convert") or f.items("ignored_layers") or f.items("llm_int8_skip_modules") or []
    names = [*names, *(f.items("ignore") or []), *(f.items("exclude_modules") or []), *(f.items("exclude") or [])]
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise f.wrong(f"{f.prefix}a list of exempt modules holds {shown(name)} at {index}; expected names")
        scheme.rules.add(name, None)
    for key in ("kv_cache_scheme", "kv_cache_quant_algo", "kv_cache_dtype"):
        scheme.kv_cache = scheme.kv_cache or cache_name(f.table.get(key), f, key)
    reader = _READERS.get(method) or _rarer(method)
    scheme.method = method
    if f.has("quantized_layers") or f.has("quant_algo"):
        _modelopt(scheme, f)
    elif reader is not None:
        reader(scheme, f)
    elif f.has("bits") or f.has("w_bit"):
        bits = f.table.get("bits", f.table.get("w_bit"))
        if isinstance(bits, bool) or not isinstance(bits, (int, float)) or not 0 < bits <= 16:
            raise f.fail("bits", "a number above 0 and at most 16")
        scheme.default = Format(f"{bits:g}-bit", bits, bits)
        scheme.note = f"{f.prefix}quant_method {method!r}: scales are not counted"
    else:
        scheme.method, scheme.note = (
            "none",
            f"{f.prefix}quant_method {method!r} is not known: taken as 16-bit; give --precision",
        )


def _rarer(method: str) -> Any:
    from clover_sim.specs.hf.quant_more import READERS

    return READERS.get(method)


def _fp8(scheme: _Scheme, f: Fields) -> None:
    scheme.default = fp8_blocks(f)


def _int4(scheme: _Scheme, f: Fields) -> None:
    bits = f.whole("bits", "w_bit", high=16)
    group = f.maybe("group_size", "q_group_size", low=-1)
    scheme.default = integers(bits, group, zero=True)
    if f.table.get("lm_head") is True:
        scheme.parts |= {HEAD}
    dynamic = f.table.get("dynamic")
    for name, table in dynamic.items() if isinstance(dynamic, dict) else ():
        # GPTQModel: patterns, exempt after "-:", with other bits after "+:" or nothing.
        form = None
        if not name.startswith("-:") and isinstance(table, dict):
            inner = Fields(table, f.where, f.family, {}, f"{f.prefix}dynamic.{name[:60]}.")
            own_group = inner.maybe("group_size", low=-1)
            form = integers(inner.maybe("bits", high=16) or bits, group if own_group is None else own_group, zero=True)
        scheme.rules.add("re:" + name.removeprefix("-:").removeprefix("+:"), form)


def _mxfp4(scheme: _Scheme, f: Fields) -> None:
    scheme.default, scheme.parts = Format("mxfp4", 4 + 8 / 32, 4), frozenset((ROUTED,))


def _bnb(scheme: _Scheme, f: Fields) -> None:
    scheme.default = bitsandbytes(f)


def _mlx(scheme: _Scheme, f: Fields) -> None:
    scheme.default = mlx(f)
    scheme.parts = _LINEAR | {EMBED, HEAD, ROUTER}
    for name, value in f.table.items():
        if value is False:
            scheme.rules.add(name, None)
        elif isinstance(value, dict) and "bits" in value:
            merged = {"group_size": f.table.get("group_size"), **value}
            scheme.rules.add(name, mlx(Fields(merged, f.where, f.family, {}, f"{f.prefix}{name}.")))


def _groups(scheme: _Scheme, f: Fields) -> None:
    """Groups of compressed-tensors: the one for all linear modules, and those for named ones."""
    groups = f.table.get("config_groups")
    if not isinstance(groups, dict):
        raise f.fail("config_groups", "a table of groups")
    form = f.word("format")
    for name, group in groups.items():
        path = f"config_groups.{name[:40]}"
        if not isinstance(group, dict):
            raise f.wrong(f"{f.prefix}{path} is {shown(group)}; expected a table")
        found = tensors_group(f, group, path, form)
        targets = group.get("targets")
        for target in targets if isinstance(targets, list) else ["Linear"]:
            if not isinstance(target, str):
                raise f.wrong(f"{f.prefix}{path}.targets holds {shown(target)}; expected names")
            if target in ("Linear", "LinearBase", "FusedMoE"):
                scheme.default = found
                # Every linear module is meant, so the head too unless it is listed as exempt.
                scheme.parts = _LINEAR | {HEAD}
            else:
                scheme.rules.add(target, found)


def _modelopt(scheme: _Scheme, f: Fields) -> None:
    """ModelOpt: one algorithm for all, or one a module; the head and routers only where they are named."""
    scheme.method = "modelopt"
    scheme.default = algorithm(f.table.get("quant_algo"), f, "quant_algo")
    scheme.note = "; ".join(f.notes)
    layers = f.table.get("quantized_layers")
    if isinstance(layers, dict):
        made: dict[Any, Format | None] = {}
        for name, value in layers.items():
            if not isinstance(value, dict):
                raise f.wrong(f"{f.prefix}quantized_layers.{name[:60]} is {shown(value)}; expected a table")
            key = (str(value.get("quant_algo")), str(value.get("group_size")))
            if key not in made:
                inner = Fields(value, f.where, f.family, {}, f"{f.prefix}quantized_layers.{name[:60]}.")
                made[key] = algorithm(value.get("quant_algo"), inner, "quant_algo")
                scheme.note = scheme.note or "; ".join(inner.notes)
            scheme.rules.add(name, made[key])
        if f.has("weight_block_size") and scheme.default is None:
            scheme.default = scheme.base = fp8_blocks(f)  # the rest of such a file stays FP8 in blocks


def _gguf(scheme: _Scheme, f: Fields) -> None:
    """A file of llama.cpp: one figure for all weights, embedding and head included."""
    bits = float(f.table["bits"])
    scheme.default, scheme.parts = Format(str(f.table.get("name")).lower(), bits, bits), _LINEAR | {EMBED, HEAD}


_READERS = {
    "gguf": _gguf,
    "fp8": _fp8, "fbgemm-fp8": _fp8, "awq": _int4, "gptq": _int4, "gptq-marlin": _int4, "awq-marlin": _int4,
    "marlin": _int4, "moe-wna16": _int4, "mxfp4": _mxfp4, "bitsandbytes": _bnb, "mlx": _mlx,
    "compressed-tensors": _groups, "compressed-tensor": _groups, "modelopt": _groups, "modelopt-fp4": _groups,
}  # fmt: skip


def _apply(scheme: _Scheme, plan: Plan) -> Quantisation:
    """Add up what every module takes."""
    stored = dict.fromkeys(PARTS, 0.0)
    nominal = dict.fromkeys(PARTS, 0.0)
    weights = dict.fromkeys(PARTS, 0)
    rates: dict[str, dict[str, int]] = {}
    exempt: dict[str, None] = {}

    def add(module: Module, form: Format, times: int) -> None:
        part = module.part
        weights[part] += times * (module.matrix + module.vector)
        stored[part] += times * (module.matrix * form.bits + module.vector * 16)
        nominal[part] += times * (module.matrix * form.nominal + module.vector * 16)
        by_rate = rates.setdefault(part, {})
        by_rate[form.rate] = by_rate.get(form.rate, 0) + times * module.matrix

    def choose(module: Module, layer: int | None) -> Format:
        if not module.matrix or scheme.method == "none":
            return scheme.experts if module.part == ROUTED and scheme.experts else PLAIN
        named, form = scheme.rules.decide(layer, module.name)
        if named and (form is not None or module.part not in (ROUTED,) or scheme.experts is None):
            if form is None and module.part in scheme.parts and scheme.default is not None:
                exempt[module.name] = None
                return scheme.base
            return form or PLAIN
        if module.part == ROUTED and scheme.experts:
            return scheme.experts
        return scheme.default if scheme.default is not None and module.part in scheme.parts else PLAIN

    for module in plan.top:
        add(module, choose(module, None), 1)
    chosen: dict[Any, list[tuple[Module, Format]]] = {}
    counts: dict[Any, int] = {}
    for index, layer in enumerate(plan.layers):
        key = (id(layer), scheme.rules.layer_key(index))
        if key not in chosen:
            chosen[key] = [(m, choose(m, index)) for block in layer.blocks for m in block.modules]
        counts[key] = counts.get(key, 0) + 1
    for key, modules in chosen.items():
        for module, form in modules:
            add(module, form, counts[key])
    present = [part for part in PARTS if weights[part]]
    return Quantisation(
        method=scheme.method,
        bits={part: stored[part] / weights[part] for part in present},
        nominal_bits={part: nominal[part] / weights[part] for part in present},
        rates={part: max(rates[part], key=rates[part].__getitem__) for part in present},
        weight_bytes=sum(stored.values()) / 8,
        exempt=tuple(exempt),
        kv_cache=scheme.kv_cache,
        note=scheme.note,
    )
