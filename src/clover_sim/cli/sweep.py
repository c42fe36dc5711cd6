"""``clover-sim sweep``: every combination of the varied settings, and what stands out."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import whole
from clover_sim.cli._parser import common_flags, typed
from clover_sim.cli._stream_checks import check_streams
from clover_sim.errors import UsageError

SUMMARY = "Vary settings over a grid: Pareto front of speed against errors, best under a condition."
EXAMPLES = """\
examples:
  clover-sim sweep
  clover-sim sweep --vary threshold=0.8:0.99:0.01 --vary block_size=8,16,32
  clover-sim sweep --vary threshold=0.9:0.99:0.01 --seeds 0:16 --where 'locked_errors_per_1k<=1'
  clover-sim sweep -s ar -s speculative --vary gpu=a100,h100,h200 --vary batch_size=1,4,16
  clover-sim sweep --vary threshold=0.5:0.99:0.01 --resume cells.jsonl --export sweep.html
"""


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("grid").add_argument
    add("--vary", metavar="KEY=A:B:STEP|X,Y,...", action="append", default=[],
        help="vary an option of strategies, stream, run or machine; B is included; repeatable (default: the "
        "threshold, block size or draft length that the strategies leave open)")  # fmt: skip
    add("--where", metavar="FIGURE<=VALUE", action="append", default=[],
        help="what the best and the Pareto front must meet, as locked_errors_per_1k<=1; repeatable; none: nothing "
        "(default locked_errors_per_1k<=10)")  # fmt: skip
    add("--best", metavar="FIGURE", help="the figure that decides which row is best (default: that of --pareto)")
    add("--pareto", metavar="SPEED,ERRORS", help="figures of the front (default speedup_time, or tokens_per_s where "
        "machine or batch vary, and locked_errors_per_1k)")  # fmt: skip
    add("--jobs", metavar="N", type=typed(whole), help="processes (default: as many as pay)")
    add("--resume", metavar="FILE", help="append every finished cell to FILE, and run only what is not there yet")
    add("--all", action="store_true", help="show every row, not only the Pareto front")
    add("--allow-long", action="store_true", help="allow work above about 10^8 passes")
    _flags.strategy_flags(parser)
    _flags.stream_flags(parser)
    next(a for a in parser._actions if a.dest == "trace").help = SUPPRESS  # refused: one draw, nothing to vary
    _flags.machine_flags(parser)
    common_flags(parser)


def run(args: Namespace, console: Console) -> int:
    """Sweep, print, export."""
    check_streams(args)
    if args.trace is not None:
        raise UsageError("--trace: a sweep makes its streams anew for each cell; compare --trace decodes a recording")
    exports = _export.plan(args.export, inputs=[*args.input, *([args.resume] if args.resume else [])])
    if args.resume:
        _export.checked_target(args.resume, "--resume")
    strategies = _flags.strategies(args) if args.strategy else _with_shorthands(args)
    from clover_sim.cli._progress import bar
    from clover_sim.sweeping import SweepInterrupted, sweep

    speed, errors = _front(args.pareto)
    parts = ("model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "cost", "params_b",
             "active_b", "gpu_bandwidth_tb_s", "calibration")  # fmt: skip
    machine = {key: getattr(args, key) for key in parts if getattr(args, key) is not None}
    keywords: dict[str, Any] = {"errors": errors} if errors else {}
    for key in ("batch_size", "prompt_tokens", "max_new_tokens", "kv_write", "eos_stop", "align"):
        if key in getattr(args, "_given", ()):
            keywords[key] = getattr(args, key)
    try:
        with bar("cells", console.quiet) as progress:
            result = sweep(
                strategies, vary=args.vary or None, tokens=args.tokens, profile=args.profile,
                inputs=args.input, tokenizer=args.tokenizer, seeds=args.seeds, machine=machine,
                where=args.where or None,
                best=args.best, speed=speed, jobs=args.jobs, resume=args.resume, progress=progress,
                allow_long=args.allow_long, **keywords,
            )  # fmt: skip
    except SweepInterrupted as stopped:
        _say_what_is_kept(stopped.partial, args, console)
        raise
    for warning in result.warnings:
        console.warning(warning)
    console.write(_text(result, args.all)(args.format, console.look()))
    _export.write_all(exports, _text(result, args.all), console)
    return 0


def _text(result: Any, every: bool) -> Any:
    """The text of a sweep in a format, as ``--export`` asks for it."""

    def text(name: str, look: Any) -> str:
        from clover_sim.report import get_format

        if name in ("table", "csv", "markdown"):
            from clover_sim.report import _sweep

            shown: str = getattr(_sweep, name)(result, look, every)
            return shown
        return get_format(name).render(result, look)

    return text


def _front(text: str | None) -> tuple[str | None, str | None]:
    if text is None:
        return None, None
    speed, _, errors = text.partition(",")
    return speed.strip() or None, errors.strip() or None


def _with_shorthands(args: Namespace) -> list[str] | None:
    """The default strategy with the options that have a flag of their own."""
    args.strategy = ["block-diffusion"]
    return _flags.strategies(args)


def _say_what_is_kept(partial: Any, args: Namespace, console: Console) -> None:
    done = len(partial.rows) + len(partial.refused)
    if partial.rows:
        console.write(
            _text(partial, args.all)("table" if args.format in ("svg", "html") else args.format, console.look())
        )
    kept = f"they are in {args.resume}; the same command goes on" if args.resume else "add --resume FILE to keep them"
    console.warning(f"interrupted after {done} of {partial.cells} cells; {kept}")
