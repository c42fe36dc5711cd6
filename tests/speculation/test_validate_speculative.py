"""Published speed-ups: the bars, the losing rows, and the rules that read a row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.validate import validate
from clover_sim.validate.speculative import validate_speculative
from clover_sim.validate.speculative_rows import read_speculative


def test_the_bars() -> None:
    found = validate().to_dict()["summary"]["speculative"]
    assert found["rows"] > 90
    assert found["median_abs_error"] <= 0.10
    assert found["side_right"] >= 0.90
    assert found["losing_rows"] >= 10
    assert found["losing_predicted"] >= 9


def test_rows_with_and_without_a_plain_speed_stay_apart() -> None:
    results, _ = validate_speculative("speculative")
    document = validate("speculative").to_dict()
    summary = document["summary"]["speculative"]
    assert summary["rows"] + summary["without_plain_speed"]["rows"] == len(results) == len(document["speculative"])
    assert document["summary"]["rows"] < len(results)  # plain decoding is judged by itself
    for name in ("published", "serving"):
        assert validate(name).to_dict()["summary"]["speculative"]["rows"] == 0


def test_losing_rows_come_out_as_losing() -> None:
    results, _ = validate_speculative("speculative")
    found = {r.row.row.id: r.predicted for r in results}
    for name in ("vllm39680", "bstnxbt32-35ba3b", "bstnxbt32-27b", "vllm24343-frspec-k32"):
        predicted = [value for row, value in found.items() if row.startswith(name)]
        assert predicted, name
        assert max(predicted) < 1, name


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "a", "method": "eagle3", "target_model": "Llama-3.1-8B-Instruct", "gpu": "H100", "n_gpus": 1, "batch": 1,
        "k": 3, "acceptance_length": 2.6, "baseline_tok_s": 140.0, "tok_s": 280.0, "source": "someone/vllm#1",
        "notes": "", **changes,
    }  # fmt: skip


def read(tmp_path: Path, *rows: dict[str, Any]) -> tuple[Any, dict[str, int]]:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(list(rows)))
    return read_speculative(str(path))


def test_a_row_is_read_by_its_conventions(tmp_path: Path) -> None:
    found, skipped = read(
        tmp_path, row(), row(acceptance_length=None, acceptance_rate=0.5),
        row(acceptance_length=None, per_position=[0.8, 0.5, 0.3]), row(method="dflash", k=None),
        row(method="mtp", k=1, acceptance_length=1.9), row(k=60, notes="k = verified tokens (tree size)"),
    )  # fmt: skip
    assert not skipped
    assert [f.length for f in found] == pytest.approx([2.6, 2.5, 2.6, 2.6, 1.9, 2.6])
    assert [f.shape.width for f in found] == [4, 4, 4, 16, 2, 60]
    assert [f.shape.method for f in found][-1] == "eagle-tree"
    assert all(f.speedup == 2.0 for f in found)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tok_s": None}, "no speed-up"),
        ({"acceptance_length": None}, "no acceptance"),
        ({"acceptance_length": None, "acceptance_rate": 0.5, "k": None}, "without a draft length"),
        ({"k": None}, "draft length not stated"),
        ({"method": "medusa"}, "not modelled"),
        ({"gpu": None, "baseline_tok_s": None, "speedup": 2.0}, "neither device"),
        ({"gpu": "RTX 9999"}, "device not known"),
        ({"target_model": "Mystery"}, "model not known"),
        ({"acceptance_length": None, "acceptance_rate": 0.8, "notes": "--spec-draft-p-min 0.7: x"}, "unknown length"),
        ({"method": "draft-model"}, "drafter not known"),
        ({"acceptance_length": 9.0}, "beyond the draft length"),
    ],
)
def test_rows_left_out_say_why(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    found, skipped = read(tmp_path, row(**changes))
    assert not found
    assert any(reason in why for why in skipped), skipped


def test_an_impossible_plain_speed_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row(baseline_tok_s=90_000.0, speedup=2.0), row()]))
    results, skipped = validate_speculative(str(path))
    assert len(results) == 1
    assert skipped == {"plain speed that cannot be on that device": 1}


def test_a_row_without_a_device_or_a_known_model_still_has_its_plain_speed(tmp_path: Path) -> None:
    found, _ = read(tmp_path, row(gpu=None), row(target_model="Unheard-0.8B", method="mtp", k=1, acceptance_length=1.9))
    assert [f.device for f in found] == [False, True]
    assert found[1].row.model.params == 800_000_000
