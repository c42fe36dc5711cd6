"""Logs explained: what was measured, in one vocabulary; whether it agrees with itself; what the cost model expects.

The layer beside comparisons: it reads with :mod:`clover_sim.logs` and prices with :mod:`clover_sim.cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from clover_sim.explain._drafts import Drafts, drafts_of
from clover_sim.explain._judge import Judgement, judge, plain_speed
from clover_sim.explain._pool import FIELDS, contract, plain, pool
from clover_sim.explain._predict import CONTEXT_TOKENS, MOST_REQUESTS, Asked, Prediction, predict
from clover_sim.explain._setup import Fact, Setup, main_section, setup_of
from clover_sim.logs import Identity, Reading, Section, read_logs

__all__ = [
    "CONTEXT_TOKENS", "FIELDS", "MOST_REQUESTS", "SCHEMA", "Asked", "Drafts", "Explanation", "Fact", "Judgement",
    "Prediction", "Setup", "drafts_of", "explain", "largest_speedup", "main_section", "setup_of",
]  # fmt: skip

SCHEMA = "clover-sim/explain/1"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one set of logs says.

    Args:
        reading: lines, sections, what was skipped and why.
        pooled: the contract's figures over all sections, ``None`` where they cannot be pooled.
        predictions: by section; ``None`` without a machine, or where the log does not say enough.
        judgements: by section: warnings and verdict.
        setup: what the log says of the run beside its figures. warnings: of all sections and files.
        verdict: one or two sentences on the section with the most cycles.
    """

    reading: Reading
    pooled: dict[str, Any]
    predictions: tuple[Prediction | None, ...]
    judgements: tuple[Judgement, ...]
    setup: Setup
    warnings: tuple[str, ...]
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/explain/1``, and beside it what was read and how it was judged."""
        reading = self.reading
        return {
            "schema": SCHEMA,
            **self.pooled,
            "warnings": list(self.warnings),
            "verdict": self.verdict,
            "configuration": {
                name: None if fact is None else {"value": fact.value, "stated": fact.stated, "where": fact.where}
                for name, fact in self.setup.settings()
            },
            "files": list(reading.files),
            "skipped": [{"reason": s.reason, "lines": s.lines, "first": s.first} for s in reading.skipped],
            "sections": [
                {
                    **contract(section),
                    "format": section.format,
                    "where": list(section.where),
                    "method": section.method,
                    "speculative": section.speculative,
                    "output_tokens": plain(section.output_tokens),
                    "target_passes": plain(section.passes),
                    "draft_passes": plain(section.draft_passes),
                    "draft_time_s": plain(section.draft_time_s),
                    "verify_time_s": plain(section.verify_time_s),
                    "user_tokens_per_s": plain(section.user_tokens_per_s),
                    "running_requests": plain(section.running_requests),
                    "waiting_requests": plain(section.waiting_requests),
                    "conventions": list(section.conventions),
                    "identities": [_identity(identity) for identity in section.identities],
                    "measured": judgement.measured,
                    "prediction": prediction.to_dict() if prediction else None,
                    "warnings": list(judgement.warnings),
                    "verdict": judgement.verdict,
                }
                for section, judgement, prediction in zip(
                    reading.sections, self.judgements, self.predictions, strict=True
                )
            ],
        }


def explain(
    paths: Sequence[str],
    *,
    stdin: IO[Any] | None = None,
    asked: Asked | Callable[[Setup], Asked | None] | None = None,
    num_speculative_tokens: int | None = None,
    baseline_tokens_per_s: float | None = None,
    progress: Any = None,
) -> Explanation:
    """Read ``paths`` and say what they mean.

    Args:
        paths: log files; ``-`` is ``stdin``.
        asked: machine and run to predict, or what makes it from the set-up that the log states; ``None`` for no
            prediction.
        num_speculative_tokens: draft length (root not counted), where a log does not say it.
        baseline_tokens_per_s: plain decoding measured on the same machine at the same load.
        progress: called with megabytes done and to do.

    Raises:
        InputError: a file is not text, or nothing is of a known format.
    """
    reading = read_logs(paths, stdin, progress)
    setup = setup_of(reading)
    counted = sorted({s.num_speculative_tokens for s in reading.sections if s.speculative and s.num_speculative_tokens})
    reading = replace(reading, sections=_all_filled(reading.sections, setup, num_speculative_tokens))
    wanted = asked(setup) if callable(asked) else asked
    sections = reading.sections
    predictions = tuple(
        predict(section, wanted, plain_speed(section, sections, baseline_tokens_per_s)[0]) if wanted else None
        for section in sections
    )
    judgements = tuple(
        judge(section, sections, prediction, baseline_tokens_per_s, setup)
        for section, prediction in zip(sections, predictions, strict=True)
    )
    warnings = [*reading.warnings, *setup.unknown]
    if num_speculative_tokens is not None and counted not in ([], [num_speculative_tokens]):
        warnings.append(
            f"a draft length of {num_speculative_tokens} was given, but the log counts "
            f"{' and '.join(map(str, counted))}: what it measured holds for that; see speculate --from-log for others"
        )
    for section, judgement in zip(sections, judgements, strict=True):
        where = f"{section.format}: " if len(sections) > 1 else ""
        warnings += [where + warning for warning in judgement.warnings if where + warning not in warnings]
    main = sections.index(main_section(sections))
    return Explanation(
        reading, pool(reading), predictions, judgements, setup, tuple(warnings), judgements[main].verdict
    )  # fmt: skip


def largest_speedup(acceptance: float, num_speculative_tokens: int) -> float:
    """The most that drafts can gain if verifying and drafting cost nothing: the acceptance length.

    ``acceptance`` is accepted over drafted tokens. A measured speed-up above it needs another change as well.

    >>> round(largest_speedup(0.461, 1), 3), round(largest_speedup(0.443, 1) / (23.25 / 17.70), 4)
    (1.461, 1.0985)
    """
    return 1 + acceptance * num_speculative_tokens


def _all_filled(sections: Sequence[Section], setup: Setup, given: int | None) -> tuple[Section, ...]:
    """With the draft length that was given, else with that of the start-up lines of the same engine."""
    if given is not None:
        return tuple(_filled(section, given, "as given") for section in sections)
    stated = setup.num_speculative_tokens
    if setup.tree_tokens is not None:
        stated = setup.tree_tokens._replace(value=setup.tree_tokens.value - 1)
    if stated is None or setup.engine is None:
        return tuple(sections)
    ours = (None, setup.engine.value)
    return tuple(_filled(s, stated.value, f"that of {stated.where}") if s.engine in ours else s for s in sections)


def _filled(section: Section, k: int, how: str) -> Section:
    """A section whose lines of metrics do not say their draft length, with the one that is known from elsewhere."""
    if not section.speculative or section.num_speculative_tokens is not None:
        return section
    changes: dict[str, Any] = {"num_speculative_tokens": k}
    note = f"the draft length {k} is {how}, the lines of metrics do not say it"
    cycles = section.cycles
    if cycles is None and section.draft_tokens and section.engine == "vllm":
        cycles = changes["cycles"] = section.draft_tokens / k
        note += "; cycles = drafted tokens / draft length"
    if cycles and section.draft_tokens is None:
        changes["draft_tokens"] = cycles * k
    drafted = changes.get("draft_tokens", section.draft_tokens)
    if cycles and section.accepted_tokens is not None:
        measured = 1 + section.accepted_tokens / cycles
        changes["acceptance_length"] = section.acceptance_length or measured
        changes["tokens_per_pass"] = section.tokens_per_pass or measured
        changes["acceptance_rate"] = section.acceptance_rate or (section.accepted_tokens / drafted if drafted else None)
    elif section.acceptance_length is not None and section.acceptance_rate is None:
        changes["acceptance_rate"] = (section.acceptance_length - 1) / k
    warnings = tuple(w for w in section.warnings if "--num-speculative-tokens" not in w)
    return replace(section, **changes, conventions=(*section.conventions, note), warnings=warnings)


def _identity(identity: Identity) -> dict[str, Any]:
    return {
        "name": identity.name, "derived": plain(identity.derived), "stated": plain(identity.stated),
        "unit": identity.unit, "how": identity.how,
    }  # fmt: skip
