"""Small configurations of our own making for the tests of the configuration reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DENSE: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}
MIXTURE: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 32,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 16,
    "num_hidden_layers": 4,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 500,
    "tie_word_embeddings": False,
}


@pytest.fixture
def dense() -> dict[str, Any]:
    return dict(DENSE)


@pytest.fixture
def mixture() -> dict[str, Any]:
    return dict(MIXTURE)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write a table as JSON under a name and return its path."""

    def to_file(table: Any, name: str = "config.json") -> str:
        path = tmp_path / name
        path.write_text(table if isinstance(table, str) else json.dumps(table), encoding="utf-8")
        return str(path)

    return to_file
