"""Measurements that several claims share: a strategy on a machine over a few seeds."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from clover_sim.agents.texts import open_text
from clover_sim.cost import Machine, Roofline, price_groups
from clover_sim.engine import run
from clover_sim.prepare import make_strategy
from clover_sim.records import Kind, PassShape
from clover_sim.specs import default_engine, load_engine, load_hardware, load_model

SEEDS = range(8)
BLOCK = "block-diffusion"
DFLASH2 = "dflash2"
"""Blocks of eight from a drafter of five layers: one draft pass proposes seven tokens."""


class Speed(NamedTuple):
    """Means over seeds. ``passes`` are target passes; ``pass_s`` is the time of one with the drafts before it."""

    tokens_per_pass: float
    pass_s: float
    tokens_per_s: float
    low_tokens_per_s: float
    high_tokens_per_s: float
    errors_per_1000: float


@cache
def machine(gpu: str, precision: str = "bf16", model: str = "clover-35b-a3b", engine: str | None = None) -> Machine:
    """A named model on a named card under that card's usual engine."""
    hardware = load_hardware(gpu)
    return Machine(load_model(model), hardware, load_engine(engine or default_engine(hardware)), precision)


@cache
def speed(strategy: str, on: Machine, workload: str = "tool-call", tokens: int = 512, prompt: int = 2000) -> Speed:
    """Decode ``tokens`` tokens of a workload after ``prompt`` cached ones; the prompt's own time is left out."""
    ready = make_strategy(strategy, Roofline(on))
    made = passes = errors = 0
    total = low = high = 0.0
    for seed in SEEDS:
        found = run(ready.decoder, open_text(f"context:workload={workload}", tokens, seed), prompt_tokens=prompt)
        price = price_groups(ready.cost, [g for g in found.ledger.shapes() if g[0].kind is not Kind.PREFILL])
        made += found.totals.tokens
        passes += found.totals.target_passes
        errors += found.totals.locked_errors
        total, low, high = total + price.latency_s, low + price.low_s, high + price.high_s
    return Speed(made / passes, total / passes, made / total, made / high, made / low, errors / made * 1000)


@cache
def prefill_s(on: Machine, tokens: int) -> float:
    """Time of the pass over a prompt of ``tokens``."""
    return Roofline(on).price(PassShape(Kind.PREFILL, (tokens,))).latency_s


def pass_s(on: Machine, width: int, batch: int = 1, context: int = 2000) -> float:
    """Time of one pass, a plain step at width 1 and a denoise pass above it."""
    kind = Kind.DECODE if width == 1 else Kind.DENOISE
    return Roofline(on).price(PassShape(kind, (width,) * batch, context * batch)).latency_s


def rounded(figures: dict[str, Any], digits: int = 4) -> dict[str, Any]:
    """Figures with so many significant digits: what is simulated is no surer than that."""
    return {k: float(f"{v:.{digits}g}") if isinstance(v, float) else v for k, v in figures.items()}
