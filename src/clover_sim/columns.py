"""The one list of the figures of a row. To add a figure, add one entry: rows, documents, tables and pages follow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from clover_sim.cost import PricedRun
    from clover_sim.request import Run

Form = Literal["text", "options", "count", "figure", "ratio", "seconds"]


class Counted(NamedTuple):
    """One run, counted and priced: all that the figures of a row are made from.

    Args:
        run: its totals, its ledger, the rule by which K/V were written.
        price: of its decoding passes, drafts included, for ``batch_size`` equal requests in step.
        prefill_s: seconds of its prefill passes.
        batch_size: requests decoded in step; counts stay those of one.
        plain: the run of ``ar`` on the same stream, ``None`` in that run itself.
        tokens: useful tokens. target_passes: of the target model. passes: those, and the drafter's.
        denoise_passes: those of the target model that are no K/V writes. latency_s: of all decoding passes.
    """

    run: Run
    price: PricedRun
    prefill_s: float
    batch_size: int
    plain: Counted | None
    tokens: int
    target_passes: int
    passes: int
    denoise_passes: int
    latency_s: float


class Ratio(NamedTuple):
    """``times * figure / by`` of one run. Over several runs it is the ratio of the sums, never the mean of ratios.

    A mean of ratios is larger than what all runs took together would give, the more so the more they differ: it favours
    whatever varies most, and a speed no longer is the tokens over the time that stand beside it.
    """

    figure: float
    by: float
    times: float = 1

    @property
    def value(self) -> float | None:
        """The ratio of this one run, ``None`` where there is nothing to divide by."""
        return self.figure / self.by * self.times if self.by else None


def over(figure: float, by: float, times: float = 1) -> Ratio:
    """``times * figure / by`` as the value of a column: its one declaration, for one run and for many.

    >>> over(3, 4).value, over(3, 0).value
    (0.75, None)
    """
    return Ratio(figure, by, times)


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of a row: where it stands, how it is shown, what it means, what it is made from.

    Args:
        key: name in a row, in JSON and in CSV; the unit is part of the name.
        title: heading of the table; a line break separates its two lines.
        unit: SI unit of the stored value, or what is counted; empty for texts and plain ratios.
        form: how a table writes the value.
        priority: 0 is always shown; of the others the highest number is left out first when the terminal is narrow;
            ``None`` is shown only when asked for.
        meaning: what it is and how it is computed, in one sentence.
        better: ``"high"`` or ``"low"`` where one side is better, else empty.
        value: the value of one run: :func:`over` for what is divided, else a plain JSON value, ``None`` where there is
            none; left out for what was asked for.
        varies: whether a number depends on the seed: over several it is a mean, or the ratio of the sums, with an
            interval beside it.
    """

    key: str
    title: str
    unit: str
    form: Form
    priority: int | None
    meaning: str
    better: Literal["high", "low", ""] = ""
    value: Callable[[Counted], Any] | None = None
    varies: bool = True

    @property
    def heading(self) -> str:
        """The title on one line.

        >>> column("ms_per_pass").heading
        'ms/pass'
        """
        first, _, second = self.title.partition("\n")
        return first + second if first.endswith("/") else f"{first} {second}".strip()

    def of(self, one: Counted) -> Any:
        """The value of one run as plain JSON."""
        return plain(self.value(one) if self.value is not None else None)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.form not in ("text", "options")


def plain(value: Any) -> Any:
    """The value of a run as plain JSON: of a ratio its quotient; what is not a number is not known.

    >>> plain(over(1, 4)), plain("memory"), plain(float("nan"))
    (0.25, 'memory', None)
    """
    value = value.value if isinstance(value, Ratio) else value
    return value if value == value else None


