"""Finding a specification by name, alias or path. Only the file that is asked for is read.

One file of ``data/models``, ``data/hardware`` or ``data/engines`` is one name; adding a file adds the name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from clover_sim.errors import InputError, UsageError, suggest
from clover_sim.specs._files import read_limited
from clover_sim.specs._plain import plain_table
from clover_sim.specs.engine import EngineSpec, engine_from_table
from clover_sim.specs.hardware import HardwareSpec, hardware_from_table, slug
from clover_sim.specs.model import ModelSpec, model_from_table

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
"""Folder of the data files, beside the modules both in a checkout and in an installed wheel."""

DEFAULT_MODEL = "clover-35b-a3b"
DEFAULT_HARDWARE = "h200"
DEFAULT_DRAFTER = "qwen3-0.6b"
"""The model whose passes draft where a strategy names none: a small dense one, about 0.6 B parameters read a pass."""

_Spec = TypeVar("_Spec", ModelSpec, HardwareSpec, EngineSpec)


def load_model(name: str) -> ModelSpec:
    """The model of that name, alias, ``.toml`` file, ``config.json`` or directory that holds one.

    How the weights of a configuration are stored is read by :func:`clover_sim.specs.checkpoint.load_checkpoint`.

    Raises:
        UsageError: a name that is not known. InputError: a file that cannot be used.

    >>> model = load_model("qwen3-30b-a3b")
    >>> model.experts, model.experts_per_token, model.layers
    (128, 8, 48)
    """
    if is_configuration(name):
        from clover_sim.specs.checkpoint import load_checkpoint

        return load_checkpoint(name).spec
    if name.startswith((".", os.sep, "~")) and not name.lower().endswith(".toml"):
        raise InputError(f"{name}: no such file or directory; expected a model's directory, config.json or name")
    return _load("model", "models", name, model_from_table)


def model_and_precision(name: str | None = None, precision: str | None = None) -> tuple[ModelSpec, Any]:
    """A model, and the format of its weights: the one asked for, else (or for ``auto``) the file's own, else bf16.

    >>> model_and_precision("qwen3-30b-a3b")[1], model_and_precision("qwen3-30b-a3b", "fp8")[1]
    ('bf16', 'fp8')
    """
    name = name or DEFAULT_MODEL
    asked = precision if precision and precision.lower() != "auto" else None
    if not is_configuration(name):
        return load_model(name), asked or "bf16"
    from clover_sim.specs.checkpoint import load_checkpoint

    found = load_checkpoint(name)
    return found.spec, asked or found.precision or "bf16"


def is_configuration(name: str) -> bool:
    """Whether a model's name is the path of a ``.json`` file or of a directory; a model of the package goes first."""
    if name.lower().endswith(".json"):
        return True
    if not os.path.isdir(name):
        return False
    return os.sep in name or name in (".", "..") or slug(name) not in all_names(os.path.join(DATA, "models"))


def load_hardware(name: str) -> HardwareSpec:
    """The accelerator of that name, alias or path. Raises UsageError for a name that is not known.

    >>> load_hardware("h100").memory_bytes
    80000000000
    """
    return _load("gpu", "hardware", name, hardware_from_table)


def load_engine(name: str) -> EngineSpec:
    """The engine of that name, alias or path, or ``ENGINE:SCHEDULER``. Raises UsageError for a name that is not known.

    >>> load_engine("vllm").name, load_engine("sglang:overlap").name
    ('vllm', 'sglang:overlap')
    """
    engine, _, scheduler = name.partition(":")
    if scheduler and engine in list_engines():
        return load_engine(engine).under(scheduler)
    return _load("engine", "engines", name, engine_from_table)


def list_models() -> list[str]:
    """Names of the models in the package, sorted; reads no file.

    >>> "llama-3.1-8b" in list_models()
    True
    """
    return _names("models")


def list_hardware() -> list[str]:
    """Names of the accelerators in the package, sorted; reads no file.

    >>> "h200" in list_hardware()
    True
    """
    return _names("hardware")


