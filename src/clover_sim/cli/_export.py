"""Writing results to files: checked before the work, never half written, all of them or none.

A file that is there is only replaced with ``--force``, whichever flag names it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from clover_sim.cli._console import Console
from clover_sim.errors import CloverError, InputError, UsageError
from clover_sim.report import Look, format_of_file

_WIDTH = 120
"""Files look the same wherever they are made."""

_THERE = "is there already; name a new file, or add --force to replace it"

Text = Callable[[str, Look], str]
"""The text of a result in the format of that name."""


_forced: ContextVar[bool] = ContextVar("forced", default=False)
"""Whether files that are there may be replaced: said once for a run, heeded wherever one is written."""


@contextmanager
def forced(yes: bool) -> Iterator[None]:
    """Within it, files that are there may be replaced, or not."""
    token = _forced.set(yes)
    try:
        yield
    finally:
        _forced.reset(token)


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
        found.append(Export(path, name, checked_target(path)))
    check_flags([("--export", path) for path in paths], [("--input", path) for path in inputs])
    return found


def check_flags(written: Sequence[tuple[str, str]], read: Sequence[tuple[str, str]]) -> None:
    """Check the files that the flags of a command name, each given as (flag, path), before any work is done.

    Raises :class:`InputError` for a file to write that is there already, unless forced, :class:`UsageError` for one
    that is named twice, or read too. Whether ``--export`` can be written is left to :func:`plan`.
    """
    seen: list[tuple[str, str]] = []
    for flag, path in written:
        if path == "-" and flag == "--export":
            continue
        if path == "-":
            raise UsageError(f"{flag} -: standard output holds the result; name a file")
        if flag != "--export":
            checked_target(path, flag)
        for other, as_typed in seen:
            if _same(path, as_typed):
                also = "" if path == as_typed else f", also as {as_typed!r}"
                twice = "is given twice" if flag == other else f"is the file of {other} too"
                raise UsageError(f"{flag} {path!r} {twice}{also}; name another file")
        for other, source in read:
            if source != "-" and _same(path, source):
                raise UsageError(f"{flag} {path!r} is also read as {other}; name another file")
        seen.append((flag, path))
    for flag, path in seen:
        if not _forced.get() and os.path.isfile(path):
            raise InputError(f"{flag} {path!r} {_THERE}")


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


def replace(path: str, data: bytes, flag: str = "--export") -> None:
    """Write ``data`` beside ``path``, then move it there; on any failure ``path`` is as it was.

    A link keeps pointing at the file it names, an existing file keeps its permissions, and a device is written to
    directly, for it must not be replaced.
    """
    _put([(path, checked_target(path, flag), data)], flag)


def _put(files: Sequence[tuple[str, str, bytes]], flag: str = "--export") -> None:
    """Write files given as (path as typed, target, data): first all beside their places, then all into them."""
    staged: list[tuple[str, str, str]] = []
    placed: list[str] = []
    path = ""
    try:
        devices = []
        for path, target, data in files:
            mode = _mode(target)
            if mode is not None and not stat.S_ISREG(mode):
                devices.append((path, target, data))
                continue
            with open(_create_beside(path, target, 0o666 if mode is None else stat.S_IMODE(mode), staged), "wb") as out:
                if mode is not None:
                    os.chmod(staged[-1][1], stat.S_IMODE(mode))
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
        for path, target, data in devices:  # noqa: B007 (named if it fails)
            with open(os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)), "wb") as out:
                out.write(data)
        while staged:
            path, temporary, target = staged[0]
            if _forced.get():
                os.replace(temporary, target)
            else:
                _place(temporary, target)
                placed.append(target)
            staged.pop(0)
    except BaseException as error:
        for leftover in [*(temporary for _, temporary, _ in staged), *placed]:
            with suppress(OSError):
                os.unlink(leftover)
        if isinstance(error, FileExistsError):
            raise InputError(f"{flag} {path!r} {_THERE}") from None
        if isinstance(error, (OSError, ValueError)) and not isinstance(error, CloverError):
            raise InputError(f"{flag} {path!r} cannot be written: {_reason(error)}") from error
        raise


def _place(temporary: str, target: str) -> None:
    """Give the new file its name, which nothing else may have."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError from None
        os.replace(temporary, target)
        return
    os.unlink(temporary)


def _mode(target: str) -> int | None:
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


def _create_beside(path: str, target: str, mode: int, staged: list[tuple[str, str, str]]) -> int:
    """The descriptor of a new file in the folder of ``target``, which ``staged`` names before it is there."""
    number = 0
    while True:
        temporary = os.path.join(os.path.dirname(target), f".clover-sim.{os.getpid()}.{number}.tmp")
        if os.path.lexists(temporary):
            number += 1
            continue
        staged.append((path, temporary, target))
        try:
            return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            staged.pop()
            number += 1
