"""What the windows and engine lines of vLLM's V1 server amount to, process by process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Identity,
    Section,
    Survival,
    counted,
    length,
    one_of,
    ratio,
)
from clover_sim.logs._vllm_diffusion import Windows

_ROUNDING = 0.02
_VARIABLE = ("ngram", "suffix")


@dataclass(slots=True)
class Process:
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
    paired_lines: list[float] = field(default_factory=lambda: [0.0] * 5)
    odd_window: bool = False
    engine: tuple[float, float, float, float] | None = None
    """Generated tokens a second, running, waiting, prompt tokens a second: of the line that no window took yet."""
    diffusion: Windows = field(default_factory=Windows)
    engine_lines: int = 0
    engines: set[int] = field(default_factory=set)
    """Engines of the process, by the index their lines carry."""
    aggregated: int = 1
    """Engines whose sum its lines state; their speeds and requests are divided by it."""
    busy: list[float] = field(default_factory=lambda: [0.0] * 5)
    """Engine lines with work in hand: how many, and sums of throughput, running, waiting and prompt throughput."""


def drafting(processes: Sequence[Process], method: str, configured_k: int | None) -> Section:
    """The section of the processes with windows."""

    def total(name: str) -> float:
        return float(sum(getattr(p, name) for p in processes))

    cycles = None if any(p.cycles is None for p in processes) else sum(p.cycles or 0.0 for p in processes)
    drafted, accepted = total("drafted"), total("accepted")
    lengths = set().union(*(p.lengths for p in processes))
    k = max(lengths) if lengths else configured_k
    by_configuration = cycles is None and not lengths and bool(configured_k) and method not in _VARIABLE
    if by_configuration and configured_k:
        cycles = drafted / configured_k
    survival = Survival()
    for process in processes:
        if pooled := process.survival.pooled():
            survival.add(process.survival.drafts, pooled)
    measured = length(accepted, cycles)
    conventions, identities, warnings = [OVER_DRAFTED], [], []
    if measured is not None:
        conventions.append(WITH_BONUS)
    if by_configuration:
        conventions.append(f"cycles = drafted tokens / draft length, which start-up lines give as {configured_k}")
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
    per_pass, output, passes = _per_pass(processes, method, measured, cycles, accepted)
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
    conventions += _each(processes)
    speed, running, waiting, prompts = _load(processes)
    return counted(
        "vllm",
        "vLLM V1 log",
        (int(total("read")), int(total("used"))),
        cycles=cycles,
        drafted=drafted,
        accepted=accepted,
        length=measured,
        k=k,
        survival=survival.pooled(),
        passes=passes,
        output_tokens=output,
        tokens_per_pass=per_pass,
        cycle_time_s=ratio(total("paired_running_s"), paired_cycles) or None,
        generation_tokens_per_s=total("paired_tokens") / paired_s if paired_s else speed,
        running_requests=running,
        waiting_requests=waiting,
        prompt_tokens_per_s=prompts,
        method=method or None,
        conventions=tuple(conventions),
        identities=tuple(identities),
        warnings=tuple(warnings),
    )


def _per_pass(
    processes: Sequence[Process], method: str, measured: float | None, cycles: float | None, accepted: float
) -> tuple[float | None, float | None, float | None]:
    """Tokens per pass, and output tokens and all passes where the engine lines tell them."""
    if measured is None or cycles is None or any(p.odd_window for p in processes):
        return None, None, None
    tokens = sum(p.paired_tokens for p in processes)
    with_draft = sum(p.paired_cycles + p.paired_accepted for p in processes)
    if not tokens:
        return (None if method in _VARIABLE else measured), None, None
    plain = tokens - with_draft
    if plain <= _ROUNDING * tokens:
        return measured, cycles + accepted, cycles
    share = plain / sum(p.paired_cycles for p in processes)
    passes = cycles * (1 + share)
    return (cycles + accepted + cycles * share) / passes, round(cycles + accepted + cycles * share), round(passes)


def plain(processes: Sequence[Process], beside: bool) -> Section:
    """The section of processes that print engine lines only."""
    speed, running, waiting, prompts = _load(processes)
    identities = []
    if speed and running:
        how = "running requests / tokens per second, if every step writes one token for each"
        identities.append(Identity("step time", running / speed, None, "s", how))
    note = "a process without speculative lines: taken as plain decoding" if beside else "no speculative lines"
    return Section(
        engine="vllm", format="vLLM V1 log without drafts", lines_read=sum(p.read for p in processes),
        lines_used=sum(p.used for p in processes), speculative=False, generation_tokens_per_s=speed,
        running_requests=running, waiting_requests=waiting, prompt_tokens_per_s=prompts,
        conventions=(note, *_each(processes)),
        identities=tuple(identities),
    )  # fmt: skip


def _each(processes: Sequence[Process]) -> list[str]:
    count = max((max(len(p.engines), p.aggregated) for p in processes), default=1)
    return [one_of(count, "engines")] if count > 1 else []


def _load(processes: Sequence[Process]) -> tuple[float | None, float | None, float | None, float | None]:
    """Mean throughput, running and waiting requests and prompt throughput: of the engine lines beside windows, else of
    all busy ones."""
    sums = [p.paired_lines if p.paired_lines[0] else p.busy for p in processes]
    lines, *rest = (sum(column) for column in zip(*sums, strict=True))
    if not lines:
        return None, None, None, None
    speed, running, waiting, prompts = (value / lines for value in rest)
    return speed, running, waiting, prompts
