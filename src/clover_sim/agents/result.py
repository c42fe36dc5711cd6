"""Documents that show themselves: what :func:`agent` and :func:`serve` give back."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any


class Document(dict[str, Any]):
    """A JSON document in SI units, as the command of the same name writes it, that also shows itself.

    It is a plain dictionary (``json.dumps`` takes it, ``found["rows"]`` reads it); ``print`` gives the table of the
    command, a notebook a table and a picture, :meth:`to_dicts` rows for a data frame.

    >>> found = Document(schema="x/1", rows=[{"strategy": "ar", "options": {}, "decode_s": 1.5, "parts": {"a": 2}}])
    >>> found.to_dicts()
    [{'strategy': 'ar', 'options': '', 'decode_s': 1.5, 'parts_a': 2}]
    """

    __slots__ = ()
    _name = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a strategy, nested as in the document."""
        found: list[dict[str, Any]] = self["rows"]
        return found

    def to_dict(self) -> dict[str, Any]:
        """The document as a plain dictionary."""
        return dict(self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, ready for any data-frame library."""
        return [flat(row) for row in self.rows]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.rows)} strategies; see .rows, .to_dicts() and print()>"

    def __str__(self) -> str:
        return str(getattr(import_module(f"clover_sim.report._{self._name}"), f"render_{self._name}")(self))

    def _repr_html_(self) -> str:
        return str(getattr(import_module("clover_sim.report._notebook"), f"{self._name}_html")(self))

    def _repr_svg_(self) -> str:
        return str(getattr(import_module("clover_sim.report._notebook"), f"{self._name}_svg")(self))


class AgentResult(Document):
    """What :func:`agent` found: ``clover-sim/agent/1``, one row a strategy."""

    __slots__ = ()
    _name = "agent"


class ServeResult(Document):
    """What :func:`serve` found: ``clover-sim/serve/1``, one row a strategy for the load in detail, and the ladder."""

    __slots__ = ()
    _name = "serve"

    def ladder_dicts(self) -> list[dict[str, Any]]:
        """The ladder as flat dictionaries, one a strategy and number of users."""
        return [
            {"users": step["users"], "strategy": label, **figures}
            for step in self["ladder"]
            for label, figures in step["strategies"].items()
        ]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without nesting: options as they are typed, other tables with their name before the key."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key == "options":
            found[key] = ",".join(f"{name}={_plain(one)}" for name, one in value.items())
        elif key == "drafter":
            found[key] = value and value["model"]
        elif isinstance(value, Mapping):
            found |= {f"{key}_{name}".replace(" ", "_"): one for name, one in flat(value).items()}
        else:
            found[key] = value
    return found


def _plain(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
