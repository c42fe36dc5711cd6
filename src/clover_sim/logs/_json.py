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
_EVENT = re.compile(rb"^data:[ \t]*(?=\{)", re.MULTILINE)
_OPENINGS = (b"\n{", b"\n[{", b"\n[\n", b"\n[\r")


def may_open(data: bytes) -> bool:
    """Whether a line of ``data`` may begin a JSON document."""
    start = data.lstrip(BLANKS)[:2]
    return start[:1] == b"{" or start in (b"[{", b"[\n", b"[\r") or any(mark in data for mark in _OPENINGS)


def events(data: bytes) -> bytes:
    r"""Without the ``data:`` before each document of a streamed response.

    >>> events(b'data: {"a": 1}\n\ndata: [DONE]\n')
    b'{"a": 1}\n\ndata: [DONE]\n'
    """
    return _EVENT.sub(b"", data) if b"data:" in data else data


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


_WRAPPERS = (
    "log", "message", "msg", "MESSAGE", "textPayload", "line", "event", "body", "text", "short_message", "stringValue",
)  # fmt: skip
"""Keys under which collectors keep the line they wrapped in JSON."""
_INSIDE = ("jsonPayload", "fields", "record", "body")
"""Tables in which some of them stand."""
_SOURCES = ("pod_name", "pod", "container_name", "container", "container_id", "hostname", "host", "_HOSTNAME")
_SOURCE_TABLES = ("kubernetes", "resource", "labels", "attrs")


def unwrapped(document: dict[str, Any]) -> str | None:
    """The line that a collector wrapped, with the pod, container or host it names as a prefix, if there is one.

    >>> unwrapped({"stream": "stderr", "log": "hello", "kubernetes": {"pod_name": "a-0", "container_name": "vllm"}})
    '[a-0/vllm] hello'
    """
    tables = [document, *(document[key] for key in _INSIDE if isinstance(document.get(key), dict))]
    line = next((table[k] for table in tables for k in _WRAPPERS if isinstance(table.get(k), str)), None)
    if line is None:
        return None
    around = [document, *(document[key] for key in _SOURCE_TABLES if isinstance(document.get(key), dict))]
    around += [table["labels"] for table in around[1:] if isinstance(table.get("labels"), dict)]
    names = [table[key] for table in around for key in _SOURCES if isinstance(table.get(key), str)]
    source = "/".join(re.sub(r"[^\w.\-]", "-", name[:80]) for name in dict.fromkeys(names))
    return f"[{source}] {line}" if source[:1].isalpha() else f"[s-{source}] {line}" if source else line


def depth_of(texts: Iterable[str]) -> int:
    return sum(
        rest.count("{") + rest.count("[") - rest.count("}") - rest.count("]")
        for rest in (_STRING.sub("", text) for text in texts)
    )
