"""Claims of seconds and dollars a task: how many tokens they leave room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clover_sim.claims import Finding
from clover_sim.claims.bench import BLOCK, machine, prefill_s, rounded, speed

STATED_TOKENS_PER_S = 515
"""The release's own speed on an H200, the one card for which it gives a whole-run figure beside the GB300."""

PROMPT_TOKENS = 4000
"""ASSUMPTION: a page or a message with its instructions. The demonstrations do not state their prompts."""


def _room(seconds: float, prompt: int = PROMPT_TOKENS) -> tuple[dict[str, Any], dict[str, Any]]:
    """Output tokens that fit into ``seconds`` at the stated and at the simulated speeds."""
    on = machine("h200")
    first = prefill_s(on, prompt)
    left = max(0.0, seconds - first)
    implied = {"output_tokens_at_515_per_s": left * STATED_TOKENS_PER_S}
    found = {
        f"prefill_s_of_{prompt}_tokens": first, "tokens_per_s": speed(BLOCK, on).tokens_per_s,
        "output_tokens_block_diffusion": left * speed(BLOCK, on).tokens_per_s,
        "output_tokens_token_by_token": left * speed("ar", on).tokens_per_s,
    }  # fmt: skip
    return implied, found


def _speed(found: Mapping[str, Any]) -> str:
    return f"at {found['tokens_per_s']:.0f} tokens/s"


def windtunnel(claim: Mapping[str, Any]) -> Finding:
    """Two medians and two success rates."""
    attempts = claim["tasks"] * claim["attempts"]
    own, rival = round(claim["success"] * attempts), round(claim["rival_success"] * attempts)
    implied, found = _room(claim["median_s"])
    other_implied, other = _room(claim["rival_median_s"])
    implied |= {
        "attempts": attempts, "successes": own, "rival_successes": rival,
        "rival_output_tokens_at_515_per_s": other_implied["output_tokens_at_515_per_s"],
    }  # fmt: skip
    found |= {
        "success": own / attempts, "success_95": _wilson(own, attempts), "rival_success": rival / attempts,
        "rival_success_95": _wilson(rival, attempts),
        "rival_output_tokens_token_by_token": other["output_tokens_token_by_token"],
    }  # fmt: skip
    most, said = found["output_tokens_block_diffusion"], _speed(found)
    return Finding(
        rounded(implied), rounded(found),
        f"possible if an attempt writes at most {most:.0f} tokens in all, simulated {said}",
        f"{own} and {rival} of {attempts} attempts give the two rates to the digit. Their 95 % intervals overlap, so "
        "four attempts more do not settle who is better; the times leave room for a few short tool calls and no "
        "thinking, prompts of 4000 tokens assumed.",
    )  # fmt: skip


def atc_five(claim: Mapping[str, Any]) -> Finding:
    """Five results together."""
    return _pair(claim, 5, "results")


def atc_twenty(claim: Mapping[str, Any]) -> Finding:
    """Twenty messages."""
    return _pair(claim, 20, "messages")


def _pair(claim: Mapping[str, Any], parts: int, noun: str) -> Finding:
    """What two times for the same work imply if both write the same text."""
    seconds, rival = claim["seconds"], claim["rival_s"]
    implied, found = _room(seconds)
    on = machine("h200")
    plain, blocks = speed("ar", on), speed(BLOCK, on)
    tokens = max(0.0, rival - prefill_s(on, PROMPT_TOKENS)) * plain.tokens_per_s
    needed = tokens / max(1e-9, seconds - prefill_s(on, PROMPT_TOKENS))
    implied |= {
        "ratio": rival / seconds, f"seconds_for_each_of_{parts}_{noun}": seconds / parts,
        "tokens_the_rival_has_time_for": tokens, "tokens_per_s_for_the_same_text": needed,
    }  # fmt: skip
    found |= {"ratio": blocks.tokens_per_s / plain.tokens_per_s}
    each = implied["output_tokens_at_515_per_s"] / parts
    verdict = f"possible if Clover writes {each:.0f} tokens or fewer for each of {parts} {noun}"
    if needed > STATED_TOKENS_PER_S:
        verdict += " and the rival more"
    verdict += f"; simulated {found['output_tokens_block_diffusion'] / parts:.0f}"
    return Finding(
        rounded(implied), rounded(found), verdict,
        f"The same text in both times would need {needed:.0f} tokens/s; the release itself states 515. So the two did "
        "not write the same, or did not run on the same machine; the demonstration says neither.",
    )  # fmt: skip


