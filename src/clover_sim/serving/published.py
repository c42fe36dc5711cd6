"""Published speeds over the number of users, against what the server predicts."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import fsum
from typing import Any

SCHEMA = "clover-sim/serve-published/1"
TOLERANCE = 0.2
_POOL = 120


def check_published(progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Every curve of ``data/serving/curves.toml``, predicted: the document of ``clover-sim serve --published``.

    Each point has ``published`` and ``predicted`` (a gain over plain decoding, or the rise over one user), ``error``,
    ``within`` 20 %, and for gains whether both lie on the same side of 1.
    """
    from clover_sim.specs.load import DATA, read_table

    curves = read_table(os.path.join(DATA, "serving", "curves.toml"))["curves"]
    found = []
    for number, curve in enumerate(curves):
        if progress is not None:
            progress(number, len(curves))
        found.append(_curve(curve))
    points = [p for c in found for p in c["points"]]
    sided = [p for p in points if p["same_side"] is not None]
    return {
        "schema": SCHEMA, "tolerance": TOLERANCE, "curves": found,
        "points": len(points), "within": sum(p["within"] for p in points),
        "gains": len(sided), "same_side": sum(p["same_side"] for p in sided),
    }  # fmt: skip


def _curve(curve: dict[str, Any]) -> dict[str, Any]:
    from clover_sim.agents.texts import DEFAULT_TEXT
    from clover_sim.cost import Machine, Roofline
    from clover_sim.serving.run import Traffic, serve
    from clover_sim.specs import load_engine, load_hardware, load_model

    cost = Roofline(Machine(load_model(curve["model"]), load_hardware(curve["gpu"]), load_engine(curve["engine"])))
    gains = curve["measure"] == "gain"
    strategy, text = curve["strategy"], DEFAULT_TEXT
    if gains:
        k = curve["num_speculative_tokens"]
        strategy += f":num_speculative_tokens={k},acceptance={acceptance_of(curve['accepted'], k):.4f}"
    else:
        text = "context:workload=llada2.0-mini"
    users = tuple(curve["users"])
    low, high = curve["output_tokens"]
    traffic = Traffic(1, 1.0, prompt_tokens=curve["prompt_tokens"], output_tokens=(low, high), users_ladder=users)
    strategies = ["ar", strategy] if gains else [strategy]
    ladder = serve(strategies, traffic, cost=cost, text=text, pool=_POOL)["ladder"]
    speeds = [[s["tokens_per_s"] for s in row["strategies"].values()] for row in ladder]
    points = []
    for n, speed, stated in zip(users, speeds, curve["published"], strict=True):
        predicted = speed[1] / speed[0] if gains else speed[0] / speeds[0][0]
        published = stated if gains else stated / curve["published"][0]
        error = predicted / published - 1
        points.append({
            "users": n, "published": published, "predicted": predicted, "error": error,
            "within": abs(error) <= TOLERANCE, "same_side": (predicted > 1) == (published > 1) if gains else None,
        })  # fmt: skip
    return {key: curve[key] for key in ("name", "measure", "source")} | {
        "note": curve.get("note", ""), "points": points,
    }  # fmt: skip


def acceptance_of(accepted: float, k: int) -> float:
    """The conditional acceptance, the same for each draft, at which a cycle of ``k`` drafts keeps ``accepted`` tokens.

    >>> round(acceptance_of(2.79, 3), 3)
    0.763
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fsum(middle**i for i in range(k + 1)) < accepted else (low, middle)
    return low
