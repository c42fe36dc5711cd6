"""A model from its own configuration: cache sizes and bytes of published cases, and how its weights are stored.

The configurations are written here from the stated shapes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cost import Machine, memory_check, price
from clover_sim.cost.machine import read_bytes
from clover_sim.errors import InputError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import hardware_from_table, load_engine, load_hardware, load_model
from clover_sim.specs.checkpoint import Checkpoint, load_checkpoint

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072, "vocab_size": 128256,
}  # fmt: skip
GIB, MIB = 2**30, 2**20


def read(tmp_path: Path, table: dict[str, Any]) -> Checkpoint:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(table))
    return load_checkpoint(str(tmp_path))


def cache_bytes(found: Checkpoint, tokens: int) -> float:
    return found.spec.kv_elements(tokens) * 2


# vllm-project/vllm issue 10517: an 8B model on a 24 GB card; the pool the engine printed, and what fits into it.
def test_tokens_in_a_pool_of_llama_3_1_8b(tmp_path: Path) -> None:
    found = read(tmp_path, LLAMA)
    per_token = cache_bytes(found, 1)
    assert per_token == 131_072
    assert 23_500 <= 2.89 * GIB / per_token <= 23_700
    assert 31_050 <= 3.81 * GIB / per_token <= 31_300
    assert cache_bytes(found, 29_000) > 2.89 * GIB
    assert 3.81 * GIB / cache_bytes(found, 20_000) == pytest.approx(1.56, abs=0.01)
    m = Machine(found.spec, load_hardware("rtx-3090"), load_engine("vllm"))
    assert memory_check(m, 1, 20_000).fits


# ollama/ollama PR 17037: a sparse text_config; the family's heads and pattern are filled in, and it says so.
def test_a_gemma_3_4b_without_head_counts(tmp_path: Path) -> None:
    text = {
        "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
        "sliding_window": 1024,
    }  # fmt: skip
    vision = {"model_type": "siglip_vision_model", "hidden_size": 1152, "num_attention_heads": 16, "image_size": 896,
              "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14}  # fmt: skip
    found = read(tmp_path, {"model_type": "gemma3", "text_config": text, "vision_config": vision})
    full = found.spec.kv_elements_per_token * 131_072 * 2 / MIB
    window = cache_bytes(found, 131_072) / MIB - full
    assert full == 2560
    assert 115 <= window <= 175
    assert 2670 <= full + window <= 2760
    assert any("num_key_value_heads" in note for note in found.notes)


# unslothai/unsloth PR 4757: one formula for every model was wrong for each of these.
@pytest.mark.parametrize(
    ("table", "tokens", "low", "high"),
    [
        ({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
          "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
          "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
          "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
          "vocab_size": 129280}, 163_840, 10.70, 10.74),
        ({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
          "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
          "tie_word_embeddings": True}, 40_960, 4.37, 4.38),
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 5376,
          "intermediate_size": 21504, "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
          "head_dim": 128, "sliding_window": 1024}}, 131_072, 10.38, 10.70),
        ({"model_type": "qwen3_5", "text_config": {"num_hidden_layers": 64, "full_attention_interval": 4,
          "num_key_value_heads": 4, "head_dim": 256, "hidden_size": 5120, "num_attention_heads": 24,
          "intermediate_size": 17408, "vocab_size": 248320}}, 262_144, 15.95, 16.60),
    ],
    ids=["latent", "explicit-head-dim", "windows", "hybrid"],
)  # fmt: skip
def test_cache_at_native_context(tmp_path: Path, table: dict[str, Any], tokens: int, low: float, high: float) -> None:
    assert low <= cache_bytes(read(tmp_path, table), tokens) / GIB <= high


# NVIDIA/dgx-spark-playbooks issue 79: 4.0 to 4.2 tokens/s of a 70B model in NVFP4 is what the memory allows.
def test_a_70b_model_in_nvfp4_on_a_dgx_spark(tmp_path: Path) -> None:
    table = {**LLAMA, "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64,
             "num_hidden_layers": 80, "head_dim": 128}  # fmt: skip
    table["quantization_config"] = {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"],
    }  # fmt: skip
    found = read(tmp_path, table)
    assert found.precision is not None and found.precision.rates[0] == "fp4"
    size = read_bytes(found.spec, found.precision)
    assert 39.8e9 <= size <= 41.4e9
    spark = hardware_from_table(
        {"name": "DGX Spark GB10", "memory_gib": 119.2, "memory_bandwidth_gbs": 273, "bf16_tflops": 62.5,
         "fp4_tflops": 250}, "spark.toml"
    )  # fmt: skip
    assert 6.5 <= spark.bandwidth_bytes_per_s / size <= 7.0
    step = price(Machine(found.spec, spark, load_engine("vllm"), found.precision), PassShape(Kind.DECODE, (1,), 768))
    assert 3.6 <= 1 / step.latency_s <= 6.8
    assert step.bound == "memory"


def test_weights_keep_the_format_of_their_file(tmp_path: Path) -> None:
    plain = read(tmp_path, LLAMA)
    assert plain.precision is None
    mixed = read(tmp_path, {**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}})
    assert mixed.precision is not None and mixed.precision.rates == ("bf16",)
    assert 4.1 < dict(mixed.precision.part_bits)["dense_ffn_params"] < 4.2
    picture = memory_check(Machine(mixed.spec, load_hardware("h100"), load_engine("vllm"), mixed.precision))
    assert picture.weight_bytes == pytest.approx(5.73e9, rel=0.01)  # the published AWQ files of this model


def test_a_preset_and_its_configuration_agree(tmp_path: Path) -> None:
    assert read(tmp_path, LLAMA).spec.params == load_model("llama-3.1-8b").params
    assert load_model(str(tmp_path)).kv_elements_per_token == load_model("llama-3.1-8b").kv_elements_per_token


def test_a_model_file_in_json_is_read_by_its_own_keys(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"name": "mine", "other_params": 1000, "layers": 2}')
    assert load_model(str(path)).params == 1000


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1, "a": 2}', "[" * 10_000, "1" * 5000, "\x00"])
def test_a_file_that_is_no_configuration_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    assert "\n" not in str(caught.value)


def test_one_mixer_a_layer_pays_half_a_layer() -> None:
    nano = load_model("nemotron-3-nano-30b-a3b")
    assert nano.blocks == nano.layers == 52
    m = Machine(nano, load_hardware("b200"), load_engine("kernels"))
    assert m.target_rates.layers_s == pytest.approx(26 * 32e-6 + nano.moe_layers * 5.1e-9 * nano.hidden_size)


def test_python_prices_a_checkpoint_in_its_own_format_as_the_command_line_does(tmp_path, capsys) -> None:
    import clover_sim as cs
    from clover_sim.cli import main

    stored = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": stored}))
    flags = ["--model", str(tmp_path), "--gpu", "h100", "--tokens", "32", "-s", "ar", "--format", "json"]
    assert main(["compare", *flags]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["compare", *flags, "--precision", "auto"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == told["rows"]
    asked = {"model": str(tmp_path), "gpu": "h100"}
    found = cs.compare("ar", tokens=32, **asked)
    assert found.rows[0]["latency_s"] == told["rows"][0]["latency_s"]
    assert found.settings["precision"] == told["rules"]["precision"] == "fp8"
    swept = cs.sweep("ar", tokens=32, vary="batch_size=1,2", machine=asked)
    assert swept.rows[0]["latency_s"] == found.rows[0]["latency_s"]
    step = cs.price(contexts=16, **asked).passes[0].price.latency_s
    assert step == pytest.approx(found.rows[0]["latency_s"] / 32, rel=0.01)
    plain = cs.compare("ar", tokens=32, precision="bf16", **asked)
    assert plain.rows[0]["latency_s"] > 1.2 * found.rows[0]["latency_s"]
