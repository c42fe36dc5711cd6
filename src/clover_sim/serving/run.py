"""Strategies on one machine with many users: a ladder of users, one load in detail, and where each stops winning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clover_sim.agents.result import ServeResult
from clover_sim.agents.sizes import Size
from clover_sim.agents.texts import DEFAULT_TEXT
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import DEFAULT_STRATEGIES, Strategy, check_memory, choose_cost, describe, make_strategy
from clover_sim.rng import substream
from clover_sim.serving.arrivals import Closed, Logged, Open, Source
from clover_sim.serving.core import Server
from clover_sim.serving.limits import MOST_POOL_TOKENS, Limits, check_asked, check_targets
from clover_sim.serving.pool import LEAST_POOL, Passes, Pool, make_pool
from clover_sim.serving.pricing import CostPricer

SCHEMA = "clover-sim/serve/1"
USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_LADDER_REQUESTS, _LADDER_ROUNDS = 160, 4


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is asked of the server.

    Args:
        requests: of the detailed run. rate_per_s: of an open arrival process; ``None``: half of what token by token
            can take. burst: requests at one moment. users, think_s: a closed loop instead. log: a log instead.
        prompt_tokens: of each request. output_tokens: lowest and highest length, drawn evenly.
        users_ladder: numbers of users of the ladder, ascending; empty for none.

    >>> Traffic(requests=100, output_tokens=(50, 150)).users_ladder[:3]
    (1, 2, 4)
    """

    requests: int = 2000
    rate_per_s: float | None = None
    burst: int = 1
    users: int | None = None
    think_s: float = 0.0
    log: tuple[Size, ...] = ()
    prompt_tokens: int = 1000
    output_tokens: tuple[int, int] = (100, 300)
    users_ladder: tuple[int, ...] = USERS


class Contender:
    """A strategy with its pools: (requests being decoded from which it holds, pool)."""

    def __init__(self, label: str, strategy: Strategy, pools: Sequence[tuple[int, Pool]], limits: Limits) -> None:
        self.label, self.strategy, self.pools, self.limits = label, strategy, pools, limits
        self.pricer = CostPricer(strategy.cost)

    def serve(self, source: Source, prompt_tokens: int, seed: int, progress: Any = None, total: int = 0) -> Any:
        """One run; the same ``seed`` draws the same lengths for every strategy."""
        draw = substream(seed, "serve/requests").random

        def choose(prompt: int | None, output: int | None, decoding: int) -> tuple[Passes, int]:
            pool = next(p for start, p in reversed(self.pools) if decoding >= start or start <= 1)
            return pool.draw(draw(), output), prompt_tokens if prompt is None else prompt

        return Server(self.pricer, self.limits, choose).run(source, progress, total)


