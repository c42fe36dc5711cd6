"""A module whose tests wait for other processes starts them with the session, beside the tests before its own."""

from __future__ import annotations

from typing import Any

import pytest


def _modules(session: pytest.Session) -> dict[Any, list[pytest.Item]]:
    found: dict[Any, list[pytest.Item]] = {}
    for item in session.items:
        found.setdefault(getattr(item, "module", None), []).append(item)
    return found


def pytest_collection_finish(session: pytest.Session) -> None:
    """A module with ``beforehand(items)`` is told which of its tests will run."""
    if not session.config.getoption("collectonly"):
        for module, items in _modules(session).items():
            getattr(module, "beforehand", id)(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Whatever is still running then is no longer needed: ``afterwards()`` ends it."""
    for module in _modules(session) if hasattr(session, "items") else ():
        getattr(module, "afterwards", int)()
