"""A metrics page of vLLM, llama-server or SGLang: counters since the server's start, summed over engines.

A counter that comes again (a second scrape) is differenced: the last value less the first. ``_created`` twins hold
times and are passed over; names inside a process lack ``_total``.
"""

from __future__ import annotations

import re
from collections import defaultdict

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import OVER_DRAFTED, SURVIVAL, WITH_BONUS, Identity, Section, length, ratio
from clover_sim.logs._text import number

MARKS = (
    "vllm:spec_decode_", "llamacpp:spec_decode_", "vllm:generation_tokens", "vllm:request_decode_time_seconds_sum",
    "vllm:num_requests_running", "vllm:num_requests_waiting", "llamacpp:tokens_predicted", "llamacpp:predicted_tokens",
    "llamacpp:requests_processing", "sglang:spec_accept", "sglang:gen_throughput", "sglang:num_running_reqs",
    "sglang:num_queue_reqs",
)  # fmt: skip

_SAMPLE = re.compile(
    r"(vllm|llamacpp|sglang):([a-z_]+?)(?:_total)?(?:\{([^}]*)\})?[\s|]+([-+.\deE]+|nan|inf)(?:\s+\d{10,})?$", re.IGNORECASE
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ENGINES = {"vllm": ("vllm", "vLLM metrics page"), "llamacpp": ("llama.cpp", "llama-server metrics page"),
            "sglang": ("sglang", "SGLang metrics page")}  # fmt: skip
_GAUGES = ("num_requests_running", "num_requests_waiting", "predicted_tokens_seconds", "requests_processing",
           "spec_accept_length", "spec_accept_rate", "gen_throughput", "num_running_reqs", "num_queue_reqs",
           "spec_decode_draft_acceptance_rate", "spec_decode_efficiency")  # fmt: skip
_MOST_SERIES = 50_000


class Reader(Base):
    """First, last and reset-corrected value of every series."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str, int], list[float]] = {}
        self._lines: dict[str, int] = defaultdict(int)
        self._created = 0

    def line(self, line: Line) -> Outcome:
        """A sample; comments and twins are passed over."""
        text = line.message.strip()
        if text.startswith("#"):
            return None
        found = _SAMPLE.match(text)
        if found is None:
            return None
        system, name = found[1].lower(), found[2]
        if name.endswith("_created"):
            return "a _created twin (a time, not a count)"
        value = number(found[4])
        if value is None:
            return "a sample that is not a finite number"
        labels = dict(_LABEL.findall(found[3] or ""))
        position = int(labels.pop("position", "-1")) if labels.get("position", "-1").lstrip("-").isdigit() else -1
        key = (system, name, ",".join(f"{k}={v}" for k, v in sorted(labels.items())), position)
        if len(self._series) >= _MOST_SERIES and key not in self._series:
            return f"more than {_MOST_SERIES} series"
        first, last, gained, count = self._series.get(key, [value, value, 0.0, 0.0])
        gained += value - last if value >= last else value
        self._series[key] = [first, value, gained, count + 1]
        self._lines[system] += 1
        return True

    def sections(self) -> list[Section]:
        """One a system."""
        return [self._section(system) for system in self._lines]

    def _value(self, system: str, name: str, labels: str, position: int = -1) -> float | None:
        found = self._series.get((system, name, labels, position))
        if found is None:
            return None
        return found[1] if found[3] == 1 or name in _GAUGES else found[2]

    def _section(self, system: str) -> Section:
        keys = [key for key in self._series if key[0] == system]
        labelled = sorted({labels for _, _, labels, _ in keys})

        def total(name: str, among: list[str] | None = None) -> float | None:
            values = [self._value(system, name, labels) for labels in (labelled if among is None else among)]
            known = [value for value in values if value is not None]
            return sum(known) if known else None

        with_drafts = [one for one in labelled if self._value(system, "spec_decode_num_drafts", one) is not None]
        drafts = total("spec_decode_num_drafts")
        among = with_drafts or None
        drafted = total("spec_decode_num_draft_tokens", among)
        accepted = total("spec_decode_num_accepted_tokens", among)
        warnings, conventions, identities = [], [], []
        counts: dict[int, float] = defaultdict(float)
        for _, name, labels, position in keys:
            if name.startswith("spec_decode_num_accepted_tokens_per_pos") and position >= 0:
                if labels in with_drafts:
                    counts[position] += self._value(system, name, labels, position) or 0.0
                else:
                    warnings.append(f"positions of {labels or 'a series'} have no number of drafts and were left out")
        survival = [counts[i] / drafts for i in range(len(counts)) if i in counts] if drafts and counts else []
        measured = length(accepted, drafts)
        per_draft = ratio(drafted, drafts)
        k = round(per_draft) if per_draft and abs(per_draft - round(per_draft)) < 1e-6 else None
        whole = accepted is not None and abs(sum(counts.values()) - accepted) < 0.5
        if counts and (k is None or whole):
            k = max(len(counts), k or 0) if per_draft is None or whole else k
        if counts and accepted is not None and not whole:
            warnings.append("the positions do not add up to the accepted tokens: some are missing from the page")
        if measured is not None:
            conventions += [WITH_BONUS, OVER_DRAFTED]
        if survival:
            conventions.append("positions count from 0; " + SURVIVAL)
            identities.append(
                Identity("acceptance length", 1 + sum(survival), measured, "", "1 + sum of the positions")
            )
        twice = any(s[3] > 1 for key, s in self._series.items() if key[0] == system and key[1] not in _GAUGES)
        conventions.append(
            "counters were seen more than once: the last value less the first counts" if twice else
            "one scrape: counters since the start of the server"
        )  # fmt: skip
        if len(with_drafts) > 1:
            conventions.append(f"summed over {len(with_drafts)} engines")
        return self._finish(
            system, drafts, drafted, accepted, k, measured, survival, conventions, identities, warnings, total
        )

    def _finish(self, system, drafts, drafted, accepted, k, measured, survival, conventions, identities, warnings, total):  # type: ignore[no-untyped-def] # noqa: E501
        raise NotImplementedError
