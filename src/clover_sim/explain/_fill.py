"""Sections with what they leave open, from flags or from the start-up lines: draft length and requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clover_sim.errors import UsageError
from clover_sim.explain._measured import SAME_LOAD
from clover_sim.explain._setup import Setup, main_section, place_of
from clover_sim.logs import Identity, Section

_ALONE = "cycle time of one request alone"


def filled(sections: Sequence[Section], setup: Setup, k: int | None, batch_size: int | None) -> tuple[Section, ...]:
    """With the draft length that was given, else with that of the start-up lines of the same engine, and the tree they
    state; with the requests that were given, where a section does not count its own; and with the time of a cycle,
    where it follows from its other figures."""
    how = "as given"
    if k is None:
        stated = setup.num_speculative_tokens
        if setup.tree_tokens is not None:
            stated = setup.tree_tokens._replace(value=setup.tree_tokens.value - 1)
        if stated is not None and stated.value > 0 and setup.engine is not None:
            ours = (None, setup.engine.value)
            where = f"that of {stated.where}"
            sections = [_with_length(s, stated.value, where) if s.engine in ours else s for s in sections]
    else:
        sections = [_with_length(section, k, how) for section in sections]
    sections = [_with_tree(section, setup) for section in sections]
    if batch_size is not None:
        sections = [_with_requests(section, batch_size) for section in sections]
    return tuple(_with_cycle(section) for section in sections)


def elsewhere(file: str) -> str:
    """How to ask for another machine or load than a log's.

    >>> elsewhere("my server.log")
    "speculate --from-log 'my server.log'"
    """
    import shlex

    return f"speculate --from-log {'-' if file in ('', 'standard input') else shlex.quote(file)}"


def check_load(sections: Sequence[Section], batch_size: int | None) -> list[str]:
    """A warning if the log counts a few requests more or fewer than were given.

    Raises:
        UsageError: it counts quite another number.
    """
    section = main_section(sections)
    running = section.running_requests
    if batch_size is None or not running or batch_size == max(1, round(running)):
        return []
    place = place_of(section)
    if abs(batch_size - running) > max(0.5, SAME_LOAD * running):
        raise UsageError(
            f"--batch-size {batch_size}: the log ran {running:.1f} requests together ({place}), and what it measured "
            f"cannot be moved to another batch: leave the flag out, or ask {elsewhere(place.rpartition(':')[0])} "
            f"--batch-size {batch_size}"
        )
    return [f"--batch-size {batch_size} is not used: the log itself counts {running:.1f} requests together ({place})"]


def _with_length(section: Section, k: int, how: str) -> Section:
    """A section whose lines of metrics do not say their draft length, with the one that is known from elsewhere."""
    if not section.speculative or section.num_speculative_tokens is not None:
        return section
    changes: dict[str, Any] = {"num_speculative_tokens": k}
    note = f"the draft length {k} is {how}, the lines of metrics do not say it"
    cycles = section.cycles
    if cycles is None and section.draft_tokens and section.engine == "vllm":
        cycles = changes["cycles"] = section.draft_tokens / k
        note += "; cycles = drafted tokens / draft length"
    if cycles and section.draft_tokens is None:
        changes["draft_tokens"] = cycles * k
    drafted = changes.get("draft_tokens", section.draft_tokens)
    if cycles and section.accepted_tokens is not None:
        measured = 1 + section.accepted_tokens / cycles
        changes["acceptance_length"] = section.acceptance_length or measured
        changes["tokens_per_pass"] = section.tokens_per_pass or measured
        changes["acceptance_rate"] = section.acceptance_rate or (section.accepted_tokens / drafted if drafted else None)
    elif section.acceptance_length is not None and section.acceptance_rate is None:
        changes["acceptance_rate"] = (section.acceptance_length - 1) / k
    warnings = tuple(w for w in section.warnings if "--num-speculative-tokens" not in w)
    return replace(section, **changes, conventions=(*section.conventions, note), warnings=warnings)


def _with_tree(section: Section, setup: Setup) -> Section:
    """A section whose draft tokens are those of the tree that the server was started with."""
    tree, levels, topk = setup.tree_tokens, setup.num_speculative_tokens, setup.topk
    if not section.speculative or topk is None or setup.engine is None:
        return section
    if section.engine not in (None, setup.engine.value):
        return section
    section = replace(section, topk=topk.value)
    if tree is None or levels is None or section.num_speculative_tokens != tree.value - 1:
        return section
    note = f"the drafts are a tree of {levels.value} levels ({levels.where}): a cycle keeps one path of it"
    return replace(section, levels=levels.value, conventions=(*section.conventions, note))


def _with_cycle(section: Section) -> Section:
    """With the time from one target pass of a request to its next, which its tokens a pass and its speed tell."""
    running, tokens, speed = section.running_requests, section.tokens_per_pass, section.generation_tokens_per_s
    if not section.speculative or section.cycle_time_s is not None or not running or not tokens or not speed:
        return section
    time_s = running * tokens / speed
    how = "running requests x tokens per pass / throughput"
    return replace(
        section, cycle_time_s=time_s, identities=(*section.identities, Identity("cycle time", time_s, None, "s", how)),
    )  # fmt: skip


def _with_requests(section: Section, batch_size: int) -> Section:
    """A drafting section that does not count its requests, and so no time of a cycle, with the number given."""
    alone = next((i.derived for i in section.identities if i.name == _ALONE), None)
    if not section.speculative or section.running_requests is not None or section.cycle_time_s is not None:
        return section
    if alone is None:
        note = f"{batch_size} requests together, as given"
        return replace(section, running_requests=float(batch_size), conventions=(*section.conventions, note))
    note = f"cycle time = {batch_size} requests, as given, x the cycle time of one alone"
    return replace(
        section, running_requests=float(batch_size), cycle_time_s=batch_size * alone,
        conventions=(*section.conventions, note),
    )  # fmt: skip
