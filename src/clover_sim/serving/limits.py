"""What the machine can hold, and the rules by which it is shared."""

from __future__ import annotations

from dataclasses import dataclass

WATERMARK = 0.01
"""Share of the cache that stays free when a request is let in, as in vLLM, so that it is not thrown out at once."""

POLICIES = ("first-done-first-out", "lockstep")
CACHE_RULES = ("queue", "preempt")


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