def list_engines() -> list[str]:
    """Names of the engines in the package, sorted; reads no file.

    >>> "sglang" in list_engines()
    True
    """
    return _names("engines")


LIMIT_BYTES = 4_000_000
"""Largest file of a specification that is read."""
_MOST_DOTS = 100
_APART = str.maketrans(dict.fromkeys("=,{}[]", "\n"))


def read_table(path: str) -> dict[str, Any]:
    """The table in a TOML or JSON file; duplicate keys are refused.

    Raises:
        InputError: no such file, not readable, too large, not valid, nested too deeply, or not a table.
    """
    if path.lower().endswith(".json"):
        from clover_sim.specs.hf.read import read_json

        return read_json(path)
    data = read_limited(path, LIMIT_BYTES)
    if len(data) > LIMIT_BYTES:
        raise InputError(f"{path}: holds over {LIMIT_BYTES // 1_000_000} MB; expected a specification of a few lines")
    try:
        content = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    if path.startswith(DATA) and (table := plain_table(content)) is not None:
        return table
    import tomllib

    if content.count(".") > _MOST_DOTS and any(
        part.count(".") > _MOST_DOTS for part in content.translate(_APART).splitlines()
    ):  # the time to read a key grows with the square of its parts
        raise InputError(f"{path}: not valid TOML: a key of over {_MOST_DOTS} parts")
    try:
        return tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise InputError(f"{path}: not valid TOML: {reason}") from None


def _names(folder: str) -> list[str]:
    return sorted(file[:-5] for file in os.listdir(os.path.join(DATA, folder)) if file.endswith(".toml"))


def _load(what: str, folder: str, name: str, build: Callable[[dict[str, Any], str], _Spec]) -> _Spec:
    if name.lower().endswith((".toml", ".json")):
        return build(read_table(name), name)
    wanted = slug(name)
    here = os.path.join(DATA, folder)
    path = os.path.join(here, wanted + ".toml")
    if name.strip(".") and os.path.isdir(name) and (os.sep in name or not os.path.isfile(path)):
        raise UsageError(f"unknown {what} {name!r}: that is a directory; expected a name, or a .toml file")
    if not wanted or os.path.basename(wanted) != wanted or not os.path.isfile(path):
        path = _by_alias(what, here, name, wanted)
    return build(read_table(path), os.path.basename(path))


def _by_alias(what: str, here: str, name: str, wanted: str) -> str:
    """Path of the one file that lists ``wanted`` among its aliases; only a file that has the word is parsed."""
    mark = f'"{wanted}"'
    for file in sorted(os.listdir(here)):
        if not file.endswith(".toml"):
            continue
        path = os.path.join(here, file)
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        if mark in text and wanted in read_table(path).get("aliases", ()):
            return path
    known = all_names(here)
    raise UsageError(f"unknown {what} {name!r}{suggest(wanted, _near(known, wanted))}")


def all_names(here: str) -> dict[str, str]:
    """Every name and alias of a folder of ``data``, in the spelling of :func:`slug`, and the path of its file.

    Raises:
        InputError: two files claim one name.
    """
    known: dict[str, str] = {}
    for file in sorted(os.listdir(here)):
        if not file.endswith(".toml"):
            continue
        path = os.path.join(here, file)
        for alias in (file[:-5], *read_table(path).get("aliases", ())):
            if known.setdefault(slug(alias), path) != path:
                raise InputError(f"{file}: alias {alias!r} is also that of {os.path.basename(known[slug(alias)])}")
    return known


def _near(known: dict[str, str], wanted: str) -> list[str]:
    """All names if one of them is near, else only those of files: a list of every alias would fill the screen."""
    import difflib

    if difflib.get_close_matches(wanted, known, n=1, cutoff=0.6):
        return list(known)
    return sorted({os.path.basename(path)[:-5] for path in known.values()})
