"""The verdict on a section: one or two sentences, each figure with what it is held against."""

from __future__ import annotations

from clover_sim.explain._measured import GIVEN, Comparison, pass_time_s, possible, speed_of
from clover_sim.explain._predict import Prediction
from clover_sim.explain._setup import Setup
from clover_sim.logs import Section
from clover_sim.speculation.words import undecided

LOW_LENGTH = 1.3
EVEN, EVEN_ESTIMATED = 0.03, 0.12
"""Distance from 1 within which a speed-up is neither a gain nor a loss; predicted plain steps are no surer."""

_SHOWN = 0.05
_WORTH_IT = 1.05
"""Gain from which another draft length is worth a word: prices are no finer."""


def verdict(
    section: Section, compared: Comparison | None, prediction: Prediction | None, setup: Setup, machine_known: bool
) -> str:
    """Whether drafting pays, by ``compared``; else what is missing to tell."""
    if not section.speculative:
        return _of_plain(section, prediction)
    length, k = section.tokens_per_pass or section.acceptance_length, section.longest_path
    if section.draft_tokens == 0 or section.cycles == 0:
        return "Nothing was drafted in this log, so speculation neither helped nor cost more than its overhead."
    if prediction is not None and prediction.plain_refused:
        if compared is None or compared.against == GIVEN:
            return f"No verdict: {prediction.plain_refused}."
        measured = verdict(section, compared, None, setup, machine_known)
        return f"{measured} No price stands beside it: {prediction.plain_refused}."
    if compared is not None and not possible(compared):
        if compared.measured or prediction is None:
            return _beyond(compared, length)
        return _impossible(prediction, compared)
    if compared is None:
        return _unpriced(section, length, k, setup, machine_known)
    if compared.cost_ratio is None:
        return f"Speculation ran at {compared.speedup:.2f}x of {compared.against}; the log does not say why."
    if not compared.measured and unheld(section):
        batch = prediction.batch_size if prediction else 1
        return (
            f"Whether speculation pays cannot be told: by prices it is {compared.speedup:.2f}x at a batch of {batch}, "
            f"but the log's own speed, {speed_of(section):,.1f} tokens/s, is that of an unknown number of "
            "requests; give --batch-size, those that ran together, to hold the one against the other."
        )
    how = "measured" if compared.measured else "estimated"
    sentence = f"{_tokens(length)} for {times(compared.cost_ratio)} plain steps ({how}, against {compared.against})"
    other = _other_estimate(prediction, compared)
    advice = advise(prediction, k, compared.speedup, hedged=bool(other))
    undrafted = prediction is not None and not prediction.draft_priced and not section.cycle_time_s
    if undrafted and not compared.measured and compared.speedup > 1:
        return (
            f"Speculation gains at most {compared.speedup:.2f}x: a cycle writes {_tokens(length)} for "
            f"{times(compared.cost_ratio)} plain steps before drafting, which is not priced; say how drafts are made "
            "(--method eagle3, mtp, dflash, ngram, ...; a draft model with --drafter) to price it."
        )
    if other and prediction is not None and undecided(compared.speedup, prediction.speedup or 1.0):
        first = (
            f"Whether speculation pays cannot be told: a cycle writes {sentence}, {compared.speedup:.2f}x if that step "
            "takes its price."
        )
    elif abs(compared.speedup - 1) <= (EVEN if compared.measured else EVEN_ESTIMATED):
        about = "" if compared.measured else " as far as an estimate can tell"
        first = f"Speculation breaks even{about}, {compared.speedup:.2f}x: a cycle writes {sentence}."
    elif compared.speedup > 1:
        first = f"Speculation pays, {compared.speedup:.2f}x: a cycle writes {sentence}."
    else:
        first = f"Speculation is slower than plain decoding, {compared.speedup:.2f}x: a cycle writes {sentence}."
        first += _where_it_goes(prediction, compared.cost_ratio)
        if k is not None and compared.cost_ratio > k + 1:
            rest = f"Even full acceptance ({k + 1}) could not pay for it: turn it off here, or cut the cost of a cycle."
        else:
            rest = f"It would pay from {compared.cost_ratio:.2f} tokens a cycle on"
            rest += "." if advice else ": draft less, or turn it off at this load."
        first += f" {rest}"
    if prediction is not None and not prediction.draft_priced:
        advice = "Say how drafts are made (--method) to hold the cycle against its price."
    return f"{first}{other} {advice}".rstrip()


