"""The same question gives the same bytes: whatever the hash seed, the locale, the clock's zone, the processes."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from cli.harness import cli, environment
from clover_sim.cli import main
from safety.invocations import computing, parser, quick, samples

MORE = {
    "agent-seed": "agent ten-turn-tools --tasks 20 --seed 3 --format json",
    "compare-grammar": "compare --profile tool-call --tokens 200 --seeds 0:3 --format json",
    "compare-context": "compare --profile context --tokens 100 --seeds 0:2 --format csv",
    "compare-input": "compare --input calls.jsonl --format markdown",
    "explain-model": "explain server.log --model qwen3-8b --gpu h100 --format json",
    "list-columns": "list columns --format json",
    "price-batches": "price --model llama-3.1-8b --batch-size 1,8 --format json",
    "serve-ladder": "serve --requests 20 --pool 4 --rate 2 --seed 5 --format json",
    "serve-log": "serve --log requests.csv --pool 4 --format json",
    "sweep-grid": "sweep --vary threshold=0.7,0.8,0.9 --vary block_size=8,16 --tokens 100 --seeds 0:2 --format json",
    "trace-input": "trace --input calls.jsonl --tokens 40",
}
"""Beside a quick run of every command in each of its formats, found by itself: what those do not reach."""

SLOW = {"calibrate-tpf": "calibrate --tpf-at 0.9=3.25 --block-size 8"}
"""Asked of this version of Python and of one other, where there is one."""

FORMATS = ("table", "json", "csv", "markdown", "html", "svg", "toml")

ANSWER = """
import io, json, sys
from clover_sim.cli import main
given, answers = json.loads(sys.argv[1]), {}
for name, words in given:
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in "12")
    try:
        code = main(words)
    finally:
        sys.stderr = sys.__stderr__
    sys.stdout.flush()
    answers[name] = [code, sys.stdout.buffer.getvalue().decode()]
sys.__stdout__.write(json.dumps(answers))
"""
"""Many questions to one process: starting one for each would be most of the time."""


@cache
def questions():
    """Words by name: each command that computes in each of its formats, then the rest."""
    found = {}
    for command in computing():
        taken = next(action for action in parser(command)._actions if action.dest == "format")
        for name in FORMATS:
            try:
                taken.type(name)
            except Exception:
                continue
            found[f"{command}-{name}"] = [*quick(command), "--format", name]
    return found | {name: line.split() for name, line in MORE.items()}


STARTED: dict[str, subprocess.Popen[str]] = {}
FOLDER: list[Path] = []


def ask(key, order, python=sys.executable, **env):
    """Start a process that answers the questions ``order`` names, in a folder with what they read."""
    known = questions() | {name: line.split() for name, line in SLOW.items()}
    given = json.dumps([(name, known[name]) for name in order])
    STARTED[key] = subprocess.Popen(
        [python, "-c", ANSWER, given], stdout=subprocess.PIPE, cwd=FOLDER[0], env=environment(**env), text=True,
        encoding="ascii",
    )  # fmt: skip


@cache
def answers(key):
    out, _ = STARTED[key].communicate(timeout=300)
    assert STARTED[key].returncode == 0
    return json.loads(out)


def beforehand(items):
    """Start every process when the session does: they do not mind the tests before (``tests/conftest.py``)."""
    wanted = {item.originalname for item in items}
    if not wanted & {"test_hash_seed_locale_and_zone_change_nothing", "test_versions_of_python_agree"}:
        return
    FOLDER.append(samples(Path(tempfile.mkdtemp(prefix="clover-same-"))))
    turkish, german = locales()
    names = list(questions())
    ask("C", names, PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C")
    # Asked backwards, so that no answer may lean on another.
    ask("Turkish", names[::-1], PYTHONHASHSEED="1", TZ="America/New_York", LC_ALL=turkish, LANG="tr_TR.UTF-8",
        PYTHONUTF8="1")  # fmt: skip
    ask("German", names, PYTHONHASHSEED="4242", TZ="Europe/Berlin", LC_ALL=german, LC_NUMERIC=german, COLUMNS="120")
    if "test_versions_of_python_agree" in wanted and other_pythons():
        ask("slow", SLOW)
        newest = max(other_pythons())  # the slow question goes to one of them
        for minor, path in other_pythons().items():
            ask(f"3.{minor}", [*names, *(SLOW if minor == newest else ())], path)


def afterwards():
    for process in STARTED.values():
        process.kill()
        process.wait()
        process.stdout.close()
    for folder in FOLDER:
        shutil.rmtree(folder)


@cache
def locales():
    try:
        listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    except OSError:
        listed = []
    return [next((have for have in listed if have.startswith(want)), "C") for want in ("tr_TR", "de_DE")]


@pytest.mark.parametrize("name", list(questions()))
def test_hash_seed_locale_and_zone_change_nothing(name):
    first = answers("C")[name]
    assert first[0] == 0 and first[1]
    assert answers("Turkish")[name] == first and answers("German")[name] == first


def test_a_process_of_its_own_says_the_same():
    for words in (["compare"], ["compare", "--format", "json"]):
        with redirect_stdout(io.StringIO()) as out:
            assert main(words) == 0
        assert cli(*words).stdout == out.getvalue()


@pytest.mark.parametrize("form", ["json", "csv", "html"])
def test_the_number_of_processes_changes_nothing(form):
    run = ["sweep", "--vary", "threshold=0.5:0.95:0.05", "--vary", "block_size=8,16,32", "--tokens", "400", "--seeds",
           "0:2", "--format", form]  # fmt: skip
    found = {jobs: cli(*run, "--jobs", jobs, env={"PYTHONHASHSEED": jobs}).stdout for jobs in ("1", "2", "3")}
    assert found["1"] == found["2"] == found["3"] and len(found["1"]) > 1000


@cache
def other_pythons():
    """Other supported versions of Python on this machine, if there are any."""
    found = {}
    for minor in range(11, 20):
        own = sys.version_info[:2] == (3, minor)
        path = shutil.which(f"python3.{minor}")
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        candidates = [path] if path else []
        candidates += [str(p / "bin" / "python3") for p in sorted(root.glob(f"3.{minor}.*"))]
        for candidate in [] if own else candidates:
            code = "import sys, tomllib, json, zlib, bz2; print(*sys.version_info[:2])"
            done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
            if done.stdout.split() == ["3", str(minor)]:
                found[minor] = candidate
                break
    return found


def test_versions_of_python_agree():
    if not other_pythons():
        pytest.skip("no other supported Python here")
    expected = answers("C") | answers("slow")
    for minor in other_pythons():
        found = answers(f"3.{minor}")
        assert set(found) >= set(questions())
        assert {name for name in found if found[name] != expected[name]} == set(), f"Python 3.{minor}"
