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
  clover-sim explain server.log --gpu h100
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
    add("--speculative-num-steps", metavar="N", type=typed(whole), help="levels, if the drafts are a tree (SGLang)")
    add("--speculative-eagle-topk", metavar="N", type=typed(whole), help="children a node of that tree")
    add("--baseline", metavar="X", type=typed(_speed), help="plain decoding under the same load, in tokens/s")
    add("--method", metavar="NAME", help="how drafts are made: draft-model, eagle3, mtp, dflash, ngram, ...")
    add("--drafter", metavar="NAME|FILE", help="model that drafts, priced pass by pass; see list models")
    add("--parallel-drafting", action="store_true", help="the drafter gives all drafts in one pass")
    _flags.machine_flags(parser)
    reword(parser, {
        "model": "model that ran (default: the one the log names); see list models",
        "gpu": "accelerator it ran on (default: the one the log names; for another, speculate --from-log)",
        "engine": "inference engine (default: that of the log); see list engines",
        "batch_size": "requests decoded together, where the log does not count them (default 1)",
        "prompt_tokens": "cached tokens of each request (default 1024)",
        "cost": "roofline only",
    })  # fmt: skip
    parser.set_defaults(batch_size=None, prompt_tokens=None)
    common_flags(parser, _FORMATS)


def reword(parser: ArgumentParser, words: dict[str, str]) -> None:
    """Give shared flags the words that are true of this command."""
    for action in parser._actions:
        action.help = words.get(action.dest, action.help)


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
    k = _draft_length(args)
    _checked(args)
    import sys

    from clover_sim.explain import explain

    with console.progress("MB") as progress:
        found = explain(
            args.logs,
            stdin=sys.stdin,
            asked=lambda setup: _asked(args, setup),
            num_speculative_tokens=k,
            tree=_tree(args),
            baseline_tokens_per_s=args.baseline,
            progress=progress,
        )

    def text(name: str, look: Any) -> str:
        if name == "json":
            import json

            return json.dumps(found.to_dict(), indent=2, allow_nan=False) + "\n"
        from clover_sim.explain._words import outline
        from clover_sim.report._outline import render_outline

        return render_outline(outline(found), look)

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


def _tree(args: Namespace) -> tuple[int, int] | None:
    """Levels and children a node of a tree; a chain is none."""
    levels, topk = args.speculative_num_steps, args.speculative_eagle_topk
    if (levels is None) != (topk is None):
        raise UsageError("--speculative-num-steps and --speculative-eagle-topk describe a tree together; give both")
    return None if levels is None or topk == 1 else (levels, topk)


def _checked(args: Namespace) -> None:
    """Flags that are wrong whatever the log says, before it is read."""
    from clover_sim.explain import MOST_REQUESTS

    if args.cost not in (None, "roofline"):
        raise UsageError("--cost: explain holds a log against the roofline; give --baseline for a measured plain speed")
    if (args.batch_size or 0) > MOST_REQUESTS:
        raise UsageError(f"--batch-size {args.batch_size} is too large; expected at most {MOST_REQUESTS}")
    if args.method is not None:
        from clover_sim.speculation import method_name

        args.method = method_name(args.method)


_OF_MACHINE = (
    "drafter", "parallel_drafting", "batch_size", "prompt_tokens", "method", "engine", "precision", "kv_cache_dtype",
    "tensor_parallel_size", "active_b", "calibration",
)  # fmt: skip
"""Flags that say something of a price."""


def _asked(args: Namespace, setup: Any) -> Any:
    """What to predict, the flags before what the log states; ``None`` if no machine is known."""

    def stated(name: str) -> Any:
        fact = getattr(setup, name)
        return None if fact is None else fact.value

    bare = {"model": args.params_b, "gpu": args.gpu_bandwidth_tb_s}
    given = {name: getattr(args, name) or figure for name, figure in bare.items()}
    known = {name: value or stated(name) for name, value in given.items()}
    missing = [name for name, value in known.items() if value is None]
    if missing:
        for name, value in given.items():
            if value is not None:
                flag = name if getattr(args, name) else {"model": "params-b", "gpu": "gpu-bandwidth-tb-s"}[name]
                why = next((f" ({words})" for words in setup.unknown if words.startswith(missing[0])), "")
                raise UsageError(f"--{flag} alone does not say what ran the log: give --{missing[0]} too{why}")
        for name in _OF_MACHINE:
            value = getattr(args, name)
            if value is not None and value is not False:
                raise UsageError(f"--{name.replace('_', '-')} needs a machine to price on: give --model and --gpu")
        return None
    if given["model"] is None:
        args.model, args.precision = known["model"], args.precision or stated("precision")
    if given["gpu"] is None:
        args.gpu = known["gpu"]
    args.tensor_parallel_size = args.tensor_parallel_size or stated("tensor_parallel_size")
    method, drafter = args.method, args.drafter
    if method is None and drafter is None:
        method = stated("method")
        drafter = setup.priced_drafter
    if method == "draft-model" and drafter is None:
        if args.method is not None:
            raise UsageError("--method draft-model: which model drafts? Name it: --drafter qwen3-0.6b")
        method = None
    from clover_sim.explain import CONTEXT_TOKENS, Asked

    context = CONTEXT_TOKENS if args.prompt_tokens is None else args.prompt_tokens
    return Asked(
        _flags.cost(args), args.batch_size, context, method, drafter, args.parallel_drafting or
        bool(stated("parallel_drafting")), args.engine is None, stated("topk") or 4, stated("num_speculative_tokens"),
    )  # fmt: skip
