"""Writing results to files: checked before the work, never half written, all of them or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from clover_sim.cli._console import Console
from clover_sim.errors import CloverError, InputError, UsageError
from clover_sim.report import Look, format_of_file

_WIDTH = 120
"""Files look the same wherever they are made."""

Text = Callable[[str, Look], str]
"""The text of a result in the format of that name."""


class Export(NamedTuple):
    """One file to write: as it was typed, its format, and where that leads, links followed."""

    path: str
    format: str
    target: str

    def write(self, text: Text, columns: tuple[str, ...] = ()) -> None:
        """Put what ``text`` gives for the format in the file's place in one step."""
        _put([(self.path, self.target, self.render(text, columns))])

    def render(self, text: Text, columns: tuple[str, ...] = ()) -> bytes:
        """The bytes of the file."""
        return text(self.format, Look(width=_WIDTH, columns=columns)).encode("utf-8", "backslashreplace")


def write_all(exports: Sequence[Export], text: Text, console: Console, columns: tuple[str, ...] = ()) -> None:
    """Write every file, or none if one cannot be rendered or written, and say so."""
    _put([(export.path, export.target, export.render(text, columns)) for export in exports])
    for export in exports:
        console.info(f"wrote {export.path}")


def plan(paths: Sequence[str], formats: Sequence[str] = (), inputs: Sequence[str] = ()) -> list[Export]:
    """What ``--export`` asks for. Standard output is no file: the result goes there anyway.

    Args:
        paths: what was typed. formats: those the command has, if not all. inputs: files it reads.

    Raises before any work is done: :class:`UsageError` for an unknown ending, a file named twice or one that is also
    read, :class:`InputError` where nothing can be written.
    """
    found: list[Export] = []
    for path in paths:
        if path == "-":
            continue
        name = format_of_file(path)
        if formats and name not in formats:
            raise UsageError(f"--export {path!r}: this command writes {' and '.join(formats)} only")
        target = checked_target(path)
        for other in found:
            if _same(target, other.target):
                also = "" if path == other.path else f", also as {other.path!r}"
                raise UsageError(f"--export {path!r} is given twice{also}")
        if any(_same(target, source) for source in inputs if source != "-"):
            raise UsageError(f"--export {path!r} is also read as --input; name another file")
        found.append(Export(path, name, target))
    return found


def checked_target(path: str, flag: str = "--export") -> str:
    """The absolute path, links followed, of a file that can be written; :class:`InputError` where none can."""
    who = f"{flag} {path!r}"
    try:
        target = os.path.realpath(path)
    except (OSError, ValueError) as error:  # the current folder was deleted
        raise InputError(f"{who}: {_reason(error)}; is the current directory gone?") from None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        raise InputError(f"{who} cannot be written: {_reason(error)}") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"{who} is a directory; name a file in it")
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISCHR(mode):
        raise InputError(f"{who} is not a plain file; name one, or send standard output where you want it")
    if mode is not None and not os.access(target, os.W_OK):
        raise InputError(f"{who} is write-protected; name another file")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise InputError(f"{who}: there is no directory {_shown(path, folder)!r}; make it first")
    if (mode is None or stat.S_ISREG(mode)) and not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{who}: the directory {_shown(path, folder)!r} cannot be written to")
    return target


def _shown(path: str, folder: str) -> str:
    """The folder as it was typed, unless a link leads to another one."""
    return folder if os.path.islink(path) else os.path.dirname(path) or "."


def _same(one: str, other: str) -> bool:
    """Whether two paths are one file, also through links of either kind."""
    with suppress(OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other) or os.path.samefile(one, other)
    return False


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def replace(path: str, data: bytes) -> None:
    """Write ``data`` beside ``path``, then move it there; on any failure ``path`` is as it was.

    A link keeps pointing at the file it names, an existing file keeps its permissions, and a device is written to
    directly, for it must not be replaced.
    """
    _put([(path, checked_target(path), data)])


def _put(files: Sequence[tuple[str, str, bytes]]) -> None:
    """Write files given as (path as typed, target, data): first all beside their places, then all into them."""
    staged: list[tuple[str, str, str]] = []
    path = ""
    try:
        devices = []
        for path, target, data in files:
            mode = _mode(target)
            if mode is not None and not stat.S_ISREG(mode):
                devices.append((path, target, data))
                continue
            descriptor, temporary = _create_beside(target, 0o666 if mode is None else stat.S_IMODE(mode))
            staged.append((path, temporary, target))
            with open(descriptor, "wb") as stream:
                if mode is not None:
                    os.chmod(temporary, stat.S_IMODE(mode))
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for path, target, data in devices:  # noqa: B007 (named if it fails)
            with open(os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)), "wb") as stream:
                stream.write(data)
        while staged:
            path, temporary, target = staged[0]
            os.replace(temporary, target)
            staged.pop(0)
    except BaseException as error:
        for _, temporary, _ in staged:
            with suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, (OSError, ValueError)) and not isinstance(error, CloverError):
            raise InputError(f"--export {path!r} cannot be written: {_reason(error)}") from error
        raise


def _mode(target: str) -> int | None:
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


def _create_beside(target: str, mode: int) -> tuple[int, str]:
    """A new file in the folder of ``target``: its descriptor and its path."""
    number = 0
    while True:
        temporary = os.path.join(os.path.dirname(target), f".clover-sim.{os.getpid()}.{number}.tmp")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            return os.open(temporary, flags, mode), temporary
        except FileExistsError:
            number += 1
