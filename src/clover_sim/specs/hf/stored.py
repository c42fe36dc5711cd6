"""How a checkpoint stores its weights, and what is true of one without a quantisation block."""

from __future__ import annotations

from typing import NamedTuple

from clover_sim.specs.model import PARTS, ModelSpec

BLOCKS = ("quantization_config", "compression_config", "quantization")
"""Keys under which a configuration says how its weights are stored."""


class Quantisation(NamedTuple):
    """How weights are stored.

    Args:
        method: in words, ``none`` for plain 16-bit weights.
        bits: stored bits a weight by part (a name of ``PARTS``), scales and 16-bit vectors included; parts that the
            model has not are left out. nominal_bits: the same without scales.
        rates: arithmetic by part, of the format most of its weights have.
        weight_bytes: of the whole language model as stored.
        exempt: modules left at 16 bits though their kind is quantised, in this package's spelling.
        kv_cache: format of the cache the file asks for, ``None`` if it does not say.
        note: what could not be read, empty if all could.
    """

    method: str
    bits: dict[str, float]
    nominal_bits: dict[str, float]
    rates: dict[str, str]
    weight_bytes: float
    exempt: tuple[str, ...] = ()
    kv_cache: str | None = None
    note: str = ""

    @property
    def is_quantised(self) -> bool:
        """Whether any weight has fewer than 16 bits."""
        return any(bits < 16 for bits in self.bits.values())


def plain(spec: ModelSpec) -> Quantisation:
    """Sixteen bits throughout."""
    present = [part for part in PARTS if getattr(spec, part)]
    bits = dict.fromkeys(present, 16.0)
    return Quantisation("none", bits, dict(bits), dict.fromkeys(present, "bf16"), spec.params * 2.0)
