"""What decoders with drafts share: options made consistent, the declared drafter, the draft-and-verify cycle."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from clover_sim.acceptance import WithRoot, clustered, draft_length, from_survival
from clover_sim.canvas import Canvas
from clover_sim.decoders.ar import TokenByToken
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Drafter, Forward
from clover_sim.view import View

Given = float | tuple[float, ...] | None
"""One conditional probability, the survival of each position, or nothing where ``clustering`` says it."""


class Usual(float):
    """A preset's own acceptance, which ``clustering`` may take the place of."""


def settle(decoder: Any, strategy: str, default_k: int) -> None:
    """Give a frozen decoder both spellings of its draft length, and check what it says of acceptance.

    Args:
        decoder: one with ``num_speculative_tokens``, ``speculative_num_draft_tokens``, ``acceptance`` and, if matches
            may come in runs, ``clustering``; with that its acceptance becomes ``None``.
        strategy: its name, for messages. default_k: draft tokens a cycle where neither spelling is given.

    Raises:
        UsageError: the two spellings, or the two ways to say what is accepted, contradict each other.
    """
    try:
        k = draft_length(decoder.num_speculative_tokens, decoder.speculative_num_draft_tokens, default_k)
    except UsageError as error:
        raise UsageError(f"{strategy}: {error}") from None
    object.__setattr__(decoder, "num_speculative_tokens", k)
    object.__setattr__(decoder, "speculative_num_draft_tokens", WithRoot(k + 1))
    given, runs = decoder.acceptance, getattr(decoder, "clustering", None)
    if runs is not None:
        pair = isinstance(runs, (tuple, list)) and len(runs) == 2
        if not pair or not all(isinstance(rate, (float, int)) and 0 <= rate <= 1 for rate in runs):
            raise UsageError(
                f"{strategy}: clustering={_shown(runs)}: expected two probabilities, after a match and after a miss, "
                "as in [0.86,0.63]"
            )
        object.__setattr__(decoder, "clustering", tuple(map(float, runs)))
        usual = given is None or isinstance(given, Usual)
        if not usual and given != type(decoder).__dataclass_fields__["acceptance"].default:
            raise UsageError(
                f"{strategy}: acceptance={_shown(given)} and clustering={_shown(runs)} both say what is accepted; "
                "give one of them"
            )
        object.__setattr__(decoder, "acceptance", None)
    elif given is None:
        raise UsageError(f"{strategy}: acceptance=none: only clustering can say it instead, as in [0.86,0.63]")
    else:
        rates(strategy, given, k)


def source(decoder: Any, strategy: str, model: str | None, hit_rate: float = 1.0) -> Drafter:
    """The drafter that a settled decoder declares."""
    k, runs = decoder.num_speculative_tokens, getattr(decoder, "clustering", None)
    if runs is None:
        return Drafter(model, rates(strategy, decoder.acceptance, k), hit_rate)
    return Drafter(model, clustered(runs[0], runs[1], k).conditional, hit_rate, runs)


def rates(strategy: str, given: float | tuple[float, ...], k: int) -> tuple[float, ...]:
    """Conditional rates of ``k`` drafts from an acceptance option.

    >>> rates("x", 0.7, 3), rates("x", (0.8, 0.4), 2)
    ((0.7,), (0.8, 0.5))
    """
    every = (given,) if isinstance(given, (float, int)) else tuple(given)
    if not every or not all(0 <= rate <= 1 for rate in every):
        raise UsageError(f"{strategy}: acceptance={_shown(given)}: expected probabilities from 0 to 1")
    if isinstance(given, (float, int)):
        return (float(given),)
    if len(given) != k:
        raise UsageError(
            f"{strategy}: acceptance lists the survival of {len(given)} positions, but a cycle drafts {k}; give one "
            "entry a draft token"
        )
    try:
        return from_survival(given).conditional
    except InputError as error:
        raise UsageError(f"{strategy}: {error}") from None


def _shown(given: Any) -> str:
    return str(list(given) if isinstance(given, tuple) else given)


def cycles(
    canvas: Canvas, k: int, passes: int | None = None, nodes: int | None = None
) -> Generator[Forward, View, None]:
    """Draft ``k`` tokens, verify them, until the canvas is full.

    Args:
        passes: draft passes a cycle: ``None`` for one a token, 1 for a drafter that proposes all at once.
        nodes: tokens that the one pass computes, where they are more than it proposes (an anchor).
    """
    while canvas.remaining:
        if passes == 1:
            yield canvas.draft(k, nodes)
        else:
            for _ in range(min(k, canvas.remaining)):
                yield canvas.draft()
        view = yield canvas.next(k + 1)
        canvas.commit(view.agreed())


class Undrafted(TokenByToken):
    """Token by token with a drafter beside the target that is not asked: a cycle of no drafts."""

    __slots__ = ("draft_source",)

    def __init__(self, draft_source: Drafter | None) -> None:
        object.__setattr__(self, "draft_source", draft_source)
