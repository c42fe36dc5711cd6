"""Number formats that quantisation blocks name, with the bits they really store: weights, scales and zero points."""

from __future__ import annotations

from typing import Any, NamedTuple

from clover_sim.specs.hf.fields import Fields, shown


class Format(NamedTuple):
    """How a matrix is stored and multiplied.

    Args:
        name: short name. bits: stored bits a weight, scales and zero points included. nominal: bits by name.
        rate: arithmetic its products run on where the hardware has it: ``fp4``, ``fp8``, ``int8`` or ``bf16``.
    """

    name: str
    bits: float
    nominal: float
    rate: str = "bf16"


PLAIN = Format("bf16", 16, 16)

_BLOCK = 32 / (128 * 128)
"""A 32-bit scale for 128 x 128 weights."""

_ALGORITHMS: dict[str, Format] = {
    "FP8": Format("fp8", 8, 8, "fp8"),
    "FP8_PER_CHANNEL_PER_TOKEN": Format("fp8", 8, 8, "fp8"),
    "FP8_PB_REAL": Format("fp8", 8 + _BLOCK, 8, "fp8"),
    "FP8_PB_WO": Format("fp8", 8 + _BLOCK, 8),
    "MXFP8": Format("mxfp8", 8 + 8 / 32, 8, "fp8"),
    "NVFP4": Format("nvfp4", 4 + 8 / 16, 4, "fp4"),
    "NVFP4_AWQ": Format("nvfp4", 4 + 8 / 16, 4, "fp4"),
    "W4A16_NVFP4": Format("nvfp4", 4 + 8 / 16, 4),
    "W4A8_NVFP4_FP8": Format("nvfp4", 4 + 8 / 16, 4, "fp8"),
    "MXFP4": Format("mxfp4", 4 + 8 / 32, 4, "fp4"),
    "W4A16_MXFP4": Format("mxfp4", 4 + 8 / 32, 4),
    "W4A8_MXFP4_FP8": Format("mxfp4", 4 + 8 / 32, 4, "fp8"),
    "INT8": Format("int8", 8, 8, "int8"),
    "W8A8_SQ_PER_CHANNEL": Format("int8", 8, 8, "int8"),
    "INT8_SQ": Format("int8", 8, 8, "int8"),
    "W8A16": Format("int8", 8, 8),
    "INT4_AWQ": Format("int4", 4 + 16 / 128, 4),
    "W4A16_AWQ": Format("int4", 4 + 16 / 128, 4),
    "W4A16": Format("int4", 4 + 16 / 128, 4),
    "W4A8_AWQ": Format("int4", 4 + 16 / 128, 4, "fp8"),
}
"""Formats by the names ModelOpt gives them. Sources: its documentation, OCP MX, NVIDIA NVFP4."""


def algorithm(name: Any, f: Fields, key: str) -> Format | None:
    """The format of a ModelOpt algorithm; ``None`` for none at all, or for one not known, which is noted."""
    if name is None or name in ("", "NO_QUANT", "None", "MIXED_PRECISION"):
        return None
    if not isinstance(name, str):
        raise f.fail(key, "text such as FP8 or NVFP4")
    found = _ALGORITHMS.get(name.upper())
    if found is None:
        f.note(f"{f.prefix}{key} {shown(name)} is not known: taken as 16-bit; give --precision")
        return None
    group = f.maybe("group_size", low=-1) if f.has("group_size") else None
    if group and group > 0 and found.name == "int4":
        return found._replace(bits=4 + 16 / group)
    return found


def integers(bits: int, group: int | None, *, zero: bool, scale_bits: int = 16, rate: str = "bf16") -> Format:
    """Integers in groups: each group has a scale and, where ``zero``, a zero point as wide as a weight."""
    extra = (scale_bits + (bits if zero else 0)) / group if group and group > 0 else 0
    return Format(f"int{bits}", bits + extra, bits, rate)


