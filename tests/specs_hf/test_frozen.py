"""Counts frozen from the real implementations.

``frozen_counts.json`` holds configurations made up at random for each family and the number of parameters that
transformers 5.24 gives them, measured by building each on the meta device; ``routed_expert_params`` adds up its
tensors of routed experts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.specs.hf import config_model
from clover_sim.specs.hf.defaults import defaults_of
from clover_sim.specs.hf.families import ALIASES, MODULES, find, known
from clover_sim.specs.hf.families.dense import STYLES
from clover_sim.specs.model import PARTS

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "frozen_counts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case['config']['model_type']}" for i, case in enumerate(CASES)])
def test_count_is_that_of_the_implementation(case: dict[str, Any]) -> None:
    spec = config_model(case["config"], "config.json").spec
    assert spec.params == case["params"]
    assert spec.routed_expert_params == case["routed_expert_params"]
    assert sum(getattr(spec, part) for part in PARTS) == spec.params


def test_most_families_are_frozen() -> None:
    without_a_class = {
        "dream", "sdar", "sdar_moe", "llada", "llada_moe", "llada2_moe", "bailing_moe", "bailing_moe_v2",
        "minimax_text_01", "nemotron-nas", "internlm2", "baichuan", "mimo", "diffusion_gemma_text", "chatglm", "qwen",
        "internlm", "minicpm", "orion", "deepseek", "pangu_embedded", "pangu_pro_moe", "hunyuan",
        "eagle", "eagle3", "dflash",
    }  # fmt: skip
    assert {*STYLES, *MODULES} - without_a_class == {case["config"]["model_type"] for case in CASES}


def test_every_known_name_has_a_builder_and_defaults() -> None:
    for name in known():
        found = find(name)
        assert found is not None, name
        assert defaults_of(found[0]), name
    assert not set(ALIASES.values()) - {*STYLES, *MODULES}
