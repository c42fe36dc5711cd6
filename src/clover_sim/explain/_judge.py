"""Warnings and a verdict in words, from a section and what there is to hold it against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from clover_sim.explain._predict import Prediction
from clover_sim.explain._setup import Setup
from clover_sim.logs import Section

_LOW_LENGTH, _LOW_RATE = 1.3, 0.15
_HIGH_SHARE = 0.75
"""Share of the longest possible cycle from which acceptance is high."""
_USELESS = 0.05
_EVEN, _EVEN_ESTIMATED = 0.03, 0.12
"""Distance from 1 within which a speed-up is neither a gain nor a loss; predicted plain steps are no surer."""
_SAME_LOAD = 0.15
_DISAGREE = 0.1
_REPEATABLE = 1.02
_WORTH_IT = 1.05
"""Gain from which another draft length is worth a word: prices are no finer."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Warnings, the verdict, and the speed-up that was measured if there was a plain speed to measure it by."""

    warnings: tuple[str, ...]
    verdict: str
    measured: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Comparison:
    speedup: float
    cost_ratio: float | None
    against: str
    measured: bool


def judge(
    section: Section, sections: Sequence[Section], prediction: Prediction | None, baseline: float | None, setup: Setup
) -> Judgement:
    """Judge ``section``, one of ``sections``; ``baseline`` is a plain speed that was given."""
    compared = _compare(section, sections, prediction, baseline)
    warnings = [*section.warnings, *_of_counts(section), *_of_identities(section)]
    if compared is not None:
        warnings += _of_speed(section, compared)
    if section.speculative and (section.waiting_requests or 0) >= 1:
        warnings.append(
            f"about {section.waiting_requests:,.0f} requests wait on average: capacity limits the throughput, and "
            "waiting time hides what drafting does"
        )
    measured = None
    if compared and compared.measured:
        measured = {
            "speedup": compared.speedup, "cost_ratio": compared.cost_ratio, "against": compared.against,
        }  # fmt: skip
    return Judgement(tuple(dict.fromkeys(warnings)), _verdict(section, compared, prediction, setup), measured)


def speed_of(section: Section) -> float | None:
    """Generated tokens per second: as stated, else those of the drafting passes."""
    if section.generation_tokens_per_s is not None:
        return section.generation_tokens_per_s
    return next((i.derived for i in section.identities if i.name == "throughput"), None)


def _compare(
    section: Section, sections: Sequence[Section], prediction: Prediction | None, baseline: float | None
) -> _Comparison | None:
    """The speed-up, from a given or logged plain speed, else from the predicted plain step."""
    if not section.speculative or (not section.draft_tokens and section.acceptance_length is None):
        return None
    speed, length = speed_of(section), section.tokens_per_pass or section.acceptance_length
    plain, against = plain_speed(section, sections, baseline)
    if plain and speed:
        return _Comparison(speed / plain, length * plain / speed if length else None, against, True)
    if prediction is not None and length:
        if section.cycle_time_s:
            cost = section.cycle_time_s / prediction.plain_step_s
            return _Comparison(length / cost, cost, "the predicted plain step", False)
        return _Comparison(length / prediction.cost_ratio, prediction.cost_ratio, "the predicted plain step", False)
    return None


def plain_speed(section: Section, sections: Sequence[Section], baseline: float | None) -> tuple[float | None, str]:
    """Plain decoding in tokens/s that was given or logged, and what it is; ``None`` if there is none."""
    if baseline is not None:
        return baseline, "the plain speed given"
    if section.baseline_tokens_per_s:
        return section.baseline_tokens_per_s, "the baseline of the same benchmark"
    return _plain_beside(section, sections), "the part of the log without drafts"


def _plain_beside(section: Section, sections: Sequence[Section]) -> float | None:
    """Speed of a run without drafts by the same engine under the same load."""
    for other in sections:
        if other.speculative or other.engine != section.engine or other.engine == "llama.cpp":
            continue
        loads = section.running_requests, other.running_requests
        if other.generation_tokens_per_s and (
            loads[0] is None or loads[1] is None or abs(loads[0] / loads[1] - 1) <= _SAME_LOAD
        ):
            return other.generation_tokens_per_s
    return None


