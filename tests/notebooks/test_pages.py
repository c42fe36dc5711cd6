"""Reference pages and the Chinese README say what the program does.

``CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/notebooks/test_pages.py`` brings them up to date.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import clover_sim
from clover_sim.cli import main
from clover_sim.cli._dispatch import commands
from clover_sim.columns import COLUMNS, INTERVAL, MEASURED
from clover_sim.comparison import compare
from clover_sim.errors import CloverError
from clover_sim.serving.measure import Record
from clover_sim.sweeping import sweep
from clover_sim.trace import trace_block

sys.path.insert(0, str(Path(__file__).parent))
from documents import DOCUMENTS, NULLABLE, odd_files
from schema_check import REFERENCE, ROOT, UPDATE, check, hold, learn, may_be_none, place, schema, settle, types_of

BLOCK = re.compile(r"^```(?:console|python|sh)\n.*?^```", re.MULTILINE | re.DOTALL)


def test_every_column_with_its_formula():
    page = REFERENCE / "metrics.md"
    whole = page.read_text(encoding="utf-8")
    before, rest = whole.split("<!-- columns -->\n")
    after = rest.split("<!-- /columns -->")[1]
    rows = [f"| `{c.key}` | {c.unit} | {c.better} | {c.meaning.replace('|', '/')} |" for c in COLUMNS]
    table = "\n".join(["| column | unit | better | what it is |", "|---|---|---|---|", *rows]) + "\n"
    settle(page, f"{before}<!-- columns -->\n{table}<!-- /columns -->{after}")


def help_of(name: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "110", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "clover_sim", name, "--help"], env=env, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def test_every_option():
    parts = ["# Commands and options\n\nWhat `--help` of each command prints.\n"]
    for name in commands():
        parts.append(f"## {name}\n\n```console\n$ clover-sim {name} --help\n{help_of(name)}\n```\n")
    settle(REFERENCE / "cli.md", "\n".join(parts))


def groups_of_names() -> list[tuple[str, list[str]]]:
    """The public names under the remarks that stand above them in the package."""
    found: list[tuple[str, list[str]]] = []
    for line in Path(clover_sim.__file__).read_text(encoding="utf-8").splitlines():
        if line.startswith("    # "):
            found.append((line.strip(" #"), []))
        elif found and line.startswith('    "'):
            found[-1][1].extend(re.findall(r'"([A-Za-z_]+)": "', line))
    return found


def first_sentence(name: str) -> str:
    value = getattr(clover_sim, name)
    described = value if inspect.isclass(value) or inspect.isfunction(value) else type(value)
    line = " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].split())
    return re.sub(r":[a-z]+:`~?([^`]+)`", r"`\1`", line).replace("``", "`").replace("|", "/")


def test_every_public_name():
    page = REFERENCE / "python.md"
    before, rest = page.read_text(encoding="utf-8").split("<!-- names -->\n")
    after = rest.split("<!-- /names -->")[1]
    parts = []
    for title, names in groups_of_names():
        rows = [f"| `cs.{name}` | {first_sentence(name)} |" for name in names]
        parts.append("\n".join([f"### {title[:1].upper()}{title[1:]}\n", "| name | what it is |", "|---|---|", *rows]))
    assert sum(len(names) for _, names in groups_of_names()) == len(clover_sim._HOMES)
    settle(page, f"{before}<!-- names -->\n" + "\n\n".join(parts) + f"\n<!-- /names -->{after}")


def test_every_exit_code():
    text = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    stated = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}

    def codes(kind: type) -> set[int]:
        return {kind.exit_code}.union(*(codes(sub) for sub in kind.__subclasses__()))

    assert stated == codes(CloverError) | {0, 1, 129, 130, 143}


ALWAYS = ("stream", "tokens", "strategy", "options", "seeds", "target_passes", "locked_errors", "kv_write")
"""What a row is nothing without."""

KINDS = {"text": "string", "options": "object"}
VARIED = {"varied": {"type": "object", "description": "What the axes set in this cell, by key."}}
ROWS = [("comparison", "rows", {}), ("sweep", "rows", VARIED), ("sweep-cells", "row", VARIED)]
"""Schemas with rows in them: where, and what they have besides the columns."""


def row_schema(more: dict) -> dict:
    """The schema of a row, as the list of columns has it."""
    found = {
        c.key: {"type": [KINDS.get(c.form, "number"), "null"],
                "description": c.meaning + (f" Unit: {c.unit}." if c.unit else "")}
        for c in COLUMNS
    }  # fmt: skip
    for key in MEASURED:
        said = f"Half-width of the 95 % interval of {key} over the seeds."
        found[key + INTERVAL] = {"type": ["number", "null"], "description": said}
    return {"type": "object", "required": [*ALWAYS, *more], "properties": found | more}


@pytest.mark.parametrize(("name", "key", "more"), ROWS, ids=[name for name, _, _ in ROWS])
def test_the_schema_of_a_row_is_the_list_of_columns(name, key, more):
    whole = schema(name)
    place = whole["properties"] if key == "row" else whole["properties"][key]
    place["row" if key == "row" else "items"] = row_schema(more)
    settle(REFERENCE / "schemas" / f"{name}.schema.json", json.dumps(whole, indent=2) + "\n")


def test_the_schemas_hold(tmp_path):
    file = str(tmp_path / "cells")
    plain = lambda result: json.loads(json.dumps(result.to_dict()))  # noqa: E731
    hold(plain(compare(None, tokens=[64], seeds=range(2))), "comparison")
    swept = sweep(vary="batch_size=1,20000", tokens=64, prompt_tokens=8000, seeds=range(2), resume=file)
    hold(plain(swept), "sweep")
    hold(plain(trace_block("block-diffusion")), "trace")
    for line in Path(file).read_text().splitlines():
        hold(json.loads(line), "sweep-cells")
    unknown = {key + INTERVAL for key in MEASURED if all(row[key] is None for row in swept.rows)}
    assert {key for row in swept.rows for key in row} == set(row_schema(VARIED)["properties"]) - unknown


def test_a_new_key_of_a_document_is_told_and_can_be_learnt():
    document, whole = {"a": 1, "b": [{"c": 2, "d": None}]}, {"type": "object", "properties": {"a": {"type": "number"}}}
    with pytest.raises(AssertionError, match=r"\$\.b is not in the schema: run CLOVER_SIM_UPDATE_DOCS=1"):
        check(document, whole)
    learn(document, whole)
    check(document, whole)
    inner = {"type": "object", "properties": {"c": {"type": "number"}, "d": {}}}
    assert whole["properties"] == {"a": {"type": "number"}, "b": {"type": "array", "items": inner}}


@pytest.mark.parametrize(("name", "command"), DOCUMENTS, ids=[command for _, command in DOCUMENTS])
def test_every_document_is_as_its_schema_says(name, command, tmp_path, capsys, monkeypatch):
    if command.endswith("--diffusion"):  # its rows take twenty seconds and are tested where they are made
        monkeypatch.setattr("clover_sim.diffusion_checks.check_diffusion", lambda traces: [])
    files = {**odd_files(tmp_path), "ledger": str(tmp_path / "ledger.jsonl")}
    if "{ledger}" in command:
        assert main(["compare", "--tokens", "64", "--ledger", files["ledger"]]) == 0
        capsys.readouterr()
    assert main([*command.format(**files).split(), "--format", "json"]) == 0
    hold(json.loads(capsys.readouterr().out), name)


@pytest.mark.parametrize(("name", "where", "kind", "called"), NULLABLE, ids=str)
def test_what_a_class_may_leave_open_may_be_null(name, where, kind, called):
    whole = schema(name)
    known = place(whole, where)["properties"]
    keys = [key for field in may_be_none(kind) if (key := called.get(field, field)) in known]
    for key in keys:
        if UPDATE:
            learn(None, known[key])
    settle(REFERENCE / "schemas" / f"{name}.schema.json", json.dumps(whole, indent=2) + "\n")
    assert [key for key in keys if types_of(known[key]) and "null" not in types_of(known[key])] == []
    assert keys


def test_a_server_that_was_stopped_before_its_first_answer_is_as_its_schema_says():
    told = place(schema("serve"), "rows[]")["properties"]
    for key, value in Record().summary().items():
        check(value, told.get(key, {}), key)
    check(None, schema("serve")["properties"]["load"])


def test_a_ledger_file_is_as_its_schema_says(tmp_path, capsys):
    path = str(tmp_path / "ledger.jsonl")
    assert main(["compare", "--tokens", "64", "--seeds", "0:2", "--ledger", path]) == 0
    for line in Path(path).read_text().splitlines():
        hold(json.loads(line), "ledger")


def test_every_schema_that_the_program_names_is_a_file_and_on_the_page():
    page = (REFERENCE / "schemas.md").read_text(encoding="utf-8")
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = {found for text in sources for found in re.findall(r"clover-sim/[a-z-]+/\d+", text)}
    for name in named:
        file = f"{name.split('/')[1]}.schema.json"
        assert schema(name.split("/")[1])["title"] == name
        assert f"| `{name}` |" in page and f"(schemas/{file})" in page, name
    files = {path.name for path in (REFERENCE / "schemas").iterdir()}
    assert files == {f"{name.split('/')[1]}.schema.json" for name in named}


def headings(text: str) -> list[int]:
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [len(marks) for marks in re.findall(r"^(#+) ", outside, re.MULTILINE)]


def test_the_chinese_readme_keeps_step():
    """The same headings, and the same code and output, to the byte and in the same order."""
    english = (ROOT / "README.md").read_text(encoding="utf-8")
    page = ROOT / "README.zh-CN.md"
    chinese = page.read_text(encoding="utf-8")
    ours, theirs = BLOCK.findall(chinese), BLOCK.findall(english)
    assert len(ours) == len(theirs), "a block was added to or removed from README.md: do the same in README.zh-CN.md"
    for mine, other in zip(ours, theirs, strict=True):
        chinese = chinese.replace(mine, other, 1) if mine != other else chinese
    settle(page, chinese)
    assert headings(chinese) == headings(english)
    quoted = re.compile(r"`(clover-sim [a-z][^`\n]*)`")
    assert set(quoted.findall(chinese)) == set(quoted.findall(english))


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "README.zh-CN.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


def test_contributing_states_what_ci_runs():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert ".ci/run" in text and os.access(ROOT / ".ci" / "run", os.X_OK)
    for path in re.findall(r"`(src/clover_sim/[a-z_/.]+\.py)`", text):
        assert (ROOT / path).is_file(), path
_ROW = re.compile(r"^\| `clover-sim/([a-z-]+)/\d+` \| `clover-sim ([^`]+) --format json`", re.MULTILINE)
_ELSEWHERE = {"comparison", "sweep", "trace", *(name for name, _ in DOCUMENTS)}
DOCUMENTS += [
    (name, command)
    for name, command in _ROW.findall((REFERENCE / "schemas.md").read_text(encoding="utf-8"))
    if name not in _ELSEWHERE
]
"""Those above, and what the page alone names."""
