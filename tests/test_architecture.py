"""The shape of the package, read from its source: layers, dependencies, and who may do what."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "clover_sim"
MOST_LINES = 320

LAYERS = (
    # A module imports only from its own layer and from layers further down. First match wins; a name covers a package.
    ("__main__", "cli"),
    ("report",),
    (
        "comparison", "columns", "trace_comparison", "trace", "notes", "prepare", "ledger_file", "validate", "explain",
        "agents", "serving", "sweeping", "claims",
    ),
    (
        "cost", "registry", "plugins", "conformance", "logs", "recordings", "recorder", "speculation", "fitting",
        "quality", "diffusion_checks", "diffusion_speed",
    ),
    ("engine", "request", "checks", "bulk", "canvas", "view", "ledger", "decoders", "acceptance", "draft_trees"),
    ("streams", "physics", "specs", "sources"),
    ("records", "rng", "units", "errors", "faults", "options", "arguments", "stats", "row_names"),
)  # fmt: skip

NO_CLOCK = {"time", "datetime", "calendar"}
READ_TIMES = {"logs"}
"""They may take dates apart that stand in files; nobody may ask what time it is."""
ASKS_THE_TIME = {"now", "today", "utcnow", "time_ns", "monotonic", "perf_counter", "process_time"}
NOT_FOR_A_SIMULATOR = {"socket", "ssl", "urllib", "http", "ftplib", "smtplib", "uuid", "secrets"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """``cli.compare`` for ``cli/compare.py``, ``cli`` for ``cli/__init__.py``, "" for the package's own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> int:
    """0 is the top layer; raises for a module that no layer claims."""
    for i, names in enumerate(LAYERS):
        if module.partition(".")[0] in names:
            return i
    raise AssertionError(f"{module or '__init__'} stands in no layer: give it one in tests/test_architecture.py")


@cache
def module_names() -> frozenset[str]:
    return frozenset(name_of(path) for path in modules())


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def for_type_checkers(tree: ast.Module) -> set[ast.AST]:
    """Every node under ``if TYPE_CHECKING:``."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for statement in node.body:
                found.update(ast.walk(statement))
    return found


def imports_of(path: Path, *, types_too: bool = True, lazy_too: bool = True) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of every module that a module imports."""
    tree = tree_of(path)
    skipped = set() if types_too else for_type_checkers(tree)
    if not lazy_too:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                skipped = skipped | set(ast.walk(node))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:  # "from package import module" is an import of the module, else of the package
                dotted = f"{node.module}.{alias.name}"
                yield (dotted if dotted.partition(".")[2] in module_names() else str(node.module)), node.lineno


def inside(path: Path, **which: bool) -> Iterator[tuple[str, int]]:
    """Modules of the package that ``path`` imports, by their name within it."""
    known = module_names()
    for dotted, line in imports_of(path, **which):
        if dotted == "clover_sim" or dotted.startswith("clover_sim."):
            module = dotted.partition(".")[2]
            if module in known:
                yield module, line


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_layers(path: Path) -> None:
    module = name_of(path)
    if not module:
        return  # the public names: only the package's own __init__ reaches everywhere, and only when asked
    for imported, line in inside(path):
        if imported:
            assert layer_of(imported) >= layer_of(module), f"{path}:{line}: {module} may not import {imported}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_standard_library_only(path: Path) -> None:
    for dotted, line in imports_of(path):
        top = dotted.partition(".")[0]
        assert top == "clover_sim" or top in sys.stdlib_module_names, f"{path}:{line}: {dotted}"
        assert top not in NOT_FOR_A_SIMULATOR, f"{path}:{line}: {dotted}"


