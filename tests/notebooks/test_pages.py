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
from clover_sim.cli.list import TOPICS
from clover_sim.comparison import compare
from clover_sim.errors import CloverError
from clover_sim.report.columns import COLUMNS
from clover_sim.sweeping import sweep
from clover_sim.trace import trace_block
from logs.lines import engine, v1

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


def check(value, schema, where="$"):
    """As much of JSON Schema as the files here use."""
    kinds = {
        "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None),
        "boolean": bool,
    }  # fmt: skip
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], where
    if "type" in schema:
        allowed = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        found = [k for k in allowed if isinstance(value, kinds[k]) and (k == "boolean" or not isinstance(value, bool))]
        assert found, (where, value)
    for key in schema.get("required", ()) if isinstance(value, dict) else ():
        assert key in value, f"{where}.{key} is missing"
    for key, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            check(value[key], inner, f"{where}.{key}")
    if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        for key in value.keys() - schema.get("properties", {}).keys():
            check(value[key], schema["additionalProperties"], f"{where}.{key}")
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


DOCUMENTS = [
    ("agent", "agent web-task --tasks 5"), ("agent", "agent joint-decisions --tasks 5 --token-price 0.2/0.75"),
    ("serve", "serve --requests 50 --pool 20 --ladder 1,64"),
    ("serve", "serve --users 4 --ladder none --requests 20 --pool 10 --target-first-token-ms 500"),
    ("serve-published", "serve --published"),
    ("price", "price --width 1,8"), ("price", "price --params-b 8 --gpu-bandwidth-tb-s 1"),
    ("price", "price --ledger {ledger}"),
    ("speculation", "speculate --workload code --model llama-3.1-8b --gpu h100"),
    ("speculation", "speculate --method ngram --workload chat --model llama-3.1-8b --gpu h100 --batch-size 64"),
    ("explain", "explain {log}"), ("explain", "explain {log} --model llama-3.1-8b --gpu h100"),
    ("validation", "validate"), ("claims", "validate --claims"), ("diffusion-checks", "validate --diffusion"),
    ("calibration", "calibrate --measured-tokens-per-s 140 --model llama-3.1-8b --gpu h100"),
    ("confidence", "calibrate --tpf-at 0.9=3.25"),
    *(("list", f"list {topic}") for topic in TOPICS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "command"), DOCUMENTS, ids=[command for _, command in DOCUMENTS])
def test_every_document_is_as_its_schema_says(name, command, tmp_path, capsys, monkeypatch):
    if command.endswith("--diffusion"):  # its rows take twenty seconds and are tested where they are made
        monkeypatch.setattr("clover_sim.diffusion_checks.check_diffusion", lambda traces: [])
    files = {"ledger": str(tmp_path / "ledger.jsonl"), "log": str(tmp_path / "server.log")}
    Path(files["log"]).write_text("".join(v1(200, [160, 100, 60])) + engine(50.0, 3))
    assert main(["compare", "--tokens", "64", "--ledger", files["ledger"]]) == 0
    capsys.readouterr()
    assert main([*command.format(**files).split(), "--format", "json"]) == 0
    check(json.loads(capsys.readouterr().out), schema(name))


def test_a_ledger_file_is_as_its_schema_says(tmp_path, capsys):
    path = str(tmp_path / "ledger.jsonl")
    assert main(["compare", "--tokens", "64", "--seeds", "0:2", "--ledger", path]) == 0
    for line in Path(path).read_text().splitlines():
        check(json.loads(line), schema("ledger"))


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
