"""What one step of a task costs and how likely it is spoiled, from runs of the engine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from clover_sim.agents.texts import DEFAULT_TEXT, open_text
from clover_sim.agents.workload import Turn
from clover_sim.arguments import settle
from clover_sim.cost import price_groups
from clover_sim.engine import run
from clover_sim.errors import InputError, UsageError
from clover_sim.ledger import FORCED, WRONG
from clover_sim.prepare import Strategy
from clover_sim.records import Kind, PassShape, TokenClass

MOST_SAMPLES, LEAST_SAMPLES = 64, 4
_TOKENS_OF_SAMPLES, _RUNS = 120_000, 320
"""Bounds of the runs for one strategy, so that a task with many different lengths is done in seconds."""

_MOST_LENGTHS, _MOST_TOKENS = 64, 200_000
"""More different lengths than this are run rounded up (137 as 150); more tokens in all are refused."""

PREFILL_CHUNK_TOKENS = 8192
"""Longer prompts are computed in pieces of this size, the default of SGLang's chunked prefill on large cards."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Chances that one locked error spoils a step, by the class of the token.

    Args:
        structural: braces, quotes, colons, keywords: the call cannot be parsed. value: rare tokens and numbers, of
            which arguments consist. other: common words. All of the call or answer. ASSUMPTION: 1, 0.3, 0.05.
        thinking: any token of the thinking before it; wrong steps of thought may still end well. ASSUMPTION: 0.
        forced: whether errors of forced commits count; the token taken alone as the best one is what the model would
            have chosen token by token as well.
        loop_per_1000: chance per 1000 tokens written that a step ends in repetition. Not known for any model: 0.
        own: chance that a step fails whatever the decoding, by the model's own fault.

    >>> Failure(value=0.1).structural, Failure(value=0.1).value
    (1.0, 0.1)
    """

    structural: float = 1.0
    value: float = 0.3
    other: float = 0.05
    thinking: float = 0.0
    forced: bool = False
    loop_per_1000: float = 0.0
    own: float = 0.0

    def __post_init__(self) -> None:
        settle(self)
        for name in ("structural", "value", "other", "thinking", "loop_per_1000", "own"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"failure {name} {getattr(self, name)!r}: expected a chance from 0 to 1")

    def of_class(self, token_class: int) -> float:
        """The chance for one token of the call."""
        return {TokenClass.STRUCTURAL: self.structural, TokenClass.RARE: self.value}.get(
            TokenClass(token_class), self.other
        )


class Sample(NamedTuple):
    """One run of one length: its time is ``base_s + slope_s * context``; ``passes``
    are those of the target, ``kept`` is the chance that it is sound."""

    base_s: float
    slope_s: float
    passes: int
    errors: int
    kept: float


class Steps:
    """Prices steps of one strategy; runs of a length are made once and shared by all steps that have it.

    Args:
        strategy: ready to run. failure: what errors do. batch_size: agents that decode in step with this one.
        texts: profiles of the call or answer and of the thinking. lengths: distinct lengths that will be asked for.
        longest: the longest context. rules: of the run (``kv_write``, ``eos_stop``, ``align``).
    """

    def __init__(
        self, strategy: Strategy, failure: Failure, batch_size: int, texts: tuple[str, str],
        lengths: Collection[int], longest: int, rules: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.strategy, self.failure, self.batch_size, self.texts = strategy, failure, batch_size, texts
        self._coarse = len(lengths) > _MOST_LENGTHS
        lengths = {self._length(n) for n in lengths}
        if sum(lengths) > _MOST_TOKENS:
            raise InputError(
                f"the steps write texts of {len(lengths)} lengths, {sum(lengths)} tokens in all: more than can be run "
                f"(limit {_MOST_TOKENS}); use fewer or shorter steps"
            )
        few = min(_TOKENS_OF_SAMPLES // max(1, sum(lengths)), _RUNS // max(1, len(lengths)))
        self.samples = max(LEAST_SAMPLES // (2 if self._coarse else 1), min(MOST_SAMPLES, few))
        self.longest = max(1, longest)
        self.rules = rules or {}
        self._pool: dict[tuple[int, bool], list[Sample]] = {}
        self._prefill: dict[tuple[int, int], float] = {}

    def prefill_s(self, new_tokens: int, cached: int) -> float:
        """Time of computing ``new_tokens`` of prompt after ``cached`` ones, in pieces of 8192 at most."""
        key = (new_tokens, cached)
        if key not in self._prefill:
            total = 0.0
            n = self.batch_size
            for start in range(0, new_tokens, PREFILL_CHUNK_TOKENS):
                piece = min(PREFILL_CHUNK_TOKENS, new_tokens - start)
                shape = PassShape(Kind.PREFILL, (piece,) * n, (cached + start) * n)
                total += self.strategy.cost.price(shape).latency_s
            self._prefill[key] = total
        return self._prefill[key]

    def _length(self, tokens: int) -> int:
        """The length that is run: of very many lengths, a few round ones stand for their neighbours."""
        unit = 5 * 10 ** max(0, len(str(tokens)) - 2) if self._coarse else 1
        return -(-tokens // unit) * unit

    def pool(self, tokens: int, thinking: bool) -> list[Sample]:
        """Runs over ``tokens`` tokens, one a seed."""
        key = (tokens, thinking)
        if key not in self._pool:
            self._pool[key] = [self._run(tokens, thinking, seed) for seed in range(self.samples)]
        return self._pool[key]

    def decode(self, turn: Turn, pick: int) -> tuple[float, float, float, float]:
        """(seconds, chance that the step is sound, passes, locked errors) of one step, with sample number ``pick``."""
        seconds, sound, passes, errors = 0.0, 1.0 - self.failure.own, 0.0, 0.0
        context = turn.context_tokens
        for tokens, thinking in ((turn.thinking_tokens, True), (turn.output_tokens, False)):
            if tokens:
                length = self._length(tokens)
                pool = self.pool(length, thinking)
                one, share = pool[pick % len(pool)], tokens / length
                seconds += (one.base_s + one.slope_s * context) * share
                sound *= one.kept if share == 1 else one.kept**share
                passes += one.passes * share
                errors += one.errors * share
                context += tokens
        return seconds, sound, passes, errors

    def _run(self, tokens: int, thinking: bool, seed: int) -> Sample:
        stream = open_text(self.texts[thinking], tokens, seed)
        finished = run(self.strategy.decoder, stream, **self.rules)
        groups, n = [], self.batch_size
        for shape, count in finished.ledger.shapes():
            groups.append((shape._replace(widths=shape.widths * n), count))
        base, far = (
            price_groups(
                self.strategy.cost,
                [(s._replace(context_tokens=(s.context_tokens + c) * n, recompute_tokens=s.recompute_tokens * n), k)
                 for s, k in groups],
            ).latency_s
            for c in (0, self.longest)
        )  # fmt: skip
        # The price of a pass is affine in its context, but for models with windows, where this is the chord.
        slope = (far - base) / self.longest
        failure, places = self.failure, finished.ledger.positions[0]
        kept = (1.0 - failure.loop_per_1000) ** (tokens / 1000)
        errors = 0
        for position, flags in enumerate(places.flags[: len(stream)]):
            if flags & WRONG and (failure.forced or not flags & FORCED):
                errors += 1
                kept *= 1.0 - (failure.thinking if thinking else failure.of_class(stream.classes[position]))
        totals = finished.totals
        return Sample(base, slope, totals.target_passes, errors, kept)


TEXTS = (DEFAULT_TEXT, "context:workload=thinking")
"""Text of calls and answers, and of thinking."""
