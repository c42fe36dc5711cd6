"""Reading one value after another from a configuration: typed, in range, with the family's documented default.

Every error names the file and the key path, what was found, what is expected and how to mend it, on one line.
"""

from __future__ import annotations

from typing import Any

from clover_sim.errors import InputError
from clover_sim.specs.check import kind_of

WIDTH = 1 << 24
"""Largest width, vocabulary or count of positions times nothing: past it a figure is taken for a slip."""

LAYERS = 10_000
HEADS = 1 << 16

_MISSING = object()


def shown(value: Any) -> str:
    """A value as it may stand in a one-line message.

    >>> shown("x" * 60), shown([1, 2]), shown(10**50)
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'", 'a list of 2', '1000000000000000000000000000000000000...')
    """
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a table of {len(value)}"
    try:
        text = str(value) if not isinstance(value, str) else value
    except ValueError:  # more digits than Python turns into text
        return "a number of thousands of digits"
    text = text if len(text) <= 40 else text[:37] + "..."
    return repr(text) if isinstance(value, str) else text


class Fields:
    """The keys of one configuration table.

    Args:
        table: the decoded table. where: file name. prefix: path of the table within the file, such as
            ``text_config.``. family: its name, for notes. defaults: the family's documented defaults.
        outer: the table around a nested one, in which keys such as ``tie_word_embeddings`` may stand.
    """

    __slots__ = ("defaults", "family", "notes", "outer", "prefix", "table", "where")

    def __init__(
        self,
        table: dict[str, Any],
        where: str,
        family: str,
        defaults: dict[str, Any],
        prefix: str = "",
        outer: dict[str, Any] | None = None,
    ) -> None:
        self.table = table
        self.where = where
        self.family = family
        self.defaults = defaults
        self.prefix = prefix
        self.outer = outer
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Add a line for the reader, once."""
        if text not in self.notes:
            self.notes.append(text)

    def fail(self, key: str, expected: str, kind: bool = True) -> InputError:
        """The error for ``key``: what stands there, and what should. kind: say of what type the value is."""
        value = self.table.get(key, _MISSING)
        found = "missing" if value is _MISSING else f"{shown(value)}"
        of_type = f", not {kind_of(value)}" if kind and value is not _MISSING and value is not None else ""
        return InputError(f"{self.where}: {self.prefix}{key} is {found}; expected {expected}{of_type}")

    def wrong(self, text: str) -> InputError:
        """An error about more than one key."""
        return InputError(f"{self.where}: {text}")

    def has(self, key: str) -> bool:
        """Whether ``key`` holds anything but null."""
        return self.table.get(key) is not None

    def stated(self, *keys: str) -> tuple[str, Any]:
        """The one key of these spellings that holds a value, or ``("", None)``; two that differ are refused."""
        name, value = "", None
        for key in keys:
            found = self.table.get(key)
            if found is None:
                continue
            if not name:
                name, value = key, found
            elif found != value or isinstance(found, bool) != isinstance(value, bool):
                raise self.wrong(
                    f"{self.prefix}{name} is {shown(value)} but {self.prefix}{key} is {shown(found)}; "
                    "expected one figure, remove the wrong one"
                )
        return name, value

    def default(self, keys: tuple[str, ...]) -> tuple[str, Any]:
        for key in keys:
            if key in self.defaults:
                return key, self.defaults[key]
        return keys[0], None

    def whole(self, *keys: str, low: int = 1, high: int = WIDTH, required: bool = False) -> int:
        """A whole number under the first of these spellings, else the family's default, which is noted."""
        found = self.maybe(*keys, low=low, high=high, null_is_missing=True, required=required)
        if found is None:
            raise self.fail(keys[0], f"a whole number from {low} to {high}, for which {self.family} has no default")
        return found

    def maybe(
        self, *keys: str, low: int = 1, high: int = WIDTH, null_is_missing: bool = False, required: bool = False
    ) -> int | None:
        """As :meth:`whole`, but ``None`` where null is stated (or the default is null)."""
        name, value = self.stated(*keys)
        if name:
            return self._number(name, value, low, high)
        if required:
            others = f" (or {', '.join(keys[1:])})" if len(keys) > 1 else ""
            raise self.fail(keys[0], f"a whole number from {low} to {high}{others}; it sets the size of the model")
        if not null_is_missing and any(key in self.table for key in keys):
            return None
        key, default = self.default(keys)
        if default is not None:
            self.note(f"{self.prefix}{key} missing: {self.family} default {default}")
        return default if default is None else int(default)

    def _number(self, key: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            digits = isinstance(value, str) and value.strip().isdigit()
            mend = " (remove the quotes)" if digits else ""
            raise self.fail(key, f"a whole number from {low} to {high}{mend}")
        if not low <= value <= high:
            raise InputError(
                f"{self.where}: {self.prefix}{key} is {shown(value)}; expected a whole number from {low} to {high}"
            )
        return value

    def flag(self, *keys: str, default: bool | None = None) -> bool:
        """True or false under these spellings, else the family's default; a default of true is noted."""
        name, value = self.stated(*keys)
        if name:
            if not isinstance(value, bool):
                raise self.fail(name, "true or false")
            return value
        key, fallback = self.default(keys)
        if fallback is None:
            fallback = bool(default)
        if fallback:
            self.note(f"{self.prefix}{key} missing: {self.family} default true")
        return bool(fallback)

    def word(self, *keys: str, choices: tuple[str, ...] = ()) -> str | None:
        """A text under these spellings, one of ``choices`` if there are any; ``None`` if missing."""
        name, value = self.stated(*keys)
        if not name:
            return None
        if not isinstance(value, str):
            raise self.fail(name, "one of " + ", ".join(choices) if choices else "text")
        if choices and value not in choices:
            raise self.fail(name, "one of " + ", ".join(choices), kind=False)
        return value

    def items(self, key: str, length: int | None = None) -> list[Any] | None:
        """The list under ``key``, ``length`` long where that is given; ``None`` if missing or null."""
        value = self.table.get(key)
        if value is None:
            return None
        size = f" of {length}" if length is not None else ""
        if not isinstance(value, list):
            raise self.fail(key, f"a list{size}")
        if length is not None and len(value) != length:
            raise InputError(
                f"{self.where}: {self.prefix}{key} has {len(value)} entries; expected {length}, one a layer"
            )
        return value

    def tied(self) -> bool:
        """Whether the embedding serves as the head: the outermost table that says so decides."""
        key = "tie_word_embeddings"
        if self.outer is not None and self.outer.get(key) is not None:
            value = self.outer[key]
            if not isinstance(value, bool):
                raise InputError(f"{self.where}: {key} is {shown(value)}; expected true or false, not {kind_of(value)}")
            inner = self.table.get(key)
            if isinstance(inner, bool) and inner != value:
                self.note(
                    f"{self.prefix}{key} is {str(inner).lower()} but {key} is {str(value).lower()}: the latter counts"
                )
            return value
        if self.table.get(key) is None:
            value = bool(self.defaults.get(key, False))
            self.note(f"{self.prefix}{key} missing: {self.family} default {str(value).lower()}")
            return value
        return self.flag(key)

    def untied(self) -> bool:
        """As :meth:`tied` for families whose modelling code keeps a head of its own in any case: always false."""
        if self.tied():
            self.note(f"tie_word_embeddings is true, but the code of {self.family} keeps a head of its own: counted")
        return False
