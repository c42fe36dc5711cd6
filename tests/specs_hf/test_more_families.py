"""Models under names of their own, and what is said of a model that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs.hf import config_model, load_config
from clover_sim.specs.hf.alike import by_class, by_keys

Write = Callable[..., str]

CHATGLM = {
    "model_type": "chatglm", "num_layers": 28, "padded_vocab_size": 65024, "hidden_size": 4096,
    "ffn_hidden_size": 13696, "kv_channels": 128, "num_attention_heads": 32, "seq_length": 8192,
    "multi_query_attention": True, "multi_query_group_num": 2, "add_qkv_bias": True, "add_bias_linear": False,
    "tie_word_embeddings": False,
}  # fmt: skip


def llama(model_type: str, hidden: int, layers: int, heads: int, width: int, vocab: int, **more: Any) -> dict[str, Any]:
    return {
        "model_type": model_type, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": width, "vocab_size": vocab, "tie_word_embeddings": False, **more,
    }  # fmt: skip


PUBLISHED = {
    "chatglm3-6b": (CHATGLM, 6_243_584_000),
    "glm-4-9b": ({**CHATGLM, "num_layers": 40, "padded_vocab_size": 151552}, 9_399_951_360),
    "qwen-7b": (llama("qwen", 4096, 32, 32, 22016, 151936, kv_channels=128, no_bias=True), 7_721_324_544),
    "deepseek-moe-16b": (
        llama(
            "deepseek", 2048, 28, 16, 10944, 102400, num_key_value_heads=16, moe_intermediate_size=1408,
            n_routed_experts=64, n_shared_experts=2, num_experts_per_tok=6, first_k_dense_replace=1, moe_layer_freq=1,
        ),
        16_375_728_128,
    ),
}  # fmt: skip
"""Configurations and the parameters that their model pages state."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_those_that_were_published(name: str) -> None:
    table, params = PUBLISHED[name]
    assert config_model(table, "config.json").spec.params == params


def test_a_mixture_with_its_own_shared_width() -> None:
    """Pangu Pro: 71.99 billion parameters, 16.50 billion active, as published."""
    table = llama(
        "PanguProMoE", 5120, 48, 40, 0, 153600, num_key_value_heads=8, moe_intermediate_size=1344, num_experts=64,
        num_experts_per_tok=8, shared_expert_intermediate_size=5376,
    )  # fmt: skip
    model = config_model(table, "config.json")
    assert round(model.spec.params / 1e9, 2) == 71.99
    assert round(model.active_params["with_both"] / 1e9, 2) == 16.50


@pytest.mark.parametrize(
    ("model_type", "family"),
    [
        ("Fast_dLLM_Qwen", "qwen2"), ("a2d-qwen3", "qwen3"), ("xverse", "llama"), ("aquila", "llama"),
        ("glm4v_text", "glm4"), ("minicpm", "minicpm"), ("orion", "orion"), ("internlm", "internlm"),
        ("PanguEmbedded", "pangu_embedded"),
    ],
)  # fmt: skip
def test_derived_models_count_as_what_they_derive_from(dense: dict[str, Any], model_type: str, family: str) -> None:
    assert config_model({**dense, "model_type": model_type}, "config.json").family == family


def test_an_omni_model_nests_its_mixture(mixture: dict[str, Any]) -> None:
    inner = {**mixture, "model_type": "qwen3_omni_moe_text"}
    table = {"model_type": "qwen3_omni_moe", "thinker_config": {"text_config": inner}}
    assert config_model(table, "config.json").spec.params == config_model(mixture, "config.json").spec.params


def test_a_width_of_two_halves_must_be_even(dense: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="even number"):
        config_model({**dense, "model_type": "qwen", "intermediate_size": 161}, "config.json")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("GptOssForCausalLM", "gpt_oss"), ("Qwen3NextForCausalLM", "qwen3_next"), ("LLaDAModelLM", "llada"),
        ("Gemma3ForConditionalGeneration", "gemma3"), ("MyOwnForCausalLM", ""), ("ForCausalLM", ""),
    ],
)  # fmt: skip
def test_a_class_may_name_the_family(name: str, family: str) -> None:
    assert by_class(name) == family


def test_an_unknown_type_with_a_known_class_is_noted(mixture: dict[str, Any]) -> None:
    table = {**mixture, "model_type": "mine", "architectures": ["Qwen3MoeForCausalLM"]}
    model = config_model(table, "config.json")
    assert model.family == "qwen3_moe" and any("by its class" in note for note in model.notes)