def _of_counts(section: Section) -> list[str]:
    if not section.speculative:
        return []
    if section.draft_tokens == 0 or section.cycles == 0:
        return ["zero drafts: nothing was proposed, so there is no acceptance to speak of (idle, or never a match)"]
    found = []
    length, rate, k = section.acceptance_length, section.acceptance_rate, section.num_speculative_tokens
    if (length is not None and length < _LOW_LENGTH and (k or 2) > 1) or (rate is not None and rate < _LOW_RATE):
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
            f"positions from {useful + 1} on survive in under {_USELESS:.0%} of the cycles: {_drafts(useful or 1)} "
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


def _of_speed(section: Section, compared: _Comparison) -> list[str]:
    found = []
    length, k = section.acceptance_length, section.num_speculative_tokens
    if compared.speedup < 1 - _EVEN and length and k and length >= _HIGH_SHARE * (k + 1):
        found.append(
            f"high acceptance but slow: {length:.2f} of at most {k + 1} tokens a cycle, yet a cycle costs "
            f"{_times(compared.cost_ratio)} plain steps; overhead per cycle, not the drafter, is at fault"
        )
    if compared.measured and compared.cost_ratio is not None and compared.cost_ratio < 1 / _REPEATABLE:
        found.append(
            f"a speed-up of {compared.speedup:.2f} is more than the {length or section.tokens_per_pass or 0:.2f} "
            "tokens a cycle allow: impossible without another change (load, flags, prompts) between the two runs"
        )
    return found


def _verdict(section: Section, compared: _Comparison | None, prediction: Prediction | None, setup: Setup) -> str:
    if not section.speculative:
        return _plain_verdict(section, prediction)
    length, k = section.tokens_per_pass or section.acceptance_length, section.num_speculative_tokens
    if section.draft_tokens == 0 or section.cycles == 0:
        return "Nothing was drafted in this log, so speculation neither helped nor cost more than its overhead."
    if compared is None:
        return _unpriced_verdict(section, length, k, setup)
    if compared.cost_ratio is None:
        return f"Speculation ran at {compared.speedup:.2f}x of {compared.against}; the log does not say why."
    how = "measured" if compared.measured else "estimated"
    sentence = f"{_tokens(length)} for {_times(compared.cost_ratio)} plain steps ({how}, against {compared.against})"
    advice = advise(prediction, k, compared.speedup)
    undrafted = prediction is not None and not prediction.draft_priced and not section.cycle_time_s
    if undrafted and not compared.measured and compared.speedup > 1:
        return (
            f"Speculation gains at most {compared.speedup:.2f}x: a cycle writes {_tokens(length)} for "
            f"{_times(compared.cost_ratio)} plain steps before drafting, which is not priced; say how drafts are made "
            "(--method eagle3, mtp, dflash, ngram, ...; a draft model with --drafter) to price it."
        )
    if abs(compared.speedup - 1) <= (_EVEN if compared.measured else _EVEN_ESTIMATED):
        about = "" if compared.measured else " as far as an estimate can tell"
        first = f"Speculation breaks even{about}, {compared.speedup:.2f}x: a cycle writes {sentence}."
    elif compared.speedup > 1:
        first = f"Speculation pays, {compared.speedup:.2f}x: a cycle writes {sentence}."
    else:
        first = f"Speculation is slower than plain decoding, {compared.speedup:.2f}x: a cycle writes {sentence}."
        first += _where_it_goes(section, prediction, compared.cost_ratio)
        if k is not None and compared.cost_ratio > k + 1:
            rest = f"Even full acceptance ({k + 1}) could not pay for it: turn it off here, or cut the cost of a cycle."
        else:
            rest = f"It would pay from {compared.cost_ratio:.2f} tokens a cycle on"
            rest += "." if advice else ": draft less, or turn it off at this load."
        first += f" {rest}"
    return f"{first}{_other_estimate(section, prediction, compared)} {advice}".rstrip()


def _other_estimate(section: Section, prediction: Prediction | None, compared: _Comparison) -> str:
    """How far the speed-up could be off where the log's cycle is not what it should cost."""
    if prediction is None or compared.measured or not section.cycle_time_s or not prediction.speedup:
        return ""
    if prediction.low_s <= section.cycle_time_s <= prediction.high_s or not prediction.draft_priced:
        return ""
    times = section.cycle_time_s / prediction.cycle_s
    return (
        f" But the log's cycle is {times:.2f} times its price ({prediction.low_s * 1e3:.1f} to "
        f"{prediction.high_s * 1e3:.1f} ms expected): if a plain step is off as much, it is "
        f"{prediction.speedup:.2f}x. Measure plain decoding (--baseline), or check card, format and prompt length."
    )


