"""The flags of ``speculate`` that say what is accepted, and the acceptance they mean."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any, NamedTuple

from clover_sim.errors import UsageError

RATE_OF = {
    "vllm": "accepted/drafted", "llama.cpp": "accepted/drafted", "trtllm": "accepted/drafted",
    "sglang": "sglang-new", "sglang-old": "sglang-old", "conditional": "conditional",
    "accepted/drafted": "accepted/drafted", "system-efficiency": "system-efficiency",
}  # fmt: skip
_WAYS = ("acceptance_length", "acceptance_rate", "per_position", "alpha", "clustering", "from_log", "workload")


class Accepted(NamedTuple):
    """Acceptance, share of cycles with drafts, low and high end of a preset, and the draft length."""

    acceptance: Any
    hit_rate: float
    spread: Any
    k: int


def way(args: Namespace) -> str:
    """Which of the flags says what is accepted."""
    given = [name for name in _WAYS if getattr(args, name) is not None]
    if len(given) > 1:
        first, second = (f"--{name.replace('_', '-')}" for name in given[:2])
        raise UsageError(f"{first} and {second} both say what is accepted; give one of them")
    if not given:
        raise UsageError(
            "what is accepted? Give --acceptance-length, --acceptance-rate with --rate-of, --per-position, --alpha, "
            "--clustering, --from-log or --workload"
        )
    return given[0]


def accepted(args: Namespace, way: str, method: str, drafts: Any) -> Accepted:
    """What the flag ``way`` says; ``drafts`` are those of a log."""
    from clover_sim import acceptance as made
    from clover_sim.speculation import METHODS, preset
    from clover_sim.speculation.methods import MOST_LEVELS
    from clover_sim.speculation.presets import BLOCK_RHO, SPREAD

    _check(args, way, method, METHODS[method].how)
    tree = METHODS[method].how == "tree"
    with_root = None if tree else args.speculative_num_draft_tokens
    stated = args.speculative_num_steps or args.num_speculative_tokens
    hits = 1.0 if args.hit_rate is None else args.hit_rate
    if way in ("per_position", "from_log"):
        if way == "from_log" and args.hit_rate is None:
            hits = drafts.hit_rate or hits
        found = made.from_survival(args.per_position) if drafts is None else drafts.acceptance
        found = found if args.rho is None else replace(found, rho=args.rho)
        known = found.tree.levels if found.tree else found.k
        if tree and way == "from_log" and found.tree is None:
            known = min(known, MOST_LEVELS)
            found = found.on(made.DraftTree(known, 1, known + 1))  # a chain is a tree of one child a node
        return Accepted(found, hits, None, made.draft_length(stated, with_root, known))
    if way in ("acceptance_length", "acceptance_rate") and stated is None and with_root is None and not tree:
        raise UsageError(
            f"--{way.replace('_', '-')}: at how many draft tokens a cycle? Give --num-speculative-tokens (SGLang's "
            "--speculative-num-draft-tokens counts the root)"
        )
    k = made.draft_length(stated, with_root, METHODS[method].k)
    rho = args.rho or (BLOCK_RHO if METHODS[method].how == "block" else made.DEFAULT_RHO)
    if way == "acceptance_length":
        length = made.from_length(args.acceptance_length, k, bonus=not args.without_bonus, rho=rho)
        return Accepted(length, hits, None, k)
    if way == "acceptance_rate":
        return Accepted(made.from_rate(args.acceptance_rate, k, RATE_OF.get(args.rate_of)), hits, None, k)
    if way == "alpha":
        return Accepted(made.from_alpha(args.alpha, k, rho), hits, None, k)
    if way == "clustering":
        return Accepted(made.clustered(args.clustering[0], args.clustering[1], k), hits, None, k)
    found, known = preset(args.workload, method, k)
    spread = tuple(preset(args.workload, method, k, shift)[0] for shift in (-SPREAD, SPREAD))
    return Accepted(found, known if args.hit_rate is None else hits, spread, k)


def _check(args: Namespace, way: str, method: str, how: str) -> None:
    """Flags that do not go with the way."""
    if args.without_bonus and way != "acceptance_length":
        raise UsageError("--without-bonus says how --acceptance-length counts; give both")
    if args.rate_of is not None and way != "acceptance_rate":
        raise UsageError("--rate-of says what --acceptance-rate means; give both")
    if args.rho is not None and way in ("acceptance_rate", "clustering", "workload"):
        other = way.replace("_", "-")
        raise UsageError(f"--rho goes with --alpha, --acceptance-length, --per-position or --from-log, not --{other}")
    if args.hit_rate is not None and how != "free":
        raise UsageError(f"--hit-rate belongs to ngram and suffix; {method} has a draft in every cycle")
    if way == "clustering" and len(args.clustering) != 2:
        raise UsageError("--clustering takes two shares: after a match, and after a miss, as in 0.86,0.63")


def check_drafter(args: Namespace, method: str, how: str) -> None:
    """Flags of the draft that do not go with the method, or contradict each other."""
    given = vars(args).get("_given", ())
    levels, k = args.speculative_num_steps, args.num_speculative_tokens
    if {"speculative_num_steps", "num_speculative_tokens"} <= {*given} and levels != k:
        raise UsageError(
            f"--speculative-num-steps {levels} and --num-speculative-tokens {k} both say how long a path of drafts is; "
            "give one of them"
        )
    if how == "tree" and "rho" in given:
        raise UsageError(f"--rho belongs to chains; every level of a tree ({method}) has the same chance a token")
    if how != "tree" and "speculative_eagle_topk" in given and args.speculative_eagle_topk > 1:
        raise UsageError(
            f"--speculative-eagle-topk {args.speculative_eagle_topk} belongs to a tree, --method eagle-tree; {method} "
            "drafts one path"
        )
    if how == "free":
        for name in ("drafter", "drafter_precision", "draft_cost_ratio"):
            if name in given:
                raise UsageError(f"--{name.replace('_', '-')}: {method} drafts without a model; drop it")


def of_tree(one: Any, shape: Any, topk: int) -> Any:
    """The same chance of the best token on a tree; of a pair, each."""
    from clover_sim.acceptance import DraftTree

    if one is None or isinstance(one, tuple):
        return one and tuple(of_tree(a, shape, topk) for a in one)
    first = replace(one, survival=one.survival[:1])
    return first.on(DraftTree(shape.k, topk, shape.width))
