"""A log file as lines of bytes: compressed or not, of any size, never more than one line in memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from clover_sim.errors import InputError

LONGEST_LINE_BYTES = 64 << 20
_BLOCK_BYTES = 1 << 20
_LOOK_BYTES = 4096
MOST_UNPACKED = 300
"""Logs shrink to a tenth or a thirtieth; what unpacks to more than so many times its size is refused ..."""
_FREE_BYTES = 256 << 20
"""... once it has given so many bytes."""

Progress = Callable[[int, int], None] | None


class Block(NamedTuple):
    """Some whole lines; ``too_long`` stands for one line of over 64 MB, whose bytes are not kept."""

    data: bytes
    too_long: bool = False


class Source:
    """One file to read; ``cut_off`` says afterwards why it ended early, if it did."""

    def __init__(self, path: str, stdin: IO[Any] | None = None) -> None:
        self.path = path
        self.name = "standard input" if path == "-" else path
        self.cut_off = ""
        self._stdin = stdin

    def blocks(self, progress: Progress = None) -> Iterator[Block]:
        """The file in blocks of about a megabyte that end where a line ends.

        Raises :class:`InputError` for what is not text, ``OSError`` for what cannot be opened.
        """
        raw, total = self._open()
        with raw:
            reader = self._decompressed(raw)
            begun = False
            unpacked = 0
            while True:
                try:
                    data = reader.read(_BLOCK_BYTES)
                    if data and not data.endswith(b"\n"):
                        data += reader.readline(LONGEST_LINE_BYTES)
                except Exception as error:  # zlib.error, lzma.LZMAError ...: not worth importing for their names
                    if isinstance(error, OSError) and error.errno is not None:
                        raise
                    self._damaged(error, begun)
                    return
                if not data:
                    return
                begun = True
                unpacked = self._count(unpacked, len(data), raw)
                if len(data) >= LONGEST_LINE_BYTES and not data.endswith(b"\n"):
                    whole = data.rfind(b"\n") + 1
                    yield Block(data[:whole])
                    yield Block(b"", too_long=True)
                    while (rest := reader.readline(_BLOCK_BYTES)) and not rest.endswith(b"\n"):
                        unpacked = self._count(unpacked, len(rest), raw)
                else:
                    yield Block(data)
                if progress:
                    progress(min(_position(raw), total) >> 20, max(total >> 20, 1))

    def _count(self, before: int, more: int, raw: io.BufferedReader) -> int:
        """The bytes unpacked so far; :class:`InputError` where they cannot be those of a log."""
        total = before + more
        if total > _FREE_BYTES and total > MOST_UNPACKED * (_position(raw) or total):
            raise InputError(
                f"{self.name!r} unpacks to more than {MOST_UNPACKED} times its size, which no log does; unpack it "
                "first if it is one"
            )
        return total

    def _damaged(self, error: Exception, begun: bool) -> None:
        if not begun:
            raise InputError(f"{self.name!r} cannot be unpacked ({error}); expected a text log or a whole .gz")
        self.cut_off = f"{self.name}: the compressed data end early, what came before is used"

    def _open(self) -> tuple[io.BufferedReader, int]:
        if self.path == "-":
            stream = self._stdin
            if stream is None:
                raise InputError("there is no standard input to read; name a file")
            binary: Any = getattr(stream, "buffer", stream)
            return (binary if hasattr(binary, "peek") else io.BufferedReader(binary)), 0
        import os

        if not self.path:
            raise InputError("the name of the log file is empty; name a file, or - for standard input")
        try:
            raw = open(self.path, "rb")  # noqa: SIM115 (closed by the caller)
        except ValueError as error:
            raise InputError(f"{self.path!r} is no file name: {error}") from None
        return raw, os.fstat(raw.fileno()).st_size

    def _decompressed(self, raw: io.BufferedReader) -> IO[bytes]:
        start = raw.peek(_LOOK_BYTES)[:_LOOK_BYTES]
        if start.startswith(b"\x1f\x8b"):
            import gzip

            return self._text(io.BufferedReader(gzip.GzipFile(fileobj=raw)))
        if start.startswith(b"BZh"):
            import bz2

            return self._text(io.BufferedReader(bz2.BZ2File(raw)))
        if start.startswith(b"\xfd7zXZ\x00"):
            import lzma

            return self._text(io.BufferedReader(lzma.LZMAFile(raw)))
        for magic, name in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip")):
            if start.startswith(magic):
                raise InputError(f"{self.name!r} is a {name} archive; unpack it first (gzip, bzip2 and xz are read)")
        return self._text(raw)

    def _text(self, reader: io.BufferedReader) -> IO[bytes]:
        try:
            start = reader.peek(_LOOK_BYTES)[:_LOOK_BYTES]
        except Exception as error:
            raise InputError(
                f"{self.name!r} cannot be unpacked ({error}); expected a text log or a whole .gz"
            ) from None
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what PowerShell writes
            return _Utf16(reader)  # type: ignore[return-value]
        if b"\x00" in start:
            raise InputError(f"{self.name!r} is not text (it has zero bytes); expected a log, JSON or a metrics page")
        return reader


class _Utf16:
    """Lines of a UTF-16 file as UTF-8 bytes."""

    def __init__(self, reader: io.BufferedReader) -> None:
        self._text = io.TextIOWrapper(reader, encoding="utf-16", errors="replace", newline="\n")

    def read(self, size: int) -> bytes:
        """About ``size`` characters."""
        return self._text.read(size).encode("utf-8", "replace")

    def readline(self, limit: int) -> bytes:
        """The next line, at most ``limit`` characters of it."""
        return self._text.readline(limit).encode("utf-8", "replace")


def _position(raw: io.BufferedReader) -> int:
    try:
        return raw.tell()
    except (OSError, ValueError):
        return 0
