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

_ALIASES = {
    **dict.fromkeys(("bfloat16", "fp16", "float16", "half", "f16", "auto"), "bf16"),
    **dict.fromkeys(("float8", "fp8-e4m3", "fp8-e4m3fn", "float8-e4m3fn", "fp8-e5m2", "fp8-w8a8"), "fp8"),
    **dict.fromkeys(("w8a16", "gptq-int8"), "int8"),
    **dict.fromkeys(
        ("awq", "gptq", "w4a16", "awq-int4", "gptq-int4", "int4-awq", "int4-gptq", "awq-marlin", "gptq-marlin"), "int4"
    ),
    "modelopt-fp4": "nvfp4",
}
"""Other names of the same layouts, as engines and checkpoints write them, with dashes; ``auto`` is the model's own."""

_NEAREST = {
    "fp4": "nvfp4 or mxfp4", "nf4": "int4", "bnb": "int4 or int8", "bitsandbytes": "int4 or int8", "4bit": "int4",
    "4-bit": "int4", "8bit": "int8 or fp8", "8-bit": "int8 or fp8", "w8a8": "fp8 (8-bit arithmetic) or int8 (weights "
    "alone)", "w4a8": "int4 (weights alone)", "w4afp8": "int4 (weights alone)", "mxfp8": "fp8", "mxfp6": "6.25",
    "fp6": "6", "fp32": "32", "float32": "32", "float": "32", "f32": "32", "tf32": "32", "modelopt": "fp8 or nvfp4",
    "marlin": "int4", "hqq": "int4", "exl2": "its bits a weight, as 4.0", "compressed-tensors": "w4a16 or fp8, as "
    "the checkpoint says", "gguf": "its mixture, as q4-k-m",
}  # fmt: skip
"""What people type that says too little, or means arithmetic that is not priced, and what comes nearest."""

GGUF_BITS = {
    "q2-k": 3.0, "q3-k-s": 3.5, "q3-k-m": 3.91, "q3-k-l": 4.22, "iq3-xxs": 3.2, "iq3-s": 3.5, "iq3-m": 3.7,
    "q4-0": 4.55, "q4-1": 5.0, "q4-k-s": 4.58, "q4-k-m": 4.85, "iq4-xs": 4.37, "iq4-nl": 4.56, "q5-0": 5.5, "q5-1": 6.0,
    "q5-k-s": 5.54, "q5-k-m": 5.69, "q6-k": 6.57, "q8-0": 8.5, "ud-q2-k-xl": 3.1, "ud-q3-k-xl": 4.0, "ud-q4-k-xl": 4.89,
    "ud-q5-k-xl": 5.75, "ud-q6-k-xl": 7.0, "ud-q8-k-xl": 9.6, "q8-k-xl": 9.6, "q6-k-xl": 7.0, "q4-k-xl": 4.89,
}  # fmt: skip
"""Mean bits a weight of GGUF files by the name of their mixture: published sizes over parameters (32 B models), or the
format's own. Of a smaller model they hold up to 0.1 more: the embedding keeps more bits."""

KV_BITS: dict[str, float] = {
    "auto": 16, "bf16": 16, "bfloat16": 16, "fp16": 16, "float16": 16,
    "fp8": 8, "fp8_e4m3": 8, "fp8_e5m2": 8, "int8": 8, "nvfp4": 4.5, "int4": 4.5,
}  # fmt: skip
"""Bits a cached element, by the names vLLM's ``--kv-cache-dtype`` uses; 4-bit caches carry a scale per 16."""

_KV_ALIASES = {
    "half": 16, "f16": 16, "fp8-e4m3": 8, "fp8-e4m3fn": 8, "fp8-e5m2": 8, "q8-0": 8.5, "q5-1": 6, "q5-0": 5.5,
    "q4-1": 5, "q4-0": 4.5, "iq4-nl": 4.5,
}  # fmt: skip
"""The same in other spellings, and llama.cpp's ``--cache-type-k``: blocks of 32 with one scale or two of 16 bits."""


def weight_precision(name: str) -> Precision:
    """The weight format of that name, or so many bits a weight throughout, weight only: ``"4.85"``.

    A mixture of GGUF counts its mean bits throughout.

    Raises:
        UsageError: not a known name, nor a number of bits from 1 to 32.

    >>> weight_precision("nvfp4").bits, weight_precision("4.85").bits
    (4.5, 4.85)
    >>> weight_precision("AWQ").name, weight_precision("half").name, weight_precision("Q4_K_M").bits
    ('int4', 'bf16', 4.85)
    """
    word = name.lower().replace("_", "-")
    known = PRECISIONS.get(_ALIASES.get(word, word))
    if known is not None:
        return known
    if word in GGUF_BITS:
        return Precision(name, GGUF_BITS[word], GGUF_BITS[word], scope="all")
    if word in _NEAREST:
        raise UsageError(f"precision {name!r} is no format here; nearest: {_NEAREST[word]}; or a number of bits")
    bits = _bits("precision", name, PRECISIONS)
    return Precision(name, bits, bits, scope="all")


def kv_bits(name: str) -> float:
    """Bits of a cached element from the name of its format, or from a number of bits.

    >>> kv_bits("fp8"), kv_bits("8.5")
    (8, 8.5)
    """
    word = name.lower()
    known = KV_BITS.get(word, _KV_ALIASES.get(word.replace("_", "-")))
    return _bits("kv-cache-dtype", name, KV_BITS) if known is None else known


def _bits(what: str, name: str, known: dict[str, Precision] | dict[str, float]) -> float:
    try:
        bits = float(name)
    except ValueError:
        names = [*known, *GGUF_BITS] if what == "precision" and name.lower().startswith(("q", "iq", "ud-")) else known
        hint = suggest(name.lower().replace("_", "-"), names).removesuffix("?")
        raise UsageError(f"unknown {what} {name!r}{hint}, or a number of bits") from None
    if not 1 <= bits <= 32:
        raise UsageError(f"{what} is {name}; expected 1 to 32 bits")
    return bits
