"""The conformance suite passes what is right, and names what is wrong: each check can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from clover_sim.bulk import CausalPlan, ThresholdPlan
from clover_sim.canvas import Canvas
from clover_sim.conformance import FAILED, PASSED, SKIPPED, ConformanceError, Report, check_decoder
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.speculative import Speculative
from clover_sim.records import CAUSAL, Drafter
from clover_sim.registry import strategy_names
from clover_sim.streams.profiles import open_stream
from core.scripted import classed_stream, decoder


def outcomes(report: Report) -> dict[str, str]:
    return {check.name: check.outcome for check in report.checks}


def reason(report: Report, name: str) -> str:
    return next(check.reason for check in report.checks if check.name == name)


# ---- what is right --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, _ in strategy_names()])
def test_every_built_in(name: str) -> None:
    report = check_decoder(name)
    report.raise_if_failed()
    assert all(check.reason for check in report.checks if check.outcome == SKIPPED)


@pytest.mark.parametrize(
    "spec",
    [
        "block-diffusion:block_size=1", "block-diffusion:block_size=300,threshold=1", "block-diffusion:comparison=gt",
        "block-diffusion:threshold=0.001", "speculative:num_speculative_tokens=1", "fixed-steps:tokens_per_pass=40",
        "speculative:num_speculative_tokens=3,acceptance=0.9/0.5/0,parallel_draft=true", "clairvoyant:block_size=7",
    ],
)  # fmt: skip
def test_built_ins_at_other_settings(spec: str) -> None:
    check_decoder(spec).raise_if_failed()


@pytest.mark.parametrize("given", [BlockDiffusion(), BlockDiffusion, lambda: BlockDiffusion(8), "ar"], ids=repr)
def test_object_class_function_and_text(given: Any) -> None:
    assert check_decoder(given).ok


@pytest.mark.parametrize("profile", ["tool-call", "code", "chat", "math"])
def test_own_streams_take_the_place_of_the_defaults(profile: str) -> None:
    report = check_decoder(BlockDiffusion(), streams=[open_stream(profile, 64), classed_stream(40)])
    assert [check.name for check in report.checks if check.name.startswith("decodes ")][:2] == [
        f"decodes {profile}", "decodes classed",
    ]  # fmt: skip
    report.raise_if_failed()


def revising(canvas: Canvas) -> Any:
    """Above 0.5 is settled, what the model would change is taken back, until a pass changes nothing."""
    while canvas.remaining:
        span, busy = canvas.block(16), True
        while busy:
            view = yield span
            edited = view.edits(0.9)
            new = view.above(0.5) or view.best()
            canvas.reopen(edited)
            canvas.commit([*edited, *new])
            busy = bool(edited or new)


def renoising(canvas: Canvas) -> Any:
    while canvas.remaining:
        start, stop = canvas.frontier, min(canvas.frontier + 64, canvas.limit)
        for _ in range(12):
            view = yield canvas.span(start, stop)
            sure = view.where(lambda p, view=view: view.entropy(p) < 2.0)
            if len(sure) == len(view.positions):
                break
        canvas.commit(sure)
        canvas.commit(view.best(64))
        yield canvas.span(start, stop, CAUSAL)


def looking_up(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.next(canvas.propose(4) + 1)
        canvas.commit(view.agreed())


def drafting_with_care(canvas: Canvas) -> Any:
    while canvas.remaining:
        for drafted in range(1, min(4, canvas.remaining) + 1):
            view = yield canvas.draft()
            if view.draft_confidence(canvas.frontier + drafted - 1) < 0.4:
                break
        view = yield canvas.next(drafted + 1)
        canvas.commit(view.agreed())


@pytest.mark.parametrize(
    ("decode", "declared"),
    [
        (revising, {"needs": {"edits"}, "revises": True, "max_idle_passes": 1, "kv_write": "fused"}),
        (renoising, {"needs": {"entropy"}, "max_idle_passes": 12}),
        (looking_up, {"needs": {"proposals"}, "draft_source": Drafter(None, (0.6,), 0.4)}),
        (drafting_with_care, {"needs": {"draft-confidence"}, "draft_source": Drafter("small", (0.8,))}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_richer_decoders(decode: Callable[[Canvas], Any], declared: dict[str, Any]) -> None:
    report = check_decoder(decoder(decode, **declared))
    report.raise_if_failed()
    assert outcomes(report)["decodes restless"] == PASSED
    assert "which this stream does not provide" in reason(report, "decodes reference")


# ---- what is wrong, and the check that says so ----------------------------------------------------------------------


def threshold(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.block(8)
        canvas.commit(view.above(0.9) or view.best())


def token_by_token(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.next()
        canvas.commit(view.agreed())


def rule_that_cannot_fail(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.block(8)
        canvas.commit(view.where(lambda p: True))


def fallback_dressed_as_a_rule(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.block(8)
        best = view.best()
        canvas.commit(view.above(0.9) or view.where(lambda p, best=best: p in best))


class Remembers:
    """Its second run differs from its first."""

    def __init__(self) -> None:
        self.runs = 0

    def decode(self, canvas: Canvas) -> Any:
        self.runs += 1
        size = 4 + self.runs % 3
        while canvas.remaining:
            view = yield canvas.block(size)
            canvas.commit(view.best(2))


class SharesState:
    """Requests of one batch disturb each other."""

    def __init__(self) -> None:
        self.confident: list[int] = []

    def decode(self, canvas: Canvas) -> Any:
        self.confident.clear()
        while canvas.remaining:
            view = yield canvas.block(8)
            self.confident.append(len(view.positions))
            canvas.commit(view.best(1 + len(self.confident) % 2))


@dataclass
class Open:
    """A dataclass that is not frozen."""

    size: int = 8

    def decode(self, canvas: Canvas) -> Any:
        return threshold(canvas)


@dataclass(frozen=True)
class Unpicklable:
    """It holds what cannot be sent to another process."""

    rule: Callable[[int], int] = field(default=lambda k: k)

    def decode(self, canvas: Canvas) -> Any:
        return threshold(canvas)


@dataclass(frozen=True)
class ForgetsOnCopy:
    """Its copies differ from it."""

    settings: list[int] = field(default_factory=list, compare=True)
    made: ClassVar[list[int]] = []

    def __deepcopy__(self, memo: Any) -> ForgetsOnCopy:
        return ForgetsOnCopy([*self.settings, 1])

    def decode(self, canvas: Canvas) -> Any:
        return threshold(canvas)


def wrong_plan(canvas: Canvas) -> Any:
    return threshold(canvas)


def stops_at_the_limit_only(canvas: Canvas) -> Any:
    for _ in range(canvas.limit):  # not "while canvas.remaining": it does not notice the end of the text
        view = yield canvas.next()
        canvas.commit(view.agreed())


def commits_too_much(canvas: Canvas) -> Any:
    while canvas.remaining:
        yield canvas.block(8)
        canvas.commit(range(canvas.frontier, canvas.frontier + 3))


def ends_early(canvas: Canvas) -> Any:
    if canvas.remaining:
        view = yield canvas.next()
        canvas.commit(view.agreed())


def uses_what_it_did_not_declare(canvas: Canvas) -> Any:
    while canvas.remaining:
        view = yield canvas.block(8)
        canvas.commit(view.where(lambda p, view=view: view.entropy(p) < 0.5) or view.best())


WRONG: list[tuple[Any, str, str]] = [
    (decoder(rule_that_cannot_fail), "its rule can fail", "let position 0 of 1 through"),
    (decoder(fallback_dressed_as_a_rule), "its rule can fail", "at confidence 0"),
    (BlockDiffusion(threshold=0.0), "its rule can fail", "at confidence 0"),
    (Remembers(), "same result every time", "the same object gave two different results"),
    (SharesState(), "same passes in a batch", "in a batch it does not do what it does alone"),
    (Open(), "frozen", "@dataclass(frozen=True, slots=True)"),
    (Unpicklable(), "can be copied and pickled", "PicklingError|Can't pickle"),
    (ForgetsOnCopy(), "can be copied and pickled", "not equal"),
    (decoder(wrong_plan, plan=lambda self: CausalPlan()), "decodes reference", "plan() does not describe"),
    (decoder(threshold, plan=lambda self: ThresholdPlan(8, 0.91, False)), "plan() equals decode()", "differ"),
    (decoder(threshold, plan=lambda self: ThresholdPlan(9, 0.9, False)), "plan() equals decode()", "differ"),
    (decoder(stops_at_the_limit_only), "decodes reference", "eos_stop=early"),
    (decoder(commits_too_much), "decodes reference", "has not seen"),
    (decoder(ends_early), "decodes reference", "positions masked"),
    (decoder(uses_what_it_did_not_declare), "decodes hopeless", "'entropy'"),
    (decoder(threshold, needs={"telepathy"}), "decodes perfect", "telepathy"),
    (decoder(lambda canvas: None), "decodes reference", "generator"),
]


@pytest.mark.parametrize(("bad", "check", "match"), WRONG, ids=[f"{i}-{row[1]}" for i, row in enumerate(WRONG)])
def test_what_is_wrong_is_named(bad: Any, check: str, match: str) -> None:
    import re

    report = check_decoder(bad)
    assert not report.ok
    wanted = SKIPPED if "telepathy" in match else FAILED
    assert outcomes(report)[check] == wanted, str(report)
    assert re.search(match if "|" in match else re.escape(match), reason(report, check)), str(report)
    assert all("\n" not in c.reason for c in report.checks)
    with pytest.raises(ConformanceError) as caught:
        report.raise_if_failed()
    assert str(caught.value) == str(report)


def test_failures_name_the_case_and_the_line() -> None:
    text = reason(check_decoder(decoder(ends_early)), "decodes reference")
    assert text.startswith("reference, 0 tokens, eos_stop=canvas, max_new_tokens=45: ")
    assert "test_conformance.py:" in text


def test_what_would_follow_from_a_failure_is_skipped() -> None:
    found = outcomes(check_decoder(decoder(ends_early)))
    assert found["plan() equals decode()"] == found["same passes in a batch"] == SKIPPED


@pytest.mark.parametrize("bad", [object(), 3, None, object, "no-such-strategy", lambda: 3, lambda: 1 / 0, ["ar"]])
def test_what_is_no_decoder_at_all(bad: Any) -> None:
    report = check_decoder(bad)
    assert [(check.name, check.outcome) for check in report.checks] == [("can be made", FAILED)]
    assert report.checks[0].reason and not report.ok


def test_the_report_reads_well() -> None:
    lines = str(check_decoder(Speculative())).splitlines()
    assert lines[0].startswith("Speculative(num_speculative_tokens=5")
    assert lines[0].endswith("passed, 0 failed, 2 skipped")
    assert any(line.startswith("  skipped  plan() equals decode()") and "it has no plan()" in line for line in lines)
    assert all(len(line) <= 160 for line in lines)


def test_a_local_class_is_told_why_it_is_not_pickled() -> None:
    @dataclass(frozen=True, slots=True)
    class Local:
        def decode(self, canvas: Canvas) -> Any:
            return token_by_token(canvas)

    report = check_decoder(Local())
    assert report.ok and "inside a function" in reason(report, "can be copied and pickled")


def test_a_stream_of_ones_own_that_lacks_what_is_needed() -> None:
    report = check_decoder("clairvoyant", streams=[open_stream("reference", 40)])
    assert outcomes(report)["decodes reference"] == SKIPPED and report.ok
