"""Numbers as they are typed."""

from __future__ import annotations

import pytest

from clover_sim.cli._numbers import counts, decimal_range, positive, seeds
from clover_sim.errors import UsageError


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", (1,)),
        ("128,256", (128, 256)),
        ("100:500:100", (100, 200, 300, 400, 500)),
        ("100:450:100", (100, 200, 300, 400)),
        ("3:1:-1,7", (3, 2, 1, 7)),
        ("5:5:1", (5,)),
        ("007", (7,)),
    ],
)
def test_counts(text, values):
    assert counts(text) == values


@pytest.mark.parametrize(
    "text", ["", "1,", "1e3", "1_0", "0x10", "１２", "+5", " 5", "1:2", "1:2:0.5", "1:1000000:1", "nan"]
)
def test_counts_refused(text):
    with pytest.raises(UsageError):
        counts(text)


def test_ranges_are_decimal():
    assert decimal_range("0.5:0.99:0.01")[-1] == 0.99
    assert decimal_range("0.1:0.3:0.1") == [0.1, 0.2, 0.3]
    assert len(decimal_range("0:1:0.1")) == 11


@pytest.mark.parametrize("text", ["1:0:0.1", "0:1:0", "0:1:nan", "0:inf:1", "a:b:c", "0:1", "0:1e9:1e-9"])
def test_ranges_refused(text):
    with pytest.raises(UsageError):
        decimal_range(text)


def test_seeds():
    assert seeds("0:3") == range(0, 3)
    assert seeds("7") == range(7, 8)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1_0", "x", "٣"])
def test_positive_figures_refused(text):
    with pytest.raises(UsageError):
        positive(text)
