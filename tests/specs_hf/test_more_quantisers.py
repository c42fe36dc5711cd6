"""Blocks of quantisers beside the usual ones: bits worked out by hand, and rules by layer."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.specs.hf import config_model

INT8_WEIGHTS = {"num_bits": 8, "type": "float", "strategy": "channel"}


def stored(table: dict[str, Any], block: dict[str, Any]) -> Any:
    return config_model({**table, "quantization_config": block}, "config.json").quantisation


def torchao(kind: str, **data: int) -> dict[str, Any]:
    return {"quant_method": "torchao", "quant_type": {"default": {"_type": kind, "_data": data}}}


def quark(weight: dict[str, Any], inputs: str | None = None) -> dict[str, Any]:
    read = {"input_tensors": {"dtype": inputs}} if inputs else {}
    return {"quant_method": "quark", "global_quant_config": {"weight": weight, **read}, "exclude": ["lm_head"]}


@pytest.mark.parametrize(
    ("block", "bits", "rate"),
    [
        (torchao("Int4WeightOnlyConfig", group_size=64), 4 + 32 / 64, "bf16"),
        (torchao("Int8DynamicActivationInt8WeightConfig"), 8, "int8"),
        (torchao("Int8DynamicActivationInt4WeightConfig"), 4 + 32 / 32, "bf16"),
        (torchao("Float8DynamicActivationFloat8WeightConfig"), 8, "fp8"),
        (torchao("Float8WeightOnlyConfig"), 8, "bf16"),
        ({"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 128}},
         4 + 32 / 128, "bf16"),
        (quark({"dtype": "fp4", "group_size": 32}, "fp4"), 4 + 8 / 32, "fp4"),
        (quark({"dtype": "fp8_e4m3"}, "fp8_e4m3"), 8, "fp8"),
        (quark({"dtype": "uint4", "group_size": 128}), 4 + 20 / 128, "bf16"),
        ({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}, 4.5, "bf16"),
        ({"quant_method": "quanto", "weights": "int4"}, 4 + 32 / 128, "bf16"),
        ({"quant_method": "quanto", "weights": "int8"}, 8, "bf16"),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 32, "data_type": "mx_fp", "act_bits": 4}, 4.25, "fp4"),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}, 4 + 20 / 128, "bf16"),
        ({"quant_method": "aqlm", "nbits_per_codebook": 16, "num_codebooks": 1, "in_group_size": 8}, 2, "bf16"),
        ({"quant_method": "fp_quant", "forward_dtype": "nvfp4"}, 4.5, "fp4"),
        ({"quant_method": "bitnet"}, 2, "bf16"), ({"quant_method": "eetq"}, 8, "bf16"),
        ({"quant_method": "w8a8_int8"}, 8, "int8"), ({"quant_method": "mxfp8"}, 8.25, "fp8"),
        ({"quant_method": "moe_wna16", "bits": 4, "group_size": 128}, 4 + 20 / 128, "bf16"),
    ],
)  # fmt: skip
def test_bits_of_a_matrix(dense: dict[str, Any], block: dict[str, Any], bits: float, rate: str) -> None:
    found = stored(dense, block)
    assert found.bits["dense_ffn_params"] == pytest.approx(bits)
    assert found.rates["dense_ffn_params"] == rate and found.bits["lm_head_params"] == 16 and not found.note


def test_experts_in_integers_and_the_rest_in_fp8(mixture: dict[str, Any]) -> None:
    found = stored(mixture, {"quant_method": "w4afp8", "weight_block_size": [128, 128]})
    assert found.bits["routed_expert_params"] == pytest.approx(4 + 16 / 128)
    assert found.bits["attention_params"] == pytest.approx(8, abs=0.02)  # norms of q and k stay in 16 bits


def test_patterns_of_gptq(dense: dict[str, Any]) -> None:
    """Three matrices as wide as each other: one of them in 8 bits, attention in 16."""
    dynamic = {"-:.*self_attn.*": {}, "+:.*down_proj.*": {"bits": 8}}
    found = stored(dense, {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": dynamic})
    assert found.bits["attention_params"] == 16
    assert found.bits["dense_ffn_params"] == pytest.approx((2 * (4 + 20 / 128) + 8 + 24 / 128) / 3)


def test_modules_of_auto_round_with_other_bits(dense: dict[str, Any]) -> None:
    extra = {"model.layers.0.mlp.up_proj": {"bits": 16}, "model.layers.1.mlp.up_proj": {"bits": 8}}
    block = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config": extra}
    found = stored(dense, block).bits["dense_ffn_params"]
    assert found == pytest.approx((7 * (4 + 20 / 128) + 16 + 8 + 24 / 128) / 9)


@pytest.mark.parametrize("pattern", [r"re:.*layers\.1\..*", r"re:model\.layers\.[1]\.mlp.*", "model.layers.1.mlp"])
def test_a_pattern_may_mean_one_layer_of_three(dense: dict[str, Any], pattern: str) -> None:
    groups = {"group_0": {"targets": ["Linear"], "weights": INT8_WEIGHTS}}
    block = {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head", pattern]}
    assert stored(dense, block).bits["dense_ffn_params"] == pytest.approx((16 + 8 + 8) / 3)


def test_what_is_not_known_is_said(dense: dict[str, Any]) -> None:
    assert "taken as 16-bit" in stored(dense, torchao("MysteryConfig")).note
    assert "taken as 16-bit" in stored(dense, quark({"dtype": "mystery"})).note
