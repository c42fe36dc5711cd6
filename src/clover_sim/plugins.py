"""Strategies that are not built in: entry points of installed packages, ``module:Class``, and ``path.py:Class``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Set
from importlib import import_module
from typing import Any, NamedTuple

from clover_sim.errors import PluginError, UsageError, suggest
from clover_sim.faults import foreign


class Installed(NamedTuple):
    """Installed plug-ins of a group.

    Args:
        named: by the name they are found under. nameless: by ``module:Class`` those whose name is that of a built-in
            strategy or of another plug-in, with the name; only ``module:Class`` finds them.
    """

    named: dict[str, Any]
    nameless: dict[str, str]


def installed(group: str, taken: Set[str]) -> Installed:
    """Installed plug-ins of a group; ``taken`` are the names of built-in strategies, which no plug-in hides."""
    if not _is_named(group):
        return Installed({}, {})
    from importlib.metadata import entry_points

    values: dict[str, dict[str, Any]] = {}
    for point in entry_points(group=group):
        values.setdefault(point.name, {})[point.value] = point
    alone = {name for name, points in values.items() if name not in taken and len(points) == 1}
    return Installed(
        {name: next(iter(points.values())) for name, points in values.items() if name in alone},
        {value: name for name, points in values.items() if name not in alone for value in points},
    )


def clash(name: str, nameless: Mapping[str, str]) -> str:
    """What is wrong with a name that two strategies have, and how to name them all the same."""
    values = sorted(value for value, called in nameless.items() if called == name)
    return (
        f"two strategies are called {name!r}: {' and '.join(values)}; rename or uninstall one, or "
        f"name the class itself: -s {values[-1]}"
    )


def _is_named(group: str) -> bool:
    """Whether any installed package has plug-ins of the group; loading ``importlib.metadata`` to see takes 20 ms."""
    for folder in sys.path:
        if os.path.isfile(folder):
            return True  # an archive, into which that module looks and this one does not
        try:
            packages = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for package in packages:
            try:
                with open(os.path.join(folder, package, "entry_points.txt"), encoding="utf-8") as lines:
                    if f"[{group}]" in lines.read():
                        return True
            except (OSError, ValueError):
                continue
    return False


def _import_here(module: str) -> Any:
    """Import a module by name, looking into the current folder too, or from the path of a ``.py`` file."""
    if not module.endswith(".py"):
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"strategy module {module!r} is neither a module's name nor the path of a .py file")
        if (here := os.getcwd()) not in sys.path:
            sys.path.insert(0, here)  # as ``python -m`` does; an installed console script does not
        return import_module(module)
    from importlib.util import module_from_spec, spec_from_file_location

    if not os.path.isfile(module):
        raise UsageError(f"strategy file {module!r} does not exist")
    name = os.path.basename(module)[:-3]
    spec = spec_from_file_location(name, module)
    assert spec is not None and spec.loader is not None
    loaded = module_from_spec(spec)
    sys.modules.setdefault(name, loaded)  # dataclasses look their module up by name
    spec.loader.exec_module(loaded)
    return loaded


def load_class(path: str) -> Any:
    """The object at ``module:Class``."""
    module, _, attribute = path.rpartition(":")
    try:
        with foreign(f"strategy {path!r} cannot be loaded", PluginError):
            loaded: Any = _import_here(module)
    except PluginError as error:
        missing = error.__cause__
        if isinstance(missing, ModuleNotFoundError) and missing.name and f"{module}.".startswith(f"{missing.name}."):
            raise UsageError(
                f"strategy {path!r}: there is no module {missing.name!r} in this folder or installed; run from the "
                "folder that holds it, put that on PYTHONPATH, or name the file, as in -s path/to/mine.py:MyDecoder"
            ) from None
        raise
    with foreign(f"strategy {path!r} cannot be loaded", PluginError):
        for part in attribute.split("."):
            if not hasattr(loaded, part):
                names = [n for n in dir(loaded) if callable(getattr(getattr(loaded, n), "decode", None))]
                raise UsageError(f"strategy {path!r}: {module!r} has no {attribute!r}{suggest(attribute, names)}")
            loaded = getattr(loaded, part)
    return loaded
