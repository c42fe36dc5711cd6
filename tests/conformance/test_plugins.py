"""Installing a strategy needs no edit of the core: entry points, ``module:Class``, an object; and what can go wrong.

Each case is a folder with a module and the metadata that an installer would write, on the PYTHONPATH of a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clover_sim.registry import ENTRY_POINT_GROUP

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"

GOOD = '''
from dataclasses import dataclass

@dataclass(frozen=True, slots=True)
class Steady:
    """One token a pass."""

    pace: int = 1

    def decode(self, canvas):
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())
'''


def install(folder: Path, name: str, points: dict[str, str], source: str | None = None) -> Path:
    """What ``pip install`` leaves behind: the module and its ``.dist-info``."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{lines}")
    if source is not None:
        (folder / f"{name}.py").write_text(source)
    return folder


def python(code: str, *folders: Path, check: bool = True) -> str:
    """Standard output of ``code`` in a fresh process that sees the project and ``folders``."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", *folders)))}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=folders[0], capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout + ("" if check else done.stderr)


def refusal(spec: str, *folders: Path) -> tuple[str, str]:
    """(type of the error, its message) of ``build_strategy(spec)``."""
    code = f"""
from clover_sim import CloverError, build_strategy
try:
    print(build_strategy({spec!r}))
except CloverError as error:
    print(type(error).__name__, error.exit_code, str(error))
"""
    kind, _, message = python(code, *folders).strip().partition(" ")
    assert "\n" not in message
    return kind, message


RUN = """
from clover_sim import build_strategy, open_stream, run
name, decoder = build_strategy({spec!r})
print(name, decoder, run(decoder, open_stream("reference", 64)).totals.target_passes)
"""


def test_an_installed_strategy_is_found_by_its_name(tmp_path: Path) -> None:
    folder = install(tmp_path, "steadypkg", {"steady": "steadypkg:Steady"}, GOOD)
    assert python(RUN.format(spec="steady:pace=3"), folder).strip() == "steady Steady(pace=3) 64"
    listed = python("from clover_sim.registry import strategy_names; print(dict(strategy_names())['steady'])", folder)
    assert listed.strip() == "plug-in steadypkg:Steady"


def test_the_example_package_works_as_installed(tmp_path: Path) -> None:
    """Its own entry points, from its own pyproject.toml, and its own tests."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    points = project["entry-points"][ENTRY_POINT_GROUP]
    folder = install(tmp_path, "clover_halves", points)
    assert python(RUN.format(spec="halves"), folder, PLUGIN / "src").split()[-1] == "12"
    assert python(RUN.format(spec="clover_halves:Halves"), folder, PLUGIN / "src").split()[-1] == "12"
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', sys.argv[1]]))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", folder, PLUGIN / "src")))}
    done = subprocess.run(
        [sys.executable, "-c", code, str(PLUGIN / "tests")], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_example_is_short() -> None:
    assert len((PLUGIN / "src" / "clover_halves" / "__init__.py").read_text().splitlines()) <= 20


def test_a_class_named_by_its_module(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GOOD + "\nclass Outer:\n    Inner = Steady\nready = Steady(7)\n")
    for spec, shown in (
        ("mine:Steady", "Steady(pace=1)"),
        ("mine:Steady:pace=4", "Steady(pace=4)"),
        ("mine:Outer.Inner", "Steady(pace=1)"),
        ("mine:ready", "Steady(pace=7)"),
    ):
        assert f"{shown} 64" in python(RUN.format(spec=spec), tmp_path)
    assert refusal("mine:ready:pace=4", tmp_path)[0] == "UsageError"


def test_an_object_made_in_a_notebook() -> None:
    code = """
from clover_sim import check_decoder, open_stream, run
class Cell:
    def decode(self, canvas):
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())
print(run(Cell(), open_stream("reference", 10)).totals.target_passes, check_decoder(Cell()).ok)
"""
    assert python(code, ROOT) == "10 True\n"


def test_two_plugins_of_one_name(tmp_path: Path) -> None:
    first = install(tmp_path / "a", "onepkg", {"steady": "onepkg:Steady"}, GOOD)
    second = install(tmp_path / "b", "otherpkg", {"steady": "otherpkg:Steady"}, GOOD)
    kind, message = refusal("steady", first, second)
    assert kind == "PluginError" and "two strategies are called 'steady'" in message
    assert "onepkg:Steady" in message and "otherpkg:Steady" in message
    assert "Steady(pace=1) 64" in python(RUN.format(spec="otherpkg:Steady"), first, second)


def test_the_same_plugin_found_twice_is_one(tmp_path: Path) -> None:
    folders = [install(tmp_path / name, "onepkg", {"steady": "onepkg:Steady"}, GOOD) for name in ("a", "b")]
    assert "Steady(pace=1) 64" in python(RUN.format(spec="steady"), *folders)


@pytest.mark.parametrize("taken", ["ar", "block-diffusion", "clover"])
def test_a_plugin_that_hides_a_built_in(tmp_path: Path, taken: str) -> None:
    folder = install(tmp_path, "thief", {taken: "thief:Steady", "steady": "thief:Steady"}, GOOD)
    assert "steady Steady(pace=1) 64" in python(RUN.format(spec="steady"), folder)  # what else it brings is found
    code = "from clover_sim.registry import strategy_names; print(dict(strategy_names())['thief:Steady'])"
    listed = python(code, folder)
    assert listed.startswith(f"plug-in that calls itself {taken!r}")
    code = f"from clover_sim import build_strategy; print(type(build_strategy({taken!r})[1]).__module__)"
    assert python(code, folder).startswith("clover_sim.decoders.")


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("import not_there_at_all\n", "No module named 'not_there_at_all'"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("def broken(:\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("raise ValueError('two\\nlines')\n", "two lines"),
    ],
)
def test_a_broken_plugin(tmp_path: Path, source: str, match: str) -> None:
    folder = install(tmp_path, "brokenpkg", {"broken": "brokenpkg:Steady"}, source + GOOD)
    kind, message = refusal("broken", folder)
    assert kind == "PluginError" and match in message and message.startswith("4 ")
    assert "TokenByToken()" in python(RUN.format(spec="ar"), folder)  # the built-ins do not suffer


def test_a_plugin_whose_class_is_gone(tmp_path: Path) -> None:
    folder = install(tmp_path, "steadypkg", {"steady": "steadypkg:Stedy"}, GOOD)
    kind, message = refusal("steady", folder)
    assert kind in ("UsageError", "PluginError") and "did you mean 'Steady'" in message
    gone = install(tmp_path / "gone", "gonepkg", {"gone": "gonepkg:Steady"})
    assert "no module 'gonepkg'" in refusal("gone", gone)[1]


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("class Steady:\n    pass\n", "no method decode"),
        ("class Steady:\n    decode = 3\n", "no method decode"),
        ("Steady = 5\n", "no method decode"),
        ("def Steady():\n    return 3\n", "no method decode"),
        ("import math as Steady\n", "no method decode"),
    ],
)
def test_what_is_no_decoder(tmp_path: Path, source: str, match: str) -> None:
    folder = install(tmp_path, "oddpkg", {"odd": "oddpkg:Steady"}, source)
    kind, message = refusal("odd", folder)
    assert kind == "PluginError" and match in message


