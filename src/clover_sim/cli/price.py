"""``clover-sim price``: one pass taken apart, what fits, and what the prompt costs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export, _flags, _machine
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import bandwidth_tb_s, between, params_b, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError
from clover_sim.report import _flat

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
    if args.offload != "none":
        from clover_sim.cost.remedy import offloaded

        machine = offloaded(machine, args.offload, max(args.batch_size), max(args.context))
    for note in found.notes:
        console.warning(note)
    if args.ledger is not None:
        return _price_ledger(args, machine, console, exports)
    result = price(machine, args.width, args.batch_size, args.context, args.kind, args.output_tokens)
    if not result.memory.fits and not machine.offload_bytes:
        from clover_sim.cost.remedy import does_not_fit

        console.warning(does_not_fit(machine, result.memory))

    def text(name: str, look: Any) -> str:
        from clover_sim.report._price import render_price

        return _flat.render(
            name, look, lambda: document(result, extra), result.to_dicts, lambda look: render_price(result, extra, look)
        )

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _price_ledger(args: Namespace, machine: Any, console: Console, exports: list[Any]) -> int:
    """The runs of a ledger file on this machine, quality beside speed."""
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
    cost = cost_model("roofline", machine)
    rows = [price_recorded(run, cost, args.batch_size[0]) for run in read_ledger_file(args.ledger)]

    def text(name: str, look: Any) -> str:
        head = {"model": machine.model.name, "gpu": machine.hardware.name, "engine": machine.engine.name}
        document = {"schema": "clover-sim/price/1", **head, "runs": rows}
        return _flat.render(name, look, lambda: document, lambda: [flat({**head, **row}) for row in rows], table)

    def table(look: Any) -> str:
        from clover_sim.report._listing import render_listing
        from clover_sim.report._text import wrap

        shown = ("stream", "tokens", "strategy", "seed", "target_passes", "draft_passes", "locked_errors", "bound",
                 "latency_s", "tokens_per_s")  # fmt: skip
        stored = str(getattr(machine.precision, "name", machine.precision))
        where = look.dot.join(
            [f"{machine.model.name} on {machine.hardware.name}", stored, f"{machine.engine.name} engine"]
        )
        lines = render_listing([{k.replace("_", "\n", 1): row[k] for k in shown} for row in rows], look)
        said = (
            "- passes, errors and tokens as they were recorded; latency: all recorded passes but the prompt's, priced "
            "for this machine and batch; locked errors: wrong tokens that stay; bound: what most of the time goes to."
        )
        told = "\n".join(wrap(said, look.width, "  "))
        return f"{where}{look.dot}batch {args.batch_size[0]}\n\n{lines}\n{told}\n"

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


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
