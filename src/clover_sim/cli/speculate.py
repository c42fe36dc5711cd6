"""``clover-sim speculate``: will drafts pay for this model on this card, and how many of them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import Any

from clover_sim.cli import _export, _flags, _machine
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import number, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
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

_RATE_OF = {
    "vllm": "accepted/drafted", "llama.cpp": "accepted/drafted", "trtllm": "accepted/drafted",
    "sglang": "sglang-new", "sglang-old": "sglang-old", "conditional": "conditional",
    "accepted/drafted": "accepted/drafted", "system-efficiency": "system-efficiency",
}  # fmt: skip


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
    add("--drafter", metavar="NAME|FILE", help="the model that drafts, instead of the method's own head")
    add("--drafter-precision", metavar="NAME", default="bf16", help="format of its weights (default bf16)")
    add = parser.add_argument_group("acceptance (one of)").add_argument
    add("--acceptance-length", metavar="X", type=typed(positive), help="tokens a cycle, bonus included")
    add("--without-bonus", action="store_true", help="the acceptance length does not count the bonus token")
    add("--acceptance-rate", metavar="R", type=typed(_share), help="a rate; say whose with --rate-of")
    add("--rate-of", metavar="WHOSE", type=choice(*_RATE_OF), help=f"what the rate means: {', '.join(_RATE_OF)}")
    add("--per-position", metavar="S,S,...", type=typed(_shares), help="survival of each position, as logs print it")
    add("--alpha", metavar="A", type=typed(_share), help="conditional acceptance of the first draft")
    add("--rho", metavar="R", type=typed(positive), help="its fall from one draft to the next (default 0.97)")
    add("--clustering", metavar="M,N", type=typed(_shares), help="acceptance after a match, and after a miss")
    add("--from-log", metavar="FILE", help="a log that explain reads; where it states method, draft length, engine, "
        "model, cards and load, they are taken too unless their flags are given")  # fmt: skip
    add("--workload", metavar="KIND", help="a preset: code, math, chat, prose, rag, random")
    add("--hit-rate", metavar="P", type=typed(_share), help="share of cycles with a proposal (ngram, suffix)")
    add = parser.add_argument_group("measured").add_argument
    add("--baseline", metavar="X", type=typed(positive), help="plain decoding at this batch, tokens/s in all")
    add("--draft-cost-ratio", metavar="C", type=typed(number), help="one draft pass over one plain step")
    add("--cycle-overhead-ms", metavar="X", type=typed(number), help="host time a cycle")
    add("--width-ms", metavar="W:MS,...", type=typed(_widths), help="measured times of a pass by its width")
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
    parser.set_defaults(batch_size=None)
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Price, answer, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    if args.cost is not None:
        raise UsageError("--cost: speculate prices with the roofline; give --baseline or --width-ms for measured times")
    from clover_sim.cost import Machine
    from clover_sim.speculation import METHODS, Measured, method_name, shape_of, speculate

    way = _way(args)
    drafts, taken = _drafts(args)
    method = method_name(args.method or "eagle3")
    args.batch_size = 1 if args.batch_size is None else args.batch_size
    args.speculative_eagle_topk = args.speculative_eagle_topk or 4
    acceptance, hits, spread, k = _acceptance(args, way, method, drafts)
    budget = args.speculative_num_draft_tokens if METHODS[method].how == "tree" else None
    shape = shape_of(method, k, drafter=args.drafter, topk=args.speculative_eagle_topk, budget=budget)
    if METHODS[method].how == "tree" and (args.alpha is not None or args.workload is not None):
        acceptance, spread = (_of_tree(a, shape, args.speculative_eagle_topk) for a in (acceptance, spread))
    model, card = _machine.model(args), _machine.hardware(args)
    for note in model.notes:
        console.warning(note)
    machine = Machine(
        model.spec, card, _machine.engine(args, card), args.precision or model.precision or "bf16",
        args.kv_cache_dtype or "bf16", args.tensor_parallel_size or 1, drafter_precision=args.drafter_precision,
        routing_beta=args.routing_beta,
    )  # fmt: skip
    _check_baseline(args, machine)
    overhead = args.cycle_overhead_ms
    measured = Measured(
        plain_step_s=args.batch_size / args.baseline if args.baseline else None,
        draft_cost_ratio=args.draft_cost_ratio, cycle_overhead_s=None if overhead is None else overhead / 1e3,
        width_s=args.width_ms, amortization=args.amortization,
    )  # fmt: skip
    found = speculate(
        machine, shape, acceptance, batch_size=args.batch_size, context_tokens=args.prompt_tokens or 1024,
        hit_rate=hits, measured=measured, topk=args.speculative_eagle_topk, spread=spread,
        schedule=args.schedule,
    )  # fmt: skip
    if not found.memory.fits:
        from clover_sim.cost import does_not_fit

        console.warning(does_not_fit(found.machine, found.memory))
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


def _way(args: Namespace) -> str:
    """Which of the flags says what is accepted."""
    ways = ("acceptance_length", "acceptance_rate", "per_position", "alpha", "clustering", "from_log", "workload")
    given = [way for way in ways if getattr(args, way) is not None]
    if len(given) > 1:
        first, second = (f"--{way.replace('_', '-')}" for way in given[:2])
        raise UsageError(f"{first} and {second} both say what is accepted; give one of them")
    if not given:
        raise UsageError(
            "what is accepted? Give --acceptance-length, --acceptance-rate with --rate-of, --per-position, --alpha, "
            "--clustering, --from-log or --workload"
        )
    return given[0]


def _drafts(args: Namespace) -> tuple[Any, list[tuple[str, Any, str]]]:
    """The drafts of ``--from-log``; and of what it states that no flag says, name, value and place, set as flags."""
    if args.from_log is None:
        return None, []
    from clover_sim.explain import drafts_of

    with_root = args.speculative_num_draft_tokens
    given = args.num_speculative_tokens or (with_root - 1 if with_root is not None and with_root > 1 else None)
    drafts = drafts_of(args.from_log, given)
    taken: list[tuple[str, Any, str]] = [("acceptance", round(drafts.acceptance.length, 3), drafts.where)]

    def take(flag: str, fact: Any, value: Any = None) -> None:
        if fact is not None and getattr(args, flag) is None:
            setattr(args, flag, fact.value if value is None else value)
            taken.append((f"--{flag.replace('_', '-')}", getattr(args, flag), fact.where))

    setup = drafts.setup
    own_model = args.params_b is not None or args.active_b is not None or getattr(args, "weight_gb", None) is not None
    if args.model is None and not own_model:
        take("precision", setup.precision if setup.model else None)
        take("model", setup.model)
    if args.gpu_bandwidth_tb_s is None:
        take("gpu", setup.gpu)
    if args.calibration is None:
        take("engine", setup.engine)
    take("tensor_parallel_size", setup.tensor_parallel_size)
    if args.method is None and args.drafter is None:
        take("method", setup.method)
    if args.method == "draft-model":
        take("drafter", setup.drafter if setup.method and setup.method.value == "draft-model" else None)
    if args.method == "eagle-tree" and args.num_speculative_tokens is None:
        take("speculative_num_draft_tokens", setup.tree_tokens)
        take("speculative_num_steps", setup.num_speculative_tokens)
        take("speculative_eagle_topk", setup.topk)
    elif args.num_speculative_tokens is None and args.speculative_num_draft_tokens is None:
        taken.append(("--num-speculative-tokens", drafts.acceptance.k, drafts.where))
    if setup.running_requests is not None:
        take("batch_size", setup.running_requests, max(1, round(setup.running_requests.value)))
    if drafts.cycle_time_s is not None:
        here = f"ms; not used: times are prices here, explain holds them against {drafts.where}"
        taken.append(("cycle time", round(drafts.cycle_time_s * 1e3, 2), here))
    return drafts, taken


def _acceptance(args: Namespace, way: str, method: str, drafts: Any) -> tuple[Any, float, Any, int]:
    """Acceptance, hit rate, the range of a preset, and the draft length."""
    from clover_sim import acceptance as made
    from clover_sim.speculation import METHODS, preset
    from clover_sim.speculation.presets import BLOCK_RHO, SPREAD

    tree = METHODS[method].how == "tree"
    with_root = None if tree else args.speculative_num_draft_tokens
    stated = args.speculative_num_steps or args.num_speculative_tokens
    default = METHODS[method].k
    hits = 1.0 if args.hit_rate is None else args.hit_rate
    if args.without_bonus and way != "acceptance_length":
        raise UsageError("--without-bonus says how --acceptance-length counts; give both")
    if args.rate_of is not None and way != "acceptance_rate":
        raise UsageError("--rate-of says what --acceptance-rate means; give both")
    if args.rho is not None and way in ("acceptance_rate", "clustering", "workload"):
        other = way.replace("_", "-")
        raise UsageError(f"--rho goes with --alpha, --acceptance-length, --per-position or --from-log, not --{other}")
    if args.hit_rate is not None and METHODS[method].how != "free":
        raise UsageError(f"--hit-rate belongs to ngram and suffix; {method} has a draft in every cycle")
    if way in ("per_position", "from_log"):
        if way == "from_log" and args.hit_rate is None and METHODS[method].how == "free":
            hits = drafts.hit_rate or hits
        found = made.from_survival(args.per_position) if drafts is None else drafts.acceptance
        found = found if args.rho is None else replace(found, rho=args.rho)
        return found, hits, None, made.draft_length(stated, with_root, found.k)
    if way in ("acceptance_length", "acceptance_rate") and stated is None and with_root is None and not tree:
        raise UsageError(
            f"--{way.replace('_', '-')}: at how many draft tokens a cycle? Give --num-speculative-tokens (SGLang's "
            "--speculative-num-draft-tokens counts the root)"
        )
    k = made.draft_length(stated, with_root, default)
    rho = args.rho or (BLOCK_RHO if METHODS[method].how == "block" else made.DEFAULT_RHO)
    if way == "acceptance_length":
        return made.from_length(args.acceptance_length, k, bonus=not args.without_bonus, rho=rho), hits, None, k
    if way == "acceptance_rate":
        return made.from_rate(args.acceptance_rate, k, _RATE_OF.get(args.rate_of)), hits, None, k
    if way == "alpha":
        return made.from_alpha(args.alpha, k, rho), hits, None, k
    if way == "clustering":
        if len(args.clustering) != 2:
            raise UsageError("--clustering takes two shares: after a match, and after a miss, as in 0.86,0.63")
        return made.clustered(args.clustering[0], args.clustering[1], k), hits, None, k
    found, known = preset(args.workload, method, k)
    spread = tuple(preset(args.workload, method, k, shift)[0] for shift in (-SPREAD, SPREAD))
    return found, known if args.hit_rate is None else hits, spread, k


def _of_tree(accepted: Any, shape: Any, topk: int) -> Any:
    """The same chance of the best token on a tree; of a pair, each."""
    from clover_sim.acceptance import Acceptance
    from clover_sim.draft_trees import best_first

    if accepted is None or isinstance(accepted, tuple):
        return accepted and tuple(_of_tree(a, shape, topk) for a in accepted)
    tree = best_first(accepted.survival[0], shape.k, topk, shape.width)
    return Acceptance(tree.survival, f"{accepted.given}; on a tree of {shape.width} tokens")


def _schedule(text: str) -> tuple[tuple[int, int, int], ...] | None:
    """``[[1,64,3],[65,128,1]]``: first and last batch, draft length."""
    if text == "auto":
        return None
    import json

    try:
        runs = json.loads(text)
        found = tuple((whole(str(a)), whole(str(b)), whole(str(k), 0)) for a, b, k in runs)
    except (ValueError, TypeError, RecursionError):
        raise UsageError(f"{text!r} is not a schedule such as [[1,64,3],[65,128,1]], or auto") from None
    for a, b, _ in found:
        if b < a:
            raise UsageError(f"[{a}, {b}] runs backwards; write the smaller batch first")
    return found


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


def _check_baseline(args: Namespace, machine: Any) -> None:
    if args.baseline is None:
        return
    from clover_sim.cost import price
    from clover_sim.records import Kind, PassShape

    n, context = args.batch_size, args.prompt_tokens or 1024
    times = n / args.baseline / price(machine, PassShape(Kind.DECODE, (1,) * n, context * n)).latency_s
    if times > _SLOWEST:
        raise UsageError(
            f"--baseline {args.baseline:g}: at a batch of {n} that is {times:.0f} times the price of a plain step; it "
            "is the speed of all requests together, so check it, the model, the GPU and the engine"
        )
