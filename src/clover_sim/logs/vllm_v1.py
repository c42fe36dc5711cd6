"""vLLM V1 server logs: ``SpecDecoding metrics`` in every layout since March 2025, and the engine line beside it.

Fields go by name. A line counts one window; it does not name its engine, so it belongs to the last engine line of the
same process. Layouts: vllm/v1/spec_decode/metrics.py and vllm/v1/metrics/loggers.py through the releases.
"""

from __future__ import annotations

import re

from clover_sim.logs import _vllm_arguments
from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import Section, cycles_of, ratio
from clover_sim.logs._text import fields, number, rates
from clover_sim.logs._vllm_diffusion import diffusing
from clover_sim.logs._vllm_windows import Process, drafting, plain

MARKS = (
    "SpecDecoding metrics:", "Speculative metrics:", "DiffusionDecoding metrics:", "Avg generation throughput:",
    *_vllm_arguments.MARKS,
)  # fmt: skip

_SPEC = re.compile(r"(?:SpecDecoding|Speculative) metrics:\s*(?=[A-Z])")
_DIFFUSION = re.compile(r"DiffusionDecoding metrics:\s*(?=[A-Z])")
_ENGINE = re.compile(r"Avg prompt throughput:.{0,120}Avg generation throughput:.{0,120}Running:\s*\d+ reqs, Waiting:")
_PROCESS = re.compile(r"pid=(\d+)\)")
_INDEX = re.compile(r"Engine (\d{1,4}): $")
_SUMS = re.compile(r"(\d{1,4}) Engines Aggregated: $")
_MOST_ENGINES = 4096
_USUAL_WINDOW_S = (8.0, 12.0)
_MOST_PROCESSES = 256
_ROUNDING = 0.03


