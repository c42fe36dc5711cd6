"""Linked decisions: a group of fields answered in one block, or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clover_sim.agents.workload import AgentWorkload, Turn
from clover_sim.errors import InputError

if TYPE_CHECKING:
    from clover_sim.agents.steps import Steps


@dataclass(frozen=True, slots=True)
class Decisions:
    """A group of linked fields of which every one must be right.

    Args:
        fields: fields of a group, at least 1; a mean over groups may be a fraction.
        field_success: chance in (0, 1] that one field is right.
        correlation: 0 (fields fail independently) to 1 (they are right or wrong together): the chance that the fields
            of a group share one draw.
    """

    fields: float
    field_success: float
    correlation: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.fields <= 1e6:
            raise InputError(f"decisions: fields = {self.fields!r}: expected 1 to 1e6")
        for name in ("field_success", "correlation"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InputError(f"decisions: {name} = {value!r}: expected a probability from 0 to 1")

    @property
    def group_success(self) -> float:
        """Chance that the whole group is right.

        >>> round(Decisions(4.84, 0.907).group_success, 3), round(Decisions(4.84, 0.907, 1).group_success, 3)
        (0.623, 0.907)
        """
        alone = float(self.field_success**self.fields)
        return self.correlation * self.field_success + (1 - self.correlation) * alone


def implied_field_success(group_success: float, fields: float) -> float:
    """Chance per field, were all independent, that gives whole groups ``group_success``.

    >>> [round(implied_field_success(g, 4.84), 3) for g in (0.804, 0.624, 0.158)]
    [0.956, 0.907, 0.683]
    """
    return float(group_success ** (1 / fields))


def implied_correlation(group_success: float, field_success: float, fields: float) -> float | None:
    """Correlation at which fields of ``field_success`` give groups of ``group_success``; ``None`` if none does.

    >>> round(implied_correlation(0.804, 0.907, 4.84), 2)
    0.64
    """
    alone = float(field_success**fields)
    if not alone <= group_success <= field_success or alone == field_success:
        return None
    return (group_success - alone) / (field_success - alone)


def linked_fields(load: AgentWorkload, steps: Steps, cache: bool) -> dict[str, Any]:
    """Time and success of all fields of a workload in one block, against one request a field."""
    linked = load.decisions
    assert linked is not None
    found: dict[str, Any] = {}
    prompt = load.system_tokens + linked.fields * linked.question_tokens
    joint = Turn(prompt, prompt, 0, linked.fields * linked.field_tokens)
    first = load.system_tokens + linked.question_tokens
    single = Turn(first, first, 0, linked.field_tokens)
    for name, turn, requests, correlation in (
        ("jointly", joint, 1, linked.correlation), ("one_by_one", single, linked.fields, 0.0),
    ):  # fmt: skip
        decode = steps.mean_decode(turn).seconds
        prefill = steps.turn_prefill_s(turn, cache)
        later = steps.prefill_s(linked.question_tokens, load.system_tokens) if cache else prefill
        found[name] = {
            "prefill_s": prefill + later * (requests - 1), "decode_s": decode * requests,
            "seconds": prefill + later * (requests - 1) + decode * requests,
            "group_success": Decisions(linked.fields, linked.field_success, correlation).group_success,
        }  # fmt: skip
    return found
