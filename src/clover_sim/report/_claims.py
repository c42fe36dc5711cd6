"""The table of ``clover-sim validate --claims``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.report import PLAIN, Look
from clover_sim.report._text import clean, display_width, pad, wrap

_COLOURS = {"follows": "32", "possible": "33", "contradicts": "31", "cannot": "2"}


_WORDS = {
    "follows": "follow from the model", "possible": "possible under a condition",
    "contradicts": "in contradiction to it", "cannot": "that cannot be tested here",
}  # fmt: skip
_MOST_LINES = 2


def render_claims(document: Mapping[str, Any], look: Look = PLAIN) -> str:
    """Of several claims a line or two each, name and verdict, and a count of verdicts; one claim whole."""
    claims = document["claims"]
    return _whole(claims[0], look) if len(claims) == 1 else _all(claims, look)


def _all(claims: Sequence[Mapping[str, Any]], look: Look) -> str:
    names = max(display_width(clean(row["id"])) for row in claims)
    lines: list[str] = []
    counts: dict[str, int] = {}
    for row in claims:
        first = row["verdict"].split(" ", 1)[0]
        counts[first] = counts.get(first, 0) + 1
        indent = " " * (names + 2)
        told = wrap(f"{pad(clean(row['id']), names)}  {clean(row['verdict'])}", look.width, indent)
        if len(told) > _MOST_LINES and look.width:
            told = [*told[: _MOST_LINES - 1], f"{told[_MOST_LINES - 1][: look.width - 4].rstrip(' ,;')} ..."]
        lines += [look.paint(_COLOURS.get(first, "1"), line) for line in told]
    said = ", ".join(f"{n} {_WORDS.get(first, first)}" for first, n in counts.items())
    lines += ["", *wrap(f"{len(claims)} claims: {said}. One of them whole, with its figures: --claims NAME, as in "
                        f"--claims {claims[0]['id']}. Source: {claims[0]['source']}.", look.width)]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _whole(row: Mapping[str, Any], look: Look) -> str:
    verdict, indent = row["verdict"], " " * 13
    lines = [look.paint("1", clean(row["id"])), *wrap(f"  {clean(row['claim'])}", look.width, "  ")]
    for name, text in (("implied", _figures(row["implied"])), ("simulated", _figures(row["simulated"]))):
        if text:
            lines += wrap(f"  {name + ':':10} {text}", look.width, indent)
    colour = _COLOURS.get(verdict.split(" ", 1)[0], "1")
    lines += [look.paint(colour, line) for line in wrap(f"  {'verdict:':10} {clean(verdict)}", look.width, indent)]
    for name in ("why", "source"):
        lines += wrap(f"  {name + ':':10} {clean(row[name])}", look.width, indent)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def claim_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One flat dictionary a claim, the figures in words."""
    told = ("implied", "simulated")
    return [{k: _figures(v) if k in told else v for k, v in row.items()} for row in document["claims"]]


def _figures(figures: Mapping[str, Any]) -> str:
    return "; ".join(f"{clean(str(name)).replace('_', ' ')} {_value(value)}" for name, value in figures.items())


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{str(k).replace('_', ' ')} {_value(v)}" for k, v in value.items()) + ")"
    if isinstance(value, (list, tuple)):
        return "/".join(_value(v) for v in value)
    return clean(str(value))
