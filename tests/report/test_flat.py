"""Commands whose result is not a comparison: csv and markdown from their rows, and what they show first."""

from __future__ import annotations

import csv
import doctest
import io
import json
from importlib import import_module

import pytest

from clover_sim.cli import main
from clover_sim.report import _flat
from clover_sim.report._validate import MOST_WORST, render_validation
from clover_sim.validate import validate

COMMANDS = [
    "price --width 1,8,32", "list gpus", "list strategies", "validate", "validate --claims",
    "agent web-task --tasks 5", "serve --requests 20 --pool 10 --ladder none",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_and_markdown_have_the_rows_of_the_json(command, capsys):
    texts = {}
    for name in _flat.FORMATS:
        assert main([*command.split(), "--format", name]) == 0
        texts[name] = capsys.readouterr().out
    document = json.loads(texts["json"])
    rows = next(document[key] for key in ("passes", "items", "claims", "rows") if key in document)
    more = [row for key in ("several_devices", "speculative", "diffusion") for row in document.get(key, [])]
    table = list(csv.DictReader(io.StringIO(texts["csv"], newline="")))
    assert len(table) == len(rows) + len(more)
    lines = texts["markdown"].splitlines()
    assert len(lines) == len(table) + 2 and lines[1].strip("|- :") == ""
    for shown, row in zip(table, [*rows, *more], strict=True):
        for key, value in row.items():
            if isinstance(value, float):
                assert float(shown[key]) == value, key
            elif isinstance(value, int) and not isinstance(value, bool):
                assert int(shown[key]) == value, key


def test_files_get_the_format_of_their_ending(tmp_path):
    files = [tmp_path / f"gpus.{ending}" for ending in ("csv", "md", "json", "txt")]
    assert main(["list", "gpus", *(word for file in files for word in ("--export", str(file)))]) == 0
    assert files[0].read_text().startswith("name,") and files[1].read_text().startswith("| name |")
    assert main(["price", "--export", str(tmp_path / "x.svg")]) == 2


def test_names_cannot_break_out_of_their_cell():
    rows = [{"name": "=1+1|<b>*x*", "share": 0.5}, {"name": "a\nb", "share": None}]
    assert _flat.as_csv(rows).splitlines()[1].startswith("'=1+1")
    lines = _flat.as_markdown(rows).splitlines()
    assert lines[2].count(" | ") == 1 and "\\<b\\>" in lines[2] and len(lines) == 4


def test_validate_shows_a_summary_and_the_worst_rows():
    document = validate().to_dict()
    text = render_validation(document, "worst", None)
    worst = sorted(document["rows"], key=lambda row: -abs(row["error"]))[:MOST_WORST]
    assert len(text.splitlines()) < 60 and all(f"{row['error']:+.1%}" in text for row in worst)
    assert "side of 1:" in text and "furthest off" in text
    every = render_validation(document, "all", None)
    assert every.count("llama-3.1-8b") > text.count("llama-3.1-8b") and "hardware b200" in every
    assert "furthest off" not in every and "hardware b200" not in text


@pytest.mark.parametrize("name", ["report._flat", "report._outline", "agents.result", "cost.estimate"])
def test_the_examples_hold(name):
    failed, tried = doctest.testmod(import_module(f"clover_sim.{name}"))
    assert tried and not failed
