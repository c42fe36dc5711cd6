"""GGUF metadata as JSON, flat and as gguf-dump prints it."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs.hf import config_model

LLAMA: dict[str, Any] = {
    "general.architecture": "llama", "general.file_type": 2, "llama.block_count": 3, "llama.embedding_length": 64,
    "llama.feed_forward_length": 160, "llama.attention.head_count": 8, "llama.attention.head_count_kv": 2,
    "llama.context_length": 4096, "llama.vocab_size": 1000,
}  # fmt: skip
HYBRID: dict[str, Any] = {
    "general.architecture": "qwen35moe", "block_count": 9, "nextn_predict_layers": 1, "embedding_length": 64,
    "attention.head_count": 8, "attention.head_count_kv": [0, 0, 0, 2, 0, 0, 0, 2, 2], "attention.key_length": 16,
    "expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32,
    "expert_shared_feed_forward_length": 32, "ssm.conv_kernel": 4, "ssm.state_size": 8, "ssm.group_count": 2,
    "ssm.time_step_rank": 4, "ssm.inner_size": 64, "full_attention_interval": 4, "vocab_size": 500,
}  # fmt: skip
HYBRID = {key if key.startswith("general") else f"qwen35moe.{key}": value for key, value in HYBRID.items()}


def test_llama_is_the_configuration(dense: dict[str, Any]) -> None:
    model = config_model(LLAMA, "meta.json")
    assert model.spec.params == config_model(dense, "config.json").spec.params
    assert model.family == "llama"
    assert model.notes[0].startswith("GGUF metadata")
    bits = model.quantisation.bits
    assert bits["lm_head_params"] == bits["embed_params"] == 4.55  # of whole files: their heads keep 6 bits


def test_dump_says_whether_the_head_is_tied() -> None:
    dump = {"metadata": {key: {"value": value} for key, value in LLAMA.items()}, "tensors": {"token_embd.weight": {}}}
    assert config_model(dump, "meta.json").spec.tied
    dump["tensors"] = {"output.weight": {}}
    assert not config_model(dump, "meta.json").spec.tied


def test_layers_for_multi_token_prediction_are_not_counted() -> None:
    spec = config_model(HYBRID, "meta.json").spec
    assert (spec.layers, spec.attention_layers, spec.moe_layers) == (8, 2, 8)
    assert spec.state_elements_per_sequence == 6 * 4 * 8 * 16


def test_experts_make_llama_a_mixtral() -> None:
    table = {**LLAMA, "llama.expert_count": 4, "llama.expert_used_count": 2}
    model = config_model(table, "meta.json")
    assert model.family == "mixtral" and model.spec.experts == 4


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"general.architecture": "bert"}, "general.architecture is 'bert'"),
        ({"general.architecture": 7}, "general.architecture is 7"),
        ({"llama.block_count": None}, "llama.block_count is missing"),
        ({"llama.block_count": -2}, "num_hidden_layers is -2"),
        ({"llama.attention.head_count": [8, 4, 8]}, "differs from layer to layer"),
    ],
)
def test_what_cannot_be_read(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as error:
        config_model({**LLAMA, **changes}, "meta.json")
    assert word in str(error.value)
