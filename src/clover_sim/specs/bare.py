"""Models and accelerators known only by a few figures: what the bare flags of the command line build."""

from __future__ import annotations

from clover_sim.errors import InputError
from clover_sim.specs import check
from clover_sim.specs.hardware import HardwareSpec
from clover_sim.specs.model import ModelSpec
from clover_sim.units import GB, TERA


def bare_model(
    params: float,
    active_params: float | None = None,
    *,
    layers: int = 0,
    experts: int = 256,
    experts_per_token: int = 8,
) -> ModelSpec:
    """A model known only by its size, for ``--params-b`` and ``--active-b``.

    Args:
        params: parameters in all. active_params: those one token multiplies by (default: all, a dense model).
        layers: layers, 0 if unknown: then no time per layer is priced and the result is a lower bound.
        experts, experts_per_token: assumed routing of a sparse model; 8 of 256 gives Qwen3.6-35B-A3B's shape back
            (35 and 3 billion leave 1.97 billion read by every pass; the real figure is 1.94).

    Raises:
        InputError: a figure is not a positive number, or more is active than there is.

    >>> bare_model(35e9, 3e9).active_params
    3000000000
    >>> bare_model(8e9).is_moe
    False
    """
    total = round(check.number("model", "params", params, 1))
    active = total if active_params is None else round(check.number("model", "active_params", active_params, 1))
    if active > total:
        raise InputError(f"model: active_params is {active}; expected at most the {total} parameters in all")
    if active == total:
        return ModelSpec(name=f"{total / 1e9:g}b", params=total, other_params=total, layers=layers)
    while experts_per_token * (total - active) > 0.75 * active * (experts - experts_per_token):
        experts *= 2  # so sparse that the chosen experts alone would be most of what is active
    moe_layers = max(layers, 1)
    # active = rest + k x, params = rest + E x; the remainder of the division is booked as embedding, never read.
    each = (total - active) // ((experts - experts_per_token) * moe_layers)
    rest = active - experts_per_token * each * moe_layers
    routed = experts * each * moe_layers
    return ModelSpec(
        name=f"{total / 1e9:g}b-a{active / 1e9:g}b", params=total, embed_params=total - rest - routed,
        routed_expert_params=routed, other_params=rest, layers=layers, moe_layers=moe_layers,
        experts=experts, experts_per_token=experts_per_token, params_per_expert=each,
        note=f"known only by its size; {experts_per_token} of {experts} experts assumed",
    )  # fmt: skip


def bare_weights(weight_bytes: float) -> ModelSpec:
    """A model known only by the bytes that a pass reads, for ``--weight-gb``: a dense one of one byte a parameter.

    Its layers and its cache are unknown, so nothing is priced for them and the time is a lower bound.

    >>> bare_weights(5.1e9).active_params
    5100000000
    """
    size = round(check.number("model", "weight_bytes", weight_bytes, 1))
    return ModelSpec(
        name=f"{size / 1e9:g}gb", params=size, other_params=size,
        note="known only by its bytes, counted as one a parameter; layers and cache unknown",
    )  # fmt: skip


def bare_hardware(bandwidth_tb_s: float, memory_gb: float | None = None) -> HardwareSpec:
    """An accelerator known only by its memory bandwidth, for ``--gpu-bandwidth-tb-s``.

    Without an arithmetic peak nothing is ever bound by compute; without ``memory_gb`` everything fits.

    >>> bare_hardware(3).bandwidth_bytes_per_s
    3000000000000.0
    """
    bandwidth = check.number("gpu", "bandwidth in TB/s", bandwidth_tb_s, above=True) * TERA
    memory = 10**18 if memory_gb is None else round(check.number("gpu", "memory in GB", memory_gb, above=True) * GB)
    return HardwareSpec(name=f"{bandwidth_tb_s:g}-tb-s", memory_bytes=memory, bandwidth_bytes_per_s=float(bandwidth))
