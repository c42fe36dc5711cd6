"""What speed costs in quality, beyond counting wrong tokens: the chance that the answer as a whole survives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clover_sim.engine import run
from clover_sim.errors import UsageError
from clover_sim.physics.damage import Damage
from clover_sim.records import Kind, TokenClass
from clover_sim.request import Run
from clover_sim.streams.base import Stream

FITTED_ON = "llada-8b-gsm8k"
"""The one workload whose accuracy against the threshold is published point by point, so that damage could be fitted."""


class DamageOf(NamedTuple):
    """How tokens settled together spoil an answer; ``assumed`` where the figures are those of another workload."""

    damage: Damage
    assumed: bool


def damage_of(workload: str) -> DamageOf:
    """The damage of a workload: its own, or that of :data:`FITTED_ON`, taken to hold for it too (an assumption).

    >>> damage_of("tool-call").assumed, damage_of(FITTED_ON).assumed
    (True, False)
    """
    from clover_sim.streams.workloads import load_workload

    own = load_workload(workload).confidence.damage
    if own is not None:
        return DamageOf(own, False)
    fitted = load_workload(FITTED_ON).confidence.damage
    assert fitted is not None
    return DamageOf(fitted, True)


class Quality(NamedTuple):
    """A run with the chance in [0, 1] that its answer is the one that token-by-token decoding gives as often."""

    run: Run
    intact: float


def run_with_quality(decoder: Any, stream: Stream, **options: Any) -> Quality:
    """Run once over a stream of context physics whose workload knows its damage.

    ``accuracy = base * mean of intact over answers``. Raises :class:`UsageError` for any other stream.
    """
    finished = run(decoder, stream, **options)
    if finished.intact is None:
        raise UsageError(
            f"stream {stream.name!r} does not know how errors spoil an answer; use the profile context with a workload "
            "that has a [quality] section"
        )
    return Quality(finished, finished.intact)


class Order(NamedTuple):
    """In which order a run settled tokens of different predictability.

    ``first_pass`` maps a class label to the share of its tokens that the first pass over them settled.
    ``structure_first`` is the share of pairs in which structure came first: pairs of a structural and a rare token
    (digits are rare) of one block that were not settled in the same pass; ``None`` without such pairs.
    """

    first_pass: dict[str, float]
    structure_first: float | None


def order_of(finished: Run, stream: Stream) -> Order:
    """What was settled first: structure or values; read off the ledger of one run."""
    ledger, rows = finished.ledger, finished.ledger.positions[finished.request].row
    opened: dict[int, int] = {}
    for row in range(len(ledger)):
        if ledger.request[row] == finished.request and ledger.kind[row] == Kind.DENOISE:
            start = ledger.start[row]
            for p in range(start, min(start + ledger.tokens[row], len(stream))):
                opened.setdefault(p, row)
    seen, first = [0] * len(TokenClass), [0] * len(TokenClass)
    blocks: dict[int, list[int]] = {}
    for p, row in opened.items():
        seen[stream.classes[p]] += 1
        first[stream.classes[p]] += rows[p] == row
        blocks.setdefault(row, []).append(p)
    earlier = pairs = 0
    for positions in blocks.values():
        structure = [rows[p] for p in positions if stream.classes[p] == TokenClass.STRUCTURAL]
        values = [rows[p] for p in positions if stream.classes[p] == TokenClass.RARE]
        earlier += sum(a < b for a in structure for b in values)
        pairs += sum(a != b for a in structure for b in values)
    shares = {c.label: first[c] / seen[c] for c in TokenClass if seen[c]}
    return Order(shares, earlier / pairs if pairs else None)


def accuracy(base: float, qualities: Sequence[Quality]) -> float:
    """Expected accuracy in percent where token-by-token decoding reaches ``base``."""
    return base * sum(q.intact for q in qualities) / len(qualities)
