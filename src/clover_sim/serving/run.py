"""Strategies on one machine with many users: a ladder of users, one load in detail, and where each stops winning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clover_sim.agents.result import ServeResult
from clover_sim.agents.sizes import Size
from clover_sim.agents.texts import DEFAULT_TEXT
from clover_sim.arguments import checked, settle
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import (
    DEFAULT_STRATEGIES,
    Strategy,
    check_memory,
    check_rules,
    choose_cost,
    describe,
    make_strategy,
    several_strategies,
)
from clover_sim.serving.arrivals import Closed, Logged, Open, Source
from clover_sim.serving.contenders import Contender, drafts, limits_of, make_contender, schedule_text
from clover_sim.serving.ladder import USERS, climb, crossovers, half_of_most, requests_of
from clover_sim.serving.lengths import grouped, spread
from clover_sim.serving.limits import Limits, check_asked, check_pool, check_schedule, check_served, check_targets
from clover_sim.serving.pool import LEAST_POOL, Pool, make_pool

SCHEMA = "clover-sim/serve/1"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is asked of the server.

    Args:
        requests: of the detailed run. rate_per_s: of an open arrival process; ``None``: half of what the first
            strategy can take. burst: requests at one moment. users, think_s: a closed loop instead. log: a log instead,
            with its own times and lengths; on the ladder its requests are drawn at random.
        prompt_tokens: of each request. output_tokens: lowest and highest length, drawn evenly.
        users_ladder: numbers of users of the ladder, ascending; empty for none. More than the largest batch wait.

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

    def __post_init__(self) -> None:
        settle(self)


@checked
def serve(
    strategies: Any = None,
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
    allow_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ServeResult:
    """Serve the same traffic with each strategy: throughput, latency, and where each stops winning.

    Args:
        strategies: a name with options or a decoder, or several; default: those of ``compare``. traffic: what is asked.
        model, gpu, engine, precision: names, for the roofline of that machine. cost: a cost model or ``Machine``.
        text: the profile that is decoded. pool: ledgers of each strategy. seed: of all draws. rules: of the runs.
        batch, policy, cache_rule, prefill_tokens: see :class:`~clover_sim.serving.limits.Limits`.
        schedule: (requests being decoded, draft tokens) pairs for speculative strategies: from so many requests on, a
            new request is drafted for with so many tokens a cycle; 0 is none.
        first_token_target_s, per_token_target_s: what an answer must keep to count as goodput.
        allow_long: permit more than about 10^9 served tokens, which take minutes.

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
    rules = check_rules(rules)
    if rules.get("align") == "absolute":
        raise UsageError("align absolute: a server's ledgers are made without prompts, so blocks start at the output")
    check_asked(traffic, pool, Limits(batch, None, 0.0, prefill_tokens, policy, cache_rule))
    check_targets(first_token_target_s, per_token_target_s)
    check_schedule(schedule)
    asked = several_strategies(strategies, DEFAULT_STRATEGIES)
    plain = all(one == "ar" for one in asked)  # which needs no pool: every length is served as it is
    lengths = grouped(traffic.log, pool, plain) if traffic.log else spread(*traffic.output_tokens, pool)
    check_pool(() if plain else lengths.ledgers, lengths.longest, len(schedule) or 1)
    ladder = traffic.users_ladder
    requests = sum(map(requests_of, ladder)) + (len(traffic.log) or traffic.requests)
    check_served(requests, lengths.mean, len(asked), allow_long)
    longest = max((one.prompt_tokens + one.output_tokens for one in traffic.log),
                  default=traffic.prompt_tokens + lengths.longest)  # fmt: skip
    machine = cost.machine
    window = machine.model.max_context_tokens if machine is not None else None
    if window and longest > window:
        raise InputError(f"a request has {longest} tokens, but {machine.model.name} takes {window}; use shorter ones")
    ready = [make_strategy(given, cost) for given in asked]
    if schedule and not any(map(drafts, ready)):
        names = ", ".join(one.name for one in ready)
        raise UsageError(f"draft schedule: none of the strategies ({names}) has the option num_speculative_tokens")
    streams: dict[tuple[int, int], Any] = {}

    def pool_of(one: Strategy) -> Pool:
        return make_pool(one, text, lengths, rules, progress, streams)

    contenders = []
    for given, strategy in zip(asked, ready, strict=True):
        check_memory(strategy.cost, 1, longest)
        limits = limits_of(strategy.cost, batch, policy, cache_rule, prefill_tokens)
        contenders.append(make_contender(
            strategy, given, schedule, cost, limits, traffic.prompt_tokens, traffic.log, pool_of
        ))  # fmt: skip
    shortest = min((one.output_tokens for one in traffic.log), default=traffic.output_tokens[0])
    document = ServeResult({
        "schema": SCHEMA,
        "settings": {
            **describe(cost), "policy": policy, "cache_rule": cache_rule, "batch": batch,
            "prefill_tokens": prefill_tokens, "prompt_tokens": None if traffic.log else traffic.prompt_tokens,
            "output_tokens": [shortest, lengths.longest], "text": text, "pool_ledgers": pool,
            "length_groups": len(lengths.served) if len(lengths.served) < lengths.distinct else None,
            "draft_schedule": schedule_text(schedule) or None, "seed": seed,
            "first_token_target_s": first_token_target_s, "per_token_target_s": per_token_target_s,
        },
        "ladder": [], "crossovers": [], "load": None, "rows": [], "interrupted": False,
    })  # fmt: skip
    try:
        climb(document, contenders, ladder, seed, progress)
        rate = traffic.rate_per_s
        if rate is None and traffic.users is None and not traffic.log and not document["interrupted"]:
            rate = half_of_most(document["ladder"], contenders[0], lengths.mean, seed)
            document["interrupted"] = rate is None
        if not document["interrupted"]:
            _detail(document, contenders, traffic, rate, seed, (first_token_target_s, per_token_target_s), progress)
    except KeyboardInterrupt:
        document["interrupted"] = True
    document["crossovers"] = crossovers(document["ladder"], lengths.mean)
    return document


def _detail(
    document: dict[str, Any], contenders: Sequence[Contender], traffic: Traffic, rate: float | None, seed: int,
    targets: tuple[float | None, float | None], progress: Any,
) -> None:  # fmt: skip
    """One load, the same for all, request by request."""
    document["load"] = {"requests": len(traffic.log) or traffic.requests, "rate_per_s": rate, "users": traffic.users,
                        "think_s": traffic.think_s, "burst": traffic.burst, "log": bool(traffic.log),
                        "log_span_s": traffic.log[-1].time_s or 0.0 if traffic.log else None}  # fmt: skip
    for one in contenders:
        source: Source
        if traffic.log:
            source = Logged(traffic.log)
        elif traffic.users is not None:
            source = Closed(traffic.users, traffic.requests, traffic.think_s, seed)
        else:
            assert rate is not None
            source = Open(rate, traffic.requests, seed, traffic.burst)
        record = one.serve(source, seed, progress, document["load"]["requests"])
        limits = one.limits
        document["rows"].append({
            "strategy": one.label, **{k: v for k, v in one.strategy.identity().items() if k != "strategy"},
            "cache_tokens": limits.cache_tokens, "state_tokens": limits.state_tokens,
            **record.summary(*targets),
        })  # fmt: skip
        if record.interrupted:
            document["interrupted"] = True
            return
