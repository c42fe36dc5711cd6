"""What is mutated: the package's own data files, and the texts and tables that stand in the other tests."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import clover_sim
from fuzz.mutation import text_bytes

TESTS = Path(__file__).resolve().parents[1]
DATA = Path(clover_sim.__file__).parent / "data"
LONGEST = 60_000

FOLDERS = {
    "config": ("specs_hf", "specs", "safety"), "gguf": ("specs_hf",), "log": ("logs", "speculation"),
    "trace": ("traces", "notebooks"), "task": ("agents",), "sizes": ("agents", "serving"), "rows": ("validate",),
    "table": ("specs", "cost", "safety"), "ledger": ("compare",), "resume": ("sweeping",), "text": ("streams",),
    "calibration": ("cost",),
}  # fmt: skip
"""Kind of file -> folders of tests whose literals may be one."""


def literals(path: Path) -> Iterator[bytes]:
    """Texts of some length in a test file, with 7 for what is filled in; and its tables, as JSON."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield text_bytes("".join(str(p.value) if isinstance(p, ast.Constant) else "7" for p in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            text = node.value if isinstance(node.value, bytes) else text_bytes(node.value)
            if len(text) > 30:
                yield re.sub(rb"\{[^{}\"\n:]{0,12}(:[^{}\n]{0,8})?\}", b"7", text)
        elif isinstance(node, (ast.Dict, ast.List)):
            try:
                value = ast.literal_eval(node)
                yield json.dumps(value).encode()
            except (ValueError, TypeError):
                continue


def _fits(kind: str, text: bytes) -> bool:
    """Whether a literal can be such a file at all: the folders hold much else."""
    start = text.lstrip()[:1]
    if kind in ("config", "gguf", "rows", "resume"):
        return start in (b"{", b"[") and len(text) > 40 and (kind != "gguf" or b"general.architecture" in text)
    if kind in ("trace", "task", "ledger"):
        return (start in (b"{", b"[") and len(text) > 15) or (kind == "task" and b" = " in text)
    if kind in ("table", "calibration"):
        return b" = " in text and b"\n" in text
    if kind == "sizes":
        return b"okens" in text or b"_length" in text
    return len(text) > 40


def _harvest(kind: str) -> list[bytes]:
    found: set[bytes] = set()
    for folder in FOLDERS[kind]:
        for path in sorted((TESTS / folder).glob("*.py")):
            found.update(text for text in literals(path) if len(text) <= LONGEST and _fits(kind, text))
    return sorted(found)


def _data(folder: str, least: int = 0) -> list[bytes]:
    return [p.read_bytes() for p in sorted((DATA / folder).glob("*.toml")) if p.stat().st_size > least]


def _log_lines() -> list[bytes]:
    """Whole logs put together from the lines that the tests of the readers use."""
    from fuzz import samples
    from logs import lines

    layouts = ("modern", "depth", "september", "0.9", "0.8", "first")
    v1 = [lines.v1(400, [320, 240, 160], layout=layout) for layout in layouts]
    texts = [
        *v1, v1[0] * 3 + lines.engine(120.0, 4) + v1[1], lines.v0(3, 60, 90, 100) * 2,
        "".join(lines.decode(s, 1000 * s, 80.0 + s, 2.5, 0.5) for s in range(1, 30)),
        lines.BENCH.format(output=1000, speed="50.00") + lines.BENCH_SPEC, *samples.LOGS,
    ]  # fmt: skip
    return [text_bytes(text) for text in texts]


def _made() -> dict[str, list[bytes]]:
    """Files that the program itself writes."""
    from clover_sim.cli import main

    commands = {
        "ledger": "compare --tokens 24 -s ar -s block-diffusion -s speculative --ledger f.jsonl",
        "trace": "compare --tokens 24 --profile tool-call -s block-diffusion:block_size=8 --record f.jsonl",
        "resume": "sweep --vary threshold=0.9,0.95 --tokens 16 --jobs 1 --resume f.jsonl",
        "calibration": "calibrate --measured-tokens-per-s 140 --model llama-3.1-8b --gpu h100 --export f.toml",
        "comparison": "compare --tokens 24 --export f.json",
    }
    made: dict[str, list[bytes]] = {}
    before = os.getcwd()
    for kind, words in commands.items():
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            os.chdir(folder)
            try:
                if main(words.split()) == 0:
                    made[kind] = [Path(words.split()[-1]).read_bytes()]
            finally:
                os.chdir(before)
    return made


@cache
def corpus() -> dict[str, list[bytes]]:
    """Seeds by kind of file; no kind is empty."""
    from fuzz import samples

    found: dict[str, list[bytes]] = {kind: _harvest(kind) for kind in FOLDERS}
    frozen: list[Any] = json.loads((TESTS / "specs_hf" / "frozen_counts.json").read_text(encoding="utf-8"))
    found["config"] += [json.dumps(entry["config"]).encode() for entry in frozen]
    found["log"] += _log_lines()
    found["sizes"] += [text_bytes(text) for text in samples.SIZES]
    found["task"] += [text_bytes(text) for text in samples.TASKS] + _data("agents")
    found["trace"] += [text_bytes(text) for text in samples.TRACES]
    found["gguf"] += [text_bytes(text) for text in samples.GGUF]
    found["rows"] += [json.dumps([{"id": "a", "model": "qwen3-8b", "gpu": "h100", "tokens_per_s": 100}]).encode()]
    found["rows"] += _data("measurements")
    found["text"] += [p.read_bytes()[:3000] for p in sorted((TESTS / "streams" / "samples").iterdir())]
    found["model"], found["hardware"], found["engine"] = _data("models"), _data("hardware"), _data("engines")
    found["workload"] = _data("workloads")
    for kind, made in _made().items():
        found[kind] = found.get(kind, []) + made * (1 + len(found.get(kind, [])))
    return {kind: items or [b""] for kind, items in sorted(found.items())}
