"""Damage: bytes, words, numbers, lines and JSON trees as they come from a broken disk, a typing error or an enemy."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    "0", "-1", "1", "2", "-0", "-0.0", "0.5", "1e309", "-1e309", "nan", "NaN", "inf", "-inf", "Infinity", "1e-320",
    "1e308", "1e400", "1e39", "1e30", "1" + "0" * 30, "9" * 5000, "-" + "9" * 40, "2147483648", "4294967296",
    "9223372036854775808", "18446744073709551616", "999999999999999999", "0x10", "1_000", "1,000", "١٢", "３", "1e",
    "1.", ".5", "+1", "00", "1 ", "1e5", "0.9999999999999999", "1.0000000000000002", "101", "100", "4096", "3.7",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "\0", "\u202egpj", "\u2066x\u2069", "\u200b", "\x1b[31mred", "\x1b]0;t\x07", "\x9b2J", "\r",
    "a\nb", "\udc80", "\ud800", "\U0001f600", "e\u0301", "ＡＢ", "\ufeff", "\xa0", "Ω" * 50, "x" * 3000, "-", "--",
    "-x", "=", "==", ":", ",", ",,", "a,b", "a=b", "a:b=c", "a:b", "[", "]", "[]", "{}", "[[", "[[1,2,3]]", "'", '"',
    "\\", "%s", "%", "%(a)s", "{0}", "{x}", "${HOME}", "`id`", ";", "|", "<b>", "&amp;", "*", "?", "#", "~", ".",
    "None", "null", "true", "True", "False", "on", "auto", "all", "none", "0:0", "5:1", "1:2:0", "1:2:-1",
    "0.1:0.9:1e-9", "::", "1:", ":1",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 0.5, -0.5, 1.5, 1e308, -1e308, 1e-320, float("inf"), float("-inf"),
    float("nan"), 10**30, -(10**30), 2**31, 2**63, 2**64, 10**18, 10**12, 10**400, 100_000, "", "x", "0", "1", "-1",
    "1e309", "nan", "9" * 5000, "\u202egpj", "a\0b", "\ud800", "\x1b[31m", "x" * 3000, "a\nb", [], {}, [[]], [0],
    [None], [1, 2, 3], ["x"], {"": 0}, {"a": 1}, {"a": {"b": []}}, [[1, 2], [3]], [1e308] * 3, [10**30], "bf16",
    "int4", [True, False], {"value": 1},
)  # fmt: skip
"""Also what JSON has no word for: it is written as Python does, NaN and Infinity."""

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w./-]*")
_QUOTED = re.compile(rb"\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'")
_PAIR = re.compile(rb"\"[^\"\n]{1,60}\"\s*:\s*[^,{}\[\]\n]{1,60},")
_ASSIGNED = re.compile(rb"(?m)^([\w\".-]+\s*=\s*)(.*)$")
MOST_BYTES = 300_000


def text_bytes(text: str) -> bytes:
    """Text in UTF-8, lone surrogates included, as a damaged file may have them."""
    return text.encode("utf-8", "surrogatepass")


def _place(rng: Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\x00"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    a, b = sorted((_place(rng, data), _place(rng, data)))
    b = min(b, a + rng.choice((1, 3, 30, 10**9)))
    return data[:a] + data[b:]


def _end(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: _place(rng, data)]


def _double(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    a, b = sorted((_place(rng, data), _place(rng, data)))
    return data[:b] + data[a:b] * rng.choice((1, 1, 2, 20)) + data[b:]


def _insert(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = _place(rng, data)
    return data[:at] + text_bytes(rng.choice(TEXTS if rng.random() < 0.6 else NUMBERS)) + data[at:]


def _splice(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else data
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def _replace(pattern: re.Pattern[bytes], make: Callable[[Random, bytes], bytes]) -> Callable[..., bytes]:
    def op(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
        found = list(pattern.finditer(data, 0, 20_000)) if len(data) < MOST_BYTES else []
        if not found:
            return _insert(rng, data, _)
        for match in sorted(rng.sample(found, min(len(found), rng.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
            data = data[: match.start()] + make(rng, match.group()) + data[match.end() :]
        return data

    return op


def _other_number(rng: Random, old: bytes) -> bytes:
    kind = rng.randrange(4)
    if kind == 0:
        return str(rng.randrange(0, 70)).encode()
    if kind == 1:
        return b"-" + old.lstrip(b"-")
    return rng.choice(NUMBERS).encode()


def _other_word(rng: Random, old: bytes) -> bytes:
    kind = rng.randrange(4)
    if kind == 0:
        return old.swapcase()
    if kind == 1:
        return old + old
    if kind == 2:
        return old[:-1]
    return text_bytes(rng.choice(TEXTS))


def _other_quoted(rng: Random, old: bytes) -> bytes:
    return rng.choice((b'""', b"null", b"[]", b"{}", b"0", b"-1", b"1e309", b'"' + b"x" * 2000 + b'"', b"[" * 300,
                       old * 2, b'"\xe2\x80\xae"', b'"\\u0000"', b'"\\ud800"', b"'a'", b"true"))  # fmt: skip


def _twice(_: Random, old: bytes) -> bytes:
    return old + b" " + old


def _assigned(rng: Random, old: bytes) -> bytes:
    key = old.partition(b"=")[0]
    value = rng.choice((
        b"nan", b"inf", b"-1", b"0", b'""', b"[]", b"{}", b"true", b"1979-05-27T07:32:00Z", b"07:32:00", b"'x'",
        b"1e308", b"9223372036854775807", b"1" + b"0" * 30, b"0x7fffffff", b"-0.0", b"1e-320", b"[1, 2]", b'["a", 1]',
        b"{a = 1}", b'"""\nx\n"""', b'"\\u202e"', b"0.5", b"[" * 200, b"9" * 5000, b'"\\u0000"', b"1e309",
    ))  # fmt: skip
    return key + b"= " + value


def _lines(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data + b"\n" + data
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at], lines[to] = lines[to], lines[at]
    elif kind == 2:
        lines.insert(to, lines[at])
    elif kind == 3:
        lines[at:to] = []
    else:
        lines[at] = lines[at][: len(lines[at]) // 2] + lines[to]
    return b"".join(lines)


def _whole(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """The same in another coat."""
    kind = rng.randrange(9)
    if kind == 0:
        return data.replace(b"\n", b"\r\n")
    if kind == 1:
        return data.replace(b"\n", b"\r")
    if kind == 2:
        return b"\xef\xbb\xbf" + data
    if kind == 3:
        return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-le", "utf-32")))
    if kind == 4:
        packed = gzip.compress(data, mtime=0)
        return packed if rng.random() < 0.5 else packed[: _place(rng, packed)]
    if kind == 5:
        return data.replace(b" ", b"\x1b[1;32m \x1b[0m")
    if kind == 6:
        return data.replace(b"\n", b"\n\0") if rng.random() < 0.5 else b"\0" * 50 + data
    if kind == 7:
        return (b"[" if rng.random() < 0.5 else b'{"a":') * rng.choice((100, 5000, 100_000)) + data
    return data[:5000] * rng.choice((2, 30))


def damage_tree(rng: Random, tree: Any) -> Any:
    """A JSON value with one node changed: another value, key gone or renamed, wrapped, or nested far too deeply."""
    holders: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting and len(holders) < 5000:
        node = waiting.pop()
        keys = sorted(node, key=str) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            holders.append((node, key))
            waiting.append(node[key])
    if not holders:
        return rng.choice(VALUES)
    node, key = rng.choice(holders)
    kind = rng.randrange(8)
    if kind == 0:
        del node[key]
    elif kind == 1:
        node[key] = [node[key]]
    elif kind == 2:
        node[key] = {"a": node[key]}
    elif kind == 3 and isinstance(node, dict):
        node[rng.choice(("", "x", f"{key} ", str(key).upper(), "\u202e"))] = node.pop(key)
    elif kind == 4:
        other, place = rng.choice(holders)
        node[key] = json.loads(json.dumps(other[place])) if place in other or isinstance(other, list) else 0
    elif kind == 5 and isinstance(node[key], (int, float)) and abs(node[key]) < 1e100:
        node[key] = rng.choice((-node[key], node[key] * 1000, node[key] + 1, node[key] / 3, str(node[key]), 0, 10**20))
    else:
        node[key] = rng.choice(VALUES)
    return tree


def _json(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One node of a JSON document, or of one line of JSON lines."""
    if len(data) > 100_000:
        return _flip(rng, data, others)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.splitlines(keepends=True)
        at = rng.randrange(len(lines)) if lines else 0
        try:
            lines[at] = json.dumps(damage_tree(rng, json.loads(lines[at]))).encode() + b"\n"
        except (ValueError, IndexError, RecursionError):
            return _replace(_NUMBER, _other_number)(rng, data, others)
        return b"".join(lines)
    try:
        for _ in range(rng.choice((1, 1, 2, 4))):
            tree = damage_tree(rng, tree)
        return json.dumps(tree, indent=rng.choice((None, 1))).encode()
    except (ValueError, RecursionError):
        return data


