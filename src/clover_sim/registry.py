"""Finding strategies by name: built-ins, plug-ins by entry point, and ``module:Class``. Loaded only when named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clover_sim import decoders
from clover_sim.errors import PluginError, UsageError, suggest
from clover_sim.faults import foreign
from clover_sim.options import build, split_spec

if TYPE_CHECKING:
    from clover_sim.plugins import Installed

ENTRY_POINT_GROUP = "clover_sim.decoders"


@cache
def _builtin_modules() -> tuple[str, ...]:
    """Module names of the built-in decoders, found by looking into their folder."""
    folder = os.path.dirname(decoders.__file__)
    return tuple(sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".py") and not f.startswith("_")))


def _load_builtin(module: str) -> Any:
    return import_module(f"clover_sim.decoders.{module}")


def _presets() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    for module in _builtin_modules():
        loaded = _load_builtin(module)
        for name, options in getattr(loaded, "PRESETS", {}).items():
            yield name, loaded.DECODER, options


def _built_in() -> set[str]:
    return {m.replace("_", "-") for m in _builtin_modules()} | {name for name, _, _ in _presets()}


def _installed() -> Installed:
    from clover_sim.plugins import installed

    return installed(ENTRY_POINT_GROUP, _built_in())


def _load_class(path: str) -> Any:
    """The object at ``module:Class``."""
    from clover_sim.plugins import load_class

    return load_class(path)


def _find(name: str) -> tuple[Any, dict[str, Any]]:
    """The class of a strategy and the options its name stands for."""
    if ":" in name:
        head = name.partition(":")[0]
        if head.replace("-", "_") in _builtin_modules():
            raise UsageError(f"{name!r}: options of {head} are written key=value, as in {head}:key=value")
        return _load_class(name), {}
    module = name.replace("-", "_")
    if "_" not in name and module in _builtin_modules():
        return _load_builtin(module).DECODER, {}
    presets = {preset: (cls, options) for preset, cls, options in _presets()}
    if name in presets:
        return presets[name]
    plugins, nameless = _installed()
    if name in plugins:
        return _load_class(plugins[name].value), {}
    if name in nameless.values():
        from clover_sim.plugins import clash

        raise PluginError(clash(name, nameless))
    if name.endswith(".py"):
        raise UsageError(f"strategy {name!r} is a file: name the class in it too, as in -s {name}:MyDecoder")
    known = [*(m.replace("_", "-") for m in _builtin_modules()), *presets, *plugins]
    raise UsageError(f"strategy {name!r} is not known{suggest(name, known)}")


def check_is_decoder(decoder: Any, name: str) -> Any:
    """Return ``decoder`` if it has a ``decode`` method, else raise :class:`PluginError`."""
    with foreign(f"strategy {name!r}", PluginError):
        if isinstance(decoder, type) or not callable(getattr(decoder, "decode", None)):
            raise PluginError(f"strategy {name!r} is not a decoder: it has no method decode(canvas)")
    return decoder


def build_strategy(spec: str) -> tuple[str, Any]:
    """Make ``(name, decoder)`` from ``name:key=value,...``.

    Raises :class:`UsageError` for unknown names and options, with the nearest known one, and :class:`PluginError` for a
    plug-in that cannot be loaded or is no decoder.

    >>> build_strategy("block-diffusion:threshold=0.9")[1].threshold
    0.9
    """
    from dataclasses import is_dataclass

    name, options = split_spec(spec)
    cls, preset = _find(name)
    name = os.path.basename(name)  # a path is where it was found, not what it is called
    if not isinstance(cls, type):
        if options:
            raise UsageError(f"{name}: options cannot be given to an object that is already made")
        return name, check_is_decoder(cls, name)
    if is_dataclass(cls):
        decoder = build(cls, {**preset, **options}, name)
    elif options:
        raise UsageError(f"{name}: takes no options, since {cls.__name__} is not a dataclass")
    else:
        with foreign(f"making {name}"):
            decoder = cls()
    return name, check_is_decoder(decoder, name)


def strategy_names() -> list[tuple[str, str]]:
    """Every strategy with the first line of its docstring: built-ins, presets, installed plug-ins.

    A plug-in whose name another strategy has is listed under its ``module:Class``, which finds it.

    >>> {"ar", "block-diffusion", "eagle3"} <= {name for name, _ in strategy_names()}
    True
    """
    rows = []
    for module in _builtin_modules():
        cls = _load_builtin(module).DECODER
        rows.append((module.replace("_", "-"), _summary(cls)))
    for name, cls, options in _presets():
        base = next(m for m in _builtin_modules() if _load_builtin(m).DECODER is cls).replace("_", "-")
        rows.append((name, f"{base}:{','.join(f'{k}={v}' for k, v in options.items())}"))
    plugins, nameless = _installed()
    rows.extend((name, f"plug-in {point.value}") for name, point in sorted(plugins.items()))
    rows.extend(
        (value, f"plug-in that calls itself {name!r} as another strategy does: found by this name alone")
        for value, name in sorted(nameless.items())
    )
    return rows


def _summary(cls: Any) -> str:
    text = (cls.__doc__ or "").strip().partition("\n")[0]
    return "" if text.startswith(f"{cls.__name__}(") else text  # dataclasses put the signature there