class Reader(Base):
    """Collects windows and engine lines, a record a process."""

    WRITER = "vLLM"

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._method = ""
        self._k: int | None = None

    def line(self, line: Line) -> Outcome:
        """An engine line or a window; of start-up lines, which others claim, the method and the draft length."""
        text = line.text
        if found := _SPEC.search(text):
            stated = fields(text[found.end() :])
            if "number of speculative tokens" in stated or "system efficiency" in stated:
                return None
            process = self._process(line)
            process.read += 1
            outcome = self._window(process, stated, line.ended)
            process.used += outcome is True
            return outcome
        if found := _DIFFUSION.search(text):
            process = self._process(line)
            engine, process.engine = process.engine, None
            process.read += 1
            outcome = process.diffusion.add(fields(text[found.end() :]), engine and engine[:3])
            process.used += outcome is True
            return outcome
        if _ENGINE.search(text):
            at = text.index("Avg prompt")
            return self._engine(self._process(line), text[:at], fields(text[at:]))
        if arguments := _vllm_arguments.arguments_of(text):
            self._method = str(arguments.method or self._method)
            self._k = arguments.num_speculative_tokens or self._k
        return None

    def _process(self, line: Line) -> Process:
        pid = _PROCESS.search(line.text)
        key = f"{line.origin}/{pid[1] if pid else ''}"
        if key not in self._processes and len(self._processes) >= _MOST_PROCESSES:
            key = next(iter(self._processes))
        return self._processes.setdefault(key, Process())

    def _engine(self, process: Process, before: str, stated: dict[str, str]) -> Outcome:
        process.read += 1
        if (index := _INDEX.search(before)) and len(process.engines) < _MOST_ENGINES:
            process.engines.add(int(index[1]))
        elif sums := _SUMS.search(before):
            process.aggregated = max(1, int(sums[1]))
        speed, running = number(stated.get("avg generation throughput")), number(stated.get("running"))
        waiting, prompts = (number(stated.get(name)) or 0.0 for name in ("waiting", "avg prompt throughput"))
        if speed is None or running is None:
            return CUT_OFF
        process.used += 1
        process.engine_lines += 1
        speed, running, waiting, prompts = (n / process.aggregated for n in (speed, running, waiting, prompts))
        process.engine = speed, running, waiting, prompts
        if speed and running:
            process.busy = [a + b for a, b in zip(process.busy, (1.0, *process.engine), strict=True)]
        return True

    def _window(self, process: Process, stated: dict[str, str], ended: bool) -> Outcome:
        accepted = _count(stated.get("accepted") or stated.get("number of accepted tokens"))
        drafted = _count(stated.get("drafted") or stated.get("number of draft tokens"))
        survival = rates(stated.get("per-position acceptance rate"))
        if accepted is None or drafted is None or accepted > drafted or not _complete(stated, ended):
            return CUT_OFF
        engine, process.engine = process.engine, None
        process.windows += 1
        if not drafted:
            return True
        printed = number(stated.get("mean acceptance length"))
        if printed is not None and survival and abs(sum(survival) - printed) < abs(sum(survival) + 1 - printed) - 0.5:
            process.no_bonus = True
            printed += 1
        k = len(survival) if survival else 0
        cycles = cycles_of(drafted, accepted, k, printed)
        process.drafted += drafted
        process.accepted += accepted
        process.cycles = None if cycles is None or process.cycles is None else process.cycles + cycles
        if survival:
            process.lengths.add(k)
        if cycles is None:
            return True
        if survival:
            process.survival.add(cycles, survival)
        self._time(process, stated, engine, (drafted, accepted, cycles))
        return True

    @staticmethod
    def _time(
        process: Process,
        stated: dict[str, str],
        engine: tuple[float, float, float, float] | None,
        counts: tuple[float, float, float],
    ) -> None:
        drafted, accepted, cycles = counts
        seconds = ratio(drafted, number(stated.get("drafted throughput")))
        if seconds:
            process.timed_s += seconds
            process.timed_cycles += cycles
            process.timed_accepted += accepted
        if engine is None:
            return
        speed, running, *_ = engine
        process.paired_lines = [a + b for a, b in zip(process.paired_lines, (1.0, *engine), strict=True)]
        if seconds:
            process.paired_s += seconds
            process.paired_cycles += cycles / process.aggregated
            process.paired_accepted += accepted / process.aggregated
            process.paired_tokens += speed * seconds
            process.paired_running_s += running * seconds
        elif speed:
            window = (cycles + accepted) / speed / process.aggregated
            process.odd_window |= not _USUAL_WINDOW_S[0] <= window <= _USUAL_WINDOW_S[1]

    def sections(self) -> list[Section]:
        """One for the processes with windows, one for those of a diffusion model, one for those without either."""
        with_windows = [p for p in self._processes.values() if p.windows]
        diffusion = [p for p in self._processes.values() if p.diffusion.used]
        without = [p for p in self._processes.values() if not (p.windows or p.diffusion.used) and p.engine_lines]
        found = [drafting(with_windows, self._method, self._k)] if with_windows else []
        if diffusion:
            lines = sum(p.read for p in diffusion), sum(p.used for p in diffusion)
            found.append(diffusing((p.diffusion for p in diffusion), lines))
        if without:
            found.append(plain(without, bool(with_windows or self._method)))
        return found


def _complete(stated: dict[str, str], ended: bool) -> bool:
    """Whether a line has its last field: the average rate, or all positions.

    One that a line break ends may lack the average rate if its positions add up to its length; of one that none ends,
    all positions must have the same number of digits.
    """
    if "avg draft acceptance rate" in stated:
        return True
    listed = stated.get("per-position acceptance rate", "")
    if "accepted throughput" in stated and "draft acceptance rate" not in stated:
        positions, printed = rates(listed), number(stated.get("mean acceptance length"))
        return ended and printed is not None and positions is not None and abs(1 + sum(positions) - printed) < _ROUNDING
    return ended or len({len(part.strip().partition(".")[2]) for part in listed.split(",")}) == 1


def _count(text: str | None) -> float | None:
    """A count of tokens; one that is cut off lacks its unit or its comma, and is refused by its caller."""
    return number(text) if text and re.fullmatch(r"\d{1,15}(?: tokens)?", text) else None
