"""Ratios over several seeds: those of the sums, with the interval of a ratio, the same wherever they are shown."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import statistics
from collections.abc import Callable
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.columns import COLUMNS, MEASURED, Column, Counted, Ratio
from clover_sim.comparison import compare
from clover_sim.comparison.runs import pooled
from clover_sim.engine import run
from clover_sim.registry import build_strategy
from clover_sim.stats import linearised
from clover_sim.streams.profiles import open_stream
from clover_sim.sweeping import sweep
from clover_sim.sweeping._judge import difference, indistinct

SEEDS = range(12)
ASK: dict[str, Any] = {"tokens": 96, "profile": "context", "batch_size": 2}
STRATEGIES = ["ar", "block-diffusion:threshold=0.8", "eagle3"]
T_11 = 2.201  # two-sided 5 % of Student's t with 11 degrees of freedom, from any printed table

PARTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], tuple[float, float]]] = {
    "tokens_per_pass": lambda row, ar: (row["tokens"], row["target_passes"]),
    "tokens_per_denoise_pass": lambda row, ar: (row["tokens"], row["denoise_passes"]),
    "speedup_passes": lambda row, ar: (ar["target_passes"], row["target_passes"] + row["draft_passes"]),
    "speedup_time": lambda row, ar: (ar["latency_s"], row["latency_s"]),
    "ms_per_pass": lambda row, ar: (1000 * row["latency_s"], row["target_passes"] + row["draft_passes"]),
    "tokens_per_s": lambda row, ar: (row["tokens"], row["latency_s"]),
    "total_tokens_per_s": lambda row, ar: (2 * row["tokens"], row["latency_s"]),
}
"""What stands over what, as docs/reference/metrics.md has it."""


@pytest.fixture(scope="module")
def single() -> list[tuple[dict[str, Any], ...]]:
    """Rows of each seed alone."""
    return [tuple(map(dict, compare(STRATEGIES, seeds=seed, **ASK).rows)) for seed in SEEDS]


@pytest.fixture(scope="module")
def several() -> Any:
    return compare(STRATEGIES, seeds=SEEDS, **ASK)


@pytest.mark.parametrize("key", PARTS)
@pytest.mark.parametrize("index", range(len(STRATEGIES)))
def test_the_ratio_of_the_sums_with_its_interval_by_hand(key: str, index: int, single: Any, several: Any) -> None:
    pairs = [PARTS[key](rows[index], rows[0]) for rows in single]
    assert [rows[index][key] for rows in single] == pytest.approx([x / y for x, y in pairs])
    ratio = sum(x for x, _ in pairs) / sum(y for _, y in pairs)
    row = several.rows[index]
    assert row[key] == pytest.approx(ratio, rel=1e-12)
    left = [(x - ratio * y) / statistics.mean([y for _, y in pairs]) for x, y in pairs]
    half = T_11 * statistics.stdev(left) / math.sqrt(len(pairs))
    assert row[f"{key}_ci95"] == pytest.approx(half, rel=1e-3, abs=1e-9)
    if index == 1 and key != "ms_per_pass":  # where runs differ, the mean of the ratios is another figure
        assert abs(statistics.mean([x / y for x, y in pairs]) / ratio - 1) > 1e-3


def test_the_interval_is_about_what_resampling_the_seeds_gives() -> None:
    rng = random.Random(7)
    x = [100.0] * 60
    y = [rng.lognormvariate(3, 0.4) for _ in x]
    ratio, values = linearised(x, y)
    drawn = []
    for _ in range(3000):
        seeds = [rng.randrange(60) for _ in x]
        drawn.append(sum(x[i] for i in seeds) / sum(y[i] for i in seeds))
    assert ratio == pytest.approx(sum(x) / sum(y))
    assert statistics.stdev(values) / math.sqrt(60) == pytest.approx(statistics.stdev(drawn), rel=0.08)
    assert statistics.mean(values) == pytest.approx(ratio)


def test_paired_differences_are_those_of_the_ratios() -> None:
    found = sweep("block-diffusion", vary="threshold=0.8,0.9", seeds=SEEDS, where="none", **ASK)
    rows = [
        [dict(compare(["ar", f"block-diffusion:threshold={t}"], seeds=s, **ASK).rows[1]) for s in SEEDS]
        for t in ("0.8", "0.9")
    ]
    tokens = 96 * len(SEEDS)
    sums = [sum(row["latency_s"] for row in each) for each in rows]
    gap = tokens / sums[0] - tokens / sums[1]
    assert found.rows[0]["tokens_per_s"] - found.rows[1]["tokens_per_s"] == pytest.approx(gap)
    # by resampling: seeds are drawn for both rows at once
    rng, drawn = random.Random(3), []
    for _ in range(3000):
        seeds = [rng.randrange(len(SEEDS)) for _ in SEEDS]
        one, other = (sum(each[i]["latency_s"] for i in seeds) for each in rows)
        drawn.append(tokens / one - tokens / other)
    both = compare([f"block-diffusion:threshold={t}" for t in ("0.8", "0.9")], seeds=SEEDS, **ASK)
    samples: Any = dict(enumerate(both.by_seed))
    told = difference("tokens_per_s", 0, 1, both.rows, samples)
    assert told is not None and told[0] == pytest.approx(gap)
    assert told[1] / T_11 == pytest.approx(statistics.stdev(drawn), rel=0.25)  # 12 seeds: resampling is rough itself
    assert (indistinct("tokens_per_s", 0, [0, 1], both.rows, samples) == [1]) is (abs(gap) <= told[1])


def test_rows_agree_with_themselves_in_every_result(several: Any) -> None:
    alone = {**ASK, "batch_size": 1}
    swept = sweep(["ar", "block-diffusion", "eagle3"], vary="threshold=0.9,0.95", seeds=SEEDS, **alone)
    for rows in (several.rows, swept.rows):
        plain = next(row for row in rows if row["strategy"] == "ar")
        for row in rows:
            assert row["tokens_per_s"] == pytest.approx(row["tokens"] / row["latency_s"], rel=1e-12)
            assert row["speedup_time"] == pytest.approx(plain["latency_s"] / row["latency_s"], rel=1e-12)
            assert row["tokens_per_pass"] == pytest.approx(row["tokens"] / row["target_passes"], rel=1e-12)
            passes = row["target_passes"] + row["draft_passes"]
            assert row["speedup_passes"] == pytest.approx(plain["target_passes"] / passes, rel=1e-12)
            assert row["ms_per_pass"] == pytest.approx(1000 * row["latency_s"] / passes, rel=1e-12)


def figures(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\w.±-])\d+(?:\.\d+)?(?=x?(?:±|$|\s))", text)]


@pytest.mark.parametrize("words", [
    ["compare", "-s", "ar", "-s", "block-diffusion", "--columns", "latency_s,tokens_per_s,speedup_time"],
    ["sweep", "-s", "ar", "-s", "block-diffusion", "--vary", "threshold=0.8,0.95", "--best", "tokens_per_s", "--pareto",
     "speedup_time,latency_s"],
])  # fmt: skip
def test_tables_agree_with_themselves_to_rounding(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    more = ["--tokens", "256", "--profile", "context", "--seeds", "0:6", "--gpu", "rtx-5090", "--precision", "int4"]
    assert main([*words, *more, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert main([*words, *more]) == 0
    text = capsys.readouterr().out
    plain = float(rows[0]["latency_s"])
    for row in rows:
        speed, seconds, gain = (float(row[key]) for key in ("tokens_per_s", "latency_s", "speedup_time"))
        assert speed == pytest.approx(256 / seconds) and gain == pytest.approx(plain / seconds)
    lines = [line for line in text.splitlines() if re.match(r"(?:256 +)?(?:ar|block-diffusion) ", line)]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        shown = figures(line)
        for key, size in (("tokens_per_s", 1), ("latency_s", 1000), ("speedup_time", 1)):
            value = float(row[key]) * size
            assert any(abs(value - other) <= 0.006 * value for other in shown), (key, value, line)


def test_one_seed_is_as_it_was(single: Any) -> None:
    for rows in single[:3]:
        for row in rows:
            assert row["total_tokens_per_s"] == row["tokens"] / row["latency_s"] * 2
            assert row["ms_per_pass"] == row["latency_s"] * 1e3 / (row["target_passes"] + row["draft_passes"])
            assert row["speedup_time"] == rows[0]["latency_s"] / row["latency_s"]
            assert not any(key.endswith("_ci95") for key in row)


def test_every_column_that_is_said_to_be_divided_is_a_ratio() -> None:
    finished = run(build_strategy("ar")[1], open_stream("reference", 8))
    price: Any = type("Price", (), {"latency_s": 2.0, "low_s": 1.0, "high_s": 3.0, "bound": "memory"})()
    one = Counted(finished, price, 0.0, 4, None, 8, 8, 8, 8, 2.0)
    divided = {c.key for c in COLUMNS if " / " in c.meaning or "per_" in c.key}
    ratios = {c.key for c in COLUMNS if c.value is not None and isinstance(c.value(one), Ratio)}
    assert ratios == divided == set(PARTS) <= set(MEASURED)
    column = next(c for c in COLUMNS if c.key == "total_tokens_per_s")
    assert isinstance(column, Column) and column.of(one) == 16.0


def test_nothing_to_divide_by_anywhere_is_no_figure() -> None:
    assert Ratio(1, 0).value is None
    assert pooled([Ratio(2, 1), Ratio(6, 3)]) == (2.0, (2.0, 2.0))  # equal ratios give that value back, without spread


def test_the_document_has_the_figure_of_the_table(capsys: pytest.CaptureFixture[str], several: Any) -> None:
    words = ["compare", "--tokens", "96", "--profile", "context", "--batch-size", "2", "--seeds", "0:12"]
    assert main([*words, *(w for s in STRATEGIES for w in ("-s", s)), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for row, known in zip(document["rows"], several.rows, strict=True):
        assert {key: row[key] for key in PARTS} == {key: known[key] for key in PARTS}
