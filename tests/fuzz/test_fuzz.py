"""A few seconds of fuzzing with a fixed seed; ``tests/fuzz/run.py`` goes on for as long as one likes."""

from __future__ import annotations

import os
import time

import pytest

if not hasattr(os, "fork"):
    pytest.skip("tries run in processes that are forked", allow_module_level=True)

from fuzz.pool import Worker
from fuzz.targets import prepare, targets

TRIES = 5
"""Of each target."""


@pytest.fixture(autouse=True, scope="module")
def prepared() -> None:
    """Every worker starts with what is worked out once."""
    prepare()


@pytest.mark.parametrize("target", sorted(targets()))
def test_nothing_but_clear_errors(target: str) -> None:
    worker = Worker(target, 0, 0, TRIES, 60.0)
    while (ended := worker.poll()) is None:
        time.sleep(0.005)
    found, tries = ended
    assert not found, "\n".join(f"{f.target} {f.number}: {f.fault.name}\n{f.fault.story[:2000]}" for f in found)
    assert tries == TRIES
