"""The same question gives the same bytes: whatever the hash seed, the locale, the clock's zone, the processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from cli.harness import cli, environment
from safety.test_files import LOG

COMMANDS = {
    "agent": "agent ten-turn-tools --tasks 20 --seed 3 --format json",
    "calibrate": "calibrate --measured-tokens-per-s 100 --model llama-3.1-8b --gpu h100",
    "calibrate-tpf": "calibrate --tpf-at 0.9=3.25 --block-size 8",
    "compare": "compare --profile tool-call --tokens 200 --seeds 0:3 --format json",
    "compare-context": "compare --profile context --tokens 100 --seeds 0:2 --format csv",
    "compare-html": "compare --tokens 64 --format html",
    "compare-input": "compare --input TEXT --format markdown",
    "explain": "explain LOG --model qwen3-8b --gpu h100 --format json",
    "list": "list columns --format json",
    "price": "price --model llama-3.1-8b --batch-size 1,8 --format json",
    "serve": "serve --requests 20 --pool 4 --rate 2 --seed 5 --format json",
    "serve-log": "serve --log REQUESTS --pool 4 --format json",
    "speculate": "speculate --alpha 0.7 --num-speculative-tokens 3 --format json",
    "sweep": "sweep --vary threshold=0.7,0.8,0.9 --vary block_size=8,16 --tokens 100 --seeds 0:2 --format json",
    "sweep-html": "sweep --vary threshold=0.7,0.8,0.9 --tokens 64 --format html",
    "sweep-svg": "sweep --vary threshold=0.7,0.8,0.9 --tokens 64 --format svg",
    "trace": "trace --input TEXT --tokens 40",
    "trace-svg": "trace --format svg",
    "validate": "validate --format json",
}
"""Every command that computes, one question of each kind."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("same")
    call = '{"name": "suche", "args": {"stadt": "Zürich İstanbul", "n": 1.5}}\n'
    (path / "calls.jsonl").write_text(call * 12, "utf-8")
    (path / "log.txt").write_text(LOG * 4)
    # Summer time begins between the second and the third in most of Europe and America.
    times = ("2024-03-09 23:00:00", "2024-03-10 01:30:00", "2024-03-10 03:30:00", "2024-04-01 12:00:00")
    rows = "".join(f"{time},100,20\n" for time in times)
    (path / "requests.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
    return path


def words(name, folder):
    files = {"TEXT": "calls.jsonl", "LOG": "log.txt", "REQUESTS": "requests.csv"}
    return [str(folder / files[word]) if word in files else word for word in COMMANDS[name].split()]


@cache
def locales():
    try:
        listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    except OSError:
        listed = []
    wanted = ("tr_TR", "de_DE", "fr_FR", "C.utf8", "C.UTF-8", "POSIX")
    return [next((have for have in listed if have.startswith(want)), "C") for want in wanted]


def answer(name, folder, **env):
    done = cli(*words(name, folder), env={"PYTHONIOENCODING": "utf-8", **env}, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"calibrate-tpf"}))  # which takes its time
def test_hash_seed_locale_and_zone_change_nothing(name, folder):
    turkish, german, *_ = locales()
    first = answer(name, folder, PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C")
    for env in (
        {"PYTHONHASHSEED": "1", "TZ": "America/New_York", "LC_ALL": turkish, "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "1"},
        {"PYTHONHASHSEED": "4242", "TZ": "Europe/Berlin", "LC_ALL": german, "LC_NUMERIC": german, "COLUMNS": "120"},
    ):
        assert answer(name, folder, **env) == first


def test_every_command_that_computes_is_asked():
    from clover_sim.cli._dispatch import commands

    assert {line.split()[0] for line in COMMANDS.values()} == set(commands()) - {"completion"}


@pytest.mark.parametrize("form", ["json", "csv", "html"])
def test_the_number_of_processes_changes_nothing(folder, form):
    run = ["sweep", "--vary", "threshold=0.5:0.95:0.05", "--vary", "block_size=8,16,32", "--tokens", "400", "--seeds",
           "0:2", "--format", form]  # fmt: skip
    answers = {jobs: cli(*run, "--jobs", jobs, env={"PYTHONHASHSEED": jobs}).stdout for jobs in ("1", "2", "3")}
    assert answers["1"] == answers["2"] == answers["3"] and len(answers["1"]) > 1000


def _pythons():
    """Other supported versions of Python on this machine, if there are any."""
    found = {}
    for minor in range(11, 20):
        own = sys.version_info[:2] == (3, minor)
        path = shutil.which(f"python3.{minor}")
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        candidates = [path] if path else []
        candidates += [str(p / "bin" / "python3") for p in sorted(root.glob(f"3.{minor}.*"))]
        for candidate in candidates:
            code = "import sys, tomllib, json, zlib, bz2; print(*sys.version_info[:2])"
            done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
            if done.stdout.split() == ["3", str(minor)] and not own:
                found[minor] = candidate
                break
    return found



@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_versions_of_python_agree(name, folder):
    others = _pythons_once()
    if not others:
        pytest.skip("no other supported Python here")
    first = answer(name, folder)
    for path in others.values():
        done = subprocess.run(
            [path, "-m", "clover_sim", *words(name, folder)], capture_output=True, encoding="utf-8", timeout=120,
            env=environment(PYTHONIOENCODING="utf-8"), check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, first), (path, done.stderr)


@cache
def _pythons_once():
    return _pythons()
