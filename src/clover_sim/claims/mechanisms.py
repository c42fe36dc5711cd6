"""Claims about how the strategies behave, each put to the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clover_sim.agents.texts import open_text
from clover_sim.claims import Finding
from clover_sim.claims.bench import BLOCK, SEEDS, machine, pass_s, rounded, speed


def clover_shape(claim: Mapping[str, Any]) -> Finding:
    """The package's own model and default decoder."""
    from clover_sim.registry import build_strategy
    from clover_sim.specs import load_model

    model, decoder = load_model("clover-35b-a3b"), build_strategy(BLOCK)[1]
    found = {
        "params_b": model.params / 1e9, "active_b": model.active("with_head") / 1e9,
        "context_tokens": model.max_context_tokens, "block_size": decoder.block_size, "threshold": decoder.threshold,
        "experts": model.experts, "experts_per_token": model.experts_per_token,
    }  # fmt: skip
    implied = {key: claim[key] for key in ("params_b", "active_b", "context_tokens", "block_size", "threshold")}
    near = abs(found["params_b"] - 35) < 0.5 and abs(found["active_b"] - 3) < 0.5
    return Finding(
        implied, rounded(found), "follows" if near else "contradicts the shapes of Qwen3.6-35B-A3B",
        "From the published shapes of Qwen3.6-35B-A3B, whose weights Clover starts from; Clover's own configuration "
        "has not been read. The decoder never reopens a position, so commits are permanent by construction.",
    )  # fmt: skip


def throughput_not_latency(claim: Mapping[str, Any]) -> Finding:
    """The gain at one user and at many, passes in step."""
    on = machine("h200")
    plain, blocks = speed("ar", on), speed(BLOCK, on)
    per_pass = blocks.tokens_per_pass
    found: dict[str, Any] = {}
    crossing = None
    for users in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        gain = per_pass * pass_s(on, 1, users) / pass_s(on, 32, users)
        found[f"gain_at_{users}_users"] = gain
        if gain <= 1 and crossing is None:
            crossing = users
    found["gain_alone_whole_run"] = blocks.tokens_per_s / plain.tokens_per_s
    most = max(users for users in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if found[f"gain_at_{users}_users"] > 1)
    return Finding(
        {"gain_at_many_users_below_gain_alone": True}, rounded(found),
        "follows" if crossing else "contradicts the cost model up to 512 users",
        f"One user's block rides on weights that are read anyway. A few users already read most experts one by one, so "
        f"the gain first dips and recovers; then arithmetic is the limit and every position costs its own. Beyond "
        f"{most} users in step a block pass does less work a second than plain steps (clover-sim serve shows queues).",
    )  # fmt: skip


def spec_ceiling(claim: Mapping[str, Any]) -> Finding:
    """Errors and ceilings on the same text."""
    on = machine("h200")
    draft, blocks = speed("speculative:parallel_draft=true", on), speed(BLOCK, on)
    perfect = speed("speculative:parallel_draft=true,acceptance=1", on)
    found = {
        "draft_and_verify_tokens_per_pass": draft.tokens_per_pass,
        "draft_and_verify_if_all_accepted": perfect.tokens_per_pass, "block_tokens_per_pass": blocks.tokens_per_pass,
        "draft_and_verify_errors_per_1000": draft.errors_per_1000, "block_errors_per_1000": blocks.errors_per_1000,
    }  # fmt: skip
    implied = {"draft_and_verify_errors_per_1000": 0, "draft_and_verify_ceiling_tokens": 6, "block_ceiling_tokens": 32}
    holds = draft.errors_per_1000 == 0 and perfect.tokens_per_pass <= 6
    return Finding(
        implied, rounded(found), "follows" if holds else "contradicts the engine's counts",
        "Five drafts and the token after them are the most a verify pass can keep, a whole block the most a denoise "
        "pass can. A longer draft lifts the first ceiling (DFlash drafts 15), and no rule verifies what a block locked "
        "in.",
    )  # fmt: skip


