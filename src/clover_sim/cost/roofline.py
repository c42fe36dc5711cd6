"""The price of one pass: weights and arithmetic, then cache, state, floors per layer, host and all-reduce.

``latency = (read ^ n + arithmetic ^ n) ^ (1/n) + experts read + their arithmetic + K/V + state + activations + layers
+ host + all-reduce + offload``

Plain products hide the shorter of reading and arithmetic behind the longer, but for the ridge, where both count: ``n``
is 2 in the engines with kernel tables; in the others the longer alone counts. In the grouped products of experts only
the first row of each expert hides behind reading it; kernel tables show the sum for all others, up to 8,192 tokens.
Attention and recurrent layers are kernels of their own, so their traffic adds. For a given kind, widths and number of
recomputed tokens the latency is affine in ``context_tokens``, so a group of passes may be priced at its mean context
(window-limited layers are the one exception: there the mean overstates a group that straddles the window).
"""

from typing import NamedTuple

from clover_sim.cost.experts import BETA_INDEPENDENT, BETAS, effective_tokens, expert_union
from clover_sim.cost.machine import Machine, Rates
from clover_sim.errors import InputError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import ModelSpec

WIDE_KINDS = frozenset((Kind.VERIFY, Kind.DENOISE, Kind.EDIT, Kind.ENCODE, Kind.KV_WRITE))
"""Kinds that pay the engine's host time of a cycle or block pass on top of that of a plain step."""


class PassPrice(NamedTuple):
    """What one pass costs and why. The nine ``*_s`` parts add up to ``latency_s``.

    Args:
        latency_s: expected time; low_s, high_s: hold the middle 80 % of measurements of such passes.
        weights_s: reading weights: routed experts, and the others, or what is not hidden of it. compute_s: arithmetic:
            that of routed experts, and of the others, or what is not hidden of it.
        kv_s: attention over the cache. state_s: recurrent state. activation_s: activations.
        layers_s: floors of the layers' kernels. host_s: scheduling, sampling, launching. allreduce_s: between cards.
        offload_s: weights brought in from the host's memory.
        weight_bytes, kv_bytes, state_bytes: traffic of all cards together, cache replicas included.
        flop: arithmetic of all cards together.
        expert_union: distinct experts a layer that the pass reads, 0 for a dense model. expert_union_independent:
            the same if every token chose for itself. routing_beta: exponent that the first follows.
        fixed: the price was given, not worked out.
    """

    latency_s: float
    low_s: float
    high_s: float
    weights_s: float = 0.0
    compute_s: float = 0.0
    kv_s: float = 0.0
    state_s: float = 0.0
    activation_s: float = 0.0
    layers_s: float = 0.0
    host_s: float = 0.0
    allreduce_s: float = 0.0
    weight_bytes: float = 0.0
    kv_bytes: float = 0.0
    state_bytes: float = 0.0
    flop: float = 0.0
    expert_union: float = 0.0
    expert_union_independent: float = 0.0
    routing_beta: float = 1.0
    fixed: bool = False
    offload_s: float = 0.0

    @property
    def memory_s(self) -> float:
        """The share of ``latency_s`` spent moving bytes from memory, that of the host included."""
        return self.weights_s + self.kv_s + self.state_s + self.activation_s + self.offload_s

    @property
    def overhead_s(self) -> float:
        """The share of ``latency_s`` that neither bytes nor FLOPs explain."""
        return self.layers_s + self.host_s + self.allreduce_s

    @property
    def bound(self) -> str:
        """What takes most of the time: ``memory``, ``compute`` or ``overhead``; ``fixed`` for a given price."""
        return bound_of(self)

    @property
    def largest_part(self) -> str:
        """The largest part by name: weights, compute, kv, state, activations, layers, host, allreduce or offload."""
        return max(PARTS, key=lambda part: getattr(self, PARTS[part]))


PARTS = {
    "weights": "weights_s", "compute": "compute_s", "kv": "kv_s", "state": "state_s", "activations": "activation_s",
    "layers": "layers_s", "host": "host_s", "allreduce": "allreduce_s",
    "offload": "offload_s",
}  # fmt: skip
"""Readable name of each part of a price, and the field that holds it."""

FREE = PassPrice(0.0, 0.0, 0.0)
"""The price of a draft that nobody computes."""


def bound_of(price: PassPrice) -> str:
    """Which of memory, compute and overhead takes most of a price."""
    if price.fixed:
        return "fixed"
    memory, compute, overhead = price.memory_s, price.compute_s, price.overhead_s
    if overhead > memory and overhead > compute:
        return "overhead"
    return "compute" if compute > memory else "memory"


