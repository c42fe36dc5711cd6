"""Draft lengths by batch: how many tokens a strategy drafts where so many requests are decoded together.

Decoders know no batch, so the length is chosen before they run: each strategy that has ``num_speculative_tokens`` is
made again with the length of the batch in force, and keeps its drafter in memory where that length is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from clover_sim.checks import declare
from clover_sim.decoders._drafts import Undrafted
from clover_sim.errors import UsageError
from clover_sim.faults import foreign
from clover_sim.speculation import batches

if TYPE_CHECKING:
    from clover_sim.prepare import Strategy

AUTO = "auto"
"""The schedule that takes the fastest length, up to the strategy's own."""

_KEY, _WITH_ROOT = "num_speculative_tokens", "speculative_num_draft_tokens"

Schedule = str | tuple[tuple[int, int, int], ...]


def check_schedule(given: Any) -> Schedule:
    """A schedule that can be used: ``auto``, or runs as :func:`clover_sim.speculation.batches.check_schedule` has them.

    >>> check_schedule("auto"), check_schedule([[1, 16, 5], [17, 64, 3]])
    ('auto', ((1, 16, 5), (17, 64, 3)))
    """
    return AUTO if isinstance(given, str) and given == AUTO else batches.check_schedule(given)


def schedule_text(schedule: Schedule) -> str:
    """As it is written on the command line.

    >>> schedule_text(((1, 16, 5), (17, 64, 3)))
    '[[1,16,5],[17,64,3]]'
    """
    if isinstance(schedule, str):
        return schedule
    return "[" + ",".join(f"[{first},{last},{k}]" for first, last, k in schedule) + "]"


def scheduled(
    strategies: Sequence[Strategy], schedule: Schedule, batch_size: int, context_tokens: int
) -> tuple[list[Strategy], str]:
    """The strategies with the draft length of a batch, which their names then say, and a sentence about them.

    Args:
        schedule: as :func:`check_schedule` gives it. A batch in none of its runs is decoded without drafts.
        context_tokens: cached for each request on average; only ``auto`` asks.

    Raises:
        UsageError: no strategy drafts, or ``auto`` cannot price the cycle of one.
    """
    found, said = [], []
    for strategy in strategies:
        if not _takes(strategy.decoder):
            found.append(strategy)
            continue
        if isinstance(schedule, str):
            k = _fastest(strategy, batch_size, context_tokens)
        else:
            k = batches.length_at(schedule, batch_size)
        found.append(_resized(strategy, k, batch_size))
        said.append(f"{k} of {strategy.name}")
    if not said:
        names = ", ".join(strategy.name for strategy in strategies)
        raise UsageError(f"schedule: none of the strategies ({names}) has the option {_KEY}")
    how = ["the fastest up to the strategy's own, as speculate prices a cycle"] if schedule == AUTO else []
    if any(text.startswith("0 ") for text in said):
        how.append("0 is plain decoding with the drafter in memory")
    why = f" ({'; '.join(how)})" if how else ""
    return found, f"Draft tokens a cycle by the schedule, at a batch of {batch_size}: {', '.join(said)}{why}."


def _takes(decoder: Any) -> bool:
    return is_dataclass(decoder) and any(f.name == _KEY and f.init for f in fields(decoder))


def _resized(strategy: Strategy, k: int, batch_size: int) -> Strategy:
    from clover_sim.prepare import options_of

    decoder, name = strategy.decoder, f"{strategy.name} (k={k})"
    if k == 0:
        options = strategy.options | {key: n for n, key in enumerate((_KEY, _WITH_ROOT)) if key in strategy.options}
        return strategy._replace(name=name, decoder=Undrafted(declare(decoder).draft_source), options=options)
    try:
        with foreign(f"making {strategy.name} with {_KEY}={k}"):
            decoder = _with_length(decoder, k)
    except UsageError as error:
        raise UsageError(f"schedule at a batch of {batch_size}: {error}") from None
    return strategy._replace(name=name, decoder=decoder, options=options_of(decoder))


def _with_length(decoder: Any, k: int) -> Any:
    """The decoder at another length; of a survival list it takes the beginning."""
    survival = getattr(decoder, "acceptance", None)
    if isinstance(survival, tuple) and len(survival) == getattr(decoder, _KEY):
        return replace(decoder, num_speculative_tokens=k, acceptance=survival[:k])
    return replace(decoder, num_speculative_tokens=k)


def _fastest(strategy: Strategy, batch_size: int, context_tokens: int) -> int:
    """The length with the highest priced speed-up, up to the strategy's own; 0 if none pays."""
    from clover_sim.acceptance import from_conditional
    from clover_sim.speculation import ALIASES, METHODS, cycle, shape_of
    from clover_sim.speculation.methods import FREE

    decoder, cost, name = strategy.decoder, strategy.cost, strategy.name
    instead = "state the lengths, as in [[1, 16, 4]]"
    if cost.name != "roofline":
        raise UsageError(f"schedule auto asks what a cycle costs, which --cost {cost.name} does not say; {instead}")
    package, _, module = type(decoder).__module__.rpartition(".")
    method = ALIASES.get(module, module)
    if package != "clover_sim.decoders" or method not in METHODS:
        raise UsageError(f"schedule auto: how {name} drafts is not known; {instead}")
    drafter = getattr(decoder, "drafter", None)
    if drafter is None and METHODS[method].how != FREE:
        raise UsageError(f"schedule auto: {name} names no drafter to price; {instead}")
    parallel = getattr(decoder, "parallel_draft", False) or getattr(decoder, "parallel_drafting", False)
    best, fastest = 0, 1.0
    for k in range(1, getattr(decoder, _KEY) + 1):
        source = declare(_with_length(decoder, k)).draft_source
        assert source is not None
        shape = shape_of(method, k, drafter=drafter, parallel=parallel)
        priced = cycle(cost.machine, shape, batch_size, context_tokens, hit_rate=source.hit_rate)
        made = from_conditional([source.rate(i) for i in range(k)]).length
        speedup = (1 + source.hit_rate * (made - 1)) / priced.cost_ratio
        if speedup > fastest:
            best, fastest = k, speedup
    return best