_OPS: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip, _cut, _end, _double, _insert, _splice, _lines, _whole, _json, _json, _json,
    _replace(_NUMBER, _other_number), _replace(_NUMBER, _other_number), _replace(_WORD, _other_word),
    _replace(_QUOTED, _other_quoted), _replace(_PAIR, _twice), _replace(_ASSIGNED, _assigned),
)  # fmt: skip


def _near(rng: Random, old: bytes) -> bytes:
    """A number much like the one that was there, so that what comes after the reader is reached."""
    try:
        value = float(old)
        made = rng.choice((value + 1, value - 1, value * 2, value / 2, value * 1.01, 0, 1, value * 1000))
        return (f"{made:.6g}" if b"." in old else str(int(made))).encode()
    except (ValueError, OverflowError):
        return old


_GENTLE = (_replace(_NUMBER, _near), _replace(_NUMBER, _near), _json, _lines, _replace(_NUMBER, _other_number))


def damage(rng: Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """``data`` with one to four wounds, half the time light ones; ``others`` are spliced in."""
    if rng.random() < 0.5:
        return rng.choice(_GENTLE)(rng, data, others)[:MOST_BYTES]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_OPS)(rng, data, others)[:MOST_BYTES]
    return data


def damage_word(rng: Random, word: str) -> str:
    """A word of a command line with one wound."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return rng.choice(TEXTS)
    at = rng.randrange(len(word) + 1)
    if kind == 2:
        return word[:at] + rng.choice(TEXTS) + word[at:]
    if kind == 3:
        return word[:at] + word[at + 1 :]
    if kind == 4:
        return word[:at] + word[at:] * 2
    if kind == 5:
        return word + rng.choice((",", ":", "=", "]", ",x=1", ":x=1", "/2")) + rng.choice((word, "", "0"))
    parts = re.split(r"([-+]?\d+(?:\.\d+)?)", word)
    if len(parts) > 1:
        parts[rng.randrange(len(parts) // 2) * 2 + 1] = rng.choice(NUMBERS)
        return "".join(parts)
    return word.swapcase()
