"""Claims that are sums: they must come out exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clover_sim.claims import Finding


def _verdict(same: bool) -> str:
    return "follows" if same else "contradicts its own figures"


def floor_1ms(claim: Mapping[str, Any]) -> Finding:
    """Bytes of the active weights over the bandwidth."""
    from clover_sim.cost import Floor, Machine, price_groups
    from clover_sim.records import Kind, PassShape
    from clover_sim.specs import bare_hardware, bare_model, load_engine

    bits = {1: "fp8", 2: "bf16"}[claim["bytes_per_param"]]
    machine = Machine(
        bare_model(35e9, claim["active_params_b"] * 1e9), bare_hardware(claim["bandwidth_tb_s"]), load_engine("ideal"),
        precision=bits,
    )  # fmt: skip
    run = price_groups(Floor(machine), [(PassShape(Kind.DECODE, (1,)), claim["tokens"])])
    found = {"pass_ms": run.latency_s / run.passes * 1e3, "total_s": run.latency_s}
    implied = {key: claim[key] for key in found}
    return Finding(
        implied, found, _verdict(found == implied),
        "A bound, not a speed: scales, cache, attention and the engine's own time come on top.",
    )  # fmt: skip


def agent_30s(claim: Mapping[str, Any]) -> Finding:
    """Passes of ten turns at a given time each, counted by the engine."""
    from clover_sim.cost import Fixed, price_groups
    from clover_sim.engine import run
    from clover_sim.registry import build_strategy
    from clover_sim.streams.profiles import open_stream

    decoder = build_strategy("ar")[1]
    groups = []
    for _ in range(claim["turns"]):
        groups += run(decoder, open_stream("reference", claim["tokens_per_turn"])).ledger.shapes()
    priced = price_groups(Fixed(claim["pass_ms"] / 1000), groups)
    found = {"passes": priced.passes, "total_s": priced.latency_s}
    implied = {key: claim[key] for key in found}
    return Finding(
        implied, found, _verdict(found == implied),
        "Decoding alone: prompts, tools and retries are not in it (clover-sim agent adds them).",
    )  # fmt: skip


def success_compounding(claim: Mapping[str, Any]) -> Finding:
    """Independent steps multiply."""
    p, n = claim["step_success"], claim["steps"]
    found = {"steps_per_failure": 1 / (1 - p), "all_succeed": p**n}
    implied = {"steps_per_failure": claim["steps_per_failure"], "all_succeed": claim["all_succeed"]}
    same = round(found["steps_per_failure"], 1) == 71.4 and round(found["all_succeed"], 3) == implied["all_succeed"]
    return Finding(
        implied, found, _verdict(same),
        "If steps fail independently and a failed one is not tried again; one retry a step lifts 75.4 % to 99.6 %.",
    )  # fmt: skip


def passes_table(claim: Mapping[str, Any]) -> Finding:
    """The published table, run again."""
    from clover_sim.cost import Fixed
    from clover_sim.engine import run
    from clover_sim.prepare import DEFAULT_STRATEGIES, make_strategy
    from clover_sim.streams.profiles import open_stream

    found: dict[str, Any] = {}
    for spec, key in zip(DEFAULT_STRATEGIES, ("ar", "speculative", "block_diffusion"), strict=True):
        decoder = make_strategy(spec, Fixed(0.001)).decoder
        totals = [run(decoder, open_stream("reference", n)).totals for n in claim["tokens"]]
        found[key] = [t.target_passes + t.draft_passes for t in totals]
        if key == "block_diffusion":
            found["locked_errors"] = [t.locked_errors for t in totals]
    implied = {key: claim[key] for key in found}
    return Finding(
        implied, found, _verdict(found == implied),
        "Counts of the published 24-word stream, on which a block's K/V write is not counted; real texts need more.",
    )  # fmt: skip


def joint_decisions(claim: Mapping[str, Any]) -> Finding:
    """Rates per question from rates per group."""
    from clover_sim.agents.decisions import implied_correlation, implied_field_success

    n = claim["questions"] / claim["groups"]
    joint, single, jev = claim["group_rates"]
    rates = [implied_field_success(g, n) for g in (joint, single, jev)]
    found = {
        "questions_per_group": n, "per_question": [round(r, 3) for r in rates],
        "correlation_that_explains_it": implied_correlation(joint, rates[1], n),
    }  # fmt: skip
    implied = {"questions_per_group": claim["questions_per_group"], "per_question": claim["per_question"]}
    return Finding(
        implied, found, _verdict(all(found[key] == value for key, value in implied.items())),
        "Answering jointly need not make any single answer better: the same 90.7 % a question gives 80.4 % of groups "
        "if answers stand or fall together in 64 % of the groups.",
    )  # fmt: skip
