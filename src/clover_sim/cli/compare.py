"""``clover-sim compare``: strategies on the same stream, side by side."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._parser import common_flags, typed

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
    output.add_argument("--columns", metavar="KEY[,KEY...]", type=typed(_columns), default=(),
                        help="columns of table and markdown, or all; locked errors stay; see list columns")  # fmt: skip


def run(args: Namespace, console: Console) -> int:
    """Compare, print, export, check."""
    exports = _export.plan(args.export, inputs=args.input)
    ledger = _export.checked_target(args.ledger, "--ledger") if args.ledger else None
    kept: list[Any] = []
    strategies, cost = _flags.strategies(args), _flags.cost(args)
    from clover_sim.comparison import compare
    from clover_sim.report import get_format

    with console.progress("runs") as progress:
        result = compare(
            strategies,
            tokens=args.tokens,
            profile=args.profile or "reference",
            inputs=args.input,
            tokenizer=args.tokenizer,
            seeds=args.seeds,
            cost=cost,
            batch_size=args.batch_size,
            prompt_tokens=args.prompt_tokens,
            kv_write=args.kv_write,
            eos_stop=args.eos_stop,
            align=args.align,
            max_new_tokens=args.max_new_tokens,
            allow_long=args.allow_long,
            progress=progress,
            keep=None if ledger is None else lambda about, run: kept.append((about, run)),
        )
    for warning in result.warnings:
        console.warning(warning)
    console.write(get_format(args.format).render(result, console.look(args.columns)))
    _export.write_all(exports, lambda name, look: get_format(name).render(result, look), console, args.columns)
    if ledger is not None:
        from clover_sim.ledger_file import ledger_lines

        _export.replace(args.ledger, "".join(ledger_lines(kept)).encode())
        console.info(f"wrote {args.ledger}")
    bars = [*args.fail_under, *args.fail_over]
    return _verdict(bars, result, console) if bars else 0


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


def _columns(text: str) -> tuple[str, ...]:
    from clover_sim.report.columns import COLUMNS, column

    keys = [c.key for c in COLUMNS] if text == "all" else [column(part.strip()).key for part in text.split(",")]
    return tuple(keys)
