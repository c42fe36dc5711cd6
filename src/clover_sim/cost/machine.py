"""A model on hardware under an engine: everything about a price that does not depend on the pass."""

from dataclasses import dataclass, field
from math import fsum
from typing import NamedTuple

from clover_sim.errors import UsageError
from clover_sim.specs import (
    EngineConstants,
    EngineSpec,
    HardwareSpec,
    ModelSpec,
    Precision,
    check,
    kv_bits,
    weight_precision,
)
from clover_sim.specs.model import PARTS


class Rates(NamedTuple):
    """Figures of one model on one machine, worked out once. Bytes and FLOPs are those of one rank."""

    fixed_bytes: float
    """Weights that every pass reads."""
    expert_bytes: float
    """Weights of one expert in each mixture layer: what one more distinct expert costs."""
    experts: int
    experts_per_token: int
    token_flop: float
    """Multiplying one token by the active weights without routed experts and the output head."""
    expert_flop: float
    """Multiplying one token by the routed experts it chooses."""
    head_flop: float
    """Multiplying one token by the output head."""
    attention_flop_per_kv_element: float
    """One query token against one cached element."""
    kv_element_bytes: float
    """Bytes read for one cached element, replicas on other ranks included."""
    state_bytes: float
    """Recurrent state of one sequence, read and written."""
    activation_bytes: float
    """Activations of one token through all layers."""
    layers_s: float
    """Floors of all layers."""
    row_s: float
    """Each token after the first, in all mixture layers, where grouped products go row by row."""
    pass_s: float
    """Host time of a pass: a plain one of the target, a draft pass of a drafter."""
    message_bytes: float
    """What one token sends in one all-reduce."""
    allreduce_s: float
    """Floors of all all-reduces of a pass; 0 on one card."""
    allreduce_s_per_byte: float
    """Time of all all-reduces of a pass for each byte of one message."""
    fixed_s: float
    """Reading the weights that every pass reads."""
    expert_s: float
    """Reading one expert in each mixture layer."""
    link_fixed_s: float
    link_expert_s: float
    """The same two over the link to the host, for the share of the weights that lies there."""
    weight_s_per_byte: float
    kv_s_per_byte: float
    s_per_flop: float
    """1 / (peak x mfu) of the plain matrix products."""
    expert_s_per_flop: float
    """The same of the grouped products of routed experts."""
    attention_s_per_flop: float
    """1 / (peak x mfu_attention) of attention, which stays 16-bit."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a pass runs on. Frozen; the derived figures are worked out on creation.

    Args:
        model, hardware, engine: specifications.
        precision: format of the target's weights: bf16, fp8, int8, int4, nvfp4, mxfp4, a number of bits, or one of a
            checkpoint's own.
        kv_cache_dtype: format of its K/V cache: auto, bf16, fp8, ... or a number of bits.
        tensor_parallel_size: cards that share every layer.
        drafter: the model that DRAFT passes run, ``None`` if drafts cost nothing.
        drafter_precision: format of its weights; published draft heads are 16-bit also beside quantised targets.
        routing_beta: exponent of the experts chosen by the tokens of one sequence, instead of that of the kind of
            pass; see :mod:`clover_sim.cost.experts`.
        offload, offload_bytes: ``experts`` or ``layers``, and how many bytes of them lie in the host's memory;
            :func:`clover_sim.cost.remedy.offloaded` works the bytes out.

    Raises:
        UsageError: an unknown format, several cards without a link between them, or no link to the host.

    >>> from clover_sim import load_engine, load_hardware, load_model
    >>> machine = Machine(load_model("qwen3-8b"), load_hardware("h100"), load_engine("vllm"), "fp8")
    >>> machine.target_precision.name, machine.tensor_parallel_size
    ('fp8', 1)
    """

    model: ModelSpec
    hardware: HardwareSpec
    engine: EngineSpec
    precision: str | Precision = "bf16"
    kv_cache_dtype: str = "bf16"
    tensor_parallel_size: int = 1
    drafter: ModelSpec | None = None
    drafter_precision: str = "bf16"
    routing_beta: float | None = None
    offload: str = "none"
    offload_bytes: float = 0.0
    constants: EngineConstants = field(init=False, repr=False, compare=False)
    kv_element_bits: float = field(init=False, repr=False, compare=False)
    target_precision: Precision = field(init=False, repr=False, compare=False)
    draft_precision: Precision = field(init=False, repr=False, compare=False)
    target_rates: Rates = field(init=False, repr=False, compare=False)
    drafter_rates: Rates | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ranks = self.tensor_parallel_size
        if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MOST_RANKS:
            raise UsageError(f"tensor-parallel-size is {ranks!r}; expected a whole number from 1 to {MOST_RANKS}")
        if ranks > 1 and self.hardware.interconnect_bytes_per_s is None:
            raise UsageError(
                f"tensor-parallel-size is {ranks}, but {self.hardware.name} has no link to a neighbour; "
                "use 1, or give interconnect_gbs in a hardware file"
            )
        if self.routing_beta is not None:
            check.number("machine", "routing_beta", self.routing_beta, 0, 1)
        if self.offload not in OFFLOADS:
            raise UsageError(f"offload is {self.offload!r}; expected one of {', '.join(OFFLOADS)}")
        if self.offload_bytes and self.hardware.host_link_bytes_per_s is None:
            raise UsageError(
                f"{self.hardware.name} has no link to a host's memory; offload nothing, or give host_link_gbs in a "
                "hardware file"
            )
        constants = self.engine.constants(self.hardware)
        element_bits = kv_bits(self.kv_cache_dtype)
        weights = weight_precision(self.precision) if isinstance(self.precision, str) else self.precision
        draft_weights = weight_precision(self.drafter_precision)
        drafter = None
        if self.drafter is not None:
            own = self.engine.constants(self.hardware, self.drafter.name.partition("-of-")[0])
            drafter = _rates(self, own, self.drafter, draft_weights, element_bits)._replace(pass_s=own.draft_pass_s)
        for name, value in (
            ("constants", constants),
            ("kv_element_bits", element_bits),
            ("target_precision", weights),
            ("draft_precision", draft_weights),
            ("target_rates", _rates(self, constants, self.model, weights, element_bits)),
            ("drafter_rates", drafter),
        ):
            object.__setattr__(self, name, value)


