"""The file of ``--resume``: one line a finished cell, on the disk before it counts as finished."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from clover_sim.errors import InputError

SCHEMA = "clover-sim/sweep-cells/1"
_LONGEST_HEADER = 1_000


class Journal:
    """An append-only file of cells that belongs to one sweep.

    What a killed process left half written at the end is cut off; anything else that does not fit is refused, and the
    file left as it is.
    """

    def __init__(self, path: str, fingerprint: str, cells: int) -> None:
        self.path = path
        self.lines: dict[int, str] = {}
        self._descriptor = -1
        header = json.dumps({"schema": SCHEMA, "sweep": fingerprint, "cells": cells}) + "\n"
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(path, flags, 0o666)
            self._lock()
            data = self._whole_file()
            whole = data[: data.rfind(b"\n") + 1]
            first = whole.partition(b"\n")[0]
            if data and not header.encode().startswith(data[: len(header)]):
                self._check_header(first or data, fingerprint)
            if len(whole) < len(header):
                os.ftruncate(self._descriptor, 0)
                self._append(header)
                return
            self._read(whole, cells)
            os.ftruncate(self._descriptor, len(whole))
        except OSError as error:
            self.close()
            raise InputError(f"resume {path!r}: {error.strerror or error}") from None
        except BaseException:
            self.close()
            raise

    def _whole_file(self) -> bytes:
        """All bytes, through the one descriptor: closing another one of the same file would end the lock."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        parts = []
        while part := os.read(self._descriptor, 1 << 20):
            parts.append(part)
        return b"".join(parts)

    def _check_header(self, line: bytes, fingerprint: str) -> None:
        try:
            header = json.loads(line[:_LONGEST_HEADER])
            known = header["schema"] == SCHEMA
            same = header["sweep"] == fingerprint
        except (ValueError, KeyError, TypeError):
            known = same = False
        if not known:
            raise InputError(f"resume {self.path!r}: line 1 is not that of a sweep's file; name a new file")
        if not same:
            raise InputError(
                f"resume {self.path!r} belongs to another sweep (other strategies, axes, seeds, files or version); "
                "repeat its command, or name a new file"
            )

    def _read(self, data: bytes, cells: int) -> None:
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines()[1:], 2):
            try:
                index = json.loads(line)["cell"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"resume {self.path!r}: line {number} is damaged; remove it, or the file") from None
            if not isinstance(index, int) or not 0 <= index < cells:
                raise InputError(f"resume {self.path!r}: line {number} has cell {index!r} of {cells}; remove the line")
            self.lines[index] = line

    def _lock(self) -> None:
        """Two sweeps must not write one file. A record lock ends with the process, whatever becomes of its workers."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"resume {self.path!r} is being written by another sweep; wait, or name a new file"
            ) from None

    def add(self, lines: Sequence[str]) -> None:
        """Append lines and wait until they are on the disk."""
        self._append("".join(line + "\n" for line in lines))

    def _append(self, text: str) -> None:
        data = text.encode()
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise InputError(f"resume {self.path!r} cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()
