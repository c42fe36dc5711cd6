"""Published claims put to the test: what each implies, what the simulator gives, and a verdict.

The figures stand in ``data/claims``; a check is a function of this package, named in :data:`_CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from clover_sim.errors import InputError, UsageError, suggest

SCHEMA = "clover-sim/claims/1"
VERDICTS = ("follows", "possible if", "contradicts", "cannot be tested here")
"""How a verdict begins."""

_HOMES = {
    "arithmetic": ("floor-1ms", "agent-30s", "success-compounding", "passes-table", "joint-decisions"),
    "speeds": ("clover-h200", "clover-gb300", "qwen-dflash2", "clover-5070ti", "five-to-ten", "naive-same-cost",
               "sigmaz-2000"),
    "tasks": ("windtunnel", "atc-five", "atc-twenty", "map-search", "solar-demo", "task-cost"),
    "mechanisms": ("clover-shape", "throughput-not-latency", "spec-ceiling", "block-size-sweet-spot",
                   "skeleton-first"),
}  # fmt: skip
_CHECKS = {name: home for home, names in _HOMES.items() for name in names}


class Finding(NamedTuple):
    """What came of one claim.

    Args:
        implied: figures that must hold if the claim does. simulated: the simulator's own. Both by name, with units.
        verdict: begins with one of :data:`VERDICTS`; "possible if" says what is simulated too. why: one or two
            sentences.
    """

    implied: Mapping[str, Any]
    simulated: Mapping[str, Any]
    verdict: str
    why: str


def load_claims() -> list[dict[str, Any]]:
    """The claims as tables: ``id``, ``kind``, ``claim`` and their figures."""
    import os

    from clover_sim.specs.load import DATA, read_table

    path = os.path.join(DATA, "claims", "clover.toml")
    table = read_table(path)
    claims = table.get("claims")
    if not isinstance(claims, list):
        raise InputError(f"{path}: expected tables [[claims]]")
    return [{**claim, "source": table["source"]} for claim in claims]


def check_claim(claim: Mapping[str, Any]) -> Finding:
    """Put one claim to the test."""
    name = claim["id"]
    if claim["kind"] == "quality":
        return Finding(
            {}, {}, "cannot be tested here",
            "A property of the weights and of the text they were asked for: shown as stated, never simulated.",
        )  # fmt: skip
    module = import_module(f"{__name__}.{_CHECKS[name]}")
    check: Callable[[Mapping[str, Any]], Finding] = getattr(module, name.replace("-", "_"))
    return check(claim)


def check_claims(progress: Callable[[int, int], None] | None = None, only: str | None = None) -> dict[str, Any]:
    """Every claim with its verdict: the document of ``clover-sim validate --claims --format json``.

    Args:
        progress: called with claims done and to do. only: the ``id`` of one claim, without the others.

    Raises:
        UsageError: there is no claim of that name.

    >>> found = check_claims()["claims"]
    >>> all(row["verdict"].startswith(VERDICTS) for row in found)
    True
    """
    claims = load_claims()
    if only is not None:
        names = [claim["id"] for claim in claims]
        if only not in names:
            raise UsageError(f"unknown claim {only!r}{suggest(only, names)}")
        claims = [claim for claim in claims if claim["id"] == only]
    rows = []
    for done, claim in enumerate(claims):
        if progress is not None:
            progress(done, len(claims))
        found = check_claim(claim)
        rows.append({
            "id": claim["id"], "claim": claim["claim"], "kind": claim["kind"], "implied": dict(found.implied),
            "simulated": dict(found.simulated), "verdict": found.verdict, "why": found.why, "source": claim["source"],
        })  # fmt: skip
    return {"schema": SCHEMA, "claims": rows}
