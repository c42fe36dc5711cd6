"""What one step of a task costs and how likely it is spoiled, from runs of the engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from clover_sim.agents.failure import CLASHES, error_group
from clover_sim.agents.failure import Failure as Failure
from clover_sim.agents.texts import DEFAULT_TEXT, is_context, open_text
from clover_sim.agents.workload import Turn
from clover_sim.cost import price_groups
from clover_sim.engine import run
from clover_sim.errors import InputError
from clover_sim.ledger import FORCED, WRONG
from clover_sim.prepare import Strategy
from clover_sim.quality import run_with_quality
from clover_sim.records import Kind, PassShape
from clover_sim.stats import mean

MOST_SAMPLES, LEAST_SAMPLES = 64, 4
_TOKENS_OF_SAMPLES, _RUNS = 120_000, 320
"""Bounds of the runs for one strategy, so that a task with many different lengths is done in seconds."""

_MOST_LENGTHS, _MOST_TOKENS = 64, 200_000
"""More different lengths than this are run rounded up (137 as 150); more tokens in all are refused."""

PREFILL_CHUNK_TOKENS = 8192
"""Longer prompts are computed in pieces of this size, the default of SGLang's chunked prefill on large cards."""


_BUCKET_TOKENS = 256
"""The price of a pass is affine in its context, but for models with windows: there it is within pieces of this size,
or nearly, and beyond the last window."""


class Sample(NamedTuple):
    """One run of one length: ``groups`` are its passes and how many there are of each, ``lines`` its (base, slope) in
    s by piece of the context; ``passes`` are those of the target, ``wrong`` its locked errors (structural, value,
    other), ``intact`` the chance that nothing clashed, ``None`` if not known."""

    groups: list[tuple[PassShape, int]]
    lines: dict[int, tuple[float, float]]
    passes: int
    wrong: tuple[int, int, int]
    intact: float | None


