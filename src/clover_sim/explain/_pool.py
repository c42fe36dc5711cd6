"""The figures of the contract, for one section and for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite
from typing import Any

from clover_sim.logs import Reading, Section

FIELDS = (
    "engine", "lines_read", "lines_used", "cycles", "draft_tokens", "accepted_tokens", "num_speculative_tokens",
    "acceptance_rate", "acceptance_length", "tokens_per_pass", "per_position_survival", "cycle_time_s",
    "generation_tokens_per_s",
)  # fmt: skip
"""Keys of the contract between ``schema`` and ``warnings``."""

_COUNTS = ("cycles", "draft_tokens", "accepted_tokens")


def contract(section: Section) -> dict[str, Any]:
    """One section as the contract has it: counts are whole numbers unless they are estimates."""
    return {name: plain(getattr(section, name)) for name in FIELDS}


def pool(reading: Reading) -> dict[str, Any]:
    """All sections together.

    Counts add up, rates follow from the sums, and speeds belong to one machine: what only some sections say, or what
    differs between them, is ``None``. Sections without drafts count only if there are no others.
    """
    sections = [section for section in reading.sections if section.speculative] or list(reading.sections)
    engines = {section.engine for section in reading.sections}
    if len(sections) == 1:
        found = contract(sections[0])
    else:
        found = dict.fromkeys(FIELDS)
        found.update({name: plain(_sum(sections, name)) for name in _COUNTS})
        cycles, drafted, accepted = (found[name] for name in _COUNTS)
        if accepted is not None and drafted:
            found["acceptance_rate"] = accepted / drafted
        found["acceptance_length"] = _weighted(sections, "acceptance_length", "cycles") if cycles else None
        found["num_speculative_tokens"] = _same(sections, "num_speculative_tokens")
        passes = [section.passes if section.passes is not None else section.cycles for section in sections]
        if all(section.tokens_per_pass is not None for section in sections) and all(passes):
            total = fsum(p or 0.0 for p in passes)
            found["tokens_per_pass"] = (
                fsum((s.tokens_per_pass or 0.0) * (p or 0.0) for s, p in zip(sections, passes, strict=True)) / total
            )
        found["per_position_survival"] = _survival(sections)
    found["engine"] = engines.pop() if len(engines) == 1 else None
    found["lines_read"], found["lines_used"] = reading.lines_read, reading.lines_used
    return found


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [plain(entry) if isinstance(entry, float) and not isfinite(entry) else entry for entry in value]
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        return None
    return int(value) if abs(value) < 1e15 and value == int(value) else value


def _values(sections: Sequence[Section], name: str) -> list[Any] | None:
    values = [getattr(section, name) for section in sections]
    return None if any(value is None for value in values) else values


def _sum(sections: Sequence[Section], name: str) -> float | None:
    values = _values(sections, name)
    return None if values is None else fsum(values)


def _same(sections: Sequence[Section], name: str) -> Any:
    values = _values(sections, name)
    return values[0] if values and len(set(values)) == 1 else None


def _weighted(sections: Sequence[Section], name: str, weight: str) -> float | None:
    values, weights = _values(sections, name), _values(sections, weight)
    if values is None or weights is None or not fsum(weights):
        return None
    return fsum(v * w for v, w in zip(values, weights, strict=True)) / fsum(weights)


def _survival(sections: Sequence[Section]) -> list[float] | None:
    """By position, weighted by cycles; only of sections with the same draft length."""
    values, cycles = _values(sections, "per_position_survival"), _values(sections, "cycles")
    if values is None or cycles is None or not fsum(cycles) or len({len(value) for value in values}) != 1:
        return None
    return [fsum(v[i] * c for v, c in zip(values, cycles, strict=True)) / fsum(cycles) for i in range(len(values[0]))]
