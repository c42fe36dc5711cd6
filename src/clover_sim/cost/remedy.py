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
    narrow = replace(machine, precision="int4") if machine.target_precision.bits > 4.5 else None
    if narrow is not None and _fits(narrow, picture):
        remedies.append("fewer bits (--precision int4)")
    if machine.kv_element_bits > 8 and _fits(replace(machine, kv_cache_dtype="fp8"), picture):
        remedies.append("--kv-cache-dtype fp8")
    if cards_needed := _cards_that_fit(machine, picture):
        remedies.append(f"--tensor-parallel-size {cards_needed}")
    elif narrow is not None and not _fits(narrow, picture) and (cards_needed := _cards_that_fit(narrow, picture)):
        remedies.append(f"--precision int4 with --tensor-parallel-size {cards_needed}")
    remedies.append("a larger GPU")
    needed, given = _apart(picture.total_bytes, picture.capacity_bytes)
    return (
        f"{machine.model.name} at {machine.target_precision.name} needs {needed} GB "
        f"(weights {picture.weight_bytes / 1e9:.1f}{drafter}, cache and state {rest / 1e9:.1f}) but {cards} gives "
        f"{given} of {gigabytes(picture.memory_bytes)}; try {', '.join(remedies)}"
    )


def _apart(needed_bytes: float, given_bytes: float) -> tuple[str, str]:
    """Both in gigabytes, with as many digits as tell them apart.

    >>> _apart(19.7e9, 14.4e9), _apart(43.2004e9, 43.2e9), _apart(235.1e9, 21.6e9)
    (('19.7', '14.4'), ('43.2004', '43.2000'), ('235', '21.6'))
    """
    digits = 1
    while digits < 9 and f"{needed_bytes / 1e9:.{digits}f}" == f"{given_bytes / 1e9:.{digits}f}":
        digits += 1
    needed = gigabytes(needed_bytes).removesuffix(" GB") if digits == 1 else f"{needed_bytes / 1e9:.{digits}f}"
    return needed, f"{given_bytes / 1e9:.{digits}f}"


def _fits(machine: Machine, picture: MemoryPicture) -> bool:
    return memory_check(machine, picture.batch_size, picture.context_tokens).fits


_MOST_CARDS = 64
"""Cards that are tried: a rack."""


def _cards_that_fit(machine: Machine, picture: MemoryPicture) -> int | None:
    """The smallest power of two of cards over which the same run fits; ``None`` without a link, or where none does."""
    if machine.hardware.interconnect_bytes_per_s is None:
        return None
    cards = 1
    while cards < _MOST_CARDS:
        cards *= 2
        if cards > machine.tensor_parallel_size and _fits(replace(machine, tensor_parallel_size=cards), picture):
            return cards
    return None
