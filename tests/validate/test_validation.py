"""Predicted against measured: the rules that read a row, the summary, and the bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.specs import list_models, load_hardware
from clover_sim.validate import names, read_rows, validate
from clover_sim.validate.refit import fit, leave_out
from clover_sim.validate.run import Result, predict, summarise


def table(tmp_path: Path, rows: list[Any]) -> str:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    return str(path)


def spec_row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "a", "method": "dflash", "target_model": "Qwen3-8B", "gpu": "H100", "n_gpus": 1, "precision": None,
        "batch": 1, "baseline_tok_s": 150.0, "workload": None, "source": "someone/else#1", **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("H100", "h100"), ("NVIDIA H200 SXM", "h200"), ("RTX PRO 6000 Blackwell", "rtx-pro-6000"),
        ("RTX A6000 48GB (Ada)", "rtx-6000-ada"), ("RTX 3090 (250 W)", "rtx-3090"), ("GB10 (DGX Spark)", "dgx-spark"),
        ("Radeon 8060S (Ryzen AI Max+ 395)", "strix-halo"), ("Radeon AI PRO R9700", "r9700"),
        ("Apple M4 128GB (MLX)", "m4-max"), ("Apple M4 24GB (Metal)", "m4"),
        ("Apple M3 Ultra 96GB (Metal)", "m3-ultra"),
        ("Tesla V100 32GB", "v100"), ("RTX 3060 12GB", "rtx-3060"), ("A100-40GB", "a100-40gb"), ("A800", "a800"),
    ],
)  # fmt: skip
def test_devices(text: str, name: str) -> None:
    found = names.hardware_of(text)
    assert found is not None and found.name == name


@pytest.mark.parametrize("text", ["H100/H200 class", "Apple Silicon (maintainer machine)", "RTX 9999", "?"])
def test_devices_nobody_can_tell(text: str) -> None:
    assert names.hardware_of(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Llama-3.1-8B-Instruct", "llama-3.1-8b"), ("Qwen3-Coder-30B-A3B", "qwen3-30b-a3b"),
        ("GPT-OSS-20B", "gpt-oss-20b"),
        ("Qwen3-32B-FP8", "qwen3-32b"), ("gemma-4-26b-a4b-it", "gemma-4-26b-a4b"), ("Vicuna-13B", "llama-2-13b"),
        ("Qwen/Qwen3-8B", "qwen3-8b"),
    ],
)  # fmt: skip
def test_models(text: str, name: str) -> None:
    found = names.model_of(text)
    assert found is not None and found.name == name
    assert names.model_of("Qwen9-1T") is None


@pytest.mark.parametrize(
    ("text", "model", "engine", "bits"),
    [
        (None, "Qwen3-8B", "vllm", 16), (None, "Qwen3-32B-FP8", "vllm", 8.06), ("q4_k_m", "x", "llama.cpp", 4.85),
        ("ud-q4_k_xl", "x", "llama.cpp", 4.89), ("4bit", "x", "mlx", 4.5), ("4-bit", "x", "mlx", 4.5),
        ("awq-int4", "x", "vllm", 4.15), ("nvfp4", "x", "vllm", 4.5), ("Q8_0", "x", "llama.cpp", 8.5),
    ],
)  # fmt: skip
def test_formats(text: str | None, model: str, engine: str, bits: float) -> None:
    found = names.precision_of(text, model, engine)
    assert found is not None and found.bits == bits
    assert names.precision_of("q17_zz", model, engine) is None


@pytest.mark.parametrize(
    ("row", "gpu", "engine"),
    [
        ({"engine": "trtllm 1.0"}, "h100", "trtllm"), ({"source": "vllm-project/vllm#1"}, "h100", "vllm"),
        ({"source": "arXiv 1 (SGLang)"}, "h100", "sglang"), ({"source": "ggml-org/llama.cpp#2"}, "h100", "llama.cpp"),
        ({"source": "x/dflash-mlx#2"}, "m1-max", "mlx"), ({"source": "x"}, "m1-max", "mlx"), ({}, "rtx-4090", "vllm"),
        ({"precision": "q4_k_m"}, "rtx-4090", "llama.cpp"), ({"system": "SGLang TP8"}, "h20", "sglang"),
    ],
)  # fmt: skip
def test_engines(row: dict[str, object], gpu: str, engine: str) -> None:
    assert names.engine_of(row, load_hardware(gpu)) == engine


def test_rows_that_cannot_be_used_are_counted_with_the_reason(tmp_path: Path) -> None:
    rows: list[Any] = [
        spec_row(), spec_row(id="b"), spec_row(gpu=None), spec_row(gpu="H100 with CPU offload"), spec_row(gpu="Cray-1"),
        spec_row(target_model=None), spec_row(target_model="Qwen9"), spec_row(baseline_tok_s=None),
        spec_row(baseline_tok_s=-1), spec_row(baseline_tok_s="9"), spec_row(gpu="RTX 4060", target_model="Qwen3-32B"),
        spec_row(precision="zip"), spec_row(batch=0), spec_row(engine="abacus"),
        spec_row(gpu="RTX 3060 + RTX 3080", n_gpus=2),
        {"id": "d", "model": "LLaDA-8B", "baseline_name": "vanilla", "baseline_tok_s": 5.0, "gpu": "H100"},
        spec_row(n_gpus=4), spec_row(gpu="Apple M3 Ultra", n_gpus=2), spec_row(batch=10**9),
    ]  # fmt: skip
    found = validate(table(tmp_path, rows))
    assert [r.row.id for r in found.results] == ["a", "b"] and [r.row.devices for r in found.several] == [4]
    assert sum(found.skipped.values()) == 16
    assert found.skipped["offload to the host"] == 1 and found.skipped["speed is not a number above 0"] == 2
    summary = found.to_dict()["summary"]
    assert (summary["rows"], summary["distinct_rows"]) == (2, 1)
    assert summary["skipped"] == found.skipped


def test_a_diffusion_table_gives_its_token_by_token_baseline(tmp_path: Path) -> None:
    row = {
        "id": "x", "model": "LLaDA-8B-Instruct", "gpu": "H100", "n_gpus": 1, "precision": None, "batch": 4,
        "baseline_name": "Qwen2.5-7B-Instruct AR (SGLang, bs1)", "baseline_tok_s": 108.6, "source": "a/b",
        "system": "SGLang", "workload": "GSM8K",
    }  # fmt: skip
    (found,), _ = read_rows(table(tmp_path, [row]))
    assert (found.model.name, found.batch, found.engine.name) == ("qwen2.5-7b", 1, "sglang")


@pytest.mark.parametrize("text", ["{}", "3", "[1]", "[", "", '{"a": 1}', "[" * 100_000])
def test_a_table_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        validate(str(path))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such file"):
        validate(str(tmp_path / "none.json"))


def test_the_summary_is_what_it_says() -> None:
    rows, _ = read_rows(None)
    row = rows[0]._replace(measured=100.0)
    errors = (1, -2, 3, -4, 5, -6, 7, -8, 9, -50)
    results = [Result(row._replace(baseline=(i,)), 100.0 + error) for i, error in enumerate(errors)]
    found = summarise(results)
    assert found["median_abs_error"] == pytest.approx(0.055)
    assert found["p90_abs_error"] == pytest.approx(0.09)
    assert found["bias"] == pytest.approx(-0.005)
    assert summarise([])["median_abs_error"] is None


def test_the_built_in_table_and_its_bars() -> None:
    found = validate()
    assert len(found.results) >= 120
    assert all(result.row.source for result in found.results)
    by = found.to_dict()["summary"]["by"]
    assert {"kind", "family", "hardware", "engine"} <= set(by)
    # Without the serving rows of one package: published speeds alone, the bars of the project.
    published = [r for r in found.results if "aiconfigurator" not in r.row.source]
    summary = summarise(published)
    assert summary["median_abs_error"] <= 0.04 and summary["p90_abs_error"] <= 0.25


def test_a_30b_mixture_on_a_b200_is_within_five_percent_at_every_batch() -> None:
    rows = [r for r in validate().results if r.row.model.name == "qwen3-30b-a3b" and r.row.hardware.name == "b200"]
    assert {r.row.batch for r in rows} == {1, 4, 8, 16, 32} and len(rows) == 15
    assert max(abs(r.error) for r in rows) <= 0.05


@pytest.mark.parametrize(("kind", "bar"), [("dense", 0.06), ("mixture", 0.11)])
def test_kernel_rows(kind: str, bar: float) -> None:
    found = validate("kernels")
    assert not found.several
    assert found.to_dict()["summary"]["by"]["kind"][kind]["median_abs_error"] <= bar


def test_a_thousand_rows_are_each_used_or_counted(tmp_path: Path) -> None:
    models = [name for name in list_models() if name.startswith(("qwen", "llama"))]
    rows = [spec_row(id=str(i), target_model=models[i % len(models)], gpu=("H100", "B200", "RTX 5090")[i % 3],
                     precision="int4", batch=1 + i % 64) for i in range(1000)]  # fmt: skip
    path = table(tmp_path, rows)
    found = validate(path)
    assert len(found.results) + sum(found.skipped.values()) == 1000


def test_fitting_finds_the_constants_that_made_the_rows() -> None:
    rows = [r for r in read_rows("serving")[0] if r.engine.name == "vllm"][:60]
    made = [row._replace(measured=predict(row)) for row in rows]
    base = fit(made)["vllm"].base
    assert base.pass_s == pytest.approx(0.65e-3, rel=0.02)
    assert base.sequence_s == pytest.approx(18e-6, rel=0.05)


def test_rows_left_out_are_predicted_by_the_others() -> None:
    results = [r for r in validate().results if r.row.engine.name == "sglang"]
    found = leave_out(results, "source")
    assert sum(fold["rows"] for fold in found["folds"].values()) == len(results)
    assert found["summary"]["median_abs_error"] < 0.10


def test_no_rule_names_a_row() -> None:
    ids = {row.id for row in read_rows(None)[0]}
    package = Path(names.__file__).parent
    texts = [p.read_text() for p in package.glob("*.py")]
    assert not [row for row in ids for text in texts if row in text]


@pytest.mark.parametrize(("kind", "bar"), [("dense", 0.15), ("mixture", 0.28)])
def test_prompts_of_the_kernel_tables(kind: str, bar: float) -> None:
    """1,024 and 8,192 tokens in one pass: what the arithmetic of wide passes rests on."""
    found = validate("prompts").to_dict()["summary"]
    assert found["rows"] == 304
    assert found["by"]["kind"][kind]["median_abs_error"] <= bar
