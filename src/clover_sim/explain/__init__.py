"""Logs explained: what was measured, in one vocabulary; whether it agrees with itself; what the cost model expects.

The layer beside comparisons: it reads with :mod:`clover_sim.logs` and prices with :mod:`clover_sim.cost`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from clover_sim.explain._judge import Judgement, judge
from clover_sim.explain._pool import FIELDS, contract, plain, pool
from clover_sim.explain._predict import MOST_REQUESTS, Asked, Prediction, predict
from clover_sim.logs import Identity, Reading, Section, read_logs

__all__ = [
    "FIELDS", "MOST_REQUESTS", "SCHEMA", "Asked", "Explanation", "Judgement", "Prediction", "explain",
    "largest_speedup",
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
        warnings: of all sections and files.
        verdict: one or two sentences on the section with the most cycles.
    """

    reading: Reading
    pooled: dict[str, Any]
    predictions: tuple[Prediction | None, ...]
    judgements: tuple[Judgement, ...]
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
            "files": list(reading.files),
            "skipped": [{"reason": s.reason, "lines": s.lines, "first": s.first} for s in reading.skipped],
            "sections": [
                {
                    **contract(section),
                    "format": section.format,
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
    asked: Asked | None = None,
    num_speculative_tokens: int | None = None,
    baseline_tokens_per_s: float | None = None,
    progress: Any = None,
) -> Explanation:
    """Read ``paths`` and say what they mean.

    Args:
        paths: log files; ``-`` is ``stdin``.
        asked: machine and run to predict, ``None`` for no prediction.
        num_speculative_tokens: draft length (root not counted), where a log does not say it.
        baseline_tokens_per_s: plain decoding measured on the same machine at the same load.
        progress: called with megabytes done and to do.

    Raises:
        InputError: a file is not text, or nothing is of a known format.
    """
    reading = read_logs(paths, stdin, progress)
    if num_speculative_tokens is not None:
        filled = tuple(_filled(section, num_speculative_tokens) for section in reading.sections)
        reading = replace(reading, sections=filled)
    predictions = tuple(predict(section, asked) if asked else None for section in reading.sections)
    judgements = tuple(
        judge(section, reading.sections, prediction, baseline_tokens_per_s)
        for section, prediction in zip(reading.sections, predictions, strict=True)
    )
    warnings = list(reading.warnings)
    for section, judgement in zip(reading.sections, judgements, strict=True):
        where = f"{section.format}: " if len(reading.sections) > 1 else ""
        warnings += [where + warning for warning in judgement.warnings if where + warning not in warnings]
    main = max(range(len(reading.sections)), key=lambda i: _weight(reading.sections[i], -i))
    return Explanation(
        reading, pool(reading), predictions, judgements, tuple(warnings), judgements[main].verdict
    )  # fmt: skip


def largest_speedup(acceptance: float, num_speculative_tokens: int) -> float:
    """The most that drafts can gain if verifying and drafting cost nothing: the acceptance length.

    ``acceptance`` is accepted over drafted tokens. A measured speed-up above it needs another change as well.

    >>> round(largest_speedup(0.461, 1), 3), round(largest_speedup(0.443, 1) / (23.25 / 17.70), 4)
    (1.461, 1.0985)
    """
    return 1 + acceptance * num_speculative_tokens


def _weight(section: Section, order: int) -> tuple[bool, float, int]:
    return section.speculative, section.cycles or 0.0, order


def _filled(section: Section, k: int) -> Section:
    """A section whose log does not say its draft length, with the one that was given."""
    if not section.speculative or section.num_speculative_tokens is not None:
        return section
    changes: dict[str, Any] = {"num_speculative_tokens": k}
    note = f"the draft length {k} is as given, the log does not say it"
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
