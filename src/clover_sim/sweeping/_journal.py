"""The file of ``--resume``: one line a finished cell, on the disk before it counts as finished."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any
from zlib import crc32

from clover_sim.errors import InputError

SCHEMA = "clover-sim/sweep-cells/1"
LONGEST_LINE_BYTES = 64 << 20
"""Longest line that is read; ten thousand seeds of a cell take a megabyte or two."""
_LONGEST_HEADER = 1_000
_CHECK = ',"crc32":'
"""Before the checksum of the rest of a line: a row that was changed would be shown as a result."""

_open: set[tuple[int, int]] = set()
"""Device and number of each file that this process writes: its own record locks do not keep it from itself."""


class Journal:
    """An append-only file of cells that belongs to one sweep.

    What a killed process left half written at the end is cut off; anything else that does not fit is refused, and the
    file left as it is.
    """

    def __init__(self, path: str, fingerprint: str, cells: int) -> None:
        self.path = path
        self.lines: dict[int, str] = {}
        self._descriptor = -1
        self._held: tuple[int, int] | None = None
        header = json.dumps({"schema": SCHEMA, "sweep": fingerprint, "cells": cells}).encode() + b"\n"
        try:
            self._check_target()
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(path, flags, 0o666)
            self._lock()
            with open(self._descriptor, "rb", closefd=False) as stream:  # closing another one would end the lock
                kept = self._read(stream, header, fingerprint, cells)
            os.ftruncate(self._descriptor, kept)
            if not kept:
                self._append(header)
        except (OSError, ValueError) as error:
            self.close()
            raise InputError(f"resume {path!r}: {getattr(error, 'strerror', None) or error}") from None
        except BaseException:
            self.close()
            raise

    def _check_target(self) -> None:
        """Before it is opened: closing it again would end a lock that this process has on it."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"resume {self.path!r} is not a plain file; name a new file")
        if (found.st_dev, found.st_ino) in _open:
            raise InputError(self._taken())

    def _taken(self) -> str:
        return f"resume {self.path!r} is being written by another sweep; wait, or name a new file"

    def _read(self, stream: IO[bytes], header: bytes, fingerprint: str, cells: int) -> int:
        """Read line after line, and say how many bytes of the file are whole lines."""
        first = stream.readline(_LONGEST_HEADER)
        if not header.startswith(first):
            self._check_header(first, fingerprint)
        if not first.endswith(b"\n"):
            return 0
        size, number = len(first), 1
        while line := stream.readline(LONGEST_LINE_BYTES):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) == LONGEST_LINE_BYTES:
                    raise InputError(f"resume {self.path!r}: line {number} has over 64 MB; remove it, or the file")
                break
            size += len(line)
            index, text = self._cell(line, number, cells)
            self.lines[index] = text
        return size

    def _check_header(self, line: bytes, fingerprint: str) -> None:
        try:
            header = json.loads(line)
            known = header["schema"] == SCHEMA
            same = header["sweep"] == fingerprint
        except (ValueError, KeyError, TypeError, RecursionError):
            known = same = False
        if not known:
            raise InputError(f"resume {self.path!r}: line 1 is not that of a sweep's file; name a new file")
        if not same:
            raise InputError(
                f"resume {self.path!r} belongs to another sweep (other strategies, axes, seeds, files or version); "
                "repeat its command, or name a new file"
            )

    def _cell(self, line: bytes, number: int, cells: int) -> tuple[int, str]:
        try:
            text, mark, check = line[:-1].decode().rpartition(_CHECK)
            text = text + "}" if mark else check
            record = json.loads(text)
            index, row = record["cell"], record["row"] if "row" in record else record["refused"]
            sound = isinstance(row, dict) and isinstance(row["varied"], dict)
        except (ValueError, KeyError, TypeError, RecursionError):
            sound = False
        damaged = f"resume {self.path!r}: line {number} is damaged; remove it, or the file"
        if not sound:
            raise InputError(damaged)
        if type(index) is not int or not 0 <= index < cells:
            found = repr(index)[:40]
            raise InputError(f"resume {self.path!r}: line {number} has cell {found} of {cells}; remove the line")
        if not mark or check != f"{crc32(text.encode())}}}":
            raise InputError(damaged)
        return index, text

    def _lock(self) -> None:
        """Two sweeps must not write one file. A record lock ends with the process, whatever becomes of its workers."""
        try:
            import fcntl

            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on Windows
            pass
        except OSError:
            raise InputError(self._taken()) from None
        found = os.fstat(self._descriptor)
        self._held = (found.st_dev, found.st_ino)
        _open.add(self._held)

    def add(self, lines: Sequence[str]) -> None:
        """Append lines and wait until they are on the disk."""
        checked = (f"{line[:-1]}{_CHECK}{crc32(line.encode())}}}\n" for line in lines)
        self._append("".join(checked).encode())

    def _append(self, data: bytes) -> None:
        before = os.fstat(self._descriptor).st_size
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, before)
            raise InputError(f"resume {self.path!r} cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Let go of the file."""
        if self._held is not None:
            _open.discard(self._held)
            self._held = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()
