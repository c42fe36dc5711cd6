"""Recorded traces in comparisons: each sequence under its own rule, or under others as far as its form allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clover_sim.bulk import CausalPlan
from clover_sim.decoders._recorded import RecordedOrder
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from clover_sim.streams.traces import Recording, read_trace

_NEEDED = {"entropy": "entropy", "kl": "kl", "changed": "guess"}


class Replay(NamedTuple):
    """One sequence of a trace ready to run: its stream, and the decoder of its recorded rule."""

    recording: Recording
    stream: Stream
    strategy: str
    decoder: Any


def replays(path: str, *, seed: int = 0, allow_long: bool = False) -> list[Replay]:
    """Read a trace; ``run(r.decoder, r.stream)`` of each entry gives the recorded passes exactly.

    Raises :class:`~clover_sim.errors.InputError` with file, line and reason for a broken trace.
    """
    found = []
    for recording in read_trace(path, allow_long=allow_long):
        strategy, decoder = own_rule(recording)
        found.append(Replay(recording, recording.stream(seed), strategy, decoder))
    return found


def own_rule(recording: Recording) -> tuple[str, Any]:
    """(name, decoder) of the recorded rule: ``block-diffusion`` with its settings where a threshold explains every
    commit, else ``recorded``, which repeats the recorded order."""
    rule = recording.rule
    return ("recorded", RecordedOrder(recording)) if rule is None else build_strategy(rule)


def check_strategy(recording: Recording, name: str, decoder: Any) -> None:
    """Raise :class:`~clover_sim.errors.InputError` if the recording's form cannot answer for this strategy.

    Token-by-token and draft-and-verify decoding ask nothing of it; every rule over masked positions needs their
    confidences, and some of them more.
    """
    for need in sorted(getattr(decoder, "needs", ())):
        if need in _NEEDED:
            recording.require(_NEEDED[need], f"strategy {name}")
    plan = getattr(decoder, "plan", None)
    causal = getattr(decoder, "draft_source", None) is not None or (
        plan is not None and isinstance(plan(), CausalPlan)
    )
    if not causal and not isinstance(decoder, RecordedOrder):
        recording.require("confidence", f"strategy {name}")


def unknown_columns(recording: Recording) -> tuple[str, ...]:
    """Columns of a row over this recording that its form cannot tell (to be shown as unknown, never as 0)."""
    return () if "confidence" in recording.holds else ("forced_commits", "locked_errors")


def notes(recordings: Sequence[Recording], decoders: Sequence[Any] = ()) -> list[str]:
    """Sentences to print with rows over recordings; ``decoders`` are those that were asked for, if any."""
    found: list[str] = []
    forms = sorted({(r.form, r.answers()) for r in recordings})
    found.extend(f"the trace form {form!r} can tell: {'; '.join(answers)}" for form, answers in forms)
    strict = sum(r.comparison == "gt" for r in recordings)
    if strict:
        found.append(f"{strict} of {len(recordings)} sequences fit their threshold only with > (comparison=gt)")
    unruled = sum(r.rule is None and "confidence" in r.holds for r in recordings)
    if unruled:
        found.append(f"{unruled} of {len(recordings)} sequences name no threshold: their recorded order is replayed")
    if any(not same_rule(r, d) for r in recordings for d in decoders):
        found.append(
            "replay under another rule than the recorded one is approximate: later confidences were conditioned on "
            "the recorded commits, and a position kept longer than recorded keeps its last confidence"
        )
    if any("confidence" in r.holds and r.visits is not None and r.visits.wrong is None for r in recordings):
        found.append("errors of a replay are drawn as a calibrated model makes them at the recorded confidence")
    return found


def same_rule(recording: Recording, decoder: Any) -> bool:
    """Whether the decoder is the recorded rule itself (or asks nothing of the recording)."""
    if isinstance(decoder, RecordedOrder) or not hasattr(decoder, "threshold"):
        return isinstance(decoder, RecordedOrder) or not hasattr(decoder, "block_size")
    mine = (getattr(decoder, "block_size", None), decoder.threshold, getattr(decoder, "comparison", None))
    return recording.rule is not None and mine == (recording.block_size, recording.threshold, recording.comparison)
