"""``clover-sim price``: one pass taken apart, what fits, and what the prompt costs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError

SUMMARY = "Price one pass of a model on a GPU: bytes, experts, bound, time, memory."
EXAMPLES = """\
examples:
  clover-sim price --model qwen3-30b-a3b --gpu h200 --width 1,8,32
  clover-sim price --model path/to/config.json --gpu a100 --batch-size 1,8,64 --context 1024,32768
  clover-sim price --weight-gb 5.1 --gpu m4-pro
"""

_FORMATS = ("table", "json")


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("model").add_argument
    add("--model", metavar="NAME|FILE", help="a preset, a config.json or its directory; see list models")
    add("--params-b", metavar="X", type=typed(positive), help="bare model: parameters in billions")
    add("--active-b", metavar="X", type=typed(positive), help="bare model: active parameters in billions")
    add("--weight-gb", metavar="X", type=typed(positive), help="bare model: GB of weights that every pass reads")
    add("--precision", metavar="NAME", help="format of weights and arithmetic: bf16, fp8, int8, int4, nvfp4, mxfp4 or "
        "bits a weight (default: the file's own, else bf16)")  # fmt: skip
    add("--kv-cache-dtype", metavar="NAME", help="format of the K/V cache (default bf16)")
    machine = parser.add_argument_group("machine")
    add = machine.add_argument
    add("--gpu", metavar="NAME|FILE", help="accelerator (default h200); see list gpus")
    add("--gpu-bandwidth-tb-s", metavar="X", type=typed(positive), help="bare accelerator: bandwidth in TB/s")
    add("--engine", metavar="NAME|FILE", help="inference engine; see list engines")
    add("--tensor-parallel-size", metavar="N", type=typed(whole), default=1, help="cards that share every layer")
    add("--offload", metavar="WHAT", default="none", type=choice("none", "experts", "layers"),
        help="keep what does not fit in the host's memory: experts or layers")  # fmt: skip
    add("--calibration", metavar="FILE", help="constants that clover-sim calibrate wrote")
    add("--price-per-hour", metavar="USD", type=typed(positive), help="rent of one card")
    add = parser.add_argument_group("passes").add_argument
    add("--width", metavar="N[,N...]", type=typed(_counts), default=(1,), help="tokens of each sequence (default 1)")
    add("--batch-size", metavar="N[,N...]", type=typed(_counts), default=(1,), help="sequences (default 1)")
    add("--context", metavar="N[,N...]", type=typed(_counts_from_0), default=(1024,),
        help="cached tokens of each sequence (default 1024)")  # fmt: skip
    add("--kind", metavar="KIND", type=choice("decode", "verify", "denoise", "prefill"),
        help="decode, verify, denoise or prefill (default: decode at width 1, else denoise)")  # fmt: skip
    add("--routing-beta", metavar="B", type=typed(_share), help="tokens of a sequence choose experts like n^B tokens")
    add("--output-tokens", metavar="N", type=typed(whole), default=512,
        help="length of the answer, for the share of the prompt in its time (default 512)")  # fmt: skip
    common_flags(parser, _FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Build the machine, price, print, export."""
    exports = _export.plan(args.export, _FORMATS) if args.export else []
    from clover_sim.cost.estimate import document, estimate
    from clover_sim.cost.machine import Machine

    model, own, extra, notes = _model(args)
    hardware = _hardware(args)
    engine = _engine(args, hardware)
    precision = args.precision or own or "bf16"
    machine = Machine(
        model, hardware, engine, precision, args.kv_cache_dtype or "bf16", args.tensor_parallel_size,
        routing_beta=args.routing_beta,
    )  # fmt: skip
    if args.offload != "none":
        from clover_sim.cost.remedy import offloaded

        machine = offloaded(machine, args.offload, max(args.batch_size), max(args.context))
    result = estimate(machine, args.width, args.batch_size, args.context, args.kind, args.output_tokens)
    for note in notes:
        console.warning(note)
    if not result.memory.fits and not machine.offload_bytes:
        from clover_sim.cost.remedy import does_not_fit

        console.warning(does_not_fit(machine, result.memory))

    def text(name: str, look: Any) -> str:
        if name == "json":
            import json

            return json.dumps(document(result, extra), indent=2, allow_nan=False) + "\n"
        from clover_sim.report._price import render_price

        return render_price(result, extra, look)

    console.write(text(args.format, console.look() if args.format == "table" else None))
    for export in exports:
        export.write(text)
        console.info(f"wrote {export.path}")
    return 0


def _model(args: Namespace) -> tuple[Any, Any, dict[str, Any], list[str]]:
    """The model, its own format, figures that only its file has, and what to warn of."""
    given = [flag for flag in ("model", "params_b", "weight_gb") if getattr(args, flag) is not None]
    if len(given) > 1:
        first, second = (f"--{flag.replace('_', '-')}" for flag in given[:2])
        raise UsageError(f"{first} and {second} contradict each other: name the model or give its bare figures")
    if args.active_b is not None and args.params_b is None:
        raise UsageError("--active-b needs --params-b, the size of the whole model")
    from clover_sim.specs import load

    if args.weight_gb is not None:
        if args.precision:
            raise UsageError("--weight-gb says how many bytes there are; --precision cannot change them")
        from clover_sim.specs.bare import bare_weights

        model = bare_weights(args.weight_gb * 1e9)
        return model, "8", {}, []
    if args.params_b is not None:
        from clover_sim.specs.bare import bare_model

        return bare_model(args.params_b * 1e9, None if args.active_b is None else args.active_b * 1e9), None, {}, []
    name = args.model or load.DEFAULT_MODEL
    if not load.is_configuration(name):
        return load.load_model(name), None, {}, []
    from clover_sim.specs.checkpoint import load_checkpoint

    found = load_checkpoint(name)
    extra = {
        "notes": list(found.notes), "warnings": list(found.warnings), "vision_params": found.vision_params,
        "mtp_params": found.mtp_params, "index_elements_per_token": found.index_elements_per_token,
    }  # fmt: skip
    return found.spec, found.precision, extra, [*found.notes, *found.warnings]


def _hardware(args: Namespace) -> Any:
    from clover_sim.specs.bare import bare_hardware
    from clover_sim.specs.load import DEFAULT_HARDWARE, load_hardware

    if args.gpu is not None and args.gpu_bandwidth_tb_s is not None:
        raise UsageError("--gpu and --gpu-bandwidth-tb-s contradict each other: name the GPU or give its bare figures")
    bandwidth = args.gpu_bandwidth_tb_s
    hardware = load_hardware(args.gpu or DEFAULT_HARDWARE) if bandwidth is None else bare_hardware(bandwidth)
    if args.price_per_hour is not None:
        from dataclasses import replace

        hardware = replace(hardware, price_usd_per_hour=args.price_per_hour)
    return hardware


def _engine(args: Namespace, hardware: Any) -> Any:
    from clover_sim.specs.engine import default_engine
    from clover_sim.specs.load import load_engine

    if args.calibration is not None:
        from clover_sim.cost.calibration import load_calibration

        return load_calibration(args.calibration).engine(args.engine, hardware)
    return load_engine(args.engine or default_engine(hardware))


def _counts(text: str) -> tuple[int, ...]:
    from clover_sim.cli._numbers import counts

    return counts(text)


def _counts_from_0(text: str) -> tuple[int, ...]:
    return _counts(text) if ":" in text else tuple(whole(part, 0) for part in text.split(","))


def _share(text: str) -> float:
    value = positive(text)
    if value > 1:
        raise UsageError(f"{text} is above 1; tokens cannot choose more freely than independently")
    return value
