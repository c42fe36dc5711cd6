"""What a log says, in one vocabulary for all engines. ``None`` is what the log does not say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

WITH_BONUS = "acceptance length = 1 + accepted / cycles: the bonus token is included, only passes with a draft count"
OVER_DRAFTED = "acceptance rate = accepted drafts / drafted tokens: neither per token given its place, nor per draft"
SURVIVAL = (
    "per-position figures are survival: the chance that the draft is accepted up to and including that position; "
    "they add up to the acceptance length - 1 and must not be multiplied"
)
NO_PLAIN_PASSES = (
    "the log does not count passes without a draft; tokens per pass takes it that there are none "
    "(true of draft models, EAGLE and MTP, not of n-gram and suffix matching)"
)


def one_of(count: int, what: str) -> str:
    """The convention of figures that several engines of one server print each for itself."""
    return f"speed and running requests are those of one of the {count} {what}, on average; counts are of all together"


class Identity(NamedTuple):
    """A relation between figures of one log: what follows from some against what another says."""

    name: str
    derived: float
    stated: float | None
    unit: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One engine and format of the input.

    Args:
        engine: vllm, sglang, llama.cpp, trtllm, or ``None``. format: what was read, in words.
        lines_read, lines_used: lines of this format, and those whose figures count.
        speculative: whether the log is of a run with drafts (drafted or not).
        cycles: passes that had a draft. passes: all target passes. output_tokens: what they wrote.
        draft_tokens, accepted_tokens: of all cycles. num_speculative_tokens: the longest draft (the root not counted).
        acceptance_rate: accepted / drafted in [0, 1]. acceptance_length: tokens a cycle, bonus included, at least 1.
        tokens_per_pass: output tokens over all target passes. per_position_survival: see :data:`SURVIVAL`.
        cycle_time_s: from one verify pass of a request to its next. draft_time_s, verify_time_s: its parts.
        generation_tokens_per_s: of all requests together. user_tokens_per_s: of one.
        running_requests, waiting_requests: means over the windows.
        baseline_tokens_per_s: plain decoding on the same machine.
        draft_passes: passes of the drafter.
        levels, topk: of a tree of drafts, its longest path (the root not counted) and children a node.
        prompt_tokens_per_s: prompts processed beside the decoding, over the same time.
        eager_share: share of the lines that say whether a pass ran as a captured graph, and say that it did not.
    """

    engine: str | None
    format: str
    lines_read: int
    lines_used: int
    speculative: bool = True
    cycles: float | None = None
    passes: float | None = None
    output_tokens: float | None = None
    draft_tokens: float | None = None
    accepted_tokens: float | None = None
    num_speculative_tokens: int | None = None
    acceptance_rate: float | None = None
    acceptance_length: float | None = None
    tokens_per_pass: float | None = None
    per_position_survival: tuple[float, ...] | None = None
    cycle_time_s: float | None = None
    draft_time_s: float | None = None
    verify_time_s: float | None = None
    generation_tokens_per_s: float | None = None
    user_tokens_per_s: float | None = None
    running_requests: float | None = None
    waiting_requests: float | None = None
    baseline_tokens_per_s: float | None = None
    draft_passes: float | None = None
    method: str | None = None
    levels: int | None = None
    topk: int | None = None
    prompt_tokens_per_s: float | None = None
    eager_share: float | None = None
    where: tuple[str, ...] = ()
    """First and last place (``file:line``) that its format was read from."""
    conventions: tuple[str, ...] = ()
    identities: tuple[Identity, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def longest_path(self) -> int | None:
        """Drafts that a cycle can keep at most: the levels of a tree, else the draft length."""
        k = self.num_speculative_tokens
        return k if self.levels is None or k is None else min(self.levels, k)


def counted(
    engine: str | None, format: str, lines: tuple[int, int], *, cycles: float | None, drafted: float | None,
    accepted: float | None, length: float | None, k: int | None, survival: Sequence[float] | None, **rest: Any,
) -> Section:  # fmt: skip
    """The section of counted drafts: the rate follows from the counts, all else is handed over as it is."""
    return Section(
        engine=engine, format=format, lines_read=lines[0], lines_used=lines[1], cycles=cycles, draft_tokens=drafted,
        accepted_tokens=accepted, num_speculative_tokens=k, acceptance_rate=ratio(accepted, drafted),
        acceptance_length=length, per_position_survival=tuple(survival) if survival else None, **rest,
    )  # fmt: skip


def ratio(part: float | None, whole: float | None) -> float | None:
    """``part / whole``, ``None`` where either is unknown or the whole is 0."""
    return None if part is None or not whole else part / whole


def length(accepted: float | None, cycles: float | None) -> float | None:
    """Acceptance length with the bonus token: ``1 + accepted / cycles``.

    >>> length(987, 264), length(0, 0)
    (4.738636363636363, None)
    """
    extra = ratio(accepted, cycles)
    return None if extra is None else 1 + extra


def cycles_of(drafted: float, accepted: float, positions: int, printed_length: float | None) -> float | None:
    """Passes that had a draft, from the counts of a window and its printed acceptance length (bonus included).

    ``drafted / positions`` where that agrees with the length, else ``accepted / (length - 1)``: drafts may be shorter
    than the longest, as with n-grams.

    >>> cycles_of(1584, 987, 6, 4.74), cycles_of(700, 300, 5, 2.5)
    (264.0, 200.0)
    """
    full = drafted / positions if positions else None
    if printed_length is None:
        return full
    if full and abs(1 + accepted / full - printed_length) < 0.0151:
        return float(max(1, round(full)))
    if printed_length > 1 and accepted:
        return float(max(1, round(accepted / (printed_length - 1))))
    return full if full and not accepted else None


@dataclass(slots=True)
class Survival:
    """Per-position survival of many windows, weighted by their drafts."""

    drafts: float = 0.0
    accepted: list[float] = field(default_factory=list)

    def add(self, drafts: float, survival: Sequence[float]) -> None:
        """Count a window of ``drafts`` drafts."""
        self.drafts += drafts
        self.accepted += [0.0] * (len(survival) - len(self.accepted))
        for position, rate in enumerate(survival):
            self.accepted[position] += rate * drafts

    def pooled(self) -> tuple[float, ...] | None:
        """Survival over all windows; ``None`` without any."""
        return tuple(a / self.drafts for a in self.accepted) if self.drafts and self.accepted else None


def weighted(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Mean of ``(value, weight)`` pairs; ``None`` if the weights add up to 0."""
    total = weight = 0.0
    for value, amount in pairs:
        total += value * amount
        weight += amount
    return total / weight if weight else None
