"""What an inference engine adds to the hardware's own limits: efficiencies, floors per layer, host time."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from clover_sim.errors import InputError, UsageError, shown, suggest
from clover_sim.specs import check
from clover_sim.specs.hardware import HardwareSpec

Band = tuple[float, float]
"""``(low, high)``: factors on the expected time that hold the middle 80 % of measurements."""

_BANDS = ("band_dense", "band_moe", "band_parallel", "band_wide")
_FRACTIONS = ("eta", "eta_experts", "eta_kv", "mfu", "mfu_attention", "eta_bus", "memory_utilization")
_NARROW = ("mfu_8bit", "mfu_4bit", "mfu_experts", "mfu_experts_8bit", "mfu_experts_4bit")


@dataclass(frozen=True, slots=True)
class EngineConstants:
    """The constants of the price of a pass for one engine on one class of hardware. Times in seconds.

    Args:
        eta, eta_experts, eta_kv: fraction of the peak memory bandwidth that plain weights, routed experts, and the
            cache with the recurrent state reach. In (0, 1].
        mfu, mfu_attention: fraction of the dense arithmetic peak that matrix products and attention reach when they
            are bound by it. In (0, 1].
        ridge_exponent: how far plain products hide reading and arithmetic behind each other: the time is the root of
            the sum of both to this power (2: 1.41 times either where they are equal); 0: the longer alone counts.
        mfu_8bit, mfu_4bit: the same of plain products of 8- and 4-bit activations, of the peak of that format; 0: as
            ``mfu``. mfu_experts, mfu_experts_8bit, mfu_experts_4bit: of the grouped products of routed experts, whose
            arithmetic comes on top of reading them; 0: as the one for plain products.
        layer_s, moe_layer_s, quant_layer_s: floor of a layer's kernels; more for a mixture layer; more where
            activations are quantised. A model of half layers (a mixer or a feed-forward network each) pays half.
        index_layer_s: floor of a sparse-attention indexer: its projections, scores and choice of the best tokens.
        moe_width_s: floor of a mixture layer for each element of the hidden width. The few tiles of a narrow expert
            walk the whole width one after another, so this part grows with the width and not with the bytes.
        pass_s, sequence_s: host time of a plain pass, and for each sequence in it.
        wide_pass_s, wide_sequence_s, wide_token_s: host time added to a verify pass (once a cycle) or a pass over a
            block: scheduling, masks, sampling over all its positions.
        draft_pass_s, draft_token_s: host time of one draft pass, where drafts run outside the captured graphs, and of
            each token that one computes: choosing among the drafts.
        moe_row_s: time of each further token in a mixture layer, where grouped products go row by row; felt by every
            pass but a prefill.
        allreduce_s, allreduce_rank_s: floor of one all-reduce, and for each rank in it.
        eta_bus: fraction of one direction of the link that an all-reduce reaches. In (0, 1].
        memory_utilization: share of a card's memory that the engine gives to weights and cache. In (0, 1].
        band_dense, band_moe, band_parallel, band_wide: how far measurements lie from the price: one dense card, a
            mixture, several cards, a cycle or block pass.
    """

    eta: float = 1.0
    eta_experts: float = 1.0
    eta_kv: float = 1.0
    mfu: float = 1.0
    ridge_exponent: float = 0.0
    mfu_8bit: float = 0.0
    mfu_4bit: float = 0.0
    mfu_experts: float = 0.0
    mfu_experts_8bit: float = 0.0
    mfu_experts_4bit: float = 0.0
    mfu_attention: float = 1.0
    layer_s: float = 0.0
    moe_layer_s: float = 0.0
    moe_width_s: float = 0.0
    index_layer_s: float = 0.0
    quant_layer_s: float = 0.0
    pass_s: float = 0.0
    sequence_s: float = 0.0
    wide_pass_s: float = 0.0
    wide_sequence_s: float = 0.0
    wide_token_s: float = 0.0
    draft_pass_s: float = 0.0
    draft_token_s: float = 0.0
    moe_row_s: float = 0.0
    allreduce_s: float = 0.0
    allreduce_rank_s: float = 0.0
    eta_bus: float = 1.0
    memory_utilization: float = 1.0
    band_dense: Band = (1.0, 1.0)
    band_moe: Band = (1.0, 1.0)
    band_parallel: Band = (1.0, 1.0)
    band_wide: Band = (1.0, 1.0)

    def __post_init__(self) -> None:
        for field in _NAMES:
            value = getattr(self, field)
            if field in _BANDS:
                object.__setattr__(self, field, _band(field, value))
            elif field in _FRACTIONS:
                check.number("engine", field, value, 0, 1, above=True)
            elif field == "ridge_exponent" and value != 0:
                check.number("engine", field, value, 1, 100)
            elif field in _NARROW:
                check.number("engine", field, value, 0, 1, above=value != 0)
            else:
                check.number("engine", field, value)


    def mfu_of(self, rate: str) -> tuple[float, float]:
        """What products at that arithmetic rate reach of its peak: plain ones, and grouped ones of experts.

        >>> EngineConstants(mfu=0.7, mfu_experts=0.4, mfu_8bit=0.5).mfu_of("fp8")
        (0.5, 0.4)
        """
        bits = {"fp8": "_8bit", "int8": "_8bit", "fp4": "_4bit"}.get(rate, "")
        plain = getattr(self, f"mfu{bits}") or self.mfu
        return plain, getattr(self, f"mfu_experts{bits}") or self.mfu_experts or plain


_NAMES = tuple(field.name for field in fields(EngineConstants))


def _band(field: str, value: Any) -> Band:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"engine: {field} is {shown(value)}; expected a low and a high factor")
    low, high = (float(check.number("engine", field, item, above=True)) for item in value)
    if low > 1 or high < 1:
        found = shown(value)
        raise InputError(f"engine: {field} is {found}; expected a low factor up to 1 and a high one from 1")
    return low, high


Override = tuple[str, tuple[tuple[str, Any], ...]]
"""A word, and the constants that differ where it holds."""


class Known(NamedTuple):
    """A step of plain decoding that was measured, and the factors on its price between which it may lie.

    Args:
        model, precision, cards: what ran. batch_size, context_tokens: of each sequence the cached tokens.
        low, high: factors on the expected time.
    """

    model: str
    precision: str
    cards: int
    batch_size: int
    context_tokens: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One engine: its constants, and what differs on certain hardware.

    Args:
        name: lower-case name used on the command line. title: the name its makers write.
        base: constants that hold unless an override does.
        overrides: ``(word, ((field, value), ...))`` in the order of the file; each applies to hardware that has the
            word among its :attr:`~clover_sim.specs.HardwareSpec.classes`, or to drafts of the head so called; later
            ones over earlier ones.
        schedulers: the same pairs by the name of a scheduler, for an engine that has had several.
        aliases, sources, note: other names; where the figures come from; what a reader must know.
        known: steps that were measured, near which the price is surer (:mod:`clover_sim.cost.surety`).
    """

    name: str
    base: EngineConstants
    overrides: tuple[Override, ...] = ()
    schedulers: tuple[Override, ...] = ()
    title: str = ""
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    note: str = ""
    known: tuple[Known, ...] = ()

    def constants(self, hardware: HardwareSpec, head: str = "") -> EngineConstants:
        """The constants that hold on ``hardware``, for drafts of ``head`` if one is named.

        >>> from clover_sim.specs import load_engine, load_hardware
        >>> load_engine("sglang").constants(load_hardware("h200")).eta
        0.83
        """
        classes = hardware.classes
        changes: dict[str, Any] = {}
        for word, values in self.overrides:
            if word in classes or word == head:
                changes.update(values)
        return replace(self.base, **changes) if changes else self.base

    def under(self, scheduler: str) -> EngineSpec:
        """The engine with that scheduler; :class:`~clover_sim.errors.UsageError` if it has none of that name.

        >>> from clover_sim.specs import load_engine
        >>> load_engine("sglang").under("overlap").name
        'sglang:overlap'
        """
        known = dict(self.schedulers)
        if scheduler not in known:
            raise UsageError(
                f"engine {self.name} has no scheduler {scheduler!r}{suggest(scheduler, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
        base = replace(self.base, **dict(known[scheduler]))
        title = f"{self.title}, scheduler {scheduler}"
        return replace(self, name=f"{self.name}:{scheduler}", title=title, base=base, schedulers=())


def engine_from_table(table: dict[str, Any], where: str) -> EngineSpec:
    """Build the specification from an engine file: constants on top, ``[when.WORD]`` tables for what differs.

    Raises:
        InputError: an unknown key, or a constant out of range.
    """
    about = ("name", "title", "aliases", "sources", "note")
    check.keys(where, table, (*_NAMES, *about, "when", "scheduler"))
    try:
        base = EngineConstants(**{key: value for key, value in table.items() if key in _NAMES})
        overrides, schedulers = (_overrides(base, table, key) for key in ("when", "scheduler"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return EngineSpec(
        name=check.text(where, "name", table.get("name", "custom")),
        base=base,
        overrides=overrides,
        schedulers=schedulers,
        title=check.text(where, "title", table.get("title", ""), empty=True),
        aliases=check.texts(where, "aliases", table.get("aliases", ())),
        sources=check.texts(where, "sources", table.get("sources", ())),
        note=check.text(where, "note", table.get("note", ""), empty=True),
    )


def _overrides(base: EngineConstants, table: dict[str, Any], key: str) -> tuple[Override, ...]:
    """The tables ``[KEY.WORD]`` of an engine file, each checked against ``base``."""
    given = table.get(key, {})
    if not isinstance(given, dict):
        raise InputError(f"{key} is {shown(given)}; expected tables such as [{key}.{_EXAMPLES[key]}]")
    found: list[Override] = []
    for word, values in given.items():
        if not isinstance(values, dict):
            raise InputError(f"{key}.{word} is {shown(values)}; expected a table of constants")
        check.keys(f"{key}.{word}", values, _NAMES)
        replace(base, **values)
        found.append((word, tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in values.items())))
    return tuple(found)


_EXAMPLES = {"when": "apple", "scheduler": "overlap"}


def default_engine(hardware: HardwareSpec) -> str:
    """Name of the engine assumed where none is named: what people run on such a machine.

    >>> from clover_sim.specs import load_hardware
    >>> default_engine(load_hardware("h200")), default_engine(load_hardware("m3-ultra"))
    ('sglang', 'mlx')
    """
    if hardware.vendor == "apple":
        return "mlx"
    if hardware.category == "datacenter" or hardware.vendor in ("nvidia", "custom"):
        return "sglang"
    return "vllm" if hardware.category == "tpu" else "llama.cpp"
