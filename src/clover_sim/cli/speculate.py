"""``clover-sim speculate``: will drafts pay for this model on this card, and how many of them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import Any

from clover_sim.cli import _accepted, _export, _flags, _from_log, _machine
from clover_sim.cli._accepted import RATE_OF
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import number, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.cost.window import beyond_window
from clover_sim.errors import UsageError
from clover_sim.report import _flat

SUMMARY = "Will speculative decoding pay: speed-up, best draft length, break-even, the batch where it stops."
EXAMPLES = """\
examples:
  clover-sim speculate --method eagle3 --acceptance-length 2.8 --num-speculative-tokens 3 \\
      --model llama-3.1-8b --gpu h100 --batch-size 8
  clover-sim speculate --method mtp --acceptance-rate 0.85 --rate-of vllm --num-speculative-tokens 1 --model qwen3.5-27b
  clover-sim speculate --method dflash --workload code --model qwen3-30b-a3b --gpu h200
  clover-sim speculate --from-log server.log --gpu h100
"""

def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("drafts").add_argument
    add("--method", metavar="NAME", help="draft-model, eagle1, eagle3, p-eagle, eagle-tree, mtp, "
        "dflash, dflash2, dspark, ngram or suffix (default that of --from-log, else eagle3)")  # fmt: skip
    add("--num-speculative-tokens", metavar="K", type=typed(whole), help="draft tokens a cycle, the root not counted")
    add("--speculative-num-draft-tokens", metavar="N", type=typed(whole),
        help="the same with the root, as SGLang counts: K = N - 1; of a tree, all its tokens")  # fmt: skip
    add("--speculative-num-steps", metavar="N", type=typed(whole), help="levels of a tree")
    add("--speculative-eagle-topk", metavar="N", type=typed(whole), help="children a node of a tree (default 4)")
    add("--schedule", metavar="[[A,B,K],...]", type=typed(_schedule),
        help="draft length by batch, as vLLM takes it, 0 for none; or auto (default): the fastest")  # fmt: skip
    add("--draft-lengths", metavar="N", type=typed(whole),
        help="try lengths from 1 to N for the best one (default K + 4; K where the drafter gives a block)")  # fmt: skip
    add("--drafter", metavar="NAME|FILE", help="the model that drafts, instead of the method's own head")
    add("--drafter-precision", metavar="NAME", default="bf16", help="format of its weights (default bf16)")
    add = parser.add_argument_group("acceptance (one of)").add_argument
    add("--acceptance-length", metavar="X", type=typed(positive), help="tokens a cycle, bonus included")
    add("--without-bonus", action="store_true", help="the acceptance length does not count the bonus token")
    add("--acceptance-rate", metavar="R", type=typed(_share), help="a rate; say whose with --rate-of")
    add("--rate-of", metavar="WHOSE", type=choice(*RATE_OF), help=f"what the rate means: {', '.join(RATE_OF)}")
    add("--per-position", metavar="S,S,...", type=typed(_shares), help="survival of each position, as logs print it")
    add("--alpha", metavar="A", type=typed(_share), help="conditional acceptance of the first draft")
    add("--rho", metavar="R", type=typed(positive), help="its fall from one draft to the next (default 0.97)")
    add("--clustering", metavar="M,N", type=typed(_shares), help="acceptance after a match, and after a miss")
    add("--from-log", metavar="FILE", help="a log that explain reads; where it states method, draft length, engine, "
        "model, cards and load, they are taken too unless their flags are given")  # fmt: skip
    add("--log-gpu", metavar="NAME", help="accelerator that the log ran on, where --gpu asks about another "
        "(default: as it states, else --gpu)")  # fmt: skip
    add("--workload", metavar="KIND", help="a preset: code, math, chat, prose, rag, random")
    add("--hit-rate", metavar="P", type=typed(_share), help="share of cycles with a proposal (ngram, suffix)")
    add = parser.add_argument_group("measured").add_argument
    add("--baseline", metavar="X", type=typed(positive), help="plain decoding at this batch, tokens/s in all")
    add("--draft-cost-ratio", metavar="C", type=typed(number), help="one draft pass over one plain step")
    add("--cycle-overhead-ms", metavar="X", type=typed(number), help="host time a cycle")
    add("--width-ms", metavar="W:MS,...", type=typed(_widths),
        help="times of a pass by its width, at this batch; width 1 is a plain step")  # fmt: skip
    add("--amortization", metavar="P", type=typed(_share), default=1.0,
        help="how far the tokens of a pass share its reads: 1 all (default), 0 nothing")  # fmt: skip
    add("--routing-beta", metavar="B", type=typed(_share), help="n tokens choose experts like n^B; 1: independently")
    _flags.machine_flags(parser)
    from clover_sim.cli.explain import reword

    reword(parser, {
        "batch_size": "requests decoded together (default: as --from-log says, else 1)",
        "prompt_tokens": "cached tokens of each request (default 1024)",
        "cost": "roofline only; see the flags under measured",
    })  # fmt: skip
    parser.set_defaults(batch_size=None, prompt_tokens=None)
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Price, answer, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    if args.cost is not None:
        raise UsageError("--cost: speculate prices with the roofline; give --baseline or --width-ms for measured times")
    if args.log_gpu is not None and args.from_log is None:
        raise UsageError("--log-gpu says where the log of --from-log ran; give both, or --gpu alone")
    from clover_sim.speculation import METHODS, Measured, method_name, shape_of, speculate

    args.prompt_tokens = 1024 if args.prompt_tokens is None else args.prompt_tokens
    _check_measured(args)
    way = _accepted.way(args)
    drafts, taken, ran = _from_log.read(args) if way == "from_log" else (None, [], args)
    method = method_name(args.method or "eagle3")
    _accepted.check_drafter(args, method, METHODS[method].how)
    args.batch_size = 1 if args.batch_size is None else args.batch_size
    topk = args.speculative_eagle_topk = args.speculative_eagle_topk or 4
    acceptance, hits, spread, k = _accepted.accepted(args, way, method, drafts)
    tree = METHODS[method].how == "tree"
    budget = args.speculative_num_draft_tokens if tree else None
    asked_k = args.num_speculative_tokens or args.speculative_num_draft_tokens or args.speculative_num_steps
    shape = shape_of(method, k, drafter=args.drafter, topk=topk, budget=budget, parallel=_parallel(drafts, method))
    if tree and shape.width < shape.budget:
        console.warning(
            f"{shape.budget} tokens of a tree were asked for; {k} level{'s' * (k > 1)} of {topk} "
            f"child{'ren' * (topk > 1)} a node have {shape.width} with the root, which are priced"
        )
    if tree and (args.alpha is not None or args.workload is not None):
        acceptance, spread = (_accepted.of_tree(a, shape, topk) for a in (acceptance, spread))
    model = _machine.model(args)
    for note in model.notes:
        console.warning(note)
    machine = _machine_of(args)
    _check_baseline(args, machine)
    overhead = args.cycle_overhead_ms
    measured = Measured(
        plain_step_s=args.batch_size / args.baseline if args.baseline else None,
        draft_cost_ratio=args.draft_cost_ratio, cycle_overhead_s=None if overhead is None else overhead / 1e3,
        width_s=args.width_ms, amortization=args.amortization, batch_size=args.batch_size,
    )  # fmt: skip
    if drafts is not None:
        measured, more, unused = _from_log.carry_over(args, ran, drafts, machine, shape, measured, _machine_of)
        taken += more
        if unused:
            console.warning(f"what the log measured is not in the answer: {unused}")
    found = speculate(
        machine, shape, acceptance, batch_size=args.batch_size, context_tokens=args.prompt_tokens,
        hit_rate=hits, measured=measured, topk=topk, spread=spread, schedule=args.schedule, most_k=args.draft_lengths,
    )  # fmt: skip
    if asked_k is None and way not in ("from_log", "per_position"):
        found = replace(found, usual_k=True)
    if not found.memory.fits:
        from clover_sim.cost import does_not_fit

        console.warning(does_not_fit(found.machine, found.memory))
    for note in beyond_window([(found.machine, found.cycle.context_tokens)]):
        console.warning(note)
    from clover_sim.speculation.document import document, outline

    def text(name: str, look: Any) -> str:
        from clover_sim.report._outline import render_outline

        return _flat.render(
            name, look, lambda: document(found, taken), found.to_dicts,
            lambda look: render_outline(outline(found, taken), look),
        )  # fmt: skip

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _parallel(drafts: Any, method: str) -> bool:
    """Whether a log says that one pass of its drafter, which is that of ``method``, gives all drafts."""
    stated = None if drafts is None else drafts.setup.parallel_drafting
    own = None if drafts is None else drafts.setup.method
    return bool(stated and stated.value and (own is None or own.value == method))


def _machine_of(args: Namespace) -> Any:
    """The machine that flags describe."""
    from clover_sim.cost import Machine

    model, card = _machine.model(args), _machine.hardware(args)
    return Machine(
        model.spec, card, _machine.engine(args, card), args.precision or model.precision or "bf16",
        args.kv_cache_dtype or "bf16", args.tensor_parallel_size or 1, drafter_precision=args.drafter_precision,
        routing_beta=args.routing_beta,
    )  # fmt: skip


def _schedule(text: str) -> tuple[tuple[int, int, int], ...] | None:
    """``[[1,64,3],[65,128,1]]``: first and last batch, draft length; ``None`` for auto."""
    if text == "auto":
        return None
    import json

    from clover_sim.speculation.batches import check_schedule

    try:
        runs = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{text!r} is not a schedule such as [[1,64,3],[65,128,1]], or auto") from None
    try:
        return check_schedule(runs)
    except UsageError as error:
        raise UsageError(str(error).removeprefix("schedule").lstrip(": ")) from None


def _share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        percent = f"; {text} % is {value / 100:g}" if 1 < value <= 100 else ""
        raise UsageError(f"{text} is not a share from 0 to 1{percent}")
    return value


def _shares(text: str) -> tuple[float, ...]:
    return tuple(_share(part.strip()) for part in text.split(","))


def _widths(text: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for part in text.split(","):
        width, colon, time_ms = part.partition(":")
        if not colon:
            raise UsageError(f"{part!r} is not WIDTH:MILLISECONDS, as in 1:8.5,4:16")
        found[whole(width)] = positive(time_ms) / 1e3
    return found


_SLOWEST = 8
"""Times its price beyond which a plain step is taken for a slip: a speed of one request given for a whole batch."""


def _check_measured(args: Namespace) -> None:
    """Measured times that say the same twice."""
    if args.width_ms is None:
        return
    if args.cycle_overhead_ms is not None:
        raise UsageError("--cycle-overhead-ms: the times of --width-ms are whole passes, the host's included; drop one")
    if args.baseline is not None and 1 in args.width_ms:
        raise UsageError("--baseline and width 1 of --width-ms both say what a plain step takes; give one of them")


def _check_baseline(args: Namespace, machine: Any) -> None:
    if args.baseline is None:
        return
    from clover_sim.cost import price
    from clover_sim.records import Kind, PassShape

    n, context = args.batch_size, args.prompt_tokens
    times = n / args.baseline / price(machine, PassShape(Kind.DECODE, (1,) * n, context * n)).latency_s
    if times > _SLOWEST:
        raise UsageError(
            f"--baseline {args.baseline:g}: at a batch of {n} that is {times:.0f} times the price of a plain step; it "
            "is the speed of all requests together, so check it, the model, the GPU and the engine"
        )
