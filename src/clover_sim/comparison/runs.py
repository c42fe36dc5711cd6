"""The runs of a comparison on one stream: each counted, priced and measured against token by token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from types import MappingProxyType
from typing import Any

from clover_sim.columns import INTERVAL, MEASURED, OF_RUNS, Counted, Ratio, plain
from clover_sim.cost import PricedRun, price_groups
from clover_sim.engine import run
from clover_sim.prepare import Rules, Strategy, make_strategy
from clover_sim.records import Kind, PassShape
from clover_sim.request import Run
from clover_sim.streams.base import Stream

_VALUES = tuple((c.key, c.value) for c in OF_RUNS if c.value is not None)
"""What each column makes of a run."""

Priced = tuple[Strategy, Run, PricedRun]
"""A strategy, its last run, and the price of that run."""


def with_floor(chosen: Sequence[Strategy], cost: Any) -> list[Strategy]:
    """The strategies with ``ar`` before them, which is made if it was not asked for."""
    floor = next((s for s in chosen if s.name == "ar"), None) or make_strategy("ar", cost)
    return [floor, *(s for s in chosen if s is not floor)]


def play(
    entries: Sequence[Strategy], stream: Stream, rules: Rules, unknown: Sequence[str] = ()
) -> Iterator[tuple[Strategy, Run, PricedRun, dict[str, Any]]]:
    """Run strategies on one stream; speed-ups are against the first. Yields each with its run, price and figures.

    Figures are the row of one run before ratios are divided out (:func:`row_of`), so that several can be put together.

    ``unknown`` are counts that the stream cannot tell of any strategy but ``ar``: they are ``None``, and so is every
    figure that is made of them.
    """
    floor: Counted | None = None
    for strategy in entries:
        finished = run(strategy.decoder, stream, **rules.of_run())
        price, prefill_s = price_run(finished, strategy.cost, rules.batch_size)
        one = counted(finished, price, prefill_s, rules.batch_size, floor)
        floor = floor or one
        if unknown and strategy.name != "ar":
            untold: dict[str, Any] = dict.fromkeys(unknown, nan)
            one = one._replace(run=finished._replace(totals=finished.totals._replace(**untold)))
        figures: dict[str, Any] = {"stream": stream.name, "eos_stop": rules.eos_stop}
        for key, value in _VALUES:
            figures[key] = value(one)
        yield strategy, finished, price, figures


def row_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of one run as plain JSON values."""
    return {key: plain(value) for key, value in figures.items()}


def frozen(rows: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Rows that nobody can change."""
    return tuple(MappingProxyType({**row}) for row in rows)


def price_run(finished: Run, cost: Any, batch_size: int) -> tuple[PricedRun, float]:
    """Price of the decoding passes, and seconds of prefill beside it."""
    decode: list[tuple[PassShape, int]] = []
    prefill: list[tuple[PassShape, int]] = []
    for shape, count in finished.ledger.shapes():
        if batch_size > 1:
            shape = PassShape(
                shape.kind, shape.widths * batch_size, shape.context_tokens * batch_size,
                shape.recompute_tokens * batch_size,
            )  # fmt: skip
        (prefill if shape.kind is Kind.PREFILL else decode).append((shape, count))
    return price_groups(cost, decode), price_groups(cost, prefill).latency_s if prefill else 0.0


def counted(finished: Run, price: PricedRun, prefill_s: float, batch_size: int, plain: Counted | None) -> Counted:
    """What the columns are made from; ``plain`` is ``ar`` on the same stream (``None`` for ``ar`` itself)."""
    totals, target_passes = finished.totals, finished.totals.target_passes
    return Counted(
        finished, price, prefill_s, batch_size, plain, totals.tokens, target_passes,
        target_passes + totals.draft_passes, target_passes - totals.kv_write_passes, price.latency_s,
    )  # fmt: skip


def summarise(
    strategy: Strategy, samples: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, tuple[float, ...]]]:
    """One row from the figures over all seeds, and what each measured figure is seed by seed.

    With several seeds a figure is the mean, of ratios the ratio of the sums, with the half-width of its 95 % interval
    beside it. The mean of its values seed by seed is the figure, their spread that of the interval; none for one seed.
    """
    first = samples[0]
    row: dict[str, Any] = {
        "stream": first["stream"], "tokens": first["tokens"], **strategy.identity(), "seeds": len(samples),
    }  # fmt: skip
    if len(samples) == 1:
        return row | row_of(first), {}
    from clover_sim.stats import ci95

    row |= {key: agreed([plain(s[key]) for s in samples]) for key in first if key not in MEASURED}
    by_seed: dict[str, tuple[float, ...]] = {}
    for key in MEASURED:
        values = [s[key] for s in samples]
        if None in map(plain, values):
            row[key] = None
        else:
            row[key], by_seed[key] = pooled(values)
            row[key + INTERVAL] = ci95(by_seed[key])
    return row, by_seed


def pooled(values: Sequence[Any]) -> tuple[float, tuple[float, ...]]:
    """The figure of all runs together, and values run by run whose mean it is.

    >>> from clover_sim.columns import over
    >>> pooled([1, 4]), pooled([over(6, 1), over(6, 3)])
    ((2.5, (1, 4)), (3.0, (4.5, 1.5)))
    """
    from clover_sim.stats import linearised, mean

    if not isinstance(values[0], Ratio):
        return mean(values), tuple(values)
    ratio, parts = linearised([v.figure * v.times for v in values], [v.by for v in values])
    return ratio, tuple(parts)


def agreed(values: Sequence[Any]) -> Any:
    """The one value of all runs; where they differ the mean of numbers, the commonest of texts.

    >>> agreed(["memory", "overhead", "overhead"]), agreed([64, 64]), agreed([64, 65])
    ('overhead', 64, 64.5)
    """
    if all(value == values[0] for value in values):
        return values[0]
    if all(isinstance(value, int | float) for value in values):
        from clover_sim.stats import mean

        return mean(values)
    return max(sorted(set(values), key=str), key=values.count)
