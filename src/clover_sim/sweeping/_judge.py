"""What stands out in a sweep, and what only seems to: figures by name, bars, the Pareto front, paired differences."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.columns import COLUMNS, INTERVAL, MEASURED
from clover_sim.errors import UsageError, suggest
from clover_sim.stats import ci95, mean

Row = Mapping[str, Any]
Samples = Mapping[str, Sequence[float | None]]

USUAL_WHERE = "locked_errors_per_1k<=10"
"""What may be best where nobody says what: one wrong token in a hundred. ASSUMPTION: a convention, from no measurement;
``--where`` sets another."""

MOST_PAIRS = 20_000
"""Pairs of rows that are compared to say how sure the front is: about half a second."""

PER_1K = "_per_1k"
"""Suffix for a count in each thousand tokens, so that texts of different lengths can be compared."""

_COUNTS = tuple(c.key for c in COLUMNS if c.form == "count" and c.key in MEASURED)
_HIGH = frozenset(c.key for c in COLUMNS if c.better == "high")
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip


def check_metric(key: str, what: str) -> str:
    """The key of a figure that rows have, given as such or as the heading of a table; else :class:`UsageError`.

    >>> check_metric("speedup-time", "best"), check_metric("tok/s", "best"), check_metric("locked errors/1k", "best")
    ('speedup_time', 'tokens_per_s', 'locked_errors_per_1k')
    """
    known = [*MEASURED, *(count + PER_1K for count in _COUNTS)]
    words = key.strip()
    key = words.replace("-", "_")
    if key in known:
        return key
    headings = {c.heading: c.key for c in COLUMNS if c.key in MEASURED}
    headings |= {f"{heading}/1k": of + PER_1K for heading, of in headings.items() if of in _COUNTS}
    if (found := headings.get(" ".join(words.lower().split()))) is not None:
        return found
    hint = suggest(key, known)
    if "did you mean" not in hint:
        hint = suggest(words, headings)
        usual = [*MEASURED, "locked_errors" + PER_1K, "forced_commits" + PER_1K]
        hint = hint if "did you mean" in hint else f"; counts may end in {PER_1K}; known: {', '.join(usual)}"
    raise UsageError(f"{what} {words!r} is not a figure of a row{hint}")


def more_is_better(key: str) -> bool:
    """Whether a larger value of the figure is better."""
    return key.removesuffix(PER_1K) in _HIGH


def is_speed(key: str) -> bool:
    """Whether the figure says how fast something is."""
    return key in _HIGH or key == "latency_s"


def figure(row: Row, key: str) -> float | None:
    """The value of a figure in a row, ``None`` where it has none."""
    value: float | None = row.get(key.removesuffix(PER_1K))
    if value is None or not key.endswith(PER_1K):
        return value
    return 1000.0 * value / float(row["tokens"])


def half_width(row: Row, key: str) -> float | None:
    """Half the width of the 95 % interval of a figure, ``None`` with one seed."""
    value: float | None = row.get(key.removesuffix(PER_1K) + INTERVAL)
    if value is None or not key.endswith(PER_1K):
        return value
    return 1000.0 * value / float(row["tokens"])


class Bar(NamedTuple):
    """A condition on the rows that ``best`` and the Pareto front choose from."""

    key: str
    test: str
    value: float

    def __str__(self) -> str:
        return f"{self.key}{self.test}{self.value:g}"

    def of(self, row: Row) -> float | None:
        """What is tested of a row: its figure, else an option or a varied setting that is a number."""
        value = _number(figure(row, self.key))
        if value is None:
            options: Any = {**(row.get("options") or {}), **(row.get("varied") or {})}
            value = _number(options.get(self.key))
        return value

    def holds(self, row: Row) -> bool:
        """Whether a row meets the condition; one without the figure does not."""
        value = self.of(row)
        return value is not None and _TESTS[self.test](value, self.value)


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def parse_where(text: str, axes: Sequence[str] = ()) -> Bar:
    """A condition such as ``locked_errors_per_1k<=1``; ``axes`` are varied settings, which may stand there too.

    >>> parse_where("locked_errors_per_1k <= 1")
    Bar(key='locked_errors_per_1k', test='<=', value=1.0)
    """
    for test in _TESTS:
        key, found, value = text.partition(test)
        if not found:
            continue
        number = _number(value.strip()) if value.isascii() and "_" not in value else None
        if number is None or number != number or abs(number) == float("inf"):
            raise UsageError(f"where {text!r}: {value.strip()!r} is not a finite number")
        name = key.strip().replace("-", "_")
        return Bar(name if name in axes else check_metric(key, f"where {text!r}:"), test, number)
    raise UsageError(
        f"where {text!r}: expected FIGURE<=VALUE (or >=, <, >, ==), as in locked_errors_per_1k<=1, or only none for "
        "no condition"
    )


def conditions(
    where: Sequence[str] | str | None, axes: Sequence[str] = ()
) -> tuple[tuple[Bar, ...], Bar | None]:  # fmt: skip
    """The conditions that were asked for, and where none was the usual one, on the best alone.

    The fastest row of all has the most errors, so without a word only rows of :data:`USUAL_WHERE` may be best; ``none``
    or an empty sequence lifts that. The front shows what more errors would buy.
    """
    if where is None:
        return (), parse_where(USUAL_WHERE)
    texts = [where] if isinstance(where, str) else list(where)
    if [text.strip().lower() for text in texts] == ["none"]:
        texts = []
    return tuple(parse_where(text, axes) for text in texts), None


def pareto(rows: Sequence[Row], among: Sequence[int], speed: str, errors: str) -> list[int]:
    """Indices of the rows that no other beats in one figure without losing in the other, fastest first.

    Of rows that are equal in both the first stays.
    """
    fast, few = (1 if more_is_better(speed) else -1), (1 if more_is_better(errors) else -1)
    points = []
    for i in among:
        x, y = figure(rows[i], speed), figure(rows[i], errors)
        if x is not None and y is not None:
            points.append((-fast * x, -few * y, i))
    front: list[int] = []
    least = float("inf")
    for _, y, i in sorted(points):
        if y < least:
            least = y
            front.append(i)
    return front


def near_front(
    rows: Sequence[Row], among: Sequence[int], front: Sequence[int], figures: tuple[str, str],
    samples: Mapping[int, Samples],
) -> int | None:  # fmt: skip
    """How many rows off the front the seeds cannot tell from a row of it that beats them.

    ``None`` with one seed, or where there would be too many pairs to look at.
    """
    if not samples or len(among) * len(front) > MOST_PAIRS:
        return None
    count = 0
    for i in among:
        if i in front or any(figure(rows[i], key) is None for key in figures):
            continue
        beaten = False
        for f in front:
            gaps = [difference(key, f, i, rows, samples) for key in figures]
            signs = [1 if more_is_better(key) else -1 for key in figures]
            if any(gap is None for gap in gaps):
                return None  # this figure is not kept seed by seed
            sure = [sign * gap[0] > gap[1] for gap, sign in zip(gaps, signs, strict=True) if gap]
            worse = [sign * gap[0] < 0 for gap, sign in zip(gaps, signs, strict=True) if gap]
            if any(sure) and not any(worse):
                beaten = True
                break
        count += not beaten
    return count


def best(rows: Sequence[Row], among: Sequence[int], key: str) -> int | None:
    """Index of the row with the best value of a figure; the first of equals."""
    sign = -1 if more_is_better(key) else 1
    values = [(sign * value, i) for i in among if (value := figure(rows[i], key)) is not None]
    return min(values)[1] if values else None


def places(rows: Sequence[Row], axes: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Indices of the rows by what the ``axes`` are in them, in the order of the rows.

    >>> places([{"varied": {"gpu": "h100"}}, {"varied": {"gpu": "b200"}}, {"varied": {"gpu": "h100"}}], ["gpu"])
    {('h100',): [0, 2], ('b200',): [1]}
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for i, row in enumerate(rows):
        found.setdefault(tuple(row["varied"].get(axis) for axis in axes), []).append(i)
    return found


def difference(
    key: str, a: int, b: int, rows: Sequence[Row], samples: Mapping[int, Samples]
) -> tuple[float, float] | None:
    """Mean and half-width of the 95 % interval of ``a - b``, paired by seed; ``None`` where it cannot be said.

    Every cell meets the same streams, so the difference varies much less than either value. Of ratios the samples are
    linearised (:func:`clover_sim.stats.linearised`): the mean is the difference of the ratios of sums.
    """
    name = key.removesuffix(PER_1K)
    one, other = samples.get(a, {}).get(name), samples.get(b, {}).get(name)
    if not one or not other or len(one) != len(other) or len(one) < 2 or None in one or None in other:
        return None
    scale = (1000 / rows[a]["tokens"], 1000 / rows[b]["tokens"]) if key.endswith(PER_1K) else (1.0, 1.0)
    gaps = [x * scale[0] - y * scale[1] for x, y in zip(one, other, strict=True)]  # type: ignore[operator]
    return mean(gaps), ci95(gaps)


def indistinct(
    key: str, chosen: int, among: Sequence[int], rows: Sequence[Row], samples: Mapping[int, Samples]
) -> list[int] | None:
    """Rows whose difference from the ``chosen`` one has an interval that holds 0: they may be as good.

    ``None`` where the figure is not kept seed by seed, so that nothing can be said.
    """
    if not samples.get(chosen, {}).get(key.removesuffix(PER_1K)):
        return None
    found = []
    for i in among:
        if i == chosen:
            continue
        gap = difference(key, i, chosen, rows, samples)
        if gap is not None and abs(gap[0]) <= gap[1]:
            found.append(i)
    return found
