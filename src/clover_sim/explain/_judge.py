"""Warnings from a section and what there is to hold it against; the verdict stands beside, in ``_verdict.py``."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

from clover_sim.acceptance import DraftTree
from clover_sim.errors import InputError, UsageError
from clover_sim.explain._acceptance import acceptance_of, tree_of
from clover_sim.explain._measured import Comparison, Plain, compare, possible
from clover_sim.explain._predict import Prediction
from clover_sim.explain._setup import Setup
from clover_sim.explain._verdict import EVEN, LOW_LENGTH, drafts, times, unexplained, verdict
from clover_sim.logs import Section
from clover_sim.speculation import METHODS
from clover_sim.speculation.methods import SERIAL, TREE

_LOW_RATE, _LOW_ALPHA = 0.15, 0.3
_MAYBE_A_TREE = 8
"""Draft tokens from which an EAGLE drafter of SGLang was probably told to draft a tree."""
_PROMPTS = 0.05
"""Share of the time from which prompts between the steps are worth a word."""
_HIGH_SHARE = 0.75
"""Share of the longest possible cycle from which acceptance is high."""
_USELESS = 0.05
_DISAGREE = 0.1


@dataclass(frozen=True, slots=True)
class Judgement:
    """Warnings, the verdict, and the speed-up of it: ``measured`` if there was a plain speed to measure it by, else
    ``estimated`` by a priced plain step."""

    warnings: tuple[str, ...]
    verdict: str
    measured: dict[str, Any] | None = None
    estimated: dict[str, Any] | None = None


def judge(
    section: Section, plain: Plain, prediction: Prediction | None, setup: Setup, *, machine_known: bool = False
) -> Judgement:
    """Judge ``section``.

    Args:
        plain: a plain speed and what it is. prediction: what was expected of it. machine_known: whether model and card
            are, so that only the log itself can lack what a prediction needs.
    """
    expected = (None, None) if prediction is None else (prediction.plain_step_s, prediction.cost_ratio)
    compared = compare(section, plain, *expected)
    warnings = [*section.warnings, *_of_counts(section, setup), *_of_identities(section)]
    warnings += _of_causes(section, prediction, setup)
    refused = prediction is not None and prediction.plain_refused
    if compared is not None and not refused and (compared.measured or possible(compared)):
        warnings += _of_speed(section, compared, unexplained(prediction, compared))
    if section.speculative and (section.waiting_requests or 0) >= 1:
        warnings.append(
            f"about {section.waiting_requests:,.0f} requests wait on average: capacity limits the throughput, and "
            "waiting time hides what drafting does"
        )
    told = None
    if compared and (compared.measured or possible(compared)):
        told = {
            "speedup": compared.speedup, "cost_ratio": compared.cost_ratio, "against": compared.against,
        }  # fmt: skip
    said = verdict(section, compared, prediction, setup, machine_known)
    measured = compared is not None and compared.measured
    return Judgement(tuple(dict.fromkeys(warnings)), said, told if measured else None, None if measured else told)


def _of_counts(section: Section, setup: Setup) -> list[str]:
    if not section.speculative:
        return []
    if section.draft_tokens == 0 or section.cycles == 0:
        return ["zero drafts: nothing was proposed, so there is no acceptance to speak of (idle, or never a match)"]
    found = []
    length, tree = section.acceptance_length, tree_of(section)
    serial = setup.method is None or METHODS[setup.method.value].how in (SERIAL, TREE)
    k = section.num_speculative_tokens or 0
    unknown = k >= _MAYBE_A_TREE if section.topk is None else section.topk > 1
    if serial and section.engine == "sglang" and tree is None and unknown:
        found.append(
            f"{k} draft tokens a cycle may be those of a tree, which this log does not "
            "describe; if so, give --speculative-num-steps and --speculative-eagle-topk (its start-up lines have them)"
        )
    found += _low(section, tree)
    if length is not None and section.tokens_per_pass is not None and section.tokens_per_pass > 1.02 * length:
        found.append(
            f"tokens per pass ({section.tokens_per_pass:.2f}) exceed the acceptance length ({length:.2f}), which "
            "cannot be: the counts are of different spans"
        )
    survival = section.per_position_survival
    if tree is None and survival and len(survival) > 1 and survival[-1] < _USELESS:
        useful = sum(rate >= _USELESS for rate in survival)
        short = 1 + fsum(survival[:useful])
        found.append(
            f"positions from {useful + 1} on survive in under {_USELESS:.0%} of the cycles: {drafts(useful or 1)} "
            f"would give {short:.2f} tokens a cycle instead of {1 + fsum(survival):.2f}"
        )
    if tree is None and section.draft_tokens and section.accepted_tokens is not None:
        wasted = section.draft_tokens - section.accepted_tokens
        if wasted > 3 * max(section.accepted_tokens, 1):
            found.append(f"{wasted:,.0f} of {section.draft_tokens:,.0f} drafted tokens were computed for nothing")
    return found


def _low(section: Section, tree: DraftTree | None) -> list[str]:
    """That little is accepted, and whether the drafter is at fault or the length of its drafts.

    A rate falls with the length of the drafts, and with the nodes of a tree, of which one path is kept: what the
    drafter is worth is the chance of a token.
    """
    length, rate, k = section.acceptance_length, section.acceptance_rate, section.num_speculative_tokens
    few = length is not None and length < LOW_LENGTH and (section.longest_path or 2) > 1
    if not few and (rate is None or rate >= _LOW_RATE):
        return []
    try:
        made = acceptance_of(section)
    except (InputError, UsageError):
        made = None
    alpha = None if made is None else made.alpha
    if tree is not None and alpha is not None and alpha >= _LOW_ALPHA:
        return []
    kept = f"{rate:.1%} of the drafted tokens are kept" if rate is not None and tree is None else ""
    kept = kept or f"{length or 0.0:.2f} tokens a cycle"
    if not few and alpha is not None and alpha >= _LOW_ALPHA:
        return [
            f"low acceptance: {kept}; a token is accepted with {alpha:.2f} once those before it are, too rarely for "
            f"{drafts(k or 1)}: draft less, and check that drafter and target belong together and share a template"
        ]
    return [f"low acceptance: {kept}; check that drafter and target belong together and share a template"]


def _of_causes(section: Section, prediction: Prediction | None, setup: Setup) -> list[str]:
    """What slows steps down and stands in the log beside the figures of drafts."""
    found = []
    if section.eager_share:
        found.append(
            f"no CUDA graph in {section.eager_share:.0%} of the lines (cuda graph: False): the host starts every "
            "kernel of such a pass by itself, which no price here has and which every draft and verify pass pays for; "
            "the batch may exceed --cuda-graph-max-bs, or --disable-cuda-graph is set"
        )
    elif setup.eager is not None and section.engine in (None, setup.engine.value if setup.engine else None):
        flag, instead = ("--enforce-eager", "; --engine vllm-eager has its prices") if section.engine == "vllm" else (
            "--disable-cuda-graph", "")  # fmt: skip
        found.append(
            f"the server captures no CUDA graphs ({flag}, {setup.eager.where}): the host starts every kernel by "
            f"itself, which slows plain decoding and the small passes of drafting most{instead}"
        )
    prompts, speed = section.prompt_tokens_per_s, section.generation_tokens_per_s
    share = None if prediction is None else prediction.prompt_share
    if section.speculative and prompts and speed and (prompts > speed if share is None else share > _PROMPTS):
        takes = f", about {min(share, 1.0):.0%} of the time by price" if share is not None else ""
        found.append(
            f"prompts are processed beside the decoding, {prompts:,.0f} tokens/s{takes}: their steps stand between "
            "those of the log's cycle, whether a server drafts or not, and a priced plain step is without them"
        )
    return found


def _of_identities(section: Section) -> list[str]:
    return [
        f"{i.name}: {i.derived:.4g} by {i.how}, but {i.stated:.4g} by the log's other figures; "
        + ("passes without a draft explain a higher stated speed" if i.name == "throughput" else "it may be incomplete")
        for i in section.identities
        if i.stated and abs(i.derived / i.stated - 1) > _DISAGREE
    ]


def _of_speed(section: Section, compared: Comparison, uncertain: bool) -> list[str]:
    found = []
    length, k = section.acceptance_length, section.longest_path
    if compared.speedup < 1 - EVEN and not uncertain and length and k and length >= _HIGH_SHARE * (k + 1):
        found.append(
            f"high acceptance but slow: {length:.2f} of at most {k + 1} tokens a cycle, yet a cycle costs "
            f"{times(compared.cost_ratio)} plain steps; what a cycle costs is at fault, not what is accepted"
        )
    if compared.measured and not possible(compared):
        found.append(
            f"a speed-up of {compared.speedup:.2f} is more than the {length or section.tokens_per_pass or 0:.2f} "
            "tokens a cycle allow: impossible without another change (load, flags, prompts) between the two runs"
        )
    return found
