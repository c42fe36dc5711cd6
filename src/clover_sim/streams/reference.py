"""The reference stream: 24 kinds of token, drawn one after the other from one seeded generator.

The rules, the order of the vocabulary and the figures are those of the published pass-count table that this project
set out to reproduce exactly; tests/reference_rows.py holds its rows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from clover_sim.physics.base import Physics
from clover_sim.physics.reference import ReferencePhysics, ReferenceSettings
from clover_sim.records import TokenClass
from clover_sim.streams.base import Stream

VOCABULARY = (
    "tool_call", "{", "}", '"', "name", ":", "args", "city", "query", ",", "result", "status", "ok", "step", "id", "=",
    ";", "return", "retry", "json", "value", "none", "true", "false",
)  # fmt: skip
_STRUCTURAL = {"{": 0.99, "}": 0.99, '"': 0.985, ":": 0.975, ",": 0.965, ";": 0.98, "=": 0.97}
_COMMON = frozenset({"tool_call", "args", "result", "status", "ok", "json", "return"})
_PADDING = len(VOCABULARY)


def _class_of(token: str) -> TokenClass:
    if token in _STRUCTURAL:
        return TokenClass.STRUCTURAL
    return TokenClass.COMMON if token in _COMMON else TokenClass.RARE


def _range_of(token: str) -> tuple[float, float]:
    """(floor, spread) of a token's first confidence."""
    if token in _STRUCTURAL:
        return _STRUCTURAL[token], 0.005
    return (0.86, 0.10) if token in _COMMON else (0.55, 0.25)


_RANGES = [_range_of(t) for t in VOCABULARY] + [(0.99, 0.005)]  # padding is as sure as the surest structure
_FLOOR = tuple(floor for floor, _ in _RANGES)
_SPREAD = tuple(spread for _, spread in _RANGES)
_CLASSES = bytes([_class_of(t) for t in VOCABULARY])

# ``choice`` from 24 entries takes the top five bits of a 32-bit word and draws again while they exceed 23.
# The same draws, all at once: top byte of each word -> token, rejected words deleted.
_TOKEN_OF_BYTE = bytes(byte >> 3 for byte in range(256))
_REJECTED = bytes(byte for byte in range(256) if byte >> 3 >= len(VOCABULARY))


def draw_tokens(seed: int, count: int) -> bytes:
    """``count`` vocabulary indices, those that ``random.Random(seed).choice(VOCABULARY)`` gives one by one.

    >>> rng = random.Random(42)
    >>> [VOCABULARY[t] for t in draw_tokens(42, 5)] == [rng.choice(VOCABULARY) for _ in range(5)]
    True
    """
    rng = random.Random(seed)
    tokens = b""
    while len(tokens) < count:
        words = (count - len(tokens)) * 4 // 3 + 8
        drawn = rng.getrandbits(32 * words).to_bytes(4 * words, "little")[3::4]
        tokens += drawn.translate(_TOKEN_OF_BYTE, _REJECTED)
    return tokens[:count]


class _Texts(Sequence[str]):
    """The tokens as text, looked up rather than stored."""

    __slots__ = ("_tokens",)

    def __init__(self, tokens: bytes) -> None:
        self._tokens = tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def __getitem__(self, index: int | slice) -> str | list[str]:  # type: ignore[override]
        if isinstance(index, slice):
            return [VOCABULARY[t] for t in self._tokens[index]]
        return VOCABULARY[self._tokens[index]]


def _physics(settings: ReferenceSettings, tokens: bytes, limit: int) -> Physics:
    padded = tokens + bytes([_PADDING]) * (limit - len(tokens))
    return ReferencePhysics(settings, padded, _FLOOR, _SPREAD)


def reference_stream(tokens: int, settings: ReferenceSettings | None = None) -> Stream:
    """The reference stream of ``tokens`` tokens (>= 0)."""
    settings = settings or ReferenceSettings()
    drawn = draw_tokens(settings.stream_seed, tokens)
    return Stream(
        "reference",
        drawn.translate(_CLASSES + bytes(256 - len(_CLASSES))),
        partial(_physics, settings, drawn),
        kv_write="none",
        texts=_Texts(drawn),
        settings=tuple((name, getattr(settings, name)) for name in settings.__slots__),
    )