class Decoded(NamedTuple):
    """One step: seconds, passes of the target, locked errors."""

    seconds: float
    passes: float
    errors: float


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
        self._means: dict[tuple[int, bool, int], tuple[float, ...]] = {}
        self._sound: dict[tuple[int, bool, Failure, str, float], list[float]] = {}
        self._prefill: dict[tuple[int, int], float] = {}
        machine = strategy.cost.machine
        models = [] if machine is None else [m for m in (machine.model, machine.drafter) if m is not None]
        widest = max((window for model in models for window, _ in model.kv_windows), default=0)
        self._last = -(-widest // _BUCKET_TOKENS)

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

    def turn_prefill_s(self, turn: Turn, cache: bool) -> float:
        """Time of the prompt of a step at its first try, with the prefix cache or without."""
        if not cache:
            return self.prefill_s(turn.context_tokens, 0)
        return self.prefill_s(turn.new_tokens, turn.context_tokens - turn.new_tokens)

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

    def decode_s(self, turn: Turn, pick: int) -> float:
        """Seconds that one step decodes, with sample number ``pick``."""
        seconds, context = 0.0, turn.context_tokens
        for tokens, thinking in _legs(turn):
            length = self._length(tokens)
            pool = self.pool(length, thinking)
            base, slope = self._line(pool[pick % len(pool)], self._piece(context))
            seconds += (base + slope * context) * (tokens / length)
            context += tokens
        return seconds

    def mean_decode(self, turn: Turn) -> Decoded:
        """The mean over all samples of what one step takes."""
        seconds = passes = errors = 0.0
        context = turn.context_tokens
        for tokens, thinking in _legs(turn):
            length = self._length(tokens)
            share, piece = tokens / length, self._piece(context)
            key = (length, thinking, piece)
            if key not in self._means:
                rows = ((*self._line(s, piece), s.passes, sum(s.wrong)) for s in self.pool(length, thinking))
                self._means[key] = tuple(map(mean, zip(*rows, strict=True)))
            base, slope, some, wrong = self._means[key]
            seconds += (base + slope * context) * share
            passes += some * share
            errors += wrong * share
            context += tokens
        return Decoded(seconds, passes, errors)

    def sound(self, turn: Turn, failure: Failure, reading: str, harm: float = 1.0) -> list[float]:
        """Chance that a step is sound in a reading, by sample; ``harm`` is a factor on what clashes do."""
        found = [1.0 - failure.own] * self.samples
        for tokens, thinking in _legs(turn):
            length = self._length(tokens)
            share = tokens / length
            chances = self._chances(length, thinking, failure, reading, harm)
            found = [f * (c if share == 1 else c**share) for f, c in zip(found, chances, strict=True)]
        return found

    def sound_by_step(
        self, turns: Sequence[Turn], failure: Failure, reading: str, harm: float = 1.0
    ) -> list[list[float]]:
        """The same of each step; steps of the same lengths share one list."""
        alike = {(t.thinking_tokens, t.output_tokens): t for t in turns}
        found = {key: self.sound(turn, failure, reading, harm) for key, turn in alike.items()}
        return [found[t.thinking_tokens, t.output_tokens] for t in turns]

    def mean_sound(self, turns: Sequence[Turn], failure: Failure, reading: str, harm: float = 1.0) -> list[float]:
        """The mean over all samples of each step."""
        means: dict[int, float] = {}
        found = self.sound_by_step(turns, failure, reading, harm)
        for chances in found:
            if id(chances) not in means:
                means[id(chances)] = mean(chances)
        return [means[id(chances)] for chances in found]

    def _chances(self, length: int, thinking: bool, failure: Failure, reading: str, harm: float) -> list[float]:
        key = (length, thinking, failure, reading, harm)
        if key not in self._sound:
            loops = (1.0 - failure.loop_per_1000) ** (length / 1000)
            self._sound[key] = [
                loops * (one.intact or 0.0) ** harm if reading == CLASHES
                else loops * failure.survives(one.wrong, thinking)
                for one in self.pool(length, thinking)
            ]  # fmt: skip
        return self._sound[key]

    def _piece(self, context: int) -> int:
        """The piece of the context within which the time of a run is taken as a straight line."""
        return min(context // _BUCKET_TOKENS, self._last)

    def _line(self, one: Sample, piece: int) -> tuple[float, float]:
        """(base, slope) in s of a run whose context lies in a piece; no other step has a part in it."""
        if piece not in one.lines:
            n, near = self.batch_size, piece * _BUCKET_TOKENS
            far = near + (_BUCKET_TOKENS if self._last else self.longest)
            low, high = (
                price_groups(
                    self.strategy.cost,
                    [(s._replace(context_tokens=(s.context_tokens + c) * n, recompute_tokens=s.recompute_tokens * n), k)
                     for s, k in one.groups],
                ).latency_s
                for c in (near, far)
            )  # fmt: skip
            slope = (high - low) / (far - near)
            one.lines[piece] = low - slope * near, slope
        return one.lines[piece]

    def _run(self, tokens: int, thinking: bool, seed: int) -> Sample:
        stream = open_text(self.texts[thinking], tokens, seed, with_damage=True)
        intact = None
        if is_context(self.texts[thinking]):
            finished, intact = run_with_quality(self.strategy.decoder, stream, **self.rules)
        else:
            finished = run(self.strategy.decoder, stream, **self.rules)
        groups, n = [], self.batch_size
        for shape, count in finished.ledger.shapes():
            groups.append((shape._replace(widths=shape.widths * n), count))
        places, wrong = finished.ledger.positions[0], [0, 0, 0]
        for position, flags in enumerate(places.flags[: len(stream)]):
            if flags & WRONG and (self.failure.forced or not flags & FORCED):
                wrong[error_group(stream.classes[position])] += 1
        return Sample(groups, {}, finished.totals.target_passes, (wrong[0], wrong[1], wrong[2]), intact)


def _legs(turn: Turn) -> list[tuple[int, bool]]:
    """What a step writes: (tokens, whether they are its thinking)."""
    return [(tokens, thinking) for tokens, thinking in
            ((turn.thinking_tokens, True), (turn.output_tokens, False)) if tokens]  # fmt: skip


TEXTS = (DEFAULT_TEXT, "context:workload=thinking")
"""Text of calls and answers, and of thinking."""