def price(machine: Machine, shape: PassShape) -> PassPrice:
    """Price one pass of ``shape`` on ``machine``.

    A DRAFT pass is priced with the drafter and the engine's host time of a draft pass; the rest of the host's work on
    a cycle stands with its verify pass. Without a drafter it is free.

    Raises:
        InputError: the shape computes no token, or a negative context.

    >>> from clover_sim.specs import load_engine, load_hardware, load_model
    >>> m = Machine(load_model("qwen3.6-35b-a3b"), load_hardware("h200"), load_engine("sglang"))
    >>> round(price(m, PassShape(Kind.DECODE, (1,))).latency_s * 1e3, 1)
    4.5
    """
    kind = shape.kind
    model, rates = machine.model, machine.target_rates
    if kind is Kind.DRAFT:
        if machine.drafter is None or machine.drafter_rates is None:
            return FREE
        model, rates = machine.drafter, machine.drafter_rates
    widths, context, recompute = shape.widths, shape.context_tokens, shape.recompute_tokens
    sequences = len(widths)
    new_tokens = sum(widths)
    tokens = new_tokens + recompute
    if tokens <= 0 or context < 0 or recompute < 0:
        raise InputError(f"{kind.label} pass of widths {widths}, context {context}: expected at least one token")
    c, ranks = machine.constants, machine.tensor_parallel_size

    beta, beta_low, beta_high = BETAS[kind]
    if machine.routing_beta is not None and kind is not Kind.PREFILL:
        beta = beta_low = beta_high = machine.routing_beta
    elif rates.row_s:  # row by row, nothing is shared: an expert that two tokens choose is read twice
        beta = beta_low = beta_high = BETA_INDEPENDENT
    union, independent = _unions(rates, widths, recompute, beta)
    heads = sequences if kind is Kind.PREFILL else tokens
    flop, expert_flop = rates.token_flop * tokens + rates.head_flop * heads, rates.expert_flop * tokens
    read_s, reckon_s = rates.fixed_s, flop * rates.s_per_flop
    hidden = union / rates.experts_per_token if rates.experts else tokens  # tokens' worth of first rows
    expert_s = rates.expert_flop * max(0.0, tokens - hidden) * rates.expert_s_per_flop
    short_s, long_s = (reckon_s, read_s) if read_s >= reckon_s else (read_s, reckon_s)
    more_s = _beside(short_s, long_s, c.ridge_exponent)
    weights_s = (read_s if long_s == read_s else more_s) + union * rates.expert_s
    compute_s = (more_s if long_s == read_s else reckon_s) + expert_s

    mean_context = context / sequences
    elements = model.kv_elements(mean_context) * sequences
    mean_width = tokens / sequences
    kv_bytes = elements * rates.kv_element_bytes
    # Attention against the cache is linear in context either way; that among the new tokens does not depend on it.
    pair_flop = rates.attention_flop_per_kv_element * mean_width
    kv_s = elements * max(rates.kv_element_bytes * rates.kv_s_per_byte, pair_flop * rates.attention_s_per_flop)
    own_flop = pair_flop * model.kv_elements(mean_width) * sequences * (0.5 if kind in _CAUSAL else 1.0)
    kv_s += own_flop * rates.attention_s_per_flop
    state_bytes = rates.state_bytes * sequences
    state_s = state_bytes * rates.kv_s_per_byte
    activation_s = rates.activation_bytes * tokens * rates.weight_s_per_byte
    allreduce_s = rates.allreduce_s + rates.message_bytes * tokens * rates.allreduce_s_per_byte
    layers_s = rates.layers_s + (0.0 if kind is Kind.PREFILL else rates.row_s * (tokens - 1))
    host_s = rates.pass_s + (c.draft_token_s * tokens if kind is Kind.DRAFT else c.sequence_s * sequences)
    if kind in WIDE_KINDS:
        host_s += c.wide_pass_s + c.wide_sequence_s * sequences + c.wide_token_s * tokens
    offload_s = rates.link_fixed_s + union * rates.link_expert_s
    rest = kv_s + state_s + activation_s + layers_s + host_s + allreduce_s + offload_s
    latency = weights_s + compute_s + rest

    low, high = _band(machine, model, kind)
    if machine.engine.known and kind is Kind.DECODE:
        from clover_sim.cost.surety import near

        low, high = near(machine, sequences, mean_context, (low, high))
    low_s, high_s = latency * low, latency * high
    if beta_low != beta and rates.experts:
        fewest, most = (_unions(rates, widths, recompute, b)[0] for b in (beta_low, beta_high))
        low_s = min(low_s, latency + (fewest - union) * rates.expert_s)
        high_s = max(high_s, latency + (most - union) * rates.expert_s)
    return PassPrice(
        latency, low_s, high_s, weights_s, compute_s, kv_s, state_s, activation_s, layers_s, host_s, allreduce_s,
        (rates.fixed_bytes + union * rates.expert_bytes) * ranks, kv_bytes * ranks, state_bytes * ranks,
        (flop + expert_flop + elements * pair_flop + own_flop) * ranks, union, independent, beta, False, offload_s,
    )  # fmt: skip


def _beside(short_s: float, long_s: float, exponent: float) -> float:
    """What the shorter of two overlapping times adds to the longer.

    >>> _beside(3.0, 4.0, 2.0), _beside(3.0, 4.0, 0.0)
    (1.0, 0.0)
    """
    if not exponent or not short_s:
        return 0.0
    return long_s * (float((1.0 + (short_s / long_s) ** exponent) ** (1.0 / exponent)) - 1.0)


_CAUSAL = frozenset((Kind.PREFILL, Kind.DRAFT, Kind.DECODE, Kind.VERIFY))


def _unions(rates: Rates, widths: tuple[int, ...], recompute: float, beta: float) -> tuple[float, float]:
    """Distinct experts of a layer, and those under independent routing; 0 for a dense model."""
    if not rates.experts:
        return 0.0, 0.0
    experts, chosen = rates.experts, rates.experts_per_token
    union = expert_union(experts, chosen, effective_tokens(widths, beta, recompute))
    independent = union if beta == 1.0 else expert_union(experts, chosen, float(sum(widths) + recompute))
    return union, independent


def _band(machine: Machine, model: ModelSpec, kind: Kind) -> tuple[float, float]:
    """The widest of the bands that apply: a pass on several cards of a mixture is no surer than either alone."""
    c = machine.constants
    low, high = c.band_moe if model.is_moe else c.band_dense
    for applies, band in ((kind in WIDE_KINDS, c.band_wide), (machine.tensor_parallel_size > 1, c.band_parallel)):
        if applies:
            low, high = min(low, band[0]), max(high, band[1])
    return low, high
