"""A context beyond the one that a model is made for: its passes have a price all the same, and that is said."""

from __future__ import annotations

from collections.abc import Iterable

from clover_sim.cost.machine import Machine


def beyond_window(asked: Iterable[tuple[Machine | None, float]]) -> tuple[str, ...]:
    """A sentence for each model that is asked for more tokens of context than it takes, about the longest of them.

    Args:
        asked: machines, ``None`` where the price does not come from one, each with tokens of context of one request.

    Returns:
        nothing for models that state no limit.

    >>> from clover_sim.specs import load_engine, load_hardware, load_model
    >>> machine = Machine(load_model("qwen3-30b-a3b"), load_hardware("h100"), load_engine("vllm"))
    >>> beyond_window([(machine, 40_960), (None, 10**9)])
    ()
    >>> beyond_window([(machine, 50_000), (machine, 45_000)])
    ('50,000 tokens of context, but qwen3-30b-a3b is made for 40,960: prices beyond that are of passes it cannot use.',)
    """
    longest: dict[tuple[str, int], float] = {}
    for machine, tokens in asked:
        most = None if machine is None else machine.model.max_context_tokens
        if machine is not None and most is not None and tokens > most:
            key = machine.model.name, most
            longest[key] = max(tokens, longest.get(key, 0))
    return tuple(
        f"{tokens:,.0f} tokens of context, but {name} is made for {most:,}: prices beyond that are of passes it cannot "
        "use."
        for (name, most), tokens in longest.items()
    )