def map_search(claim: Mapping[str, Any]) -> Finding:
    """Seconds a step, and the tokens that they hold."""
    own, rival = claim["seconds"] / claim["steps"], claim["rival_s"] / claim["rival_steps"]
    implied, found = _room(own)
    implied |= {"seconds_a_step": own, "rival_seconds_a_step": rival, "ratio_a_step": rival / own}
    on = machine("h200")
    found["ratio_a_step"] = speed(BLOCK, on).tokens_per_s / speed("ar", on).tokens_per_s
    tokens = found["output_tokens_block_diffusion"]
    return Finding(
        rounded(implied), rounded(found), f"possible if a step writes up to {tokens:.0f} tokens, simulated "
        f"{_speed(found)}, or waits for its tools",
        "Six seconds a step are many tokens for one tool call: thinking or the map's own answers fill them. One run of "
        "each cannot say who solves more; that it was solved is a matter of the weights, which are not simulated.",
    )  # fmt: skip


def solar_demo(claim: Mapping[str, Any]) -> Finding:
    """Thinking first, a page after it."""
    low, high = claim["output_s"]
    on = machine("h200")
    thought, page = speed(BLOCK, on, "chat"), speed(BLOCK, on, "code")
    implied = {
        "thinking_tokens_at_515_per_s": claim["thinking_s"] * STATED_TOKENS_PER_S,
        "page_tokens_at_515_per_s": [low * STATED_TOKENS_PER_S, high * STATED_TOKENS_PER_S],
    }  # fmt: skip
    found = {
        "thinking_tokens": claim["thinking_s"] * thought.tokens_per_s,
        "page_tokens": [round(low * page.tokens_per_s), round(high * page.tokens_per_s)],
        "tokens_per_s_of_code": page.tokens_per_s,
    }  # fmt: skip
    return Finding(
        rounded(implied), rounded(found),
        f"possible if the page has {found['page_tokens'][0]} to {found['page_tokens'][1]} tokens, simulated at "
        f"{page.tokens_per_s:.0f} tokens/s",
        "A page of one script in two thousand tokens or a little more is small but real; neither card nor length is "
        "stated.",
    )  # fmt: skip


def task_cost(claim: Mapping[str, Any]) -> Finding:
    """Rent for the time of a task."""
    from clover_sim.cost.dollars import run_usd

    on = machine("h200")
    hour = on.hardware.price_usd_per_hour or 0.0
    seconds = claim["usd"] / hour * 3600
    implied, found = _room(seconds)
    implied |= {"gpu_seconds": seconds, "usd_per_gpu_hour_h200": hour}
    found |= {
        "usd_of_1.52_s_alone": run_usd(hour, 1.52),
        "users_to_share_the_card_for_1.52_s": run_usd(hour, 1.52) / claim["usd"],
    }  # fmt: skip
    return Finding(
        rounded(implied), rounded(found),
        f"possible if a task has {seconds:.2f} s of an H200 alone, {found['output_tokens_block_diffusion']:.0f} tokens "
        f"simulated {_speed(found)}, or shares it",
        f"At {hour:g} USD an hour. A task of 1.52 s, the median claimed for web tasks, costs "
        f"{run_usd(hour, 1.52) * 1000:.1f} thousandths of a dollar alone on the card; two users at once who slow each "
        "other down by less than half bring it to the stated figure.",
    )  # fmt: skip


def _wilson(successes: int, attempts: int) -> list[float]:
    """Wilson's 95 % interval of a share."""
    z, p = 1.96, successes / attempts
    middle = (p + z * z / (2 * attempts)) / (1 + z * z / attempts)
    half = z * (p * (1 - p) / attempts + z * z / (4 * attempts**2)) ** 0.5 / (1 + z * z / attempts)
    return [round(middle - half, 3), round(middle + half, 3)]
