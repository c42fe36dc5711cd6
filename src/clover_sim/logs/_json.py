"""JSON in the middle of a log: whether a line opens a document, and the document put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A string of JSON, or the rest of a text that breaks off within one (looked for again from each quotation mark, it
would take time that grows with the square of the length)."""
_INSIDE_JSON = re.compile(
    r'\s*(?:$|["{}\],]|\[\s*(?:$|[\]"{\[]|-?\d[\d.eE+-]*\s*[,\]])|(?:-?\d[\d.eE+-]*|true|false|null|-?Infinity|NaN)\s*[,\]}]?\s*$)'
).match
"""How a later line of a JSON document starts: a log line after a stray bracket is not taken for one."""
_LARGEST_DOCUMENT = 64 << 20
BLANKS = b" \t\xef\xbb\xbf"
_OPENINGS = (b"\n{", b"\n[{", b"\n[\n", b"\n[\r")


def may_open(data: bytes) -> bool:
    """Whether a line of ``data`` may begin a JSON document."""
    start = data.lstrip(BLANKS)[:2]
    return start[:1] == b"{" or start in (b"[{", b"[\n", b"[\r") or any(mark in data for mark in _OPENINGS)


class Document:
    """A JSON document over several lines, until its brackets close."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._depth = self._size = 0

    @property
    def lines(self) -> int:
        return len(self.parts)

    def begin(self, text: str) -> bool:
        """Whether ``text`` opens a document that goes on."""
        depth = depth_of([text])
        if depth <= 0 or not re.match(r'[\[{]\s*(?:$|["{\[])', text):
            return False
        self.parts, self._depth, self._size = [text], depth, len(text)
        return True

    def more(self, text: str) -> bool:
        """Whether the document is whole, or has grown too large."""
        self.parts.append(text)
        self._depth += depth_of([text])
        self._size += len(text)
        return self._depth <= 0 or self._size > _LARGEST_DOCUMENT or not _INSIDE_JSON(text)

    def text(self) -> str:
        return "".join(self.parts)

    def clear(self) -> None:
        self.parts, self._depth, self._size = [], 0, 0


BROKEN = object()


def parsed(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return BROKEN


def depth_of(texts: Iterable[str]) -> int:
    return sum(
        rest.count("{") + rest.count("[") - rest.count("}") - rest.count("]")
        for rest in (_STRING.sub("", text) for text in texts)
    )
