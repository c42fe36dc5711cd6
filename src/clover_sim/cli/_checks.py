"""Bars that a comparison must clear: ``--fail-under speedup_time=1.5``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clover_sim.cli._numbers import number
from clover_sim.columns import column
from clover_sim.errors import UsageError
from clover_sim.report._rows import BASELINE, labels


@dataclass(frozen=True, slots=True)
class Bar:
    """The value that a column must reach (``better`` high) or not exceed (``better`` low)."""

    key: str
    value: float
    better: str

    @property
    def flag(self) -> str:
        """The flag that set the bar."""
        return "--fail-under" if self.better == "high" else "--fail-over"


def bar(text: str, better: str) -> Bar:
    """Read ``COLUMN=VALUE``; the column must be a number of which more (or less) is better.

    >>> bar("speedup_time=1.5", "high")
    Bar(key='speedup_time', value=1.5, better='high')
    """
    key, equals, figure = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not of the form COLUMN=VALUE, as in speedup_time=1.5")
    entry = column(key.strip())
    if not entry.better:
        raise UsageError(f"{entry.key} cannot be checked: neither more nor less of it is better")
    if entry.better != better:
        other = Bar(entry.key, 0, entry.better).flag
        raise UsageError(f"{entry.key} is better when {entry.better}; use {other} {text}")
    try:
        value = number(figure)
    except UsageError as error:
        raise UsageError(f"{error}, in {text!r}") from None
    return Bar(entry.key, value, better)


def missed(check: Bar, rows: Sequence[Mapping[str, Any]]) -> str:
    """What to say when rows other than plain decoding miss the bar; empty when all clear it."""
    judged = [(row, name) for row, name in zip(rows, labels(rows), strict=True) if row["strategy"] != BASELINE]
    if not judged:
        return (
            f"{check.flag} {check.key}={check.value:g}: only {BASELINE} was run, nothing to judge; add another with -s"
        )
    failed = [(row, name) for row, name in judged if not _clears(check, row.get(check.key))]
    if not failed:
        return ""
    sign = -1 if check.better == "low" else 1
    worst, name = min(failed, key=lambda item: sign * _number(item[0].get(check.key), -sign))
    value = worst.get(check.key)
    side = "below" if check.better == "high" else "above"
    shown = "no value" if value is None else f"{value:.4g}"
    return (
        f"{check.flag} {check.key}={check.value:g}: {len(failed)} of {len(judged)} rows {side} it; "
        f"worst is {name} at {worst['tokens']} tokens of {worst['stream']} with {shown}"
    )


def _clears(check: Bar, value: float | None) -> bool:
    """A row without the figure has not shown that it clears the bar."""
    if value is None:
        return False
    return value >= check.value if check.better == "high" else value <= check.value


def _number(value: float | None, sign: int) -> float:
    return sign * math.inf if value is None else value
