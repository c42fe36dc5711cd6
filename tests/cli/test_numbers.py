"""Numbers as they are typed."""

from __future__ import annotations

import pytest

from clover_sim.cli._numbers import bandwidth_tb_s, between, counts, decimal_range, format_name, number, positive, seeds
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


@pytest.mark.parametrize("text", ["1_6", " 4 ", "４", "٣", "0x10", "inf", "nan", "1e999", "", "1" * 41, "--1", "1,5"])
def test_loose_numbers_are_refused(text):
    for read in (number, positive, between(0.001, 1e6, "TB/s")):
        with pytest.raises(UsageError):
            read(text)


def test_numbers():
    assert (number("-.5"), number("+1e-3"), positive("2.5")) == (-0.5, 0.001, 2.5)


@pytest.mark.parametrize("text", ["1e-10", "1e300", "1e-320", "0", "-1"])
def test_implausible_figures_are_refused_with_the_range(text):
    with pytest.raises(UsageError, match=r"expected 0\.001 to 1,000,000 TB/s"):
        bandwidth_tb_s(text)


@pytest.mark.parametrize("text", ["fp8", "q4_k_m", "fp8_e4m3", "4.85", "16"])
def test_names_of_formats(text):
    assert format_name(text) == text


@pytest.mark.parametrize("text", ["1_6", " 4 ", "nan", "１６", "fp8 ", "ｆｐ８", "1e999"])
def test_no_names_of_formats(text):
    with pytest.raises(UsageError):
        format_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "1:1e9999999999:1",
        "1:999999999999999999:1",
        "1:20000:1",
        ",".join(["1"] * 10_001),
        "1:6000:1,1:6000:1",
        "1:2:-1",
    ],
)
def test_long_lists_are_refused_before_they_are_built(text):
    with pytest.raises(UsageError):
        counts(text)


@pytest.mark.parametrize(
    "text", ["0:1e9999999999:1", "0:1:1e-9999999999", "1e-999999:1:0.1", "0:1e40:1e40", "0:1:1e-5", "0:1_0:1"]
)
def test_ranges_that_no_arithmetic_survives(text):
    with pytest.raises(UsageError):
        decimal_range(text)


def test_the_longest_lists():
    assert len(counts("1:10000:1")) == len(decimal_range("0:9999:1")) == len(seeds("5:10005")) == 10_000
    with pytest.raises(UsageError, match="10,000"):
        seeds("0:99999999999999999")


def test_leading_zeros_never_count():
    assert counts("0" * 5000 + "7") == (7,)
