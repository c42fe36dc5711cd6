"""Runs the code cells of a notebook as a kernel would, with the standard library alone."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any


def run_notebook(path: Path) -> list[tuple[str, Any]]:
    """What each code cell printed, and the value of its last expression (``None`` without one)."""
    found: list[tuple[str, Any]] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}[{number}]")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"{path.name}[{number}]", "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), f"{path.name}[{number}]", "eval"), names)
        found.append((printed.getvalue(), value))
    return found
