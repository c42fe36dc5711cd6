"""Acceptance of drafts in one vocabulary, whatever the convention it was given in.

Inside, acceptance is *survival*: entry ``i`` is the share of cycles whose first ``i + 1`` drafts were all kept. Then
the acceptance length is ``1 + sum(survival)``, the bonus token included. Every published figure is turned into it, and
a figure whose convention cannot be known is refused with the question that decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from clover_sim.acceptance.spelling import MOST_DRAFTS, WithRoot, draft_length
from clover_sim.acceptance.trees import DraftTree, alpha_on, on_tree
from clover_sim.errors import InputError, UsageError, suggest

__all__ = [
    "DEFAULT_RHO", "RATES", "Acceptance", "DraftTree", "WithRoot", "alpha_of_length", "clustered", "draft_length",
    "fit_decay", "from_alpha", "from_conditional", "from_length", "from_rate", "from_survival",
]  # fmt: skip

DEFAULT_RHO = 0.97
"""Fall of the conditional acceptance from one draft to the next: the median of 88 model and text pairs measured at
k = 3, 5, 7 (SpecForge SpecBundle); the middle 80 % lie from 0.943 to 0.988."""

RATES = ("accepted/drafted", "conditional", "sglang-old", "sglang-new", "system-efficiency")
"""What "acceptance rate" can mean. ``accepted/drafted``: vLLM V1, llama.cpp, TensorRT-LLM. ``sglang-old``: acceptance
length over draft tokens, root counted in both (before 2026); ``sglang-new``: both without the root.
``system-efficiency``: vLLM V0's emitted tokens over the most possible. ``conditional``: of a token whose predecessors
were all kept."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Acceptance of a chain of k drafts, or of a tree of k levels.

    Args:
        survival: share of cycles that kept at least 1, 2, ... k drafts; in [0, 1], never rising.
        given: the figure it was made from, in words, with its unit.
        rho: fall of the conditional acceptance per position where the chain is made longer than k.
        tree: the tree that it is of, ``None`` for a chain. Of a tree it is never cut: :meth:`at` and :meth:`on` go
            back to the chance of a token and work out the other shape from there.

    >>> from_rate(0.6, 3).length
    2.8
    """

    survival: tuple[float, ...]
    given: str = "survival of each position"
    rho: float = DEFAULT_RHO
    tree: DraftTree | None = None

    def __post_init__(self) -> None:
        if not self.survival:
            raise InputError("acceptance: no position; expected the survival of at least one draft")
        for value in self.survival:
            if not 0 <= value <= 1:
                raise InputError(f"acceptance: survival {value!r} is not a share from 0 to 1")
        if any(later > earlier + 1e-12 for earlier, later in pairwise(self.survival)):
            raise InputError(
                f"acceptance: {[round(s, 4) for s in self.survival]} rises; survival is the share of cycles that kept "
                "at least 1, 2, ... drafts, so it can only fall; are these conditional rates?"
            )

    @property
    def k(self) -> int:
        """Draft tokens a cycle, the root not counted."""
        return len(self.survival)

    @property
    def length(self) -> float:
        """Tokens a cycle writes, the bonus token included: from 1 to k + 1."""
        return 1 + fsum(self.survival)

    @property
    def verified(self) -> int:
        """Drafts verified a cycle, the root not counted: k, or all nodes of the tree."""
        return self.k if self.tree is None else self.tree.budget - 1

    @property
    def rate(self) -> float:
        """Accepted over verified drafts. Of a tree, which keeps one path, it is at most levels / nodes."""
        return fsum(self.survival) / self.verified

    @property
    def conditional(self) -> tuple[float, ...]:
        """Acceptance of each draft given that all before it were kept; 0 where none survives."""
        before = (1.0, *self.survival)
        return tuple(now / last if last else 0.0 for last, now in zip(before, self.survival, strict=False))

    @property
    def alpha(self) -> float:
        """The one conditional rate that gives the same length (Leviathan et al., arXiv 2211.17192, Eq. 1); on a tree
        that of the drafter's best token."""
        return alpha_of_length(self.length, self.k) if self.tree is None else alpha_on(self.length, self.tree)

    def at(self, k: int) -> Acceptance:
        """The same drafter with a chain of ``k``: cut, or drawn on with a conditional rate that falls by ``rho``.

        >>> from_survival((0.8, 0.6)).at(1).length, round(from_alpha(0.8, 2, 1.0).at(5).length, 3)
        (1.8, 3.689)
        """
        if self.tree is not None:
            alpha = self.alpha
            chain = from_alpha(alpha, k, 1.0).survival
            return Acceptance(chain, f"{self.given}; {alpha:.3f} a token, on a chain of {k}", 1.0)
        if k <= self.k:
            return self if k == self.k else Acceptance(self.survival[:k], f"{self.given}, cut to {k}", self.rho)
        survival, rate = list(self.survival), self.conditional[-1]
        while len(survival) < k:
            rate *= self.rho
            survival.append(survival[-1] * rate)
        return Acceptance(tuple(survival), f"{self.given}, drawn on to {k}", self.rho)

    def on(self, tree: DraftTree) -> Acceptance:
        """The same drafter with a tree: :attr:`alpha` put on it.

        >>> round(from_length(1.75, 2).on(DraftTree(2, 1, 3)).length, 3)
        1.75
        """
        alpha = self.alpha
        shape = f"a chain of {tree.levels}" if tree.topk == 1 else f"a tree of {tree.budget} tokens"
        given = f"{self.given}; {alpha:.3f} a token, on {shape}"
        return Acceptance(on_tree(alpha, tree), given, self.rho, tree)

    def echo(self) -> tuple[str, ...]:
        """The figure under every convention in use, one sentence each."""
        from clover_sim.acceptance.conventions import of_chain, of_tree

        return of_chain(self) if self.tree is None or self.tree.topk == 1 else of_tree(self, self.tree)


