"""Number formats of weights and cache: bits stored, which parts they cover, and the arithmetic they run on."""

from typing import NamedTuple

from clover_sim.errors import UsageError, suggest


class Precision(NamedTuple):
    """How weights are stored and multiplied.

    Args:
        name: as on the command line.
        bits: stored bits a weight, scales included.
        nominal_bits: bits a weight by name, without scales; what the ``floor`` cost model counts.
        rates: arithmetic peaks it runs on, best first; the first one the hardware has is taken, and where that is
            not ``bf16`` activations are quantised too (which costs time in every layer).
        scope: ``all`` weights, all ``but_head`` (head, embedding, router and norms stay 16-bit), or ``experts`` only
            (on a dense model: as ``but_head``).
        part_bits: ``(part, bits)`` pairs for a mixed format, as a checkpoint states them; parts are those of
            :data:`clover_sim.specs.model.PARTS`. Where there are any, ``scope`` does not count and a part without a
            pair is 16-bit.
    """

    name: str
    bits: float
    nominal_bits: float
    rates: tuple[str, ...] = ("bf16",)
    scope: str = "but_head"
    part_bits: tuple[tuple[str, float], ...] = ()


PRECISIONS: dict[str, Precision] = {
    p.name: p
    for p in (
        Precision("bf16", 16, 16, scope="all"),
        # Block-wise scales: 32 bits for 128 x 128 weights, plus padding; the head stays 16-bit in published releases.
        Precision("fp8", 8.06, 8, ("fp8", "bf16")),
        # Per-channel scales, weight only: the arithmetic stays 16-bit (W8A16).
        Precision("int8", 8.03, 8),
        # AWQ and GPTQ with groups of 128: 4 bits, a 16-bit scale and a 4-bit zero point, 4.13 to 4.16.
        Precision("int4", 4.15, 4),
        # 16 weights share an 8-bit scale; on hardware without 4-bit units the weights are unpacked to 16 bits.
        Precision("nvfp4", 4.5, 4, ("fp4", "bf16")),
        # 32 weights share an 8-bit scale; gpt-oss, the model that made it known, quantises its experts only.
        Precision("mxfp4", 4.25, 4, scope="experts"),
    )
}
"""The formats known by name. Sources: the layouts' own definitions (OCP MX, NVIDIA NVFP4), public checkpoints."""

_ALIASES = {"bfloat16": "bf16", "fp16": "bf16", "float16": "bf16", "auto": "bf16", "fp8_e4m3": "fp8"}

KV_BITS: dict[str, float] = {
    "auto": 16, "bf16": 16, "bfloat16": 16, "fp16": 16, "float16": 16,
    "fp8": 8, "fp8_e4m3": 8, "fp8_e5m2": 8, "int8": 8, "nvfp4": 4.5, "int4": 4.5,
}  # fmt: skip
"""Bits a cached element, by the names vLLM's ``--kv-cache-dtype`` uses; 4-bit caches carry a scale per 16."""


def weight_precision(name: str) -> Precision:
    """The weight format of that name, or so many bits a weight throughout, weight only: ``"4.85"``.

    Raises:
        UsageError: not a known name, nor a number of bits from 1 to 32.

    >>> weight_precision("nvfp4").bits, weight_precision("4.85").bits
    (4.5, 4.85)
    """
    known = PRECISIONS.get(_ALIASES.get(name.lower(), name.lower()))
    if known is not None:
        return known
    bits = _bits("precision", name, PRECISIONS)
    return Precision(name, bits, bits, scope="all")


def kv_bits(name: str) -> float:
    """Bits of a cached element from the name of its format, or from a number of bits.

    >>> kv_bits("fp8"), kv_bits("8.5")
    (8, 8.5)
    """
    known = KV_BITS.get(name.lower())
    return _bits("kv-cache-dtype", name, KV_BITS) if known is None else known


def _bits(what: str, name: str, known: dict[str, Precision] | dict[str, float]) -> float:
    try:
        bits = float(name)
    except ValueError:
        raise UsageError(f"unknown {what} {name!r}{suggest(name.lower(), known)}; or a number of bits") from None
    if not 1 <= bits <= 32:
        raise UsageError(f"{what} is {name}; expected 1 to 32 bits")
    return bits