def unheld(section: Section) -> bool:
    """Whether the log has a speed that nothing can be made of, for the requests it is of are not known."""
    return pass_time_s(section) is None and bool(speed_of(section)) and not section.running_requests


def unexplained(prediction: Prediction | None, compared: Comparison | None) -> bool:
    """Whether the speed-up rests on a cycle of the log that its price does not explain, and on a priced plain step."""
    if prediction is None or compared is None or compared.measured or not compared.cost_ratio:
        return False
    time_s = compared.cost_ratio * prediction.plain_step_s
    return prediction.draft_priced and not prediction.low_s <= time_s * (1 + 1e-9) <= prediction.high_s * (1 + 2e-9)


def _other_estimate(prediction: Prediction | None, compared: Comparison) -> str:
    """How far the speed-up could be off where the log's cycle is not what it should cost."""
    if prediction is None or not prediction.speedup or not unexplained(prediction, compared):
        return ""
    return (
        f" But the log's cycle is {prediction.measured_over_predicted or 0:.2f} times its price "
        f"({prediction.low_s * 1e3:.1f} to {prediction.high_s * 1e3:.1f} ms expected): if a plain step is off as much, "
        f"it is {prediction.speedup:.2f}x. Measure plain decoding (--baseline), or check card, format and prompt "
        "length."
    )


def _beyond(compared: Comparison, length: float | None) -> str:
    return (
        f"No verdict: the log is {compared.speedup:.2f} times as fast as {compared.against}, more than the "
        f"{_tokens(length)} of a cycle allow. The two are not of one machine and load: a plain speed is that of all "
        "requests together, with the same requests, prompts and flags."
    )


def _impossible(prediction: Prediction, compared: Comparison) -> str:
    time_s = (compared.cost_ratio or 0.0) * prediction.plain_step_s
    return (
        f"The log did not run on what it is held against: its cycle takes {time_s * 1e3:.2f} ms, and on "
        f"{prediction.machine} one plain step alone takes {prediction.plain_step_s * 1e3:.2f} ms. Check card, cards, "
        "model, format and prompt length; what was measured on one card cannot be moved to another (speculate "
        "--from-log asks about another)."
    )


def _where_it_goes(prediction: Prediction | None, cost_ratio: float) -> str:
    """What the steps of a cycle are spent on, as far as prices tell."""
    if prediction is None or not prediction.draft_priced:
        return ""
    verify, draft = (part / prediction.plain_step_s for part in (prediction.verify_s, prediction.draft_s))
    rest = cost_ratio - verify - draft
    prompts = (prediction.prompt_share or 0.0) * cost_ratio
    among = f"prompts of other requests about {prompts:.2f}, " if prompts > _SHOWN else ""
    left = f", and {rest:.2f} are not in any price ({among}host, scheduling, other work)" if rest > 0.1 else ""
    return f" Verifying takes {verify:.2f} of them by price and drafting {draft:.2f}{left}."


