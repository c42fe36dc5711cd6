"""vLLM V1 server logs: ``SpecDecoding metrics`` in every layout since March 2025, and the engine line beside it.

Fields go by name. A line counts one window; it does not name its engine, so it belongs to the last engine line of the
same process. Layouts: vllm/v1/spec_decode/metrics.py and vllm/v1/metrics/loggers.py through the releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Identity,
    Section,
    Survival,
    cycles_of,
    length,
    ratio,
)
from clover_sim.logs._text import fields, number, rates

MARKS = ("SpecDecoding metrics:", "Speculative metrics:", "Avg generation throughput:", "SpeculativeConfig(")

_SPEC = re.compile(r"(?:SpecDecoding|Speculative) metrics:\s*(?=[A-Z])")
_ENGINE = re.compile(r"Avg prompt throughput:.{0,120}Avg generation throughput:.{0,120}Running:\s*\d+ reqs, Waiting:")
_PROCESS = re.compile(r"pid=(\d+)\)")
_CONTAINER = re.compile(r"\s*([\w.\-/]+)\s*\|\s")
_CONFIG = re.compile(r"SpeculativeConfig\(method='?(\w+)'?.{0,2000}?num_spec(?:ulative)?_tokens=(\d{1,6})")
_USUAL_WINDOW_S = (8.0, 12.0)
_ROUNDING = 0.02
_VARIABLE = ("ngram", "suffix")
_MOST_PROCESSES = 256


@dataclass(slots=True)
class _Process:
    """What one process said."""

    read: int = 0
    used: int = 0
    windows: int = 0
    drafted: float = 0.0
    accepted: float = 0.0
    cycles: float | None = 0.0
    no_bonus: bool = False
    lengths: set[int] = field(default_factory=set)
    survival: Survival = field(default_factory=Survival)
    timed_s: float = 0.0
    timed_cycles: float = 0.0
    timed_accepted: float = 0.0
    paired_s: float = 0.0
    paired_cycles: float = 0.0
    paired_accepted: float = 0.0
    paired_tokens: float = 0.0
    paired_running_s: float = 0.0
    paired_lines: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])
    odd_window: bool = False
    engine: tuple[float, float, float] | None = None
    """Generated tokens per second, running, waiting: of the engine line that no window has taken yet."""
    engine_lines: int = 0
    busy: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])
    """Engine lines with work in hand: how many, and sums of throughput, running and waiting."""


class Reader(Base):
    """Collects windows and engine lines, a record a process."""

    def __init__(self) -> None:
        self._processes: dict[str, _Process] = {}
        self._method = ""
        self._k: int | None = None

    def line(self, line: Line) -> Outcome:
        """An engine line, a window, or the configuration."""
        text = line.text
        if found := _CONFIG.search(text):
            self._method, self._k = found[1], int(found[2])
            return True
        if found := _SPEC.search(text):
            stated = fields(text[found.end() :])
            if "number of speculative tokens" in stated or "system efficiency" in stated:
                return None
            process = self._process(text)
            process.read += 1
            outcome = self._window(process, stated, line.ended)
            process.used += outcome is True
            return outcome
        if _ENGINE.search(text):
            return self._engine(self._process(text), fields(text[text.index("Avg prompt") :]))
        return None

    def _process(self, text: str) -> _Process:
        container, pid = _CONTAINER.match(text), _PROCESS.search(text)
        key = f"{container[1] if container else ''}/{pid[1] if pid else ''}"
        if key not in self._processes and len(self._processes) >= _MOST_PROCESSES:
            key = next(iter(self._processes))
        return self._processes.setdefault(key, _Process())

    def _engine(self, process: _Process, stated: dict[str, str]) -> Outcome:
        process.read += 1
        speed, running = number(stated.get("avg generation throughput")), number(stated.get("running"))
        waiting = number(stated.get("waiting"))
        if speed is None or running is None:
            return CUT_OFF
        process.used += 1
        process.engine_lines += 1
        process.engine = (speed, running, waiting or 0.0)
        if speed and running:
            process.busy = [a + b for a, b in zip(process.busy, (1.0, speed, running, waiting or 0.0), strict=True)]
        return True

    def _window(self, process: _Process, stated: dict[str, str], ended: bool) -> Outcome:
        accepted = _count(stated.get("accepted") or stated.get("number of accepted tokens"))
        drafted = _count(stated.get("drafted") or stated.get("number of draft tokens"))
        survival = rates(stated.get("per-position acceptance rate"))
        if accepted is None or drafted is None or accepted > drafted or not (ended or _complete(stated)):
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
        process: _Process,
        stated: dict[str, str],
        engine: tuple[float, float, float] | None,
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
        speed, running, waiting = engine
        process.paired_lines = [a + b for a, b in zip(process.paired_lines, (1, speed, running, waiting), strict=True)]
        if seconds:
            process.paired_s += seconds
            process.paired_cycles += cycles
            process.paired_accepted += accepted
            process.paired_tokens += speed * seconds
            process.paired_running_s += running * seconds
        elif speed:
            window = (cycles + accepted) / speed
            process.odd_window |= not _USUAL_WINDOW_S[0] <= window <= _USUAL_WINDOW_S[1]

    def sections(self) -> list[Section]:
        """One for the processes with windows, one for those without."""
        drafting = [p for p in self._processes.values() if p.windows]
        plain = [p for p in self._processes.values() if not p.windows and p.engine_lines]
        found = [self._drafting(drafting)] if drafting else []
        if plain and not (self._method and not drafting):
            found.append(_plain(plain, bool(drafting)))
        elif plain:
            found.append(_plain(plain, True))
        return found

    def _drafting(self, processes: list[_Process]) -> Section:
        def total(name: str) -> float:
            return float(sum(getattr(p, name) for p in processes))

        cycles = None if any(p.cycles is None for p in processes) else sum(p.cycles or 0.0 for p in processes)
        drafted, accepted = total("drafted"), total("accepted")
        lengths = set().union(*(p.lengths for p in processes))
        k = max(lengths) if lengths else self._k
        survival = Survival()
        for process in processes:
            if pooled := process.survival.pooled():
                survival.add(process.survival.drafts, pooled)
        measured = length(accepted, cycles)
        conventions, identities, warnings = [OVER_DRAFTED], [], []
        if measured is not None:
            conventions.append(WITH_BONUS)
        if survival.pooled():
            conventions.append(SURVIVAL)
        if any(p.no_bonus for p in processes):
            conventions.append("this version prints the mean acceptance length without the bonus token; 1 was added")
        if len(lengths) > 1:
            listed = ", ".join(map(str, sorted(lengths)))
            warnings.append(f"the draft length changed during the log: {listed} tokens; figures are over all windows")
        if cycles is None and drafted:
            warnings.append(
                "these lines have neither an acceptance length nor positions: what is the draft length? "
                "(--num-speculative-tokens K; a rate without it says nothing about tokens per pass)"
            )
        paired_s, paired_cycles = total("paired_s"), total("paired_cycles")
        per_pass, output, passes = self._per_pass(processes, measured, cycles, accepted)
        if per_pass is not None and passes is None:
            conventions.append(NO_PLAIN_PASSES)
        if any(p.odd_window for p in processes):
            warnings.append(
                "the tokens of the drafting passes do not fill a usual window at the stated speed: most passes had no "
                "draft (n-gram misses?) or the window is unusual, so tokens per pass cannot be told"
            )
        timed_s = total("timed_s")
        if timed_s and total("timed_accepted"):
            implied = (total("timed_cycles") + total("timed_accepted")) / timed_s
            how = "accepted throughput x AL / (AL - 1): tokens of the passes with a draft"
            stated = None
            if paired_s:
                implied = (paired_cycles + total("paired_accepted")) / paired_s
                stated = total("paired_tokens") / paired_s
            identities.append(Identity("throughput", implied, stated, "tokens/s", how))
        if survival.pooled() and measured:
            total_rate = 1 + sum(survival.pooled() or ())
            identities.append(Identity("acceptance length", total_rate, measured, "", "1 + sum of the positions"))
        if timed_s and not paired_s:
            step = timed_s / total("timed_cycles")
            how = "seconds / cycles; times the requests that ran together it is the cycle time"
            identities.append(Identity("cycle time of one request alone", step, None, "s", how))
        speed, running, waiting = _load(processes)
        return Section(
            engine="vllm",
            format="vLLM V1 log",
            lines_read=int(total("read")),
            lines_used=int(total("used")),
            cycles=cycles,
            passes=passes,
            output_tokens=output,
            draft_tokens=drafted,
            accepted_tokens=accepted,
            num_speculative_tokens=k,
            acceptance_rate=ratio(accepted, drafted),
            acceptance_length=measured,
            tokens_per_pass=per_pass,
            per_position_survival=survival.pooled(),
            cycle_time_s=ratio(total("paired_running_s"), paired_cycles) or None,
            generation_tokens_per_s=total("paired_tokens") / paired_s if paired_s else speed,
            running_requests=running,
            waiting_requests=waiting,
            method=self._method or None,
            conventions=tuple(conventions),
            identities=tuple(identities),
            warnings=tuple(warnings),
        )

    def _per_pass(
        self, processes: list[_Process], measured: float | None, cycles: float | None, accepted: float
    ) -> tuple[float | None, float | None, float | None]:
        """Tokens per pass, and output tokens and all passes where the engine lines tell them."""
        if measured is None or cycles is None or any(p.odd_window for p in processes):
            return None, None, None
        tokens = sum(p.paired_tokens for p in processes)
        with_draft = sum(p.paired_cycles + p.paired_accepted for p in processes)
        if not tokens:
            return (None if self._method in _VARIABLE else measured), None, None
        plain = tokens - with_draft
        if plain <= _ROUNDING * tokens:
            return measured, cycles + accepted, cycles
        share = plain / sum(p.paired_cycles for p in processes)
        passes = cycles * (1 + share)
        return (cycles + accepted + cycles * share) / passes, round(cycles + accepted + cycles * share), round(passes)


def _plain(processes: list[_Process], beside: bool) -> Section:
    speed, running, waiting = _load(processes)
    identities = []
    if speed and running:
        how = "running requests / tokens per second, if every step writes one token for each"
        identities.append(Identity("step time", running / speed, None, "s", how))
    note = "a process without speculative lines: taken as plain decoding" if beside else "no speculative lines"
    return Section(
        engine="vllm", format="vLLM V1 log without drafts", lines_read=sum(p.read for p in processes),
        lines_used=sum(p.used for p in processes), speculative=False, generation_tokens_per_s=speed,
        running_requests=running, waiting_requests=waiting, conventions=(note,), identities=tuple(identities),
    )  # fmt: skip


def _load(processes: list[_Process]) -> tuple[float | None, float | None, float | None]:
    """Mean throughput, running and waiting requests: of the engine lines beside windows, else of all busy ones."""
    sums = [p.paired_lines if p.paired_lines[0] else p.busy for p in processes]
    lines, speed, running, waiting = (sum(column) for column in zip(*sums, strict=True))
    return (speed / lines, running / lines, waiting / lines) if lines else (None, None, None)


def _complete(stated: dict[str, str]) -> bool:
    """Whether a line that no line break ends has its last field: the average rate, or all digits of the positions."""
    if "avg draft acceptance rate" in stated:
        return True
    if "accepted throughput" in stated and "draft acceptance rate" not in stated:
        return False
    positions = stated.get("per-position acceptance rate", "").split(",")
    return len({len(part.strip().partition(".")[2]) for part in positions}) == 1


def _count(text: str | None) -> float | None:
    """A count of tokens; one that is cut off lacks its unit or its comma, and is refused by its caller."""
    return number(text) if text and re.fullmatch(r"\d{1,15}(?: tokens)?", text) else None
