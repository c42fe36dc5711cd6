"""Means and intervals over seeds."""

from __future__ import annotations

import math

import pytest

from clover_sim.stats import ci95, linearised, mean, t_quantile


@pytest.mark.parametrize("value", [0, 0.0, 0.1, 1 / 3, 128, 5.333333333333333, 1e-300, 1e300, -2.7])
@pytest.mark.parametrize("count", [2, 3, 7, 64])
def test_equal_values_have_exactly_their_mean_and_no_spread(value, count):
    assert mean([value] * count) == value
    assert ci95([value] * count) == 0.0
    assert isinstance(mean([value] * count), float)


def test_rounding_noise_is_no_spread():
    near = math.nextafter(0.1, 1)
    assert ci95([0.1, near, 0.1, math.nextafter(near, 1)]) == 0.0
    assert ci95([1e300, math.nextafter(1e300, 0)]) == 0.0
    assert ci95([0.0, 1e-300]) > 0
    assert ci95([1.0, 1.0 + 1e-9]) > 0


@pytest.mark.parametrize("scale", [1.0, 2.0**-900, 2.0**900, 1e300])
def test_any_magnitude(scale):
    values = [1.0, 2.0, 3.0, 4.0]
    scaled = [v * scale for v in values]
    assert mean(scaled) == pytest.approx(2.5 * scale)
    assert ci95(scaled) == pytest.approx(ci95(values) * scale)


def test_the_textbook_formula():
    values = [5.5, 4.0, 7.5, -1.25, 3.0]
    middle = sum(values) / 5
    spread = math.sqrt(sum((v - middle) ** 2 for v in values) / 4 / 5)
    assert mean(values) == pytest.approx(middle)
    assert ci95(values) == pytest.approx(2.7764451 * spread)


@pytest.mark.parametrize(("df", "t"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (30, 2.0423), (1000, 1.9623)])
def test_quantiles(df, t):
    assert t_quantile(df) == pytest.approx(t, abs=1e-4)


def test_the_ratio_of_sums_and_its_spread_by_the_closed_form():
    x, y = [3.0, 5.0, 4.0, 9.0], [1.0, 2.0, 2.5, 3.0]
    ratio, values = linearised(x, y)
    n, mx, my = 4, sum(x) / 4, sum(y) / 4
    assert ratio == pytest.approx(sum(x) / sum(y)) and mean(values) == pytest.approx(ratio)
    xx, yy, xy = (sum((a - p) * (b - q) for a, b in zip(u, v, strict=True)) / (n - 1)
                  for u, v, p, q in ((x, x, mx, mx), (y, y, my, my), (x, y, mx, my)))  # fmt: skip
    variance = (xx - 2 * ratio * xy + ratio**2 * yy) / my**2 / n  # of a ratio, in any book on sampling
    assert ci95(values) == pytest.approx(3.1824463 * math.sqrt(variance))


def test_a_constant_ratio_has_no_spread_whatever_the_sizes():
    ratio, values = linearised([0.1 * k for k in (1, 3, 7, 11)], [1.0, 3.0, 7.0, 11.0])
    assert ratio == pytest.approx(0.1) and ci95(values) == 0.0
    assert linearised([1, 1, 1], [3, 3, 3])[0] == 1 / 3


def test_a_constant_denominator_is_the_plain_mean():
    x = [5.5, 4.0, 7.5, -1.25, 3.0]
    ratio, values = linearised(x, [2.0] * 5)
    assert ratio == pytest.approx(mean(x) / 2) and ci95(values) == pytest.approx(ci95(x) / 2)


def test_one_value_has_no_interval():
    with pytest.raises(ValueError, match="at least 2"):
        ci95([1.0])
