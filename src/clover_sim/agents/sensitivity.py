"""What matters most for the time of a finished task."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

IF_LOCKED = "failure chances, if locked errors count"
"""The one entry that follows the reading of locked errors, whichever the others follow: all its chances together."""


def sensitivity(
    steps: int, prefill: float, decode: float, tool: float, p: float, retries: int,
    chances: Mapping[str, float] | None = None,
) -> dict[str, float]:  # fmt: skip
    """By how much the expected time of a finished task falls when each of these falls by a tenth.

    ``p`` is the chance that a step succeeds; ``chances`` holds what it is with a tenth less of a failure chance.
    """

    def expected(n: float, prefill: float, decode: float, tool: float, fail: float) -> float:
        tries = fsum(fail**k for k in range(retries + 1))
        ends = 1.0 - fail ** (retries + 1)
        finished = ends**n
        if finished < 1e-300:
            return float("inf")
        # A task that is given up is started again: at worst after all of its steps.
        return n * (prefill + (decode + tool) * tries) / float(finished)

    each = (prefill / steps, decode / steps, tool / steps)
    now = expected(steps, *each, 1 - p)
    if not 0 < now < float("inf"):
        return {}
    changed = {
        "steps": expected(steps * 0.9, *each, 1 - p),
        "decode time per step": expected(steps, each[0], each[1] * 0.9, each[2], 1 - p),
        "prefill time per step": expected(steps, each[0] * 0.9, each[1], each[2], 1 - p),
        "tool time per step": expected(steps, each[0], each[1], each[2] * 0.9, 1 - p),
        "failures per step": expected(steps, *each, (1 - p) * 0.9),
        **{name: expected(steps, *each, 1 - less) for name, less in (chances or {}).items()},
    }
    return {name: 1 - value / now for name, value in changed.items()}
