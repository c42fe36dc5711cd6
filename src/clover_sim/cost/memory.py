"""Does it fit: weights, cache, state and drafter against the memory that the engine may use."""

from math import fsum
from typing import NamedTuple

from clover_sim.cost.machine import Machine, stored_bytes
from clover_sim.errors import UsageError
from clover_sim.specs import ModelSpec


class MemoryPicture(NamedTuple):
    """What a run keeps in memory, over all cards together, and how much of its weights the host's memory holds.

    Args:
        weight_bytes: the target's weights, embedding included. drafter_bytes: the drafter's.
        kv_bytes: cache of all sequences, the drafter's included, replicas on other ranks counted.
        state_bytes: recurrent state of all sequences.
        capacity_bytes: what the engine may use of ``memory_bytes``, the memory of the cards.
        batch_size, context_tokens: what was asked for; the context is that of one sequence.
        longest_context_tokens: longest context of each of the ``batch_size`` sequences that fits, at most the
            model's own maximum; 0 if not even an empty one does, ``None`` if nothing limits it.
        offload_bytes: the share of ``weight_bytes`` that lies in the host's memory.
        largest_batch_size: most sequences of ``context_tokens`` that fit; ``None`` if nothing limits it.
    """

    weight_bytes: float
    kv_bytes: float
    state_bytes: float
    drafter_bytes: float
    capacity_bytes: float
    memory_bytes: float
    batch_size: int
    context_tokens: int
    longest_context_tokens: int | None
    largest_batch_size: int | None
    offload_bytes: float = 0.0

    @property
    def total_bytes(self) -> float:
        """Everything together on the cards."""
        return self.weight_bytes + self.kv_bytes + self.state_bytes + self.drafter_bytes - self.offload_bytes

    @property
    def fits(self) -> bool:
        """Whether the total is within the capacity."""
        return self.total_bytes <= self.capacity_bytes


def memory_check(machine: Machine, batch_size: int = 1, context_tokens: int = 0) -> MemoryPicture:
    """Weigh ``batch_size`` sequences of ``context_tokens`` each on ``machine``.

    The capacity is the engine's share of the memory (``memory_utilization``: 0.9 in vLLM and SGLang, of which the
    rest holds activations, graphs and the driver).

    Raises:
        UsageError: a batch size below 1 or a negative context.

    >>> from clover_sim.specs import load_engine, load_hardware, load_model
    >>> clover, sglang = load_model("clover-35b-a3b"), load_engine("sglang")
    >>> memory_check(Machine(clover, load_hardware("rtx-5070-ti"), sglang, precision="int4"), 1, 4096).fits
    False
    """
    if batch_size < 1 or context_tokens < 0:
        raise UsageError(f"batch size {batch_size}, context {context_tokens}: expected at least 1 and 0")
    ranks = machine.tensor_parallel_size
    memory = float(machine.hardware.memory_bytes * ranks)
    capacity = memory * machine.constants.memory_utilization
    weights = fsum(stored_bytes(machine.model, machine.target_precision))
    models = [machine.model]
    drafter_bytes = 0.0
    if machine.drafter is not None:
        drafter_bytes = fsum(stored_bytes(machine.drafter, machine.draft_precision))
        models.append(machine.drafter)

    state = fsum(model.state_bytes_per_sequence for model in models)
    away = min(machine.offload_bytes, weights)
    room = capacity - weights - drafter_bytes + away
    one = state + _cache_bytes(machine, models, context_tokens)
    batch = None if one == 0 and room >= 0 else max(0, int(room // one)) if one else 0
    longest = _longest(machine, models, room / batch_size - state)
    return MemoryPicture(
        weight_bytes=weights,
        kv_bytes=batch_size * _cache_bytes(machine, models, context_tokens),
        state_bytes=batch_size * state,
        drafter_bytes=drafter_bytes,
        capacity_bytes=capacity,
        memory_bytes=memory,
        batch_size=batch_size,
        context_tokens=context_tokens,
        longest_context_tokens=longest,
        largest_batch_size=batch,
        offload_bytes=away,
    )


def _cache_bytes(machine: Machine, models: list[ModelSpec], context_tokens: float) -> float:
    """Cache of one sequence over all ranks."""
    ranks, element_bytes = machine.tensor_parallel_size, machine.kv_element_bits / 8
    return fsum(m.kv_elements(context_tokens) * element_bytes * max(1.0, ranks / m.kv_heads) for m in models)


def _longest(machine: Machine, models: list[ModelSpec], room_bytes: float) -> int | None:
    """Longest context of one sequence whose cache fits into ``room_bytes``, by bisection (the cache only grows)."""
    if room_bytes < 0:
        return 0
    most = machine.model.max_context_tokens
    high = most or 1 << 40
    if _cache_bytes(machine, models, high) <= room_bytes:
        return most
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if _cache_bytes(machine, models, middle) <= room_bytes:
            low = middle
        else:
            high = middle
    return low
