"""Names and texts out of files can neither steer a terminal nor become markup or a formula."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import clover_sim
from clover_sim.cli import main
from clover_sim.report.csv import cell

DATA = Path(clover_sim.__file__).parent / "data"
STEER = "\x1b[31m\x1b]0;title\x07\x9b2J\u202egpj\u2066\u200b\b\r"
MARK = "<img src=x onerror=alert(1)>&\"'`|*_[x](y)"
EVIL = f"=1+1{STEER}{MARK}"
QUICK = ["--tokens", "48"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="file names of POSIX")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.found.update(f"{tag}.{name}" for name, _ in attrs if name.startswith("on"))


def check(text: str, form: str = "table") -> None:
    """No character that does not print but line ends, no tag of ours in markup, no cell that is a formula."""
    ends = "\r\n\t" if form == "csv" else "\n"
    steering = sorted({char for char in text if not char.isprintable() and char not in ends})
    assert steering == [], f"{form}: {steering!r} in {text[:2000]!r}"
    if form in ("html", "svg"):
        tags = _Tags()
        tags.feed(text)
        assert "img" not in tags.found and not any("." in tag for tag in tags.found)
    if form == "svg":
        ElementTree.fromstring(text)
    if form == "markdown":
        assert not re.search(r"(?<!\\)<img", text)
    if form == "csv":
        for row in csv.reader(io.StringIO(text, newline="")):
            assert not any(value.startswith(("=", "+", "@", "\t", "\r")) for value in row), row


def run(capsys, *words, code=0):
    got = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert got == code, err
    check(err)
    return out


def model(folder: Path, name: str = EVIL) -> Path:
    """A model file whose texts are hostile."""
    lines = (DATA / "models" / "llama-3.1-8b.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("name", "aliases"))]
    path = folder / "model.toml"
    path.write_text("\n".join([f"name = {json.dumps(name)}", *kept]))
    return path


def hardware(folder: Path) -> Path:
    lines = (DATA / "hardware" / "h200.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("name", "title", "aliases"))]
    path = folder / "card.toml"
    path.write_text("\n".join([f"name = {json.dumps(EVIL)}", f"title = {json.dumps(EVIL)}", *kept]))
    return path


def engine(folder: Path) -> Path:
    lines = (DATA / "engines" / "sglang.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("name", "title", "aliases"))]
    path = folder / "engine.toml"
    path.write_text("\n".join([f"name = {json.dumps(EVIL)}", f"title = {json.dumps(EVIL)}", *kept]))
    return path


@pytest.fixture
def machine(tmp_path):
    return ["--model", model(tmp_path), "--gpu", hardware(tmp_path), "--engine", engine(tmp_path)]


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / f"{EVIL}.txt"
    path.write_text(f"call {EVIL} twice {EVIL}\n" * 12)
    return path


FORMATS = ("table", "json", "csv", "markdown", "html", "svg")


@pytest.mark.parametrize("form", FORMATS)
def test_compare_of_hostile_names(tmp_path, capsys, machine, text_file, form):
    check(run(capsys, "compare", "--input", text_file, *QUICK, *machine, "--format", form), form)


@pytest.mark.parametrize("form", FORMATS)
def test_sweep_of_hostile_names(tmp_path, capsys, machine, text_file, form):
    words = ["--vary", "threshold=0.8,0.9", "--input", text_file, *QUICK, *machine]
    check(run(capsys, "sweep", *words, "--format", form), form)


@pytest.mark.parametrize("form", ["table", "json", "svg"])
def test_trace_of_hostile_text(capsys, text_file, form):
    check(run(capsys, "trace", "--input", text_file, "--tokens", "40", "--format", form), form)


def _record(**more):
    steps = [{"masked": [0, 1], "confidence": [0.9, 0.8], "committed": [0]},
             {"masked": [1], "confidence": [0.9], "committed": [1]}]  # fmt: skip
    entry = {"id": EVIL, "block_size": 2, "rule": "threshold", "threshold": 0.85, "tokens": [EVIL, EVIL],
             "domain": EVIL, "blocks": [{"start": 0, "passes": steps}]}  # fmt: skip
    return json.dumps({**entry, **more}) + "\n"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "html", "svg"])
def test_recorded_traces_with_hostile_names(tmp_path, capsys, form):
    path = tmp_path / f"{EVIL}.jsonl"
    path.write_text(_record())
    check(run(capsys, "compare", "--trace", path, "--format", form), form)
    if form in ("table", "json", "svg"):
        check(run(capsys, "trace", "--trace", path, "--format", form), form)


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_fit_to_a_hostile_trace(tmp_path, capsys, form):
    path = tmp_path / f"{EVIL}.jsonl"
    path.write_text(_record() * 3)
    out = run(capsys, "calibrate", "--trace", path, "--format", form)
    check(out)
    if form == "toml":
        assert set(tomllib.loads(out)) <= {"name", "summary", "text", "source", "confidence", "published"}


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_calibration_of_hostile_names(tmp_path, capsys, machine, form):
    out = run(capsys, "calibrate", "--measured-tokens-per-s", "100", *machine, "--format", form)
    check(out)
    if form == "toml":
        assert tomllib.loads(out)["model"].startswith("=1+1")


@pytest.mark.parametrize("form", ["table", "json"])
def test_price_serve_agent_speculate_of_hostile_machines(tmp_path, capsys, machine, form):
    check(run(capsys, "price", *machine, "--format", form))
    quick = ["--requests", "5", "--pool", "2", "--rate", "1"]
    check(run(capsys, "serve", *quick, *machine, "--format", form))
    check(run(capsys, "agent", "ten-turn-tools", "--tasks", "2", *machine, "--format", form))
    check(run(capsys, "speculate", "--alpha", "0.7", "--num-speculative-tokens", "3", *machine, "--format", form))


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_hostile_configuration(tmp_path, capsys, form):
    path = tmp_path / "config.json"
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4,
              "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 2048, "vocab_size": 1000,
              "_name_or_path": EVIL, "torch_dtype": "bfloat16", "transformers_version": EVIL}  # fmt: skip
    path.write_text(json.dumps(config))
    check(run(capsys, "price", "--model", path, "--format", form))
    for key in ("architectures", "model_type", "torch_dtype", "hidden_size", "quantization_config"):
        path.write_text(json.dumps({**config, key: EVIL, EVIL: 1}))
        main(["price", "--model", str(path), "--format", form])
        out, err = capsys.readouterr()
        check(out + err)
        assert err.count("\n") <= 3 and "Traceback" not in err


LOG = (
    "INFO 10-01 12:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
    "throughput: 74.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: "
    "0.0%\n"
)


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_hostile_log(tmp_path, capsys, form):
    path = tmp_path / f"{EVIL}.log"
    start = "INFO 10-01 12:00:00 [core.py:1] Initializing a V1 LLM engine with config: "
    start += f"model='{EVIL}', dtype='{EVIL}'\n"
    path.write_text(start + f"{EVIL}\n" + LOG * 4, encoding="utf-8", newline="\n")
    check(run(capsys, "explain", path, "--format", form))


@pytest.mark.parametrize("form", ["table", "json"])
def test_hostile_measurements(tmp_path, capsys, form):
    path = tmp_path / "rows.json"
    row = {"id": EVIL, "model": "llama-3.1-8b", "gpu": "h100", "n_gpus": 1, "precision": "bf16", "batch": 1,
           "context_tokens": 1000, "workload": EVIL, "engine": "vllm", "tokens_per_s": 100, "source": EVIL}  # fmt: skip
    path.write_text(json.dumps([row, {**row, "id": EVIL + "2", "model": EVIL}, {**row, "gpu": EVIL, "id": "3"}]))
    check(run(capsys, "validate", "--measurements", path, "--format", form))
    path.write_text(json.dumps([{**row, "batch": EVIL}]))
    main(["validate", "--measurements", str(path)])
    check("".join(capsys.readouterr()))


@pytest.mark.parametrize("form", ["table", "json"])
def test_hostile_transcripts_tasks_and_logs_of_requests(tmp_path, capsys, form):
    calls = [{"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": EVIL}}]
    messages = [{"role": "user", "content": EVIL}, {"role": "assistant", "content": EVIL, "tool_calls": calls},
                {"role": "tool", "content": EVIL, "tool_call_id": EVIL},
                {"role": "assistant", "content": "x"}]  # fmt: skip
    path = tmp_path / f"{EVIL}.jsonl"
    path.write_text("".join(json.dumps(m) + "\n" for m in messages))
    check(run(capsys, "agent", path, "--tasks", "2", "--format", form))
    task = tmp_path / "task.toml"
    lines = (DATA / "agents" / "ten-turn-tools.toml").read_text().splitlines()
    texts = [f"{key} = {json.dumps(EVIL)}" for key in ("name", "summary", "source")]
    task.write_text("\n".join(texts + [line for line in lines if not line.startswith(("name", "summary", "source"))]))
    check(run(capsys, "agent", task, "--tasks", "2", "--format", form))
    requests = tmp_path / f"{EVIL}.csv"
    requests.write_text(f"time,prompt_tokens,output_tokens,{json.dumps(EVIL[:4])}\n0,100,10,x\n1,100,10,x\n")
    check(run(capsys, "serve", "--log", requests, "--pool", "2", "--format", form))


def test_error_messages_are_one_harmless_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(f"{EVIL}.json").write_text(EVIL)
    Path(f"{EVIL}.toml").write_text(EVIL)
    for words in (
        ["compare", "-s", EVIL], ["compare", "--profile", EVIL], ["compare", "--model", EVIL],
        ["compare", "--gpu", EVIL],
        ["compare", "--engine", EVIL], ["compare", "--cost", EVIL], ["compare", "--input", EVIL], [EVIL], [f"-{EVIL}"],
        ["compare", f"--{EVIL}"], ["compare", "--trace", EVIL], ["compare", "--trace", f"{EVIL}.json"],
        ["compare", "--model", f"{EVIL}.json"], ["compare", "--model", f"{EVIL}.toml"], ["price", "--ledger", EVIL],
        ["price", "--ledger", f"{EVIL}.json"], ["explain", EVIL], ["explain", f"{EVIL}.json"], ["agent", EVIL],
        ["agent", f"{EVIL}.json"], ["serve", "--log", f"{EVIL}.json"], ["serve", "--text", EVIL], ["list", EVIL],
        ["compare", "--export", f"{EVIL}/x.json"], ["compare", "--export", f"{EVIL}.json"],
        ["compare", "--columns", EVIL],
        ["compare", "--fail-under", EVIL], ["sweep", "--vary", EVIL], ["sweep", "--where", EVIL],
        ["sweep", "--best", EVIL],
        ["sweep", "--resume", f"{EVIL}.json"], ["calibrate", "--tpf-at", EVIL], ["validate", "--measurements", EVIL],
        ["validate", "--measurements", f"{EVIL}.json"], ["compare", "-v", "--input", EVIL], ["completion", EVIL],
        ["compare", "--seeds", EVIL], ["compare", "--tokens", EVIL], ["speculate", "--from-log", EVIL],
    ):  # fmt: skip
        code = main(words)
        out, err = capsys.readouterr()
        assert code in (2, 3), (words, err)
        check(out + err)
        assert err.count("\n") == 1 or "-v" in words, err


PLUGIN = f'''
from dataclasses import dataclass


@dataclass(frozen=True)
class Evil:
    note: str = {EVIL!r}
    summary: str = {EVIL!r}

    def decode(self, canvas):
        while canvas.remaining:
            span = canvas.block(4)
            while canvas.frontier < span.stop:
                view = yield span
                canvas.commit(view.best())


class Angry:
    def decode(self, canvas):
        raise RuntimeError({EVIL!r})
        yield


Named = type({EVIL!r}, (Evil,), {{}})
'''


@pytest.mark.parametrize("form", FORMATS)
def test_labels_of_plug_ins(tmp_path, capsys, monkeypatch, form):
    name = f"plugged_{form}"
    (tmp_path / f"{name}.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["-s", "ar", "-s", f"{name}:Evil", "-s", f"{name}:Named", *QUICK, "--format", form]
    check(run(capsys, "compare", *words), form)
    run(capsys, "compare", "-s", f"{name}:Angry", *QUICK, code=4)


def test_cells_of_a_spreadsheet_are_texts():
    for start in "=+-@\t\r\n":
        assert cell(f"{start}1+1|x").startswith("'")
    for start in "＝＋－＠":  # what some spreadsheets read as their narrow forms
        assert cell(f"{start}1").startswith("'")
    assert cell(" =1") == "' =1" and cell('"=1') == '"=1'
    assert cell(-1.5) == -1.5 and cell("plain") == "plain" and cell({"a": -1}) == "a=-1"


def test_a_csv_row_stays_one_row(tmp_path, capsys, text_file):
    out = run(capsys, "compare", "--input", text_file, *QUICK, "--format", "csv")
    rows = list(csv.reader(io.StringIO(out, newline="")))
    assert len({len(row) for row in rows}) == 1 and out.count("\r\n") == len(rows)
    assert os.path.basename(text_file)[0] == "="
