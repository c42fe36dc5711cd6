"""Warnings from a section and what there is to hold it against; the verdict stands beside, in ``_verdict.py``."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

from clover_sim.explain._measured import Comparison, Plain, compare, possible
from clover_sim.explain._predict import Prediction
from clover_sim.explain._setup import Setup
from clover_sim.explain._verdict import EVEN, LOW_LENGTH, drafts, times, unexplained, verdict
from clover_sim.logs import Section

_LOW_RATE = 0.15
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
    warnings = [*section.warnings, *_of_counts(section), *_of_identities(section)]
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


def _of_counts(section: Section) -> list[str]:
    if not section.speculative:
        return []
    if section.draft_tokens == 0 or section.cycles == 0:
        return ["zero drafts: nothing was proposed, so there is no acceptance to speak of (idle, or never a match)"]
    found = []
    length, rate, k = section.acceptance_length, section.acceptance_rate, section.num_speculative_tokens
    if (length is not None and length < LOW_LENGTH and (k or 2) > 1) or (rate is not None and rate < _LOW_RATE):
        kept = f"{rate:.1%} of the drafted tokens are kept" if rate is not None else f"{length:.2f} tokens a cycle"
        found.append(f"low acceptance: {kept}; check that drafter and target belong together and share a template")
    if length is not None and section.tokens_per_pass is not None and section.tokens_per_pass > 1.02 * length:
        found.append(
            f"tokens per pass ({section.tokens_per_pass:.2f}) exceed the acceptance length ({length:.2f}), which "
            "cannot be: the counts are of different spans"
        )
    survival = section.per_position_survival
    if survival and len(survival) > 1 and survival[-1] < _USELESS:
        useful = sum(rate >= _USELESS for rate in survival)
        short = 1 + fsum(survival[:useful])
        found.append(
            f"positions from {useful + 1} on survive in under {_USELESS:.0%} of the cycles: {drafts(useful or 1)} "
            f"would give {short:.2f} tokens a cycle instead of {1 + fsum(survival):.2f}"
        )
    if section.draft_tokens and section.accepted_tokens is not None:
        wasted = section.draft_tokens - section.accepted_tokens
        if wasted > 3 * max(section.accepted_tokens, 1):
            found.append(f"{wasted:,.0f} of {section.draft_tokens:,.0f} drafted tokens were computed for nothing")
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
    length, k = section.acceptance_length, section.num_speculative_tokens
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
