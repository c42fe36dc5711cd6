"""Reading a configuration file: bounded, duplicate keys refused, everything on one line when it cannot be used."""

from __future__ import annotations

import os
from typing import Any

from clover_sim.errors import InputError
from clover_sim.specs.check import kind_of

LIMIT_BYTES = 16_000_000
"""Largest file read. The largest configuration published so far, one with a line an expert, has 3 MB."""


def read_json(path: str) -> dict[str, Any]:
    """The table in a JSON file.

    Raises:
        InputError: no such file, too large, not UTF-8, not JSON, nested too deeply, a key twice, or not a table.
    """
    from clover_sim.specs._files import read_limited

    size = os.path.getsize(path) if os.path.isfile(path) else 0
    content = read_limited(path, LIMIT_BYTES) if size <= LIMIT_BYTES else b""
    if size > LIMIT_BYTES or len(content) > LIMIT_BYTES:
        found = f"{size / 1e6:.0f} MB" if size else "too much"
        raise InputError(
            f"{path}: holds {found}; expected a configuration of at most {LIMIT_BYTES / 1e6:.0f} MB "
            "(weights are not read: name the config.json beside them)"
        )
    return decode(content, path)


def decode(content: bytes, where: str) -> dict[str, Any]:
    """The table in the bytes of a JSON file."""
    import json

    if content[:4] == b"GGUF":
        raise InputError(f"{where}: a GGUF model, not its metadata; expected a config.json or the metadata as JSON")
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        raise InputError(f"{where}: not a text file in UTF-8; expected a config.json") from None
    if not text.strip():
        raise InputError(f"{where}: is empty; expected a config.json")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InputError(f"{where}: key {twice[:60]!r} stands twice; expected it once")
        return table

    try:
        table = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply; expected a configuration of a few levels") from None
    except ValueError:
        raise InputError(f"{where}: holds a number of thousands of digits; expected a configuration") from None
    if not isinstance(table, dict):
        found = f"{kind_of(table)} of {len(table)}" if isinstance(table, list) else kind_of(table)
        raise InputError(f"{where}: holds {found}; expected a table of keys, the config.json of one model")
    return table


def locate(path: str) -> tuple[str, str | None]:
    """The configuration file of a path or a directory, and the file of its quantisation where there is one.

    That file is ``hf_quant_config.json`` beside a ``config.json``, or ``NAME.hf_quant_config.json`` beside
    ``NAME.json``.
    """
    if os.path.isdir(path):
        path = _inside(path)
    folder, name = os.path.split(path)
    beside = "hf_quant_config.json" if name == "config.json" else name.removesuffix(".json") + ".hf_quant_config.json"
    extra = os.path.join(folder, beside)
    return path, extra if extra != path and os.path.isfile(extra) else None


def _inside(folder: str) -> str:
    """The ``config.json`` of a directory, or of the snapshot that a download cache keeps in it."""
    here = os.path.join(folder, "config.json")
    if os.path.isfile(here):
        return here
    kept = os.path.join(folder, "snapshots")
    snapshots = sorted(name for name in (os.listdir(kept) if os.path.isdir(kept) else ()))
    main = os.path.join(folder, "refs", "main")
    if os.path.isfile(main):
        from clover_sim.specs._files import read_limited

        named = read_limited(main, 100).decode("ascii", "replace").strip()
        snapshots = [name for name in snapshots if name == named] or snapshots
    whole = [path for name in snapshots if os.path.isfile(path := os.path.join(kept, name, "config.json"))]
    if len(whole) == 1:
        return whole[0]
    if whole:
        raise InputError(f"{folder}: holds {len(whole)} snapshots; name one, such as {os.path.dirname(whole[0])}")
    raise InputError(f"{folder}: no config.json in this directory{_instead(folder)}; expected the directory of a model")


_TELLING = {
    "adapter_config.json": "but an adapter: name the directory of its base model",
    "params.json": "but a params.json, whose keys are others: take the model's config.json",
    "model_index.json": "but a pipeline of diffusers: name the directory of its language model",
}


def _instead(folder: str) -> str:
    """What a directory without a configuration holds instead, if that tells what to do."""
    names = sorted(os.listdir(folder))
    for name, words in _TELLING.items():
        if name in names:
            return f" {words}"
    gguf = next((name for name in names if name.endswith(".gguf")), "")
    if gguf:
        return f" but {gguf[:60]}: take the config.json of the model it was made from"
    below = next((name for name in names if os.path.isfile(os.path.join(folder, name, "config.json"))), "")
    return f", but in {os.path.join(folder, below)}: name that" if below else ""
