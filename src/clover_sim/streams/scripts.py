"""Words in other scripts than plain Latin letters: pieces by measured rates.

A piece of a real vocabulary may be a part of a character's bytes; here a character is the smallest piece, so that rare
characters count one where a vocabulary needs two or three.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

# (name, characters, (Qwen, o200k) pieces of a run of n letters as (first, slope)); fitted on multilingual manuals.
_SCRIPTS: tuple[tuple[str, str, tuple[tuple[float, float], tuple[float, float]]], ...] = (
    ("han", "\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", ((0.0, 1.0), (0.0, 1.0))),
    ("hangul", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af", ((0.4, 0.68), (0.35, 0.6))),
    ("hiragana", "\u3040-\u309f", ((0.65, 0.24), (0.4, 0.45))),
    ("katakana", "\u30a0-\u30ff", ((0.5, 0.52), (0.5, 0.56))),
    ("cyrillic", "\u0400-\u052f", ((0.6, 0.37), (0.55, 0.255))),
    ("greek", "\u0370-\u03ff\u1f00-\u1fff", ((0.0, 1.0), (0.6, 0.42))),
    ("arabic", "\u0600-\u06ff", ((0.5, 0.36), (0.5, 0.33))),
    ("hebrew", "\u0590-\u05ff", ((0.3, 0.62), (0.3, 0.6))),
    ("latin", "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff", ((0.0, 1.0), (0.0, 1.0))),
    ("other", "", ((0.0, 1.0), (0.2, 0.55))),
)
_HAN_RATE = (0.76, 0.92)
_HAN_WORD_CHARS = 4


class Scripts:
    """Splits words that are not plain ASCII letters."""

    def __init__(self, vocabulary: str, words: frozenset[str], latin: Callable[[str], list[str]]) -> None:
        index = 1 if vocabulary == "o200k" else 0
        self._words = words
        self._latin = latin
        self._han_rate = _HAN_RATE[index]
        self._rates = {name: rates[index] for name, _, rates in _SCRIPTS}
        known = "".join(chars for _, chars, _ in _SCRIPTS)
        self._runs = re.compile(
            "|".join(f"(?P<{name}>[{chars}]+)" if chars else f"(?P<{name}>[^{known}]+)" for name, chars, _ in _SCRIPTS)
        )

    def split(self, word: str) -> list[str]:
        """Return the pieces of ``word``."""
        pieces: list[str] = []
        for match in self._runs.finditer(word):
            name, run = match.lastgroup or "other", match.group()
            if name == "latin":
                pieces += self._latin(run)
            elif name == "han":
                pieces += self._han(run)
            else:
                first, slope = self._rates[name]
                pieces += spread(run, round(first + slope * len(run)))
        return pieces

    def _han(self, run: str) -> list[str]:
        """Listed words whole; of the rest, common characters share a piece now and then."""
        words, rate = self._words, self._han_rate
        pieces: list[str] = []
        credit, mergeable = 0.5, False
        start, size = 0, len(run)
        while start < size:
            for stop in range(min(size, start + _HAN_WORD_CHARS), start + 1, -1):
                if run[start:stop] in words:
                    pieces.append(run[start:stop])
                    start, mergeable = stop, False
                    break
            else:
                char = run[start]
                start += 1
                common = _is_common(char)
                credit += (1 - rate) if common else 0.0
                if mergeable and common and credit >= 1:
                    credit -= 1
                    pieces[-1] += char
                    mergeable = False
                else:
                    pieces.append(char)
                    mergeable = common
        return pieces


@lru_cache(maxsize=1 << 15)
def _is_common(char: str) -> bool:
    """Whether ``char`` is one of the 3755 most used characters (level 1 of GB 2312)."""
    code = char.encode("gb2312", "ignore")
    return len(code) == 2 and code[0] <= 0xD7


def spread(text: str, pieces: int) -> list[str]:
    """Cut ``text`` into about ``pieces`` parts of like length (at least one, at most one a character).

    >>> spread("abcdefg", 3)
    ['ab', 'cd', 'efg']
    """
    size = len(text)
    count = max(1, min(pieces, size))
    return [text[size * i // count : size * (i + 1) // count] for i in range(count)]
