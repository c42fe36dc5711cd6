"""What fits on a card."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clover_sim.cost import Machine, does_not_fit, memory_check
from clover_sim.errors import UsageError
from clover_sim.specs import (
    DEFAULT_DRAFTER,
    bare_hardware,
    bare_model,
    list_models,
    load_engine,
    load_hardware,
    load_model,
)


def machine(model: str, gpu: str, **options: object) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine("sglang"), **options)  # type: ignore[arg-type]


def test_35_billion_parameters_in_four_bits_do_not_fit_16_gigabytes() -> None:
    for precision in ("int4", "mxfp4", "nvfp4", "4"):
        m = machine("clover-35b-a3b", "rtx-5070-ti", precision=precision)
        picture = memory_check(m, 1, 0)
        assert not picture.fits
        assert (picture.longest_context_tokens, picture.largest_batch_size) == (0, 0)
        line = does_not_fit(m, picture)
        assert "\n" not in line and "16.0 GB" in line and "larger GPU" in line


def test_the_same_fits_a_24_gigabyte_card_and_in_full_an_h200() -> None:
    assert memory_check(machine("clover-35b-a3b", "rtx-4090", precision="int4"), 1, 4_096).fits
    assert memory_check(machine("clover-35b-a3b", "h200"), 8, 32_768).fits
    assert memory_check(machine("clover-35b-a3b", "h100"), 1, 4_096).fits
    assert not memory_check(machine("clover-35b-a3b", "h100"), 8, 32_768).fits


def test_weights_are_all_parameters() -> None:
    assert memory_check(machine("qwen3-8b", "h200")).weight_bytes == 8_190_735_360 * 2
    assert memory_check(machine("qwen3-0.6b", "h200")).weight_bytes == 596_049_920 * 2
    # gpt-oss-120b as published in mxfp4: 60.8 GiB (model card), experts only.
    found = memory_check(machine("gpt-oss-120b", "h200", precision="mxfp4")).weight_bytes
    assert found / 2**30 == pytest.approx(60.8, rel=0.01)


def test_cache_state_and_drafter_are_counted_for_every_sequence() -> None:
    m = machine("qwen3.6-35b-a3b", "h200", drafter=load_model(DEFAULT_DRAFTER))
    p = memory_check(m, 3, 1_000)
    assert p.kv_bytes == 3 * 1_000 * (10_240 + 57_344) * 2
    assert p.state_bytes == 3 * (15_728_640 * 4 + 737_280 * 2)
    assert p.drafter_bytes == 596_049_920 * 2
    assert p.total_bytes == p.weight_bytes + p.kv_bytes + p.state_bytes + p.drafter_bytes
    assert p.capacity_bytes == pytest.approx(0.9 * 141e9)


@pytest.mark.parametrize("name", list_models())
def test_the_limits_are_the_last_that_fit(name: str) -> None:
    m = machine(name, "b200", precision="fp8", tensor_parallel_size=8)
    p = memory_check(m, 4, 3_000)
    assert p.fits and p.largest_batch_size
    assert p.longest_context_tokens or not m.model.attention_layers
    assert memory_check(m, 4, p.longest_context_tokens or 0).fits
    longest = m.model.max_context_tokens
    at_most = p.longest_context_tokens == longest
    assert at_most or not memory_check(m, 4, (p.longest_context_tokens or 0) + 1).fits
    assert memory_check(m, p.largest_batch_size, 3_000).fits
    assert not memory_check(m, p.largest_batch_size + 1, 3_000).fits


def test_a_pool_of_2_89_gib_holds_23648_tokens_of_llama() -> None:
    # SGLang issue log of an 8B model on a 24 GB card: 1478 blocks of 16 tokens.
    per_token = load_model("llama-3.1-8b").kv_elements(1) * 2
    assert 2.89 * 2**30 / per_token == pytest.approx(23_648, rel=0.002)


def test_several_cards_hold_more_but_replicate_few_heads() -> None:
    two, eight = (memory_check(machine("qwen3.6-35b-a3b", "h200", tensor_parallel_size=n), 1, 1_000) for n in (2, 8))
    assert eight.capacity_bytes == pytest.approx(4 * two.capacity_bytes)
    assert eight.kv_bytes == 4 * two.kv_bytes
    assert eight.weight_bytes == two.weight_bytes


def test_bare_figures_limit_nothing() -> None:
    m = Machine(bare_model(35e9, 3e9), bare_hardware(3), load_engine("ideal"))
    p = memory_check(m, 7, 10**6)
    assert (p.fits, p.longest_context_tokens, p.largest_batch_size) == (True, None, None)


@pytest.mark.parametrize(("batch", "context"), [(0, 1), (-1, 1), (1, -1)])
def test_impossible_requests(batch: int, context: int) -> None:
    with pytest.raises(UsageError, match="expected at least"):
        memory_check(machine("qwen3-8b", "h200"), batch, context)


def test_the_message_names_what_would_help() -> None:
    m = machine("llama-3.1-8b", "rtx-4090")
    line = does_not_fit(m, memory_check(m, 16, 20_000))
    assert "--batch-size 2" in line and "2641 tokens of context" in line
    assert "fp8" not in line  # half of 41.9 GB beside 16.1 GB of weights is still too much
    assert not memory_check(replace(m, kv_cache_dtype="fp8"), 16, 20_000).fits
    assert "--kv-cache-dtype fp8" in does_not_fit(m, memory_check(m, 16, 4_000))
    assert memory_check(replace(m, kv_cache_dtype="fp8"), 16, 4_000).fits


@pytest.mark.parametrize(
    ("model", "gpu", "precision"),
    [("clover-35b-a3b", "rtx-5090", "bf16"), ("llama-3.1-70b", "h100", "bf16"), ("llama-3.1-405b", "h100", "fp8"),
     ("qwen3-32b", "rtx-4090", "bf16")],
)  # fmt: skip
def test_the_cards_it_suggests_are_the_fewest_that_hold_it(model: str, gpu: str, precision: str) -> None:
    m = machine(model, gpu, precision=precision)
    line = does_not_fit(m, memory_check(m, 1, 4_096))
    found = re.search(r"--tensor-parallel-size (\d+)", line)
    assert found
    fits = [n for n in (1, 2, 4, 8, 16, 32) if memory_check(replace(m, tensor_parallel_size=n), 1, 4_096).fits]
    assert int(found[1]) == fits[0]


def test_no_cards_are_suggested_that_would_not_hold_it() -> None:
    m = machine("kimi-k2", "rtx-3060")
    assert not memory_check(replace(m, tensor_parallel_size=64), 1, 4_096).fits
    line = does_not_fit(m, memory_check(m, 1, 4_096))
    assert "--precision int4 with --tensor-parallel-size 64" in line and "try --tensor" not in line
    narrow = replace(m, precision="int4", tensor_parallel_size=64)
    assert memory_check(narrow, 1, 4_096).fits
    assert not memory_check(replace(narrow, tensor_parallel_size=32), 1, 4_096).fits
