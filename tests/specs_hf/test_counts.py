"""Parts, caches and states by the formulas, worked out by hand for small shapes."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.specs.hf import config_model


def spec_of(table: dict[str, Any], **changes: Any) -> Any:
    return config_model({**table, **changes}, "config.json").spec


def test_dense_parts(dense: dict[str, Any]) -> None:
    spec = spec_of(dense)
    assert spec.embed_params == spec.lm_head_params == 64_000
    assert spec.attention_params == 3 * (64 * 64 + 2 * 64 * 16 + 64 * 64)
    assert spec.dense_ffn_params == 3 * 3 * 64 * 160
    assert spec.norm_params == 3 * 2 * 64 + 64
    assert spec.kv_elements_per_token == 3 * 2 * 2 * 8
    assert (spec.attention_layers, spec.query_width, spec.kv_heads) == (3, 64, 2)
    assert spec.max_context_tokens == 4096


def test_head_dim_need_not_divide_the_width(dense: dict[str, Any]) -> None:
    spec = spec_of(dense, head_dim=16)
    assert spec.attention_params == 3 * (2 * 64 * 128 + 2 * 64 * 32)
    assert spec.kv_elements_per_token == 3 * 2 * 2 * 16


def test_mixture_parts_and_readings(mixture: dict[str, Any]) -> None:
    model = config_model(mixture, "config.json")
    spec = model.spec
    assert (spec.experts, spec.experts_per_token, spec.moe_layers) == (8, 2, 4)
    assert spec.params_per_expert == 3 * 64 * 32
    assert spec.router_params == 4 * 8 * 64
    assert spec.routed_expert_params == 4 * 8 * 3 * 64 * 32
    readings = model.active_params
    assert readings["with_head"] - readings["no_embedding"] == spec.lm_head_params
    assert readings["with_both"] - readings["with_head"] == spec.embed_params


@pytest.mark.parametrize(
    ("changes", "layers"),
    [({"decoder_sparse_step": 2}, 2), ({"mlp_only_layers": [0, 1, 3]}, 1), ({"mlp_only_layers": []}, 4)],
)
def test_which_layers_are_mixtures(mixture: dict[str, Any], changes: dict[str, Any], layers: int) -> None:
    spec = spec_of(mixture, **changes)
    assert spec.moe_layers == layers
    assert spec.dense_ffn_params == (4 - layers) * 3 * 64 * 96


def test_spellings_of_experts_are_one(mixture: dict[str, Any]) -> None:
    spelled = {**mixture, "num_local_experts": mixture.pop("num_experts")}
    assert spec_of(spelled).experts == 8
    assert spec_of({**spelled, "num_experts": 8}).experts == 8


def test_tied_table_is_counted_once(dense: dict[str, Any]) -> None:
    spec = spec_of(dense, tie_word_embeddings=True)
    assert (spec.tied, spec.lm_head_params, spec.head_params) == (True, 0, 64_000)


def test_windows_are_apart_from_the_full_cache() -> None:
    spec = spec_of(
        {
            "model_type": "gemma3_text", "hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 16, "num_hidden_layers": 12, "vocab_size": 100,
            "sliding_window": 32, "sliding_window_pattern": 6,
        }
    )  # fmt: skip
    assert spec.kv_elements_per_token == 2 * 64
    assert spec.kv_windows == ((32, 10 * 64),)
    assert spec.kv_elements(100) == 2 * 64 * 100 + 10 * 64 * 32


def test_latent_attention_caches_rank_and_rotation() -> None:
    model = config_model(
        {
            "model_type": "deepseek_v32", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
            "num_attention_heads": 8, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 4, "v_head_dim": 8, "index_n_heads": 4, "index_head_dim": 8, "vocab_size": 100,
            "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16,
            "first_k_dense_replace": 1, "num_nextn_predict_layers": 1,
        },
        "config.json",
    )  # fmt: skip
    assert model.spec.kv_elements_per_token == 4 * (16 + 4)
    assert model.spec.kv_heads == 1
    assert model.index_elements_per_token == 4 * 8
    assert model.spec.moe_layers == 3
    assert model.mtp_params is not None and model.mtp_params > model.spec.params_per_expert * 8


def test_gated_delta_state() -> None:
    spec = spec_of(
        {
            "model_type": "qwen3_next", "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 8,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 16,
            "linear_conv_kernel_dim": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16, "vocab_size": 100,
        }
    )  # fmt: skip
    filtered = 2 * 2 * 8 + 4 * 16
    assert spec.state_elements_per_sequence == 6 * 4 * 8 * 16
    assert spec.conv_state_elements_per_sequence == 6 * filtered * 3
    assert spec.state_bits == 32
    layer = 64 * filtered + 64 * 64 + 2 * 64 * 4 + filtered * 4 + 2 * 4 + 16 + 64 * 64
    assert spec.linear_attention_params == 6 * layer
    assert spec.attention_params == 2 * (64 * 128 + 2 * 64 * 32 + 64 * 64 + 32)
    assert spec.shared_expert_params == 8 * (3 * 64 * 16 + 64)


def test_lightning_attention_by_its_list() -> None:
    spec = spec_of(
        {
            "model_type": "minimax_text_01", "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 4,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 4,
            "num_experts_per_tok": 2, "attn_type_list": [0, 0, 0, 1], "vocab_size": 100,
        }
    )  # fmt: skip
    assert spec.linear_attention_params == 3 * (5 * 64 * 32 + 32)
    assert spec.state_elements_per_sequence == 3 * 4 * 8 * 8
    assert spec.kv_elements_per_token == 2 * 2 * 8


LLADA = {
    "model_type": "llada", "d_model": 64, "n_heads": 8, "n_kv_heads": 4, "n_layers": 2, "mlp_hidden_size": 96,
    "vocab_size": 100, "embedding_size": 128, "weight_tying": False, "include_bias": False, "block_type": "llama",
}  # fmt: skip


def test_llada_has_its_own_spellings() -> None:
    spec = spec_of(LLADA)
    assert spec.vocab_size == 128
    assert spec.params == 2 * 128 * 64 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96 + 128) + 64
    assert spec_of(LLADA, n_kv_heads=None).kv_elements_per_token == 2 * 2 * 64


def test_llada_mixture_shares_the_type() -> None:
    spec = spec_of(
        {
            "model_type": "llada", "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 8,
            "num_hidden_layers": 2, "num_experts": 4, "num_experts_per_tok": 2, "expert_intermediate_size": 16,
            "dense_intermediate_size": 48, "moe_layer_freq": [0, 1], "qk_layernorm": True, "vocab_size": 100,
        }
    )  # fmt: skip
    assert (spec.moe_layers, spec.dense_ffn_params) == (1, 3 * 64 * 48)
    assert spec.attention_params == 2 * (4 * 64 * 64 + 2 * 8)


def block(group: int | None, factor: float | None) -> dict[str, Any]:
    return {
        "attention": {"n_heads_in_group": group, "no_op": group is None, "replace_with_linear": False},
        "ffn": {"ffn_mult": factor, "no_op": factor is None, "replace_with_linear": False},
    }


def test_nas_layers_differ() -> None:
    spec = spec_of(
        {
            "model_type": "nemotron-nas", "hidden_size": 256, "num_attention_heads": 8, "num_hidden_layers": 3,
            "vocab_size": 100, "intermediate_size": None, "num_key_value_heads": None,
            "block_configs": [block(4, 2.0), block(None, 1.0), block(8, None)],
        }
    )  # fmt: skip
    # int(2 x 2 x 256 / 3) = 341 and int(2 x 256 / 3) = 170, rounded up to multiples of 256
    assert spec.dense_ffn_params == 3 * 256 * (512 + 256)
    assert spec.attention_params == 2 * 2 * 256 * 256 + 2 * 256 * 32 * (2 + 1)
    assert spec.norm_params == 4 * 256 + 256
    assert spec.kv_elements_per_token == 2 * 32 * (2 + 1)
    assert (spec.layers, spec.attention_layers) == (3, 2)


def test_nemotron_pattern_of_letters() -> None:
    table = {
        "model_type": "nemotron_h", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 16, "intermediate_size": 96, "mamba_num_heads": 8, "mamba_head_dim": 8, "ssm_state_size": 16,
        "n_groups": 2, "conv_kernel": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "vocab_size": 100,
        "moe_intermediate_size": 32, "moe_shared_expert_intermediate_size": 48, "moe_latent_size": 16,
    }  # fmt: skip
    spec = spec_of(table, hybrid_override_pattern="M-M*E")
    assert (spec.layers, spec.attention_layers, spec.moe_layers) == (5, 1, 1)
    assert spec.dense_ffn_params == 2 * 64 * 96
    assert spec.params_per_expert == 2 * 16 * 32
    assert spec.shared_expert_params == 2 * 64 * 48 + 2 * 64 * 16
    assert spec.state_elements_per_sequence == 2 * 8 * 8 * 16
    assert spec_of(table, layers_block_type=["mamba", "mlp", "mamba", "attention", "moe"]).params == spec.params


def test_per_layer_embeddings_are_never_read_whole() -> None:
    spec = spec_of(
        {
            "model_type": "gemma4_text", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 6,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "global_head_dim": 32,
            "vocab_size": 100, "vocab_size_per_layer_input": 200, "hidden_size_per_layer_input": 8,
        }
    )  # fmt: skip
    assert spec.embed_params == 200 * 6 * 8
    assert spec.lm_head_params == 6400
    assert spec.read_every_pass_params == spec.params - spec.embed_params


def test_qwen_windows_only_when_used(dense: dict[str, Any]) -> None:
    table = {**dense, "model_type": "qwen2", "sliding_window": 16, "max_window_layers": 1}
    assert spec_of(table, use_sliding_window=False).kv_windows == ()
    assert spec_of(table, use_sliding_window=True).kv_windows == ((16, 2 * 32),)