def test_a_class_that_cannot_be_made(tmp_path: Path) -> None:
    source = "class Plain:\n    def __init__(self):\n        raise KeyError('x')\n    decode = print\n"
    wrong = GOOD.replace("pace: int = 1", "pace: int = 1\n\n    def __post_init__(self):\n        1 / 0")
    folder = install(tmp_path, "oddpkg", {"plain": "oddpkg:Plain", "steady": "oddpkg:Steady"}, source + wrong)
    assert refusal("plain", folder)[0] == "DecoderFault"
    assert refusal("steady", folder)[0] in ("DecoderFault", "PluginError", "UsageError")
    assert refusal("plain:pace=3", folder)[0] == "UsageError"


def test_unknown_options_and_names_are_suggested(tmp_path: Path) -> None:
    folder = install(tmp_path, "steadypkg", {"steady": "steadypkg:Steady"}, GOOD)
    for spec, match in (
        ("steady:pase=3", "steady: unknown option 'pase'; did you mean 'pace'?"),
        ("steadi", "strategy 'steadi' is not known; did you mean 'steady'?"),
        ("blok-diffusion", "did you mean 'block-diffusion'?"),
        ("block-diffusion:treshold=0.9", "did you mean 'threshold'?"),
        ("steady:pace=fast", "steady: pace=fast is not a whole number"),
        ("steadypkg:Stedy", "did you mean 'Steady'?"),
        ("steadypgk:Steady", "there is no module 'steadypgk'"),
        ("clover_sim.nothing:Here", "there is no module 'clover_sim.nothing'"),
    ):
        kind, message = refusal(spec, folder)
        assert kind == "UsageError" and match in message, (spec, message)


def test_hints_that_exist_for_type_checkers_only(tmp_path: Path) -> None:
    """A usual style: annotations as text, and the names in them imported under TYPE_CHECKING."""
    source = '''
from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
if TYPE_CHECKING:
    from collections.abc import Generator
    from clover_sim import Canvas, Forward, View
    from somewhere_else import Nothing

@dataclass(frozen=True, slots=True)
class Steady:
    needs: ClassVar[frozenset[str]] = frozenset()
    notes: ClassVar[Nothing] = None
    pace: int = 1

    def decode(self, canvas: Canvas) -> Generator[Forward, View, None]:
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())
'''
    folder = install(tmp_path, "typedpkg", {"typed": "typedpkg:Steady"}, source)
    assert "Steady(pace=2) 64" in python(RUN.format(spec="typed:pace=2"), folder)
