"""An explanation as blocks of rows and sentences, for any renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clover_sim.errors import InputError, UsageError
from clover_sim.explain._acceptance import acceptance_of, tree_of
from clover_sim.logs import Section
from clover_sim.speculation.settings import words

if TYPE_CHECKING:
    from clover_sim.explain import Explanation
    from clover_sim.explain._judge import Judgement
    from clover_sim.explain._predict import Prediction

Row = tuple[str, str, str]
Block = tuple[str, list[Row], list[str]]

_MOST_SKIPS = 6
_MOST_POSITIONS = 16
_ONE_CARD = "the card must be the one that the log ran on; speculate --from-log asks about another"


def outline(found: Explanation) -> list[Block]:
    """What was read, each section, the warnings, the verdict."""
    reading = found.reading
    rows: list[Row] = [("lines used", f"{reading.lines_used:,}", f"of {reading.lines_read:,}")]
    rows += [("skipped", f"{s.lines:,}", f"{s.reason}; first: {s.first}") for s in reading.skipped[:_MOST_SKIPS]]
    if len(reading.skipped) > _MOST_SKIPS:
        rows.append(("skipped", f"{sum(s.lines for s in reading.skipped[_MOST_SKIPS:]):,}", "for other reasons"))
    names = ", ".join("standard input" if name == "-" else name for name in reading.files)
    blocks: list[Block] = [(f"read {names}", rows, [])]
    if facts := [(name.replace("_", " "), _short(fact.value), _origin(fact)) for name, fact in found.setup.facts()]:
        blocks.append(("the run, as the log states it", facts, []))
    for section, prediction, judgement in zip(reading.sections, found.predictions, found.judgements, strict=True):
        blocks.append(_section(section))
        if section.identities:
            blocks.append(("checks", [_check(i) for i in section.identities], []))
        if prediction:
            blocks.append(_predicted(section, prediction, judgement, found.setup.gpu is not None))
        if section.conventions:
            blocks.append(("what the words mean", [], [f"- {text}" for text in section.conventions]))
        if len(reading.sections) > 1:
            blocks.append((f"verdict on the {section.format}", [], [judgement.verdict]))
    if found.warnings:
        blocks.append(("warnings", [], [f"- {warning}" for warning in found.warnings]))
    blocks.append(("verdict", [], [found.verdict]))
    return blocks


def _section(section: Section) -> Block:
    method = f", {section.method}" if section.method else ""
    rows: list[Row] = []

    def add(name: str, value: float | None, form: str, remark: str = "") -> None:
        if value is not None:
            rows.append((name, format(value, form), remark))

    add("cycles", section.cycles, ",.0f", "passes that had a draft")
    if section.passes != section.cycles:
        add("target passes", section.passes, ",.0f", "those without a draft included")
    add("output tokens", section.output_tokens, ",.0f")
    k, tree = section.num_speculative_tokens, tree_of(section)
    if tree is None:
        add("draft length", k, "d", f"num_speculative_tokens {k}; SGLang's num_draft_tokens {(k or 0) + 1}")
    else:
        flags = words("sglang", tree.levels, tree)
        add("tree", tree.budget, "d", f"tokens verified a cycle with the root, {tree.levels} levels: {flags}")
    add("drafted tokens", section.draft_tokens, ",.0f")
    add("accepted tokens", section.accepted_tokens, ",.0f")
    rate, length = section.acceptance_rate, section.acceptance_length
    of_tree = "" if tree is None else f", of a tree: one path is kept, so {tree.levels / (tree.budget - 1):.1%} at most"
    add("acceptance rate", rate, ".1%", f"accepted / {'drafted' if tree is None else 'verified'}{of_tree}")
    if length is not None:
        most = "" if tree is None else f", of at most {tree.levels + 1}"
        add("acceptance length", length, ".3f", f"bonus token included{most}; {length - 1:.3f} without it")
    if tree is not None:
        add("rate of a token", _alpha(section), ".3f", "the drafter's best one is the target's; by the law of trees")
    add("tokens per pass", section.tokens_per_pass, ".3f", "over all target passes")
    survival = section.per_position_survival
    if survival:
        shown = survival[:_MOST_POSITIONS]
        more = f" and {len(survival) - len(shown)} more" if len(survival) > len(shown) else ""
        rows.append(("survival", "", " ".join(f"{s:.3f}" for s in shown) + more))
        given = [s / before if before else 0.0 for s, before in zip(shown, (1.0, *shown), strict=False)]
        rows.append(("conditional", "", " ".join(f"{c:.3f}" for c in given) + ", each given those before"))
    if k and length is not None:
        rows.append(("SGLang's rate", f"{length / (k + 1):.3f}", f"older; since 2026 it is {(length - 1) / k:.3f}"))
    scale = 1e3
    add("cycle time", _times(section.cycle_time_s, scale), ".2f", "ms, from a request's verify pass to its next")
    add("drafting", _times(section.draft_time_s, scale), ".2f", "ms of it")
    add("verifying", _times(section.verify_time_s, scale), ".2f", "ms of it, overhead included")
    add("draft passes", section.draft_passes, ",.0f", "passes of the drafter")
    add("throughput", section.generation_tokens_per_s, ",.1f", "tokens/s, all requests together")
    add("one user", section.user_tokens_per_s, ",.1f", "tokens/s of one request")
    add("running", section.running_requests, ",.1f", "requests decoded together, on average")
    if section.waiting_requests:
        add("waiting", section.waiting_requests, ",.1f", "requests")
    add("prompts", section.prompt_tokens_per_s or None, ",.1f", "tokens/s, processed beside")
    add("plain decoding", section.baseline_tokens_per_s, ",.1f", "tokens/s, by the same benchmark")
    rows.append(("lines", f"{section.lines_used:,}", f"of {section.lines_read:,} of this kind"))
    return f"{section.format}{method}", rows, []


def _alpha(section: Section) -> float | None:
    try:
        made = acceptance_of(section)
        return None if made is None else made.alpha
    except (InputError, UsageError):
        return None


def _times(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _check(identity: tuple[str, float, float | None, str, str]) -> Row:
    name, derived, stated, unit, how = identity
    scale, shown = (1e3, "ms") if unit == "s" else (1.0, unit)
    remark = f"{shown + ': ' if shown else ''}{how}"
    if stated is not None:
        remark += f"; stated {stated * scale:,.4g}"
    return name, f"{derived * scale:,.4g}", remark


def _short(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _origin(fact: tuple[object, str, str]) -> str:
    value, stated, where = fact
    same = stated.lower() == _short(value).lower()
    return where if same else f"{stated}; {where}"


def _predicted(section: Section, p: Prediction, judgement: Judgement, stated: bool) -> Block:
    timed = p.measured_over_predicted is not None
    speed = "from the plain speed" if p.plain_measured else f"{p.plain_tokens_per_s:,.1f} tokens/s"
    held = f"{p.context_tokens:,.0f} cached tokens each"
    rows: list[Row] = [("plain step", f"{p.plain_step_s * 1e3:.2f}", f"ms; {speed} at batch {p.batch_size}, {held}")]
    if section.speculative:
        rows += [
            ("verify pass", f"{p.verify_s * 1e3:.2f}", f"ms, {p.verify_width} tokens a request"),
            ("drafting", f"{p.draft_s * 1e3:.2f}" if p.draft_priced else "?", f"ms; {p.note}"),
            ("cycle", f"{p.cycle_s * 1e3:.2f}", f"ms ({p.low_s * 1e3:.2f} to {p.high_s * 1e3:.2f})"),
            ("cost of a cycle", f"{p.cost_ratio:.2f}", "plain steps: the tokens a cycle must write to break even"),
        ]
    if p.measured_over_predicted is not None:
        what = "cycle" if section.speculative else "step"
        rows.append((f"measured {what}", f"{p.measured_over_predicted:.2f}", f"times the predicted {what}"))
    if p.speedup is not None:
        rows.append(("speed-up by prices", f"{p.speedup:.2f}", _relation(section, p, judgement)))
    best = p.best_num_speculative_tokens
    if best is not None and p.best_speedup is not None:
        basis = f"a cycle {p.cycle_factor:.2f} times its price, as in the log" if p.cycle_factor else "by prices alone"
        name = "best depth of the tree" if p.tree else "best draft length"
        if best:
            remark = f"{p.best_speedup:.2f} x at this batch, the best of 1 to {p.longest_tried}; {basis}"
            rows.append((name, f"{best}", f"{remark}; {p.fastest_setting}"))
        else:
            rows.append((name, "0", f"plain decoding is faster; the best of 1 to {p.longest_tried} is "
                         f"{p.fastest_num_speculative_tokens}, {p.fastest_speedup or 1.0:.2f} x; {basis}"))  # fmt: skip
        if p.other_setting:
            rows.append(("another shape", f"{p.other_speedup:.2f}", f"x: {p.other_setting}"))
        if p.chain_setting:
            rows.append(("best chain", f"{p.chain_speedup:.2f}", f"x: {p.chain_setting}"))
        if p.crossover_batch is not None:
            what = "tree" if p.tree else "draft length"
            rows.append(("stops paying at", f"{p.crossover_batch}", f"requests together, with this {what}"))
    told = [] if stated or not timed else [_ONE_CARD]
    return f"predicted for {p.machine}", rows, told


def _relation(section: Section, p: Prediction, judgement: Judgement) -> str:
    """What the predicted speed-up is beside that of the verdict."""
    if judgement.measured:
        return "x: acceptance of the log over the predicted cost; the verdict's is measured"
    if section.cycle_time_s and p.measured_over_predicted is not None:
        return "x if a cycle took as predicted; the verdict takes the cycle of the log and the plain step from here"
    return "x: acceptance of the log over the predicted cost, as in the verdict"
