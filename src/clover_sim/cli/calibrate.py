"""``clover-sim calibrate``: one measured speed makes the prices those of your own machine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from clover_sim.cli import _machine
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError

SUMMARY = "Fit an engine's overheads to speeds measured on your machine."
EXAMPLES = """\
examples:
  clover-sim calibrate --measured-tokens-per-s 74 --model qwen3.6-35b-a3b --precision 8.5 --gpu m3-ultra
  clover-sim calibrate --measured-tokens-per-s 140 --batch-size 1 --measured-tokens-per-s 3900 --batch-size 32 \\
      --model llama-3.1-8b --gpu h100 --export my.toml
  clover-sim compare --calibration my.toml --model llama-3.1-8b --gpu h100
"""

_FORMATS = ("toml", "json")


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("measured").add_argument
    add("--measured-tokens-per-s", metavar="X", type=typed(positive), action="append", default=[],
        help="speed of plain decoding, all sequences together; repeatable")  # fmt: skip
    add("--batch-size", metavar="N", type=typed(whole), action="append", default=[],
        help="sequences of each measurement, in the same order (default 1)")  # fmt: skip
    add("--context", metavar="N", type=typed(lambda t: whole(t, 0)), action="append", default=[],
        help="cached tokens of a sequence, in the same order (default 1024)")  # fmt: skip
    add = parser.add_argument_group("machine").add_argument
    add("--model", metavar="NAME|FILE", help="the model measured; see list models")
    add("--gpu", metavar="NAME|FILE", help="the accelerator measured on; see list gpus")
    add("--engine", metavar="NAME|FILE", help="the inference engine; see list engines")
    add("--precision", metavar="NAME", help="format of the weights (default: the file's own, else bf16)")
    add("--kv-cache-dtype", metavar="NAME", default="bf16", help="format of the K/V cache (default bf16)")
    add("--tensor-parallel-size", metavar="N", type=typed(whole), default=1, help="cards that share every layer")
    group = common_flags(parser, _FORMATS)
    for action in group._group_actions:
        if action.dest == "format":
            action.default, action.type = "toml", choice(*_FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Fit, print the file, write it."""
    speeds = args.measured_tokens_per_s
    if not speeds:
        raise UsageError("say how fast it is: --measured-tokens-per-s X, and the --model and --gpu it was measured on")
    for flag in ("model", "gpu"):
        if getattr(args, flag) is None:
            raise UsageError(f"--{flag} is missing: a speed says nothing without the {flag} it was measured on")
    batches = _each(args.batch_size, len(speeds), "--batch-size", 1)
    contexts = _each(args.context, len(speeds), "--context", 1024)
    exports = _targets(args.export)
    from clover_sim.cost.calibration import Measured, calibrate
    from clover_sim.cost.machine import Machine

    args.params_b = args.active_b = args.gpu_bandwidth_tb_s = args.calibration = None
    model, hardware = _machine.model(args), _machine.hardware(args)
    for note in model.notes:
        console.warning(note)
    machine = Machine(
        model.spec, hardware, _machine.engine(args, hardware), args.precision or model.precision or "bf16",
        args.kv_cache_dtype, args.tensor_parallel_size,
    )  # fmt: skip
    found = calibrate(machine, [Measured(*values) for values in zip(speeds, batches, contexts, strict=True)])
    text = found.to_toml()
    if args.format == "json":
        import json

        document = {
            "schema": "clover-sim/calibration/1", "engine": found.engine_name, "hardware": found.hardware_name,
            "model": found.model, "constants": dict(found.constants),
            "measured": [
                {
                    "tokens_per_s": m.tokens_per_s, "batch_size": m.batch_size,
                    "context_tokens": m.context_tokens, "error": e,
                }
                for m, e in zip(found.measured, found.errors, strict=True)
            ],
            "max_abs_error": max(map(abs, found.errors)),
        }  # fmt: skip
        console.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    else:
        console.write(text)
    for path in exports:
        from clover_sim.cli._export import replace

        replace(path, text.encode())
        console.info(f"wrote {path}")
    worst = max(map(abs, found.errors))
    if worst > 0.1:
        console.warning(
            f"the calibrated price is off by up to {worst:.0%}: the measurements do not fit one machine; check batch "
            "sizes, contexts and formats"
        )
    return 0


def _each(values: list[int], count: int, flag: str, default: int) -> list[int]:
    """One value a measurement: none given, one for all, or one each."""
    if len(values) in (0, 1):
        return (values or [default]) * count
    if len(values) != count:
        raise UsageError(f"{flag} is given {len(values)} times for {count} speeds; give it once, or once for each")
    return values


def _targets(paths: list[str]) -> list[str]:
    import os

    from clover_sim.errors import InputError

    for path in paths:
        if path != "-" and not path.lower().endswith(".toml"):
            raise UsageError(f"--export {path!r}: this command writes .toml only")
        if path != "-" and not os.path.isdir(os.path.dirname(path) or "."):
            raise InputError(f"--export {path!r}: there is no such directory; make it first")
    return [path for path in paths if path != "-"]
