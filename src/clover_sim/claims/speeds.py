"""Claims of tokens a second: the tokens per pass and the pass time that they need, against the simulator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clover_sim.claims import Finding
from clover_sim.claims.bench import BLOCK, DFLASH2, machine, pass_s, rounded, speed

PUBLISHED_TOKENS_PER_PASS = 12.3
"""The most that a block-32 model is reported to reach on any task: LLaDA2.1-mini, speed mode, HumanEval+ (LLaDA2.1
technical report, table 2). Its plain mode reaches 7.8 there and 3.1 on average."""

PUBLISHED_DFLASH2_TOKENS = (3.49, 5.07)
"""Mean tokens a cycle of DFlash2 on Qwen3.5-2B, over all tasks and on mathematics (z-lab/dflash)."""


def clover_h200(claim: Mapping[str, Any]) -> Finding:
    """Block diffusion on one card, in two precisions."""
    return _whole_run(claim)


def clover_gb300(claim: Mapping[str, Any]) -> Finding:
    """The same on another card."""
    return _whole_run(claim)


def _whole_run(claim: Mapping[str, Any]) -> Finding:
    stated = claim["tokens_per_s"]
    implied: dict[str, Any] = {}
    found: dict[str, Any] = {}
    fits = []
    for precision in ("bf16", "fp8"):
        on = machine(claim["gpu"], precision)
        one = speed(BLOCK, on)
        implied[f"tokens_per_pass_{precision}"] = stated * one.pass_s
        implied[f"pass_ms_{precision}"] = one.tokens_per_pass / stated * 1e3
        found[f"tokens_per_pass_{precision}"] = one.tokens_per_pass
        found[f"pass_ms_{precision}"] = one.pass_s * 1e3
        found[f"tokens_per_s_{precision}"] = one.tokens_per_s
        found[f"tokens_per_s_range_{precision}"] = [round(one.low_tokens_per_s), round(one.high_tokens_per_s)]
        if one.tokens_per_s >= 0.95 * stated:
            fits.append(precision)
    needed = " or ".join(f"{implied[f'tokens_per_pass_{p}']:.1f} ({p})" for p in ("bf16", "fp8"))
    got = " or ".join(f"{found[f'tokens_per_s_{p}']:.0f}" for p in ("bf16", "fp8"))
    if "bf16" in fits:
        verdict = "follows"
    elif fits:
        verdict = f"possible if served in {fits[0]}; simulated {got} tokens/s (bf16 or fp8)"
    else:
        simulated = f"{found['tokens_per_pass_bf16']:.1f}, at {got} tokens/s"
        verdict = f"possible if a pass commits {needed} tokens; simulated {simulated}"
    return Finding(
        rounded(implied), rounded(found), verdict,
        f"The pass time is that of 32 positions on {claim['gpu']} with the experts that such a block reads; tokens per "
        "pass are those of the tool-call workload, K/V writes counted as passes. The release states neither precision "
        "nor passes, and one speed cannot tell a cheaper pass from fewer of them.",
    )  # fmt: skip


def qwen_dflash2(claim: Mapping[str, Any]) -> Finding:
    """A cycle of one draft pass and one verify pass of eight positions."""
    stated = claim["tokens_per_s"]
    implied: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for gpu in ("h200", "b200"):
        one = speed(DFLASH2, machine(gpu, "bf16", "qwen3.6-35b-a3b"))
        implied[f"tokens_per_cycle_{gpu}"] = stated * one.pass_s
        found[f"cycle_ms_{gpu}"] = one.pass_s * 1e3
        for kept in PUBLISHED_DFLASH2_TOKENS:
            found[f"tokens_per_s_{gpu}_at_{kept}_a_cycle"] = kept / one.pass_s
    least, most = sorted(implied.values())
    low, high = PUBLISHED_DFLASH2_TOKENS
    slow, fast = found[f"tokens_per_s_h200_at_{low}_a_cycle"], found[f"tokens_per_s_b200_at_{high}_a_cycle"]
    return Finding(
        rounded(implied), rounded(found),
        f"possible if a cycle keeps {least:.1f} (b200) to {most:.1f} (h200) of 8 tokens; simulated {slow:.0f} to "
        f"{fast:.0f} tokens/s",
        f"The machine is not stated. Published means of this drafter, on smaller models of the family, are {low} "
        f"tokens a cycle and {high} on mathematics, so the figure is an ordinary one.",
    )  # fmt: skip


def clover_5070ti(claim: Mapping[str, Any]) -> Finding:
    """A card that cannot hold the weights: what lies on the host decides."""
    from clover_sim.cost import memory_check
    from clover_sim.cost.remedy import offloaded

    stated, rival = claim["tokens_per_s"], claim["baseline_tokens_per_s"]
    on = machine(claim["gpu"], "int4", engine="llama.cpp")
    picture = memory_check(on, 1, 4096)
    free = speed("ar", on)
    implied: dict[str, Any] = {
        "ratio": stated / rival, "ms_per_token": 1e3 / stated, "rival_ms_per_token": 1e3 / rival,
        "rival_over_a_card_that_held_all": free.tokens_per_s / rival,
    }  # fmt: skip
    found: dict[str, Any] = {
        "weights_gb": picture.weight_bytes / 1e9, "card_gives_gb": picture.capacity_bytes / 1e9, "fits": picture.fits,
        "ar_tokens_per_s_if_all_fitted": free.tokens_per_s,
    }  # fmt: skip
    for what in ("experts", "layers"):
        moved = offloaded(on, what, 1, 4096)
        plain, blocks = speed("ar", moved), speed(BLOCK, moved)
        implied[f"tokens_per_pass_{what}"] = stated * blocks.pass_s
        found[f"on_host_gb_{what}"] = moved.offload_bytes / 1e9
        found[f"ar_tokens_per_s_{what}"] = plain.tokens_per_s
        found[f"block_tokens_per_s_{what}"] = blocks.tokens_per_s
        found[f"ratio_{what}"] = blocks.tokens_per_s / plain.tokens_per_s
    return Finding(
        rounded(implied), rounded(found),
        f"possible if part of each layer lies on the host and a pass commits {implied['tokens_per_pass_layers']:.1f} "
        f"tokens; simulated {found['block_tokens_per_s_layers']:.1f} tokens/s",
        f"At 4 bits the weights are {picture.weight_bytes / 1e9:.1f} GB and the card gives "
        f"{picture.capacity_bytes / 1e9:.1f}, so {found['on_host_gb_layers']:.1f} GB come over the link in every "
        "pass; under 3.4 bits all would fit. A card that held all would decode one by one "
        f"{implied['rival_over_a_card_that_held_all']:.1f} times as fast as the stated baseline: 48.5 bears the mark "
        "of offload. Layers on the host favour blocks (fewer passes, fewer copies), experts on the host do not (a "
        "block reads more of them).",
    )  # fmt: skip


def five_to_ten(claim: Mapping[str, Any]) -> Finding:
    """Tokens per pass that the stated gain needs at the simulated price of a wider pass."""
    low, high = claim["speedup"]
    found: dict[str, Any] = {}
    ratios = []
    for precision in ("bf16", "fp8"):
        on = machine("h200", precision)
        plain, blocks = speed("ar", on, "code"), speed(BLOCK, on, "code")
        ratios.append(blocks.pass_s / plain.pass_s)
        found[f"cost_ratio_of_a_pass_{precision}"] = ratios[-1]
        found[f"tokens_per_pass_{precision}"] = blocks.tokens_per_pass
        found[f"speedup_{precision}"] = blocks.tokens_per_s / plain.tokens_per_s
    need = [low * min(ratios), high * min(ratios)]
    implied = {"tokens_per_pass_for_5x": need[0], "tokens_per_pass_for_10x": need[1], "block_size": 32}
    reach = "within" if need[0] <= PUBLISHED_TOKENS_PER_PASS else "above"
    beyond = "above" if need[1] > PUBLISHED_TOKENS_PER_PASS else "within"
    return Finding(
        rounded(implied), rounded(found),
        f"possible if a pass commits {need[0]:.1f} (five times) to {need[1]:.1f} (ten times) of 32; simulated "
        f"{found['tokens_per_pass_bf16']:.1f}, {found['speedup_bf16']:.1f} times",
        f"A block pass of this model costs {min(ratios):.1f} one-token passes. Five times is {reach} and ten times "
        f"{beyond} the {PUBLISHED_TOKENS_PER_PASS} tokens a pass that LLaDA2.1-mini reports at its best; code here "
        f"gives {found['tokens_per_pass_bf16']:.1f}.",
    )  # fmt: skip


def naive_same_cost(claim: Mapping[str, Any]) -> Finding:
    """The ratio of a block pass to a one-token pass, for a mixture and for a dense model."""
    found = {}
    for model, gpu in (("clover-35b-a3b", "h200"), ("clover-35b-a3b", "gb300"), ("qwen3-8b", "h200"),
                       ("qwen3-8b", "m4-pro")):  # fmt: skip
        on = machine(gpu, "bf16", model)
        found[f"ratio_{model}_{gpu}"] = pass_s(on, 32) / pass_s(on, 1)
    own = found["ratio_clover-35b-a3b_h200"]
    return Finding(
        {"ratio": 1.0}, rounded(found), f"contradicts the cost of a mixture of experts: {own:.1f} one-token passes",
        "A dense model reads the same weights for 32 positions as for one, and the claim is nearly right for it where "
        "arithmetic is plentiful. A mixture reads the union of the experts of all positions: 70 of 256 a layer instead "
        "of 8.",
    )  # fmt: skip


def sigmaz_2000(claim: Mapping[str, Any]) -> Finding:
    """A target speed against what one block pass can be."""
    stated = claim["tokens_per_s"]
    on = machine("gb300", "fp8")
    page = speed(BLOCK, on, "code", 2048, 2000)
    late = speed(BLOCK, on, "code", 512, 40_000)
    implied = {
        "tokens_per_pass_gb300_fp8": stated * page.pass_s, "pass_ms": page.tokens_per_pass / stated * 1e3,
        "seconds_for_30000_tokens": 30_000 / stated,
    }  # fmt: skip
    found = {
        "tokens_per_s_gb300_fp8": page.tokens_per_s, "tokens_per_s_at_40000_context": late.tokens_per_s,
        "pass_ms": page.pass_s * 1e3, "tokens_per_pass": page.tokens_per_pass,
    }  # fmt: skip
    return Finding(
        rounded(implied), rounded(found),
        f"possible if a pass commits {implied['tokens_per_pass_gb300_fp8']:.1f} tokens, or takes "
        f"{implied['pass_ms']:.1f} ms; simulated {page.tokens_per_pass:.1f} in {page.pass_s * 1e3:.1f} ms",
        "For one user on one GB300 in FP8. Long pages cost little extra here, since most layers keep a state and no "
        "cache; the distance is in the engine's time per layer and in the experts that a block reads.",
    )  # fmt: skip
