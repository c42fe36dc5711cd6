"""A metrics page of vLLM, llama-server or SGLang: counters since the server's start, summed over engines.

A counter that comes again (a second scrape) is differenced: the last value less the first. ``_created`` twins hold
times and are passed over; names inside a process lack ``_total``.
"""

from __future__ import annotations

import re
from collections import defaultdict

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Identity,
    Section,
    length,
    ratio,
)
from clover_sim.logs._text import number
from clover_sim.logs._vllm_diffusion import STEPS

MARKS = (
    "vllm:spec_decode_", "llamacpp:spec_decode_", "vllm:generation_tokens", "vllm:request_decode_time_seconds_sum",
    "vllm:num_requests_running", "vllm:num_requests_waiting", "llamacpp:tokens_predicted", "llamacpp:predicted_tokens",
    "llamacpp:requests_processing", "sglang:spec_accept", "sglang:gen_throughput", "sglang:num_running_reqs",
    "sglang:num_queue_reqs", "sglang:spec_num_draft_tokens", "vllm:diffusion_num_",
)  # fmt: skip

_SAMPLE = re.compile(
    r"(vllm|llamacpp|sglang):([a-z_]+?)(?:_total)?(?:\{([^}]*)\})?[\s|]+([-+.\deE]+|nan|inf)(?:\s+\d{10,})?$",
    re.IGNORECASE,
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ENGINES = {"vllm": ("vllm", "vLLM metrics page"), "llamacpp": ("llama.cpp", "llama-server metrics page"),
            "sglang": ("sglang", "SGLang metrics page")}  # fmt: skip
_GAUGES = ("num_requests_running", "num_requests_waiting", "predicted_tokens_seconds", "requests_processing",
           "spec_accept_length", "spec_accept_rate", "spec_num_draft_tokens", "gen_throughput", "num_running_reqs",
           "num_queue_reqs", "spec_decode_draft_acceptance_rate", "spec_decode_efficiency")  # fmt: skip
_DIFFUSION = ("denoising_steps", "committed_tokens")
_RANKS = ("tp_rank", "pp_rank", "moe_ep_rank")
_MOST_SERIES = 50_000


class Reader(Base):
    """First, last and reset-corrected value of every series."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str, int], list[float]] = {}
        self._lines: dict[str, int] = defaultdict(int)

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
        written = labels.pop("position", "")
        position = int(written) if written.isdecimal() and len(written) < 5 else -1
        key = (system, name, ",".join(f"{k}={v}" for k, v in sorted(labels.items())), position)
        if len(self._series) >= _MOST_SERIES and key not in self._series:
            return f"more than {_MOST_SERIES} series"
        first, last, gained, count = self._series.get(key, [value, value, 0.0, 0.0])
        gained += value - last if value >= last else value
        self._series[key] = [first, value, gained, count + 1]
        self._lines[system] += 1
        return True

    def sections(self) -> list[Section]:
        """One a system whose page says anything about drafts or speed."""
        found = [self._gauges() if system == "sglang" else self._counters(system) for system in self._lines]
        return [section for section in found if section is not None]

    def _value(self, key: tuple[str, str, str, int]) -> float | None:
        found = self._series.get(key)
        if found is None:
            return None
        return found[1] if found[3] == 1 or key[1] in _GAUGES else found[2]

    def _total(self, system: str, name: str, among: set[str] | None = None) -> float | None:
        """Sum over the label sets, or over those of ``among``."""
        values = [
            self._value(key)
            for key in self._series
            if key[0] == system and key[1] == name and (among is None or key[2] in among)
        ]
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    def _counters(self, system: str) -> Section | None:
        engines = {labels for s, name, labels, _ in self._series if s == system and name == "spec_decode_num_drafts"}
        drafts = self._total(system, "spec_decode_num_drafts")
        drafted = self._total(system, "spec_decode_num_draft_tokens", engines or None)
        accepted = self._total(system, "spec_decode_num_accepted_tokens", engines or None)
        emitted = self._total(system, "spec_decode_num_emitted_tokens")
        speed = self._total(system, "predicted_tokens_seconds")
        if all(value is None for value in (drafts, drafted, accepted, speed)):
            return self._diffusion(system)
        survival, missing, warnings = self._positions(system, engines, drafts, accepted)
        measured = length(accepted, drafts)
        per_draft = ratio(drafted, drafts)
        if per_draft is not None:
            k = round(per_draft) if abs(per_draft - round(per_draft)) < 1e-6 else len(survival) or None
        else:
            k = None if missing else len(survival) or None
        conventions = [self._scrapes(system)]
        if measured is not None:
            conventions.append(WITH_BONUS)
        if accepted is not None and drafted is not None:
            conventions.append(OVER_DRAFTED)
        if len(engines) > 1:
            conventions.append(f"summed over {len(engines)} engines")
        identities = []
        if survival:
            conventions.append("positions count from 0; " + SURVIVAL)
            if not missing:
                how = "1 + sum of the positions"
                identities.append(Identity("acceptance length", 1 + sum(survival), measured, "", how))
        if emitted is not None:
            warnings.append("a V0 page: it has no number of drafts, so the acceptance length cannot be told")
        output = self._total(system, "generation_tokens") or self._total(system, "tokens_predicted")
        passes, per_pass = None, measured
        if drafts is not None and accepted is not None and output is not None and output >= drafts + accepted:
            passes = output - accepted
            per_pass = ratio(output, passes)
            conventions.append("every generated token that is no accepted draft is one target pass of a request")
        elif measured is not None:
            conventions.append(NO_PLAIN_PASSES)
        decode_s = self._total(system, "request_decode_time_seconds_sum")
        predicting_s = self._total(system, "tokens_predicted_seconds")  # llama.cpp's, summed over the slots
        engine, title = _ENGINES[system]
        return Section(
            engine=engine, format=title, lines_read=self._lines[system], lines_used=self._lines[system],
            speculative=drafted is not None or drafts is not None or accepted is not None,
            cycles=drafts, passes=passes, output_tokens=output, draft_tokens=drafted, accepted_tokens=accepted,
            num_speculative_tokens=k, acceptance_rate=ratio(accepted, drafted), acceptance_length=measured,
            tokens_per_pass=per_pass, per_position_survival=tuple(survival) or None,
            cycle_time_s=ratio(decode_s or predicting_s, passes or drafts), generation_tokens_per_s=speed,
            user_tokens_per_s=ratio(output, predicting_s),
            running_requests=self._total(system, "num_requests_running") or self._total(system, "requests_processing"),
            waiting_requests=self._total(system, "num_requests_waiting"),
            conventions=tuple(conventions), identities=tuple(identities), warnings=tuple(warnings),
        )  # fmt: skip

    def _diffusion(self, system: str) -> Section | None:
        """vLLM: a diffusion model, whose denoising steps are counted where others count drafts."""
        steps, committed = (self._total(system, f"diffusion_num_{name}") for name in _DIFFUSION)
        if not steps or committed is None:
            return None
        return Section(
            engine="vllm", format="vLLM metrics page of a diffusion model", lines_read=self._lines[system],
            lines_used=self._lines[system], speculative=False, passes=steps, output_tokens=committed,
            tokens_per_pass=committed / steps, method="block diffusion",
            cycle_time_s=ratio(self._total(system, "request_decode_time_seconds_sum"), steps),
            running_requests=self._total(system, "num_requests_running"),
            waiting_requests=self._total(system, "num_requests_waiting"), conventions=(self._scrapes(system), STEPS),
        )  # fmt: skip

    def _positions(
        self, system: str, engines: set[str], drafts: float | None, accepted: float | None
    ) -> tuple[list[float], bool, list[str]]:
        """Survival, whether positions are missing from the page, and what to warn of."""
        counts: dict[int, float] = defaultdict(float)
        strays: set[str] = set()
        for key in self._series:
            if key[0] == system and key[1] == "spec_decode_num_accepted_tokens_per_pos" and key[3] >= 0:
                if key[2] in engines:
                    counts[key[3]] += self._value(key) or 0.0
                else:
                    strays.add(key[2] or "no label")
        warnings = [
            f"positions of {labels} have no number of drafts and were left out" for labels in sorted(strays)[:3]
        ]
        first = next((i for i in range(len(counts) + 1) if i not in counts), 0)
        missing = bool(counts) and accepted is not None and abs(sum(counts.values()) - accepted) > 0.5
        if missing:
            warnings.append("the positions do not add up to the accepted tokens: some are missing from the page")
        return ([counts[i] / drafts for i in range(first)] if drafts else []), missing, warnings

    def _scrapes(self, system: str) -> str:
        again = any(s[3] > 1 for key, s in self._series.items() if key[0] == system and key[1] not in _GAUGES)
        if again:
            return "several scrapes: each counter is its growth from the first to the last"
        return "one scrape: counters run since the start of the server"

    def _gauges(self) -> Section | None:
        """SGLang: gauges of the latest window, over its engines; the ranks of one engine all show its figure."""
        engines: dict[str, dict[str, float]] = defaultdict(dict)
        for key in self._series:
            if key[0] == "sglang" and (value := self._value(key)):
                ranks = [word for word in key[2].split(",") if word.partition("=")[0] not in _RANKS]
                engines[key[1]][",".join(ranks)] = value
        known = list(engines["spec_accept_length"].values())
        measured = sum(known) / len(known) if known else None
        speed, running, waiting = (
            sum(engines[name].values()) for name in ("gen_throughput", "num_running_reqs", "num_queue_reqs")
        )
        if measured is None and not speed:
            return None
        drafts = set(engines["spec_num_draft_tokens"].values())
        k = int(drafts.pop()) - 1 if len(drafts) == 1 and measured else None
        return Section(
            engine="sglang", format="SGLang metrics page", lines_read=self._lines["sglang"],
            lines_used=self._lines["sglang"], speculative=measured is not None, acceptance_length=measured,
            num_speculative_tokens=k or None, acceptance_rate=(measured - 1) / k if measured and k else None,
            tokens_per_pass=measured, cycle_time_s=ratio(running * (measured or 0.0), speed) or None,
            generation_tokens_per_s=speed or None, running_requests=running or None, waiting_requests=waiting,
            conventions=("gauges of the last window: the acceptance length includes the bonus token",),
        )  # fmt: skip
