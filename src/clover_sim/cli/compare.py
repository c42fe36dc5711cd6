"""``clover-sim compare``: strategies on the same stream, side by side."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._parser import common_flags, typed
from clover_sim.cli._stream_checks import check_streams
from clover_sim.errors import UsageError

_MACHINE = (
    "model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "params_b", "active_b",
    "gpu_bandwidth_tb_s", "calibration",
)  # fmt: skip
SUMMARY = "Compare strategies on the same stream: passes, errors, time."
EXAMPLES = """\
examples:
  clover-sim compare
  clover-sim compare -s ar -s block-diffusion:threshold=0.9,block_size=16 --tokens 256
  clover-sim compare --input calls.jsonl --gpu b200 --batch-size 8 --export result.csv
  clover-sim compare --profile tool-call --seeds 0:32 --fail-under speedup_time=1.5
"""


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    _flags.strategy_flags(parser)
    group = parser.add_argument_group("drafts")
    group.add_argument("--schedule", metavar="[[A,B,K],...]", type=typed(_schedule),
                       help="draft tokens by batch of every strategy that drafts, as vLLM takes them (root not "
                       "counted, 0 for none); or auto: the fastest up to its own length")  # fmt: skip
    _flags.stream_flags(parser)
    _flags.machine_flags(parser)
    group = parser.add_argument_group("checks")
    group.add_argument("--fail-under", metavar="COLUMN=VALUE", action="append", default=[], type=typed(_floor),
                       help="exit with 1 if a strategy other than ar is below VALUE; repeatable")  # fmt: skip
    group.add_argument("--fail-over", metavar="COLUMN=VALUE", action="append", default=[], type=typed(_ceiling),
                       help="the same for columns where less is better, such as locked_errors")  # fmt: skip
    group.add_argument("--allow-long", action="store_true", help="allow work above about 10^8 passes")
    output = common_flags(parser)
    output.add_argument("--ledger", metavar="FILE",
                        help="also write every pass of every run to FILE, for price --ledger")  # fmt: skip
    output.add_argument("--record", metavar="FILE",
                        help="also write a trace of every block-diffusion run, as --trace reads it")  # fmt: skip
    output.add_argument("--columns", metavar="KEY[,KEY...]", type=typed(_columns), default=(),
                        help="columns of table and markdown, or all; locked errors stay; see list columns")  # fmt: skip


def run(args: Namespace, console: Console) -> int:
    """Compare, print, export, check."""
    check_streams(args)
    exports = _export.plan(args.export, inputs=args.input)
    ledger = _export.checked_target(args.ledger, "--ledger") if args.ledger else None
    if args.record and args.trace:
        raise UsageError("--record writes what --trace reads: they cannot go together")
    kept: list[Any] = []
    strategies, cost = _flags.strategies(args), _cost(args)
    from clover_sim.report import get_format

    with console.progress("runs") as progress:
        common = {
            "cost": cost,
            **{k: getattr(args, k) for k in (
                "batch_size", "prompt_tokens", "kv_write", "eos_stop", "align", "max_new_tokens", "schedule",
                "allow_long")},
            "progress": progress,
            "keep": None if ledger is None else lambda about, run: kept.append((about, run)),
        }  # fmt: skip
        result = _recorded(args, strategies, common) if args.trace else _decoded(args, strategies, common)
    records = _records(args, strategies) if args.record else []  # what cannot be recorded is said before all else
    for warning in result.warnings:
        console.warning(warning)
    console.write(get_format(args.format).render(result, console.look(args.columns)))
    _export.write_all(exports, lambda name, look: get_format(name).render(result, look), console, args.columns)
    if ledger is not None:
        from clover_sim.ledger_file import ledger_lines

        _export.replace(args.ledger, "".join(ledger_lines(kept)).encode(), "--ledger")
        console.info(f"wrote {args.ledger}")
    if args.record:
        from clover_sim.recorder import encoded

        _export.replace(args.record, encoded(records, args.record.endswith(".gz")), "--record")
        console.info(f"wrote {args.record}: {len(records)} sequences")
    bars = [*args.fail_under, *args.fail_over]
    return _verdict(bars, result, console) if bars else 0


def _cost(args: Namespace) -> Any:
    """What the machine flags describe; a given time a pass has no machine, so flags of one would change nothing."""
    if not (args.cost or "").startswith("fixed"):
        return _flags.cost(args)
    unused = [f"--{name.replace('_', '-')}" for name in _MACHINE if getattr(args, name) is not None]
    if unused:
        them = "it" if len(unused) == 1 else "them"
        raise UsageError(f"{', '.join(unused)}: --cost fixed gives the time of every pass; leave {them} out")
    from clover_sim.cost import cost_model

    return cost_model(args.cost)


def _decoded(args: Namespace, strategies: Any, common: dict[str, Any]) -> Any:
    """Over a profile or files."""
    from clover_sim.comparison import compare

    return compare(
        strategies, tokens=args.tokens, profile=args.profile or "reference", inputs=args.input,
        tokenizer=args.tokenizer, seeds=args.seeds, **common,
    )  # fmt: skip


def _recorded(args: Namespace, strategies: Any, common: dict[str, Any]) -> Any:
    """Over the sequences of a recorded trace."""
    for flag in ("profile", "input", "tokens"):
        if getattr(args, flag):
            raise UsageError(f"--trace brings streams of its own: leave out --{flag}")
    if args.seeds is not None and len(args.seeds) > 1:
        raise UsageError("--seeds: a trace was recorded once; give one seed, which draws the errors it does not hold")
    from clover_sim.trace_comparison import compare_recordings

    return compare_recordings(args.trace, strategies, seed=args.seeds[0] if args.seeds else 0, **common)


def _records(args: Namespace, given: Any) -> list[dict[str, Any]]:
    """Run the strategies that unlock blocks again, watched: what each pass saw."""
    from dataclasses import replace

    from clover_sim.prepare import DEFAULT_STRATEGIES
    from clover_sim.recorder import record_all
    from clover_sim.registry import build_strategy
    from clover_sim.sources import Sources

    sources = Sources(args.profile or "reference", tuple(args.input), args.tokenizer, args.tokens, args.allow_long)
    streams = []
    for index in range(len(sources.lengths)):
        for seed in args.seeds or (None,):
            stream = sources.open(index, seed)
            streams.append(stream if seed is None else replace(stream, name=f"{stream.name}/seed={seed}"))
    rules = {k: getattr(args, k) for k in ("kv_write", "eos_stop", "align", "prompt_tokens", "max_new_tokens")}
    decoders = [build_strategy(spec) for spec in given or DEFAULT_STRATEGIES]
    return record_all(decoders, streams, **rules)


def _verdict(bars: list[Any], result: Any, console: Console) -> int:
    from clover_sim.cli._checks import missed

    messages = [message for bar in bars if (message := missed(bar, result.rows))]
    for message in messages:
        console.failed(message)
    return 1 if messages else 0


def _floor(text: str) -> Any:
    from clover_sim.cli._checks import bar

    return bar(text, "high")


def _ceiling(text: str) -> Any:
    from clover_sim.cli._checks import bar

    return bar(text, "low")


def _schedule(text: str) -> Any:
    from clover_sim.cli.speculate import _schedule as runs

    return runs(text) or text


def _columns(text: str) -> tuple[str, ...]:
    from clover_sim.columns import COLUMNS, column

    keys = [c.key for c in COLUMNS] if text == "all" else [column(part.strip()).key for part in text.split(",")]
    return tuple(keys)
