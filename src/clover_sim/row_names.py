"""Names of the rows of a result: a strategy, with those options in which rows of one name differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_LENGTH, _WITH_ROOT = "num_speculative_tokens", "speculative_num_draft_tokens"


def option_text(value: Any) -> str:
    """The value of an option as it is written in a strategy, not yet made harmless for a terminal.

    >>> option_text(True), option_text(None), option_text((0.9, 0.8)), option_text("ge")
    ('true', 'none', '[0.9,0.8]', 'ge')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(option_text(v) for v in value) + "]"
    return str(value)


def said_once(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without the second spelling of the draft length, which is the first with the root counted.

    >>> said_once({"num_speculative_tokens": 5, "speculative_num_draft_tokens": 6, "acceptance": 0.7})
    {'num_speculative_tokens': 5, 'acceptance': 0.7}
    """
    k = options.get(_LENGTH)
    twice = isinstance(k, int) and options.get(_WITH_ROOT) == k + 1
    return {key: value for key, value in options.items() if not (twice and key == _WITH_ROOT)}


def varying(rows: Sequence[Row]) -> dict[str, list[str]]:
    """For each strategy name, the options in which its rows differ."""
    seen: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        seen.setdefault(row["strategy"], []).append(said_once(row.get("options") or {}))
    found = {}
    for name, sets in seen.items():
        keys = dict.fromkeys(key for options in sets for key in options)
        found[name] = [key for key in keys if any(options.get(key) != sets[0].get(key) for options in sets)]
    return found


def labels(rows: Sequence[Row]) -> list[str]:
    """A name for the strategy of each row, with those options in which rows of one name differ.

    >>> one = {"strategy": "block-diffusion", "options": {"block_size": 32, "threshold": 0.9}}
    >>> two = {"strategy": "block-diffusion", "options": {"block_size": 32, "threshold": 0.95}}
    >>> labels([{"strategy": "ar", "options": {}}, one, two])
    ['ar', 'block-diffusion:threshold=0.9', 'block-diffusion:threshold=0.95']
    """
    differing = varying(rows)
    found = []
    for row in rows:
        keys, options = differing[row["strategy"]], row.get("options") or {}
        text = ",".join(f"{k}={option_text(v)}" for k, v in options.items() if k in keys)
        found.append(row["strategy"] + (f":{text}" if text else ""))
    return found


def some_of(rows: Sequence[Row], chosen: Collection[int]) -> list[str]:
    """Names of the rows at the indices ``chosen``: a bare one where every row of that name is among them.

    >>> rows = [{"strategy": "a", "options": {"t": t}} for t in (1, 2)]
    >>> some_of(rows, [0]), some_of(rows, [0, 1])
    (['a:t=1'], ['a'])
    """
    full = {row["strategy"] for row in rows} - {row["strategy"] for i, row in enumerate(rows) if i not in chosen}
    names = labels(rows)
    return list(dict.fromkeys(rows[i]["strategy"] if rows[i]["strategy"] in full else names[i] for i in chosen))


def joined(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
