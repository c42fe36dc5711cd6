"""Reading trace files: JSONL or one JSON document, plain or gzip, with line numbers in every message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import IO, Any

from clover_sim.errors import InputError
from clover_sim.streams.traces.recording import Recording

LONGEST_BYTES = 256_000_000
"""Traces that unpack to more are refused unless asked for: their recordings would fill the memory."""
MOST_BLANK_LINES = 100_000


def read_trace(path: str, *, allow_long: bool = False) -> list[Recording]:
    """Read a trace file: one :class:`Recording` a sequence, in the order of the file.

    Args:
        path: JSONL (one sequence, block or log record a line) or one JSON document; gzip is recognised by content.
        allow_long: read even what unpacks to more than 256 MB.

    Raises :class:`InputError` with ``file:line`` and the reason for everything that cannot be a recording.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.jsonl")
    >>> with open(path, "w") as stream:
    ...     _ = stream.write('{"step_map": [1, 1, 2, 3], "block_size": 4}')
    >>> len(read_trace(path))
    1
    """
    from clover_sim.streams.traces.forms import recordings

    found = recordings(_records(path, allow_long), path)
    if not found:
        raise InputError(f"{path}: holds no record; expected a trace (docs/how-to/record-a-trace.md)")
    return found


def _records(path: str, allow_long: bool) -> Iterator[tuple[int, Any]]:
    """(line number, value) of each JSON value: one a line, or the whole file as one document."""
    with _open(path) as stream:
        lines = _lines(stream, path, None if allow_long else LONGEST_BYTES)
        first = next(((n, line) for n, line in lines if line.strip()), None)
        if first is None:
            return
        number, line = first
        try:
            value = json.loads(line)
        except ValueError:
            if line.lstrip()[0] not in "{[":  # whatever follows, it is no document
                _parse(line, path, number)
            whole = StringIO()  # a list of lines would need fifty bytes more for each
            whole.write(line)
            for _, text in lines:
                whole.write(text)
            yield number, _parse(whole.getvalue(), path, number)
            return
        except RecursionError:
            raise InputError(f"{path}:{number}: nested too deeply to be a trace") from None
        yield number, value
        for number, line in lines:
            if line.strip():
                yield number, _parse(line, path, number)


def _parse(text: str, path: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        reason = "ends in the middle of a value (cut off?)" if cut else f"is not JSON ({error.msg})"
        raise InputError(f"{path}:{at}: column {error.colno} {reason}; expected one JSON value a line") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{path}:{line}: is not a trace ({reason})") from None


def _open(path: str) -> IO[bytes]:
    try:
        if path == "-":
            import sys

            if sys.stdin is None:
                raise InputError("standard input: is closed; give a file")
            return sys.stdin.buffer
        stream = open(path, "rb")  # noqa: SIM115
        if stream.peek(2)[:2] == b"\x1f\x8b":
            import gzip

            packed = gzip.GzipFile(fileobj=stream)
            packed.myfileobj = stream  # type: ignore[assignment]  # closed along with it
            return packed  # type: ignore[return-value]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the trace") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; give one trace file") from None
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return stream


def _lines(stream: IO[bytes], path: str, limit: int | None) -> Iterator[tuple[int, str]]:
    number = size = blank = 0
    longest = -1 if limit is None else limit
    try:
        while line := stream.readline(longest):
            number += 1
            size += len(line)
            if limit is not None and size >= limit:
                raise InputError(
                    f"{path}:{number}: the trace unpacks to more than {limit / 1e6:.0f} MB; split it by sequence, or "
                    "use --allow-long"
                )
            blank = blank + 1 if line.isspace() else 0
            if blank > MOST_BLANK_LINES:
                raise InputError(f"{path}:{number}: over {MOST_BLANK_LINES:,} empty lines in a row; not a trace")
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{number}: byte {error.start} of the line is not UTF-8; expected JSON text") from None
    except (EOFError, OSError) as error:
        raise InputError(f"{path}:{number + 1}: the gzip stream is broken or cut off ({error})") from None
    except Exception as error:
        if type(error).__name__ == "error":
            raise InputError(f"{path}:{number + 1}: the gzip stream is broken ({error})") from None
        raise
