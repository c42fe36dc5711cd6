"""The picture of a block: hand-made passes against golden copies."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from clover_sim.report import Look
from clover_sim.report._text import display_width
from clover_sim.report._trace import _two_digits, render_trace
from report.test_table import same_as


@dataclass(frozen=True)
class Step:
    index: int
    kind: str = "denoise"
    confidence: dict[int, float] = field(default_factory=dict)
    committed: tuple[int, ...] = ()
    forced: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    reopened: tuple[int, ...] = ()


@dataclass(frozen=True)
class Block:
    passes: tuple[Step, ...]
    stream: str = "tool-call"
    strategy: str = "block-diffusion"
    options: dict[str, object] = field(default_factory=lambda: {"block_size": 6, "threshold": 0.95})
    start: int = 96
    stop: int = 102
    texts: tuple[str, ...] = ("{", '"city"', "\x1b[31m", "故乡故乡故乡故乡", "\n", "")
    classes: tuple[str, ...] = ("structural", "common", "rare", "rare", "structural", "padding")


def block():
    """Structure first, a value taken back, one forced commit that is wrong."""
    return Block(
        (
            Step(1, confidence={96: 0.99, 97: 0.9, 98: 0.6, 99: 0.5, 100: 0.951, 101: 0.9499}, committed=(96, 100)),
            Step(2, confidence={97: 0.97, 98: 0.7, 99: 0.55, 101: 0.96}, committed=(97, 101)),
            Step(3, confidence={98: 0.78, 99: 0.6}, committed=(98,), forced=(98,), wrong=(98,), reopened=(97,)),
            Step(4, confidence={97: 0.91, 99: 0.64}, committed=(97,), forced=(97,)),
            Step(5, confidence={99: 1.0}, committed=(99,)),
            Step(6, kind="kv_write"),
        )
    )


def causal():
    """A draft and a verify pass, again and again: many passes, no confidence."""
    steps = []
    for cycle in range(30):
        steps += [Step(2 * cycle + 1, kind="draft")]
        steps += [Step(2 * cycle + 2, kind="verify", committed=(96 + cycle,) if cycle < 6 else ())]
    return Block(tuple(steps), strategy="speculative", options={})


def test_golden_block():
    same_as("trace_80.txt", render_trace(block(), Look(width=80)))


def test_golden_many_passes_in_panels():
    same_as("trace_panels_80.txt", render_trace(causal(), Look(width=80)))


def test_one_exact_pass():
    text = render_trace(Block((Step(1, kind="verify", committed=(96, 97)),)), Look(width=80))
    assert "1 verify pass\n" in text and "[ + ]" in text and "+ exact" in text


@pytest.mark.parametrize("width", [50, 64, 80, 120])
@pytest.mark.parametrize("make", [block, causal])
def test_fits_and_can_be_read_without_colour_or_unicode(make, width):
    trace = make()
    text = render_trace(trace, Look(width=width, unicode=False))
    assert max(map(display_width, text.splitlines())) <= width
    assert text.replace("故", "").replace("乡", "").isascii() and "\x1b" not in text


def test_colour_adds_codes_and_nothing_else():
    import re

    coloured = render_trace(block(), Look(width=80, colour=True))
    lines = [line.rstrip() for line in re.sub("\x1b\\[[0-9;]*m", "", coloured).splitlines()]
    assert lines == render_trace(block(), Look(width=80)).splitlines()


def test_confidence_is_cut_not_rounded():
    assert [_two_digits(x) for x in (0.9499, 0.95, 0.999, 1.0, 0.0, 0.07)] == [".94", ".95", ".99", "1.0", ".00", ".07"]