def test_the_package_imports_nothing_at_once() -> None:
    """``import clover_sim`` stays instant: its public names are loaded when first used."""
    tree = tree_of(PACKAGE / "__init__.py")
    eager = {ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    assert eager == {
        "from __future__ import annotations", "from typing import TYPE_CHECKING, Any",
    }  # fmt: skip


def test_every_public_name_is_there() -> None:
    import clover_sim

    for name in clover_sim.__all__:
        assert getattr(clover_sim, name) is not None
    assert dir(clover_sim) == sorted(clover_sim.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = clover_sim.nothing


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    module = name_of(path)
    if module == "__main__" or module.partition(".")[0] == "cli":
        return
    for node in ast.walk(tree_of(path)):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("print", "input", "exit", "quit", "breakpoint", "sys.exit", "os._exit"), where
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "SystemExit" not in ast.unparse(node.exc), where
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("sys.stdout", "sys.stderr", "sys.argv", "sys.__stdout__"), where


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_randomness_is_always_named(path: Path) -> None:
    """``random.Random(seed)`` is the only thing taken from the module, and from ``rng`` or the reference alone."""
    module = name_of(path)
    for node in ast.walk(tree_of(path)):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
            assert node.attr == "Random", f"{where}: random.{node.attr}"
            assert module in ("rng", "physics.reference", "streams.reference"), where
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            raise AssertionError(f"{where}: import the module, so that its use can be seen")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("random.Random", "Random"):
            assert node.args, f"{where}: a generator without a seed"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_clock_below_the_comparison(path: Path) -> None:
    module = name_of(path)
    if not module or layer_of(module) <= layer_of("comparison"):
        return
    for dotted, line in imports_of(path):
        top = dotted.partition(".")[0]
        assert top not in NO_CLOCK or (top == "datetime" and module.partition(".")[0] in READ_TIMES), f"{path}:{line}"
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr not in ASKS_THE_TIME, f"{path}:{node.lineno}: {ast.unparse(node.func)}"


COLUMNS = {"step", "request", "kind", "start", "tokens", "recompute", "context", "committed", "reopened"}
GROWING = {"append", "extend", "insert", "pop", "remove", "clear", "frombytes", "fromlist"}


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_the_engine_appends_to_the_ledger(path: Path) -> None:
    """The two methods that add rows are called by the engine's own modules, and no column is touched from outside."""
    module = name_of(path)
    writers = {"request", "bulk"}
    for node in ast.walk(tree_of(path)):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
            owner = ast.unparse(node.func.value)
            if owner == "ledger" or owner.endswith(".ledger"):
                assert module in writers, f"{where}: adds a row"
            column = owner.rpartition(".")
            if column[2] in COLUMNS and (column[0] == "ledger" or column[0].endswith(".ledger")):
                raise AssertionError(f"{where}: changes a column of the ledger")
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                text = ast.unparse(target)
                for column_name in COLUMNS:
                    assert f"ledger.{column_name}" not in text, f"{where}: {text} is written"


def test_decoders_cannot_reach_the_ledger() -> None:
    for path in (PACKAGE / "decoders").glob("*.py"):
        assert not {m for m, _ in inside(path)} & {"ledger", "request", "engine"}, path
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                assert ast.unparse(node.value) == "self", f"{path}:{node.lineno}: {ast.unparse(node)} is private"


@pytest.mark.parametrize("path", sorted((PACKAGE / "decoders").glob("[a-z]*.py")), ids=name_of)
def test_a_decoder_is_short_and_knows_no_stream(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 90
    assert not {m for m, _ in inside(path) if m.startswith(("streams", "physics", "specs"))}


def test_the_engine_knows_no_decoder_or_physics_by_name() -> None:
    """Capabilities, not identities: it imports none of them, whatever the reason."""
    for module in ("engine", "request", "canvas", "view", "bulk", "checks", "ledger"):
        for imported, line in inside(PACKAGE / f"{module}.py"):
            assert not imported.startswith(("decoders", "streams.", "physics.")) or imported in (
                "physics.base", "streams.base",
            ), f"{module}.py:{line}: {imported}"  # fmt: skip


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """One path for each circle that a depth-first walk meets."""
    found: list[list[str]] = []
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> None:
        if module in path:
            found.append([*path[path.index(module) :], module])
        elif module not in done:
            for imported in sorted(edges[module]):
                walk(imported, [*path, module])
            done.add(module)

    for module in sorted(edges):
        walk(module, [])
    return found


@pytest.mark.parametrize("lazy_too", [False, True], ids=["at-import", "lazy-too"])
def test_no_circle_of_imports(lazy_too: bool) -> None:
    edges = {}
    for path in modules():
        module = name_of(path)
        if module:
            imported = {name for name, _ in inside(path, types_too=False, lazy_too=lazy_too)} - {"", module}
            # By the time a function runs, the packages that its module lies in are loaded: that is no circle.
            edges[module] = {name for name in imported if not (lazy_too and module.startswith(f"{name}."))}
    assert circles(edges) == []


def test_the_walk_finds_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c", "a"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_every_layer_entry_is_used_once() -> None:
    named = [name for names in LAYERS for name in names]
    assert set(named) <= {name_of(path).partition(".")[0] for path in modules()}
    assert len(named) == len(set(named))


def test_no_path_of_a_machine_and_no_foreign_name() -> None:
    for path in modules():
        source = path.read_text(encoding="utf-8")
        for text in ("/home/", "/Users/", "C:\\\\", "/tmp/", "../shared"):
            assert text not in source, f"{path}: {text}"
