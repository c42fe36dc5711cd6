"""Reference pages and the Chinese README say what the program does.

``CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/notebooks/test_pages.py`` brings them up to date.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clover_sim.cli._dispatch import commands
from clover_sim.comparison import compare
from clover_sim.errors import CloverError
from clover_sim.report.columns import COLUMNS
from clover_sim.sweeping import sweep
from clover_sim.trace import trace_block

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
UPDATE = bool(os.environ.get("CLOVER_SIM_UPDATE_DOCS"))
BLOCK = re.compile(r"^```(?:console|python|sh)\n.*?^```", re.MULTILINE | re.DOTALL)
HOW = "run CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/notebooks/test_pages.py"


def settle(page: Path, text: str) -> None:
    """The page is this text, or becomes it."""
    if UPDATE:
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, f"{page.name} is out of date: {HOW}"


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


def test_every_exit_code():
    text = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    stated = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}

    def codes(kind: type) -> set[int]:
        return {kind.exit_code}.union(*(codes(sub) for sub in kind.__subclasses__()))

    assert stated == codes(CloverError) | {0, 1, 130}


def check(value, schema, where="$"):
    """As much of JSON Schema as the files here use."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], where
    if "type" in schema:
        allowed = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        assert any(isinstance(value, kinds[k]) and not isinstance(value, bool) for k in allowed), (where, value)
    for key in schema.get("required", ()):
        assert key in value, f"{where}.{key} is missing"
    for key, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            check(value[key], inner, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]")


def schema(name: str) -> dict:
    return json.loads((REFERENCE / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


def test_the_schemas_hold(tmp_path):
    file = str(tmp_path / "cells")
    plain = lambda result: json.loads(json.dumps(result.to_dict()))  # noqa: E731
    check(plain(compare(None, tokens=[64], seeds=range(2))), schema("comparison"))
    swept = sweep(vary="batch_size=1,20000", tokens=64, prompt_tokens=8000, seeds=range(2), resume=file)
    check(plain(swept), schema("sweep"))
    check(plain(trace_block("block-diffusion")), schema("trace"))
    for line in Path(file).read_text().splitlines():
        check(json.loads(line), schema("sweep-cells"))
    described = schema("comparison")["properties"]["rows"]["items"]["properties"]
    assert {c.key for c in COLUMNS} <= set(described), "a column is missing in comparison.schema.json"


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
