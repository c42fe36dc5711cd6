"""As much of JSON Schema as docs/reference/schemas uses: a document checked against it, and what it lacks learnt."""

from __future__ import annotations

import json
import os
import types
import typing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
UPDATE = bool(os.environ.get("CLOVER_SIM_UPDATE_DOCS"))
HOW = "run CLOVER_SIM_UPDATE_DOCS=1 python -m pytest tests/notebooks/test_pages.py"

KIND = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None),
    "boolean": bool,
}  # fmt: skip


def settle(page: Path, text: str) -> None:
    """The page is this text, or becomes it."""
    if UPDATE:
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, f"{page.name} is out of date: {HOW}"


def schema(name: str) -> dict:
    path = REFERENCE / "schemas" / f"{name}.schema.json"
    if UPDATE and not path.exists():  # a new document: it is learnt from the command that the page names
        title = f"clover-sim/{name}/1"
        first = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "object",
                 "properties": {"schema": {"const": title}}}  # fmt: skip
        path.write_text(json.dumps(first, indent=2) + "\n", encoding="utf-8")
    assert path.exists(), (
        f"{path.name} is missing: add the row of its document to docs/reference/schemas.md, with the command that "
        f"writes it, then {HOW}"
    )
    return json.loads(path.read_text(encoding="utf-8"))


def types_of(schema: dict) -> list[str]:
    """The types that are allowed; empty for any."""
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else found


def is_of(value: Any, kind: str) -> bool:
    return isinstance(value, KIND[kind]) and (kind == "boolean" or not isinstance(value, bool))


def check(value: Any, schema: dict, where: str = "$") -> None:
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], where
    if allowed := types_of(schema):
        assert any(is_of(value, kind) for kind in allowed), f"{where} is {value!r}, not {' or '.join(allowed)}: {HOW}"
    for key in schema.get("required", ()) if isinstance(value, dict) else ():
        assert key in value, f"{where}.{key} is missing"
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for key, inner in value.items() if isinstance(value, dict) else ():
        described = key in known or bool(others) or not known
        assert described, f"{where}.{key} is not in the schema: {HOW}"
        check(inner, known.get(key, others or {}), f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]")


def shape(value: Any) -> dict:
    """The schema of a value that has none yet; a whole number may be another one elsewhere."""
    if value is None:
        return {}
    kind = next(k for k in ("boolean", "object", "array", "string", "number") if isinstance(value, KIND[k]))
    if isinstance(value, dict) and value:
        return {"type": kind, "properties": {key: shape(one) for key, one in value.items()}}
    return {"type": kind, "items": shape(value[0])} if isinstance(value, list) and value else {"type": kind}


def learn(value: Any, schema: dict) -> None:
    """Add what a document has and its schema has not: a key, ``null``, a fraction where only whole numbers stood."""
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    if (allowed := types_of(schema)) and not any(is_of(value, kind) for kind in allowed):
        if value is None:
            schema["type"] = [*allowed, "null"]
        elif isinstance(value, float) and "integer" in allowed:
            wider = ["number" if kind == "integer" else kind for kind in allowed]
            schema["type"] = wider if len(wider) > 1 else "number"
    for key, inner in value.items() if isinstance(value, dict) else ():
        if known and not others:
            known.setdefault(key, shape(inner))
        learn(inner, known.get(key, others or {}))
    for item in value if isinstance(value, list) else ():
        learn(item, schema.get("items", {}))


def hold(document: Any, name: str) -> None:
    """A document is as its schema says; what is new in it is added by the update, with the type it has."""
    whole = schema(name)
    if UPDATE:
        learn(document, whole)
        settle(REFERENCE / "schemas" / f"{name}.schema.json", json.dumps(whole, indent=2) + "\n")
    check(document, whole)


def place(schema: dict, path: str) -> dict:
    """The schema at ``rows[].drafter``; ``""`` is the whole."""
    for key in path.split(".") if path else ():
        name = key.removesuffix("[]")
        schema = schema["properties"][name]
        schema = schema["items"] if name != key else schema
    return schema


def may_be_none(kind: type) -> list[str]:
    """Fields of a class whose type says that they may be ``None``."""
    hints = typing.get_type_hints(kind)
    return [
        name for name, hint in hints.items()
        if typing.get_origin(hint) in (typing.Union, types.UnionType) and type(None) in typing.get_args(hint)
    ]  # fmt: skip