OFFLOADS = ("none", "experts", "layers")
"""What may lie in the host's memory: routed experts alone, or an equal share of every layer."""

MOST_RANKS = 4096
"""Most cards that share every layer; past it a figure is taken for a slip."""

LINK_EFFICIENCY = 0.8
"""Fraction of the link to the host that copies of weights reach. ASSUMPTION: pinned memory, large copies."""


def part_bytes(model: ModelSpec, precision: Precision) -> dict[str, float]:
    """Stored bytes of each part of a model, in the order of :data:`~clover_sim.specs.model.PARTS`."""
    if precision.part_bits:
        stated = dict(precision.part_bits)
        return {part: getattr(model, part) * stated.get(part, 16.0) / 8 for part in PARTS}
    if precision.scope == "experts" and model.is_moe:
        narrow: tuple[str, ...] = ("routed_expert_params",)
    else:
        narrow = PARTS if precision.scope == "all" else _BUT_HEAD
    return {part: getattr(model, part) * (precision.bits if part in narrow else 16.0) / 8 for part in PARTS}


_BUT_HEAD = tuple(p for p in PARTS if p not in ("embed_params", "lm_head_params", "router_params", "norm_params"))


def stored_bytes(model: ModelSpec, precision: Precision) -> tuple[float, float]:
    """Bytes of all weights but the routed experts, and bytes of the routed experts, as stored.

    Includes the input embedding, which a pass does not read (see :func:`read_bytes`).
    """
    parts = part_bytes(model, precision)
    routed = parts.pop("routed_expert_params")
    return fsum(parts.values()), routed


def read_bytes(model: ModelSpec, precision: Precision) -> float:
    """Bytes of the weights that every pass reads whatever the routing: an untied embedding is not among them."""
    parts = part_bytes(model, precision)
    embedding = 0.0 if model.tied else parts["embed_params"]
    return fsum(parts.values()) - parts["routed_expert_params"] - embedding


def expert_bits(precision: Precision) -> float:
    """Stored bits of a weight of a routed expert."""
    return dict(precision.part_bits).get("routed_expert_params", 16.0) if precision.part_bits else precision.bits


