"""Files of any size and any depth: bounded memory, a stated limit, one line; and nothing in them is ever run."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
from pathlib import Path

import pytest

import clover_sim
from clover_sim.cli import main
from clover_sim.errors import InputError
from clover_sim.ledger_file import COLUMNS, SCHEMA, price_recorded, read_ledger
from safety.alone import alone, memory_now, needs_fork

PACKAGE = Path(clover_sim.__file__).parent
READS = {
    "input": "compare --input @", "trace": "compare --trace @", "shown": "trace --trace @",
    "fit": "calibrate --trace @", "ledger": "price --ledger @", "resume": "sweep --resume @", "transcript": "agent @",
    "model": "price --model @", "gpu": "price --gpu @", "engine": "price --engine @",
    "calibration": "price --calibration @",
    "measurements": "validate --measurements @", "workload": "compare --profile context:workload=@",
}  # fmt: skip
TABLES = ("model", "gpu", "engine", "calibration", "measurements", "workload")
"""What is read as TOML or JSON, whole."""


def _little_memory():
    import resource

    most = memory_now() + (1 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def refused(what, path):
    """Run in little memory; the one line that refuses the file."""
    done = alone(*READS[what].replace("@", str(path)).split(), before=_little_memory)
    assert done.returncode in (2, 3) and done.stdout == "", (what, done.stderr)
    assert done.stderr.count("\n") == 1 and "not enough memory" not in done.stderr, done.stderr
    assert "internal" not in done.stderr and "Traceback" not in done.stderr
    return done.stderr


@needs_fork
@pytest.mark.parametrize("what", READS)
def test_a_file_of_a_gigabyte(tmp_path, what):
    """One line of zeros that takes no room on the disk."""
    for ending in (".toml", ".json") if what in TABLES else (".json",):
        path = tmp_path / f"big{ending}"
        path.touch()
        os.truncate(path, 1 << 30)
        refused(what, path)


@needs_fork
@pytest.mark.parametrize("what", READS)
def test_a_file_that_unpacks_to_much_more(tmp_path, what):
    """Three hundred megabytes of blanks in a third of one."""
    path = tmp_path / ("bomb.toml" if what == "workload" else "bomb.json")
    part = gzip.compress(b" " * (10 << 20), mtime=0)
    path.write_bytes(part * 30)
    if what in ("input", "transcript"):
        assert "binary" in refused(what, path)
    elif what in ("trace", "shown", "fit"):
        assert "unpacks to more than 256 MB" in refused(what, path)
    else:
        refused(what, path)


@needs_fork
@pytest.mark.parametrize("what", [w for w in READS if w != "input"])
def test_deep_nesting(tmp_path, what):
    for name, text in (("a.json", "[" * 100_000), ("b.json", '{"a":' * 100_000), ("c.json", "[" * 990 + "]" * 990),
                       ("d.toml", "a = " + "[" * 100_000), ("e.toml", "a = " + "{a=" * 50_000),
                       ("f.json", '{"columns":' + "[" * 900 + "]" * 900 + "}")):  # fmt: skip
        path = tmp_path / name
        path.write_text(text)
        refused(what, path)


def test_numbers_of_thousands_of_digits_in_files(tmp_path, capsys):
    path = tmp_path / "n.json"
    for text in ('{"a": ' + "9" * 5000 + "}", '{"hidden_size": 1e999}', '{"hidden_size": NaN}', "[-Infinity]"):
        path.write_text(text)
        for what, line in READS.items():
            if what != "input":
                assert main(line.replace("@", str(path)).split()) in (2, 3), what
                out, err = capsys.readouterr()
                assert out == "" and err.count("\n") == 1 and "Traceback" not in err and len(err) < 2500


# ledgers are read step by step

ABOUT = {"stream": "x", "tokens": 9, "strategy": "ar", "options": {}, "drafter": None, "seed": None, "kv_write": "none",
         "forced_commits": 0, "locked_errors": 0}  # fmt: skip


def ledger(rows, runs=1):
    lines = [json.dumps({"schema": SCHEMA, "version": "x", "columns": list(COLUMNS)})]
    for _ in range(runs):
        lines += [json.dumps({"run": ABOUT}), *map(json.dumps, rows)]
    return io.StringIO("\n".join(lines) + "\n")


def row(step, width=1, context=0):
    return [step, 0, "decode", step, width, 0, context, 1, 0]


def test_a_long_ledger_is_its_different_passes():
    (run,) = read_ledger(ledger([row(i, context=i) for i in range(20_000)]), "l")
    ((shape, count),) = run.shapes
    assert (count, shape.widths, shape.context_tokens) == (20_000, (1,), 9999.5)
    (two,) = read_ledger(ledger([row(0, 2), row(0, 3), row(1, 2), row(1, 3), row(2, 5)]), "l")
    assert [(shape.widths, count) for shape, count in two.shapes] == [((2, 3), 2), ((5,), 1)]


def test_a_ledger_of_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("clover_sim.ledger_file.MOST_KEPT", 2000)
    for stream in (
        ledger([row(i, i + 1) for i in range(2000)]), ledger([row(0, i + 1) for i in range(3000)]),
        ledger([row(0)], runs=100),
    ):  # fmt: skip
        with pytest.raises(InputError, match="split the file by run"):
            read_ledger(stream, "l")
    (run,) = read_ledger(ledger([row(0)]), "l")
    with pytest.raises(InputError, match="at most 2,000 sequences"):
        price_recorded(run, None, 3000)


def test_the_steps_of_a_ledger_go_forward():
    with pytest.raises(InputError, match=r"l:4: step 3 after step 5; expected the steps in their order"):
        read_ledger(ledger([row(5), row(3)]), "l")


# nothing that is read is run

RUNS = {"eval", "exec", "compile", "__import__"}
ALLOWED = {("cli/__init__.py", "exec"), ("conformance.py", "pickle"), ("conformance/__init__.py", "pickle")}
"""A fixed text that settles an exit code, and the suite that copies the plug-in it is given."""


def test_no_module_can_run_what_it_reads():
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNS:
                assert (where, node.func.id) in ALLOWED, f"{where}:{node.lineno}: {node.func.id}"
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.partition(".")[0]
                if top in ("pickle", "marshal", "shelve", "subprocess", "ctypes", "xml", "code", "runpy"):
                    assert (where, top) in ALLOWED or where.startswith("conformance/"), f"{where}:{node.lineno}: {name}"
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.system", "os.popen", "os.startfile"):
                raise AssertionError(f"{where}:{node.lineno}: {ast.unparse(node)}")


def test_names_do_not_leave_the_data_folder(capsys):
    for name in ("../models/llama-3.1-8b", "..", "../../secret", "a/../b", "/etc/passwd", "%2e%2e", "~", "$HOME", "\0"):
        for flag in ("--model", "--gpu", "--engine"):
            assert main(["price", flag, name]) in (2, 3)
            out, err = capsys.readouterr()
            assert out == "" and err.count("\n") == 1 and "root:" not in err
        assert main(["agent", name]) in (2, 3) and main(["compare", "--profile", f"context:workload={name}"]) in (2, 3)
        assert "root:" not in capsys.readouterr().err
