"""Every strategy of the package passes the conformance suite; unusable options are refused with the option's name."""

from __future__ import annotations

import pytest

from clover_sim.conformance import check_decoder
from clover_sim.errors import UsageError
from clover_sim.registry import build_strategy


def test_conformance_of_the_other_order() -> None:
    """Every strategy under its usual options: tests/conformance."""
    check_decoder("schedule:remasking_strategy=sequential").raise_if_failed()


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        ("factor:factor=0", "factor=0"),
        ("factor:block_size=0", "block_size=0"),
        ("schedule:denoising_steps=0", "denoising_steps=0"),
        ("schedule:remasking_strategy=low_confidence", "did you mean"),
        ("schedule:confidence_threshold=2", "confidence_threshold=2"),
        ("entropy-bound:gamma=-1", "gamma=-1"),
        ("running-mean:confidence_lower_threshold=0.95", "above the upper one"),
        ("hierarchy:sub_block_size=33", "more than block_size"),
        ("credit:decay_beta=1.5", "decay_beta=1.5"),
        ("stability:kl_threshold=0", "kl_threshold=0"),
        ("joint-threshold:edit_threshold=-0.5", "edit_threshold=-0.5"),
        ("wide-in-narrow-out:max_accept=0", "max_accept=0"),
        ("renoise:max_denoising_steps=0", "max_denoising_steps=0"),
        ("pipelined:entropy_threshold=-1", "entropy_threshold=-1"),
        ("pipelined:block_add_threshold=3", "block_add_threshold=3"),
    ],
)
def test_options_out_of_range(strategy: str, reason: str) -> None:
    with pytest.raises(UsageError, match=r"expected|did you mean|above|more than") as caught:
        build_strategy(strategy)
    assert reason in str(caught.value)
