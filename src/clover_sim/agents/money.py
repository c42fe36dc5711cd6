"""What the time of a task costs: rent, joules, a price list of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clover_sim.agents.outlook import Outlook, Times, outlook
from clover_sim.agents.workload import AgentWorkload
from clover_sim.arguments import settle
from clover_sim.errors import UsageError
from clover_sim.prepare import check_whole


@dataclass(frozen=True, slots=True)
class Prices:
    """What time and tokens cost.

    Args:
        usd_per_hour: rent of one card, ``None`` if unknown. cards: of them. tdp_w: board power of one card, W.
        input_usd, output_usd: a price list, USD a million tokens, beside the rent.
        source, tokens_source: whose prices these are, and of when.

    >>> Prices(usd_per_hour=2.5, cards=4).cards
    4
    """

    usd_per_hour: float | None = None
    cards: int = 1
    tdp_w: float | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    source: str = ""
    tokens_source: str = ""

    def __post_init__(self) -> None:
        settle(self)
        for name in ("usd_per_hour", "tdp_w", "input_usd", "output_usd"):
            if (getattr(self, name) or 0) < 0:
                raise UsageError(f"prices: {name} {getattr(self, name)!r}: expected at least 0")
        check_whole("cards", self.cards, 1, 1_000_000)

    @property
    def usd_per_s(self) -> float | None:
        """Rent of all cards for a second, ``None`` if unknown.

        >>> Prices(3.6, 2).usd_per_s
        0.002
        """
        return None if self.usd_per_hour is None else self.usd_per_hour * self.cards / 3600


def prices_of(machine: Any) -> Prices:
    """What the cards of a machine cost by their own data, with whose price that is; unknown without a machine."""
    if machine is None:
        return Prices()
    hardware, mark = machine.hardware, "price: "
    said = next((line.removeprefix(mark) for line in hardware.sources if line.startswith(mark)), "")
    return Prices(hardware.price_usd_per_hour, machine.tensor_parallel_size, hardware.tdp_w, source=said)


def money(now: Outlook, prices: Prices, agents: int, by_tokens: float | None) -> dict[str, float | None]:
    """Dollars and joules of a task; rent for the time the card computes, and for all its time.

    ``agents`` in step on one machine share both; ``by_tokens``: what :func:`usd_by_tokens` found.
    """
    rate = prices.usd_per_s
    return {
        "gpu_s": now.gpu_s,
        "usd_per_task": None if rate is None else rate * now.gpu_s / agents,
        "usd_per_task_card_kept": None if rate is None else rate * now.task_s / agents,
        "energy_upper_bound_j": None if prices.tdp_w is None else prices.tdp_w * prices.cards * now.gpu_s / agents,
        "usd_per_task_by_tokens": by_tokens,
    }


def usd_by_tokens(
    load: AgentWorkload, prices: Prices, sound: Sequence[float], retries: int, cache: bool
) -> float | None:
    """Expected bill of a task by a price list of tokens, ``None`` without one: of the steps and tries that are run.

    ``sound``: chance by step that a try succeeds. As with time, a try after the first computes its prompt again only
    where no prefix is cached.
    """
    if prices.input_usd is None or prices.output_usd is None:
        return None
    paid, written = prices.input_usd / 1e6, prices.output_usd / 1e6
    bill = Times(
        [paid * (t.new_tokens if cache else t.context_tokens) for t in load.turns],
        [0.0 if cache else paid * t.context_tokens for t in load.turns],
        [written * (t.thinking_tokens + t.output_tokens) for t in load.turns], [0.0] * len(load.turns),
    )  # fmt: skip
    return outlook(bill, sound, retries).gpu_s  # the expected sum over the tries made, here of dollars


def usd_per_success(one: Outlook, prices: Prices, agents: int) -> float | None:
    """Rent for each finished task, the time of the others included; ``agents`` in step share it."""
    rate = prices.usd_per_s
    return rate * one.gpu_s / agents / one.task_success if rate is not None and one.told else None