def refusal(table: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        config_model(table, "config.json")
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_an_unknown_model_is_told_whose_keys_it_has(dense: dict[str, Any]) -> None:
    table = {**dense, "model_type": "mine_lm", "architectures": ["MineForCausalLM"]}
    text = refusal(table)
    params = config_model(dense, "config.json").spec.params
    assert "keys are those of llama" in text and f"{params / 1e9:.3g} B parameters" in text
    assert 'set model_type to "llama"' in text and "--params-b" in text
    assert "without mystery_width" in refusal({**table, "mystery_width": 7})


@pytest.mark.parametrize(
    ("keys", "family"),
    [
        ({}, "llama"),
        ({"num_experts": 8, "moe_intermediate_size": 32}, "qwen3_moe"),
        ({"num_experts": 8, "moe_intermediate_size": 32, "n_shared_experts": 1}, "glm4_moe"),
        ({"num_experts": 8, "shared_expert_intermediate_size": 32}, "qwen2_moe"),
        ({"num_local_experts": 8}, "mixtral"),
        ({"kv_lora_rank": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 4}, "deepseek_v3"),
        ({"mamba_d_state": 16}, ""), ({"linear_key_head_dim": 16}, ""), ({"q_lora_rank": 16}, ""),
    ],
)  # fmt: skip
def test_keys_that_tell_a_family(dense: dict[str, Any], keys: dict[str, int], family: str) -> None:
    assert by_keys({**dense, **keys}, "mine") == family


def test_keys_of_no_family_are_refused_by_name(dense: dict[str, Any]) -> None:
    text = refusal({**dense, "model_type": "mine_lm", "architectures": None, "mamba_d_state": 16})
    assert "nearest:" in text and "keys are those of" not in text


def test_a_directory_is_a_model(write: Write, tmp_path: Any, dense: dict[str, Any]) -> None:
    write(dense)
    assert load_config(tmp_path).spec.layers == 3
    quantised = {"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    write(quantised, "hf_quant_config.json")
    assert load_config(tmp_path).quantisation.bits["dense_ffn_params"] == 8


def test_a_download_cache_is_its_snapshot(write: Write, tmp_path: Any, dense: dict[str, Any]) -> None:
    cache = tmp_path / "models--owner--some-model"
    for name in ("aaa", "bbb"):
        (cache / "snapshots" / name).mkdir(parents=True)
        write(dense, f"models--owner--some-model/snapshots/{name}/config.json")
    with pytest.raises(InputError, match="2 snapshots; name one"):
        load_config(cache)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("bbb\n")
    model = load_config(cache)
    assert model.spec.name == "some-model" and "bbb" in model.path


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("adapter_config.json", "base model"), ("params.json", "config.json"), ("x.gguf", "x.gguf"), ("a.txt", ""),
        ("inner/config.json", "inner: name that"),
    ],
)  # fmt: skip
def test_a_directory_without_a_configuration(tmp_path: Any, file: str, words: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("{}")
    with pytest.raises(InputError) as caught:
        load_config(tmp_path)
    assert "no config.json in this directory" in str(caught.value) and words in str(caught.value)


def test_parameters_in_their_publishers_own_layout() -> None:
    assert "publisher's own layout" in refusal({"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128})


def test_the_first_hunyuan_is_a_mixture_or_dense(dense: dict[str, Any]) -> None:
    """One name for both; taken as dense, a mixture would be a twelfth of itself."""
    plain = {**dense, "model_type": "hunyuan", "head_dim": 8, "tie_word_embeddings": True}
    assert config_model(plain, "config.json").spec.routed_expert_params == 0
    mixed = {**plain, "num_experts": 4, "moe_topk": 1, "num_shared_expert": 1}
    spec = config_model(mixed, "config.json").spec
    assert spec.routed_expert_params == 3 * 4 * 3 * 64 * 160
    assert spec.kv_elements_per_token == 3 * 2 * 2 * 8
    shared = config_model({**mixed, "use_cla": True, "cla_share_factor": 2}, "config.json").spec
    assert shared.kv_elements_per_token == 2 * 2 * 2 * 8  # the second layer reads the first one's
    assert spec.attention_params - shared.attention_params == 2 * 64 * 16 + 8


@pytest.mark.parametrize("key", ["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"])
def test_experts_in_a_dense_family_are_refused(dense: dict[str, Any], key: str) -> None:
    assert f"{key} is 8, but llama is a dense family" in refusal({**dense, key: 8})
    assert config_model({**dense, key: 0}, "config.json").spec.layers == 3


_HEAD: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
    "num_attention_heads": 8, "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 1000,
    "draft_vocab_size": 200,
}  # fmt: skip
_QKV = (64 + 2 * 16) * 64


def test_an_eagle_head_has_its_own_small_output_and_its_targets_embedding() -> None:
    found = config_model(_HEAD, "config.json")
    spec = found.spec
    assert found.family == "eagle3" and found.warnings[0].startswith("a drafter")
    assert (spec.embed_params, spec.lm_head_params) == (0, 200 * 64)
    assert spec.attention_params == 2 * _QKV + 64 * 64, "q, k and v read the features and the embedding"
    assert spec.other_params == 3 * 64 * 64 and spec.dense_ffn_params == 3 * 64 * 96
    assert spec.kv_elements_per_token == 2 * 16


def test_an_eagle_head_reads_the_layers_it_names_of_a_target_of_another_width() -> None:
    wide = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 9]}, "target_hidden_size": 128}
    assert config_model({**_HEAD, **wide}, "config.json").spec.other_params == 2 * 128 * 64


