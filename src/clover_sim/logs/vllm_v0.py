"""vLLM V0 server logs: ``Speculative metrics`` with cumulative counters, and ``stage times`` of a cycle.

Layouts: vllm/spec_decode/metrics.py and spec_decode_worker.py until 2025.
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import Identity, Section, ratio
from clover_sim.logs._text import fields, number

MARKS = ("Speculative metrics:", "Avg generation throughput:", "SpecDecodeWorker stage times:")

_SPEC = re.compile(r"Speculative metrics:\s*(?=[A-Z])")
_ENGINE = re.compile(
    r"Avg prompt throughput:.{0,120}Avg generation throughput:.{0,120}Running:\s*\d+ reqs, (?:Swapped|Pending):"
)
_STAGES = re.compile(
    r"stage times: average_time_per_proposal_tok_ms=([\d.]+),? scoring_time_ms=([\d.]+),? verification_time_ms=([\d.]+)"
)
_NAMES = ("number of draft tokens", "number of accepted tokens", "number of emitted tokens")
_OVERCOUNTED = (
    "V0 counts accepted drafts even behind a rejected one, so its acceptance rate is too high; "
    "the acceptance length is emitted tokens / cycles instead"
)
_MOST_SERVERS = 256
_CUMULATIVE = "counters run since the server's start: the last line of each run counts, lines are never added up"
_EFFICIENCY = "system efficiency = acceptance length / (draft length + 1), the bonus token included"


class Reader(Base):
    """Keeps the last counters of each run."""

    WRITER = "vLLM"

    def __init__(self) -> None:
        self._read = self._used = 0
        self._now: dict[str, list[float]] = {}
        """The counters of each server's run, by its origin."""
        self._done = [0.0, 0.0, 0.0, 0.0]
        self._lengths: set[int] = set()
        self._efficiency: float | None = None
        self._engine = [0.0] * 5
        self._stages = [0.0, 0.0, 0.0]
        """Lines of stage times, and sums of a drafted token's and of scoring and verifying, in milliseconds."""

    def start(self) -> None:
        """A new file is a new run."""
        for origin in list(self._now):
            self._finish(origin)

    def line(self, line: Line) -> Outcome:
        """A line of counters, or an engine line with ``Swapped``."""
        text = line.text
        if found := _SPEC.search(text):
            stated = fields(text[found.end() :].rstrip("."))
            if "number of speculative tokens" not in stated and "system efficiency" not in stated:
                return None
            return self._counters(line.origin, stated, line.ended or text.endswith("."))
        if found := _STAGES.search(text):
            proposal, scoring, verifying = (number(found[i]) or 0.0 for i in (1, 2, 3))
            self._stages = [a + b for a, b in zip(self._stages, (1.0, proposal, scoring + verifying), strict=True)]
            self._read += 1
            self._used += 1
            return True
        if _ENGINE.search(text):
            stated = fields(text[text.index("Avg prompt") :])
            speed, running = number(stated.get("avg generation throughput")), number(stated.get("running"))
            self._read += 1
            if speed is None or running is None:
                return CUT_OFF
            self._used += 1
            if speed and running:
                waiting, prompts = (number(stated.get(name)) or 0.0 for name in ("pending", "avg prompt throughput"))
                sums = zip(self._engine, (1.0, speed, running, waiting, prompts), strict=True)
                self._engine = [a + b for a, b in sums]
            return True
        return None

    def _counters(self, origin: str, stated: dict[str, str], complete: bool) -> Outcome:
        self._read += 1
        k = number(stated.get("number of speculative tokens"))
        counts = [number(stated.get(name) or stated.get(f"{name} tokens")) for name in _NAMES]  # 0.5 doubles the word
        if not k or not complete or any(value is None for value in counts):
            return CUT_OFF
        values = [value or 0.0 for value in counts]
        before = self._now.get(origin, [0.0, 0.0, 0.0, k])
        if any(a < b for a, b in zip(values, before, strict=False)) or before[3] != k:
            self._finish(origin)
        elif origin not in self._now and len(self._now) >= _MOST_SERVERS:
            self._finish(next(iter(self._now)))
        self._now[origin] = [*values, k]
        self._lengths.add(int(k))
        self._efficiency = number(stated.get("system efficiency"))
        self._used += 1
        return True

    def _finish(self, origin: str) -> None:
        drafted, accepted, emitted, k = self._now.pop(origin)
        self._done = [a + b for a, b in zip(self._done, (drafted, accepted, emitted, drafted / k), strict=True)]

    def sections(self) -> list[Section]:
        """One, or none."""
        if not self._used:
            return []
        lines, *rest = self._engine
        load = [value / lines if lines else None for value in rest]
        if not self._lengths:
            return [
                Section(
                    engine="vllm", format="vLLM V0 log without drafts", lines_read=self._read, lines_used=self._used,
                    speculative=False, generation_tokens_per_s=load[0], running_requests=load[1],
                    waiting_requests=load[2], prompt_tokens_per_s=load[3], conventions=("no speculative lines",),
                )
            ]  # fmt: skip
        self.start()
        drafted, accepted, emitted, cycles = self._done
        measured = ratio(emitted, cycles)
        identities = []
        if measured and self._efficiency and len(self._lengths) == 1:
            k = max(self._lengths)
            how = "system efficiency x (draft length + 1)"
            identities.append(Identity("acceptance length", self._efficiency * (k + 1), measured, "", how))
        staged, proposal, verifying = self._stages
        time = load[1] * measured / load[0] if load[0] and load[1] and measured else None
        return [
            Section(
                engine="vllm",
                format="vLLM V0 log",
                lines_read=self._read,
                lines_used=self._used,
                cycles=cycles,
                passes=cycles,
                output_tokens=emitted,
                draft_tokens=drafted,
                accepted_tokens=accepted,
                num_speculative_tokens=max(self._lengths),
                acceptance_rate=ratio(accepted, drafted),
                acceptance_length=measured,
                tokens_per_pass=measured,
                cycle_time_s=time,
                draft_time_s=proposal / staged * max(self._lengths) / 1e3 if staged else None,
                verify_time_s=verifying / staged / 1e3 if staged else None,
                generation_tokens_per_s=load[0],
                running_requests=load[1],
                waiting_requests=load[2],
                prompt_tokens_per_s=load[3],
                conventions=(_CUMULATIVE, _EFFICIENCY, _OVERCOUNTED),
                identities=tuple(identities),
                warnings=(_OVERCOUNTED,) if cycles and abs(emitted - accepted - cycles) > 0.02 * emitted else (),
            )
        ]
