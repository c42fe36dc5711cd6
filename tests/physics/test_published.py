"""The bars: fitted figures and those that follow from them, for every workload of the package (seeds 900000 on)."""

from __future__ import annotations

from functools import cache

import pytest

from clover_sim.diffusion_checks import Checked, check_workload
from clover_sim.streams.workloads import load_workload, workload_names


@cache
def checked(workload: str) -> tuple[Checked, ...]:
    return tuple(check_workload(load_workload(workload)))


@pytest.mark.parametrize("workload", workload_names())
def test_every_figure_is_within_its_bar(workload: str) -> None:
    missed = [row for row in checked(workload) if row.holds is False]
    assert not missed, "\n".join(f"{r.setting} {r.quantity}: {r.published} published, {r.model:.3f}" for r in missed)


def value(workload: str, setting: str, quantity: str) -> Checked:
    return next(r for r in checked(workload) if r.setting.startswith(setting) and r.quantity == quantity)


def test_two_points_are_fitted_and_the_rest_predicted() -> None:
    for workload, predicted in (("llada-8b-gsm8k", 4), ("llada2.0-mini", 3)):
        rows = [r for r in checked(workload) if r.quantity == "tokens_per_pass"]
        assert sum(r.fitted for r in rows) == 2 and len(rows) - 2 == predicted


def test_tokens_per_pass_are_flat_in_the_block_size() -> None:
    flat = [value("llada2.0-mini", f"threshold 0.95, block {b}", "tokens_per_pass").model for b in (16, 32, 64)]
    assert max(flat) / min(flat) < 1.06


def test_at_equal_speed_the_threshold_loses_far_less_than_a_fixed_count() -> None:
    threshold = value("llada-8b-gsm8k", "threshold 0.8", "accuracy")
    fixed = value("llada-8b-gsm8k", "tokens_per_pass 4", "accuracy")
    assert value("llada-8b-gsm8k", "threshold 0.8", "tokens_per_pass").model > 4
    base = load_workload("llada-8b-gsm8k").accuracy
    assert base is not None and base - threshold.model < 0.2 * (base - fixed.model)


def test_one_token_a_pass_at_threshold_one() -> None:
    assert value("llada-8b-gsm8k", "threshold 1", "tokens_per_pass").model == 1
    assert value("llada-8b-gsm8k", "threshold 1", "accuracy").error == 0
