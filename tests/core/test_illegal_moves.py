"""Each move that the seven rules forbid: refused, in one line, with the decoder's own file and line.

Every decoder here does its forbidden move on the line marked with "HERE". A decoder that catches what it is told, and
goes on as if nothing had happened, is refused all the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.engine import run
from clover_sim.errors import DecoderFault, IllegalMove, UsageError
from clover_sim.records import BLOCK, CAUSAL, DRAFT, Attend, Drafter, Forward
from clover_sim.streams.reference import reference_stream
from core.scripted import decoder, scripted_stream

DRAFTS = Drafter(None, (1.0,))
TOKENS = 12
Decode = Callable[[Canvas], Any]
CASES: list[Any] = []


def refused(match: str, error: type[Exception] = IllegalMove, **declared: Any) -> Callable[[Decode], Decode]:
    """Register a decoder whose marked line must be refused with ``error`` and a message that holds ``match``."""

    def register(decode: Decode) -> Decode:
        CASES.append(pytest.param(decode, declared, error, match, id=decode.__name__))
        return decode

    return register


def marked_line(decode: Decode) -> str:
    lines, first = inspect.getsourcelines(decode)
    number = first + next(i for i, line in enumerate(lines) if "# HERE" in line)
    return f"{inspect.getsourcefile(decode)}:{number}"


def anything(**extras: Any) -> Any:
    return scripted_stream(
        TOKENS, entropy=lambda p, v: 0.1, kl=lambda p, v: 0.1, changed=lambda p, v: True, edit=lambda p, v: 0.9,
        draft_confidence=lambda p: 0.5, proposes=lambda p, n: n,
    )  # fmt: skip


# ---- rule 1: no pass, no view; no view, nothing to commit -----------------------------------------------------------


@refused("commit without a pass")
def commit_before_any_pass(canvas: Canvas) -> Any:
    canvas.commit([0])  # HERE
    yield canvas.next()


@refused("reopen without a target pass", revises=True)
def reopen_before_any_pass(canvas: Canvas) -> Any:
    canvas.reopen([0])  # HERE
    yield canvas.next()


@refused("position 8.*has not seen")
def commit_outside_the_span(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([8])  # HERE


@refused("already filled")
def commit_twice_in_one_pass(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([3])
    canvas.commit([3])  # HERE


@refused("already filled")
def commit_twice_in_one_call(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([3, 3])  # HERE


@refused("already filled")
def commit_again_in_a_later_pass(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([3])
    yield canvas.block(8)
    canvas.commit([3])  # HERE


def _commit(bad: Any) -> Decode:
    def commit_bad_position(canvas: Canvas) -> Any:
        yield canvas.block(8)
        canvas.commit([bad])  # HERE

    return commit_bad_position


for bad in (-1, -8, 1.0, 2.5, True, False, None, "1", 10**30, float("nan"), (0,)):
    CASES.append(pytest.param(_commit(bad), {}, IllegalMove, "has not seen", id=f"commit_{bad!r:.12}"))


@refused("'NoneType' object is not iterable", DecoderFault)
def commit_none(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit(None)  # type: ignore[arg-type]  # HERE


@refused("stale")
def ask_a_stale_view(canvas: Canvas) -> Any:
    old = yield canvas.block(8)
    canvas.commit([0])
    yield canvas.block(8)
    canvas.commit(old.above(0.1))  # HERE


@refused("stale")
def read_a_stale_confidence(canvas: Canvas) -> Any:
    old = yield canvas.block(8)
    canvas.commit([0])
    yield canvas.block(8)
    old.confidence(1)  # HERE


@refused("stale")
def stale_agreement(canvas: Canvas) -> Any:
    old = yield canvas.next()
    canvas.commit(old.agreed())
    yield canvas.next()
    old.agreed()  # HERE


@refused("already filled")
def commit_what_a_stale_view_returned(canvas: Canvas) -> Any:
    old = yield canvas.block(8)
    found = old.above(0.1)
    canvas.commit(found)
    yield canvas.block(12)
    canvas.commit(found)  # HERE


@refused("has not scored a masked position")
def read_a_filled_position(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    canvas.commit([0])
    view.confidence(0)  # HERE


def _confidence(bad: Any) -> Decode:
    def read_bad_position(canvas: Canvas) -> Any:
        view = yield canvas.block(8)
        view.confidence(bad)  # HERE

    return read_bad_position


for bad in (-1, 8, 1.0, True, None, 10**30):
    CASES.append(pytest.param(_confidence(bad), {}, IllegalMove, "has not scored", id=f"confidence_{bad!r:.12}"))


def _best(bad: Any) -> Decode:
    def ask_for_a_bad_number(canvas: Canvas) -> Any:
        view = yield canvas.block(8)
        view.best(bad)  # HERE

    return ask_for_a_bad_number


for bad in (0, -1, 1.5, True):
    CASES.append(pytest.param(_best(bad), {}, IllegalMove, "whole number", id=f"best_{bad!r}"))


@refused("outside the canvas")
def look_outside(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.filled(-1)  # HERE


@refused("can't set|no setter|has no attribute|read-only", DecoderFault)
def move_the_frontier(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.frontier = 8  # type: ignore[misc]  # HERE


@refused("can't set|no setter|has no attribute|read-only", DecoderFault)
def move_the_limit(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.limit = 4  # type: ignore[misc]  # HERE


@refused("object does not support item assignment", DecoderFault)
def change_what_a_rule_returned(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    view.above(0.9)[0] = 3  # type: ignore[index]  # HERE


@refused("object does not support item assignment", DecoderFault)
def change_the_agreement(canvas: Canvas) -> Any:
    view = yield canvas.next()
    view.agreed()[0] = 3  # type: ignore[index]  # HERE


@refused("cannot assign to field|can't set attribute", DecoderFault)
def change_a_request(canvas: Canvas) -> Any:
    forward = canvas.block(8)
    forward.stop = 12  # type: ignore[misc]  # HERE
    yield forward


# ---- rule 2: drafts are bought --------------------------------------------------------------------------------------


@refused("buy them", draft_source=DRAFTS)
def verify_without_drafts(canvas: Canvas) -> Any:
    yield canvas.next(3)  # HERE


@refused("buy them", draft_source=DRAFTS)
def verify_more_than_was_drafted(canvas: Canvas) -> Any:
    yield canvas.draft(2)
    yield canvas.next(4)  # HERE


@refused("buy them", draft_source=DRAFTS)
def verify_old_drafts_after_a_causal_commit(canvas: Canvas) -> Any:
    yield canvas.draft(6)
    view = yield canvas.next()
    canvas.commit(view.agreed())
    yield canvas.next(3)  # HERE


@refused("buy them", draft_source=DRAFTS)
def verify_old_drafts_after_a_block_commit(canvas: Canvas) -> Any:
    yield canvas.draft(8)
    view = yield canvas.block(8)
    canvas.commit(view.best())
    yield canvas.next(3)  # HERE


@refused("buy them", draft_source=DRAFTS, revises=True, max_idle_passes=1)
def reopened_positions_are_no_drafts(canvas: Canvas) -> Any:
    view = yield canvas.block(12)
    canvas.commit(view.best(12))
    yield canvas.span(0, 12)
    canvas.reopen(range(12))
    yield canvas.next(5)  # HERE


@refused("already filled|drafts reach only", draft_source=DRAFTS)
def verify_over_filled_positions(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([2])
    yield canvas.draft(5)
    yield canvas.next(5)  # HERE


@refused("needs a declared drafter")
def draft_without_a_drafter(canvas: Canvas) -> Any:
    yield canvas.draft(2)  # HERE


@refused("needs a declared drafter", needs={"proposals"})
def propose_without_a_drafter(canvas: Canvas) -> Any:
    canvas.propose(2)  # HERE
    yield canvas.next()


@refused("add 'proposals' to its 'needs'", draft_source=DRAFTS)
def propose_without_the_need(canvas: Canvas) -> Any:
    canvas.propose(2)  # HERE
    yield canvas.next()


@refused("drafts go on from position 0", draft_source=DRAFTS)
def draft_with_a_gap(canvas: Canvas) -> Any:
    yield Forward(2, 4, CAUSAL, DRAFT)  # HERE


@refused("drafts go on from position 2", draft_source=DRAFTS)
def draft_with_a_later_gap(canvas: Canvas) -> Any:
    yield canvas.draft(2)
    yield Forward(3, 5, CAUSAL, DRAFT)  # HERE


@refused("without progress", draft_source=DRAFTS)
def draft_the_same_for_ever(canvas: Canvas) -> Any:
    while True:
        yield Forward(0, 3, CAUSAL, DRAFT)  # HERE


@refused("expected 0 <= start < stop|drafts", draft_source=DRAFTS)
def draft_beyond_the_limit(canvas: Canvas) -> Any:
    while True:
        yield canvas.draft(5)  # HERE


@refused("passes without a new filled position", draft_source=DRAFTS, max_idle_passes=10**9)
def draft_for_ever_with_leave(canvas: Canvas) -> Any:
    while True:
        yield Forward(0, 3, CAUSAL, DRAFT)  # HERE


@refused("drafts only", draft_source=DRAFTS)
def commit_drafts(canvas: Canvas) -> Any:
    yield canvas.draft(3)
    canvas.commit([0])  # HERE


@refused("drafts only", draft_source=DRAFTS)
def commit_drafts_of_a_block_drafter(canvas: Canvas) -> Any:
    yield Forward(0, 4, BLOCK, DRAFT)
    canvas.commit([0])  # HERE


@refused("belongs to a causal target pass", draft_source=DRAFTS)
def ask_a_draft_view_for_agreement(canvas: Canvas) -> Any:
    view = yield canvas.draft(3)
    view.agreed()  # HERE


@refused("belongs to a BLOCK pass of the target", draft_source=DRAFTS)
def ask_a_draft_view_for_confidence(canvas: Canvas) -> Any:
    view = yield Forward(0, 4, BLOCK, DRAFT)
    view.above(0.1)  # HERE


@refused("belongs to a draft pass", needs={"draft-confidence"})
def ask_a_target_view_for_draft_confidence(canvas: Canvas) -> Any:
    view = yield canvas.next()
    view.draft_confidence(0)  # HERE


@refused("this pass drafted 0..2", draft_source=DRAFTS, needs={"draft-confidence"})
def read_a_draft_that_is_not_there(canvas: Canvas) -> Any:
    view = yield canvas.draft(3)
    view.draft_confidence(3)  # HERE


# ---- rule 3: a causal commit is exact -------------------------------------------------------------------------------


@refused("exactly", draft_source=DRAFTS)
def commit_less_than_agreed(canvas: Canvas) -> Any:
    yield canvas.draft(3)
    view = yield canvas.next(4)
    canvas.commit(list(view.agreed())[:-1])  # HERE


@refused("exactly", draft_source=DRAFTS)
def commit_more_than_agreed(canvas: Canvas) -> Any:
    yield canvas.draft(3)
    view = yield canvas.next(4)
    canvas.commit([*view.agreed(), 4])  # HERE


@refused("exactly", draft_source=DRAFTS)
def commit_the_agreement_backwards(canvas: Canvas) -> Any:
    yield canvas.draft(3)
    view = yield canvas.next(4)
    canvas.commit(reversed(view.agreed()))  # HERE


@refused("exactly")
def commit_nothing_of_a_causal_pass(canvas: Canvas) -> Any:
    yield canvas.next()
    canvas.commit([])  # HERE


@refused("already committed|exactly")
def commit_the_agreement_twice(canvas: Canvas) -> Any:
    view = yield canvas.next()
    canvas.commit(view.agreed())
    canvas.commit(view.agreed())  # HERE


@refused("not committed|without progress", draft_source=DRAFTS, max_idle_passes=1000)
def verify_again_until_the_draw_is_lucky(canvas: Canvas) -> Any:
    yield canvas.draft(3)
    view = yield canvas.next(4)
    view.agreed()
    yield canvas.next(4)  # HERE


@refused("belongs to a BLOCK pass")
def ask_a_causal_view_for_confidence(canvas: Canvas) -> Any:
    view = yield canvas.next()
    view.above(0.5)  # HERE


@refused("belongs to a causal target pass")
def ask_a_block_view_for_agreement(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    view.agreed()  # HERE


def _undeclared(ability: str, ask: Callable[[Any], Any]) -> Decode:
    def use_what_was_not_declared(canvas: Canvas) -> Any:
        view = yield canvas.block(8)
        ask(view)  # HERE

    return use_what_was_not_declared


# the marked line is the caller's; the lambda's own line is where the view is asked, so these are checked by message
UNDECLARED: list[tuple[str, Callable[[Any], Any]]] = [
    ("entropy", lambda view: view.entropy(0)),
    ("kl", lambda view: view.kl(0)),
    ("changed", lambda view: view.changed()),
    ("edits", lambda view: view.edits(0.5)),
    ("truth", lambda view: view.right()),
]


@pytest.mark.parametrize(("ability", "ask"), UNDECLARED, ids=[ability for ability, _ in UNDECLARED])
def test_undeclared_needs(ability: str, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(IllegalMove, match=f"add '{ability}' to its 'needs'") as caught:
        run(decoder(_undeclared(ability, ask)), anything())
    assert __file__ in str(caught.value)


# ---- rule 4: final K/V stay -----------------------------------------------------------------------------------------


@refused("K/V are already written|has not seen", revises=True, max_idle_passes=5)
def reopen_written_positions(canvas: Canvas) -> Any:
    view = yield canvas.block(4)
    canvas.commit(view.best(4))
    view = yield canvas.span(4, 8)
    canvas.reopen([0])  # HERE


@refused("K/V are already written", revises=True, kv_write="none")
def reopen_an_exact_position(canvas: Canvas) -> Any:
    view = yield canvas.next()
    canvas.commit(view.agreed())
    canvas.reopen([0])  # HERE


@refused("are final")
def denoise_over_final_positions(canvas: Canvas) -> Any:
    view = yield canvas.block(4)
    canvas.commit(view.best(4))
    view = yield canvas.block(4)
    canvas.commit(view.best())
    yield canvas.span(0, 8)  # HERE


@refused("encoding pass starts at 0")
def encode_from_the_middle(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    canvas.commit(view.best(8))
    yield canvas.span(2, 8, CAUSAL)  # HERE


@refused("commits nothing")
def commit_after_an_encoding_pass(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    canvas.commit(view.best(8))
    view = yield canvas.span(0, 8, CAUSAL)
    canvas.commit(view.agreed())  # HERE


# ---- rule 5: revising is declared, idling is bounded ----------------------------------------------------------------


@refused("declares revises = True")
def reopen_undeclared(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    canvas.commit(view.best())
    yield canvas.block(8)
    canvas.reopen([0])  # HERE


@refused("which is masked", revises=True)
def reopen_a_masked_position(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.reopen([0])  # HERE


@refused("which is masked", revises=True)
def reopen_twice(canvas: Canvas) -> Any:
    view = yield canvas.block(8)
    canvas.commit(view.best())
    yield canvas.block(8)
    canvas.reopen([0, 0])  # HERE


def _reopen(bad: Any) -> Decode:
    def reopen_bad_position(canvas: Canvas) -> Any:
        view = yield canvas.block(8)
        canvas.commit(view.best(8))
        yield canvas.span(0, 8)
        canvas.reopen([bad])  # HERE

    return reopen_bad_position


for bad in (-1, 1.0, True, 9, 10**30, None):
    CASES.append(pytest.param(_reopen(bad), {"revises": True}, IllegalMove, "has not seen", id=f"reopen_{bad!r:.9}"))


@refused("settled|this pass", revises=True)
def settle_and_take_back_in_one_pass(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit([0])
    canvas.reopen([0])  # HERE


@refused("without progress")
def idle_undeclared(canvas: Canvas) -> Any:
    yield canvas.block(8)
    yield canvas.block(8)  # HERE


@refused("3 passes in a row", max_idle_passes=2)
def idle_more_than_declared(canvas: Canvas) -> Any:
    yield canvas.block(8)
    yield canvas.block(8)
    yield canvas.block(8)
    yield canvas.block(8)  # HERE


@refused("never progresses", max_idle_passes=10**9)
def idle_for_ever_with_leave(canvas: Canvas) -> Any:
    while True:
        yield canvas.block(8)  # HERE


@refused("never progresses", revises=True)
def fill_and_reopen_for_ever(canvas: Canvas) -> Any:
    yield canvas.block(8)
    canvas.commit(range(7))
    masked = 7
    while True:
        yield canvas.block(8)  # HERE
        canvas.reopen([(masked + 1) % 8])
        canvas.commit([masked])
        masked = (masked + 1) % 8


# ---- rule 6 and 7: rubbish, holes, the end --------------------------------------------------------------------------


RUBBISH = "yields Forward requests, got"


def _yield(bad: Any) -> Decode:
    def yield_rubbish(canvas: Canvas) -> Any:
        yield bad  # HERE

    return yield_rubbish


for bad, match in (
    (3, RUBBISH), ("next", RUBBISH), ((0, 4), RUBBISH), ([], RUBBISH), (range(4), RUBBISH),
    (Forward, RUBBISH), (object(), RUBBISH), ("two\nlines", RUBBISH), (..., RUBBISH),
    (Forward(0, 0), "expected 0 <= start < stop"), (Forward(3, 1), "expected 0 <= start"),
    (Forward(-1, 4, BLOCK), "expected 0 <= start"), (Forward(0, TOKENS + 1, BLOCK), "canvas' limit"),
    (Forward(0, 10**30, BLOCK), "canvas' limit"), (Forward(0.0, 1), "whole number"), (Forward(0, 1.0), "whole number"),
    (Forward(False, True), "whole number"), (Forward(0, None), "whole number"), (Forward("0", 1), "whole number"),
    (Forward(0, 4, BLOCK, tokens=3), "computes|compute"), (Forward(0, 4, BLOCK, tokens=4.0), "whole number"),
    (Forward(0, 4, BLOCK, tokens=2**40), "tokens"), (Forward(0, 4, BLOCK, tokens=True), "whole number"),
    (Forward(0, 4, BLOCK, recompute=1), "recompute"), (Forward(0, 4, BLOCK, recompute=-1), "recompute"),
    (Forward(0, 4, BLOCK, recompute=0.0), "whole number"), (Forward(0, 4, 0), "not an Attend"),
    (Forward(0, 4, BLOCK, 0), "not an Attend and a Role"), (Forward(0, 4, "block"), "not an Attend"),
    (Forward(0, 4, Attend.BLOCK, None), "not an Attend"),
):  # fmt: skip
    CASES.append(pytest.param(_yield(bad), {}, IllegalMove, match, id=f"yield_{bad!r:.60}".partition(" at 0x")[0]))


@refused("leaves position 0 masked|masked before it")
def jump_over_masked_positions(canvas: Canvas) -> Any:
    yield canvas.span(4, 8)  # HERE


@refused("leaves position 1 masked|masked before it")
def leave_a_hole_behind(canvas: Canvas) -> Any:
    yield canvas.block(4)
    canvas.commit([0, 2, 3])
    yield canvas.span(4, 8)  # HERE


@refused("starts at the frontier 0")
def causal_pass_over_a_hole(canvas: Canvas) -> Any:
    yield canvas.span(2, 3, CAUSAL)  # HERE


@refused("no purpose")
def denoise_what_is_all_filled(canvas: Canvas) -> Any:
    view = yield canvas.block(12)
    canvas.commit(view.best(12))
    yield canvas.span(0, 12)  # HERE


@refused("expected 0 <= start < stop")
def go_on_after_the_limit(canvas: Canvas) -> Any:
    while True:
        view = yield canvas.next()  # HERE
        canvas.commit(view.agreed())


@refused("ended with 11 of 12 positions masked")  # HERE
def stop_early(canvas: Canvas) -> Any:
    view = yield canvas.next()
    canvas.commit(view.agreed())


@refused("ended with 12 of 12 positions masked")  # HERE
def stop_at_once(canvas: Canvas) -> Any:
    return
    yield


@refused("ZeroDivisionError", DecoderFault)
def raise_something(canvas: Canvas) -> Any:
    yield canvas.block(8)
    1 / 0  # noqa: B018  # HERE


@refused("ZeroDivisionError", DecoderFault)
def raise_at_the_start(canvas: Canvas) -> Any:
    1 / 0  # noqa: B018  # HERE
    yield canvas.block(8)


@refused("two lines", DecoderFault)
def raise_two_lines(canvas: Canvas) -> Any:
    yield canvas.block(8)
    raise ValueError("two\nlines")  # HERE


@refused("StopIteration|IndexError", DecoderFault)
def raise_stop_iteration(canvas: Canvas) -> Any:
    yield canvas.block(8)
    next(iter(()))  # HERE


@refused("SystemExit", DecoderFault)
def leave_the_program(canvas: Canvas) -> Any:
    yield canvas.block(8)
    raise SystemExit(3)  # HERE


@refused("whole number")
def block_of_no_size(canvas: Canvas) -> Any:
    yield canvas.block(0)  # HERE


@refused("whole number")
def block_of_half_a_size(canvas: Canvas) -> Any:
    yield canvas.block(1.5)  # type: ignore[arg-type]  # HERE


@refused("whole number", draft_source=DRAFTS)
def draft_of_no_tokens(canvas: Canvas) -> Any:
    yield canvas.draft(0)  # HERE


def inner_generator(canvas: Canvas) -> Any:
    yield canvas.span(4, 8)


def test_the_line_is_that_of_the_inner_generator() -> None:
    def outer(canvas: Canvas) -> Any:
        yield from inner_generator(canvas)

    with pytest.raises(IllegalMove) as caught:
        run(decoder(outer), anything())
    assert caught.value.location == f"{__file__}:{inspect.getsourcelines(inner_generator)[1] + 1}"


@pytest.mark.parametrize(("decode", "declared", "error", "match"), CASES)
def test_refused(decode: Decode, declared: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match) as caught:
        run(decoder(decode, **declared), anything())
    message = str(caught.value)
    assert type(caught.value) is error
    assert "\n" not in message
    assert caught.value.location == marked_line(decode)
    assert message.startswith(f"{caught.value.location}: ")


MOVES: list[tuple[str, dict[str, Any], Callable[[Canvas, Any], Any]]] = [
    ("has not seen", {}, lambda canvas, view: canvas.commit([9])),
    ("already filled", {}, lambda canvas, view: canvas.commit([1, 1])),
    ("revises", {}, lambda canvas, view: canvas.reopen([0])),
    ("masked", {"revises": True}, lambda canvas, view: canvas.reopen([0])),
    ("causal", {}, lambda canvas, view: view.agreed()),
    ("needs", {}, lambda canvas, view: view.entropy(0)),
    ("drafter", {}, lambda canvas, view: canvas.propose(2)),
    ("outside", {}, lambda canvas, view: canvas.filled(99)),
]


@pytest.mark.parametrize("afterwards", ["goes on", "stops", "raises"])
@pytest.mark.parametrize(("match", "declared", "move"), MOVES, ids=[match for match, _, _ in MOVES])
def test_swallowing_the_refusal_does_not_help(
    match: str, declared: dict[str, Any], move: Callable[[Canvas, Any], Any], afterwards: str
) -> None:
    def decode(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.block(8)
            try:
                move(canvas, view)
            except IllegalMove:
                if afterwards == "stops":
                    return
                if afterwards == "raises":
                    raise ValueError("something else") from None
            canvas.commit(view.best())

    with pytest.raises(IllegalMove, match=match):
        run(decoder(decode, **declared), anything())


# ---- what is no decoder ---------------------------------------------------------------------------------------------


class NoDecode:
    pass


class DecodeReturnsAList:
    def decode(self, canvas: Canvas) -> Any:
        return [canvas.next()]


class DecodeReturnsNothing:
    def decode(self, canvas: Canvas) -> Any:
        return None


class DecodeRaises:
    def decode(self, canvas: Canvas) -> Any:
        raise ValueError("no")


class DecodeTakesNoCanvas:
    def decode(self) -> Any:
        yield


class DecodeIsAsync:
    async def decode(self, canvas: Canvas) -> Any:
        yield canvas.next()


class DecodeIsNotCallable:
    decode = 3


class NeedsOneWord(DecodeReturnsAList):
    needs = "truth"


class NoDrafter(DecodeReturnsAList):
    draft_source = "qwen3-0.6b"


class IdleForever(DecodeReturnsAList):
    max_idle_passes = float("inf")


@pytest.mark.parametrize(
    "bad",
    [
        NoDecode(), NoDecode, DecodeReturnsAList, DecodeReturnsAList(), DecodeReturnsNothing(), DecodeRaises(),
        DecodeTakesNoCanvas(), DecodeIsAsync(), DecodeIsNotCallable(), NeedsOneWord(), NoDrafter(), IdleForever(), None,
        "block-diffusion",
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_decoder_is_refused(bad: Any) -> None:
    with pytest.raises(DecoderFault) as caught:
        run(bad, anything())
    assert "\n" not in str(caught.value)


def test_needs_that_the_stream_lacks_are_named() -> None:
    def decode(canvas: Canvas) -> Any:
        yield canvas.next()

    with pytest.raises(UsageError, match="needs entropy, kl, which the stream 'reference' does not provide"):
        run(decoder(decode, needs={"kl", "entropy"}), reference_stream(4))


def test_an_engine_fault_is_never_blamed_on_a_swallowed_close() -> None:
    """A decoder that catches everything, GeneratorExit too, cannot keep a request from being evicted."""
    from clover_sim.engine import Batch

    def decode(canvas: Canvas) -> Any:
        while True:
            try:
                view = yield canvas.next()
                canvas.commit(view.agreed())
            except GeneratorExit:
                yield canvas.next()

    batch = Batch()
    number = batch.admit(decoder(decode), anything())
    batch.step()
    with pytest.raises(DecoderFault):
        batch.evict(number)


@pytest.mark.parametrize("plan", [lambda self: 1 / 0, 3, lambda self, more: None], ids=["raises", "no-call", "args"])
def test_a_broken_plan_is_the_decoders_fault(plan: Any) -> None:
    def decode(canvas: Canvas) -> Any:
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())

    with pytest.raises(DecoderFault, match="plan"):
        run(decoder(decode, plan=plan), anything())
