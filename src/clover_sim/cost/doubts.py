"""What a calibration did with the difference it found, and what its measurements leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clover_sim.cost.machine import Machine
from clover_sim.cost.roofline import price
from clover_sim.records import Kind, PassShape
from clover_sim.row_names import joined

if TYPE_CHECKING:
    from clover_sim.cost.calibration import Measured

_MANY, _FEW = 32, 1
_LEAST_DIFFERENCE = 0.02
"""Explanations whose prices differ by less at the other batch are as good as one."""

_SHOWN = ("pass_s", "layer_s", "moe_layer_s", "eta", "eta_experts")
"""The constants that are told; the others of their kind follow them."""


def doubts(
    before: Machine, after: Machine, measured: Sequence[Measured], rival: Machine | None
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Factors on prices elsewhere that the measurements leave possible, and the sentences for it.

    Args:
        before, after: the machine with the constants of its engine's file, and with the fitted ones.
        measured: what was measured. rival: constants that would explain it as well, if all was measured at one batch.
    """
    gap_s = sum(m.step_s - _step_s(before, m.batch_size, m.context_tokens) for m in measured) / len(measured)
    than = "slower" if gap_s >= 0 else "faster"
    gap = f"A step is {abs(gap_s) * 1e3:.2f} ms {than} than by the engine's file"
    notes = [f"{gap}; that went into {_changes(before, after)}."]
    if len({(m.batch_size, m.context_tokens) for m in measured}) > 1:
        return (), tuple(notes)
    one = measured[0]
    batch = _MANY if one.batch_size <= _MANY // 4 else _FEW
    ask = f"measure at a second batch size (--measured-tokens-per-s X --batch-size {batch})"
    if rival is None:
        notes.append(f"One batch size cannot tell the host's time from the bandwidth: {ask}.")
        return (), tuple(notes)
    ours, theirs = (_step_s(machine, batch, one.context_tokens) for machine in (after, rival))
    known = f"at batch {batch} a step is {ours * 1e3:.2f} ms by this file, and {theirs * 1e3:.2f} ms if"
    if abs(theirs / ours - 1) < _LEAST_DIFFERENCE:
        notes.append(
            f"One batch size cannot tell the host's time from the bandwidth; here it matters little: {known} "
            f"{_changes(before, rival)} is to blame instead."
        )
        return (), tuple(notes)
    notes.append(
        f"One batch size cannot tell the host's time from the bandwidth: {known} {_changes(before, rival)} is to blame "
        f"instead; {ask}."
    )
    return (round(theirs / ours, 4),), tuple(notes)


def _step_s(machine: Machine, batch_size: int, context_tokens: int) -> float:
    return price(machine, PassShape(Kind.DECODE, (1,) * batch_size, context_tokens * batch_size)).latency_s


def _changes(before: Machine, after: Machine) -> str:
    """Which constants differ, from what to what.

    Everything that is not told of moves with one that is: ``eta_kv`` with ``eta``.
    """
    told = []
    for name in _SHOWN:
        old, new = getattr(before.constants, name), getattr(after.constants, name)
        if abs(new - old) > 1e-12 and not (name == "eta_experts" and not before.model.is_moe):
            told.append(f"{name} ({_value(name, old)} to {_value(name, new)})")
    return joined(told) or "nothing that matters here"


def _value(name: str, value: Any) -> str:
    if not name.endswith("_s"):
        return f"{value:.3g}"
    return f"{value * 1e3:.2f} ms" if name == "pass_s" else f"{value * 1e6:.3g} us"
