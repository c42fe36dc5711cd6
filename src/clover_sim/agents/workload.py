"""A task as a list of turns: from a preset, a TOML or JSON table, or what a transcript was read into."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clover_sim.errors import InputError, UsageError, suggest

MOST_TURNS = 20_000
MOST_TOKENS = 10_000_000
"""Bounds of one workload: more turns than any run has, and tokens of one turn beyond any context."""

_KEYS = ("name", "summary", "source", "system_tokens", "repeat", "turns", "decisions")
_TURN = ("added_tokens", "thinking_tokens", "output_tokens", "tool_s", "prompt_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of the model.

    Args:
        context_tokens: the whole prompt of the step. new_tokens: those of it that no earlier step of the task has put
            into the cache.
        thinking_tokens, output_tokens: what the model writes before its call or answer, and the call or answer.
        tool_s: seconds the tool takes, during which nothing is decoded.
    """

    context_tokens: int
    new_tokens: int
    thinking_tokens: int
    output_tokens: int
    tool_s: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkedFields:
    """The ``[decisions]`` of a workload; see :class:`clover_sim.agents.decisions.Decisions` for the last two."""

    fields: int
    field_tokens: int
    question_tokens: int
    field_success: float
    correlation: float


@dataclass(frozen=True, slots=True)
class AgentWorkload:
    """A task. ``notes`` say what was assumed or left out when it was read."""

    name: str
    summary: str
    source: str
    system_tokens: int
    turns: tuple[Turn, ...]
    notes: tuple[str, ...] = ()
    decisions: LinkedFields | None = None

    @property
    def longest_context_tokens(self) -> int:
        """The most tokens that any step has in its context at its end."""
        return max(t.context_tokens + t.thinking_tokens + t.output_tokens for t in self.turns)

    @property
    def output_tokens(self) -> int:
        """Tokens the model writes in one clean pass through the task."""
        return sum(t.thinking_tokens + t.output_tokens for t in self.turns)


def workload_of(table: Mapping[str, Any], where: str, strict: bool = False) -> AgentWorkload:
    """Check a table; ``where`` names it in messages, ``strict`` refuses keys beside those of a workload.

    Turns have ``added_tokens`` (new prompt tokens), ``thinking_tokens``, ``output_tokens`` and ``tool_s``; or, as a
    server reports usage, ``prompt_tokens`` (the whole prompt of the request) and ``completion_tokens``.
    """
    for key in table:
        if key not in _KEYS and (strict or "turns" not in table):
            raise InputError(f"{where}: unknown key {key!r}{suggest(key, _KEYS)}")
    system = whole(table, "system_tokens", where, 0)
    repeat = whole(table, "repeat", where, 1, 1, MOST_TURNS)
    decisions = table.get("decisions")
    if decisions is not None:
        return _linked(table, decisions, system, where)
    rows = table.get("turns")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{where}: turns is missing: expected a list of turns, each with output_tokens")
    if len(rows) * repeat > MOST_TURNS:
        raise InputError(f"{where}: {len(rows) * repeat} turns: expected at most {MOST_TURNS}")
    turns: list[Turn] = []
    seen = 0
    for number, row in enumerate(rows * repeat):
        at = f"{where}: turns[{number % len(rows)}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{at} is {row!r:.40}: expected a table with output_tokens")
        turns.append(_turn(row, at, system, seen, number))
        last = turns[-1]
        seen = last.context_tokens + last.thinking_tokens + last.output_tokens
    summary = str(table.get("summary", f"{len(turns)} turns"))
    return AgentWorkload(
        str(table.get("name", os.path.basename(where))), summary, str(table.get("source", where)), system, tuple(turns)
    )


def _turn(row: Mapping[str, Any], at: str, system: int, seen: int, number: int) -> Turn:
    reported = "completion_tokens" in row or "prompt_tokens" in row
    if not reported:
        for key in row:
            if key not in _TURN:
                raise InputError(f"{at}: unknown key {key!r}{suggest(key, _TURN)}")
    thinking = whole(row, "thinking_tokens", at, 0)
    output = whole(row, "completion_tokens" if reported else "output_tokens", at)
    if output + thinking < 1:
        raise InputError(f"{at}: writes no token: expected output_tokens of at least 1")
    tool = number_of(row, "tool_s", at, 0.0)
    if not reported:
        added = whole(row, "added_tokens", at, 0)
        start = system if number == 0 else seen
        return Turn(start + added, added + (system if number == 0 else 0), thinking, output, tool)
    prompt = whole(row, "prompt_tokens", at)
    # A prompt shorter than what the conversation holds so far has nothing certain in common with it.
    return Turn(prompt, prompt - seen if prompt >= seen else prompt, thinking, output, tool)


def _linked(table: Mapping[str, Any], found: Any, system: int, where: str) -> AgentWorkload:
    at = f"{where}: decisions"
    if not isinstance(found, Mapping):
        raise InputError(f"{at} is {found!r:.40}: expected a table [decisions]")
    linked = LinkedFields(
        whole(found, "fields", at, None, 1, 1000), whole(found, "field_tokens", at, None, 1, 10_000),
        whole(found, "question_tokens", at, 0), number_of(found, "field_success", at, None, 1.0),
        number_of(found, "correlation", at, 0.0, 1.0),
    )  # fmt: skip
    new = system + linked.fields * linked.question_tokens
    turn = Turn(new, new, 0, linked.fields * linked.field_tokens)
    return AgentWorkload(
        str(table.get("name", where)), str(table.get("summary", "")), str(table.get("source", where)), system, (turn,),
        decisions=linked,
    )  # fmt: skip


def whole(
    table: Mapping[str, Any], key: str, at: str, default: int | None = None, least: int = 0, most: int = MOST_TOKENS
) -> int:
    """A whole number of a table; :class:`InputError` naming the key if it is missing or out of range."""
    value = table.get(key, default)
    if value is None:
        raise InputError(f"{at}: {key} is missing: expected a whole number from {least} to {most}")
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{at}: {key} is {value!r:.40}: expected a whole number from {least} to {most}")
    return value


def number_of(table: Mapping[str, Any], key: str, at: str, default: float | None = None, most: float = 1e6) -> float:
    """A number from 0 to ``most`` of a table."""
    value = table.get(key, default)
    if value is None:
        raise InputError(f"{at}: {key} is missing: expected a number from 0 to {most:g}")
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise InputError(f"{at}: {key} is {value!r:.40}: expected a number from 0 to {most:g}")
    return float(value)


def only_for_transcripts(given: Mapping[str, object], name: str) -> None:
    """Refuse flags that a workload which holds no messages would set aside; ``None`` was not given."""
    if found := [flag for flag, value in given.items() if value is not None]:
        it = "it" if len(found) == 1 else "them"
        raise UsageError(f"{', '.join(found)}: for transcripts of messages, and {name} is none; leave {it} out")
