"""What a decoder may declare and request. Each check returns the fault in one line, or ``None``."""

from __future__ import annotations

from typing import Any

from clover_sim.canvas import Canvas
from clover_sim.errors import DecoderFault, UsageError, suggest
from clover_sim.faults import foreign
from clover_sim.records import BLOCK, CAUSAL, DRAFT, KV_WRITE_RULES, TARGET, Declared, Drafter, Forward

MOST_TOKENS = 1 << 31
"""Widest pass and longest prompt; the ledger's columns are 32 bits wide."""


def declare(decoder: Any) -> Declared:
    """Read a decoder's declarations; raises :class:`DecoderFault` if it is no decoder or declares nonsense."""
    name = type(decoder).__name__
    with foreign(f"reading what {name} declares"):
        if isinstance(decoder, type) or not callable(getattr(decoder, "decode", None)):
            raise DecoderFault(f"{_name_of(decoder)} is not a decoder: expected an object with a method decode(canvas)")
        needs: Any = getattr(decoder, "needs", frozenset())
        source = getattr(decoder, "draft_source", None)
        rule = getattr(decoder, "kv_write", None)
        revises = getattr(decoder, "revises", False)
        idle = getattr(decoder, "max_idle_passes", 0)
    if not isinstance(needs, (frozenset, set, tuple, list)) or not all(type(n) is str for n in needs):
        raise DecoderFault(f"{name}.needs = {_name_of(needs)}: expected a set of names, such as {{'entropy'}}")
    if source is not None and type(source) is not Drafter:
        raise DecoderFault(f"{name}.draft_source = {_name_of(source)}: expected a Drafter")
    if rule is not None and rule not in KV_WRITE_RULES:
        raise DecoderFault(f"{name}.kv_write = {_name_of(rule)}: expected one of {', '.join(KV_WRITE_RULES)}")
    if type(revises) is not bool:
        raise DecoderFault(f"{name}.revises = {_name_of(revises)}: expected True or False")
    if type(idle) is not int or idle < 0:
        raise DecoderFault(f"{name}.max_idle_passes = {_name_of(idle)}: expected a whole number of at least 0")
    return Declared(frozenset(needs), source, rule, revises, idle)


def _name_of(value: Any) -> str:
    """A value in a message: plain ones as they are, others by type (an address would differ from run to run)."""
    if type(value) in (str, int, float, bool, type(None)):
        return f"{value!r:.60}"
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of {type(value).__name__}"


def kv_write_rule(declared: Declared, stream: Any, override: str | None) -> str:
    """The K/V-write rule in force: the override, else the stream's, else the decoder's own, else ``separate``."""
    if override is not None and override not in KV_WRITE_RULES:
        raise UsageError(f"kv_write {override!r} is not a rule{suggest(str(override), KV_WRITE_RULES)}")
    return override or stream.kv_write or declared.kv_write or "separate"


def forward_fault(forward: Any, limit: int, prompt_tokens: int) -> str | None:
    """A request that is malformed whatever the state of the canvas."""
    if type(forward) is not Forward:
        return f"a decoder yields Forward requests, got {_name_of(forward)}"
    start, stop, attend, role = forward.start, forward.stop, forward.attend, forward.role
    if not ((attend is CAUSAL or attend is BLOCK) and (role is TARGET or role is DRAFT)):
        return f"Forward.attend = {attend!r}, role = {role!r}: not an Attend and a Role"
    width = forward.tokens
    if width is None and type(start) is int and type(stop) is int and 0 <= start < stop <= limit:
        if type(forward.recompute) is int and forward.recompute == 0:
            return None
        width = stop - start
    for name, value in (("start", start), ("stop", stop), ("tokens", width), ("recompute", forward.recompute)):
        if type(value) is not int and not (name == "tokens" and value is None):
            return f"Forward.{name} = {value!r}: expected a whole number"
    if not 0 <= start < stop <= limit:
        return f"pass over {start}..{stop}: expected 0 <= start < stop <= {limit}, the canvas' limit"
    assert width is not None
    if not stop - start <= width <= MOST_TOKENS:
        return f"Forward.tokens = {width}: a pass over {stop - start} positions computes from that to {MOST_TOKENS}"
    if not 0 <= forward.recompute <= prompt_tokens + start:
        return f"Forward.recompute = {forward.recompute}: there are {prompt_tokens + start} positions before this span"
    return None


def causal_fault(forward: Forward, canvas: Canvas) -> str | None:
    """A causal target pass that does not start where it may, or verifies what nobody drafted."""
    if forward.stop <= canvas._frontier:
        if forward.start != canvas._written:
            return f"an encoding pass starts at {canvas._written}, where K/V are not final yet, not at {forward.start}"
    elif forward.start != canvas._frontier:
        return f"a causal pass starts at the frontier {canvas._frontier}, not at {forward.start}"
    elif (taken := canvas._filled.find(b"\1", forward.start, forward.stop)) >= 0:
        return f"a causal pass over {forward.start}..{forward.stop - 1}: position {taken} is already filled"
    elif forward.stop - 1 > canvas._drafted:
        return (
            f"the pass verifies up to position {forward.stop - 2}, but drafts reach only {canvas._drafted - 1}: "
            "buy them with a draft pass or propose() since the last commit"
        )
    return None


def block_fault(forward: Forward, canvas: Canvas) -> str | None:
    """A BLOCK target pass that jumps over masked positions, touches final ones, or has nothing left to do."""
    if forward.start > canvas._frontier:
        return f"pass over {forward.start}..{forward.stop - 1} leaves position {canvas._frontier} masked before it"
    if not canvas._remaining and not canvas._revises:
        return "every position is filled and nothing can be revised: this pass has no purpose"
    if forward.start < canvas._written:
        return (
            f"pass starts at {forward.start}, but K/V up to {canvas._written} are final; compute final positions "
            "again with 'recompute'"
        )
    return None


def draft_fault(forward: Forward, canvas: Canvas) -> str | None:
    """A draft pass without a declared drafter, or one that does not go on where the drafts end."""
    if canvas._drafter is None:
        return "a draft pass needs a declared drafter: set 'draft_source' on the decoder"
    if not canvas._frontier <= forward.start <= canvas._drafted:
        return f"drafts go on from position {canvas._drafted}, not from {forward.start}"
    return None
