"""Closed forms: the bare queue, and the server itself fed with given service times."""

from __future__ import annotations

from math import log

import pytest

from clover_sim.records import Kind
from clover_sim.rng import substream
from clover_sim.serving.arrivals import Closed, Open
from clover_sim.serving.core import Server
from clover_sim.serving.limits import Limits
from clover_sim.serving.pool import Passes, Segment
from clover_sim.serving.queues import first_come_first_served, md1_wait_s, mm1_wait_s

SEED = 20261028
MEAN_S = 0.01


def exponential(purpose, mean, n):
    draw = substream(SEED, purpose).random
    return [-mean * log(1 - draw()) for _ in range(n)]


def arrivals(load, n):
    times, now = [], 0.0
    for gap in exponential(f"gaps/{load}", MEAN_S / load, n):
        now += gap
        times.append(now)
    return times


@pytest.mark.parametrize("load", [0.3, 0.5])
@pytest.mark.parametrize(("kind", "form"), [("M", mm1_wait_s), ("D", md1_wait_s)])
def test_waits_of_a_bare_queue(load, kind, form):
    n = 1_000_000
    services = exponential("services", MEAN_S, n) if kind == "M" else [MEAN_S] * n
    found = first_come_first_served(arrivals(load, n), services)
    assert found.mean_wait_s == pytest.approx(form(load, MEAN_S), rel=0.03)
    assert found.busy_share == pytest.approx(load, rel=0.01)
    assert found.mean_in_system == pytest.approx(found.rate_per_s * found.mean_sojourn_s, rel=1e-9)


class Given:
    """A unit takes as many microseconds as it is wide."""

    def unit(self, kind, sequences, width, recompute, drafts, draft_width, context):
        return width * 1e-6, 0.0

    def prefill(self, prompts):
        raise AssertionError("no prompt, no prefill")


def one_step(service_s):
    return Passes((Segment(Kind.DECODE, round(service_s * 1e6), 0, 0, 0, 1, 0, 0.0, True),), 1)


@pytest.mark.parametrize("load", [0.3, 0.5])
@pytest.mark.parametrize(("kind", "form"), [("M", mm1_wait_s), ("D", md1_wait_s)])
def test_waits_of_the_server(load, kind, form):
    n = 100_000
    services = iter(exponential("services", MEAN_S, n) if kind == "M" else [MEAN_S] * n)
    server = Server(Given(), Limits(batch=1), lambda p, o, d: (one_step(max(1e-6, next(services))), 0))
    found = server.run(Open(load / MEAN_S, n, SEED)).summary()
    assert found["wait_s_mean"] == pytest.approx(form(load, MEAN_S), rel=0.03)
    assert found["requests"] == n
    assert found["mean_in_system"] == pytest.approx(found["requests_per_s"] * found["latency_s_mean"], rel=1e-9)
    assert found["busy_share"] == pytest.approx(load, rel=0.02)  # work conserved: busy for the sum of the services


@pytest.mark.parametrize("load", [0.5, 0.8, 1.1, 1.5, 4.0])
def test_waits_grow_as_the_load_says(load):
    """Fluid limit: customer n comes at n/rate and starts at n * service, so waits gain load - 1; below 1 nothing."""
    server = Server(Given(), Limits(batch=1), lambda p, o, d: (one_step(MEAN_S), 0))
    growth = server.run(Open(load / MEAN_S, 20_000, SEED)).summary()["wait_growth"]
    assert growth == pytest.approx(max(0.0, load - 1), rel=0.03, abs=0.01)


def test_growth_of_waits_that_cannot_be_told():
    def served(requests, burst=1):
        server = Server(Given(), Limits(batch=1), lambda p, o, d: (one_step(MEAN_S), 0))
        return server.run(Open(10 / MEAN_S, requests, SEED, burst)).wait_growth()

    assert served(19) is None and served(20) > 0.5
    assert served(100, burst=100) is None  # all at one moment: who waits longest says nothing of the next hour


def test_work_is_conserved_exactly():
    services = [0.001 * (i % 7 + 1) for i in range(5000)]
    left = iter(services)
    server = Server(Given(), Limits(batch=1), lambda p, o, d: (one_step(next(left)), 0))
    record = server.run(Closed(4, 5000))
    assert record.busy_s == pytest.approx(sum(services), rel=1e-9)
    assert record.span_s == pytest.approx(sum(services), rel=1e-9)  # four users: never idle
    assert record.inside == 0