def test_a_nested_eagle_head_is_the_same() -> None:
    layers = {key: value for key, value in _HEAD.items() if key not in ("architectures", "draft_vocab_size")}
    nested = {
        "architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3", "draft_vocab_size": 200,
        "transformer_layer_config": layers, "target_hidden_size": None,
    }  # fmt: skip
    assert config_model(nested, "config.json").spec.params == config_model(_HEAD, "config.json").spec.params


def test_a_block_drafter_reads_several_layers_of_its_target() -> None:
    block = {
        **_HEAD, "architectures": ["DFlashDraftModel"], "model_type": "qwen3", "draft_vocab_size": None,
        "num_hidden_layers": 5, "dflash_config": {"mask_token_id": 999, "target_layer_ids": [1, 9, 17, 25, 33]},
    }  # fmt: skip
    spec = config_model(block, "config.json").spec
    assert spec.other_params == 5 * 64 * 64 and spec.lm_head_params == 1000 * 64
    assert spec.attention_params == 5 * (_QKV + 64 * 64 + 2 * 8) and spec.embed_params == 0


def test_windows_of_a_block_drafter() -> None:
    block = {
        **_HEAD, "architectures": ["DFlashDraftModel"], "num_hidden_layers": 3, "sliding_window": 128,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"], "target_layer_ids": [1, 9],
    }  # fmt: skip
    spec = config_model(block, "config.json").spec
    assert spec.kv_windows == ((128, 2 * 32),) and spec.kv_elements_per_token == 32
    assert spec.other_params == 2 * 64 * 64


def test_an_eagle_head_with_latent_attention_has_no_experts() -> None:
    latent = {
        "architectures": ["Eagle3DeepseekV2ForCausalLM"], "model_type": "kimi_k2", "q_lora_rank": 24,
        "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 1,
    }  # fmt: skip
    spec = config_model({**_HEAD, **latent}, "config.json").spec
    reading, rest = 64 * 24 + 64 * (16 + 4), 24 * 8 * 12 + 16 * 8 * 16 + 8 * 8 * 64 + 24 + 16
    assert spec.attention_params == 2 * reading + rest and not spec.is_moe
    assert spec.kv_elements_per_token == 16 + 4


@pytest.mark.parametrize(
    "name", ["LlamaForCausalLMEagle", "EagleLlamaForCausalLM", "EagleSpeculator", "EagleModel", "EagleMistralModel"]
)
def test_a_first_eagle_head(name: str) -> None:
    table = {key: value for key, value in _HEAD.items() if key != "draft_vocab_size"}
    found = config_model({**table, "architectures": [name]}, "config.json")
    if name == "EagleMistralModel":
        assert found.family == "llama"
    else:
        assert found.family == "eagle" and found.spec.other_params == 2 * 64 * 64
        assert found.spec.attention_params == _QKV + 64 * 64


def test_a_model_that_is_called_eagle_is_no_drafter() -> None:
    text = {key: value for key, value in _HEAD.items() if key not in ("draft_vocab_size", "architectures")}
    vision = {"architectures": ["Eagle2_5_VLForConditionalGeneration"], "model_type": "eagle_2_5_vl"}
    assert config_model({**vision, "text_config": text}, "config.json").family == "llama"
