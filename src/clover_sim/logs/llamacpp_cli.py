"""The summary that llama.cpp's ``llama-speculative`` and ``llama-speculative-simple`` print after a run."""

from __future__ import annotations

import re

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import OVER_DRAFTED, WITH_BONUS, Identity, Section, length, ratio
from clover_sim.logs._text import number

MARKS = ("decoded ", "encoded ", "n_draft ", "n_predict ", "n_drafted ", "n_accept ", "accept  ", "draft:", "target:",
         "eval time =", "n_draft=", "n_drafted=", "sample time =")  # fmt: skip

_DECODED = re.compile(
    r"decoded\s+(\d+) tokens in\s+([\d.]+) seconds, speed:\s+([\d.]+|inf|nan) (?:t/s|tokens/s|tokens per second)$"
)
_ENCODED = re.compile(r"encoded\s+(\d+) tokens in\s+([\d.]+) seconds, speed:\s+([\d.]+|inf|nan) ")
_ROW = re.compile(r"(n_draft|n_predict|n_drafted|n_accept|accept)\s*=\s*([\d.]+|nan|-nan)%?$")
_PART = re.compile(r"(draft|target):$")
_EVAL = re.compile(
    r"(?:llama_perf_context_print|llama_print_timings|common_perf_print):\s+(prompt eval|eval|sample) time ="
    r"\s+([\d.]+) ms /\s*(\d+) (?:runs|tokens)"
)


class Reader(Base):
    """Collects runs; ``encoded`` or ``decoded`` begins the next one."""

    WRITER = "llama.cpp"

    def __init__(self) -> None:
        self._runs: list[dict[str, float]] = []
        self._lines: list[int] = []
        self._part = ""
        self._fresh = True
        self._plain = [0.0, 0.0, 0.0]
        """Of timings that no run with drafts belongs to: lines, tokens, seconds."""

    def start(self) -> None:
        """A run does not go on in the next file."""
        self._fresh, self._part = True, ""

    def line(self, line: Line) -> Outcome:
        """A row of the summary."""
        text = line.message
        if found := _ENCODED.match(text):
            return self._put("encoded", number(found[1]), begins=True)
        if found := _DECODED.match(text):
            self._put("decoded", number(found[1]), begins=True)
            self._runs[-1]["seconds"] = number(found[2]) or 0.0
            return True
        if found := _ROW.match(text):
            return self._put(found[1], number(found[2]))
        if (found := _PART.match(text)) and not self._fresh:
            self._part = found[1]
            self._lines[-1] += 1
            return True
        if found := _EVAL.search(text):
            milliseconds, runs = number(found[2]), number(found[3])
            if self._fresh and "n_drafted" not in (self._runs[-1] if self._runs else {}):
                return self._without(found[1], milliseconds, runs)
            if self._part and found[1] == "eval" and milliseconds:
                self._put(f"{self._part}_s", milliseconds / 1e3)
                self._runs[-1][f"{self._part}_runs"] = runs or 0.0
                return True
            return "timings of no known part of the run"
        return None

    def _without(self, kind: str, milliseconds: float | None, runs: float | None) -> Outcome:
        """A timing of ``llama-cli`` without drafts: plain decoding."""
        if kind != "eval" or not milliseconds or not runs:
            return None
        self._plain = [a + b for a, b in zip(self._plain, (1.0, runs, milliseconds / 1e3), strict=True)]
        return True

    def _put(self, key: str, value: float | None, begins: bool = False) -> Outcome:
        if self._fresh or (key in self._runs[-1] and (begins or key == "n_draft" or key == "n_drafted")):
            if len(self._runs) >= 10_000:
                return "more than 10000 runs"
            self._runs.append({})
            self._lines.append(0)
            self._fresh, self._part = False, ""
        if value is not None:
            self._runs[-1][key] = value
        self._lines[-1] += 1
        return True

    def sections(self) -> list[Section]:
        """All runs with the same draft length are one section."""
        groups: dict[float | None, list[int]] = {}
        for index, run in enumerate(self._runs):
            if "n_drafted" in run and "n_accept" in run:
                groups.setdefault(run.get("n_draft"), []).append(index)
        found = [self._section(k, indices) for k, indices in groups.items()]
        lines, tokens, seconds = self._plain
        if lines:
            found.append(
                Section(
                    engine="llama.cpp", format="llama.cpp run without drafts", lines_read=int(lines),
                    lines_used=int(lines), speculative=False, output_tokens=tokens,
                    generation_tokens_per_s=tokens / seconds, user_tokens_per_s=tokens / seconds, running_requests=1.0,
                    conventions=("timings of a program without a line on drafts",),
                )
            )  # fmt: skip
        return found

    def _section(self, k: float | None, indices: list[int]) -> Section:
        runs = [self._runs[i] for i in indices]

        def total(key: str) -> float | None:
            values = [run.get(key) for run in runs]
            return None if any(v is None for v in values) else sum(v for v in values if v is not None)

        drafted, accepted = total("n_drafted") or 0.0, total("n_accept") or 0.0
        output = total("n_predict") or total("decoded")
        passes = output - accepted if output is not None else None
        cycles = drafted / k if k and drafted % k == 0 else None
        if cycles is not None and passes is not None and not 0.9 * passes - len(runs) <= cycles <= passes + len(runs):
            cycles = None  # drafts ended early (p-min), so drafted / n_draft is no count of cycles
        seconds, draft_s = total("seconds"), total("draft_s")
        time = ratio(seconds, passes)
        verify = (seconds - draft_s) / (cycles or passes or 1) if seconds and draft_s and seconds > draft_s else None
        conventions = [
            OVER_DRAFTED, WITH_BONUS if cycles is not None else "drafts may end early (p-min), so cycles are not known",
            "passes = tokens - accepted: every token that is no accepted draft is one target pass",
            "n_draft counts drafts without the root; each drafted token is one pass of the drafter",
        ]  # fmt: skip
        identities = []
        if verify is not None:
            how = "(decoding time - draft evaluation time) / cycles"
            identities.append(Identity("verify pass", verify, None, "s", how))
        return Section(
            engine="llama.cpp", format="llama.cpp speculative run", lines_read=sum(self._lines[i] for i in indices),
            lines_used=sum(self._lines[i] for i in indices), cycles=cycles, passes=passes, output_tokens=output,
            draft_tokens=drafted, accepted_tokens=accepted, num_speculative_tokens=int(k) if k else None,
            acceptance_rate=ratio(accepted, drafted), acceptance_length=length(accepted, cycles),
            tokens_per_pass=ratio(output, passes), cycle_time_s=time,
            draft_time_s=draft_s / (cycles or passes or 1) if draft_s else None, verify_time_s=verify,
            generation_tokens_per_s=ratio(output if total("decoded") is None else total("decoded"), seconds),
            user_tokens_per_s=ratio(output, seconds), running_requests=1.0, draft_passes=drafted,
            conventions=tuple(conventions), identities=tuple(identities),
        )  # fmt: skip
