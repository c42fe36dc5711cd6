"""A bare queue with given service times, and the closed forms it is held against."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple


class Queue(NamedTuple):
    """What came of a queue.

    Args:
        served: customers. mean_wait_s: before service. mean_sojourn_s: wait and service.
        mean_in_system: time average. rate_per_s: customers over the time to the last departure, of which
            ``busy_share`` was spent serving, per server.
    """

    served: int
    mean_wait_s: float
    mean_sojourn_s: float
    mean_in_system: float
    rate_per_s: float
    busy_share: float


def first_come_first_served(arrivals_s: Iterable[float], services_s: Iterable[float], servers: int = 1) -> Queue:
    """Serve customers in the order of their arrival.

    ``mean_in_system`` is integrated from arrivals and departures alone, so that Little's law (``mean_in_system =
    rate * mean_sojourn``) is a check and no definition.

    >>> first_come_first_served([0, 1, 2], [2, 2, 2]).mean_wait_s
    1.0
    """
    free = [0.0] * servers
    heapq.heapify(free)
    departures: list[float] = []
    waits = works = area = 0.0
    served = inside = 0
    last = end = 0.0
    for arrival, service in zip(arrivals_s, services_s, strict=True):
        while departures and departures[0] <= arrival:
            leave = heapq.heappop(departures)
            area += inside * (leave - last)
            last, inside = leave, inside - 1
        area += inside * (arrival - last)
        last, inside = arrival, inside + 1
        start = max(arrival, free[0])
        heapq.heapreplace(free, start + service)
        heapq.heappush(departures, start + service)
        waits += start - arrival
        works += service
        served += 1
        end = max(end, start + service)
    while departures:
        leave = heapq.heappop(departures)
        area += inside * (leave - last)
        last, inside = leave, inside - 1
    return Queue(served, waits / served, (waits + works) / served, area / end, served / end, works / end / servers)


def mm1_wait_s(load: float, service_s: float) -> float:
    """Mean wait of exponential arrivals and services at ``load`` < 1: load / (1 - load) services (Erlang).

    >>> mm1_wait_s(0.5, 2.0)
    2.0
    """
    return load / (1 - load) * service_s


def md1_wait_s(load: float, service_s: float) -> float:
    """The same for services of one length: half as much (Pollaczek and Khinchine).

    >>> md1_wait_s(0.5, 2.0)
    1.0
    """
    return load / (2 * (1 - load)) * service_s