def block_size_sweet_spot(claim: Mapping[str, Any]) -> Finding:
    """Speed and errors over the block size."""
    on = machine("h200")
    sizes = claim["block_sizes"]
    rows = {n: speed(f"block-diffusion:block_size={n}", on, "tool-call", 512) for n in sizes}
    plain = speed("ar", on)
    found: dict[str, Any] = {}
    for n, one in rows.items():
        found[f"block_{n}"] = {
            "tokens_per_pass": round(one.tokens_per_pass, 2),
            "speedup": round(one.tokens_per_s / plain.tokens_per_s, 2),
            "errors_per_1000": round(one.errors_per_1000, 1),
        }  # fmt: skip
    best = max(rows, key=lambda n: rows[n].tokens_per_s)
    found["fastest_block"] = best
    small = max(rows[n].tokens_per_s for n in (4, 8)) < rows[32].tokens_per_s
    large = rows[256].tokens_per_s < rows[32].tokens_per_s and rows[256].errors_per_1000 > rows[32].errors_per_1000
    if small and large and rows[32].tokens_per_s >= 0.95 * rows[best].tokens_per_s:
        verdict = "follows"
    elif small and best == 32:
        verdict = "contradicts the sweep: blocks of 256 are as fast as 32, or err no more"
    elif small:
        at = [found[f"block_{n}"] for n in (best, 32)]
        verdict = (
            f"possible if {best} is no less coherent than 32; simulated {at[0]['speedup']:.2f} and "
            f"{at[1]['speedup']:.2f} times, {at[0]['errors_per_1000']:.1f} and {at[1]['errors_per_1000']:.1f} errors"
        )
    else:
        verdict = "contradicts the sweep: blocks of 4 to 8 are as fast as 32"
    return Finding(
        {"small_blocks_are_slower": True, "large_blocks_err_more": True, "fastest_block": 32}, rounded(found), verdict,
        f"A block of 4 cannot commit more than 4 and pays its K/V write each time; one of 256 commits "
        f"{rows[256].tokens_per_pass / rows[32].tokens_per_pass:.1f} times what one of 32 does in a pass, costs more "
        f"than that and locks in more errors. The fastest here is {best}, and from 16 to 64 the "
        "curve is flat, as published (LLaDA2.0-mini: 2.44, 2.55, 2.47 tokens a pass at 16, 32, 64).",
    )  # fmt: skip


def skeleton_first(claim: Mapping[str, Any]) -> Finding:
    """In which pass of its block a token is settled, by class."""
    from clover_sim.engine import run
    from clover_sim.records import TokenClass
    from clover_sim.registry import build_strategy

    sums: dict[str, list[int]] = {}
    decoder = build_strategy(BLOCK)[1]
    for seed in SEEDS:
        stream = open_text("context:workload=tool-call", 512, seed)
        ledger = run(decoder, stream, kv_write="none").ledger
        first: dict[int, int] = {}
        for row in range(len(ledger)):
            first.setdefault(ledger.start[row], row)
        for position, row in enumerate(ledger.positions[0].row[: len(stream)]):
            order = row - first[ledger.start[row]] + 1
            sums.setdefault(TokenClass(stream.classes[position]).label, []).append(order)
    found: dict[str, Any] = {}
    for label, orders in sorted(sums.items()):
        found[f"mean_pass_of_{label}"] = sum(orders) / len(orders)
        found[f"in_first_pass_{label}"] = sum(o == 1 for o in orders) / len(orders)
    first_most = found["mean_pass_of_structural"] < min(found["mean_pass_of_common"], found["mean_pass_of_rare"])
    if first_most and found["in_first_pass_structural"] > 0.5:
        verdict = "follows"
    elif first_most:
        verdict = (
            "possible if the model is surer of structure than models of its kind are; simulated "
            f"{found['in_first_pass_structural']:.0%} of it in the first pass"
        )
    else:
        verdict = "contradicts the tool-call workload"
    share, others = found["in_first_pass_structural"], found["in_first_pass_rare"]
    return Finding(
        {"in_first_pass_structural": "most"}, rounded(found), verdict,
        f"In the fitted workload structure comes first more often, not always: {share:.0%} of it is settled in the "
        f"first pass of its block, of rare tokens {others:.0%}. The order is an input (how sure a model is on each "
        "class), and the plain tool-call profile puts all structure into the first pass.",
    )  # fmt: skip
