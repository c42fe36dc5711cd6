"""``clover-sim price``: one pass taken apart, what fits, and what the prompt costs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clover_sim.cli import _export, _flags, _machine
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import bandwidth_tb_s, between, params_b, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError
from clover_sim.report import _flat

if TYPE_CHECKING:
    from clover_sim.cost.machine import Machine
    from clover_sim.ledger_file import RecordedRun

SUMMARY = "Price one pass of a model on a GPU: bytes, experts, bound, time, memory."
EXAMPLES = """\
examples:
  clover-sim price --model qwen3-30b-a3b --gpu h200 --width 1,8,32
  clover-sim price --model path/to/config.json --gpu a100 --batch-size 1,8,64 --context 1024,32768
  clover-sim price --weight-gb 5.1 --gpu m4-pro
"""


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("model").add_argument
    add("--model", metavar="NAME|FILE", help="a preset, a config.json or its directory; see list models")
    add("--params-b", metavar="X", type=typed(params_b), help="bare model: parameters in billions")
    add("--active-b", metavar="X", type=typed(params_b), help="bare model: active parameters in billions")
    add("--weight-gb", metavar="X", type=typed(between(1e-6, 1e6, "GB")),
        help="bare model: GB of weights that every pass reads")  # fmt: skip
    add("--precision", metavar="NAME", help=_flags.PRECISION)
    add("--kv-cache-dtype", metavar="NAME", help="format of the K/V cache (default bf16)")
    machine = parser.add_argument_group("machine")
    add = machine.add_argument
    add("--gpu", metavar="NAME|FILE", help="accelerator (default h200); see list gpus")
    add("--gpu-bandwidth-tb-s", metavar="X", type=typed(bandwidth_tb_s), help="bare accelerator: bandwidth in TB/s")
    add("--engine", metavar="NAME|FILE", help="inference engine; see list engines")
    add("--tensor-parallel-size", metavar="N", type=typed(whole), default=1, help="cards that share every layer")
    add("--offload", metavar="WHAT", default="none", type=choice("none", "experts", "layers"),
        help="keep what does not fit in the host's memory: experts or layers")  # fmt: skip
    add("--calibration", metavar="FILE", help="constants that clover-sim calibrate wrote")
    add("--price-per-hour", metavar="USD", type=typed(between(1e-6, 1e6, "dollars")), help="rent of one card")
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
    add("--ledger", metavar="FILE", help="price what compare --ledger wrote instead of single passes")
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Build the machine, price, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    from clover_sim.cost.estimate import document, price
    from clover_sim.cost.machine import Machine

    found, hardware = _machine.model(args), _machine.hardware(args)
    extra = found.extra
    if args.price_per_hour is not None:
        from dataclasses import replace

        hardware = replace(hardware, price_usd_per_hour=args.price_per_hour)
    machine = Machine(
        found.spec, hardware, _machine.engine(args, hardware), args.precision or found.precision or "bf16",
        args.kv_cache_dtype or "bf16", args.tensor_parallel_size,
        routing_beta=args.routing_beta,
    )  # fmt: skip
    for note in found.notes:
        console.warning(note)
    if args.ledger is not None:
        return _price_ledger(args, machine, console, exports)
    machine = _held(args, machine, max(args.batch_size), max(args.context), console)
    result = price(machine, args.width, args.batch_size, args.context, args.kind, args.output_tokens)

    def text(name: str, look: Any) -> str:
        from clover_sim.report._price import render_price

        return _flat.render(
            name, look, lambda: document(result, extra), result.to_dicts, lambda look: render_price(result, extra, look)
        )

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _held(args: Namespace, machine: Machine, batch_size: int, context_tokens: int, console: Console) -> Machine:
    """The machine with what ``--offload`` moves to the host; says what it cannot hold, and what the model cannot."""
    from clover_sim.cost.memory import memory_check
    from clover_sim.cost.window import beyond_window

    if args.offload != "none":
        from clover_sim.cost.remedy import offloaded

        machine = offloaded(machine, args.offload, batch_size, context_tokens)
    picture = memory_check(machine, batch_size, context_tokens)
    if not picture.fits and not machine.offload_bytes:
        from clover_sim.cost.remedy import does_not_fit

        console.warning(does_not_fit(machine, picture))
    for note in beyond_window([(machine, context_tokens)]):
        console.warning(note)
    return machine


def _price_ledger(args: Namespace, machine: Machine, console: Console, exports: list[Any]) -> int:
    """The runs of a ledger file on this machine, quality beside speed."""
    from dataclasses import replace

    from clover_sim.agents.result import flat
    from clover_sim.cost import cost_model
    from clover_sim.ledger_file import price_recorded, read_ledger_file

    for flag, given, default in (
        ("width", args.width, (1,)), ("context", args.context, (1024,)), ("kind", args.kind, None),
        ("output-tokens", args.output_tokens, 512),
    ):  # fmt: skip
        if given != default:
            raise UsageError(f"--ledger says which passes there were; leave --{flag} out")
    if len(args.batch_size) > 1:
        raise UsageError("--ledger takes one --batch-size: how many of each run go together")
    runs, batch = read_ledger_file(args.ledger), args.batch_size[0]
    machine = replace(_held(args, *_largest(machine, runs, batch), console), drafter=None)  # each run brings its own
    cost = cost_model("roofline", machine)
    rows = [price_recorded(run, cost, batch) for run in runs]
    rent = machine.hardware.price_usd_per_hour
    for row in rows:
        seconds = row["latency_s"] / (row["tokens"] * batch) if row["tokens"] else None
        usd_per_s = None if rent is None else rent * machine.tensor_parallel_size / 3600
        row["usd_per_million_tokens"] = None if seconds is None or usd_per_s is None else 1e6 * seconds * usd_per_s

    def text(name: str, look: Any) -> str:
        head = {"model": machine.model.name, "gpu": machine.hardware.name, "engine": machine.engine.name}
        document = {"schema": "clover-sim/price/1", **head, "runs": rows}
        return _flat.render(name, look, lambda: document, lambda: [flat({**head, **row}) for row in rows], table)

    def table(look: Any) -> str:
        from clover_sim.report._price import render_runs

        return render_runs(machine, rows, batch, look)

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _largest(machine: Machine, runs: Sequence[RecordedRun], batch_size: int) -> tuple[Machine, int, int]:
    """The run of a ledger that needs most memory, ``batch_size`` times: machine with its drafter, sequences, tokens."""
    from dataclasses import replace

    from clover_sim.cost.memory import memory_check
    from clover_sim.ledger_file import _drafter
    from clover_sim.records import Kind

    found = []
    for run in runs:
        sequences = max((len(shape.widths) for shape, _ in run.shapes), default=1)
        prompts = sum(sum(shape.widths) * count for shape, count in run.shapes if shape.kind is Kind.PREFILL)
        drafted = replace(machine, drafter=_drafter(run.about["drafter"] or {}))
        found.append((drafted, sequences * batch_size, -(-(prompts + run.about["tokens"]) // sequences)))
    return max(found, key=lambda asked: memory_check(*asked).total_bytes)


def _counts(text: str, least: int = 1) -> tuple[int, ...]:
    from clover_sim.cli._numbers import counts

    return counts(text, least)


def _counts_from_0(text: str) -> tuple[int, ...]:
    return _counts(text, 0)


def _share(text: str) -> float:
    value = positive(text)
    if value > 1:
        raise UsageError(f"{text} is above 1; tokens cannot choose more freely than independently")
    return value
