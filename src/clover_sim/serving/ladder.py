"""The ladder of users: what the machine writes for each number of them, and where a strategy stops winning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clover_sim.serving.arrivals import Closed
from clover_sim.serving.contenders import Contender

USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_REQUESTS, _ROUNDS = 640, 16
"""Least requests of a step, and least of each user: all users begin at once, and until their answers have drifted
apart (some ten rounds) prompts come in large groups and the speed stands up to 14 % too high."""


def requests_of(users: int) -> int:
    """How many requests a step of the ladder serves.

    >>> requests_of(1), requests_of(256)
    (640, 4096)
    """
    return users * max(_ROUNDS, -(-_REQUESTS // users))


def climb(
    document: dict[str, Any], contenders: Sequence[Contender], steps: Sequence[int], seed: int, progress: Any
) -> None:
    """The ladder: users without pauses, who always have a request under way, though perhaps one that waits."""
    for users in steps:
        row: dict[str, Any] = {"users": users, "strategies": {}}
        for one in contenders:
            record = one.serve(Closed(users, requests_of(users), 0.0, seed), seed)
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


def enough_users(batch: int) -> int:
    """As many as show what a machine can take: its largest batch, or the last step of the usual ladder."""
    return min(batch, USERS[-1])


def half_of_most(ladder: Sequence[dict[str, Any]], one: Contender, mean_tokens: float, seed: int) -> float | None:
    """Half of the most requests a second that a strategy answers, to three digits; ``None`` after an interruption.

    A ladder that ends below :func:`enough_users` does not show it; then as many are served for this alone.
    """
    speeds = [row["strategies"][one.label]["tokens_per_s"] for row in ladder]
    users = enough_users(one.limits.batch)
    if not ladder or ladder[-1]["users"] < users:
        record = one.serve(Closed(users, requests_of(users), 0.0, seed), seed)
        if record.interrupted:
            return None
        speeds.append(record.steady_tokens_per_s())
    return float(f"{max(speeds) / mean_tokens / 2:.3g}")


def crossovers(ladder: Sequence[dict[str, Any]], mean_tokens: float) -> list[dict[str, Any]]:
    """Where each strategy's tokens a second, for as many users, fall to those of the first (interpolated in log users).

    ``wins_up_to_users`` is the last crossing downwards, ``None`` if it wins to the end of the ladder, 0 if it never
    wins; ``loses_within`` are users below it where it loses all the same. ``gain_of_one_user`` is ``None`` on a ladder
    that begins with more.
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
            "strategy": label, "against": first, "gain_of_one_user": gains[0][1] if gains[0][0] == 1 else None,
            "least_users": gains[0][0], "gain_at_least_users": gains[0][1],
            "best_gain": max(g for _, g, _ in gains), "best_gain_users": max(gains, key=lambda g: g[1])[0],
            "gain_at_most_users": gains[-1][1], "most_users": gains[-1][0], "wins_up_to_users": crossing,
            "wins_up_to_requests_per_s": None if speed is None else speed / mean_tokens,
            "loses_within": [u for u, g, _ in gains if g < 1 and (crossing is None or u < crossing)],
        })  # fmt: skip
    return found
