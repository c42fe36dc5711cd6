"""Figures that cannot be right: one line each, with file, key path, what was found and what was expected."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs.hf import config_model

FIGURES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
BAD = (-1, 0, 10**30, 10**4000, float("nan"), float("inf"), 1.5, True, "64", "x" * 300, [64], {"a": 1}, [[]], "\n")


def refusal(table: dict[str, Any]) -> str:
    with pytest.raises(InputError) as error:
        config_model(table, "config.json")
    text = str(error.value)
    assert text.startswith("config.json: ") and "\n" not in text and len(text) < 400
    return text


@pytest.mark.parametrize("key", FIGURES)
@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_figure_of_a_dense_model(dense: dict[str, Any], key: str, value: Any) -> None:
    assert key in refusal({**dense, key: value})


@pytest.mark.parametrize("key", ["num_experts", "num_experts_per_tok", "moe_intermediate_size", "head_dim"])
@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_figure_of_a_mixture(mixture: dict[str, Any], key: str, value: Any) -> None:
    assert key in refusal({**mixture, key: value})


def test_path_within_the_file_is_named(dense: dict[str, Any]) -> None:
    table = {"model_type": "house_vl", "text_config": {**dense, "hidden_size": -4}}
    assert "text_config.hidden_size is -4; expected a whole number from 1" in refusal(table)


def test_quotes_are_pointed_out(dense: dict[str, Any]) -> None:
    assert "remove the quotes" in refusal({**dense, "hidden_size": "64"})


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers"])
def test_what_sets_the_size_is_never_guessed(dense: dict[str, Any], key: str) -> None:
    del dense[key]
    assert f"{key} is missing" in refusal(dense)


@pytest.mark.parametrize("value", [1, 0, "true", [True], {}])
def test_flags_are_true_or_false(dense: dict[str, Any], value: Any) -> None:
    assert "expected true or false" in refusal({**dense, "tie_word_embeddings": value})
    assert "expected true or false" in refusal({**dense, "attention_bias": value})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_key_value_heads": 3}, "multiple of num_key_value_heads 3"),
        ({"num_attention_heads": 7, "num_key_value_heads": 7}, "not a multiple of num_attention_heads 7"),
        ({"model_type": 7}, "model_type is 7"),
        ({"text_config": []}, "text_config is a list of 0"),
        ({"quantization_config": "fp8"}, "quantization_config is 'fp8'"),
    ],
)
def test_what_does_not_fit_together(dense: dict[str, Any], changes: dict[str, Any], word: str) -> None:
    assert word in refusal({**dense, **changes})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_experts_per_tok": 9}, "expected at most the 8 experts"),
        ({"num_local_experts": 4}, "num_local_experts is 4"),
        ({"mlp_only_layers": ["a"]}, "mlp_only_layers[0]"),
        ({"mlp_only_layers": 3}, "expected a list"),
        ({"decoder_sparse_step": 0}, "decoder_sparse_step is 0"),
    ],
)
def test_what_does_not_fit_a_mixture(mixture: dict[str, Any], changes: dict[str, Any], word: str) -> None:
    assert word in refusal({**mixture, **changes})


@pytest.mark.parametrize(
    ("types", "word"),
    [
        (["full_attention"], "has 1 entries; expected 3"),
        (["full_attention", "other", "full_attention"], "layer_types[1] is 'other'"),
        ("full", "expected a list of 3"),
        ([1, 2, 3], "layer_types[0] is 1"),
    ],
)
def test_layer_types(dense: dict[str, Any], types: Any, word: str) -> None:
    table = {**dense, "model_type": "gemma2", "layer_types": types, "sliding_window": 8}
    assert word in refusal(table)


def test_any_value_anywhere_gives_a_line_or_a_model(dense: dict[str, Any], mixture: dict[str, Any]) -> None:
    block = {
        "quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"],
        "kv_cache_scheme": {"num_bits": 8, "type": "float"},
    }  # fmt: skip
    groups = {
        "quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*"], "format": "pack-quantized",
        "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
    }  # fmt: skip
    for base, quant in ((dense, block), (mixture, groups)):
        table = {**base, "quantization_config": quant, "sliding_window": 8, "layer_types": None}
        for path in list(_paths(table)):
            for value in BAD:
                changed = copy.deepcopy(table)
                inner: Any = changed
                for step in path[:-1]:
                    inner = inner[step]
                inner[path[-1]] = value
                try:
                    config_model(changed, "config.json")
                except InputError as error:
                    assert "\n" not in str(error) and len(str(error)) < 400


def _paths(table: dict[str, Any], before: tuple[str, ...] = ()) -> Any:
    for key, value in table.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from _paths(value, (*before, key))