def advise(prediction: Prediction | None, k: int | None, speedup: float, *, hedged: bool = False) -> str:
    """The best draft length and the batch where drafts stop paying, held against the speed-up of the log.

    Args:
        k: what was drafted, of a tree its levels. hedged: whether a plain step may be off as much as the cycle.
    """
    if prediction is None or prediction.best_num_speculative_tokens is None or prediction.fitted_speedup is None:
        return ""
    best, gain = prediction.best_num_speculative_tokens, prediction.best_speedup or 1.0
    fastest, other = prediction.fastest_setting, prediction.fastest_speedup_by_prices or 1.0
    tree, parts = prediction.tree, []
    also = f", {other:.2f}x if a plain step is off as much" if hedged else ""
    length = "depth of this tree" if tree else "draft length"
    if best == 0 and other > 1 and not prediction.plain_measured:
        parts.append(
            f"the fastest {length}, {prediction.fastest_num_speculative_tokens} ({fastest}), is "
            f"{prediction.fastest_speedup or 1.0:.2f}x with a plain step at its price and {other:.2f}x if that is off "
            "as much as the cycle, so only a plain speed (--baseline) tells whether to draft at this load"
        )
    elif best == 0:
        at_best = f" (at best {prediction.fastest_speedup or 1.0:.2f}x{also})" if hedged else ""
        parts.append(f"no {length} pays at this load{at_best}")
    elif best == k:
        parts.append(f"no other {length} is faster")
    elif gain > _WORTH_IT * prediction.fitted_speedup:
        parts.append(f"draft {best} {'levels ' * tree}instead of {k} ({fastest}): {gain:.2f}x{also}")
    else:
        least = f"but by less than prices can tell ({gain:.2f}x{also}; {fastest})"
        parts.append(f"{best} levels are best, {least}" if tree else f"a draft length of {best} is best, {least}")
    if prediction.other_setting and (prediction.other_speedup or 0.0) > 1:
        parts.append(f"faster than any depth of it: {prediction.other_setting}, {prediction.other_speedup:.2f}x")
    if prediction.chain_setting and prediction.chain_setting != prediction.other_setting:
        parts.append(f"without a tree, {prediction.chain_setting} is {prediction.chain_speedup:.2f}x")
    if best and best == prediction.longest_tried and best != k and not tree:
        parts[-1] += f", the longest tried (speculate --from-log with --draft-lengths {2 * best} goes further)"
    if best and prediction.crossover_batch is not None:
        parts.append(f"drafting stops paying at a batch of {prediction.crossover_batch}")
    elif best and speedup > 1 + EVEN_ESTIMATED:
        parts.append("it pays at every batch that was priced")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _unpriced(section: Section, length: float | None, k: int | None, setup: Setup, machine_known: bool) -> str:
    named = "give --num-speculative-tokens, the draft length, which the log does not say"
    if length is None:
        rate = f"{section.acceptance_rate:.1%} of the drafts were accepted, but " if section.acceptance_rate else ""
        missing = named if k is None else "give a plain speed (--baseline)"
        return (
            f"{rate[:1].upper()}{rate[1:]}" + ("the" if rate else "The") + " log does not say how many tokens a pass "
            f"writes, so whether speculation pays cannot be told from it; {missing}."
        )
    most = f" of at most {k + 1}" if k else ""
    pays = f"speculation pays if a cycle costs less than {length:.2f} plain steps"
    subject = "A pass" if section.tokens_per_pass is not None else "A cycle"
    sentence = f"{subject} writes {length:.2f} tokens{most}, so {pays}"
    if length < LOW_LENGTH:
        return f"{sentence}, which is unlikely: a cycle rarely costs less than 1.2."
    if machine_known and k is None:
        return f"{sentence}; {named}, to tell whether it does."
    if machine_known:
        return f"{sentence}; give --baseline (plain decoding in tokens/s) to tell whether it does."
    flags = "--gpu (the log names the model)" if setup.model else "--model and --gpu"
    also = "" if k else " with --num-speculative-tokens"
    return f"{sentence}; give {flags}{also}, or --baseline (plain decoding in tokens/s), to tell whether it does."


def _of_plain(section: Section, prediction: Prediction | None) -> str:
    if section.method == "block diffusion":
        if section.tokens_per_pass:
            return f"Block diffusion: a pass writes {section.tokens_per_pass:.2f} tokens, K/V passes counted."
        return "Block diffusion: passes are counted, the tokens they wrote are not."
    speed = section.generation_tokens_per_s or section.user_tokens_per_s
    sentence = f"No drafts in this log: plain decoding at {speed:,.1f} tokens/s" if speed else "No drafts in this log"
    if prediction and prediction.measured_over_predicted:
        return f"{sentence}, {prediction.measured_over_predicted:.2f} times the predicted step time."
    return f"{sentence}."


def drafts(count: int) -> str:
    """So many draft tokens, in words."""
    return "one draft token" if count == 1 else f"{count} draft tokens"


def times(ratio: float | None) -> str:
    """A ratio in digits; ``more`` where it is not known."""
    return f"{ratio:.2f}" if ratio is not None else "more"


def _tokens(length: float | None) -> str:
    return f"{length:.2f} tokens" if length is not None else "its tokens"
