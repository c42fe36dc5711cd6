"""The table of ``clover-sim validate --claims``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clover_sim.report import PLAIN, Look
from clover_sim.report._text import clean, wrap

_COLOURS = {"follows": "32", "possible": "33", "contradicts": "31", "cannot": "2"}


def render_claims(document: Mapping[str, Any], look: Look = PLAIN) -> str:
    """One block a claim: the claim, the verdict, what it implies, what is simulated, why; and a count of verdicts."""
    lines: list[str] = []
    counts: dict[str, int] = {}
    for row in document["claims"]:
        verdict = row["verdict"]
        first = verdict.split(" ", 1)[0]
        counts[first] = counts.get(first, 0) + 1
        lines.append(look.paint("1", clean(row["id"])))
        lines += wrap(f"  {clean(row['claim'])}", look.width, "  ")
        for name, text in (("implied", _figures(row["implied"])), ("simulated", _figures(row["simulated"]))):
            if text:
                lines += wrap(f"  {name + ':':10} {text}", look.width, " " * 13)
        verdicts = wrap(f"  {'verdict:':10} {clean(verdict)}", look.width, " " * 13)
        lines += [look.paint(_COLOURS.get(first, "1"), line) for line in verdicts]
        lines += [*wrap(f"  {'why:':10} {clean(row['why'])}", look.width, " " * 13), ""]
    words = {"follows": "follow from the model", "possible": "possible under a condition",
             "contradicts": "in contradiction to it", "cannot": "that cannot be tested here"}  # fmt: skip
    said = ", ".join(f"{n} {words.get(first, first)}" for first, n in counts.items())
    lines += wrap(f"{len(document['claims'])} claims: {said}. Source: {document['claims'][0]['source']}.", look.width)
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
