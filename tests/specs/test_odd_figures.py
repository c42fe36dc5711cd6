"""Figures that no machine has, files that are no files: one line, never an internal error, an inf or a hang."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clover_sim.cost import Machine, cost_model
from clover_sim.cost.estimate import document, price
from clover_sim.errors import InputError, UsageError
from clover_sim.specs import (
    check,
    engine_from_table,
    hardware_from_table,
    load_engine,
    load_hardware,
    load_model,
    model_from_table,
)

TOO_BIG = (10**400, 0x1 << 30_000, 1e300, float("inf"), float("nan"))
TOO_SMALL = (1e-300, 5e-324)
NO_NUMBERS = ("5", True, None, [1] * 10_000, {"a": 1}, "x" * 10_000)


@pytest.mark.parametrize("value", [*TOO_BIG, *TOO_SMALL, *NO_NUMBERS, -1, 0], ids=lambda value: type(value).__name__)
def test_no_figure_of_a_file_leaves_the_range(value: object) -> None:
    tries = [
        lambda: hardware_from_table({"memory_gb": value, "memory_bandwidth_gbs": 1}, "f"),
        lambda: hardware_from_table({"memory_gb": 1, "memory_bandwidth_gbs": value}, "f"),
        lambda: hardware_from_table({"memory_gb": 1, "memory_bandwidth_gbs": 1, "bf16_tflops": value}, "f"),
        lambda: hardware_from_table({"memory_gb": 1, "memory_bandwidth_gbs": 1, "l2_mb": value}, "f"),
        lambda: engine_from_table({"eta": value}, "f"),
        lambda: engine_from_table({"band_wide": [value, value]}, "f"),
        lambda: engine_from_table({"when": {"nvidia": {"mfu": value}}}, "f"),
        lambda: model_from_table({"other_params": value}, "f"),
        lambda: model_from_table({"other_params": 5, "kv_windows": [[value, value]]}, "f"),
    ]
    for make in tries:
        with pytest.raises(InputError) as caught:
            make()
        assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["title", "note", "interconnect", "architecture", "vendor", "link", "category"])
def test_words_of_a_hardware_file_are_words(key: str) -> None:
    with pytest.raises(InputError, match=key):
        hardware_from_table({"memory_gb": 1, "memory_bandwidth_gbs": 1, key: 0x1 << 30_000}, "f")


def test_bounds_are_named() -> None:
    for value, expected in ((1e-40, "at least 1e-30"), (1e40, "at most 1e+30"), (float("inf"), "finite")):
        with pytest.raises(InputError, match=expected.replace("+", r"\+")):
            check.number("x", "y", value)
    with pytest.raises(InputError, match=r"at most 1e\+18"):
        check.whole("x", "y", 10**19)


def test_the_widest_figures_that_pass_give_a_document() -> None:
    for big in (True, False):
        value = 1e18 if big else 1e-18
        table = {"memory_bandwidth_gbs": value, "bf16_tflops": value, "interconnect_gbs": value, "tdp_w": value}
        gpu = hardware_from_table({**table, "memory_gb": 1, "price_usd_per_hour": 1e30}, "f")
        engine = engine_from_table({"eta": 1e-30, "mfu": 1e-30, "layer_s": 1e30, "pass_s": 1e30}, "f")
        machine = Machine(load_model("clover-35b-a3b"), gpu, engine, tensor_parallel_size=2)
        json.dumps(document(price(machine, (1, 10**18), (1, 100), (0, 10**18))), allow_nan=False)


def test_a_model_of_an_embedding_alone_is_refused() -> None:
    with pytest.raises(InputError, match="a pass multiplies by"):
        model_from_table({"embed_params": 5}, "f")
    assert model_from_table({"embed_params": 5, "tied": True}, "f").active() == 5


def test_cards_are_a_count_of_cards() -> None:
    for cards in (0, 4097, 999_999_999_999_999_999):
        with pytest.raises(UsageError, match="from 1 to 4096"):
            Machine(load_model("qwen3-8b"), load_hardware("h100"), load_engine("vllm"), tensor_parallel_size=cards)


@pytest.mark.parametrize("text", ["1_0", "1e-320", "1e300", "٣", "inf", "0x1"])
def test_a_given_price_is_in_plain_digits(text: str) -> None:
    for spec in (f"fixed:pass_ms={text}", f"fixed:pass_ms=1,draft_ms={text}"):
        with pytest.raises(UsageError):
            cost_model(spec)


@pytest.mark.parametrize("name", ["f.toml", "f.json"])
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    for load in (load_model, load_hardware, load_engine):
        with pytest.raises(InputError, match="is a pipe"):
            load(str(path))


@pytest.mark.parametrize("name", ["z.toml", "z.json"])
def test_an_endless_file_is_not_read_to_its_end(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    for load in (load_model, load_hardware, load_engine):
        with pytest.raises(InputError, match="MB"):
            load(str(path))


def test_a_key_twice_among_many_is_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("{" + "".join(f'"k{i}":1,' for i in range(300_000)) + '"k299999":2}')
    with pytest.raises(InputError, match="'k299999' stands twice"):
        load_model(str(path))
