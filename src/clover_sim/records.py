"""The records that cross the boundary between decoders, engine and cost model. All deeply frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple


class Attend(IntEnum):
    """How the positions of a pass see each other.

    >>> from clover_sim import BLOCK, CAUSAL, Forward
    >>> Forward(0, 8, BLOCK).attend is BLOCK, Forward(0, 8).attend is CAUSAL
    (True, True)
    """

    CAUSAL = 0
    """Left to right; what it commits is exact, and its K/V are final at once."""
    BLOCK = 1
    """Both ways inside the span; a commit may be wrong, and K/V stay provisional until the engine writes them."""


class Role(IntEnum):
    """Whose weights a pass reads."""

    TARGET = 0
    DRAFT = 1


class Kind(IntEnum):
    """What a pass was for. The engine decides it, never the decoder.

    >>> Kind.DENOISE.label
    'denoise'
    """

    PREFILL = 0
    DRAFT = 1
    DECODE = 2
    VERIFY = 3
    DENOISE = 4
    EDIT = 5
    ENCODE = 6
    KV_WRITE = 7

    @property
    def label(self) -> str:
        """The lower-case name used in tables and JSON."""
        return self.name.lower()


CAUSAL, BLOCK = Attend.CAUSAL, Attend.BLOCK
TARGET, DRAFT = Role.TARGET, Role.DRAFT

KV_WRITE_RULES = ("separate", "fused", "skip-last", "none")
"""When the K/V of a finished block are written; see docs/design.md, rule 4."""

EOS_STOPS = ("early", "block", "canvas")
"""How far a decoder goes on after the end of the text was committed; see docs/design.md, rule 6."""


class TokenClass(IntEnum):
    """How predictable a token is from its form alone.

    >>> [one.name.lower() for one in TokenClass]
    ['structural', 'common', 'rare', 'padding']
    """

    STRUCTURAL = 0
    COMMON = 1
    RARE = 2
    PADDING = 3

    @property
    def label(self) -> str:
        """The lower-case name used in tables and JSON."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Forward:
    """A request for one forward pass over the positions ``start <= p < stop``.

    Args:
        start, stop: half-open span of positions of the new text (the prompt lies before 0).
        attend: ``CAUSAL`` (starts at the frontier, exact) or ``BLOCK`` (bidirectional, provisional).
        role: ``TARGET`` or ``DRAFT`` (a pass of the declared drafter).
        tokens: tokens really computed; default ``stop - start``, more for the nodes of a draft tree or for shadow
            positions that score filled ones again. Never fewer.
        recompute: final positions computed once more (a pass without cache, a refresh); priced as width.

    >>> Forward(8, 16, Attend.BLOCK).role is Role.TARGET
    True
    """

    start: int
    stop: int
    attend: Attend = CAUSAL
    role: Role = TARGET
    tokens: int | None = None
    recompute: int = 0

    def __len__(self) -> int:
        return self.stop - self.start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.stop))


@dataclass(frozen=True, slots=True)
class Drafter:
    """A decoder's declared draft source; read by the engine and the cost model, echoed in every row.

    Args:
        model: name of the drafter's model specification, or ``None`` for a source that costs no pass.
        acceptance: conditional probability that the target agrees with draft ``i`` given that it agreed with all
            before; the last entry serves all later positions. Each in [0, 1].
        hit_rate: for zero-cost proposers, the chance in [0, 1] that there is anything to propose.
        clustering: where matches come in runs, the chances in [0, 1] that a draft matches after one that matched and
            after one that did not, whatever cycle that one stood in; they are drawn from in place of ``acceptance``,
            which then says what they come to on average (:func:`clover_sim.acceptance.clustered`).

    >>> Drafter("qwen3-0.6b", (0.8, 0.7)).acceptance
    (0.8, 0.7)
    """

    model: str | None = None
    acceptance: tuple[float, ...] = (0.0,)
    hit_rate: float = 1.0
    clustering: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for rate in (*self.acceptance, self.hit_rate, *(self.clustering or ())):
            if not 0 <= rate <= 1:
                raise ValueError(f"Drafter: {rate!r} is not a probability from 0 to 1")
        if not self.acceptance:
            raise ValueError("Drafter: acceptance needs at least one probability")
        if self.clustering is not None and len(self.clustering) != 2:
            raise ValueError("Drafter: clustering is two probabilities: after a match, and after a miss")

    def rate(self, offset: int) -> float:
        """Conditional acceptance of the draft at ``offset`` (0 is the first)."""
        rates = self.acceptance
        return rates[offset] if offset < len(rates) else rates[-1]

    def after(self, matched: bool) -> Drafter:
        """The drafter as it is after a draft that matched, or did not: another one only where matches come in runs.

        >>> [Drafter(None, (0.7,), clustering=(0.86, 0.63)).after(matched).rate(0) for matched in (True, False)]
        [0.86, 0.63]
        """
        if self.clustering is None:
            return self
        return replace(self, acceptance=(self.clustering[not matched],), clustering=None)


class PassShape(NamedTuple):
    """What the cost model needs to know about one step of a batch.

    Args:
        kind: the engine's label of the pass.
        widths: tokens computed for each sequence of the step (one entry a sequence; recomputed ones not included).
        context_tokens: cached tokens read, summed over the sequences (a float when it is a mean over many steps).
        recompute_tokens: final positions computed once more, summed over the sequences.

    >>> sum(PassShape(Kind.VERIFY, (6,) * 4, context_tokens=4 * 1024).widths)
    24
    """

    kind: Kind
    widths: tuple[int, ...]
    context_tokens: float = 0
    recompute_tokens: int = 0


class Declared(NamedTuple):
    """What a decoder says of itself, read once and checked (:func:`clover_sim.checks.declare`).

    >>> Declared(frozenset({"entropy"}), None, None, False, 0).needs
    frozenset({'entropy'})
    """

    needs: frozenset[str]
    draft_source: Drafter | None
    kv_write: str | None
    revises: bool
    max_idle_passes: int
