"""The public names: all documented with an example that holds, none hidden by a module, all typed."""

from __future__ import annotations

import doctest
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import clover_sim

NAMES = sorted(clover_sim._HOMES)
ROOT = Path(__file__).parents[2]


def described(name: str):
    """What holds the docstring: the object, or the class of a constant."""
    value = getattr(clover_sim, name)
    return value if inspect.isclass(value) or inspect.isfunction(value) else type(value)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_docstring_with_an_example_that_holds(name):
    thing = described(name)
    text = inspect.getdoc(thing) or ""
    assert text.partition("\n")[0].strip() and ">>> " in text
    finder = doctest.DocTestFinder(recurse=False)
    module = import_module(thing.__module__)
    (found,) = finder.find(thing, name, module, globs=vars(module).copy())
    assert found.examples
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found)
    assert outcome.failed == 0


def test_no_public_name_is_that_of_a_module():
    """Importing the module would put it in the place of the function."""
    modules = {info.name for info in pkgutil.iter_modules(clover_sim.__path__)}
    assert not modules & set(NAMES)
    for name in ("compare", "sweep", "price", "agent", "serve", "speculate"):
        assert callable(getattr(clover_sim, name))


def test_every_public_name_stands_where_type_checkers_look():
    source = Path(clover_sim.__file__).read_text(encoding="utf-8")
    for name, home in clover_sim._HOMES.items():
        assert f"from {home} import {name} as {name}\n" in source


def test_the_page_of_public_names_has_every_one():
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"`{name}`" in text or f"`cs.{name}`" in text, name


def results():
    import clover_sim as cs

    machine = cs.Machine(cs.load_model("llama-3.1-8b"), cs.load_hardware("h100"), cs.load_engine("vllm"))
    return {
        "compare": cs.compare(["ar", "block-diffusion"], tokens=64),
        "sweep": cs.sweep(vary="threshold=0.8,0.9,0.99", tokens=64),
        "price": cs.price(machine, widths=(1, 8)),
        "speculate": cs.speculate(machine, "eagle3", "code"),
        "agent": cs.agent("web-task", ["ar", "block-diffusion"], tasks=5),
        "serve": cs.serve(["ar"], cs.Traffic(requests=20, users_ladder=(1, 8)), pool=10),
    }


@pytest.fixture(scope="module")
def answers():
    return results()


@pytest.mark.parametrize("name", ["compare", "sweep", "price", "speculate", "agent", "serve"])
def test_every_answer_shows_itself_and_gives_flat_rows(name, answers):
    from xml.etree import ElementTree

    found = answers[name]
    assert found._repr_html_().count("<tr>") > 1 and "<script" not in found._repr_html_()
    ElementTree.fromstring(found._repr_svg_())
    assert len(repr(found)) < 200 and str(found).count("\n") > 5
    rows = found.to_dicts()
    assert rows and all(list(row) == list(rows[0]) for row in rows)
    if name != "compare":  # its rows are those of the JSON, options included
        flat = (str, int, float, bool, type(None))
        assert all(isinstance(value, flat) for row in rows for value in row.values())


def test_a_machine_is_named_once():
    with pytest.raises(clover_sim.UsageError, match="contradict"):
        clover_sim.price(clover_sim.Machine(
            clover_sim.load_model("qwen3-8b"), clover_sim.load_hardware("h100"), clover_sim.load_engine("vllm"),
        ), gpu="h200")  # fmt: skip
    named = clover_sim.serve(["ar"], clover_sim.Traffic(requests=5, users_ladder=()), pool=5, gpu="b200")
    assert named["settings"]["gpu"] == "b200"


SCRIPT = '''
import clover_sim as cs

result: cs.Comparison = cs.compare(["ar"], tokens=64)
swept: cs.Sweep = cs.sweep(vary={"threshold": [0.9]}, tokens=64)
seconds: float = cs.price(model="qwen3-8b", gpu="h100").passes[0].price.latency_s
task = cs.agent("web-task", ["ar"], tasks=5, failure=cs.Failure(value=0.1), prices=cs.Prices(2.0))
median: object = task.rows[0]["task_s_median"]
served = cs.serve(["ar"], cs.Traffic(requests=5, users_ladder=()), pool=5)
steps: list[dict[str, object]] = served.ladder_dicts()
gain: float = cs.speculate(shape=cs.shape_of("eagle3"), acceptance="code", model="qwen3-8b").speedup
stream: cs.Stream = cs.open_stream("tool-call", 64)
name, decoder = cs.build_strategy("ar")
done: cs.Run = cs.run(decoder, stream)
tokens: int = done.ledger.audit().tokens
machine = cs.Machine(cs.load_model("qwen3-8b"), cs.load_hardware("h100"), cs.load_engine("vllm"))
shape = cs.PassShape(cs.Kind.DECODE, (1,))
price: float = cs.cost_model("roofline", machine).price(shape).latency_s
names: list[str] = cs.list_models()
try:
    cs.read_trace("nothing")
except cs.CloverError as error:
    code: int = error.exit_code
'''


def checker() -> list[str] | None:
    """How to run mypy, where there is one."""
    if find_spec("mypy"):
        return [sys.executable, "-m", "mypy"]
    found = shutil.which("mypy")
    return [found] if found else None


def test_a_typed_script_passes_the_strict_checker(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MYPYPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "script.py"], check=True, cwd=tmp_path, env=env)
    mypy = checker()
    if mypy is None:
        pytest.skip("no mypy: the types of a user's script were not checked")
    assert (ROOT / "src" / "clover_sim" / "py.typed").is_file()
    words = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    done = subprocess.run([*mypy, *words], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
