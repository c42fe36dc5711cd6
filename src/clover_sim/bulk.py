"""The bulk path: the same passes, commits and forced flags as the generator path, worked out a block at a time.

Taken when a decoder exposes ``plan()`` and the physics a ``uniform_lift``, never by class. Under a uniform lift the
order of a block's confidences never changes, so its rounds follow from one sort and one list of critical values. The
generator protocol stays the definition: tests compare the two position by position.
"""

from __future__ import annotations

from math import inf, isfinite, nextafter, ulp
from typing import TYPE_CHECKING, NamedTuple

from clover_sim.errors import DecoderFault
from clover_sim.ledger import FORCED, WRONG
from clover_sim.physics.base import UniformLift
from clover_sim.records import Kind

if TYPE_CHECKING:
    from clover_sim.request import Request


class CausalPlan(NamedTuple):
    """One token a pass, left to right."""


class ThresholdPlan(NamedTuple):
    """Blocks in order; each pass commits what reaches the threshold (exceeds it, if ``strict``), else the best one."""

    block_size: int
    threshold: float
    strict: bool


def can_run_in_bulk(request: Request) -> bool:
    """Whether ``request``, which has run no pass of its decoder yet, can be finished by :func:`run_in_bulk`."""
    canvas, plan = request.canvas, request.plan()
    if plan is None or canvas._limit != request.length or canvas._frontier or canvas._opened_stop:
        return False
    if isinstance(plan, ThresholdPlan):
        size, threshold = plan.block_size, plan.threshold
        if type(size) is not int or size < 1 or not isinstance(threshold, (int, float)) or not isfinite(threshold):
            raise DecoderFault(f"{type(request.decoder).__name__}.plan() = {plan}: not a block size and a threshold")
        return request.physics.uniform_lift is not None
    return isinstance(plan, CausalPlan)


def run_in_bulk(request: Request, step: int) -> None:
    """Finish ``request`` from its first pass on."""
    plan = request.plan()
    if isinstance(plan, CausalPlan):
        _run_causal(request, step)
    else:
        _run_blocks(request, plan, request.physics.uniform_lift, step)
    request.close()


def _run_causal(request: Request, step: int) -> None:
    n, first = request.length, len(request.ledger)
    request.ledger.extend(request.number, step, Kind.DECODE, range(n), 1, bytes((1,)) * n)
    rows = request.canvas._places.row
    del rows[:]
    rows.extend(range(first, first + n))
    request.canvas._covered_stop = n


def _run_blocks(request: Request, plan: ThresholdPlan, lift: UniformLift, step: int) -> None:
    canvas, ledger = request.canvas, request.ledger
    places, limit = canvas._places, canvas._limit
    extend, number = ledger.extend, request.number
    rows, flags = places.row, places.flags
    shift = canvas._prompt_tokens if canvas._absolute else 0
    critical = _Critical(plan, lift)
    separate = request.kv_write in ("separate", "skip-last")
    start = before = 0
    while start < limit:
        stop = min((start + shift) // plan.block_size * plan.block_size + plan.block_size - shift, limit)
        first = len(ledger)
        block_rows, block_flags, commits = _unlock(lift.open(start, stop), critical, lift, start, first)
        rows[start:stop] = type(rows)("I", block_rows)
        if block_flags:
            flags[start:stop] = bytes([block_flags.get(i, 0) for i in range(stop - start)])
        recompute = start - before if request.kv_write == "fused" else 0
        extend(number, step, Kind.DENOISE, start, stop - start, commits, recompute)
        step += len(commits)
        if separate and (stop < limit or request.kv_write == "separate"):
            extend(number, step, Kind.KV_WRITE, start, stop - start, [0])
            step += 1
        before, start = start, stop
    canvas._covered_stop = limit


class _Critical:
    """``critical[r]``: the smallest first confidence that passes the rule after r lifts, found exactly.

    A float c passes after r lifts if min(c + lift, cap) passes after r - 1; rounded addition is monotone, so each value
    is within a few units in the last place of the previous one less the lift.
    """

    __slots__ = ("_values", "_lift", "_cap", "can_tie")

    def __init__(self, plan: ThresholdPlan, lift: UniformLift) -> None:
        self._lift, self._cap = lift.lift, lift.cap
        self._values = [nextafter(plan.threshold, inf) if plan.strict else plan.threshold]
        self.can_tie = self._values[0] > lift.cap  # a capped value never passes, so that many may become equal

    def __getitem__(self, lifts: int) -> float:
        values = self._values
        while len(values) <= lifts:
            goal = values[-1]
            if goal > self._cap:
                values.append(inf)
                continue
            near, margin = goal - self._lift, 4 * ulp(goal)
            low, high = max(near - margin, 0.0), max(near + margin, 0.0)  # confidences are never below 0
            if low + self._lift >= goal:
                high = low
            while (middle := (low + high) / 2) not in (low, high):
                low, high = (low, middle) if middle + self._lift >= goal else (middle, high)
            values.append(high)
        return values[lifts]


def _unlock(
    confidences: list[float], critical: _Critical, lift: UniformLift, start: int, first_row: int
) -> tuple[list[int], dict[int, int], list[int]]:
    """Rounds of one block: (row of each position, flags of the positions that have any, commits a pass)."""
    size = len(confidences)
    order = sorted(range(size), key=confidences.__getitem__, reverse=True)  # stable: the lowest position first in a tie
    ask_all = not lift.errors_only_when_forced
    rows = [first_row] * size
    flags: dict[int, int] = {}
    commits: list[int] = []
    done, lifts = 0, 0
    values = critical._values
    while done < size:
        bar = values[lifts] if lifts < len(values) else critical[lifts]
        before, row = done, first_row + lifts
        while done < size and confidences[order[done]] >= bar:
            rows[order[done]] = row
            done += 1
        if done > before:
            if ask_all:
                for i in sorted(order[before:done]):
                    if lift.wrong(start + i, _lifted(confidences[i], lifts, lift), False):
                        flags[i] = WRONG
        else:
            if done + 1 < size:
                _settle_tie(order, done, confidences, lifts, lift, critical.can_tie)
            i = order[done]
            rows[i] = row
            done += 1
            value = _lifted(confidences[i], lifts, lift) if ask_all else 0.0
            flags[i] = FORCED | WRONG if lift.wrong(start + i, value, True) else FORCED
        commits.append(done - before)
        lifts += 1
    return rows, flags, commits


def _settle_tie(
    order: list[int], done: int, confidences: list[float], lifts: int, lift: UniformLift, can_tie: bool
) -> None:
    """Bring the lowest of those positions to the front whose lifted confidences rounded to the same best value."""
    if not can_tie and confidences[order[done]] - confidences[order[done + 1]] > 1e-9:
        return
    best = _lifted(confidences[order[done]], lifts, lift)
    last = done
    while last + 1 < len(order) and _lifted(confidences[order[last + 1]], lifts, lift) == best:
        last += 1
    if last > done:
        lowest = min(range(done, last + 1), key=order.__getitem__)
        order.insert(done, order.pop(lowest))


def _lifted(value: float, lifts: int, lift: UniformLift) -> float:
    """Confidence after ``lifts`` passes, by the same capped additions as the generator path."""
    for _ in range(lifts):
        value = min(value + lift.lift, lift.cap)
        if value == lift.cap:
            break
    return value
