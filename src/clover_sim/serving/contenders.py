"""Strategies made ready to be served: each with its pools of passes and the limits of the machine with its drafter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clover_sim.agents.sizes import Size
from clover_sim.prepare import Strategy, make_strategy
from clover_sim.prepare.schedule import scheduled
from clover_sim.rng import substream
from clover_sim.serving.arrivals import Source
from clover_sim.serving.core import Server
from clover_sim.serving.limits import Limits
from clover_sim.serving.pool import Passes, Pool
from clover_sim.serving.pricing import CostPricer


class Contender:
    """A strategy with its pools: (requests being decoded from which it holds, pool).

    Args:
        prompt_tokens: of a request whose source names no size. log: the sizes among which such a one is drawn instead.
    """

    def __init__(
        self, label: str, strategy: Strategy, pools: Sequence[tuple[int, Pool]], limits: Limits, prompt_tokens: int,
        log: Sequence[Size],
    ) -> None:  # fmt: skip
        self.label, self.strategy, self.pools, self.limits = label, strategy, pools, limits
        self.prompt_tokens, self.log = prompt_tokens, log
        self.pricer = CostPricer(strategy.cost)

    def serve(self, source: Source, seed: int, progress: Any = None, total: int = 0) -> Any:
        """One run; the same ``seed`` draws the same lengths for every strategy."""
        draw, log = substream(seed, "serve/requests").random, self.log

        def choose(prompt: int | None, output: int | None, decoding: int) -> tuple[Passes, int]:
            if output is None and log:
                _, prompt, output = log[int(draw() * len(log))]
            pool = next(p for start, p in reversed(self.pools) if decoding >= start or start <= 1)
            return pool.draw(draw(), output), self.prompt_tokens if prompt is None else prompt

        return Server(self.pricer, self.limits, choose).run(source, progress, total)


def make_contender(
    strategy: Strategy, given: Any, schedule: Sequence[tuple[int, int]], cost: Any, limits: Limits,
    prompt_tokens: int, log: Sequence[Size], pool_of: Callable[[Strategy], Pool],
) -> Contender:  # fmt: skip
    """A strategy with its pool, or one for each draft length of a schedule, which its options then state."""
    label = _label(strategy, given)
    if not (schedule and drafts(strategy)):
        return Contender(label, strategy, [(1, pool_of(strategy))], limits, prompt_tokens, log)
    pools = []
    for start, k in schedule:
        other = make_strategy("ar", cost)
        if k:
            ((other,), _) = scheduled([strategy], ((start, start, k),), start, 0)
        pools.append((start, pool_of(other)))
    said = {key: schedule_text(schedule, add) for key, add in _LENGTHS.items() if key in strategy.options}
    shown = strategy._replace(options=strategy.options | said)
    return Contender(f"{label}, scheduled", shown, pools, limits, prompt_tokens, log)


_LENGTHS = {"num_speculative_tokens": 0, "speculative_num_draft_tokens": 1}
"""The options that say how many tokens a cycle drafts, and what they count beside the drafts."""


def drafts(strategy: Strategy) -> bool:
    """Whether a schedule applies to it."""
    return "num_speculative_tokens" in strategy.options


def schedule_text(schedule: Sequence[tuple[int, int]], root: int = 0) -> str:
    """As it is written on the command line; ``root`` is added to each length.

    >>> schedule_text([(1, 5), (32, 0)])
    '1:5,32:0'
    """
    return ",".join(f"{users}:{k + root}" for users, k in schedule)


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
