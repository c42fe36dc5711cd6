"""How figures of one column are written."""

from __future__ import annotations

import pytest

from clover_sim.columns import column
from clover_sim.report import Look
from clover_sim.report._figures import cells, option_text, unit_of


def written(key, *values, **look):
    return cells(column(key), [{key: value} for value in values], Look(**look))


@pytest.mark.parametrize(
    ("key", "values", "texts"),
    [
        ("target_passes", (24, 128), ["24", "128"]),
        ("target_passes", (24, 10_000), ["24", "10,000"]),
        ("target_passes", (23.4375, 128.0), ["23.4", "128.0"]),
        ("locked_errors", (0.0, 0.1875), ["0.00", "0.19"]),
        ("locked_errors", (0, 0), ["0", "0"]),
        ("tokens_per_pass", (1.0, 5.3333), ["1.00", "5.33"]),
        ("tokens_per_pass", (1.0, 123_456.7), ["1", "123,457"]),
        ("tokens_per_s", (240.0, 1520.4), ["240", "1520"]),
        ("tokens_per_s", (0.004, None), ["0.004", "-"]),
        ("speedup_time", (1.0, 2.0437, 0.0), ["1.00x", "2.04x", "0.00x"]),
        ("speedup_time", (0.0001, 1.0), ["1.00e-04x", "1.00x"]),
        ("ms_per_pass", (4.1713, 10.894), ["4.17", "10.89"]),
        ("latency_s", (0.2613, 4.2741), ["261", "4274"]),
        ("latency_s", (2.613, 42.741), ["2.61", "42.74"]),
        ("latency_s", (2e-6, 9e-6), ["2.00", "9.00"]),
        ("latency_s", (1e12, 2e12), ["277,777,778", "555,555,556"]),
        ("bound", ("memory", None), ["memory", "-"]),
        ("bound", ("a\x1b[0m", "b\n"), ["a\\x1b[0m", "b\\n"]),
    ],
)
def test_columns_are_equally_precise(key, values, texts):
    assert written(key, *values) == texts


def test_nothing_that_is_not_zero_is_shown_as_zero():
    assert written("tokens_per_s", 1e-9, 5000.0)[0] == "1.00e-09"


def test_intervals_stand_beside_the_means_and_are_never_zero():
    rows = [
        {"speedup_time": 2.0, "speedup_time_ci95": 0.05},
        {"speedup_time": 1.0, "speedup_time_ci95": 0.0},
        {"speedup_time": 3.0, "speedup_time_ci95": 0.0001},
    ]
    assert cells(column("speedup_time"), rows, Look()) == ["2.00x±0.05", "1.00x     ", "3.00x±0.01"]
    assert cells(column("speedup_time"), rows, Look(unicode=False))[0] == "2.00x+-0.05"


@pytest.mark.parametrize("half", [0.0, 5e-324, 1e-16, 2e-9])
def test_what_rounding_leaves_is_no_interval(half):
    rows = [{"speedup_time": 2.5, "speedup_time_ci95": half}, {"speedup_time": -2.5, "speedup_time_ci95": half}]
    assert cells(column("speedup_time"), rows, Look()) == ["2.50x", "-2.50x"]


@pytest.mark.parametrize(
    ("longest", "unit"), [(5e-6, "µs"), (0.5, "ms"), (9.9, "ms"), (10.1, "s"), (7200, "s"), (1e6, "h"), (None, "ms")]
)
def test_the_unit_follows_the_longest_time(longest, unit):
    assert unit_of(column("latency_s"), [{"latency_s": longest}, {"latency_s": None}], Look())[0] == unit


def test_options_are_written_as_they_are_typed():
    assert [option_text(v) for v in (True, None, [0.9, 0.8], 0.95, "ge")] == ["true", "none", "[0.9,0.8]", "0.95", "ge"]
