"""Split text the way byte-pair vocabularies do, without a vocabulary file.

The first cut is the split pattern that the vocabularies publish (words with one leading mark, digits, runs of marks,
line ends, blanks). Inside a cut, a short list of frequent words, word parts and runs of marks stands for the merges;
scripts other than Latin go by measured pieces a letter. The pieces always join to the text again. What counts is their
number: over a thousand samples of code, JSON, HTML, LaTeX, logs, minified JavaScript, English and Chinese it was within
2 % of the published Qwen and o200k vocabularies for half of them, 6 % for nine of ten and 10 % for 98 of a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice

from clover_sim.errors import UsageError, suggest
from clover_sim.streams.wordpieces import Lexicon, Splitter

VOCABULARIES = ("qwen", "o200k")
"""Names that :func:`tokenize` takes; Qwen splits every digit, o200k keeps up to three together."""

_CHUNK_CHARS = 1 << 18
_CACHE_ENTRIES = 1 << 17
_CACHED_CHARS = 48

_LETTER = r"[^\W\d_]"
_MARK = r"(?:[^\s\w]++|_++)++"
_PATTERNS = {
    "qwen": rf" ?{_LETTER}++|'(?i:[sdmt]|ll|ve|re)|(?:[^\r\n\w]|_){_LETTER}++|\d| ?{_MARK}[\r\n]*+"
    rf"|\s*[\r\n]+|\s+(?!\S)|\s+|.",
    "o200k": rf" ?{_LETTER}++(?i:'(?:[sdmt]|ll|ve|re))?|(?:[^\r\n\w]|_){_LETTER}++(?i:'(?:[sdmt]|ll|ve|re))?"
    rf"|\d{{1,3}}| ?{_MARK}[\r\n/]*+|\s*[\r\n]+|\s+(?!\S)|\s+|.",
}


class _Cache(dict[str, tuple[str, ...]]):
    """Pieces of each cut, worked out once; emptied when full, so that memory stays bounded."""

    def __init__(self, splitter: Splitter) -> None:
        super().__init__()
        self._split = splitter.split

    def __missing__(self, cut: str) -> tuple[str, ...]:
        pieces = self._split(cut)
        if len(cut) <= _CACHED_CHARS:
            if len(self) >= _CACHE_ENTRIES:
                self.clear()
            self[cut] = pieces
        return pieces


@cache
def _machine(vocabulary: str) -> tuple[re.Pattern[str], _Cache, re.Pattern[str]]:
    """Pattern, cache and pattern of the safe places to cut a long text; built on first use."""
    if vocabulary not in VOCABULARIES:
        raise UsageError(f"unknown vocabulary {vocabulary!r}{suggest(vocabulary, VOCABULARIES)}")
    pattern = re.compile(_PATTERNS[vocabulary], re.DOTALL)
    # No cut holds a letter or a digit followed by a blank or a mark (but for an apostrophe), so both sides of such a
    # place split on their own.
    return pattern, _Cache(Splitter(Lexicon.load(), vocabulary)), re.compile(r"[^\W_](?=[\s!-&(-/:-@\[-^`{-~])")


def iterate(text: str, vocabulary: str = "qwen") -> Iterator[str]:
    """Yield the pieces of ``text`` one by one, holding only a part of them in memory."""
    pattern, cache, seam = _machine(vocabulary)
    start, size = 0, len(text)
    while start < size:
        stop = size
        if start + _CHUNK_CHARS < size:
            found = seam.search(text, start + _CHUNK_CHARS)
            stop = found.end() if found else size
        yield from chain.from_iterable(map(cache.__getitem__, pattern.findall(text, start, stop)))
        start = stop


def tokenize(text: str, vocabulary: str = "qwen", limit: int | None = None) -> list[str]:
    """Return the pieces of ``text``; they join to it exactly.

    Args:
        text: any string, lone surrogates and control characters included.
        vocabulary: one of :data:`VOCABULARIES`; whose splitting to follow.
        limit: stop after so many pieces (the first ``limit`` of the whole list); ``None`` for all.

    Raises:
        UsageError: for an unknown vocabulary.

    >>> tokenize("def area(width): return width*2026")
    ['def', ' area', '(width', '):', ' return', ' width', '*', '2', '0', '2', '6']
    >>> tokenize("in 2026", "o200k")
    ['in', ' ', '202', '6']
    """
    pieces = iterate(text, vocabulary)
    return list(pieces if limit is None else islice(pieces, limit))
