"""``clover-sim explain``: a log in, acceptance, cycle time and a verdict out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import between, positive, whole
from clover_sim.cli._parser import common_flags, typed
from clover_sim.errors import UsageError

SUMMARY = "Explain a log: what was accepted, what a cycle takes, whether speculation pays."
EXAMPLES = """\
examples:
  clover-sim explain server.log
  clover-sim explain server.log.gz --model qwen3-8b --gpu h100 --format json
  docker logs vllm 2>&1 | clover-sim explain - --baseline 61.5
"""

_FORMATS = ("table", "json")


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    parser.usage = "clover-sim explain LOGFILE... [OPTIONS]"
    parser.add_argument("logs", metavar="LOGFILE", nargs="*",
                        help="logs, reports or metrics of vLLM, SGLang, llama.cpp, TensorRT-LLM, aiperf; also .gz; "
                        "- is standard input")  # fmt: skip
    add = parser.add_argument_group("what the log does not say").add_argument
    add("--num-speculative-tokens", metavar="K", type=typed(whole), help="draft length, the root not counted")
    add("--speculative-num-draft-tokens", metavar="N", type=typed(whole),
        help="the same counted with the root, as SGLang does: K = N - 1")  # fmt: skip
    add("--baseline", metavar="X", type=typed(_speed), help="plain decoding under the same load, in tokens/s")
    add("--drafter", metavar="NAME|FILE", help="model that drafts, priced pass by pass; see list models")
    add("--parallel-drafting", action="store_true", help="the drafter gives all drafts in one pass")
    _flags.machine_flags(parser)
    parser.set_defaults(batch_size=None)
    common_flags(parser, _FORMATS)


def _speed(text: str) -> float:
    positive(text)
    return between(1e-6, 1e12, "tokens/s")(text)


def run(args: Namespace, console: Console) -> int:
    """Read, explain, print, export."""
    if not args.logs:
        raise UsageError("name a log file, or - for standard input, as in: clover-sim explain server.log")
    if args.logs.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    exports = _export.plan(args.export, _FORMATS)
    asked = _asked(args)
    import sys

    from clover_sim.explain import explain

    with console.progress("MB") as progress:
        found = explain(
            args.logs,
            stdin=sys.stdin,
            asked=asked,
            num_speculative_tokens=_draft_length(args),
            baseline_tokens_per_s=args.baseline,
            progress=progress,
        )

    def text(name: str, look: Any) -> str:
        if name == "json":
            import json

            return json.dumps(found.to_dict(), indent=2, allow_nan=False) + "\n"
        from clover_sim.explain._words import outline

        return _render(outline(found), look)

    console.write(text(args.format, console.look()))
    for export in exports:
        export.write(text)
        console.info(f"wrote {export.path}")
    return 0


def _draft_length(args: Namespace) -> int | None:
    with_root: int | None = args.speculative_num_draft_tokens
    given: int | None = args.num_speculative_tokens
    if with_root is None:
        return given
    if given is not None:
        raise UsageError(
            "--num-speculative-tokens and --speculative-num-draft-tokens say the same (the second counts the root, "
            "so it is one more); give one of them"
        )
    if with_root < 2:
        raise UsageError("--speculative-num-draft-tokens counts the root, so at least 2 is needed")
    return with_root - 1


def _asked(args: Namespace) -> Any:
    """What to predict; ``None`` if no machine was named."""
    for named, other in (("model", "gpu"), ("gpu", "model")):
        bare = args.params_b if other == "model" else args.gpu_bandwidth_tb_s
        if getattr(args, named) is not None and getattr(args, other) is None and bare is None:
            raise UsageError(f"--{named} alone does not say what ran the log: give --{other} too")
    cost = _flags.cost(args)
    if cost is None:
        for name in ("drafter", "batch_size"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} needs a machine to price on: give --model and --gpu")
        return None
    from clover_sim.explain import MOST_REQUESTS, Asked

    if (args.batch_size or 0) > MOST_REQUESTS:
        raise UsageError(f"--batch-size {args.batch_size} is too large; expected at most {MOST_REQUESTS}")
    if args.drafter is not None:
        if cost.machine is None:
            raise UsageError(f"--drafter: cost model {cost.name} has a price of its own for drafts")
        from dataclasses import replace

        from clover_sim.cost import cost_model
        from clover_sim.speculation.heads import drafter_model

        drafter = drafter_model(args.drafter, cost.machine.model)
        cost = cost_model(args.cost or "roofline", replace(cost.machine, drafter=drafter))
    own_engine = args.engine is None
    return Asked(cost, args.batch_size, args.prompt_tokens, args.drafter, args.parallel_drafting, own_engine)


def _render(blocks: Any, look: Any) -> str:
    """Headed blocks: rows of a name, a figure and a remark, or sentences."""
    from clover_sim.report._text import clean, display_width, pad, wrap

    lines: list[str] = []
    for heading, rows, sentences in blocks:
        lines += [""] * bool(lines) + [look.paint("1", line) for line in wrap(clean(heading), look.width)]
        names = max((display_width(name) for name, _, _ in rows), default=0)
        figures = max((display_width(figure) for _, figure, _ in rows), default=0)
        for name, figure, remark in rows:
            start = f"  {pad(name, names)}  {pad(figure, figures, right=True)}"
            lines += wrap(f"{start}  {clean(remark)}".rstrip(), look.width, " " * (names + figures + 6))
        for sentence in sentences:
            lines += wrap(clean(sentence), look.width, "  ")
    return "\n".join(lines) + "\n"
