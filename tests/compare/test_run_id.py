"""The id of a result: the same for the same inputs, another for any single change of one of them."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import clover_sim
from clover_sim import compare, compare_recordings
from clover_sim.report import get_format
from clover_sim.specs.load import DATA
from traces.test_forms import sequence, write

BASE: dict[str, Any] = {"strategies": ["ar", "eagle3", "block-diffusion"], "tokens": [32, 64]}

CHANGES: list[dict[str, Any]] = [
    {"strategies": ["ar", "eagle3"]},
    {"strategies": ["eagle3", "block-diffusion"]},
    {"strategies": ["eagle3", "ar", "block-diffusion"]},
    *({"strategies": ["ar", f"eagle3:{option}", "block-diffusion"]} for option in (
        "num_speculative_tokens=4", "acceptance=0.7500000000000001", "acceptance=[0.75,0.5,0.4]", "drafter=mtp-head",
        "drafter=none", "parallel_drafting=true", "clustering=[0.75,0.75]", "clustering=[0.75,0.7]",
    )),
    *({"strategies": ["ar", "eagle3", f"block-diffusion:{option}"]} for option in (
        "threshold=0.9", "block_size=16", "comparison=gt",
    )),
    {"tokens": [32]}, {"tokens": [64, 32]}, {"tokens": [32, 64, 65]},
    {"seeds": [0]}, {"seeds": [1]}, {"seeds": range(2)}, {"seeds": range(3)},
    {"profile": "tool-call"}, {"profile": "chat"}, {"profile": "reference:lift=0.1"},
    {"profile": "reference:stream_seed=43"}, {"profile": "reference:spec_seed=8"},
    {"profile": "reference:forced_error=0.19"}, {"profile": "context"}, {"profile": "context:contagion=0.5"},
    {"batch_size": 2}, {"batch_size": 3}, {"prompt_tokens": 1}, {"max_new_tokens": 70}, {"max_new_tokens": 20},
    {"kv_write": "separate"}, {"kv_write": "fused"}, {"eos_stop": "canvas"}, {"align": "absolute"},
    {"model": "llada2-mini"}, {"gpu": "b200"}, {"engine": "vllm"}, {"precision": "fp8"},
    {"schedule": "auto"}, {"schedule": [[1, 1, 3]]}, {"schedule": [[1, 2, 3]]}, {"schedule": [[1, 1, 2]]},
]  # fmt: skip


def run_id(**arguments: Any) -> str:
    return compare(**(BASE | arguments)).run_id


def test_any_single_change_gives_another_id() -> None:
    ids = {json.dumps(change, default=repr): run_id(**change) for change in ({}, *CHANGES)}
    assert [pair for pair in combinations(ids, 2) if ids[pair[0]] == ids[pair[1]]] == []
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in ids.values())


@pytest.mark.parametrize("change", [{}, *CHANGES[::6]], ids=str)
def test_equal_ids_are_equal_bytes(change: dict[str, Any]) -> None:
    first, again = compare(**(BASE | change)), compare(**(BASE | change))
    assert first.run_id == again.run_id
    for name in ("json", "csv", "markdown", "table", "html", "svg"):
        render = get_format(name).render
        assert render(first) == render(again)


def test_what_changes_no_figure_changes_no_id() -> None:
    base = run_id()
    for same in (
        {"strategies": ["ar", "eagle3", "block-diffusion"]}, {"kv_write": None}, {"allow_long": True},
        {"progress": lambda done, total: None}, {"keep": lambda about, run: None}, {"profile": "reference"},
        {"model": "clover-35b-a3b", "gpu": "h200", "precision": "bf16"}, {"tokenizer": "o200k"}, {"schedule": None},
    ):  # fmt: skip
        assert run_id(**same) == base


def test_the_version_is_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run_id()
    monkeypatch.setattr(clover_sim, "__version__", "999")
    assert run_id() != before


@pytest.mark.parametrize(
    ("kind", "folder", "name", "key"),
    [
        ("model", "models", "llama-3.1-8b", "vocab_size"), ("gpu", "hardware", "h200", "memory_gb"),
        ("engine", "engines", "sglang", "memory_utilization"),
    ],
)  # fmt: skip
def test_contents_count_and_not_the_place(kind: str, folder: str, name: str, key: str, tmp_path: Path) -> None:
    text = (Path(DATA) / folder / f"{name}.toml").read_text(encoding="utf-8")
    changed = re.sub(rf"(?m)^{key} = [0-9._]+", f"{key} = {'0.89' if kind == 'engine' else '150_000'}", text)
    assert changed != text
    ids = []
    for place, content in (("a", text), ("b", text), ("c", changed)):
        path = tmp_path / place / "mine.toml"
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")
        ids.append(run_id(**{kind: str(path)}))
    assert ids[0] == ids[1] != ids[2]


def test_a_workload_file_counts_by_its_contents(tmp_path: Path) -> None:
    text = (Path(DATA) / "workloads" / "tool-call.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    ids = []
    for content in (text, text, text.replace("mu = 10.77", "mu = 10.78")):
        path.write_text(content, encoding="utf-8")
        ids.append(run_id(profile=f"context:workload={path}"))
    assert ids[0] == ids[1] != ids[2]


def test_an_input_counts_by_its_contents_and_its_split(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    ids = []
    for text, options in (
        ("x = 1\n" * 9, {}), ("x = 1\n" * 9, {}), ("x = 2\n" * 9, {}), ("x = 1\n" * 10, {}),
        ("x = 1\n" * 9, {"tokenizer": "o200k"}), ("x = 1\n" * 9, {"profile": "context"}),
        ("x = 1\n" * 9, {"profile": "tool-call:lift=0.2"}), ("x = 1\n" * 9, {"tokens": [20]}),
    ):  # fmt: skip
        path.write_text(text, encoding="utf-8")
        ids.append(run_id(inputs=[str(path)], **({"tokens": None} | options)))
    assert ids[0] == ids[1] and len(set(ids)) == len(ids) - 1


PLUGIN = '''
class Mine:
    def __init__(self, size=SIZE):
        self.size = size

    def decode(self, canvas):
        while canvas.remaining:
            canvas.commit((yield canvas.block(self.size)).best(COUNT))
'''


def test_code_from_outside_counts_by_its_contents(tmp_path: Path) -> None:
    ids = []
    for folder, size, count in (("a", 8, 1), ("b", 8, 1), ("c", 8, 2), ("d", 4, 1)):
        path = tmp_path / folder / "mine.py"
        path.parent.mkdir()
        path.write_text(PLUGIN.replace("SIZE", str(size)).replace("COUNT", str(count)), encoding="utf-8")
        ids.append(run_id(strategies=[f"{path}:Mine"]))
    assert ids[0] == ids[1] and len(set(ids)) == 3


class Wide:
    """A decoder whose options are attributes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def decode(self, canvas: Any) -> Any:
        while canvas.remaining:
            canvas.commit((yield canvas.block(8)).best(self.count))


