"""Rows of block diffusion: which are used, how they are read, and that they never meet the plain ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.diffusion_speed import check_speeds, pass_s
from clover_sim.specs import load_model
from clover_sim.validate import validate
from clover_sim.validate.diffusion import base_model, family_of, read_diffusion


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "x", "system": "SGLang", "model": "LLaDA2.0-mini", "gpu": "H100", "n_gpus": 1, "batch": 1,
        "precision": "bf16", "block_size": 32, "tokens_per_forward": 4.0, "tok_s": 800.0, "workload": None,
        "source": "someone/else#1", **changes,
    }  # fmt: skip


def table(tmp_path: Path, *rows: Any) -> str:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    return str(path)


def test_a_row_is_tokens_per_pass_over_the_price_of_a_pass(tmp_path: Path) -> None:
    document = validate(table(tmp_path, row())).to_dict()
    [found] = document["diffusion"]
    predicted = 4.0 / pass_s("llada2.0-mini", "h100", block_size=32, engine="sglang", context=500)
    assert found["predicted"] == pytest.approx(predicted) and found["measured"] == 800.0
    assert found["error"] == pytest.approx(predicted / 800 - 1)
    error = found["error"]
    assert document["summary"]["diffusion"] == {
        "rows": 1, "median_abs_error": abs(error), "p90_abs_error": abs(error), "bias": error, "skipped": {},
    }  # fmt: skip
    assert document["summary"]["rows"] == 0 and document["rows"] == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"tok_s": None}, "no speed stated"),
        ({"tok_s": float("nan")}, "no speed stated"),
        ({"tokens_per_forward": None}, "no tokens per pass stated"),
        ({"tokens_per_forward": 0}, "no tokens per pass stated"),
        ({"model": None}, "no model stated"),
        ({"model": "LLaDA2.0 (size not restated)"}, "model not known"),
        ({"model": "Qwen3-8B", "block_size": 1, "tokens_per_forward": 1.0}, "no diffusion model"),
        ({"batch": 4}, "more than one stream"),
        ({"block_size": 0}, "block size is no count"),
        ({"block_size": "32"}, "block size is no count"),
        ({"tokens_per_forward": 33}, "more tokens per pass than the block has"),
        ({"gpu": None}, "no device stated"),
        ({"gpu": "H100/H200 class"}, "device not known"),
        ({"gpu": "RTX 5070 Ti 16GB"}, "does not fit the device in that format"),
        ({"engine": "homemade"}, "engine not known"),
        ({"precision": "ternary"}, "format of the weights not known"),
        ({"model": "LLaDA-8B-Instruct", "workload": "HumanEval"},
         "whole sequence computed in every pass, its length not stated"),
        ({"model": "LLaDA-8B-Instruct", "workload": "GSM8K 5-shot"},
         "whole sequence computed in every pass, its length not stated"),
        ({"workload": "GSM8K, any-order (no block structure)"},
         "whole sequence computed in every pass, its length not stated"),
        ({"model": "LLaDA-8B-Instruct", "system": "Fast-dLLM", "strategy": "prefix cache"},
         "full attention with an approximate cache"),
        ({"note": "x" * 3000}, "a text of over 2000 characters"),
    ],
)  # fmt: skip
def test_rows_left_out_are_counted_with_the_reason(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    assert read_diffusion(table(tmp_path, row(**changes))) == ([], {why: 1})


@pytest.mark.parametrize(
    ("model", "block"),
    [
        ("LLaDA2.1-mini", 32), ("LLaDA2.0-flash", 32), ("SDAR-8B-Chat", 4), ("DiffusionGemma-26B-A4B-it", 256),
        ("Clover-35B-A3B-Preview", 32), ("d3LLM-LLaDA", 32), ("d3LLM-Dream", 32),
    ],
)  # fmt: skip
def test_block_size_of_the_family_where_none_is_stated(tmp_path: Path, model: str, block: int) -> None:
    stated = row(model=model, gpu="B200", n_gpus=4, workload="GSM8K-CoT", tokens_per_forward=2)
    del stated["block_size"]
    [found], skipped = read_diffusion(table(tmp_path, stated))
    assert found.block_size == block and not skipped


def test_models_that_write_token_by_token_have_no_family() -> None:
    assert family_of(load_model("llama-3.1-8b")) is None and family_of(load_model("gemma-4-26b-a4b")) is None
    assert base_model("d3LLM-Unheard") is None


def test_full_attention_computes_the_sequence_again(tmp_path: Path) -> None:
    full = row(model="d3LLM-LLaDA", workload="GSM8K-CoT")
    stated = row(model="LLaDA-8B-Instruct", context_tokens=1000)
    rows, skipped = read_diffusion(table(tmp_path, full, stated))
    assert not skipped and [(r.row.context, r.recompute) for r in rows] == [(0, 450), (0, 1000)]
    short, long = (r.predicted for r in validate(table(tmp_path, full, stated)).diffusion[0])
    assert short > 1.5 * long


def test_context_engine_and_format_follow_the_words_of_the_row(tmp_path: Path) -> None:
    rows, _ = read_diffusion(table(
        tmp_path, row(workload="random 4096 in / 512 out"), row(context_tokens=7000), row(gen_len=512), row(),
        row(system="HF stack"), row(system="mlxcel", gpu="Apple M1 Ultra", precision="4-bit"),
    ))  # fmt: skip
    assert [r.row.context for r in rows] == [4352, 7000, 256, 500, 500, 500]
    assert [r.row.engine.name for r in rows] == ["sglang"] * 4 + ["hf", "mlx"]
    assert rows[5].row.precision.bits == 4.5


def test_other_names_of_the_fields_and_no_pooling(tmp_path: Path) -> None:
    other = {"model": "LLaDA2.0-mini", "gpu": "H100", "tokens_per_s": 800.0, "source": "sglang"}
    plain = {"id": "p", "model": "Qwen3-8B", "gpu": "H100", "tokens_per_s": 150.0, "source": "sglang"}
    tables = [{**other, key: 4.0} for key in ("tpf", "tokens_per_pass")]
    document = validate(table(tmp_path, plain, *tables, {**other, "tpf": 1.0, "block_size": 32})).to_dict()
    assert [r["id"] for r in document["rows"]] == ["p"] and document["summary"]["rows"] == 1
    assert document["summary"]["diffusion"]["rows"] == 3
    assert document["summary"]["skipped"] == {"no speed of plain decoding": 3}


def test_a_file_without_such_rows_has_an_empty_summary(tmp_path: Path) -> None:
    plain = {"id": "p", "model": "Qwen3-8B", "gpu": "H100", "tokens_per_s": 150.0}
    document = validate(table(tmp_path, plain)).to_dict()
    assert document["diffusion"] == [] and document["summary"]["diffusion"] == {
        "rows": 0, "median_abs_error": None, "p90_abs_error": None, "bias": None, "skipped": {},
    }  # fmt: skip


def test_the_default_table_brings_the_published_speeds() -> None:
    document = validate().to_dict()
    assert [r["predicted"] for r in document["diffusion"]] == pytest.approx([c.model for c in check_speeds()])
    assert document["summary"]["diffusion"]["median_abs_error"] <= 0.15
    assert validate("kernels").to_dict()["summary"]["diffusion"]["rows"] == 0


def test_table_has_one_block_for_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--measurements", table(tmp_path, row(), row(batch=8))]) == 0
    [line] = [text for text in capsys.readouterr().out.splitlines() if text.startswith("one stream, tokens per pass")]
    assert line.split()[-5] == line.split()[-1] == "1"
