"""The expected course of a task, in closed form: how far it gets, what that takes, and who is first.

A step succeeds with its own chance and is tried again; a task ends at its last step or where all tries have failed.
Tries of a step are alike and independent, so the expected time of all of them is their expected number times the mean
time of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import expm1, log1p
from typing import NamedTuple

LEAST_FINISHED = 30
"""A figure of a finished task that rests on fewer of 1,000 tasks is withheld: nobody would go on so long."""

_LEAST_SHARE = 1e-4
_HALVINGS = 16


class Times(NamedTuple):
    """Mean seconds by step: the prompt at the first try and at later ones, decoding, and the tool."""

    prefill: Sequence[float]
    again: Sequence[float]
    decode: Sequence[float]
    tool: Sequence[float]


class Outlook(NamedTuple):
    """What to expect of a task.

    ``step_success`` is the chance of one try, over all tries made; ``without_retries`` and ``task_success`` that every
    step succeeds at once, and with its retries. ``task_s`` and ``gpu_s`` are seconds of a task whether it is finished
    or not, with and without the tools; ``attempts_per_step`` tries of a step that was reached.
    """

    step_success: float
    without_retries: float
    task_success: float
    task_s: float
    gpu_s: float
    attempts_per_step: float

    @property
    def s_per_success(self) -> float | None:
        """Seconds for each finished task, those of the others included; ``None`` if too few are finished."""
        return self.task_s / self.task_success if self.told else None

    @property
    def told(self) -> bool:
        """Whether enough tasks are finished for a figure of a finished one."""
        return self.task_success * 1000 >= LEAST_FINISHED


def outlook(times: Times, sound: Sequence[float], retries: int) -> Outlook:
    """The course of a task whose steps succeed with the chances ``sound`` at each of ``retries + 1`` tries.

    >>> one = outlook(Times([0.0] * 2, [0.0] * 2, [1.0] * 2, [0.0] * 2), [0.5, 1.0], 1)
    >>> one.task_success, one.task_s, one.s_per_success, one.without_retries, one.step_success
    (0.75, 2.25, 3.0, 0.5, 0.6666666666666666)
    """
    reached = everything = 1.0
    task = gpu = attempts = successes = steps = 0.0
    for first, again, decode, tool, p in zip(*times, sound, strict=True):
        # Accurate for the smallest chances too, of which 1 - (1 - p) ** n would leave nothing.
        ends = -expm1((retries + 1) * log1p(-p)) if p < 1 else 1.0
        tries = ends / p if p else retries + 1.0
        seconds = reached * (first + again * (tries - 1.0) + decode * tries)
        gpu += seconds
        task += seconds + reached * tool * tries
        attempts += reached * tries
        successes += reached * ends
        steps += reached
        everything *= p
        reached *= ends
    return Outlook(successes / attempts, everything, reached, task, gpu, attempts / steps)


def ranked(seconds: Sequence[float | None]) -> list[int]:
    """Indices from the least time to the most, those without one last.

    >>> ranked([3.0, None, 1.0])
    [2, 0, 1]
    """
    return sorted(range(len(seconds)), key=lambda i: (seconds[i] is None, seconds[i] or 0.0))


def turning_point(first: int, seconds: Callable[[float], Sequence[float | None]]) -> float | None:
    """The share in (0, 1] of the failure chances from which ``first`` is no longer first, ``None`` if there is none.

    ``seconds(share)`` gives the time of a finished task of each at that share.

    >>> found = turning_point(0, lambda share: [1 + share, 1.25])
    >>> found is not None and round(found, 2)
    0.25
    """
    low, high = _LEAST_SHARE, 1.0
    if ranked(seconds(high))[0] == first or ranked(seconds(low))[0] != first:
        return None
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if ranked(seconds(middle))[0] == first else (low, middle)
    return high