def _where_it_goes(section: Section, prediction: Prediction | None, cost_ratio: float) -> str:
    """What the steps of a cycle are spent on, as far as prices tell."""
    if prediction is None or not prediction.draft_priced:
        return ""
    verify, draft = (part / prediction.plain_step_s for part in (prediction.verify_s, prediction.draft_s))
    rest = cost_ratio - verify - draft
    left = f", and {rest:.2f} are not in any price (host, scheduling, other work)" if rest > 0.1 else ""
    return f" Verifying takes {verify:.2f} of them by price and drafting {draft:.2f}{left}."


def advise(prediction: Prediction | None, k: int | None, speedup: float) -> str:
    """The best draft length and the batch where drafts stop paying, held against the speed-up of the log."""
    if prediction is None or prediction.best_num_speculative_tokens is None or prediction.fitted_speedup is None:
        return ""
    best, gain = prediction.best_num_speculative_tokens, prediction.best_speedup or 1.0
    parts = []
    if best == 0:
        parts.append("no draft length pays at this load")
    elif best != k and gain > _WORTH_IT * prediction.fitted_speedup:
        parts.append(f"draft {best} instead of {k}: {gain:.2f}x")
    else:
        parts.append(f"a draft length of {k} is about the best")
    if prediction.crossover_batch is not None:
        parts.append(f"drafting stops paying at a batch of {prediction.crossover_batch}")
    elif best and speedup > 1 + _EVEN_ESTIMATED:
        parts.append("it pays at every batch that was priced")
    text = "; ".join(parts)
    if not prediction.fitted and abs(prediction.fitted_speedup / speedup - 1) > _DISAGREE:
        return f"By prices alone, which put this run at {prediction.fitted_speedup:.2f}x: {text}."
    return f"{text[:1].upper()}{text[1:]}."


def _unpriced_verdict(section: Section, length: float | None, k: int | None, setup: Setup) -> str:
    if length is None:
        rate = f"{section.acceptance_rate:.1%} of the drafts were accepted, but " if section.acceptance_rate else ""
        return (
            f"{rate[:1].upper()}{rate[1:]}" + ("the" if rate else "The") + " log does not say how many tokens a pass "
            "writes, so whether speculation pays cannot be told from it; give the draft length or a plain speed."
        )
    most = f" of at most {k + 1}" if k else ""
    pays = f"speculation pays if a cycle costs less than {length:.2f} plain steps"
    subject = "A pass" if section.tokens_per_pass is not None else "A cycle"
    sentence = f"{subject} writes {length:.2f} tokens{most}, so {pays}"
    if length < _LOW_LENGTH:
        return f"{sentence}, which is unlikely: a cycle rarely costs less than 1.2."
    flags = "--gpu (the log names the model)" if setup.model else "--model and --gpu"
    return f"{sentence}; give {flags}, or --baseline (plain decoding in tokens/s), to tell whether it does."


def _plain_verdict(section: Section, prediction: Prediction | None) -> str:
    if section.method == "block diffusion":
        if section.tokens_per_pass:
            return f"Block diffusion: a pass writes {section.tokens_per_pass:.2f} tokens, K/V passes counted."
        return "Block diffusion: passes are counted, the tokens they wrote are not."
    speed = section.generation_tokens_per_s or section.user_tokens_per_s
    sentence = f"No drafts in this log: plain decoding at {speed:,.1f} tokens/s" if speed else "No drafts in this log"
    if prediction and prediction.measured_over_predicted:
        return f"{sentence}, {prediction.measured_over_predicted:.2f} times the predicted step time."
    return f"{sentence}."


def _drafts(count: int) -> str:
    return "one draft token" if count == 1 else f"{count} draft tokens"


def _tokens(length: float | None) -> str:
    return f"{length:.2f} tokens" if length is not None else "its tokens"


def _times(ratio: float | None) -> str:
    return f"{ratio:.2f}" if ratio is not None else "more"
