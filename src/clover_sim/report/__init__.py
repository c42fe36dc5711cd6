"""From a result to text. Each format is one module here: ``EXTENSIONS`` and a pure ``render(result, look) -> str``.

There is no list of formats: a module with these two names is one, so adding a format is adding a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clover_sim.errors import UsageError

if TYPE_CHECKING:
    from clover_sim.report._contract import Format


@dataclass(frozen=True, slots=True)
class Look:
    """How a text may look. It never changes a figure, only what fits and how it is marked.

    Args:
        width: columns of the terminal; ``None`` for no limit.
        colour: whether ANSI colour codes may be used.
        unicode: whether characters outside ASCII may be used for rules and marks.
        columns: keys to show instead of the usual ones; quality is added to them.
    """

    width: int | None = 80
    colour: bool = False
    unicode: bool = True
    columns: tuple[str, ...] = ()

    def paint(self, style: str, text: str) -> str:
        """``text`` in a style such as ``"1;32"`` (the numbers of an ANSI code), or as it is without colour.

        >>> Look().paint("1", "plain"), Look(colour=True).paint("1", "bold")
        ('plain', '\\x1b[1mbold\\x1b[0m')
        """
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and style and text else text

    @property
    def dot(self) -> str:
        """The separator between the parts of a heading."""
        return " · " if self.unicode else " | "

    @property
    def times(self) -> str:
        """The sign of multiplication."""
        return "×" if self.unicode else "x"


PLAIN = Look()
"""Eighty columns without colour."""


def _load(name: str) -> Format | None:
    import importlib

    if not name.isidentifier() or name.startswith("_"):
        return None
    path = f"{__name__}.{name}"
    try:
        module: Any = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
    return module if hasattr(module, "render") and hasattr(module, "EXTENSIONS") else None


def formats() -> dict[str, Format]:
    """All formats by name, sorted.

    >>> {"table", "json", "csv", "markdown"} <= set(formats())
    True
    """
    import pkgutil

    found = {info.name: _load(info.name) for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in sorted(found.items()) if module}


def get_format(name: str) -> Format:
    """The format named ``name``; :class:`UsageError` with the existing ones if there is none."""
    module = _load(name)
    if module is None:
        raise UsageError(f"there is no format {name!r}; there are {', '.join(formats())}")
    return module


def format_of_file(path: str) -> str:
    """The name of the format that a file name's ending asks for.

    >>> format_of_file("out/result.MD"), format_of_file("result.csv")
    ('markdown', 'csv')
    """
    known = formats()
    for name, module in known.items():
        if path.lower().endswith(module.EXTENSIONS):
            return name
    endings = ", ".join(ending for module in known.values() for ending in module.EXTENSIONS)
    raise UsageError(f"no format has the ending of {path!r}; known endings: {endings}")
