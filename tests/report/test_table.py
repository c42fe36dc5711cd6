"""The terminal table against golden copies, and what must hold at every width."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from clover_sim.columns import COLUMNS
from clover_sim.comparison import compare
from clover_sim.errors import UsageError
from clover_sim.report import Look
from clover_sim.report._text import display_width
from clover_sim.report.table import render
from report.sample import BLOCK, MACHINE, Sample, default, row

GOLDEN = Path(__file__).parent / "golden"


def same_as(name, text):
    """Compare with a golden file; CLOVER_SIM_UPDATE_GOLDEN=1 writes it anew, to be read before it is committed."""
    path = GOLDEN / name
    if os.environ.get("CLOVER_SIM_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def strategies():
    """One strategy with several settings, beside the baseline."""
    rows = [row(200, "ar", 200)]
    for threshold, passes in ((0.9, 33), (0.95, 39)):
        rows.append(row(200, "block-diffusion", passes, options={**BLOCK, "threshold": threshold}))
    return Sample(tuple(rows))


def seeds():
    """Means of 16 seeds with their intervals."""
    measured = {"target_passes": 2.25, "speedup_passes": 0.081, "locked_errors": 0.29, "latency_s": 0.0213}
    spread = {f"{k}_ci95": v for k, v in measured.items()}
    exact = {f"{k}_ci95": 0.0 for k in measured}
    rows = (
        row(128, "ar", 128, seeds=16, target_passes=128.0, locked_errors=0.0, **exact),
        row(128, "block-diffusion", 24, seeds=16, target_passes=23.4, locked_errors=0.19, **spread),
    )
    return Sample(rows, seeds=tuple(range(16)))


def files():
    """Two input files, one with a hostile name, the other with a wide one."""
    rows = [row(1234, s, p, stream="calls\x1b[31m.json") for s, p in (("ar", 1234), ("block-diffusion", 240))]
    rows += [row(1, s, p, stream="故乡.txt") for s, p in (("ar", 1), ("block-diffusion", 1))]
    return Sample(tuple(rows), inputs=({"name": "calls.json"}, {"name": "故乡.txt"}))


@pytest.mark.parametrize("width", [80, 120])
def test_golden_default(width):
    same_as(f"default_{width}.txt", render(default(), Look(width=width)))


def test_golden_ascii():
    text = render(replace(default(), settings=MACHINE | {"tensor_parallel_size": 2}), Look(width=80, unicode=False))
    same_as("default_ascii.txt", text)
    assert text.isascii()


def test_golden_settings_of_one_strategy():
    same_as("strategies_80.txt", render(strategies(), Look(width=80)))
    same_as("strategies_60.txt", render(strategies(), Look(width=60)))


def test_golden_seeds():
    same_as("seeds_120.txt", render(seeds(), Look(width=120)))


def test_golden_files():
    text = render(files(), Look(width=80))
    same_as("files_80.txt", text)
    assert "\x1b" not in text


@pytest.mark.parametrize("make", [default, strategies, seeds, files])
@pytest.mark.parametrize("width", range(56, 150, 3))
def test_no_line_is_wider_than_the_terminal_and_quality_stays(make, width):
    result = make()
    lines = render(result, Look(width=width)).splitlines()
    assert max(map(display_width, lines)) <= width
    rule = next(i for i, line in enumerate(lines) if line.startswith("─"))
    assert "locked" in lines[rule - 2] and "errors" in lines[rule - 1]
    assert all(line == line.rstrip() for line in lines)


def test_even_a_tiny_terminal_shows_errors_and_fails_nothing():
    assert "errors" in render(default(), Look(width=10))


def test_without_a_limit_nothing_is_left_out():
    text = render(default(), Look(width=None))
    assert "left out" not in text and "bound" in text and "commits" in text


def test_columns_leave_in_the_order_of_their_priority():
    wide = {c.key for c in COLUMNS if c.priority is not None}
    for width in range(130, 60, -1):
        text = render(default(), Look(width=width))
        left = next((line for line in text.replace("\n", " ").split("left out at ")[1:]), "")
        assert ("locked errors" not in left) and ("target passes" not in left)
    assert "tokens_per_denoise_pass" not in wide


def test_a_column_of_zeros_leaves_before_any_that_says_something():
    rows = [row(200, "ar", 200), row(200, "block-diffusion", 33, forced_commits=0, locked_errors=0)]
    nothing = {"draft passes", "forced commits"}
    for width in range(60, 130):
        text = " ".join(render(Sample(tuple(rows)), Look(width=width)).split())
        left = text.partition(f"left out at {width} columns: ")[2].partition(" (all at")[0].split(", ")
        assert left == [""] or set(left) & nothing == nothing or set(left) <= nothing, (width, left)
    assert "locked" in render(Sample(tuple(rows)), Look(width=60))


def test_left_out_columns_are_named_once_with_the_width_they_need():
    text = " ".join(render(default(), Look(width=80)).split())
    assert (
        "left out at 80 columns: forced commits, ms/pass, latency, bound (all at 114, or with --format json)" in text
    )
    assert "left out" not in render(default(), Look(width=114))
    assert "left out" in render(default(), Look(width=113))


def test_colour_adds_codes_and_nothing_else():
    import re

    plain, coloured = render(default(), Look(width=90)), render(default(), Look(width=90, colour=True))
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    assert "\x1b[32m5.33x\x1b[0m" in coloured and "\x1b[33m1\x1b[0m" in coloured


def test_asked_columns_are_shown_whatever_the_width_and_with_errors():
    text = render(default(), Look(width=40, columns=("latency_low_s", "tokens_per_denoise_pass", "latency_high_s")))
    assert (
        "low, ms" in text and "high, ms" in text and "denoise" in text and "errors" in text and "left out" not in text
    )
    with pytest.raises(UsageError, match="unknown column 'nothing'"):
        render(default(), Look(columns=("nothing",)))


def test_a_rule_that_differs_becomes_a_column():
    rows = (row(64, "ar", 64), row(64, "block-diffusion", 14, kv_write="separate"))
    assert "K/V" in render(Sample(rows), Look(width=120)).splitlines()[2]
    assert "K/V write" not in render(Sample(rows), Look(width=120)).splitlines()[0]


def test_missing_values_are_dashes():
    text = render(Sample((row(64, "ar", 64, tokens_per_s=None), row(64, "block-diffusion", 14))), Look(width=120))
    assert "    -  " in text


def test_a_name_longer_than_the_line_is_cut():
    rows = tuple(row(64, "ar", 64, stream=name * 90) for name in "ab")
    for result in (Sample(rows), Sample(rows[:1])):
        assert max(map(len, render(result, Look(width=80)).splitlines())) <= 80


def test_no_rows():
    assert render(Sample(())) == "no rows\n"


def test_a_draft_length_is_said_once_with_its_other_spelling():
    result = compare(["ar", "speculative"], tokens=16)
    text = " ".join(render(result, Look(width=100)).split())
    assert "num_speculative_tokens=5 (speculative_num_draft_tokens=6 as SGLang counts, root included)" in text
    assert text.count("num_speculative_tokens=") == 1 == text.count("speculative_num_draft_tokens=")
    several = render(compare(["speculative:num_speculative_tokens=2", "speculative"], tokens=16), Look(width=None))
    assert "speculative:num_speculative_tokens=2 " in several and "speculative_num_draft_tokens" not in several
    tree = render(compare("eagle-tree", tokens=16), Look(width=None))
    assert "speculative_num_draft_tokens=8" in tree  # of a tree it is no chain's length with the root
