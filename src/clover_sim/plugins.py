"""Strategies that are not built in: entry points of installed packages, ``module:Class``, and ``path.py:Class``."""

from __future__ import annotations

import os
import sys
from collections.abc import Set
from importlib import import_module
from typing import Any

from clover_sim.errors import PluginError, UsageError, suggest
from clover_sim.faults import foreign


def entry_points_of(group: str, taken: Set[str]) -> dict[str, Any]:
    """Installed plug-ins of a group by name; two of one name, or one that is ``taken`` by a built-in, are refused."""
    from importlib.metadata import entry_points

    found: dict[str, Any] = {}
    for point in entry_points(group=group):
        known = found.get(point.name)
        if point.name in taken or (known is not None and known.value != point.value):
            other = known.value if known is not None else "a built-in strategy"
            raise PluginError(
                f"two strategies are called {point.name!r}: {other} and {point.value}; rename or uninstall one, or "
                f"name the class itself: -s {point.value}"
            )
        found[point.name] = point
    return found


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
