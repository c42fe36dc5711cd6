"""CSV, Markdown and JSON; the formats are found, and every one is fed from the same columns."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from clover_sim import report
from clover_sim.columns import COLUMNS
from clover_sim.errors import UsageError
from clover_sim.report import Look
from clover_sim.report.csv import render as render_csv
from clover_sim.report.json import render as render_json
from clover_sim.report.markdown import render as render_markdown
from report.sample import Sample, default, row

HOSTILE = ['=cmd|"/c calc"!A0', "+1", "-1", "@SUM(A1)", "\tx", "\rx", 'quote " and, comma', "line\nbreak"]


def test_formats_are_found():
    assert {"table", "json", "csv", "markdown"} <= set(report.formats())
    for name, module in report.formats().items():
        assert report.get_format(name) is module
        assert all(report.format_of_file("x" + ending) == name for ending in module.EXTENSIONS)


@pytest.mark.parametrize("name", ["xml", "columns", "_rows", "../x", "", "os.path", "JSON"])
def test_what_is_no_format_is_refused(name):
    with pytest.raises(UsageError) as caught:
        report.get_format(name)
    assert str(caught.value) == f"there is no format {name!r}; there are {', '.join(report.formats())}"
    assert {"csv", "html", "json", "markdown", "svg", "table"} <= set(report.formats())


def test_every_figure_of_a_row_has_a_column():
    keys = {c.key for c in COLUMNS}
    assert len(keys) == len(COLUMNS)
    assert set(row(64, "block-diffusion", 12)) <= keys
    for c in COLUMNS:
        assert c.meaning.endswith(".") and c.title.count("\n") <= 1
        assert c.priority is None or c.priority >= 0


# CSV


def test_csv_reads_back_with_full_precision():
    result = default()
    rows = list(csv.DictReader(io.StringIO(render_csv(result), newline="")))
    assert len(rows) == len(result.rows)
    for text, original in zip(rows, result.rows, strict=True):
        assert float(text["latency_s"]) == original["latency_s"]
        assert int(text["target_passes"]) == original["target_passes"]
    assert rows[2]["options"] == "block_size=32,threshold=0.95,comparison=ge"
    assert rows[0]["drafter"] == ""


def test_csv_is_rfc_4180():
    text = render_csv(default())
    assert text.endswith("\r\n") and text.count("\r\n") == text.count("\n") == len(default().rows) + 1


@pytest.mark.parametrize("name", HOSTILE)
def test_csv_cells_are_never_formulas(name):
    text = render_csv(Sample((row(64, "ar", 64, stream=name, speedup_time=-1.5),)))
    cell = next(csv.DictReader(io.StringIO(text, newline="")))
    assert cell["stream"] == ("'" + name if name[0] in "=+-@\t\r" else name)
    assert cell["speedup_time"] == "-1.5", "numbers stay numbers"


def test_csv_has_the_intervals_beside_the_means():
    text = render_csv(Sample((row(64, "ar", 64, latency_s_ci95=0.5),)))
    assert "latency_s,latency_s_ci95," in text.splitlines()[0]


# Markdown


def test_markdown_tables_are_regular():
    lines = [line for line in render_markdown(default()).splitlines() if line.startswith("|")]
    assert len(lines) == len(default().rows) + 2
    assert len({line.count("|") for line in lines}) == 1
    assert "| ---: | --- |" in lines[1]


def test_markdown_cells_cannot_break_out():
    result = Sample((row(64, "a|b<script>*_x_*\n`[y](z)", 64, options={}),))
    line = next(line for line in render_markdown(result).splitlines() if "script" in line and line.startswith("|"))
    assert "a\\|b\\<script\\>\\*\\_x\\_\\*\\\\n\\`\\[y\\](z)" in line
    assert "block_size" in render_markdown(default()), "a name with an underscore inside stays readable"


def test_markdown_leaves_nothing_out_and_groups_streams():
    two = Sample((row(64, "ar", 64, stream="one"), row(64, "ar", 64, stream="two")), inputs=({}, {}))
    text = render_markdown(two, Look(width=20))
    assert "**one · 64 tokens**" in text and "**two · 64 tokens**" in text and "bound" in text


# JSON


def test_json_orders_rows_by_the_columns_and_loses_nothing():
    shuffled = dict(sorted(row(64, "ar", 64, extra=1, latency_s_ci95=0.1).items()))
    keys = list(json.loads(render_json(Sample((shuffled,))))["rows"][0])
    assert keys[:3] == ["stream", "tokens", "strategy"] and keys[-1] == "extra"
    assert keys.index("latency_s_ci95") == keys.index("latency_s") + 1
    assert sorted(keys) == sorted(shuffled)


def test_json_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="JSON"):
        render_json(Sample((row(64, "ar", 64, latency_s=float("nan")),)))


def test_json_is_ascii_whatever_the_names():
    assert render_json(Sample((row(64, "ar", 64, stream="故乡\udcff"),))).isascii()


def test_renderers_do_not_change_the_result():
    result = default()
    before = json.dumps(result.to_dict())
    for module in report.formats().values():
        assert module.render(result) == module.render(replace(result))
    assert json.dumps(result.to_dict()) == before
