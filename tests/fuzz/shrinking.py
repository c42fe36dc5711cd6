"""Making a case small while it shows the same fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.oracle import Case


def shrink(case: Case, still: Callable[[Case], bool], tries: int = 150) -> Case:
    """The smallest case met within ``tries`` for which ``still`` holds."""
    left = tries
    found = True
    while found and left > 0:
        found = False
        for smaller in _smaller(case):
            left -= 1
            if left < 0:
                break
            if still(smaller):
                case, found = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    argv = case.argv
    if case.stdin:
        yield replace(case, stdin=b"")
    if case.encoding != "utf-8":
        yield replace(case, encoding="utf-8")
    for name in case.files:
        yield replace(case, files={key: value for key, value in case.files.items() if key != name})
    for width in (2, 1):
        for at in range(len(argv) - width, 0, -1):
            yield replace(case, argv=argv[:at] + argv[at + width :])
    for name, content in case.files.items():
        for part in _parts(content):
            yield replace(case, files={**case.files, name: part})
    for at, word in enumerate(argv):
        if len(word) > 12:
            yield replace(case, argv=(*argv[:at], word[: len(word) // 2], *argv[at + 1 :]))
    for line in case.source.splitlines()[:-1]:
        yield replace(case, source="\n".join(kept for kept in case.source.splitlines() if kept != line))


def _parts(content: bytes) -> Iterator[bytes]:
    """Contents without one of their parts, large parts first; by lines where there are many, else by bytes."""
    lines = content.splitlines(keepends=True)
    whole: list[bytes] = lines if len(lines) > 8 else [content[i : i + 1] for i in range(len(content))]
    size = len(whole) // 2
    while size >= max(1, len(whole) // 24):
        for at in range(0, len(whole), size):
            yield b"".join(whole[:at] + whole[at + size :])
        size //= 2
