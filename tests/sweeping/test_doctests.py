"""The examples in docstrings of what this folder and its neighbours test."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = [
    "sweeping._axes", "sweeping._judge", "sweeping._plan", "sweeping._result", "sweeping._run", "report._charts",
    "report._plot", "report._plot_scale", "report._sweep", "report.html", "cli._progress",
]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_it_holds(name):
    failed, tried = doctest.testmod(import_module(f"clover_sim.{name}"))
    assert tried and not failed