def test_the_attributes_of_an_object_count() -> None:
    one, again, two = (run_id(strategies=[Wide(n)]) for n in (1, 1, 2))
    assert one == again != two


def test_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.jsonl", sequence())
    other = write(tmp_path / "u" / "t.jsonl", sequence(id="u")) if (tmp_path / "u").mkdir() is None else ""
    named = ["block-diffusion:block_size=2,threshold=0.4"]
    ids = [
        compare_recordings(path).run_id, compare_recordings(path).run_id, compare_recordings(other).run_id,
        compare_recordings(path, seed=1).run_id, compare_recordings(path, named).run_id,
        compare_recordings(path, ["ar"]).run_id, compare_recordings(path, batch_size=2).run_id,
    ]  # fmt: skip
    assert ids[0] == ids[1] and len(set(ids)) == len(ids) - 1
    piped = []
    for name in (path, path, other):
        with open(name, encoding="utf-8") as stream:
            monkeypatch.setattr("sys.stdin", stream)
            piped.append(compare_recordings("-").run_id)
    assert piped[0] == piped[1] != piped[2]


def test_it_stands_in_the_document() -> None:
    result = compare(**BASE)
    assert list(result.to_dict())[:3] == ["schema", "version", "run_id"]
    assert result.to_dict()["run_id"] == result.run_id


def test_the_id_is_a_sha256_of_what_was_asked() -> None:
    from hashlib import sha256

    result = compare(**BASE)
    assert result.run_id == sha256(result.asked.encode()).hexdigest()[:16]
