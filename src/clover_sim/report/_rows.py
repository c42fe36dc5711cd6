"""What the formats for people share: names of strategies, what is the same everywhere, which columns to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clover_sim import row_names
from clover_sim.columns import COLUMNS, QUALITY, Column, column
from clover_sim.report import Look
from clover_sim.report._figures import option_text, said_once
from clover_sim.report._text import clean

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

Row = Mapping[str, Any]
BASELINE = "ar"

_RULES = {"kv_write": "K/V write", "eos_stop": "end stop"}
"""Rules that every row states: named once in the heading when all agree, shown as a column when they differ."""


def shared(rows: Sequence[Row], key: str) -> bool:
    """Whether all rows agree on ``key``."""
    return all(row.get(key) == rows[0].get(key) for row in rows)


def groups(rows: Sequence[Row], look: Look) -> list[tuple[str, list[Row]]]:
    """A heading and rows for each stream, in their order; the heading is empty when there is but one stream.

    It says the tokens where every stream has one count.
    """
    if not rows or shared(rows, "stream"):
        return [("", [*rows])]
    by_stream: dict[Any, list[Row]] = {}
    for row in rows:
        by_stream.setdefault(row.get("stream"), []).append(row)
    tokens = tokens_lifted(rows)
    return [
        (clean(str(name)) + (look.dot + count(part[0]["tokens"], "token") if tokens else ""), part)
        for name, part in by_stream.items()
    ]


def tokens_lifted(rows: Sequence[Row]) -> bool:
    """Whether every stream has a single token count, which then stands in a heading and not in a column."""
    by_stream: dict[Any, Any] = {}
    return bool(rows) and all(by_stream.setdefault(row.get("stream"), row["tokens"]) == row["tokens"] for row in rows)


def labels(rows: Sequence[Row]) -> list[str]:
    """A name for the strategy of each row, with those options in which rows of one name differ.

    >>> one = {"strategy": "block-diffusion", "options": {"block_size": 32, "threshold": 0.9}}
    >>> two = {"strategy": "block-diffusion", "options": {"block_size": 32, "threshold": 0.95}}
    >>> labels([{"strategy": "ar", "options": {}}, one, two])
    ['ar', 'block-diffusion:threshold=0.9', 'block-diffusion:threshold=0.95']
    """
    return [clean(name) for name in row_names.labels(rows)]


def legend(rows: Sequence[Row]) -> list[str]:
    """For each strategy with options, those that its label does not say: every setting can be read off the page."""
    varying, found = row_names.varying(rows), {}
    for row in rows:
        stated = said_once(row.get("options") or {}).items()
        options = {k: v for k, v in stated if k not in varying[row["strategy"]] and (v is not None or k == "drafter")}
        drafter = row.get("drafter")
        if drafter and "drafter" not in varying[row["strategy"]]:
            options.setdefault("drafter", drafter.get("model"))
        if options:
            found[row["strategy"]] = options
    return [f"{clean(n)}: " + ", ".join(_stated(k, v) for k, v in o.items()) for n, o in found.items()]


def _stated(key: str, value: Any) -> str:
    """An option; a draft length with its other spelling."""
    text = f"{clean(key)}={option_text(value)}"
    if key == "num_speculative_tokens" and isinstance(value, int):
        return f"{text} (speculative_num_draft_tokens={value + 1} as SGLang counts, root included)"
    return text


def heading(result: Result, look: Look) -> list[str]:
    """What holds for all rows, in short parts: stream and tokens, machine, rules, seeds."""
    rows = result.rows
    parts = []
    if rows and shared(rows, "stream"):
        parts.append(clean(str(rows[0].get("stream"))) + ("" if getattr(result, "inputs", ()) else " stream"))
        if tokens_lifted(rows):
            parts.append(count(rows[0]["tokens"], "token"))
    parts += _machine(result.settings, look)
    for key, name in _RULES.items():
        if key == "kv_write" and rows and rows[0].get(key) and shared(rows, key):
            parts.append(f"{name} {clean(str(rows[0][key]))}")
    seeds = rows[0].get("seeds") or 0 if rows else 0
    if seeds > 1 and shared(rows, "seeds"):
        parts.append(f"mean of {seeds} seeds, 95% interval")
    return parts


def _machine(settings: Mapping[str, Any], look: Look) -> list[str]:
    """Model and card, then precision, engine, batch, cost model and prompt."""
    parts = []
    cards = settings.get("tensor_parallel_size") or 1
    on = f" on {cards} {look.times} " if cards > 1 else " on "
    if settings.get("model"):
        parts.append(clean(str(settings["model"])) + (on + clean(str(settings["gpu"])) if settings.get("gpu") else ""))
    for key, text in (("precision", "{}"), ("engine", "{} engine"), ("batch_size", "batch {}"), ("cost", "{} cost")):
        if settings.get(key) not in (None, ""):
            parts.append(text.format(clean(str(settings[key]))))
    if settings.get("prompt_tokens"):
        parts.append(f"prompt {count(settings['prompt_tokens'], 'token')}")
    return parts


def count(number: float, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "token"), count(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def usual_columns(result: Result, look: Look) -> list[Column]:
    """The columns to show, in the order of the list: those asked for, else the usual ones, and quality with both."""
    rows = result.rows
    asked = {column(key).key for key in look.columns}
    keys = asked | {"strategy", QUALITY[0]}
    if not asked:
        keys |= {c.key for c in COLUMNS if c.priority is not None}
        keys |= {key for key in (*_RULES, "seeds") if not shared(rows, key)}
    if tokens_lifted(rows):
        keys -= {"tokens"} - asked
    else:
        keys |= {"tokens"}
    some = [c for c in COLUMNS if c.key in keys]
    return [c for c in some if c.key in asked or any(row.get(c.key) is not None for row in rows)]
