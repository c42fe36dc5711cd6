"""The one list of columns that every format is fed from. To add a column, add one entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Form = Literal["text", "options", "count", "figure", "ratio", "seconds"]


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of a row: where it stands, how it is shown, what it means.

    Args:
        key: name in a row, in JSON and in CSV; the unit is part of the name.
        title: heading of the table; a line break separates its two lines.
        unit: SI unit of the stored value, or what is counted; empty for texts and plain ratios.
        form: how a table writes the value.
        priority: 0 is always shown; of the others the highest number is left out first when the terminal is narrow;
            ``None`` is shown only when asked for.
        meaning: what it is and how it is computed, in one sentence.
        better: ``"high"`` or ``"low"`` where one side is better, else empty.
    """

    key: str
    title: str
    unit: str
    form: Form
    priority: int | None
    meaning: str
    better: Literal["high", "low", ""] = ""

    @property
    def heading(self) -> str:
        """The title on one line.

        >>> column("ms_per_pass").heading
        'ms/pass'
        """
        first, _, second = self.title.partition("\n")
        return first + second if first.endswith("/") else f"{first} {second}".strip()

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.form not in ("text", "options")


COLUMNS: Final = (
    Column("stream", "stream", "", "text", None, "Profile or input file whose tokens are decoded."),
    Column("tokens", "tokens", "tokens", "count", 0,
           "Useful tokens, without the prompt and the padding after the end."),
    Column("strategy", "strategy", "", "text", 0, "Decoder that asks for the passes."),
    Column("options", "options", "", "options", None, "All effective options of the strategy."),
    Column("drafter", "drafter", "", "options", None, "Declared draft source of the strategy, if it has one."),
    Column("kv_write", "K/V\nwrite", "", "text", None, "Rule by which the K/V of a finished block are written."),
    Column("eos_stop", "end\nstop", "", "text", None, "How far decoding goes on after the end of the text."),
    Column("seeds", "seeds", "seeds", "count", None, "Seeds that the row is the mean of."),
    Column("target_passes", "target\npasses", "passes", "count", 1,
           "Passes of the target model, K/V writes included.", "low"),
    Column("draft_passes", "draft\npasses", "passes", "count", 4, "Passes of the drafter.", "low"),
    Column("kv_write_passes", "K/V\npasses", "passes", "count", None,
           "Target passes that only write the K/V of a finished block.", "low"),
    Column("denoise_passes", "denoise\npasses", "passes", "count", None,
           "target_passes without kv_write_passes.", "low"),
    Column("prefill_passes", "prefill\npasses", "passes", "count", None, "Target passes over the prompt.", "low"),
    Column("tokens_per_pass", "tok/\npass", "tokens/pass", "figure", 9, "tokens / target_passes.", "high"),
    Column("tokens_per_denoise_pass", "tok/\ndenoise", "tokens/pass", "figure", None,
           "tokens / denoise_passes.", "high"),
    Column("speedup_passes", "speed-up\npasses", "", "ratio", 3,
           "Passes of ar / (target_passes + draft_passes), on the same stream.", "high"),
    Column("locked_errors", "locked\nerrors", "errors", "count", 0,
           "Final commits that are not the token the model would have chosen with the whole context.", "low"),
    Column("forced_commits", "forced\ncommits", "commits", "count", 6,
           "Final commits that no unlock rule passed: only the best guess of a stuck pass.", "low"),
    Column("wasted_positions", "wasted\npositions", "positions", "count", None,
           "Positions computed after the end of the text.", "low"),
    Column("ms_per_pass", "ms/\npass", "ms", "figure", 8, "1000 latency_s / (target_passes + draft_passes).", "low"),
    Column("latency_s", "latency", "s", "seconds", 7, "Time of all decoding passes, drafts included.", "low"),
    Column("latency_low_s", "latency\nlow", "s", "seconds", None,
           "Low end of the middle 80 % of measurements of such passes.", "low"),
    Column("latency_high_s", "latency\nhigh", "s", "seconds", None,
           "High end of the middle 80 % of measurements of such passes.", "low"),
    Column("prefill_s", "prefill", "s", "seconds", None, "Time of the prefill passes, not part of latency_s.", "low"),
    Column("tokens_per_s", "tok/s", "tokens/s", "figure", 5, "tokens / latency_s, of one request.", "high"),
    Column("total_tokens_per_s", "tok/s\nin all", "tokens/s", "figure", None,
           "tokens_per_s times the batch size: what the machine writes.", "high"),
    Column("speedup_time", "speed-up\ntime", "", "ratio", 2,
           "latency_s of ar / latency_s, on the same stream.", "high"),
    Column("bound", "bound", "", "text", 10,
           "What bounds most of the time: memory, compute, overhead, or fixed for a given price."),
)  # fmt: skip

QUALITY: Final = ("locked_errors", "forced_commits")
"""What speed was paid with. The first is shown wherever a speed is, the second wherever there is room."""

INTERVAL: Final = "_ci95"
"""Suffix of the half-width of the 95 % interval beside a mean over several seeds."""


def column(key: str) -> Column:
    """The column named ``key``.

    Raises :class:`~clover_sim.errors.UsageError` with the nearest name for an unknown one.
    """
    for entry in COLUMNS:
        if entry.key == key:
            return entry
    from clover_sim.errors import UsageError, suggest

    raise UsageError(f"unknown column {key!r}{suggest(key, [c.key for c in COLUMNS])}")
