"""Real files as streams of tokens: reading with bounded memory, and errors that say how to mend the file."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import IO, Any

from clover_sim.errors import InputError

LONG_BYTES = 8_000_000
"""Larger files are read only on request (``max_tokens`` or ``allow_long``)."""

_BYTES_PER_TOKEN = 3.6
_BLOCK_BYTES = 1 << 20
# No piece is longer than this, so that so many bytes a token always hold enough tokens.
_MOST_BYTES_PER_TOKEN = 64
_SLACK_BYTES = 1 << 16
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file, or of its beginning.

    Args:
        name: the file's name without folders, or ``stdin``.
        text: decoded, without byte-order mark, line ends as ``\\n``.
        language: one of :data:`clover_sim.streams.classes.LANGUAGES`.
        sha256: of the bytes that were read, in hexadecimal.
        bytes: how many bytes were read.
    """

    name: str
    text: str
    language: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class TokenText:
    """Tokens with their classes.

    Args:
        name: of the file or the profile.
        language: one of :data:`clover_sim.streams.classes.LANGUAGES`.
        tokens: pieces that join to the text.
        classes: one :class:`~clover_sim.records.TokenClass` byte a token.
    """

    name: str
    language: str
    tokens: tuple[str, ...]
    classes: bytes


def load_text(
    source: str, *, max_tokens: int | None = None, allow_long: bool = False, stdin: IO[Any] | None = None
) -> SourceText:
    """Read a text file, or standard input for ``-``.

    Args:
        source: a path, or ``-``.
        max_tokens: only the beginning is wanted, enough for so many tokens; memory stays bounded by it.
        allow_long: read the whole of a file larger than :data:`LONG_BYTES`.
        stdin: used for ``-`` instead of the standard input (text or bytes).

    Raises:
        InputError: for a file that is missing, unreadable, a directory, empty, binary, not UTF-8 (or UTF-16 with a
            byte-order mark), or long without leave.
    """
    from hashlib import sha256

    from clover_sim.streams.classes import detect_language

    limit = None if allow_long and max_tokens is None else LONG_BYTES
    if max_tokens is not None:
        limit = max_tokens * _MOST_BYTES_PER_TOKEN + _SLACK_BYTES
    shown = "standard input" if source == "-" else source
    data, more = _read(source, shown, limit, stdin)
    if more and max_tokens is None:
        raise InputError(_too_long(source, shown))
    if not data:
        raise InputError(f"{shown}: is empty; expected text")
    text = _decode(data, shown, more)
    if not text:
        raise InputError(f"{shown}: holds a byte-order mark and no text")
    name = "stdin" if source == "-" else os.path.basename(source)
    return SourceText(name, text, detect_language(name, text), sha256(data).hexdigest(), len(data))


def text_tokens(source: SourceText, vocabulary: str = "qwen", max_tokens: int | None = None) -> TokenText:
    """Split and classify ``source``; at most ``max_tokens`` tokens, a prefix of all of them."""
    from clover_sim.streams.classes import classify
    from clover_sim.streams.tokenizer import tokenize

    tokens = tuple(tokenize(source.text, vocabulary, max_tokens))
    return TokenText(source.name, source.language, tokens, classify(tokens, source.language))


def _read(source: str, shown: str, limit: int | None, stdin: IO[Any] | None) -> tuple[bytes, bool]:
    """Return at most ``limit`` bytes, and whether there were more."""
    try:
        if source == "-":
            stream = sys.stdin if stdin is None else stdin
            if stream is None:
                raise InputError("standard input: is closed; give a file")
            return _blocks(getattr(stream, "buffer", stream), limit)
        with open(source, "rb") as stream:
            return _blocks(stream, limit)
    except FileNotFoundError:
        raise InputError(f"{shown}: no such file; check the path, or give - for standard input") from None
    except IsADirectoryError:
        raise InputError(f"{shown}: is a directory; give one file at a time") from None
    except PermissionError:
        raise InputError(f"{shown}: cannot be read (permission denied); check its mode") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shown}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _blocks(stream: IO[Any], limit: int | None) -> tuple[bytes, bool]:
    blocks: list[bytes] = []
    size = 0
    while limit is None or size <= limit:
        block = stream.read(_BLOCK_BYTES)
        if not block:
            return b"".join(blocks), False
        if isinstance(block, str):
            block = block.encode("utf-8", "surrogateescape")
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)[:limit], True


def _too_long(source: str, shown: str) -> str:
    try:
        size = os.path.getsize(source) if source != "-" else 0
    except OSError:
        size = 0
    about = f"about {size / _BYTES_PER_TOKEN / 1e6:.1f}" if size > LONG_BYTES else "more than 2"
    return (
        f"{shown}: {f'{size / 1e6:.1f} MB' if size > LONG_BYTES else 'over 8 MB'} would be {about} million tokens; "
        "give --tokens N to use only its beginning, or --allow-long"
    )


def _decode(data: bytes, shown: str, cut: bool) -> str:
    """Decode by byte-order mark, else as UTF-8; ``cut`` says that the last character may be incomplete."""
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), "utf-8")
    wide = encoding in ("utf-16", "utf-32")
    if not wide and (zero := data.find(0)) >= 0:
        raise InputError(
            f"{shown}: NUL at byte offset {zero}: a binary file, or UTF-16 without a mark; expected UTF-8 text "
            "(for UTF-16: iconv -f UTF-16LE -t UTF-8)"
        )
    if not cut:
        try:
            return data.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise _undecodable(data, shown, error) from None
    from codecs import getincrementaldecoder

    try:
        return getincrementaldecoder(encoding)().decode(data).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _undecodable(data, shown, error) from None


def _undecodable(data: bytes, shown: str, error: UnicodeDecodeError) -> InputError:
    offset = error.start
    found = f"byte 0x{data[offset]:02x}" if offset < len(data) else "the end"
    known = error.encoding.upper().removesuffix("-SIG")
    mend = "convert it, for example: iconv -f LATIN1 -t UTF-8" if known.startswith("UTF-8") else "save it as UTF-8"
    line = data.count(b"\n", 0, offset) + 1
    return InputError(f"{shown}: {found} at byte offset {offset} (line {line}) is not valid {known}; {mend}")
