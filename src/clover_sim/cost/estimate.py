"""What ``clover-sim price`` answers: passes of all widths, batches and contexts asked for, memory, prefill, energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clover_sim.arguments import checked
from clover_sim.cost.machine import Machine, part_bytes
from clover_sim.cost.memory import MemoryPicture, memory_check
from clover_sim.cost.roofline import PARTS, PassPrice
from clover_sim.cost.roofline import price as price_pass
from clover_sim.errors import UsageError
from clover_sim.records import Kind, PassShape

SCHEMA = "clover-sim/price/1"
KINDS = ("decode", "verify", "denoise", "prefill")
"""Kinds of pass that can be asked for; each has its own routing exponent and host time."""

MOST_PASSES = 10_000
MOST_SEQUENCES = 1_000_000
MOST_TOKENS = 10**18
"""Bounds on the work of one call."""


class Pass(NamedTuple):
    """One pass: ``width`` tokens of each of ``batch_size`` sequences that have ``context_tokens`` cached each."""

    width: int
    batch_size: int
    context_tokens: int
    kind: Kind
    price: PassPrice

    def floor_s(self, machine: Machine) -> float:
        """The bare roofline: its bytes at full bandwidth. No engine is faster; a low estimate says "overhead"."""
        p = self.price
        moved = p.weight_bytes + p.kv_bytes + p.state_bytes
        return moved / (machine.hardware.bandwidth_bytes_per_s * machine.tensor_parallel_size)

    @property
    def tokens_per_s(self) -> float:
        """Positions computed a second, which is the speed of decoding where the width is 1."""
        return self.width * self.batch_size / self.price.latency_s


class Estimate(NamedTuple):
    """What :func:`price` found; it shows itself in a notebook, and ``print`` gives the table of the command.

    Args:
        machine: what it runs on. passes: one entry for each width, batch and context, in that order.
        memory: weights, cache and state of the largest batch at its longest context.
        prefill: the pass over the prompt, for each batch and context above 0. output_tokens: of each request, for
            the share of the prefill in its time.
    """

    machine: Machine
    passes: tuple[Pass, ...]
    memory: MemoryPicture
    prefill: tuple[Pass, ...]
    output_tokens: int

    def energy_j(self, entry: Pass) -> float | None:
        """Upper bound of the energy of a pass: the board power of all cards for its time; ``None`` if unknown."""
        tdp = self.machine.hardware.tdp_w
        return None if tdp is None else tdp * self.machine.tensor_parallel_size * entry.price.latency_s

    def usd_per_million_tokens(self, entry: Pass) -> float | None:
        """Rent of all cards for a million positions at the speed of this pass; ``None`` without a price."""
        hour = self.machine.hardware.price_usd_per_hour
        return None if hour is None else hour * self.machine.tensor_parallel_size / 3600 * 1e6 / entry.tokens_per_s

    def prefill_share(self, entry: Pass) -> float:
        """Share of a request's time that its prompt takes when the output is decoded token by token."""
        shape = _shape(Kind.DECODE, 1, entry.batch_size, entry.width + self.output_tokens // 2)
        decoding = self.output_tokens * price_pass(self.machine, shape).latency_s
        return entry.price.latency_s / (entry.price.latency_s + decoding)

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/price/1``, in SI units."""
        return document(self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary a pass, ready for any data-frame library; its parts stand as ``part_<name>_s``."""
        names = {
            "model": self.machine.model.name, "gpu": self.machine.hardware.name, "engine": self.machine.engine.name,
            "precision": self.machine.target_precision.name, "cards": self.machine.tensor_parallel_size,
        }  # fmt: skip
        found = []
        for entry in self.passes:
            row = _pass(self, entry)
            parts = row.pop("parts_s")
            found.append({**names, **row, **{f"part_{name}_s": value for name, value in parts.items()}})
        return found

    def __repr__(self) -> str:
        where = f"{self.machine.model.name} on {self.machine.hardware.name}"
        return f"<Estimate: {len(self.passes)} passes of {where}; see .to_dicts() and .memory>"

    def __str__(self) -> str:
        return str(_shown("_price").render_price(self, {}))

    def _repr_html_(self) -> str:
        return str(_shown("_notebook").price_html(self))

    def _repr_svg_(self) -> str:
        return str(_shown("_notebook").price_svg(self))


def _shown(module: str) -> Any:
    """What shows a result stands above it and is asked for only there."""
    from importlib import import_module

    return import_module(f"clover_sim.report.{module}")


@checked
def price(
    machine: Machine | None = None,
    widths: int | Sequence[int] = (1,),
    batch_sizes: int | Sequence[int] = (1,),
    contexts: int | Sequence[int] = (1024,),
    kind: str | None = None,
    output_tokens: int = 512,
    *,
    model: str | None = None,
    gpu: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
) -> Estimate:
    """Price one pass for each combination of width, batch and context; nothing is decoded.

    Args:
        machine: what it runs on; or ``model``, ``gpu``, ``engine`` and ``precision`` by name (default
            ``clover-35b-a3b`` on one ``h200``, its usual engine, ``bf16``).
        widths: tokens of each sequence in a pass, >= 1. batch_sizes: sequences in it. contexts: cached tokens of each.
            One number, or several.
        kind: one of :data:`KINDS`; ``None``: decode at width 1, denoise (one block a sequence) where it is wider.
        output_tokens: of an answer, for the share of the prompt in its time.

    Returns:
        seconds, bytes, FLOP, experts and what bounds each pass, with the memory that the largest needs. The formula is
        that of :mod:`clover_sim.cost.roofline`, its constants those of the data files, each with its source.

    Raises:
        UsageError: an unknown name or kind, a machine given twice, or more combinations than anybody reads.

    >>> found = price(model="qwen3-30b-a3b", gpu="h100", widths=(1, 32))
    >>> [entry.price.bound for entry in found.passes], found.memory.fits
    (['overhead', 'memory'], True)
    >>> wide, narrow = found.passes[1].price, found.passes[0].price
    >>> 1 < wide.latency_s / narrow.latency_s < 32
    True
    """
    widths, batch_sizes, contexts = _several(widths), _several(batch_sizes), _several(contexts)
    if machine is None:
        machine = named_machine(model, gpu, engine, precision)
    elif any((model, gpu, engine, precision)):
        raise UsageError("machine and its parts contradict each other: give the machine, or name model, gpu and engine")
    if kind is not None and kind not in KINDS:
        raise UsageError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    if len(widths) * len(batch_sizes) * len(contexts) > MOST_PASSES:
        raise UsageError(f"over {MOST_PASSES} combinations of width, batch and context; ask for fewer")
    for name, values, least, most in (
        ("widths", widths, 1, MOST_TOKENS), ("batch sizes", batch_sizes, 1, MOST_SEQUENCES),
        ("contexts", contexts, 0, MOST_TOKENS), ("output tokens", (output_tokens,), 1, MOST_TOKENS),
    ):  # fmt: skip
        wrong = next((value for value in values if not least <= value <= most), None)
        if wrong is not None or not values:
            got = "none given" if wrong is None else f"{wrong!r}"
            raise UsageError(f"{name}: {got}; expected whole numbers from {least} to {most}")
    passes = []
    for width in widths:
        own = Kind[kind.upper()] if kind else Kind.DECODE if width == 1 else Kind.DENOISE
        for batch in batch_sizes:
            for context in contexts:
                passes.append(Pass(width, batch, context, own, price_pass(machine, _shape(own, width, batch, context))))
    prompts = [
        Pass(context, batch, 0, Kind.PREFILL, price_pass(machine, _shape(Kind.PREFILL, context, batch, 0)))
        for batch in dict.fromkeys(batch_sizes)
        for context in dict.fromkeys(contexts)
        if context
    ]
    memory = memory_check(machine, max(batch_sizes), max(contexts))
    return Estimate(machine, tuple(passes), memory, tuple(prompts), output_tokens)


def _several(values: int | Sequence[int]) -> Sequence[int]:
    return (values,) if isinstance(values, int) else values


def named_machine(model: str | None, gpu: str | None, engine: str | None, precision: str | None) -> Machine:
    """One card with a model by name; ``None`` stands for the usual one."""
    from clover_sim import specs

    hardware = specs.load_hardware(gpu or specs.DEFAULT_HARDWARE)
    used = specs.load_engine(engine or specs.default_engine(hardware))
    spec, stored = specs.load.model_and_precision(model, precision)
    return Machine(spec, hardware, used, stored)


def _shape(kind: Kind, width: int, batch: int, context: int) -> PassShape:
    return PassShape(kind, (width,) * batch, context * batch)


def document(result: Estimate, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON document, in SI units. extra: figures of the model that only its file knows."""
    machine, memory = result.machine, result.memory
    model, hardware, engine = machine.model, machine.hardware, machine.engine
    parts = part_bytes(model, machine.target_precision)
    return {
        "schema": SCHEMA,
        "model": {
            "name": model.name, "params": model.params, "embed_params": model.embed_params,
            "lm_head_params": model.lm_head_params, "attention_params": model.attention_params,
            "linear_attention_params": model.linear_attention_params, "dense_ffn_params": model.dense_ffn_params,
            "router_params": model.router_params, "shared_expert_params": model.shared_expert_params,
            "routed_expert_params": model.routed_expert_params, "norm_params": model.norm_params,
            "other_params": model.other_params, "read_every_pass_params": model.read_every_pass_params,
            "active_params": {
                "with_head": model.active("with_head"), "no_embedding": model.active("no_embedding"),
                "with_both": model.active("with_both"),
            },
            "layers": model.layers, "hidden_size": model.hidden_size, "vocab_size": model.vocab_size,
            "experts": model.experts, "experts_per_token": model.experts_per_token,
            "params_per_expert": model.params_per_expert, "moe_layers": model.moe_layers,
            "kv_bytes_per_token": kv_bytes_per_token(machine), "kv_windows_tokens": [w for w, _ in model.kv_windows],
            "state_bytes_per_sequence": model.state_bytes_per_sequence,
            "max_context_tokens": model.max_context_tokens, "tied": model.tied,
            "bytes_by_part": {part.removesuffix("_params"): value for part, value in parts.items() if value},
            "precision": machine.target_precision.name, "note": model.note, "sources": list(model.sources),
            **(extra or {}),
        },
        "hardware": {
            "name": hardware.name, "title": hardware.title, "cards": machine.tensor_parallel_size,
            "memory_bytes": hardware.memory_bytes, "bandwidth_bytes_per_s": hardware.bandwidth_bytes_per_s,
            "bf16_flop_per_s": hardware.bf16_flop_per_s, "fp8_flop_per_s": hardware.fp8_flop_per_s,
            "fp4_flop_per_s": hardware.fp4_flop_per_s, "int8_flop_per_s": hardware.int8_flop_per_s,
            "interconnect_bytes_per_s": hardware.interconnect_bytes_per_s,
            "host_link_bytes_per_s": hardware.host_link_bytes_per_s, "tdp_w": hardware.tdp_w,
            "price_usd_per_hour": hardware.price_usd_per_hour, "uncertain": list(hardware.uncertain),
            "note": hardware.note, "sources": list(hardware.sources),
        },
        "engine": {
            "name": engine.name, "title": engine.title, "kv_cache_dtype": machine.kv_cache_dtype,
            "offload": machine.offload, "offload_bytes": machine.offload_bytes,
            "constants": constants(machine), "note": engine.note,
            "sources": list(engine.sources),
        },
        "passes": [_pass(result, entry) for entry in result.passes],
        "prefill": [
            {
                "prompt_tokens": entry.width, "batch_size": entry.batch_size, "latency_s": entry.price.latency_s,
                "low_s": entry.price.low_s, "high_s": entry.price.high_s, "bound": entry.price.bound,
                "output_tokens": result.output_tokens, "share_of_request": result.prefill_share(entry),
            }
            for entry in result.prefill
        ],
        "memory": {
            "batch_size": memory.batch_size, "context_tokens": memory.context_tokens,
            "weight_bytes": memory.weight_bytes, "kv_bytes": memory.kv_bytes, "state_bytes": memory.state_bytes,
            "offload_bytes": memory.offload_bytes, "total_bytes": memory.total_bytes,
            "capacity_bytes": memory.capacity_bytes, "fits": memory.fits,
            "longest_context_tokens": memory.longest_context_tokens, "largest_batch_size": memory.largest_batch_size,
        },
    }  # fmt: skip


def kv_bytes_per_token(machine: Machine) -> float:
    """Bytes that one more token adds to the cache of a sequence before any window is full, on one card or more."""
    model = machine.model
    elements = model.kv_elements_per_token + sum(each for _, each in model.kv_windows)
    return elements * machine.kv_element_bits / 8


def constants(machine: Machine) -> dict[str, Any]:
    """The engine's constants on this hardware, by name."""
    return {name: getattr(machine.constants, name) for name in machine.constants.__slots__}


def _pass(result: Estimate, entry: Pass) -> dict[str, Any]:
    p = entry.price
    return {
        "width": entry.width, "batch_size": entry.batch_size, "context_tokens": entry.context_tokens,
        "kind": entry.kind.label, "expert_union": p.expert_union,
        "expert_union_independent": p.expert_union_independent, "routing_beta": p.routing_beta,
        "weight_bytes": p.weight_bytes, "kv_bytes": p.kv_bytes, "state_bytes": p.state_bytes, "flop": p.flop,
        "memory_s": p.memory_s, "compute_s": p.compute_s, "overhead_s": p.overhead_s, "latency_s": p.latency_s,
        "low_s": p.low_s, "high_s": p.high_s, "bound": p.bound, "largest_part": p.largest_part,
        "parts_s": {name: getattr(p, field) for name, field in PARTS.items()},
        "bandwidth_floor_s": entry.floor_s(result.machine),
        "tokens_per_s": entry.tokens_per_s, "energy_upper_bound_j": result.energy_j(entry),
        "usd_per_million_tokens": result.usd_per_million_tokens(entry),
    }  # fmt: skip
