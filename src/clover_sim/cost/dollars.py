"""Rent turned into dollars a run and dollars a million tokens; every function names its units."""

from __future__ import annotations

from clover_sim.specs import check


def run_usd(price_usd_per_hour: float, seconds: float, cards: int = 1) -> float:
    """Rent of ``cards`` for ``seconds``.

    >>> round(run_usd(3.9492, 32.82), 4)
    0.036
    """
    check.number("cost", "price_usd_per_hour", price_usd_per_hour)
    check.number("cost", "seconds", seconds)
    return price_usd_per_hour * check.whole("cost", "cards", cards, 1) * seconds / 3600


def usd_per_million(price_usd_per_hour: float, seconds: float, units: float, cards: int = 1) -> float:
    """Dollars for a million of what was made: tokens, pages, requests. Mixing two of them is the usual mistake.

    >>> [round(usd_per_million(3.9492, 32.82, made), 2) for made in (2190, 3)]
    [16.44, 12001.18]
    """
    check.number("cost", "units", units, above=True)
    return run_usd(price_usd_per_hour, seconds, cards) / units * 1e6
