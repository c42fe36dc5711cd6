"""Logs explained: what was measured, in one vocabulary; whether it agrees with itself; what the cost model expects.

The layer beside comparisons: it reads with :mod:`clover_sim.logs` and prices with :mod:`clover_sim.cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from clover_sim.errors import UsageError
from clover_sim.explain._acceptance import tree_of
from clover_sim.explain._drafts import Drafts, drafts_of
from clover_sim.explain._fill import check_load, elsewhere, filled
from clover_sim.explain._judge import Judgement, judge
from clover_sim.explain._known import same_card
from clover_sim.explain._measured import plain_speed, speed_of
from clover_sim.explain._pool import FIELDS, contract, plain, pool
from clover_sim.explain._predict import CONTEXT_TOKENS, MOST_REQUESTS, Asked, Prediction, predict
from clover_sim.explain._setup import Fact, Setup, main_section, setup_of, with_tree
from clover_sim.logs import Identity, Reading, read_logs

__all__ = [
    "CONTEXT_TOKENS", "FIELDS", "MOST_REQUESTS", "SCHEMA", "Asked", "Drafts", "Explanation", "Fact", "Judgement",
    "Prediction", "Setup", "drafts_of", "explain", "largest_speedup", "main_section", "same_card", "setup_of",
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
                    "prompt_tokens_per_s": plain(section.prompt_tokens_per_s),
                    "eager_share": plain(section.eager_share),
                    "tree": tree._asdict() if (tree := tree_of(section)) else None,
                    "waiting_requests": plain(section.waiting_requests),
                    "conventions": list(section.conventions),
                    "identities": [_identity(identity) for identity in section.identities],
                    "measured": judgement.measured,
                    "estimated": judgement.estimated,
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
    tree: tuple[int, int] | None = None,
    baseline_tokens_per_s: float | None = None,
    progress: Any = None,
) -> Explanation:
    """Read ``paths`` and say what they mean.

    Args:
        paths: log files; ``-`` is ``stdin``.
        asked: machine and run to predict, or what makes it from the set-up that the log states; ``None`` for no
            prediction.
        num_speculative_tokens: draft length (root not counted), where a log does not say it.
        tree: levels and children a node, if the drafts are a tree that a log does not describe.
        baseline_tokens_per_s: plain decoding measured on the same machine at the same load.
        progress: called with megabytes done and to do.

    Raises:
        InputError: a file is not text, or nothing is of a known format.
    """
    reading = read_logs(paths, stdin, progress)
    setup = setup_of(reading)
    if tree is not None:
        setup = with_tree(setup, *tree, num_speculative_tokens or main_section(reading.sections).num_speculative_tokens)
    counted = sorted({s.num_speculative_tokens for s in reading.sections if s.speculative and s.num_speculative_tokens})
    wanted = asked(setup) if callable(asked) else asked
    batch = None if wanted is None else wanted.batch_size
    reading = replace(reading, sections=filled(reading.sections, setup, num_speculative_tokens, batch))
    sections = reading.sections
    warnings = [*reading.warnings, *setup.unknown, *check_load(sections, batch)]
    if wanted is not None:
        warnings += _not_what_ran(wanted, setup, reading)
    plain_speeds = [plain_speed(section, sections, baseline_tokens_per_s) for section in sections]
    predictions = tuple(
        predict(section, wanted, plain) if wanted else None
        for section, plain in zip(sections, plain_speeds, strict=True)
    )
    judgements = tuple(
        judge(section, plain, prediction, setup, machine_known=wanted is not None)
        for section, plain, prediction in zip(sections, plain_speeds, predictions, strict=True)
    )
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


def _not_what_ran(asked: Asked, setup: Setup, reading: Reading) -> list[str]:
    """Warnings of what was asked beside what the log states: it measured one machine and no other.

    Raises:
        UsageError: another card was asked for.
    """
    machine, card = asked.cost.machine, setup.gpu
    if machine is None or not any(s.cycle_time_s or speed_of(s) for s in reading.sections):
        return []
    name = machine.hardware.name
    if card is not None and not same_card(name, card.value):
        raise UsageError(
            f"--gpu {name}: the log ran on {card.value} ({card.where}), and what it measured cannot be moved to "
            f"another card: leave the flag out, or ask {elsewhere(reading.files[0])} --gpu {name}"
        )
    taken = {
        "model": machine.model.name, "engine": asked.machine(None).engine.name,
        "tensor_parallel_size": machine.tensor_parallel_size,
    }  # fmt: skip
    found = []
    for flag, value in taken.items():
        fact = getattr(setup, flag)
        if fact is not None and value != fact.value and not (flag == "engine" and asked.log_engine):
            found.append(
                f"--{flag.replace('_', '-')} {value}: the log states {fact.stated} ({fact.where}), and what it "
                "measured is held against the price of something else"
            )
    return found


def _identity(identity: Identity) -> dict[str, Any]:
    return {
        "name": identity.name, "derived": plain(identity.derived), "stated": plain(identity.stated),
        "unit": identity.unit, "how": identity.how,
    }  # fmt: skip
