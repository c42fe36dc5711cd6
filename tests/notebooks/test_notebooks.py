"""The notebooks run from top to bottom, and results show themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clover_sim.comparison import compare
from clover_sim.report._notebook import comparison_html, comparison_svg
from clover_sim.sweeping import sweep

sys.path.insert(0, str(Path(__file__).parent))
from runner import run_notebook

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_it_is_a_notebook(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4 and document["nbformat_minor"] >= 5 and len(document["cells"]) <= 8
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | (
            {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        )
        assert isinstance(cell["source"], list) and cell.get("outputs", []) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_it_runs(path):
    found = run_notebook(path)
    assert len(found) >= 3
    assert all(printed.strip() or value is not None for printed, value in found)
    for _, value in found:
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().count("<tr>") > 1
            ElementTree.fromstring(value._repr_svg_())


def test_results_show_themselves_and_nothing_runs():
    bad = "<script>alert(1)</script>"
    from dataclasses import replace

    result = compare(["ar", "block-diffusion"], tokens=[64])
    rows = tuple({**row, "strategy": bad} for row in result.rows)
    shown = comparison_html(replace(result, rows=rows, notes=(bad,)))
    assert "<script" not in shown and "&lt;script" in shown
    ElementTree.fromstring(comparison_svg(result))
    found = sweep(vary="threshold=0.8,0.9", tokens=64)
    assert "<script" not in replace(found, notes=(bad,))._repr_html_()
    assert found._repr_html_().count("<tr>") == 3


def test_the_cluster_example_says_what_it_did(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "cluster" / "sweep_on_dask.py")], cwd=tmp_path, capture_output=True,
        text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "nothing was run" in done.stdout or "the same as here: True" in done.stdout
