"""Strategies made ready to be served: each with its pools of passes and the limits of the machine with its drafter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clover_sim.prepare import Strategy, make_strategy
from clover_sim.rng import substream
from clover_sim.serving.arrivals import Source
from clover_sim.serving.core import Server
from clover_sim.serving.limits import Limits
from clover_sim.serving.pool import Passes, Pool, make_pool
from clover_sim.serving.pricing import CostPricer


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


def make_contender(
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


def limits_of(cost: Any, batch: int, policy: str, cache_rule: str, prefill_tokens: int) -> Limits:
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
