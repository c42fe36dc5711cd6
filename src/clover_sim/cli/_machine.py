"""From the machine flags of a command to a model, a card and an engine."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, NamedTuple

from clover_sim.errors import UsageError


class Model(NamedTuple):
    """The model that is priced: its counts, its own format of the weights, and what its file says beside them."""

    spec: Any
    precision: Any = None
    extra: dict[str, Any] = {}  # noqa: RUF012
    notes: tuple[str, ...] = ()


def model(args: Namespace) -> Model:
    """The model of ``--model``, ``--params-b`` or ``--weight-gb``; the default one without any of them."""
    if (args.precision or "").lower() == "auto":  # as a server means it: the file's own
        args.precision = None
    given = [flag for flag in ("model", "params_b", "weight_gb") if getattr(args, flag, None) is not None]
    if len(given) > 1:
        first, second = (f"--{flag.replace('_', '-')}" for flag in given[:2])
        raise UsageError(f"{first} and {second} contradict each other: name the model or give its bare figures")
    if args.active_b is not None and args.params_b is None:
        raise UsageError("--active-b needs --params-b, the size of the whole model")
    if getattr(args, "weight_gb", None) is not None:
        if args.precision:
            raise UsageError("--weight-gb says how many bytes there are; --precision cannot change them")
        from clover_sim.specs.bare import bare_weights

        return Model(bare_weights(args.weight_gb * 1e9), "8")
    if args.params_b is not None:
        if (args.active_b or 0) > args.params_b:
            raise UsageError(f"--active-b {args.active_b:g} is more than the whole model, --params-b {args.params_b:g}")
        from clover_sim.specs.bare import bare_model

        return Model(bare_model(args.params_b * 1e9, None if args.active_b is None else args.active_b * 1e9))
    from clover_sim.specs import load

    name = args.model or load.DEFAULT_MODEL
    if not load.is_configuration(name):
        return Model(load.load_model(name))
    from clover_sim.specs.checkpoint import load_checkpoint

    found = load_checkpoint(name)
    extra = {
        "notes": list(found.notes), "warnings": list(found.warnings), "vision_params": found.vision_params,
        "mtp_params": found.mtp_params, "index_elements_per_token": found.index_elements_per_token,
    }  # fmt: skip
    return Model(found.spec, found.precision, extra, (*found.notes, *found.warnings))


def hardware(args: Namespace) -> Any:
    """The card of ``--gpu`` or ``--gpu-bandwidth-tb-s``."""
    bandwidth = args.gpu_bandwidth_tb_s
    if args.gpu is not None and bandwidth is not None:
        raise UsageError("--gpu and --gpu-bandwidth-tb-s contradict each other: name the gpu or give its bare figures")
    if bandwidth is not None:
        from clover_sim.specs.bare import bare_hardware

        return bare_hardware(bandwidth)
    from clover_sim.specs.load import DEFAULT_HARDWARE, load_hardware

    return load_hardware(args.gpu or DEFAULT_HARDWARE)


def engine(args: Namespace, card: Any) -> Any:
    """The engine of ``--engine``, with the constants of ``--calibration`` if there is one."""
    if args.calibration is not None:
        from clover_sim.cost.calibration import load_calibration

        return load_calibration(args.calibration).engine(args.engine, card)
    from clover_sim.specs.engine import default_engine
    from clover_sim.specs.load import load_engine

    return load_engine(args.engine or default_engine(card))