COLUMNS: Final = (
    Column("stream", "stream", "", "text", None, "Profile or input file whose tokens are decoded."),
    Column("tokens", "tokens", "tokens", "count", 0,
           "Useful tokens, without the prompt and the padding after the end.",
           value=lambda one: one.tokens, varies=False),
    Column("strategy", "strategy", "", "text", 0, "Decoder that asks for the passes."),
    Column("options", "options", "", "options", None, "All effective options of the strategy."),
    Column("drafter", "drafter", "", "options", None, "Declared draft source of the strategy, if it has one."),
    Column("kv_write", "K/V\nwrite", "", "text", None, "Rule by which the K/V of a finished block are written.",
           value=lambda one: one.run.kv_write),
    Column("eos_stop", "end\nstop", "", "text", None, "How far decoding goes on after the end of the text."),
    Column("seeds", "seeds", "seeds", "count", None, "Seeds that the row is made from: means, and ratios of sums."),
    Column("target_passes", "target\npasses", "passes", "count", 1,
           "Passes of the target model, K/V writes included.", "low", lambda one: one.target_passes),
    Column("draft_passes", "draft\npasses", "passes", "count", 4, "Passes of the drafter.", "low",
           lambda one: one.run.totals.draft_passes),
    Column("kv_write_passes", "K/V\npasses", "passes", "count", None,
           "Target passes that only write the K/V of a finished block.", "low",
           lambda one: one.run.totals.kv_write_passes),
    Column("denoise_passes", "denoise\npasses", "passes", "count", None,
           "target_passes without kv_write_passes.", "low", lambda one: one.denoise_passes),
    Column("prefill_passes", "prefill\npasses", "passes", "count", None, "Target passes over the prompt.", "low",
           lambda one: one.run.totals.prefill_passes, varies=False),
    Column("tokens_per_pass", "tok/\npass", "tokens/pass", "figure", 8, "tokens / target_passes.", "high",
           lambda one: over(one.tokens, one.target_passes)),
    Column("tokens_per_denoise_pass", "tok/\ndenoise", "tokens/pass", "figure", None,
           "tokens / denoise_passes.", "high", lambda one: over(one.tokens, one.denoise_passes)),
    Column("speedup_passes", "speed-up\npasses", "", "ratio", 3,
           "Passes of ar / (target_passes + draft_passes), on the same stream.", "high",
           lambda one: over((one.plain or one).passes, one.passes)),
    Column("locked_errors", "locked\nerrors", "errors", "count", 0,
           "Final commits that are not the token the model would have chosen with the whole context.", "low",
           lambda one: one.run.totals.locked_errors),
    Column("forced_commits", "forced\ncommits", "commits", "count", 6,
           "Final commits that no unlock rule passed: only the best guess of a stuck pass.", "low",
           lambda one: one.run.totals.forced_commits),
    Column("answers_intact", "answers\nintact", "", "figure", None,
           "Chance that no tokens settled together clashed, by a workload's [quality]; accuracy is as much lower.",
           "high", lambda one: one.run.intact),
    Column("wasted_positions", "wasted\npositions", "positions", "count", None,
           "Positions computed after the end of the text.", "low", lambda one: one.run.wasted_positions),
    Column("ms_per_pass", "ms/\npass", "ms", "figure", 9, "1000 latency_s / (target_passes + draft_passes).", "low",
           lambda one: over(one.latency_s * 1e3, one.passes)),
    Column("latency_s", "latency", "s", "seconds", 7, "Time of all decoding passes, drafts included.", "low",
           lambda one: one.latency_s),
    Column("latency_low_s", "latency\nlow", "s", "seconds", None,
           "Low end of the middle 80 % of measurements of such passes.", "low", lambda one: one.price.low_s),
    Column("latency_high_s", "latency\nhigh", "s", "seconds", None,
           "High end of the middle 80 % of measurements of such passes.", "low", lambda one: one.price.high_s),
    Column("prefill_s", "prefill", "s", "seconds", None, "Time of the prefill passes, not part of latency_s.", "low",
           lambda one: one.prefill_s),
    Column("tokens_per_s", "tok/s", "tokens/s", "figure", 5, "tokens / latency_s, of one request.", "high",
           lambda one: over(one.tokens, one.latency_s)),
    Column("total_tokens_per_s", "tok/s\nin all", "tokens/s", "figure", None,
           "tokens_per_s times the batch size: what the machine writes.", "high",
           lambda one: over(one.tokens, one.latency_s, one.batch_size)),
    Column("speedup_time", "speed-up\ntime", "", "ratio", 2,
           "latency_s of ar / latency_s, on the same stream.", "high",
           lambda one: over((one.plain or one).latency_s, one.latency_s)),
    Column("bound", "bound", "", "text", 10,
           "What bounds most of the time: memory, compute, overhead, or fixed for a given price.",
           value=lambda one: one.price.bound),
)  # fmt: skip

QUALITY: Final = ("locked_errors", "forced_commits")
"""What speed was paid with. The first is shown wherever a speed is, the second wherever there is room."""

INTERVAL: Final = "_ci95"
"""Suffix of the half-width of the 95 % interval beside a figure over several seeds."""


def column(key: str) -> Column:
    """The column named ``key``.

    Raises :class:`~clover_sim.errors.UsageError` with the nearest name for an unknown one.
    """
    for entry in COLUMNS:
        if entry.key == key:
            return entry
    from clover_sim.errors import UsageError, suggest

    raise UsageError(f"unknown column {key!r}{suggest(key, [c.key for c in COLUMNS])}")


_SWAPPED = dict(zip(QUALITY, reversed(QUALITY), strict=True))
"""Rows name what was forced before what was wrong, as files of ``--resume`` always had it; tables the other way."""

OF_RUNS: Final = tuple(column(_SWAPPED.get(c.key, c.key)) for c in COLUMNS if c.value is not None)
"""The columns with a value of each run, in the order of the keys of a row."""

MEASURED: Final = tuple(c.key for c in OF_RUNS if c.numeric and c.varies)
"""Columns that vary with the seed; over several they are means, ratios those of the sums, each with ``<column>_ci95``
beside it."""
