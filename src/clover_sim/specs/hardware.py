"""What an accelerator offers: memory, bandwidth, dense arithmetic peaks, and the link to its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clover_sim.errors import InputError, shown
from clover_sim.specs import check
from clover_sim.units import GB, GIB, GIGA, TERA

CATEGORIES = ("datacenter", "workstation", "consumer", "unified", "edge", "tpu", "cpu", "custom")
"""What sort of machine: it decides which constants of an engine hold. ``custom`` is a user's own figures."""

VENDORS = ("nvidia", "amd", "intel", "google", "aws", "huawei", "apple")


@dataclass(frozen=True, slots=True)
class HardwareSpec:
    """One accelerator. Peaks are dense (no structured sparsity), as the data sheet states them.

    Args:
        name: lower-case name used on the command line. title: the product's full name.
        memory_bytes: memory of one card. bandwidth_bytes_per_s: its peak memory bandwidth.
        bf16_flop_per_s, fp8_flop_per_s, fp4_flop_per_s, int8_flop_per_s: peak rates; ``None`` where there is no
            such unit (or no figure).
        interconnect_bytes_per_s: the vendor's bidirectional total to its neighbours, ``None`` if there is no link.
        host_link_bytes_per_s: one direction of the link to the host's memory, ``None`` where there is none (unified
            memory) or no figure.
        link: ``nvlink``, ``pcie``, ``fabric`` or ``none``; which all-reduce constants hold. interconnect: in words.
        architecture: generation, such as ``hopper``, for the constants of an engine.
        tdp_w: board power. price_usd_per_hour: rent of one card, ``None`` if unknown.
        category: one of :data:`CATEGORIES`. vendor: lower case.
        aliases, sources, note, uncertain: other names; where the figures come from; what to know; fields in doubt.

    Raises:
        InputError: a figure is not a positive finite number, or a word is not one of those known.
    """

    name: str
    memory_bytes: int
    bandwidth_bytes_per_s: float
    bf16_flop_per_s: float | None = None
    fp8_flop_per_s: float | None = None
    fp4_flop_per_s: float | None = None
    int8_flop_per_s: float | None = None
    interconnect_bytes_per_s: float | None = None
    host_link_bytes_per_s: float | None = None
    link: str = "none"
    interconnect: str = ""
    architecture: str = ""
    l2_bytes: int | None = None
    tdp_w: float | None = None
    price_usd_per_hour: float | None = None
    category: str = "custom"
    vendor: str = "custom"
    title: str = ""
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    note: str = ""
    uncertain: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        name = check.text("hardware", "name", self.name)
        check.whole(name, "memory_bytes", self.memory_bytes, 1)
        check.number(name, "bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, above=True)
        for field in (
            "bf16_flop_per_s", "fp8_flop_per_s", "fp4_flop_per_s", "int8_flop_per_s", "interconnect_bytes_per_s",
            "host_link_bytes_per_s", "l2_bytes", "tdp_w",
        ):  # fmt: skip
            value = getattr(self, field)
            if value is not None:
                check.number(name, field, value, above=True)
        if self.price_usd_per_hour is not None:
            check.number(name, "price_usd_per_hour", self.price_usd_per_hour)
        if self.category not in CATEGORIES:
            found = shown(self.category)
            raise InputError(f"{name}: category is {found}; expected one of {', '.join(CATEGORIES)}")
        for field in ("link", "vendor"):
            check.text(name, field, getattr(self, field))
        for field in ("title", "interconnect", "architecture", "note"):
            check.text(name, field, getattr(self, field), empty=True)
        for field in ("aliases", "sources", "uncertain"):
            object.__setattr__(self, field, check.texts(name, field, getattr(self, field)))

    @property
    def classes(self) -> tuple[str, ...]:
        """Words that the ``[when.WORD]`` tables of an engine may match, general ones first.

        >>> from clover_sim.specs import load_hardware
        >>> load_hardware("h200").classes
        ('nvidia', 'datacenter', 'hopper', 'nvlink', 'h200')
        """
        words = (self.vendor, self.category, self.architecture, self.link, self.name)
        return tuple(word for word in words if word)

    def peak_flop_per_s(self, kind: str) -> float | None:
        """Dense peak of ``bf16``, ``fp8``, ``fp4`` or ``int8``; ``None`` where there is no such unit."""
        peak: float | None = getattr(self, f"{kind}_flop_per_s")
        return peak


_SCALED: dict[str, tuple[str, float]] = {
    "memory_gb": ("memory_bytes", GB),
    "memory_gib": ("memory_bytes", GIB),
    "memory_bandwidth_gbs": ("bandwidth_bytes_per_s", GIGA),
    "memory_bandwidth_tbs": ("bandwidth_bytes_per_s", TERA),
    "bf16_tflops": ("bf16_flop_per_s", TERA),
    "fp8_tflops": ("fp8_flop_per_s", TERA),
    "fp4_tflops": ("fp4_flop_per_s", TERA),
    "int8_tops": ("int8_flop_per_s", TERA),
    "interconnect_gbs": ("interconnect_bytes_per_s", GIGA),
    "host_link_gbs": ("host_link_bytes_per_s", GIGA),
    "l2_mb": ("l2_bytes", 1e6),
}
"""Keys of a hardware file in the units of data sheets, the field each one sets, and its factor."""

_PLAIN = (
    "name", "title", "aliases", "vendor", "category", "architecture", "link", "interconnect", "tdp_w",
    "price_usd_per_hour", "sources", "note", "uncertain",
)  # fmt: skip

_NEEDED = {"memory_bytes": "memory_gb (or memory_gib)", "bandwidth_bytes_per_s": "memory_bandwidth_gbs"}


def hardware_from_table(table: dict[str, Any], where: str) -> HardwareSpec:
    """Build the specification from the keys of a hardware file; ``where`` names the file in messages.

    The same keys serve the files of this package and a user's own; only a name, the memory and its bandwidth must
    be there. The vendor is read off the name if it is not given (``"Apple M4 Pro"`` is Apple's, with unified
    memory), because an engine's constants depend on it.

    Raises:
        InputError: an unknown key, a missing one, or a figure out of range.
    """
    check.keys(where, table, (*_SCALED, *_PLAIN))
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _SCALED:
            values[key] = value
            continue
        field, factor = _SCALED[key]
        if field in values:
            raise InputError(f"{where}: {key} sets {field} a second time; give one of the two keys")
        scaled = check.number(where, key, value, above=True) * factor
        values[field] = round(scaled) if field in ("memory_bytes", "l2_bytes") else float(scaled)
    for field, keys in _NEEDED.items():
        if field not in values:
            raise InputError(f"{where}: {keys} is missing; a price needs the memory and its bandwidth")
    title = check.text(where, "name", values.get("name", "custom"))
    values["name"] = slug(title)
    values.setdefault("title", title)
    words = title.lower().replace("-", " ").split()
    if "vendor" not in values:
        vendors = [vendor for vendor in VENDORS if vendor in words]
        geforce = any(word in ("geforce", "rtx", "dgx", "jetson") for word in words)
        values["vendor"] = vendors[0] if vendors else "nvidia" if geforce else "custom"
    if "category" not in values:
        values["category"] = "unified" if values["vendor"] == "apple" else "custom"
    try:
        return HardwareSpec(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def slug(name: str) -> str:
    """A name as it is written on the command line.

    >>> slug(" RTX 4090 "), slug("a100_80GB")
    ('rtx-4090', 'a100-80gb')
    """
    return "-".join(name.lower().replace("_", " ").split())
