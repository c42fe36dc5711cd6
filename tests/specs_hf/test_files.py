"""Files and directories: what is read beside a configuration, and what is no configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs.hf import load_config
from clover_sim.specs.hf.read import LIMIT_BYTES

Write = Callable[..., str]


def refusal(path: str) -> str:
    with pytest.raises(InputError) as error:
        load_config(path)
    text = str(error.value)
    assert "\n" not in text and len(text) < 500
    return text


def test_file_and_directory_are_the_same(write: Write, dense: dict[str, Any], tmp_path: Path) -> None:
    path = write(dense)
    assert load_config(path).spec == load_config(tmp_path).spec


def test_quantisation_beside_the_configuration_is_read(write: Write, dense: dict[str, Any]) -> None:
    path = write(dense)
    assert load_config(path).quantisation.method == "none"
    algorithm = {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}
    write({"producer": {"name": "modelopt"}, "quantization": algorithm}, "hf_quant_config.json")
    model = load_config(path)
    assert model.quantisation.bits["attention_params"] == 8
    assert model.quantisation.bits["lm_head_params"] == 16
    assert model.quantisation.kv_cache == "fp8"


def test_named_file_has_a_named_quantisation(write: Write, dense: dict[str, Any]) -> None:
    path = write(dense, "small.json")
    write({"quantization": {"quant_algo": "NVFP4"}}, "small.hf_quant_config.json")
    assert load_config(path).quantisation.bits["dense_ffn_params"] == 4.5


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"peft_type": "LORA", "base_model_name_or_path": "house/base"}, "adapter_config.json"),
        ({"fine_tune_type": "lora", "lora_parameters": {}}, "adapter_config.json"),
        ({"_from_model_config": True, "temperature": 0.5}, "generation_config.json"),
        ({"metadata": {"total_size": 1}, "weight_map": {}}, "model.safetensors.index.json"),
        ({"tokenizer_class": "T", "chat_template": ""}, "tokenizer_config.json"),
        ({"producer": {}, "quantization": {}}, "hf_quant_config.json"),
        ({"image_processor_type": "X"}, "preprocessor_config.json"),
        ({"_class_name": "FluxPipeline"}, "diffusers"),
        ({"a": {"model_type": "llama"}, "b": {"model_type": "qwen3"}}, "2 configurations (a, b)"),
        ({"hidden_size": 64}, "model_type is missing"),
        ({"name": "x"}, "not the configuration of a model"),
        ({}, "not the configuration of a model"),
    ],
)
def test_other_files_have_their_own_words(write: Write, table: dict[str, Any], word: str) -> None:
    assert word in refusal(write(table))


@pytest.mark.parametrize(
    ("model_type", "words"),
    [
        ("t5", ("encoder", "decoder-only")),
        ("kimi_k3", ("not public", "kimi_linear", "--params-b")),
        ("zamba2", ("share one block", "bamba")),
        ("qwen3_mo", ("qwen3_moe", "--params-b")),
        ("zzzzzz", ("not supported", "--active-b")),
        ("x" * 5000, ("not supported",)),
    ],
)
def test_unknown_models_are_refused_with_the_nearest(
    write: Write, dense: dict[str, Any], model_type: str, words: tuple[str, ...]
) -> None:
    text = refusal(write({**dense, "model_type": model_type, "architectures": None}))
    assert all(word in text for word in words)


def test_refused_wrapper_is_refused_though_its_inside_is_known(write: Write) -> None:
    assert "kimi_k3" in refusal(write({"model_type": "kimi_k3", "text_config": {"model_type": "kimi_linear"}}))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "is empty"),
        ("[1, 2]", "a list of 2"),
        ("3", "a whole number"),
        ("null", "nothing"),
        ('{"model_type": "llama", "model_type": "qwen3"}', "'model_type' stands twice"),
        ('{"a": 1,}', "not valid JSON"),
        ("[" * 10_000 + "]" * 10_000, "nested too deeply"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested too deeply"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "thousands of digits"),
    ],
)
def test_unreadable_content(write: Write, content: str, word: str) -> None:
    assert word in refusal(write(content))


def test_infinity_is_read_where_it_does_not_matter(write: Write, dense: dict[str, Any]) -> None:
    text = json.dumps({**dense, "time_step_limit": [0.0, float("inf")]})
    assert "Infinity" in text
    assert load_config(write(text)).spec.layers == 3


def test_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    text = refusal(str(path))
    assert "200 MB" in text and f"{LIMIT_BYTES // 1_000_000} MB" in text


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    assert "GGUF" in refusal(str(path))
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    assert "UTF-8" in refusal(str(path))
    assert "no such file" in refusal(str(tmp_path / "none.json"))
    (tmp_path / "empty").mkdir()
    assert "no config.json" in refusal(str(tmp_path / "empty"))
