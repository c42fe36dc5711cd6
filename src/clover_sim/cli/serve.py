"""``clover-sim serve``: many users on one machine, and the load at which each strategy stops winning."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from clover_sim.cli import INTERRUPTED, _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import counts, number, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError
from clover_sim.report import _flat

SUMMARY = "Serve many users: throughput, latency percentiles, crossover load."
EXAMPLES = """\
examples:
  clover-sim serve
  clover-sim serve --rate 8 --requests 100000 --target-first-token-ms 500
  clover-sim serve --users 32 --think-s 5 -s ar -s block-diffusion --policy lockstep
  clover-sim serve --log requests.csv --gpu h20 --model llada2.0-mini
  clover-sim serve --published
"""


_MACHINE = (
    "model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "params_b", "active_b",
    "gpu_bandwidth_tb_s", "calibration",
)  # fmt: skip


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("traffic").add_argument
    add("--rate", metavar="R", type=typed(positive),
        help="requests a second (default: half of what the first strategy can take)")  # fmt: skip
    add("--burst", metavar="N", type=typed(whole), default=1, help="requests that come at one moment (default 1)")
    add("--users", metavar="N", type=typed(whole), help="a closed loop of N users instead")
    add("--think-s", metavar="S", type=typed(_at_least_0), default=0.0, help="mean pause of a user (default 0)")
    add("--log", metavar="FILE",
        help="arrivals and lengths of a log: CSV or JSON lines; the ladder draws from it")  # fmt: skip
    add("--requests", metavar="N", type=typed(whole), default=2000, help="requests served (default 2000)")
    add("--output-tokens", metavar="N[:M]", type=typed(_range), default=(100, 300),
        help="length of an answer, or lowest and highest (default 100:300)")  # fmt: skip
    add("--text", metavar="PROFILE", help="text that is decoded (default the workload tool-call)")
    add("--ladder", metavar="N[,N...]", type=typed(_ladder), help="users of the ladder (default 1 to 256), or none")
    add("--allow-long", action="store_true", help="allow work above about 10^9 served tokens")
    add("--seed", metavar="N", type=typed(lambda t: whole(t, 0)), default=0, help="seed of all draws (default 0)")
    add("--published", action="store_true", help="instead: published speeds over users against the predicted ones")
    add = parser.add_argument_group("server").add_argument
    add("--max-batch", metavar="N", type=typed(whole), default=256, help="most requests in a step (default 256)")
    add("--policy", metavar="NAME", default="first-done-first-out", type=choice("first-done-first-out", "lockstep"),
        help="first-done-first-out (default): each request takes its next pass in the next step and leaves when its "
        "own answer is done; lockstep: a finished block waits for the slowest of its round")  # fmt: skip
    add("--when-full", metavar="RULE", default="queue", type=choice("queue", "preempt"),
        help="cache: queue (default) until all a request needs is free, or preempt the youngest")  # fmt: skip
    add("--max-prefill-tokens", metavar="N", type=typed(whole), default=8192,
        help="most prompt tokens of one step (default 8192)")  # fmt: skip
    add("--draft-schedule", metavar="USERS:K[,...]", type=typed(_schedule), default=(),
        help="draft tokens by requests under way, as 1:5,32:2,128:0")  # fmt: skip
    add("--pool", metavar="N", type=typed(whole), default=1000, help="ledgers of a strategy (default 1000)")
    add("--target-first-token-ms", metavar="MS", type=typed(positive), help="goodput: time to the first token")
    add("--target-per-token-ms", metavar="MS", type=typed(positive), help="goodput: time per output token")
    _flags.strategy_flags(parser)
    _flags.machine_flags(parser)
    parser.set_defaults(prompt_tokens=1000)
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Serve, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    if args.published:
        _refuse(args, _given(args), "--published has machines, texts and loads of its own")
        return _published(args, exports, console)
    _refuse(args, ["batch_size"], "a server makes its own batches, which --max-batch bounds")
    _refuse(args, ["max_new_tokens"], "answers are as long as --output-tokens or the log says")
    if sum(x is not None for x in (args.rate, args.users, args.log)) > 1:
        raise UsageError("--rate, --users and --log contradict each other: give one kind of arrivals")
    if args.log:
        unused = ["requests", "output_tokens", "prompt_tokens", "burst", "think_s"]
        _refuse(args, unused, "the requests of --log have times and lengths of their own")
    elif args.users is None:
        _refuse(args, ["think_s"], "only the users of --users pause between requests")
    else:
        _refuse(args, ["burst"], "the users of --users send their requests one by one")
    if args.draft_schedule:
        _refuse(args, ["num_speculative_tokens", "speculative_num_draft_tokens"], "--draft-schedule names the lengths")
    if (args.cost or "").startswith("fixed"):
        _refuse(args, _MACHINE, "--cost fixed gives the time of every pass")
    if args.policy == "lockstep" and args.when_full == "preempt":
        raise UsageError("--policy lockstep starts requests only between rounds; use --when-full queue with it")
    strategies, cost = _flags.strategies(args), _flags.cost(args)
    from clover_sim.agents.sizes import read_sizes
    from clover_sim.agents.texts import DEFAULT_TEXT
    from clover_sim.serving.ladder import USERS
    from clover_sim.serving.limits import MOST_REQUESTS
    from clover_sim.serving.run import Traffic, serve

    log = tuple(read_sizes(args.log, MOST_REQUESTS)) if args.log else ()
    if len(log) > 1 and log[0].time_s is None:
        known = "timestamp or arrival_s"
        console.warning(f"{args.log}: no column of times that is known, such as {known}: all requests come at once")
    ladder = USERS if args.ladder is None else args.ladder
    traffic = Traffic(
        args.requests, args.rate, args.burst, args.users, args.think_s, log, args.prompt_tokens, args.output_tokens,
        ladder,
    )  # fmt: skip
    rules = {"kv_write": args.kv_write, "eos_stop": args.eos_stop, "align": args.align}
    with console.progress("runs or requests") as progress:
        found = serve(
            strategies, traffic, cost=cost, text=args.text or DEFAULT_TEXT, batch=args.max_batch, policy=args.policy,
            cache_rule=args.when_full, prefill_tokens=args.max_prefill_tokens, schedule=args.draft_schedule,
            first_token_target_s=_ms(args.target_first_token_ms), per_token_target_s=_ms(args.target_per_token_ms),
            pool=args.pool, seed=args.seed, rules=rules, allow_long=args.allow_long, progress=progress,
        )  # fmt: skip

    def text(name: str, look: Any) -> str:
        from clover_sim.report._serve import render_serve

        return _flat.render(name, look, found.to_dict, found.to_dicts, lambda look: render_serve(found, look))

    if found["interrupted"]:
        console.warning("interrupted: only what was finished is shown")
    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return INTERRUPTED if found["interrupted"] else 0


def _published(args: Namespace, exports: list[Any], console: Console) -> int:
    from clover_sim.serving.published import check_published

    with console.progress("curves") as progress:
        found = check_published(progress)

    def text(name: str, look: Any) -> str:
        from clover_sim.report._serve import published_rows, render_published

        return _flat.render(
            name, look, lambda: found, lambda: published_rows(found), lambda look: render_published(found, look)
        )

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _given(args: Namespace) -> list[str]:
    """What was given beside flags of output, by attribute."""
    given = {*vars(args).get("_given", ())} - {"format", "color"}
    return sorted(given | {name for name in ("strategy", "allow_long") if getattr(args, name)})


def _refuse(args: Namespace, names: Sequence[str], why: str) -> None:
    """Refuse flags that would change nothing, all in one line."""
    given = _given(args)
    if found := [f"--{name.replace('_', '-')}" for name in names if name in given]:
        raise UsageError(f"{', '.join(found)}: {why}; leave {'it' if len(found) == 1 else 'them'} out")


def _ms(value: float | None) -> float | None:
    return None if value is None else value / 1e3


def _at_least_0(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1e6:
        raise UsageError(f"{text!r} is out of range: expected 0 to 1e6 seconds")
    return value


def _range(text: str) -> tuple[int, int]:
    low, colon, high = text.partition(":")
    first = whole(low)
    last = whole(high) if colon else first
    if last < first:
        raise UsageError(f"{text!r} is an empty range; write the lower number first")
    if last > 100_000:
        raise UsageError(f"{text!r} is out of range: expected answers of at most 100,000 tokens")
    return first, last


def _ladder(text: str) -> tuple[int, ...]:
    if text == "none":
        return ()
    found = tuple(sorted(set(counts(text))))
    if found[-1] > 4096:
        raise UsageError(f"{text!r} is out of range: expected at most 4096 users")
    return found


def _schedule(text: str) -> tuple[tuple[int, int], ...]:
    pairs = []
    for part in text.split(","):
        users, colon, k = part.partition(":")
        if not colon:
            raise UsageError(f"{part!r} is not USERS:K, as in 1:5,32:2,128:0")
        pairs.append((whole(users), whole(k, 0)))
    if pairs != sorted(pairs) or pairs[0][0] != 1 or len({u for u, _ in pairs}) < len(pairs):
        raise UsageError(f"{text!r}: expected users ascending from 1, as in 1:5,32:2,128:0")
    return tuple(pairs)