def from_survival(survival: Sequence[float], given: str = "survival of each position") -> Acceptance:
    """From per-position rates as vLLM and llama.cpp print them, which are unconditional."""
    return Acceptance(tuple(float(s) for s in survival), given)


def from_conditional(rates: Sequence[float]) -> Acceptance:
    """From the rate of each draft given that all before it were kept.

    >>> from_conditional((0.9, 0.5)).survival
    (0.9, 0.45)
    """
    survival: list[float] = []
    for rate in rates:
        survival.append((survival[-1] if survival else 1.0) * _share("conditional rate", rate))
    return Acceptance(tuple(survival), f"conditional rates {', '.join(f'{r:g}' for r in rates)}")


def from_alpha(alpha: float, k: int, rho: float = DEFAULT_RHO) -> Acceptance:
    """From the conditional rate of the first draft, which falls by ``rho`` from one to the next.

    >>> round(from_alpha(0.8, 5, 1.0).length, 2)
    3.69
    """
    _length(k)
    _share("alpha", alpha)
    if not 0 < rho <= 1.2:
        raise UsageError(f"acceptance: rho={rho}: expected a factor above 0, near 1")
    survival, last, rate = [], 1.0, alpha
    for _ in range(k):
        last *= min(rate, 1.0)
        survival.append(last)
        rate *= rho
    return Acceptance(tuple(survival), f"alpha {alpha:g} at the first draft, times {rho:g} a position, k={k}", rho)


def from_length(length: float, k: int, *, bonus: bool = True, rho: float = DEFAULT_RHO) -> Acceptance:
    """From an acceptance length at ``k`` drafts.

    Args:
        bonus: whether the bonus token is counted (1 to k + 1) or not (0 to k).

    >>> from_length(2.5, 3).length, from_length(1.5, 3, bonus=False).length
    (2.5, 2.5)
    """
    _length(k)
    low, high = (1, k + 1) if bonus else (0, k)
    if not low <= length <= high:
        other = ""
        if bonus and 0 <= length < 1:
            other = "; a figure below 1 does not count the bonus token: say so, or is it a rate?"
        raise UsageError(
            f"acceptance: a length of {length:g} at k={k}: expected {low} to {high} "
            f"{'with' if bonus else 'without'} the bonus token{other}"
        )
    full = length if bonus else length + 1
    made = from_alpha(_solve(full, k, rho), k, rho)
    survival = made.survival
    if full > made.length:  # more than a falling rate can reach: every position moves towards 1
        part = (full - made.length) / (k + 1 - made.length)
        survival = tuple(s + part * (1 - s) for s in survival)
    words = "bonus included" if bonus else "bonus not included"
    return Acceptance(survival, f"acceptance length {length:g}, {words}, at k={k}", rho)


