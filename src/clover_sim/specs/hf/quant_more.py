"""Blocks of quantisers beside the usual ones: torchao, Quark, HQQ, Quanto, AutoRound, AQLM, and formats of servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clover_sim.specs.hf.fields import Fields
from clover_sim.specs.hf.quant_formats import Format, fp8_blocks, integers

MXFP4, NVFP4 = Format("mxfp4", 4 + 8 / 32, 4, "fp4"), Format("nvfp4", 4 + 8 / 16, 4, "fp4")
MXFP8 = Format("mxfp8", 8 + 8 / 32, 8, "fp8")
FP8, INT8 = Format("fp8", 8, 8, "fp8"), Format("int8", 8, 8, "int8")


def _zeroed(bits: int, group: int | None) -> Format:
    """Integers in groups with a 16-bit scale and a 16-bit zero point, as torchao, HQQ and Quanto keep them."""
    return Format(f"int{bits}", bits + (32 / group if group and group > 0 else 0), bits)


def _torchao(scheme: Any, f: Fields) -> None:
    """``quant_type``: a name, or a table of modules with a ``default`` that names its class."""
    stated: Any = f.table.get("quant_type")
    chosen: Any = stated.get("default", stated.get("_default")) if isinstance(stated, dict) else stated
    data = f.table.get("quant_type_kwargs")
    if isinstance(chosen, dict):
        chosen, data = chosen.get("_type"), chosen.get("_data")
    name = str(chosen or "").lower().replace("_", "")
    group = data.get("group_size") if isinstance(data, dict) else None
    group = group if isinstance(group, int) and group > 0 else None
    if "nvfp4" in name:
        scheme.default = NVFP4
    elif "mx" in name:
        scheme.default = MXFP8 if "float8" in name or "fp8" in name else MXFP4
    elif "float8" in name or "fp8" in name:
        scheme.default = FP8 if "dynamicactivation" in name else FP8._replace(rate="bf16")
    elif "int4" in name:
        scheme.default = _zeroed(4, group or (32 if "dynamicactivation" in name else 128))
    elif "int8" in name:
        scheme.default = INT8 if "dynamicactivation" in name else INT8._replace(rate="bf16")
    else:
        scheme.note = f"{f.prefix}quant_type is not known: taken as 16-bit; give --precision"


def _quark_format(table: Any) -> Format | None:
    """One entry of Quark: the format of its weights, and the arithmetic its inputs allow."""
    weight = table.get("weight") if isinstance(table, dict) else None
    weight = weight[-1] if isinstance(weight, list) and weight else weight
    if not isinstance(weight, dict):
        return None
    kind, group = str(weight.get("dtype", "")).lower(), weight.get("group_size")
    inputs = table.get("input_tensors")
    inputs = inputs[-1] if isinstance(inputs, list) and inputs else inputs
    read = str(inputs.get("dtype", "")).lower() if isinstance(inputs, dict) else ""
    rate = next((rate for rate in ("fp4", "fp8", "int8") if read.startswith(rate)), "bf16")
    if kind.startswith("fp4"):
        return (NVFP4 if group == 16 else MXFP4)._replace(rate=rate)
    if kind.startswith("fp8"):
        return (MXFP8 if group == 32 else FP8)._replace(rate=rate)
    digits = kind.lstrip("u").removeprefix("int")
    if digits.isdecimal() and 0 < int(digits) <= 8:
        sized = group if isinstance(group, int) and group > 0 else None
        return integers(int(digits), sized, zero=kind.startswith("u"), rate=rate)
    return None


def _quark(scheme: Any, f: Fields) -> None:
    scheme.default = _quark_format(f.table.get("global_quant_config"))
    layers = f.table.get("layer_quant_config")
    for name, table in layers.items() if isinstance(layers, dict) else ():
        scheme.rules.add(name, _quark_format(table))
    if scheme.default is None:
        scheme.note = f"{f.prefix}global_quant_config is not known: taken as 16-bit; give --precision"


def _hqq(scheme: Any, f: Fields) -> None:
    inner = f.table.get("quant_config")
    weights = inner.get("weight_quant_params") if isinstance(inner, dict) else f.table
    w = Fields(weights if isinstance(weights, dict) else {}, f.where, f.family, {}, f.prefix)
    scheme.default = _zeroed(w.whole("nbits", high=16), w.maybe("group_size"))
    for name in f.items("skip_modules") or []:
        scheme.rules.add(str(name), None)


def _quanto(scheme: Any, f: Fields) -> None:
    word = f.word("weights", choices=("int2", "int4", "int8", "float8"))
    scheme.default = FP8._replace(rate="bf16") if word == "float8" else _zeroed(
        int((word or "int8")[3:]), None if word in (None, "int8") else 128
    )  # fmt: skip


def _autoround(scheme: Any, f: Fields) -> None:
    """Integers in groups, or MX and NV floats; ``extra_config`` names modules with other bits."""

    def form(table: Fields) -> Format | None:
        bits = table.maybe("bits", high=32)
        bits = f.whole("bits", high=16) if bits is None else bits
        if bits >= 16:
            return None
        word = table.word("data_type") or f.word("data_type") or "int"
        act = table.table.get("act_bits", f.table.get("act_bits"))
        rate = {4: f"fp{bits}", 8: "fp8"}.get(act, "bf16") if type(act) is int else "bf16"
        if word.startswith(("mx_fp", "nv_fp")):
            return ((MXFP4 if bits == 4 else MXFP8) if word.startswith("mx") else NVFP4)._replace(rate=rate)
        if word.startswith("fp"):
            return FP8._replace(rate=rate)
        group = table.maybe("group_size", low=-1)
        return integers(bits, f.maybe("group_size", low=-1) if group is None else group, zero=True)

    scheme.default = form(f)
    extra = f.table.get("extra_config")
    for name, table in extra.items() if isinstance(extra, dict) else ():
        if isinstance(table, dict):
            plain = name.replace("\\.", ".").replace(".*", "*")
            scheme.rules.add(plain, form(Fields(table, f.where, f.family, {}, f"{f.prefix}extra_config.{name[:60]}.")))


def _aqlm(scheme: Any, f: Fields) -> None:
    code, books = f.whole("nbits_per_codebook", high=32), f.whole("num_codebooks", high=64)
    bits = code * books / (f.whole("in_group_size", high=4096) * (f.maybe("out_group_size", high=4096) or 1))
    scheme.default = Format(f"{bits:g}-bit", bits, bits)
    for name in f.items("linear_weights_not_to_quantize") or []:
        scheme.rules.add(str(name).removesuffix(".weight"), None)


def _fp_quant(scheme: Any, f: Fields) -> None:
    scheme.default = NVFP4 if f.word("forward_dtype") == "nvfp4" else MXFP4


def _w4afp8(scheme: Any, f: Fields) -> None:
    """SGLang's: routed experts in 4-bit integers, everything else in FP8."""
    scheme.default, scheme.experts = fp8_blocks(f), integers(4, 128, zero=False, rate="fp8")


def _always(form: Format) -> Callable[[Any, Fields], None]:
    def read(scheme: Any, f: Fields) -> None:
        scheme.default = form

    return read


READERS: dict[str, Callable[[Any, Fields], None]] = {
    "torchao": _torchao, "quark": _quark, "hqq": _hqq, "quanto": _quanto, "auto-round": _autoround,
    "intel/auto-round": _autoround, "aqlm": _aqlm, "fp-quant": _fp_quant, "w4afp8": _w4afp8,
    "eetq": _always(INT8._replace(rate="bf16")), "bitnet": _always(Format("ternary", 2, 2)),
    "w8a8-int8": _always(INT8), "blockwise-int8": _always(INT8), "w8a8-fp8": _always(FP8), "mxfp8": _always(MXFP8),
    "petit-nvfp4": _always(NVFP4._replace(rate="bf16")), "nvfp4": _always(NVFP4),
    "modelopt-fp8": _always(FP8),
}  # fmt: skip
"""Reader by the name of the method."""