def serve(
    strategies: Sequence[Any] | None = None,
    traffic: Traffic | None = None,
    *,
    model: str | None = None,
    gpu: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    cost: Any = None,
    text: str = DEFAULT_TEXT,
    batch: int = 256,
    policy: str = "first-done-first-out",
    cache_rule: str = "queue",
    prefill_tokens: int = 8192,
    schedule: Sequence[tuple[int, int]] = (),
    first_token_target_s: float | None = None,
    per_token_target_s: float | None = None,
    pool: int = LEAST_POOL,
    seed: int = 0,
    rules: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ServeResult:
    """Serve the same traffic with each strategy: throughput, latency, and where each stops winning.

    Args:
        strategies: names with options or decoders; default: those of ``compare``. traffic: what is asked.
        model, gpu, engine, precision: names, for the roofline of that machine. cost: a cost model or ``Machine``.
        text: the profile that is decoded. pool: ledgers of each strategy. seed: of all draws. rules: of the runs.
        batch, policy, cache_rule, prefill_tokens: see :class:`~clover_sim.serving.limits.Limits`.
        schedule: (requests being decoded, draft tokens) pairs for speculative strategies: from so many requests on, a
            new request is drafted for with so many tokens a cycle; 0 is none.
        first_token_target_s, per_token_target_s: what an answer must keep to count as goodput.

    An interruption returns what is finished, with ``interrupted`` true.

    Returns:
        the document ``clover-sim/serve/1`` in SI units; docs/how-to/agents-and-servers.md says what is modelled.

    Raises:
        InputError: the model or one request does not fit. UsageError: a name or a range that cannot be used.

    >>> found = serve(["ar", "block-diffusion"], Traffic(requests=20, users_ladder=(1, 64)), pool=10)
    >>> [step["users"] for step in found["ladder"]], [row["strategy"] for row in found.rows]
    ([1, 64], ['ar', 'block-diffusion'])
    """
    traffic = traffic or Traffic()
    cost = choose_cost(cost, model=model, gpu=gpu, engine=engine, precision=precision)
    check_asked(traffic, pool, Limits(batch, None, 0.0, prefill_tokens, policy, cache_rule))
    check_targets(first_token_target_s, per_token_target_s)
    lengths = _lengths(traffic, pool, seed)
    if sum(lengths) > MOST_POOL_TOKENS:
        raise UsageError(
            f"a pool of {pool} ledgers of {sum(lengths) // pool} tokens is more than can be run (limit "
            f"{MOST_POOL_TOKENS} tokens a strategy); give --pool {max(1, MOST_POOL_TOKENS * pool // sum(lengths))} or "
            "shorter answers"
        )
    longest = traffic.prompt_tokens + max(lengths)
    machine = cost.machine
    window = machine.model.max_context_tokens if machine is not None else None
    if window and longest > window:
        raise InputError(f"a request has {longest} tokens, but {machine.model.name} takes {window}; use shorter ones")
    contenders = []
    streams: dict[tuple[int, int], Any] = {}
    for given in strategies or DEFAULT_STRATEGIES:
        strategy = make_strategy(given, cost)
        check_memory(strategy.cost, 1, longest)
        limits = _limits(strategy.cost, batch, policy, cache_rule, prefill_tokens)
        make = (text, lengths, pool, rules, progress, streams)
        contenders.append(_contender(strategy, given, schedule, cost, limits, make))
    document = ServeResult({
        "schema": SCHEMA,
        "settings": {
            **describe(cost), "policy": policy, "cache_rule": cache_rule, "batch": batch,
            "prefill_tokens": prefill_tokens, "prompt_tokens": traffic.prompt_tokens,
            "output_tokens": [min(lengths), max(lengths)], "text": text, "pool_ledgers": pool, "seed": seed,
            "first_token_target_s": first_token_target_s, "per_token_target_s": per_token_target_s,
        },
        "ladder": [], "crossovers": [], "load": None, "rows": [], "interrupted": False,
    })  # fmt: skip
    try:
        _climb(document, contenders, traffic, seed, progress)
        if not document["interrupted"]:
            _detail(document, contenders, traffic, seed, (first_token_target_s, per_token_target_s), progress)
    except KeyboardInterrupt:
        document["interrupted"] = True
    document["crossovers"] = crossovers(document["ladder"], sum(lengths) / len(lengths))
    return document


def _lengths(traffic: Traffic, pool: int, seed: int) -> list[int]:
    """Lengths of the pool: even over the range, or drawn from the log."""
    draw = substream(seed, "serve/lengths").random
    if traffic.log:
        sizes = traffic.log
        return [sizes[int(draw() * len(sizes))].output_tokens for _ in range(pool)]
    low, high = traffic.output_tokens
    return [low + int(draw() * (high - low + 1)) for _ in range(pool)]


def _limits(cost: Any, batch: int, policy: str, cache_rule: str, prefill_tokens: int) -> Limits:
    """The cache of the machine in tokens, beside weights and drafter."""
    limits = Limits(batch, None, 0.0, prefill_tokens, policy, cache_rule)
    if cost.name != "roofline":
        return limits
    from clover_sim.cost import memory_check

    one = memory_check(cost.machine, 1, 4096)
    each = one.kv_bytes / 4096
    room = one.capacity_bytes - one.weight_bytes - one.drafter_bytes
    if not each:
        held = int(room / one.state_bytes) if one.state_bytes else batch
        return replace(limits, batch=max(1, min(batch, held)))
    return replace(limits, cache_tokens=room / each, state_tokens=one.state_bytes / each)


def _contender(
    strategy: Strategy, given: Any, schedule: Sequence[tuple[int, int]], cost: Any, limits: Limits,
    make: tuple[Any, ...],
) -> Contender:  # fmt: skip
    text, lengths, size, rules, progress, streams = make

    def pool_of(one: Strategy) -> Pool:
        return make_pool(one, text, lengths, size, rules, progress, streams)

    label = _label(strategy, given)
    if schedule and hasattr(strategy.decoder, "num_speculative_tokens"):
        pools = []
        for start, k in schedule:
            other = make_strategy(replace(strategy.decoder, num_speculative_tokens=k) if k else "ar", cost)
            pools.append((start, pool_of(other)))
        return Contender(f"{label}, scheduled", strategy, pools, limits)
    return Contender(label, strategy, [(1, pool_of(strategy))], limits)


def _label(strategy: Strategy, given: Any) -> str:
    """As it was asked for, without what the published defaults say."""
    return given.replace(":parallel_draft=true", "") if isinstance(given, str) else strategy.name


def _climb(
    document: dict[str, Any], contenders: Sequence[Contender], traffic: Traffic, seed: int, progress: Any
) -> None:
    """The ladder: users without pauses, who always have a request under way."""
    steps = [u for u in traffic.users_ladder if u <= document["settings"]["batch"]]
    for users in steps:
        requests = users * max(_LADDER_ROUNDS, -(-_LADDER_REQUESTS // users))
        row: dict[str, Any] = {"users": users, "strategies": {}}
        for one in contenders:
            record = one.serve(Closed(users, requests, 0.0, seed), traffic.prompt_tokens, seed)
            if record.interrupted:
                document["interrupted"] = True
                return
            row["strategies"][one.label] = {
                "tokens_per_s": record.steady_tokens_per_s(),
                "tokens_per_s_each": record.steady_tokens_per_s() / users,
                "latency_s_mean": record.sojourns / record.finished,
                "mean_batch": record.batch_steps / record.steps,
                "step_s": (record.busy_s - record.prefill_s) / record.steps,
                "tokens_per_step_each": record.tokens / record.batch_steps,
            }
        document["ladder"].append(row)
        if progress is not None:
            progress(len(document["ladder"]), len(steps))


def _detail(
    document: dict[str, Any], contenders: Sequence[Contender], traffic: Traffic, seed: int,
    targets: tuple[float | None, float | None], progress: Any,
) -> None:  # fmt: skip
    """One load, the same for all, request by request."""
    rate = traffic.rate_per_s
    if rate is None and traffic.users is None and not traffic.log:
        rate = _half(document["ladder"], contenders[0].label, traffic)
    document["load"] = {"requests": len(traffic.log) or traffic.requests, "rate_per_s": rate, "users": traffic.users,
                        "think_s": traffic.think_s, "burst": traffic.burst, "log": bool(traffic.log)}  # fmt: skip
    for one in contenders:
        source: Source
        if traffic.log:
            source = Logged(traffic.log)
        elif traffic.users is not None:
            source = Closed(traffic.users, traffic.requests, traffic.think_s, seed)
        else:
            source = Open(rate or 1.0, traffic.requests, seed, traffic.burst)
        record = one.serve(source, traffic.prompt_tokens, seed, progress, document["load"]["requests"])
        limits = one.limits
        document["rows"].append({
            "strategy": one.label, **{k: v for k, v in one.strategy.identity().items() if k != "strategy"},
            "cache_tokens": limits.cache_tokens, "state_tokens": limits.state_tokens,
            **record.summary(*targets),
        })  # fmt: skip
        if record.interrupted:
            document["interrupted"] = True
            return


def _half(ladder: Sequence[dict[str, Any]], label: str, traffic: Traffic) -> float:
    """Half of the most requests a second that the first strategy answers on the ladder."""
    if not ladder:
        return 1.0
    most = max(row["strategies"][label]["tokens_per_s"] for row in ladder)
    mean = sum(traffic.output_tokens) / 2
    return float(f"{most / mean / 2:.3g}")


def crossovers(ladder: Sequence[dict[str, Any]], mean_tokens: float) -> list[dict[str, Any]]:
    """Where each strategy's tokens a second, for as many users, fall to those of the first (interpolated in log users).

    ``wins_up_to_users`` is the last crossing downwards, ``None`` if it wins to the end of the ladder, 0 if it never
    wins; ``loses_within`` are users below it where it loses all the same.
    """
    from itertools import pairwise
    from math import exp, log

    if not ladder:
        return []
    first, *others = ladder[0]["strategies"]
    found = []
    for label in others:
        gains = [(row["users"], row["strategies"][label]["tokens_per_s"] / row["strategies"][first]["tokens_per_s"],
                  row["strategies"][label]["tokens_per_s"]) for row in ladder]  # fmt: skip
        crossing: float | None = None
        speed: float | None = None
        for (u0, g0, s0), (u1, g1, s1) in pairwise(gains):
            if g0 > 1 >= g1:
                share = log(g0) / (log(g0) - log(g1))
                crossing = exp(log(u0) + share * (log(u1) - log(u0)))
                speed = exp(log(s0) + share * (log(s1) - log(s0)))
        if gains[-1][1] > 1:
            crossing = speed = None
        elif crossing is None:
            crossing = speed = 0.0
        found.append({
            "strategy": label, "against": first, "gain_of_one_user": gains[0][1],
            "best_gain": max(g for _, g, _ in gains), "best_gain_users": max(gains, key=lambda g: g[1])[0],
            "gain_at_most_users": gains[-1][1], "most_users": gains[-1][0], "wins_up_to_users": crossing,
            "wins_up_to_requests_per_s": None if speed is None else speed / mean_tokens,
            "loses_within": [u for u, g, _ in gains if g < 1 and (crossing is None or u < crossing)],
        })  # fmt: skip
    return found
