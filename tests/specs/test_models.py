"""Model specifications against exact counts and published byte tables."""

from __future__ import annotations

import os

import pytest

from clover_sim.errors import InputError
from clover_sim.specs import DEFAULT_DRAFTER, ModelSpec, bare_model, list_models, load_model
from clover_sim.specs.load import DATA, all_names

# All parameters; read by every pass; active with the head, without embedding tables, with both. Counted from the
# models as transformers 5.24 builds them on a meta device (LLaDA2.0-mini: from its published configuration).
EXACT = {
    "qwen3.6-35b-a3b": (34_660_610_688, 1_939_796_608, 2_946_429_568, 2_437_870_208, 3_454_988_928),
    "clover-35b-a3b": (34_660_610_688, 1_939_796_608, 2_946_429_568, 2_437_870_208, 3_454_988_928),
    "qwen3-8b": (8_190_735_360, 7_568_405_504, 7_568_405_504, 6_946_075_648, 8_190_735_360),
    "qwen3-0.6b": (596_049_920, 596_049_920, 596_049_920, 440_467_456, 596_049_920),
    "llama-3.1-8b": (8_030_261_248, 7_504_924_672, 7_504_924_672, 6_979_588_096, 8_030_261_248),
}


@pytest.mark.parametrize("name", EXACT)
def test_parameters_are_exact(name: str) -> None:
    model = load_model(name)
    read = (model.params, model.read_every_pass_params)
    assert (*read, *(model.active(r) for r in ("with_head", "no_embedding", "with_both"))) == EXACT[name]


# Billions, published tables: total, and active under the three readings.
ROUNDED = {
    "qwen3-30b-a3b": (30.532, 3.042, 2.731, 3.353),
    "llada2.0-mini": (16.256, 1.111, 0.789, 1.433),
    "llada2.0-flash": (102.890, 5.508, 4.865, 6.152),
    "gpt-oss-120b": (116.829, 5.133, 4.554, 5.712),
    "deepseek-v3": (671.026, 36.626, 35.699, 37.552),
    "mixtral-8x7b": (46.703, 12.749, 12.618, 12.880),
    "diffusiongemma-26b-a4b": (25.251, 3.840, 3.102, 3.840),
    "qwen3.5-397b-a17b": (396.346, 16.332, 15.315, 17.349),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_parameters_match_the_published_sizes(name: str) -> None:
    model = load_model(name)
    found = (model.params, *(model.active(r) for r in ("with_head", "no_embedding", "with_both")))
    assert tuple(round(value / 1e9, 3) for value in found) == ROUNDED[name]


def test_every_model_file_loads_under_its_own_name_with_a_source() -> None:
    for name in list_models():
        model = load_model(name)
        assert model.name == name
        assert model.sources, name
        assert model.hidden_size, name
        assert (model.attention_layers and model.query_width) or model.linear_attention_params, name


def test_clover_says_that_its_shapes_are_assumed() -> None:
    clover = load_model("clover-35b-a3b")
    assert "ASSUMPTION" in clover.note
    assert clover.max_context_tokens == 131_072


def test_the_default_drafter_is_small_and_dense() -> None:
    drafter = load_model(DEFAULT_DRAFTER)
    assert not drafter.is_moe
    assert 0.4e9 < drafter.read_every_pass_params < 0.7e9


# Bytes cached at 8192 tokens with a 16-bit cache and float32 state, GB: the K/V and state table of the facts.
@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [("qwen3.6-35b-a3b", 0.231), ("qwen3-8b", 1.208), ("gpt-oss-120b", 0.307), ("deepseek-v3", 0.576)],
)
def test_cache_of_one_sequence(name: str, gigabytes: float) -> None:
    model = load_model(name)
    state = model.state_elements_per_sequence * 4
    assert round((model.kv_elements(8192) * 2 + state) / 1e9, 3) == gigabytes


def test_windowed_layers_stop_growing_at_their_window() -> None:
    model = load_model("gpt-oss-120b")
    assert model.kv_elements(128) == 2 * 18_432 * 128
    assert model.kv_elements(129) - model.kv_elements(128) == 18_432


def test_llama_keeps_131072_bytes_a_token() -> None:
    assert load_model("llama-3.1-8b").kv_elements(1) * 2 == 131_072


@pytest.mark.parametrize(("params", "active"), [(35e9, 3e9), (1000e9, 32e9), (30.5e9, 3.3e9), (8e9, 8e9), (100e9, 1e9)])
def test_a_bare_model_keeps_the_figures_it_was_given(params: float, active: float) -> None:
    model = bare_model(params, active)
    assert model.params == params
    assert model.active_params == active
    assert model.is_moe == (params != active)


def test_a_bare_model_with_eight_of_256_experts_resembles_the_real_one() -> None:
    assert bare_model(35e9, 3e9).read_every_pass_params == pytest.approx(1.97e9, rel=0.01)


@pytest.mark.parametrize(("params", "active"), [(0, None), (float("nan"), None), (-1, None), (3e9, 35e9), (1e9, 0)])
def test_a_bare_model_refuses_impossible_sizes(params: float, active: float | None) -> None:
    with pytest.raises(InputError) as caught:
        bare_model(params, active)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"params": 11}, "sum of the parts"),
        ({"layers": -1}, "layers is -1"),
        ({"layers": 1.5}, "whole number"),
        ({"layers": True}, "boolean"),
        ({"tied": True, "lm_head_params": 4, "other_params": 6}, "tied"),
        ({"routed_expert_params": 4, "other_params": 6}, "experts x params_per_expert"),
        ({"attention_layers": 3}, "at most 2 layers"),
        ({"kv_windows": [[128]]}, "pairs"),
        ({"kv_windows": "128"}, "pairs"),
        ({"max_context_tokens": 0}, "max_context_tokens"),
        ({"name": " "}, "name is empty"),
    ],
)
def test_impossible_figures_are_refused_in_one_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        ModelSpec(**{"name": "m", "params": 10, "other_params": 10, "layers": 2, **changes})  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_spec_round_trips_through_its_repr() -> None:
    model = load_model("gpt-oss-20b")
    assert eval(repr(model)) == model
    assert hash(model) == hash(load_model("openai/gpt-oss-20b"))


@pytest.mark.parametrize("folder", ["models", "hardware", "engines"])
def test_no_name_is_claimed_by_two_files(folder: str) -> None:
    """Else a misspelt name and ``explain`` fail for everybody with the two files' names."""
    assert all_names(os.path.join(DATA, folder))
