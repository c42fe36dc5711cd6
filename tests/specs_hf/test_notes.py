"""What a reader is told: defaults that were filled in, stand-ins for a family, warnings."""

from __future__ import annotations

from typing import Any

from clover_sim.specs.hf import config_model


def test_a_full_configuration_needs_no_notes(dense: dict[str, Any]) -> None:
    assert config_model(dense, "config.json").notes == ()


def test_defaults_of_a_sparse_text_config_are_said() -> None:
    table = {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 12,
        },
        "vision_config": {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 16},
    }
    model = config_model(table, "config.json")
    assert "text_config.num_attention_heads missing: gemma3_text default 8" in model.notes
    assert "text_config.num_key_value_heads missing: gemma3_text default 4" in model.notes
    assert "text_config.head_dim missing: gemma3_text default 256" in model.notes
    assert "text_config.tie_word_embeddings missing: gemma3_text default true" in model.notes
    assert model.spec.tied and model.spec.vocab_size == 262208
    assert model.spec.kv_windows == ((4096, 10 * 2 * 4 * 256),)


def test_missing_kv_heads_are_one_for_each_head(dense: dict[str, Any]) -> None:
    del dense["num_key_value_heads"]
    model = config_model(dense, "config.json")
    assert model.spec.kv_heads == 8
    assert model.notes == ("num_key_value_heads missing: one for each of the 8 heads",)


def test_outer_table_decides_on_tying(dense: dict[str, Any]) -> None:
    inner = {**dense, "model_type": "qwen3_vl_text", "tie_word_embeddings": True}
    model = config_model({"model_type": "qwen3_vl", "tie_word_embeddings": False, "text_config": inner}, "c.json")
    assert not model.spec.tied
    assert any("tie_word_embeddings" in note for note in model.notes)
    assert config_model({"model_type": "qwen3_vl", "text_config": inner}, "c.json").spec.tied


def test_families_by_class_are_said(dense: dict[str, Any]) -> None:
    table = {**dense, "model_type": "house_llama", "architectures": ["LlamaForCausalLM"]}
    model = config_model(table, "config.json")
    assert model.family == "llama"
    assert any("LlamaForCausalLM" in note for note in model.notes)


def test_language_model_of_a_multimodal_one_is_counted(mixture: dict[str, Any]) -> None:
    plain = config_model(mixture, "config.json").spec.params
    for key in ("text_config", "llm_config", "language_config"):
        table = {"model_type": "house_vl", key: mixture, "vision_config": {"hidden_size": 8}}
        assert config_model(table, "config.json").spec.params == plain


def test_vision_tower_is_listed_beside(mixture: dict[str, Any]) -> None:
    vision = {
        "depth": 2, "hidden_size": 16, "intermediate_size": 24, "out_hidden_size": 64, "patch_size": 4,
        "num_position_embeddings": 9, "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3,
        "deepstack_visual_indexes": [1],
    }  # fmt: skip
    text = {**mixture, "model_type": "qwen3_vl_moe_text"}
    table = {"model_type": "qwen3_vl_moe", "text_config": text, "vision_config": vision}
    model = config_model(table, "config.json")
    layer = 4 * 16 + 4 * 16 * 16 + 4 * 16 + 2 * 16 * 24 + 24 + 16
    merger = 64 * 64 + 64 + 64 * 64 + 64
    expected = 16 * 3 * 2 * 16 + 16 + 9 * 16 + 2 * layer + merger + 2 * 16 + merger + 2 * 64
    assert model.vision_params == expected
    assert model.spec.params == config_model(mixture, "config.json").spec.params


def test_own_head_is_counted_where_the_code_keeps_one() -> None:
    table = {
        "model_type": "nemotron_h", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 16, "layers_block_type": ["attention"], "vocab_size": 100, "tie_word_embeddings": True,
    }  # fmt: skip
    model = config_model(table, "config.json")
    assert model.spec.lm_head_params == 6400
    assert any("head of its own" in note for note in model.notes)
