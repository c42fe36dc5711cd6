"""``clover-sim trace``: one block, pass by pass."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from clover_sim.cli import _export
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import seeds, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.cli._stream_checks import check_streams
from clover_sim.errors import UsageError
from clover_sim.records import KV_WRITE_RULES
from clover_sim.report import Look

if TYPE_CHECKING:
    from clover_sim.trace import BlockTrace

SUMMARY = "Show one block unlocking pass by pass: what is committed when, and how sure."
EXAMPLES = """\
examples:
  clover-sim trace
  clover-sim trace --profile tool-call --block 1
  clover-sim trace -s block-diffusion:threshold=0.8,block_size=16 --input calls.jsonl
"""

_FORMATS = ("table", "json", "svg")
_DEFAULT_STRATEGY = "block-diffusion"


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("block").add_argument
    add("-s", "--strategy", metavar="NAME[:KEY=VALUE]", help=f"the decoder to watch (default {_DEFAULT_STRATEGY})")
    add("--block", metavar="N", type=typed(lambda t: whole(t, 0)), default=0, help="which block, from 0 (default 0)")
    add("--tokens", metavar="N", type=typed(whole), help="length of the stream (default: to the end of the block)")
    add("--profile", metavar="NAME[:KEY=VALUE]", help="synthetic stream (default reference)")
    add("--input", metavar="FILE", nargs="+", action="extend", default=[], help="decode this file; - is standard input")
    add("--tokenizer", metavar="NAME", default="qwen", type=choice("qwen", "o200k"), help="qwen (default) or o200k")
    add("--seeds", "--seed", dest="seeds", metavar="S", type=typed(seeds), help="the seed of the stream")
    add("--trace", metavar="FILE", help="show a recorded trace instead; under its own rule unless -s is given")
    add("--sequence", metavar="N", type=typed(lambda t: whole(t, 0)), default=0,
        help="which sequence of the trace, from 0 (default 0)")  # fmt: skip
    add("--kv-write", metavar="RULE", type=choice(*KV_WRITE_RULES), help=", ".join(KV_WRITE_RULES))
    common_flags(parser, _FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Trace, print, export."""
    exports = _export.plan(args.export, _FORMATS, args.input)
    check_streams(args)
    if args.seeds is not None and len(args.seeds) > 1:
        raise UsageError("--seeds: a trace shows one run; give one seed, as in --seeds 7")
    if args.trace is not None:
        for flag in ("profile", "input", "tokens", "seeds", "kv_write"):
            if getattr(args, flag):
                raise UsageError(f"--trace brings a stream of its own: leave out --{flag.replace('_', '-')}")
        from clover_sim.trace import trace_recording

        trace = trace_recording(args.trace, sequence=args.sequence, strategy=args.strategy, block=args.block)
        return _show(trace, args, exports, console)
    if args.sequence:
        raise UsageError("--sequence chooses one of the sequences of --trace FILE")
    from clover_sim.trace import trace_block

    size = {} if args.tokens is None else {"tokens": args.tokens}
    trace = trace_block(
        args.strategy or _DEFAULT_STRATEGY,
        profile=args.profile or "reference",
        inputs=args.input,
        tokenizer=args.tokenizer,
        seed=args.seeds[0] if args.seeds else None,
        block=args.block,
        kv_write=args.kv_write,
        **size,
    )
    return _show(trace, args, exports, console)


def _show(trace: BlockTrace, args: Namespace, exports: list[_export.Export], console: Console) -> int:
    def text(name: str, look: Look) -> str:
        if name == "json":
            import json

            return json.dumps(trace.to_dict(), indent=2, allow_nan=False) + "\n"
        if name == "svg":
            from clover_sim.report.svg import render_trace as picture

            return picture(trace)
        from clover_sim.report._trace import render_trace

        return render_trace(trace, look)

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0
