"""How weights are stored: real bits of each format, what is exempt, per-layer targets, the cache."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs.hf import Quantisation, config_model
from clover_sim.specs.hf.quant_rules import means, simple, spellings


def stored(table: dict[str, Any], block: dict[str, Any] | None = None, **changes: Any) -> Quantisation:
    changed = {**table, **changes}
    if block is not None:
        changed["quantization_config"] = block
    return config_model(changed, "config.json").quantisation


def weights(bits: int, kind: str, **more: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": {"num_bits": bits, "type": kind, **more}}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]}


FORMATS: list[tuple[dict[str, Any], float, str]] = [
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 16384, "fp8"),
    ({"quant_method": "fp8"}, 8, "fp8"),
    ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 4 + 20 / 128, "bf16"),
    ({"quant_method": "gptq", "bits": 4, "group_size": 32}, 4 + 20 / 32, "bf16"),
    ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 8, "bf16"),
    (weights(4, "int", group_size=32, symmetric=True), 4.5, "bf16"),
    (weights(4, "int", group_size=128, symmetric=False), 4 + 20 / 128, "bf16"),
    (weights(4, "float", group_size=16), 4.5, "bf16"),
    ({**weights(4, "float", group_size=32), "format": "mxfp4-pack-quantized"}, 4.25, "bf16"),
    (weights(8, "float", block_structure=[128, 128]), 8 + 32 / 16384, "bf16"),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True}, 4.5, "bf16"),
    (
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
        4 + 8 / 64 + 32 / 16384,
        "bf16",
    ),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8, "int8"),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4.5, "fp4"),
    ({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ"}, 4 + 16 / 128, "bf16"),
    ({"quant_method": "modelopt", "quant_algo": "MXFP8"}, 8.25, "fp8"),
]


@pytest.mark.parametrize(("block", "bits", "rate"), FORMATS, ids=range(len(FORMATS)))
def test_bits_of_a_format(dense: dict[str, Any], block: dict[str, Any], bits: float, rate: str) -> None:
    found = stored(dense, block)
    assert found.bits["attention_params"] == pytest.approx(bits)
    assert found.bits["dense_ffn_params"] == pytest.approx(bits)
    assert found.bits["embed_params"] == found.bits["lm_head_params"] == found.bits["norm_params"] == 16
    assert found.rates["dense_ffn_params"] == rate
    assert found.is_quantised


def test_plain_weights(dense: dict[str, Any]) -> None:
    found = stored(dense)
    assert (found.method, found.is_quantised) == ("none", False)
    assert found.weight_bytes == 2 * config_model(dense, "config.json").spec.params


def test_bytes_add_up(mixture: dict[str, Any]) -> None:
    model = config_model({**mixture, "quantization_config": {"quant_method": "fp8"}}, "config.json")
    total = sum(getattr(model.spec, part) * bits for part, bits in model.quantisation.bits.items())
    assert model.quantisation.weight_bytes == pytest.approx(total / 8)


def test_routers_stay_plain(mixture: dict[str, Any]) -> None:
    found = stored(mixture, {"quant_method": "fp8"})
    assert found.bits["router_params"] == 16
    assert found.bits["routed_expert_params"] == 8


def test_mxfp4_means_experts_only(mixture: dict[str, Any]) -> None:
    found = stored(mixture, {"quant_method": "mxfp4"})
    assert found.bits["routed_expert_params"] == 4.25
    assert found.bits["attention_params"] == 16


def test_exempt_by_name_pattern_and_expression(mixture: dict[str, Any]) -> None:
    for name in ("self_attn", "re:.*self_attn.*", "model.layers.*.self_attn", "*.self_attn.*"):
        found = stored(mixture, {"quant_method": "fp8", "modules_to_not_convert": [name]})
        assert found.bits["attention_params"] == 16, name
        assert found.bits["routed_expert_params"] == 8
        assert "self_attn.q_proj" in found.exempt


def test_exempt_layers_count_by_weight(dense: dict[str, Any]) -> None:
    block = {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp", "model.layers.1.mlp.down_proj"]}
    found = stored(dense, block)
    assert found.bits["dense_ffn_params"] == pytest.approx((16 + (16 + 8 + 8) / 3 + 8) / 3)


def test_norms_that_are_listed_exempt_nothing(dense: dict[str, Any]) -> None:
    names = ["model.layers.0.input_layernorm", "model.layers.0.self_attn.q_norm", "model.layers.1.mlp.gate.bias"]
    assert stored(dense, {"quant_method": "fp8", "modules_to_not_convert": names}).bits["attention_params"] == 8


def test_mixed_precision_by_layer(mixture: dict[str, Any]) -> None:
    targets: dict[str, Any] = {f"model.layers.{i}.mlp.experts": {"quant_algo": "NVFP4"} for i in range(4)}
    targets["model.layers.0.self_attn.qkv_proj"] = {"quant_algo": "FP8"}
    targets["lm_head"] = {"quant_algo": "FP8"}
    block = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": targets}
    found = stored(mixture, block)
    assert found.bits["routed_expert_params"] == 4.5
    assert found.bits["lm_head_params"] == 8
    assert 8 < found.bits["attention_params"] < 16
    assert found.rates["attention_params"] == "bf16"


def test_one_expert_a_line_is_read(mixture: dict[str, Any]) -> None:
    targets = {
        f"language_model.model.layers.{i}.block_sparse_moe.experts.{e}.w{w}": {"quant_algo": "NVFP4"}
        for i in range(4) for e in range(8) for w in (1, 2, 3)
    }  # fmt: skip
    block = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": targets}
    assert stored(mixture, block).bits["routed_expert_params"] == 4.5


def test_groups_with_targets_of_their_own(mixture: dict[str, Any]) -> None:
    groups = {
        "a": {"targets": ["re:.*attn.*proj$"], "weights": {"num_bits": 8, "type": "float"}},
        "b": {
            "targets": ["re:.*mlp.*(gate|up|down)_proj$"],
            "weights": {"num_bits": 4, "type": "float", "group_size": 16},
        },
    }
    found = stored(mixture, {"quant_method": "compressed-tensors", "config_groups": groups})
    assert found.bits["attention_params"] == pytest.approx(8, abs=0.1)
    assert found.bits["routed_expert_params"] == 4.5
    assert found.bits["lm_head_params"] == 16


def test_head_is_quantised_where_all_linear_modules_are(dense: dict[str, Any]) -> None:
    block = weights(8, "float")
    block["ignore"] = []
    assert stored(dense, block).bits["lm_head_params"] == 8


def test_mlx_covers_embedding_and_has_overrides(mixture: dict[str, Any]) -> None:
    block: dict[str, Any] = {"bits": 4, "group_size": 64}
    block.update({f"model.layers.{i}.mlp.gate": {"bits": 8, "group_size": 64} for i in range(4)})
    found = stored(mixture, None, quantization=block, quantization_config=block)
    assert found.method == "mlx"
    assert found.bits["embed_params"] == found.bits["lm_head_params"] == 4.5
    assert found.bits["router_params"] == 8.5


def test_four_bit_experts_by_their_own_key(mixture: dict[str, Any]) -> None:
    found = stored(mixture, {"quant_method": "fp8"}, expert_dtype="fp4")
    assert found.bits["routed_expert_params"] == 4.25
    assert found.nominal_bits["routed_expert_params"] == 4
    assert found.bits["attention_params"] == pytest.approx(8, abs=0.02)  # the norms of q and k stay plain


def test_block_within_the_text_config(dense: dict[str, Any]) -> None:
    inner = {**dense, "quantization_config": {"quant_method": "fp8"}}
    model = config_model({"model_type": "house_vl", "text_config": inner}, "config.json")
    assert model.quantisation.bits["attention_params"] == 8


@pytest.mark.parametrize(
    ("value", "name"),
    [("FP8", "fp8"), ({"num_bits": 8, "type": "float"}, "fp8"), ({"num_bits": 8, "type": "int"}, "int8"), (None, None)],
)
def test_cache_format(dense: dict[str, Any], value: Any, name: str | None) -> None:
    assert stored(dense, {"quant_method": "fp8", "kv_cache_scheme": value}).kv_cache == name


def test_unknown_method_is_a_warning(dense: dict[str, Any]) -> None:
    model = config_model({**dense, "quantization_config": {"quant_method": "house"}}, "config.json")
    assert not model.quantisation.is_quantised
    assert any("'house' is not known" in warning for warning in model.warnings)


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ({"quant_method": "awq", "bits": "4", "group_size": 128}, "quantization_config.bits is '4'"),
        ({"quant_method": "awq", "bits": 99}, "quantization_config.bits is 99"),
        ({"quant_method": "fp8", "weight_block_size": [0, 128]}, "weight_block_size"),
        ({"quant_method": "fp8", "modules_to_not_convert": [1]}, "holds 1 at 0"),
        ({"quant_method": "compressed-tensors"}, "config_groups is missing"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": 1}}, "config_groups.g is 1"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:("]}, "regular expression"),
        ({"quant_method": 4}, "quant_method is 4"),
        ({"quant_method": "fp8", "kv_cache_scheme": "FP3"}, "kv_cache_scheme is 'FP3'"),
    ],
)
def test_blocks_that_cannot_be_right(dense: dict[str, Any], block: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as error:
        stored(dense, block)
    assert word in str(error.value) and "\n" not in str(error.value)


def test_names_in_one_spelling() -> None:
    assert simple("model.language_model.layers.3.linear_attn.in_proj_qkvz")[1].rest == "linear_attn.in_proj_z"
    assert simple("backbone.layers.4.mixer.in_proj")[0] == (4, "mixer.in_proj")
    assert simple("model.layers.7*")[0] == (7, "*")
    assert simple("model.layers.0.post_attention_layernorm") == []
    assert "mixer.in_proj" in spellings("linear_attn.in_proj")
    assert not means("gate", "mlp.gate_proj")
