"""Engine files: which constants hold where, and what a file may say."""

from __future__ import annotations

import pytest

from clover_sim.errors import InputError, UsageError
from clover_sim.specs import (
    engine_from_table,
    kv_bits,
    list_engines,
    list_hardware,
    load_engine,
    load_hardware,
    weight_precision,
)


def test_the_engines_that_are_there() -> None:
    wanted = {"vllm", "sglang", "trtllm", "llama.cpp", "mlx", "kernels", "ideal", "hf"}
    assert wanted <= set(list_engines())
    for name in list_engines():
        engine = load_engine(name)
        assert engine.name == name and engine.sources


def test_every_engine_has_constants_for_all_hardware() -> None:
    for engine in map(load_engine, list_engines()):
        for name in list_hardware():
            c = engine.constants(load_hardware(name))
            assert c.band_dense[0] <= 1 <= c.band_dense[1]


@pytest.mark.parametrize(
    ("engine", "gpu", "field", "value"),
    [
        ("sglang", "h200", "eta", 0.83),
        ("sglang", "b200", "eta_experts", 0.96),
        ("kernels", "l40s", "allreduce_rank_s", 2.8e-6),
        ("kernels", "h200", "pass_s", 0.0),
        ("vllm", "b200", "pass_s", 0.65e-3),
        ("vllm", "b200", "wide_pass_s", 0.7e-3),
        ("mlx", "m3-ultra", "moe_layer_s", 258e-6),
        ("llama.cpp", "m3-ultra", "eta", 0.82),
        ("llama.cpp", "rx-7900-xtx", "mfu", 0.10),
        ("llama.cpp", "rtx-4090", "pass_s", 1.7e-3),
        ("vllm", "strix-halo", "moe_layer_s", 650e-6),
        ("kernels", "a100", "layer_s", 51e-6),
        ("vllm", "a100", "eta", 0.78),
    ],
)
def test_constants_by_class_of_hardware(engine: str, gpu: str, field: str, value: float) -> None:
    assert getattr(load_engine(engine).constants(load_hardware(gpu)), field) == value


def test_later_overrides_win() -> None:
    engine = engine_from_table({"name": "e", "eta": 0.5, "when": {"nvidia": {"eta": 0.6}, "h200": {"eta": 0.7}}}, "e")
    assert engine.constants(load_hardware("h200")).eta == 0.7
    assert engine.constants(load_hardware("h100")).eta == 0.6
    assert engine.constants(load_hardware("mi300x")).eta == 0.5


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"etta": 1}, "did you mean 'eta'"),
        ({"eta": 1.5}, "at most 1"),
        ({"eta": 0}, "above 0"),
        ({"layer_s": -1e-6}, "layer_s is -1e-06"),
        ({"band_moe": [1.1, 1.2]}, "low factor up to 1"),
        ({"band_moe": 1}, "low and a high"),
        ({"when": 1}, "expected tables"),
        ({"when": {"h200": 1}}, "expected a table"),
        ({"when": {"h200": {"layers": 1}}}, "unknown key 'layers'"),
        ({"when": {"h200": {"eta": 2}}}, "at most 1"),
    ],
)
def test_a_bad_engine_is_refused_in_one_line(table: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        engine_from_table({"name": "e", **table}, "engine.toml")
    assert words in str(caught.value) and str(caught.value).startswith("engine.toml: ")
    assert "\n" not in str(caught.value)


def test_an_unknown_engine() -> None:
    with pytest.raises(UsageError, match="did you mean 'sglang'"):
        load_engine("sglan")


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("bf16", 16),
        ("BF16", 16),
        ("fp8", 8.06),
        ("int8", 8.03),
        ("int4", 4.15),
        ("nvfp4", 4.5),
        ("mxfp4", 4.25),
        ("6.5625", 6.5625),
    ],
)
def test_bits_a_weight(name: str, bits: float) -> None:
    assert weight_precision(name).bits == bits


@pytest.mark.parametrize("name", ["fp9", "", "0.5", "nan", "inf", "-4", "64"])
def test_bad_precisions(name: str) -> None:
    with pytest.raises(UsageError):
        weight_precision(name)
    with pytest.raises(UsageError):
        kv_bits(name)


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        ("bfloat16 BF16 float16 fp16 half f16 auto", "bf16"), ("fp8_e4m3 fp8-e4m3 FP8_E5M2 float8_e4m3fn", "fp8"),
        ("awq AWQ gptq w4a16 W4A16 gptq-int4 int4_awq awq_marlin", "int4"), ("w8a16 gptq_int8", "int8"),
        ("NVFP4 modelopt_fp4", "nvfp4"), ("MXFP4", "mxfp4"),
    ],
)  # fmt: skip
def test_other_names_of_one_layout(names: str, meant: str) -> None:
    for name in names.split():
        assert weight_precision(name) is weight_precision(meant)


@pytest.mark.parametrize("name", ["q4_k_m", "q4-k-m", "Q4_K_M"])
def test_a_mixture_of_gguf_is_its_published_size(name: str) -> None:
    # bartowski/Qwen2.5-32B-Instruct-GGUF: Q4_K_M has 19.85 GB for 32.76 B parameters
    assert weight_precision(name).bits == pytest.approx(19.85e9 * 8 / 32.76e9, rel=0.01)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("fp4", "nearest: nvfp4 or mxfp4"), ("nf4", "nearest: int4"), ("w8a8", "nearest: fp8"),
        ("4bit", "nearest: int4"), ("fp32", "nearest: 32"), ("bitsandbytes", "nearest: int4"),
        ("q4_k", "did you mean 'q4-k-"), ("in4", "did you mean 'int4'"), ("something", "known: bf16"),
    ],
)  # fmt: skip
def test_what_has_no_exact_meaning_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError, match=near) as caught:
        weight_precision(name)
    assert "a number of bits" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_caches_of_llama_cpp() -> None:
    # a block of 32: eight or four bits each, and one scale of 16 bits (or two)
    assert kv_bits("q8_0") == 8 + 16 / 32 and kv_bits("Q4_0") == 4 + 16 / 32 and kv_bits("q4_1") == 4 + 32 / 32
    assert kv_bits("half") == 16 and kv_bits("fp8-e4m3") == 8