def fp8_blocks(f: Fields) -> Format:
    """FP8 with a 32-bit scale a block (or a tensor)."""
    block = f.items("weight_block_size")
    if block is None:
        return Format("fp8", 8, 8, "fp8")
    sizes = [size for size in block if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 1 << 20]
    if len(sizes) != 2 or len(block) != 2:
        raise f.fail("weight_block_size", "two whole numbers such as [128, 128]")
    return Format("fp8", 8 + 32 / (sizes[0] * sizes[1]), 8, "fp8")


def tensors_group(f: Fields, group: dict[str, Any], path: str, form: str | None) -> Format:
    """The format of one group of compressed-tensors (or of ModelOpt's form of it)."""
    weights = group.get("weights")
    if not isinstance(weights, dict):
        raise f.wrong(f"{f.prefix}{path}.weights is missing; expected a table with num_bits and type")
    w = Fields(weights, f.where, f.family, {}, f"{f.prefix}{path}.weights.")
    bits = w.whole("num_bits", high=16)
    kind = w.word("type") or "int"
    size = w.maybe("group_size", low=-1) if w.has("group_size") else None
    rate = _activations(group.get("input_activations"), kind)
    form = group["format"] if isinstance(group.get("format"), str) else form
    if kind == "float" and bits == 4:
        small = "mxfp4" if (form or "").startswith("mxfp4") or size == 32 else "nvfp4"
        return Format(small, 4 + (8 / 32 if small == "mxfp4" else 8 / 16), 4, rate)
    if kind == "float" and bits == 8:
        if size == 32 and (form or "").startswith("mx"):
            return Format("mxfp8", 8 + 8 / 32, 8, rate)
        block = w.items("block_structure")
        per = block[0] * block[1] if block and all(isinstance(b, int) and b > 0 for b in block[:2]) else 0
        return Format("fp8", 8 + (32 / per if per else 0), 8, rate)
    symmetric = w.flag("symmetric") if w.has("symmetric") else True
    return integers(bits, size, zero=not symmetric, rate=rate)


def _activations(value: Any, kind: str) -> str:
    """The arithmetic that quantised activations allow."""
    if not isinstance(value, dict):
        return "bf16"
    bits = value.get("num_bits")
    if bits == 8:
        return "int8" if value.get("type") == "int" or (kind == "int" and value.get("type") != "float") else "fp8"
    return "fp4" if bits == 4 and value.get("type") == "float" else "bf16"


def mlx(f: Fields) -> Format:
    """MLX: groups with a 16-bit scale and a 16-bit bias, or the MX formats."""
    mode = f.word("mode")
    if mode in ("mxfp4", "nvfp4", "mxfp8"):
        return _ALGORITHMS[mode.upper()]._replace(rate="bf16")
    bits, group = f.whole("bits", high=16), f.whole("group_size", high=4096)
    return Format(f"int{bits}", bits + 32 / group, bits)


def bitsandbytes(f: Fields) -> Format:
    """NF4 with a scale for every 64 weights (quantised once more or not), or 8-bit integers with one a row."""
    if f.has("load_in_8bit") and f.flag("load_in_8bit"):
        return Format("int8", 8, 8, "int8")
    double = f.flag("bnb_4bit_use_double_quant") if f.has("bnb_4bit_use_double_quant") else False
    return Format("nf4", 4 + (8 / 64 + 32 / (64 * 256) if double else 32 / 64), 4)


def cache_name(value: Any, f: Fields, key: str) -> str | None:
    """The format of the cache that a block asks for, by the names of :data:`clover_sim.specs.precision.KV_BITS`."""
    if value is None or value in ("", "auto", "None"):
        return None
    if isinstance(value, dict):
        bits = value.get("num_bits")
        if bits == 8:
            return "int8" if value.get("type") == "int" else "fp8"
        if bits == 4:
            return "nvfp4" if value.get("type") == "float" else "int4"
    elif isinstance(value, str) and value.upper() in ("FP8", "INT8", "NVFP4", "INT4", "BF16", "FP16"):
        return value.lower()
    raise f.fail(key, "FP8, INT8 or NVFP4, or a table with num_bits and type")
