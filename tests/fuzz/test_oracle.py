"""The oracle sees what is wrong: every kind of fault, planted."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clover_sim.cli import list as command
from clover_sim.errors import InputError

if not hasattr(os, "fork"):
    pytest.skip("tries run in processes that are forked", allow_module_level=True)

from fuzz.mutation import damage, damage_word
from fuzz.oracle import Case, judge, strict_json
from fuzz.shrinking import shrink
from fuzz.targets import case, targets
from fuzz.words import TOO_SLOW, flags, harmless


def fail(error: BaseException) -> Any:
    raise error


def leave(name: str) -> int:
    Path(name).write_text("half")
    return 0


def say(text: str, code: int = 0) -> int:
    sys.stderr.write(text)
    return code


PLANTED: dict[str, tuple[Any, str]] = {
    "a traceback": (lambda args, console: fail(KeyError("x")), "internal"),
    "no memory": (lambda args, console: fail(MemoryError()), "memory"),
    "an end of the program": (lambda args, console: fail(SystemExit(0)), "ended"),
    "a code of its own": (lambda args, console: 7, "code"),
    "two lines": (lambda args, console: say("clover-sim list: error: a\nclover-sim list: error: b\n", 3), "stderr"),
    "no line": (lambda args, console: 3, "stderr"),
    "a line of nobody": (lambda args, console: say("hello\nclover-sim list: error: a\n", 3), "stderr"),
    "a long line": (lambda args, console: say(f"clover-sim: warning: {'x' * 2000}\n"), "stderr"),
    "control characters": (lambda args, console: say("clover-sim: warning: \x1b]0;x\x07\n"), "stderr"),
    "no JSON": (lambda args, console: console.write('{"a": NaN}\n') or 0, "json"),
    "a temporary file": (lambda args, console: leave(".clover-sim.1.0.tmp"), "left"),
    "a file nobody asked for": (lambda args, console: leave("surprise"), "left"),
    "an input changed": (lambda args, console: leave("input.txt"), "changed"),
    "a warning": (lambda args, console: warnings.warn("x", ResourceWarning, stacklevel=1) or 0, "stray"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, kind = PLANTED[name]
    monkeypatch.setattr(command, "run", run)
    made = Case("planted", ("list", "models", "--format", "json"), {"input.txt": b"whole"})
    if kind != "json":
        made = Case("planted", ("list", "models"), {"input.txt": b"whole"})
    fault = judge(made, str(tmp_path))
    assert fault is not None and fault.kind == kind, fault


def test_a_try_that_takes_too_long_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(args: Any, console: Any) -> int:
        while True:
            sum(range(1000))

    monkeypatch.setattr(command, "run", run)
    fault = judge(Case("planted", ("list", "models")), str(tmp_path), seconds=0.2)
    assert fault is not None and fault.kind == "slow"


def test_what_is_right_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ("list models", "list models --format json", "list nothing", "nothing", "-V", "list --help"):
        folder = tmp_path / words.replace(" ", "_")
        folder.mkdir()
        assert judge(Case("right", tuple(words.split())), str(folder)) is None
    monkeypatch.setattr(command, "run", lambda args, console: fail(InputError("clear")))
    folder = tmp_path / "clear"
    folder.mkdir()
    assert judge(Case("right", ("list", "models")), str(folder)) is None


def test_python_that_raises_is_a_fault(tmp_path: Path) -> None:
    assert judge(Case("call", source="cs.load_model('no-such-model')"), str(tmp_path)) is None
    raised = judge(Case("call", source="1 / 0"), str(tmp_path))
    assert raised is not None and raised.kind == "raised"
    not_json = judge(Case("call", source="result = [nan]"), str(tmp_path))
    assert not_json is not None and not_json.kind == "raised"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": 1, "a": 2}', "", "{"])
def test_strict_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        strict_json(text)


def test_every_command_and_flag_is_fuzzed() -> None:
    from clover_sim.cli._dispatch import commands

    assert {f"flags-{name}" for name in commands()} <= set(targets())
    for name, known in flags().items():
        met = {word.partition("=")[0] for number in range(1500) for word in case(f"flags-{name}", 5, number).argv}
        missing = [flag.names for flag in known if flag.names and not met & set(flag.names)]
        assert {spelled for names in missing for spelled in names} <= TOO_SLOW, (name, missing)


def test_a_try_is_the_same_each_time() -> None:
    for target in sorted(targets()):
        assert [case(target, 3, number) for number in range(5)] == [case(target, 3, number) for number in range(5)]


def test_words_stay_in_their_folder() -> None:
    for word in ("/etc/passwd", "--export=/tmp/x", "../../x", "a:/b", "=//x", "~/x", "a/../../b"):
        made = harmless(word)
        assert not made.startswith(("/", "~")) and ".." not in made and "=/" not in made and ":/" not in made, made
    assert harmless("/dev/null") == "/dev/null"


def test_shrinking_keeps_what_shows_the_fault() -> None:
    made = Case("x", ("a", "b", "--bad", "c"), {"f": b"0123456789" * 30, "g": b"y"}, b"stdin")
    best = shrink(made, lambda c: "--bad" in c.argv and b"7" in c.files.get("f", b""), 2000)
    assert best == Case("x", ("a", "--bad"), {"f": b"7"})


def test_damage_changes_things() -> None:
    rng = Random("damage")
    text = b'{"a": [1, 2.5, "x"], "b": {"c": null}}\n'
    assert sum(damage(rng, text) != text for _ in range(300)) > 250
    assert sum(damage_word(rng, "a=1") != "a=1" for _ in range(300)) > 250
