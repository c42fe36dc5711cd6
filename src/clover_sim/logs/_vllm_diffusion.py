"""What the ``DiffusionDecoding metrics`` of vLLM amount to: windows of a diffusion model, process by process.

A request's step is one forward over its canvas that commits some of its positions; vLLM counts it where it counts a
draft of other models, so all figures are per request (vllm/v1/spec_decode/metrics.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clover_sim.logs._reader import CUT_OFF, Outcome
from clover_sim.logs._section import Identity, Section, ratio
from clover_sim.logs._text import number

STEPS = "a step is one forward over a request's canvas; tokens per pass = committed tokens / denoising steps"
_CANVAS = "canvas positions evaluated / committed tokens: vLLM's denoising steps per canvas"
_ROUNDING = 0.02


@dataclass(slots=True)
class Windows:
    """Sums over the windows of one process."""

    used: int = 0
    committed: float = 0.0
    steps: float = 0.0
    canvas: float = 0.0
    seconds: float = 0.0
    paired_s: float = 0.0
    paired_steps: float = 0.0
    paired_tokens: float = 0.0
    paired_committed: float = 0.0
    running_s: float = 0.0
    waiting_s: float = 0.0

    def add(self, stated: Mapping[str, str], engine: tuple[float, float, float] | None) -> Outcome:
        """Count a window. engine: throughput, running and waiting requests of the engine line beside it."""
        committed, steps, canvas = (
            number(stated.get(key)) for key in ("committed", "denoising steps", "canvas positions evaluated")
        )
        if committed is None or steps is None or canvas is None or committed > canvas:
            return CUT_OFF
        self.used += 1
        self.committed += committed
        self.steps += steps
        self.canvas += canvas
        seconds = ratio(committed, number(stated.get("committed token throughput")))
        if seconds:
            self.seconds += seconds
            if engine:
                speed, running, waiting = engine
                self.paired_s += seconds
                self.paired_steps += steps
                self.paired_committed += committed
                self.paired_tokens += speed * seconds
                self.running_s += running * seconds
                self.waiting_s += waiting * seconds
        return True


def diffusing(found: Iterable[Windows], lines: tuple[int, int]) -> Section:
    """The section of the processes with such windows; ``lines`` read and used."""
    total = Windows()
    for windows in found:
        for name in Windows.__slots__:
            setattr(total, name, getattr(total, name) + getattr(windows, name))
    identities, steps = [], ratio(total.canvas, total.committed)
    if steps is not None:
        identities.append(Identity("denoising steps a canvas", steps, None, "", _CANVAS))
        identities.append(Identity("canvas", total.canvas / total.steps, None, "positions", "evaluated in one step"))
    if total.paired_s and abs(total.paired_tokens - total.paired_committed) > _ROUNDING * total.paired_committed:
        how = "committed tokens / seconds, over all requests"
        committed, stated = total.paired_committed / total.paired_s, total.paired_tokens / total.paired_s
        identities.append(Identity("throughput", committed, stated, "tokens/s", how))
    return Section(
        engine="vllm", format="vLLM V1 log of a diffusion model", lines_read=lines[0], lines_used=lines[1],
        speculative=False, passes=total.steps, output_tokens=total.committed,
        tokens_per_pass=ratio(total.committed, total.steps), method="block diffusion",
        cycle_time_s=ratio(total.running_s, total.paired_steps) or None,
        generation_tokens_per_s=ratio(total.paired_tokens, total.paired_s) or ratio(total.committed, total.seconds),
        running_requests=ratio(total.running_s, total.paired_s) or None,
        waiting_requests=ratio(total.waiting_s, total.paired_s),
        conventions=(STEPS,), identities=tuple(identities),
    )  # fmt: skip