def from_rate(rate: float, k: int | None, convention: str | None = "accepted/drafted") -> Acceptance:
    """From an acceptance rate.

    Args:
        rate: in [0, 1]. k: draft tokens a cycle, the root not counted. convention: one of :data:`RATES`.

    Raises:
        UsageError: no convention or no k, with the question that decides it.
    """
    if convention is None:
        raise UsageError(
            f"acceptance rate {rate:g}: of which convention? A log's rate is accepted/drafted in vLLM V1, llama.cpp "
            f"and TensorRT-LLM, but not in SGLang or vLLM V0: which engine printed it? Name one of {', '.join(RATES)}"
        )
    if convention not in RATES:
        raise UsageError(f"acceptance rate: convention {convention!r} is not known{suggest(convention, RATES)}")
    if k is None:
        raise UsageError(
            f"acceptance rate {rate:g}: at how many draft tokens a cycle? A rate says nothing without k: give "
            "num_speculative_tokens (SGLang's num_draft_tokens less 1)"
        )
    _share("rate", rate)
    _length(k)
    if convention == "conditional":
        return from_alpha(rate, k, 1.0)
    if convention in ("sglang-old", "system-efficiency"):
        made = from_length(rate * (k + 1), k)
    else:
        made = from_length(1 + rate * k, k)
    return Acceptance(made.survival, f"rate {rate:g} as {convention} at k={k}", made.rho)


def fit_decay(first: tuple[int, float], second: tuple[int, float]) -> Acceptance:
    """Alpha and rho from acceptance lengths (bonus included) at two draft lengths; ``at(k)`` gives any other.

    >>> round(fit_decay((3, 2.79), (7, 3.54)).at(5).length, 1)
    3.3
    """
    (k1, length1), (k2, length2) = sorted((first, second))
    if k1 == k2:
        raise UsageError(f"acceptance: two lengths at one k={k1}; give them at two draft lengths")
    low, high = 0.2, 1.2
    for _ in range(80):
        rho = (low + high) / 2
        if from_alpha(_solve(length1, k1, rho), k2, rho).length < length2:
            low = rho
        else:
            high = rho
    made = from_alpha(_solve(length1, k1, high), k2, high)
    return Acceptance(made.survival, f"lengths {length1:g} at k={k1} and {length2:g} at k={k2}", high)


def clustered(after_match: float, after_miss: float, k: int) -> Acceptance:
    """From how often a draft matches after one that matched, and after one that did not.

    Matches come in runs: 0.86 after a match and 0.63 after a miss in a recorded pair. One rate for as many matches in
    all gives cycles that are 2 % longer for that pair at k = 3, 11 % for 0.95 and 0.3 at k = 7. A cycle starts after a
    miss unless the last one kept every draft.

    >>> round(clustered(0.86, 0.63, 3).length, 2), clustered(0.5, 0.5, 2).length
    (2.97, 1.75)
    """
    _length(k)
    hit, miss = _share("after a match", after_match), _share("after a miss", after_miss)
    run = hit ** (k - 1)
    full = miss * run / (1 - hit * run + miss * run) if hit * run < 1 else 1.0  # cycles that kept every draft
    first = full * hit + (1 - full) * miss
    given = f"{hit:g} after a match, {miss:g} after a miss, k={k}"
    return Acceptance(tuple(first * hit**i for i in range(k)), given, 1.0)


def alpha_of_length(length: float, k: int, rho: float = 1.0) -> float:
    """The conditional rate (of the first draft, if ``rho`` is not 1) that gives an acceptance length at ``k``.

    Returns more than can be met as 1.0.
    """
    return _solve(length, k, rho)


def _solve(length: float, k: int, rho: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if from_alpha(middle, k, rho).length < length:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _length(k: int) -> int:
    if type(k) is not int or not 1 <= k <= MOST_DRAFTS:
        raise UsageError(f"acceptance: k={k!r}: expected a whole number of at least 1 draft token a cycle")
    return k


def _share(what: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        percent = f"; {value:g} % is {value / 100:g}" if isinstance(value, (int, float)) and 1 < value <= 100 else ""
        raise UsageError(f"acceptance: {what} {value!r}: expected a share from 0 to 1{percent}")
    return float(value)