def _rates(machine: Machine, c: EngineConstants, model: ModelSpec, precision: Precision, element_bits: float) -> Rates:
    hardware, ranks = machine.hardware, machine.tensor_parallel_size
    rate = next((r for r in precision.rates if hardware.peak_flop_per_s(r) is not None), precision.rates[-1])
    peak, peak16 = hardware.peak_flop_per_s(rate), hardware.bf16_flop_per_s
    quant_s = c.quant_layer_s if rate != "bf16" else 0.0
    mfu, mfu_experts = c.mfu_of(rate)
    routed_flop = 2.0 * model.experts_per_token * model.params_per_expert * model.moe_layers if model.is_moe else 0.0
    layers = model.blocks / 2 if model.blocks else model.layers
    floors = layers * (c.layer_s + quant_s)
    if model.layers:
        floors += model.moe_layers * (c.moe_layer_s + c.moe_width_s * model.hidden_size)
        floors += model.index_layers * c.index_layer_s
    reduces, bus = 2 * layers, (hardware.interconnect_bytes_per_s or 0.0) / 2 * c.eta_bus
    windowed = sum(elements for _, elements in model.kv_windows)
    elements_per_token = model.kv_elements_per_token + windowed
    pair_flop = 4.0 * model.attention_layers * model.query_width / ranks
    bandwidth = hardware.bandwidth_bytes_per_s
    fixed_bytes = read_bytes(model, precision) / ranks
    expert_bytes = model.moe_layers * model.params_per_expert * expert_bits(precision) / 8 / ranks
    link_fixed_s = link_expert_s = 0.0
    if machine.offload_bytes and model is machine.model:
        fixed_share, expert_share = _offload_shares(machine, precision)
        link = (hardware.host_link_bytes_per_s or 0.0) * LINK_EFFICIENCY
        link_fixed_s, link_expert_s = fixed_bytes * fixed_share / link, expert_bytes * expert_share / link
    return Rates(
        fixed_bytes=fixed_bytes,
        expert_bytes=expert_bytes,
        experts=model.experts if model.is_moe else 0,
        experts_per_token=model.experts_per_token,
        token_flop=(2.0 * (model.active_params - model.head_params) - routed_flop) / ranks,
        expert_flop=routed_flop / ranks,
        head_flop=2.0 * model.head_params / ranks,
        attention_flop_per_kv_element=pair_flop / elements_per_token if elements_per_token else 0.0,
        kv_element_bytes=element_bits / 8 * max(1 / ranks, 1 / model.kv_heads),
        state_bytes=2.0 * model.state_bytes_per_sequence / ranks,
        activation_bytes=16.0 * model.hidden_size * 2 * model.layers / ranks,
        layers_s=floors,
        row_s=model.moe_layers * c.moe_row_s,
        pass_s=c.pass_s,
        message_bytes=model.hidden_size * 2.0,
        allreduce_s=reduces * (c.allreduce_s + c.allreduce_rank_s * ranks) if ranks > 1 else 0.0,
        allreduce_s_per_byte=reduces * 2 * (ranks - 1) / ranks / bus if ranks > 1 else 0.0,
        fixed_s=fixed_bytes / (bandwidth * c.eta),
        expert_s=expert_bytes / (bandwidth * c.eta_experts),
        link_fixed_s=link_fixed_s,
        link_expert_s=link_expert_s,
        weight_s_per_byte=1 / (bandwidth * c.eta),
        kv_s_per_byte=1 / (bandwidth * c.eta_kv),
        s_per_flop=1 / (peak * mfu) if peak else 0.0,
        expert_s_per_flop=1 / (peak * mfu_experts) if peak else 0.0,
        attention_s_per_flop=1 / (peak16 * c.mfu_attention) if peak16 else 0.0,
    )


def _offload_shares(machine: Machine, precision: Precision) -> tuple[float, float]:
    """Shares of the weights read every pass, and of the routed experts, that lie in the host's memory."""
    plain, routed = stored_bytes(machine.model, precision)
    if machine.offload == "experts":
        return 0.0, min(1.0, machine.offload_bytes / routed) if routed else 0.0
    share = min(1.0, machine.offload_bytes / (plain + routed))
    return share, share
