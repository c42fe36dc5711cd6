"""What passes of several widths cost, and where the milliseconds of the wider ones go, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.cost.roofline import PARTS, PassPrice
from clover_sim.records import Kind, PassShape
from clover_sim.row_names import joined, some_of

WORDS = {
    "weights": "weights", "compute": "arithmetic", "kv": "K/V", "state": "recurrent state",
    "activations": "activations", "layers": "layers", "host": "host", "allreduce": "all-reduce",
    "offload": "weights from the host's memory",
}  # fmt: skip
"""Parts of a price as a sentence names them."""

_WIDE = (Kind.DENOISE, Kind.VERIFY)
_MOST_WIDTHS = 6
_SMALL = 0.04
"""Parts of a difference below this share of it stand together as the rest."""

Row = Mapping[str, Any]


class _Wide(NamedTuple):
    kind: Kind
    width: int
    price: PassPrice
    names: dict[str, None]


def width_notes(rows: Sequence[Row], priced: Sequence[tuple[Any, Any, Any]], batch_size: int = 1) -> list[str]:
    """What a pass of each width costs, what its time is spent on, and what that does to the speed-up in time.

    ``rows`` are those of one stream and length, ``priced`` holds (strategy, its last run, the price of that run),
    ``ar`` first. Nothing is said of prices that were given.
    """
    plain = _widest(priced[0][0].cost, priced[0][1], (Kind.DECODE,), batch_size)
    if plain is None or plain[2].fixed or not plain[2].latency_s:
        return []
    base, wide = plain[2], _by_width(priced[1:], batch_size)
    machine = priced[0][0].cost.machine
    model = machine.model
    notes = []
    if wide:
        one = f"1 position {base.latency_s * 1e3:.2f} ms"
        if base.expert_union:
            one += f" ({base.expert_union:.0f} of {model.experts} experts a layer)"
        each = f" of each of {batch_size} requests" if batch_size > 1 else ""
        notes.append(f"Price of a pass by width{each}: {'; '.join([one, *(_costs(w, base) for w in wide)])}.")
    less = [i for i, r in enumerate(rows) if (r["speedup_time"] or 0) < 0.95 * (r["speedup_passes"] or 0)]
    more = [i for i, r in enumerate(rows) if (r["speedup_time"] or 0) > 1.05 * (r["speedup_passes"] or 0)]
    dearer = [w for w in wide if w.price.latency_s > 1.05 * base.latency_s]
    if dearer:
        spent = "; ".join(f"{_positions(w)} {difference(base, w.price)}" for w in dearer)
        slower = f" So the speed-up in time of {joined(some_of(rows, less))} is smaller than in passes." if less else ""
        notes.append(f"A wider pass costs more: {spent}.{slower}")
        notes += _assumed(priced[0][0].cost, dearer, batch_size)
    if wide and more:
        names = some_of(rows, more)
        notes.append(
            f"Speed-up in passes counts a cheap draft pass as a whole one, so {joined(names)} "
            f"gain{'s' if len(names) == 1 else ''} more in time than in passes."
        )
    return notes


def difference(base: PassPrice, wide: PassPrice) -> str:
    """What one pass costs more than another, by its parts.

    >>> difference(PassPrice(4e-3, 0, 0, weights_s=3e-3, host_s=1e-3), PassPrice(7e-3, 0, 0, 3.8e-3, host_s=3.2e-3))
    '+3.00 ms (host 2.20, weights 0.80)'
    """
    whole = wide.latency_s - base.latency_s
    parts = {WORDS[name]: getattr(wide, field) - getattr(base, field) for name, field in PARTS.items()}
    if min(parts["weights"], parts["arithmetic"]) < 0:  # the longer of both hides the other, so they change places
        parts["weights and arithmetic"] = parts.pop("weights") + parts.pop("arithmetic")
    least = max(_SMALL * abs(whole), 5e-6)
    told = sorted((n for n in parts if abs(parts[n]) >= least), key=lambda n: -abs(parts[n]))
    said = [f"{name} {parts[name] * 1e3:.2f}" for name in told]
    rest = whole - sum(parts[name] for name in told)
    if told and abs(rest) * 1e3 >= 0.005:
        said.append(f"the rest {rest * 1e3:.2f}")
    return f"{whole * 1e3:+.2f} ms" + (f" ({', '.join(said)})" if said else "")


def _by_width(priced: Sequence[tuple[Any, Any, Any]], batch_size: int) -> list[_Wide]:
    """The widest pass of each strategy; strategies whose passes are of one kind and width share an entry."""
    found: dict[tuple[Kind, int], _Wide] = {}
    for strategy, run, _ in priced:
        entry = _widest(strategy.cost, run, _WIDE, batch_size)
        if entry is not None:
            kind, width, price = entry
            found.setdefault((kind, width), _Wide(kind, width, price, {})).names[strategy.name] = None
    return sorted(list(found.values())[:_MOST_WIDTHS], key=lambda w: (w.width, w.kind))


def _widest(cost: Any, run: Any, kinds: Sequence[Kind], batch_size: int) -> tuple[Kind, int, PassPrice] | None:
    """The widest passes of the first of ``kinds`` that the run has, at their mean context."""
    shapes = list(run.ledger.shapes())
    for kind in kinds:
        own = [(shape, count) for shape, count in shapes if shape.kind is kind]
        if own:
            width = max(max(shape.widths) for shape, _ in own)
            of_it = [(shape, count) for shape, count in own if max(shape.widths) == width]
            passes = sum(count for _, count in of_it)
            context = sum(shape.context_tokens * count for shape, count in of_it) / passes
            return kind, width, cost.price(PassShape(kind, (width,) * batch_size, context * batch_size))
    return None


def _positions(wide: _Wide) -> str:
    return f"{wide.width} position{'' if wide.width == 1 else 's'}"


def _costs(wide: _Wide, base: PassPrice) -> str:
    """One width with the strategies that ask for it."""
    price = wide.price
    text = f"{_positions(wide)} ({', '.join(wide.names)}) {price.latency_s * 1e3:.2f} ms"
    if price.expert_union > base.expert_union:
        text += f" ({price.expert_union:.0f} experts, {price.expert_union_independent:.0f} if each chose for itself)"
    return text


def _assumed(cost: Any, wide: Sequence[_Wide], batch_size: int) -> list[str]:
    """What stands behind the host's share: measured for a verify pass, taken over for one over a block."""
    from dataclasses import replace

    machine = cost.machine
    engine = machine.engine
    shown = max(wide, key=lambda w: w.width)

    def host_s(where: Any) -> float:
        c = where.constants
        return float(c.wide_pass_s + batch_size * (c.wide_sequence_s + shown.width * c.wide_token_s))

    if not host_s(machine):
        return []
    notes, host = "", f"the {host_s(machine) * 1e3:.1f} ms that the host adds to {_positions(shown)}"
    if any(w.kind is Kind.DENOISE for w in wide):
        notes = f"ASSUMPTION: {host} are those of a draft-and-verify cycle; block diffusion itself was not measured."
    if engine.schedulers:
        others = [
            f"{host_s(replace(machine, engine=engine.under(name))) * 1e3:.1f} under {engine.name}:{name}"
            for name, _ in engine.schedulers
        ]
        notes += f"{' They' if notes else host.capitalize()} are {joined(others)} (--engine names the scheduler)."
    return [notes] if notes else []
