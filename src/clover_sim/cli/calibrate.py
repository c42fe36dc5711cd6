"""``clover-sim calibrate``: one measured speed makes the prices those of your own machine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from clover_sim.cli import _flags, _machine
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError

if TYPE_CHECKING:
    from clover_sim.cli._export import Export

SUMMARY = "Fit an engine to speeds of your machine, or a model's confidence to a trace or tokens per pass."
EXAMPLES = """\
examples:
  clover-sim calibrate --measured-tokens-per-s 74 --model qwen3.6-35b-a3b --precision 8.5 --gpu m3-ultra
  clover-sim calibrate --measured-tokens-per-s 140 --batch-size 1 --measured-tokens-per-s 3900 --batch-size 32 \\
      --model llama-3.1-8b --gpu h100 --export my.toml
  clover-sim compare --calibration my.toml --model llama-3.1-8b --gpu h100
  clover-sim calibrate --tpf-at 0.5=7.01 --tpf-at 0.9=3.25 --export mine.toml
  clover-sim compare --profile context:workload=mine.toml
"""

_FORMATS = ("toml", "json")
_MOST_BATCH = 65_536


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("measured").add_argument
    add("--measured-tokens-per-s", metavar="X", type=typed(positive), action="append", default=[],
        help="speed of plain decoding, all sequences together; repeatable")  # fmt: skip
    add("--batch-size", metavar="N", type=typed(whole), action="append", default=[],
        help="sequences of each measurement, in the same order (default 1)")  # fmt: skip
    add("--context", metavar="N", type=typed(lambda t: whole(t, 0)), action="append", default=[],
        help="cached tokens of a sequence, in the same order (default 1024)")  # fmt: skip
    add = parser.add_argument_group("confidence").add_argument
    add("--tpf-at", metavar="THRESHOLD=TOKENS", action="append", default=[], type=typed(_point),
        help="tokens per pass of a block-diffusion model at a threshold; one or two points")  # fmt: skip
    add("--block-size", metavar="N", type=typed(whole), default=32, help="block size of --tpf-at (default 32)")
    add("--trace", metavar="FILE", help="a recorded trace to fit a model's confidence to")
    add("--domain", metavar="NAME", help="only the sequences of this domain of the trace")
    add = parser.add_argument_group("machine").add_argument
    add("--model", metavar="NAME|FILE", help="the model measured; see list models")
    add("--gpu", metavar="NAME|FILE", help="the accelerator measured on; see list gpus")
    add("--engine", metavar="NAME|FILE", help="the inference engine; see list engines")
    add("--precision", metavar="NAME", help=_flags.PRECISION)
    add("--kv-cache-dtype", metavar="NAME", default="bf16", help="format of the K/V cache (default bf16)")
    add("--tensor-parallel-size", metavar="N", type=typed(whole), default=1, help="cards that share every layer")
    group = common_flags(parser, _FORMATS)
    for action in group._group_actions:
        if action.dest == "format":
            action.default, action.type = "toml", choice(*_FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Fit, print the file, write it."""
    if args.tpf_at or args.trace:
        return _confidence(args, console)
    speeds = args.measured_tokens_per_s
    _leave_out(args, ("block_size", "domain"), "--measured-tokens-per-s fits a machine, which has none")
    if not speeds:
        raise UsageError("say how fast it is: --measured-tokens-per-s X, and the --model and --gpu it was measured on")
    for flag in ("model", "gpu"):
        if getattr(args, flag) is None:
            raise UsageError(f"--{flag} is missing: a speed says nothing without the {flag} it was measured on")
    largest = max(args.batch_size, default=1)
    if largest > _MOST_BATCH:
        raise UsageError(f"--batch-size {largest}: no card holds so many sequences; expected at most {_MOST_BATCH}")
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
    _show(args, exports, {"toml": found.to_toml(), "json": _json(found.to_dict())}, console)
    for note in found.notes:
        console.info(note)
    worst = max(map(abs, found.errors))
    if worst > 0.1:
        console.warning(
            f"the calibrated price is off by up to {worst:.0%}: the measurements do not fit one machine; check batch "
            "sizes, contexts and formats"
        )
    if args.engine is None:
        console.info(
            f"no --engine: the constants of {machine.engine.name}, the usual one on {hardware.name}, are fitted; give "
            "--engine if the speed is of another"
        )
    return 0


