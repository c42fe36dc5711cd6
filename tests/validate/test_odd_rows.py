"""Rows with absurd figures are left out with a reason, or predicted; never an internal error, an inf or a hang."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.validate import validate

ROW = {"id": "a", "model": "qwen3-8b", "gpu": "h100", "tokens_per_s": 100}
ODD: list[Any] = [10**400, 5e-324, 1e308, -1, 0, True, None, [1], {"a": 1}, "9" * 5000, "(" * 100_000, float("nan")]


def table(folder: Path, content: Any) -> str:
    path = folder / "rows.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:12])
def test_any_value_in_any_field(value: Any, tmp_path: Path) -> None:
    fields = ("id", "model", "gpu", "tokens_per_s", "n_gpus", "batch", "context_tokens", "gen_len", "workload",
              "precision", "kv_cache_dtype", "engine", "source", "baseline_name")  # fmt: skip
    rows = [{**ROW, field: value} for field in fields]
    found = validate(table(tmp_path, rows))
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.results) + len(found.several) + sum(found.skipped.values()) == len(rows)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kv_cache_dtype": "zzz"}, "format of the cache not known"),
        ({"tokens_per_s": 5e-324}, "speed is no speed of a machine"),
        ({"n_gpus": 5000}, "several devices of different kinds"),
        ({"workload": "x" * 3000}, "a text of over 2000 characters"),
        ({"gpu": "Apple M4 " + "9" * 400 + "GB"}, "device not known"),
    ],
)
def test_the_reason_is_said(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert validate(table(tmp_path, [{**ROW, **change}])).skipped == {reason: 1}


def test_a_length_of_hundreds_of_digits_is_no_length(tmp_path: Path) -> None:
    (result,) = validate(table(tmp_path, [{**ROW, "workload": "9" * 500 + " tokens"}])).results
    assert result.row.context == 1500


@pytest.mark.parametrize(
    "content",
    [
        '{"columns": 5}', '{"columns": ["id"], "rows": [[1, 2]]}', '{"columns": ["id", 5], "rows": [5]}',
        '{"columns": ["id", "source"], "rows": [[1, 9]]}', '{"columns": ["id", "source"], "rows": [[1, -1]]}',
        '{"columns": ["id", "id"], "rows": []}', '{"columns": ["id"], "rows": {"a": 1}}', "5", "[5]", "[" * 100_000,
    ],
)  # fmt: skip
def test_broken_tables_are_refused_in_one_line(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        validate(table(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.json")
    with pytest.raises(InputError, match="is a pipe"):
        validate(str(tmp_path / "rows.json"))
