"""Writing results to files: checked before the work, never half written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import NamedTuple

from clover_sim.errors import InputError, UsageError
from clover_sim.report import Look, format_of_file

_WIDTH = 120
"""Files look the same wherever they are made."""


class Export(NamedTuple):
    """One file to write, and its format."""

    path: str
    format: str

    def write(self, text: Callable[[str, Look], str], columns: tuple[str, ...] = ()) -> None:
        """Put what ``text`` gives for the format in the file's place in one step."""
        look = Look(width=_WIDTH, columns=columns)
        replace(self.path, text(self.format, look).encode("utf-8", "backslashreplace"))


def plan(paths: Sequence[str], formats: Sequence[str] = ()) -> list[Export]:
    """What ``--export`` asks for. Standard output is no file: the result goes there anyway.

    Args:
        paths: what was typed. formats: those the command has, if not all.

    Raises before any work is done: :class:`UsageError` for an unknown ending or a file named twice,
    :class:`InputError` where nothing can be written.
    """
    found: list[Export] = []
    for path in paths:
        if path == "-":
            continue
        if any(os.path.abspath(path) == os.path.abspath(other.path) for other in found):
            raise UsageError(f"--export {path!r} is given twice")
        found.append(Export(path, format_of_file(path)))
        if formats and found[-1].format not in formats:
            raise UsageError(f"--export {path!r}: this command writes {' and '.join(formats)} only")
        folder = os.path.dirname(path) or "."
        if os.path.isdir(path):
            raise InputError(f"--export {path!r} is a directory; name a file in it")
        if not os.path.isdir(folder):
            raise InputError(f"--export {path!r}: there is no directory {folder!r}; make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"--export {path!r}: the directory {folder!r} cannot be written to")
    return found


def replace(path: str, data: bytes) -> None:
    """Write ``data`` beside ``path``, then move it there; on any failure ``path`` is as it was.

    A link keeps pointing at the file it names, an existing file keeps its permissions, and what is not a plain file
    (a pipe, a device) is written to directly, for it must not be replaced.
    """
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as stream:
            stream.write(data)
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as stream:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {path!r}: {error.strerror}") from error
        raise
