"""What the machine can hold, and the rules by which it is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any

from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import check_whole

WATERMARK = 0.01
"""Share of the cache that stays free when a request is let in, as in vLLM, so that it is not thrown out at once."""

POLICIES = ("first-done-first-out", "lockstep")
CACHE_RULES = ("queue", "preempt")
MOST_REQUESTS = 10_000_000
MOST_POOL_TOKENS = 2_000_000
"""Bounds of one command; the engine decodes about 10^5 tokens a second."""
MOST_SERVED_TOKENS = 10**9
_STARTING = 100
"""More than so many tokens, a start counted as 100 of them, take minutes and ask for ``allow_long``."""
_MOST, _MOST_TOKENS, _MOST_THINK_S, _MOST_OF_LADDER = 10**9, 10**18, 1e6, 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """What the machine can hold and how it is shared.

    Args:
        batch: most requests decoded together. cache_tokens: tokens of K/V cache over all requests, ``None`` without
            limit. state_tokens: what the recurrent state of one request takes of it.
        prefill_tokens: most prompt tokens of one prefill step; a longer prompt gets a step of its own.
        policy: ``lockstep`` (a block waits for the slowest of its round) or ``first-done-first-out``.
        cache_rule: ``queue`` (a request starts once all that it will need is free) or ``preempt`` (it starts once its
            prompt fits; when the cache is full the youngest is thrown out and computed again later).
    """

    batch: int = 64
    cache_tokens: float | None = None
    state_tokens: float = 0.0
    prefill_tokens: int = 8192
    policy: str = POLICIES[0]
    cache_rule: str = CACHE_RULES[0]


def check_asked(traffic: Any, pool: int, limits: Limits) -> None:
    """Refuse figures that no server has, by their name; ``traffic`` is a :class:`~clover_sim.serving.run.Traffic`."""
    low, high = traffic.output_tokens
    if not 1 <= low <= high:
        raise UsageError(f"output tokens {low}:{high}: expected a range from at least 1")
    if not 1 <= traffic.requests <= MOST_REQUESTS:
        raise UsageError(f"requests {traffic.requests}: expected 1 to {MOST_REQUESTS}")
    _check_kind(traffic)
    if traffic.rate_per_s is not None and not 1e-9 <= traffic.rate_per_s < 1e9:
        raise UsageError(f"rate {traffic.rate_per_s!r}: expected requests a second from 1e-9 to 1e9")
    check_whole("pool", pool, 1, _MOST)
    low = 1 if traffic.log else low
    if pool * low > MOST_POOL_TOKENS:
        raise UsageError(
            f"a pool of {pool} ledgers of at least {low} tokens is more than can be run (limit {MOST_POOL_TOKENS} "
            f"tokens a strategy); give --pool {max(1, MOST_POOL_TOKENS // low)} or less"
        )
    check_whole("batch", limits.batch, 1, _MOST)
    check_whole("prefill_tokens", limits.prefill_tokens, 1, _MOST_TOKENS)
    check_whole("prompt_tokens", traffic.prompt_tokens, 0, _MOST_TOKENS)
    check_whole("burst", traffic.burst, 1, _MOST_TOKENS)
    if traffic.burst > traffic.requests:
        raise UsageError(
            f"burst {traffic.burst}: expected from 1 to all {traffic.requests} requests at the same moment"
        )
    if traffic.users is not None:
        check_whole("users", traffic.users, 1, _MOST)
        if traffic.users > traffic.requests:
            raise UsageError(
                f"{traffic.users} users with {traffic.requests} requests: each user sends at least one; ask for more "
                "requests"
            )
    for users in traffic.users_ladder:
        check_whole("users of the ladder", users, 1, _MOST_OF_LADDER)
    if not 0 <= traffic.think_s <= _MOST_THINK_S:
        raise UsageError(f"think_s {traffic.think_s!r}: expected 0 to {_MOST_THINK_S:g} seconds")
    for name, value, known in (
        ("policy", limits.policy, POLICIES), ("cache_rule", limits.cache_rule, CACHE_RULES),
    ):  # fmt: skip
        if value not in known:
            raise UsageError(f"{name} {value!r}: expected one of {', '.join(known)}")


def _check_kind(traffic: Any) -> None:
    """One kind of arrivals, and nothing beside it that it has no use for."""
    kind, unused = "users", ["rate_per_s", "burst"]
    if traffic.log:
        kind, unused = "log", [f.name for f in fields(traffic) if f.name not in ("log", "users_ladder")]
        for one in traffic.log:
            if not (type(one.output_tokens) is type(one.prompt_tokens) is int and one.output_tokens > 0):
                raise UsageError(f"log: {one!r:.80}: expected whole numbers, and at least one token of output")
        times = [one.time_s for one in traffic.log if one.time_s is not None]
        if len(times) not in (0, len(traffic.log)):
            raise InputError(f"log: {len(times)} of {len(traffic.log)} requests have a time; give all one, or none")
        if times != sorted(times):
            raise InputError("log: a time goes back; expected requests in the order of their arrival")
    elif traffic.users is None:
        kind, unused = "arrivals by rate", ["think_s"]
    usual = {f.name: f.default for f in fields(traffic)}
    for name in unused:
        if getattr(traffic, name) != usual[name]:
            raise UsageError(f"traffic: {name} has no part in {kind}; leave it out")


def check_schedule(schedule: Sequence[tuple[int, int]]) -> None:
    """Refuse a schedule that leaves a batch without a draft length, or names one twice."""
    starts = [users for users, _ in schedule]
    if schedule and (starts[0] != 1 or starts != sorted(set(starts))):
        raise UsageError(f"schedule {schedule!r:.80}: expected users ascending from 1, as in 1:5,32:2,128:0")


def check_pool(ledgers: Sequence[int], longest: int, runs: int) -> None:
    """Refuse a pool that takes too long to make.

    Args:
        ledgers: their lengths. longest: of all answers, which plain decoding runs. runs: pools of one strategy.
    """
    asked, pool = sum(ledgers) * runs, len(ledgers) or 1
    if asked + longest > MOST_POOL_TOKENS:
        fewer = f" for each of {runs} draft lengths" * (runs > 1)
        raise UsageError(
            f"a pool of {pool} ledgers of {asked // runs // pool} tokens{fewer} is more than can be run (limit "
            f"{MOST_POOL_TOKENS} tokens a strategy); give --pool {max(1, MOST_POOL_TOKENS * pool // (asked + longest))}"
            " or shorter answers"
        )


def check_served(requests: int, mean_tokens: float, strategies: int, allow_long: bool) -> None:
    """Refuse to serve more than anybody waits for, unless ``allow_long``."""
    work = requests * (mean_tokens + _STARTING) * strategies
    if work > MOST_SERVED_TOKENS and not allow_long:
        raise UsageError(
            f"ladder and load are {requests:,} requests under each of {strategies} strategies, some {work:.2g} tokens "
            f"with their starts (limit {MOST_SERVED_TOKENS:.0e}): take fewer users or steps (--ladder), fewer requests "
            "or shorter answers, or wait with --allow-long"
        )


def check_targets(first_token_s: float | None, per_token_s: float | None) -> None:
    """Refuse targets of goodput that are no times."""
    for name, target in (("first_token_target_s", first_token_s), ("per_token_target_s", per_token_s)):
        if target is not None and not 0 < target < inf:
            raise UsageError(f"{name} {target!r}: expected seconds above 0")