def _point(text: str) -> tuple[float, float]:
    """``0.9=3.25``: a threshold and the tokens per pass there."""
    threshold, equals, tokens = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not of the form THRESHOLD=TOKENS, as in 0.9=3.25")
    return positive(threshold), positive(tokens)


def _confidence(args: Namespace, console: Console) -> int:
    """Fit a model's confidence; the file serves as ``--profile context:workload=FILE``."""
    if args.measured_tokens_per_s:
        raise UsageError("--measured-tokens-per-s fits a machine, --tpf-at and --trace a model's confidence: run twice")
    if args.tpf_at and args.trace:
        raise UsageError("--tpf-at and --trace both say what to fit to; give one of them")
    _leave_out(args, _OF_MACHINE, "--tpf-at and --trace fit a model's confidence, whatever it runs on")
    if args.trace:
        _leave_out(args, ("block_size",), "the trace records it")
    else:
        _leave_out(args, ("domain",), "it chooses sequences of --trace")
    exports = _targets(args.export)
    from clover_sim.fitting import fit_from_tpf, fit_from_trace

    if args.trace:
        fits = list(fit_from_trace(args.trace, domain=args.domain))
    else:
        fits = [fit_from_tpf(args.tpf_at, block_size=args.block_size)]
    if any(export.format == "toml" for export in exports) and len(fits) > 1:
        names = "; ".join(fit.name for fit in fits)
        raise UsageError(
            f"the trace holds several settings ({names}), a file one: choose a domain with --domain, or give a trace "
            "of one threshold and block size"
        )
    for fit in fits:
        if fit.residual > 0.01:
            console.warning(f"{fit.name}: the points cannot all be met; the fit is off by {fit.residual:.1%}")
    document = {"schema": "clover-sim/confidence/1", "fits": [
        {"name": f.name, "mu": f.confidence.mu, "sd": f.confidence.sd, "residual": f.residual} for f in fits
    ]}  # fmt: skip
    _show(args, exports, {"toml": "\n".join(fit.to_toml(fit.name) for fit in fits), "json": _json(document)}, console)
    return 0


_OF_MACHINE = ("model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "batch_size", "context")


def _leave_out(args: Namespace, flags: tuple[str, ...], why: str) -> None:
    """Refuse flags that change nothing here."""
    for flag in flags:
        value = getattr(args, flag)
        if flag in getattr(args, "_given", ()) or (isinstance(value, list) and value):
            raise UsageError(f"--{flag.replace('_', '-')}: {why}; leave it out")


def _json(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _show(args: Namespace, exports: list[Export], texts: dict[str, str], console: Console) -> None:
    """Print the text of the format asked for, and write the files, each in the format of its ending, or none."""
    console.write(texts[args.format])
    if exports:
        from clover_sim.cli._export import write_all

        write_all(exports, lambda form, _look: texts[form], console)


def _each(values: list[int], count: int, flag: str, default: int) -> list[int]:
    """One value a measurement: none given, one for all, or one each."""
    if len(values) in (0, 1):
        return (values or [default]) * count
    if len(values) != count:
        raise UsageError(f"{flag} is given {len(values)} times for {count} speeds; give it once, or once for each")
    return values


def _targets(paths: list[str]) -> list[Export]:
    from clover_sim.cli._export import Export, checked_target

    found = []
    for path in paths:
        ending = path.lower().rpartition(".")[2]
        if path != "-" and ending not in _FORMATS:
            raise UsageError(f"--export {path!r}: this command writes {' and '.join(f'.{f}' for f in _FORMATS)} only")
        if path != "-":
            found.append(Export(path, ending, checked_target(path)))
    return found
