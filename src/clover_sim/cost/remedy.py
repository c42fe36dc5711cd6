"""What to do where a model does not fit: one line of advice, or weights moved to the host's memory."""

from __future__ import annotations

import math
from dataclasses import replace

from clover_sim.cost.machine import Machine, stored_bytes
from clover_sim.cost.memory import MemoryPicture, memory_check
from clover_sim.errors import UsageError
from clover_sim.units import gigabytes


def offloaded(machine: Machine, what: str, batch_size: int = 1, context_tokens: int = 0) -> Machine:
    """The machine with as much of ``what`` in the host's memory as the rest needs to fit; itself if all fits.

    Args:
        what: ``experts`` or ``layers``.

    Raises:
        UsageError: there is no link to the host, or moving all of ``what`` would not be enough.

    >>> from clover_sim.specs import load_engine, load_hardware, load_model
    >>> m = Machine(load_model("clover-35b-a3b"), load_hardware("rtx-5070-ti"), load_engine("llama.cpp"), "int4")
    >>> round(offloaded(m, "experts", 1, 4096).offload_bytes / 1e9, 1)
    4.5
    """
    picture = memory_check(machine, batch_size, context_tokens)
    excess = picture.total_bytes - picture.capacity_bytes
    if excess <= 0:
        return machine
    plain, routed = stored_bytes(machine.model, machine.target_precision)
    most = routed if what == "experts" else plain + routed
    if excess > most:
        remedy = "--offload layers, " if what == "experts" and excess <= plain + routed else ""
        raise UsageError(
            f"--offload {what}: {gigabytes(excess)} are too much but {what} have only {gigabytes(most)}; "
            f"try {remedy}a smaller batch, a shorter context or fewer bits"
        )
    # A whole byte more, so that what stays fits to the last digit.
    return replace(machine, offload=what, offload_bytes=min(math.floor(excess) + 1.0, most))


def does_not_fit(machine: Machine, picture: MemoryPicture) -> str:
    """One line for a picture that does not fit: what is needed, what there is, and what would help.

    >>> from clover_sim.specs import load_engine, load_hardware, load_model
    >>> m = Machine(load_model("clover-35b-a3b"), load_hardware("rtx-5070-ti"), load_engine("sglang"), "int4")
    >>> print(does_not_fit(m, memory_check(m, 1, 4096)).split(";")[0])
    clover-35b-a3b at int4 needs 19.7 GB (weights 19.5, cache and state 0.1) but rtx-5070-ti gives 14.4 of 16.0 GB
    """
    ranks = machine.tensor_parallel_size
    cards = machine.hardware.name if ranks == 1 else f"{ranks} x {machine.hardware.name}"
    drafter = f", drafter {picture.drafter_bytes / 1e9:.1f}" if picture.drafter_bytes else ""
    rest = picture.kv_bytes + picture.state_bytes
    remedies = []
    if picture.largest_batch_size:
        remedies.append(f"--batch-size {picture.largest_batch_size}")
    if picture.longest_context_tokens:
        remedies.append(f"{picture.longest_context_tokens} tokens of context")
    if machine.target_precision.bits > 4.5:
        remedies.append("fewer bits (--precision int4)")
    if rest and picture.weight_bytes < picture.capacity_bytes and machine.kv_element_bits > 8:
        remedies.append("--kv-cache-dtype fp8")
    if machine.hardware.interconnect_bytes_per_s is not None:
        remedies.append(f"--tensor-parallel-size {2 * ranks}")
    remedies.append("a larger GPU")
    return (
        f"{machine.model.name} at {machine.target_precision.name} needs {gigabytes(picture.total_bytes)} "
        f"(weights {picture.weight_bytes / 1e9:.1f}{drafter}, cache and state {rest / 1e9:.1f}) but {cards} gives "
        f"{picture.capacity_bytes / 1e9:.1f} of {gigabytes(picture.memory_bytes)}; try {', '.join(remedies)}"
    )
