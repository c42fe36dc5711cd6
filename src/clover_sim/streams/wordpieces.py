"""How one cut of a text (a word, a run of marks, a blank) falls into pieces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clover_sim.streams.scripts import Scripts

_MAX_PIECE_CHARS = 64
_MAX_PART_CHARS = 12
_LONG_WORD_CHARS = 160

# Marks that nearly always share a piece with the first letters after them; the others do so for single letters only.
_STICKY = frozenset("._(-/\t'’")
_STICKY_TO_LETTER = frozenset(",=[<*+&:;\\")
_STICKY_WORDS = {
    mark: frozenset(text.split())
    for mark, text in {
        ",": "this null true false and int float string char void not const else",
        "=": "function this None True False null new true false self int string is",
        "[": "str int self string key name index id len type data array char",
        "<": "div span li pre tr td th ul ol body head html input img script form label button option",
        ":": "function this return null true false string self None number NS int block",
        ";": "if break charset border margin font color text width height background",
        "#": "define endif include ifndef ifdef if else pragma region undef elif error",
        ">": "The This If A I In For",
        '"': "The I It If This We You What He She in",
        ")": "return null",
        "}": "else",
        "@": "example gmail param return Override",
        "&": "page gt lt amp nbsp quot",
        "*": "this",
    }.items()
}
_BARE_SUFFIXES = ("s", "ion", "ment", "er")
_QUOTES = ('"""', '"""␊', '␣"""', '␣"""␊', '"""␊␊')
_SUFFIXES = (
    ("ies", ("y",)), ("s", ("",)), ("es", ("",)), ("ed", ("", "e")), ("ing", ("", "e")), ("ly", ("",)),
    ("er", ("", "e")), ("al", ("", "e")), ("ion", ("", "e")), ("est", ("", "e")), ("ity", ("", "e")), ("ment", ("",)),
    ("y", ("",)), ("able", ("", "e")), ("ful", ("",)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Sets of strings that are one piece, by the position in which they are."""

    spaced: frozenset[str]
    bare: frozenset[str]
    core: frozenset[str]
    parts: frozenset[str]
    marks: frozenset[str]
    han: frozenset[str]
    han_qwen: frozenset[str]

    @staticmethod
    @cache
    def load() -> Lexicon:
        """Build the sets from the packaged word lists."""
        from clover_sim.streams import lexicon_core as core
        from clover_sim.streams import lexicon_marks as marks
        from clover_sim.streams import lexicon_more as more
        from clover_sim.streams import lexicon_parts as fragments

        words = core.CORE.split()
        any_case, lower, only_spaced = more.SPACED_ANY_CASE.split(), more.LOWER.split(), more.SPACED.split()
        upper = more.UPPER.split()
        capitals = [word.capitalize() for word in words]
        spaced = {*words, *capitals, *any_case, *(word.capitalize() for word in any_case), *lower, *only_spaced}
        spaced.update(word.capitalize() for word in more.NAMES.split())
        spaced.update(upper, more.UPPER_SPACED.split())
        bare = {*words, *capitals, *lower, *more.BARE.split(), *upper}
        parts = {*bare, *fragments.PARTS.split()}
        heads = {*spaced, *fragments.HEADS.split()}
        return Lexicon(
            frozenset(heads),
            frozenset(bare),
            frozenset(words),
            frozenset(part for part in parts if len(part) <= _MAX_PART_CHARS),
            frozenset(mark.replace("␣", " ").replace("␊", "\n") for mark in (*marks.MARKS.split(), *_QUOTES)),
            frozenset(marks.HAN.split()),
            frozenset([*marks.HAN.split(), *marks.HAN_QWEN.split()]),
        )


class Splitter:
    """Splits one cut; holds no state but its tables."""

    def __init__(self, lexicon: Lexicon, vocabulary: str) -> None:
        self._lexicon = lexicon
        self._scripts = Scripts(vocabulary, lexicon.han if vocabulary == "o200k" else lexicon.han_qwen, self._latin)

    def split(self, cut: str) -> tuple[str, ...]:
        """Return the pieces of ``cut``, which the split pattern has made."""
        if len(cut) == 1 or cut[0].isdecimal():
            return (cut,)
        if cut[-1].isalnum():
            stem, quote, ending = cut.rpartition("'")
            if len(stem) > 1 and len(ending) <= 2:  # o200k keeps a contraction with its word
                pieces = self._word(stem)
                return (*pieces[:-1], pieces[-1] + quote + ending)
            return self._word(cut)
        if cut.isspace():
            return chop(cut, _MAX_PIECE_CHARS)
        return self._marks(cut)

    def _word(self, cut: str) -> tuple[str, ...]:
        first = cut[0]
        if first == " ":
            word = cut[1:]
            if word[0] >= "\u2e80":  # no vocabulary keeps a blank and an ideograph together
                return (" ", *self._glue("", word, False))
            return self._glue(" ", word, word in self._lexicon.spaced or self._derived(word))
        if first.isalpha():
            return self._glue("", cut, self._is_bare(cut))
        word = cut[1:]
        pieces = self._glue("", word, self._is_bare(word))
        if self._sticks(first, pieces[0]):
            return (first + pieces[0], *pieces[1:])
        return (first, *pieces)

    def _sticks(self, mark: str, piece: str) -> bool:
        if mark in _STICKY:
            return True
        if len(piece) == 1:
            return mark in _STICKY_TO_LETTER
        return piece in _STICKY_WORDS.get(mark, ())

    def _glue(self, lead: str, word: str, whole: bool) -> tuple[str, ...]:
        if whole or len(word) <= 2:
            return (lead + word,)
        pieces = self._parts(word, bool(lead))
        shortest = 2 if len(word) <= 5 and word.istitle() else 3
        if lead and len(pieces) >= shortest and word[0] < "\u0370" and not word.isupper():
            # After a space the vocabularies hold far longer first parts than the short list here.
            pieces[:2] = [pieces[0] + pieces[1]]
        return (lead + pieces[0], *pieces[1:])

    def _is_bare(self, word: str) -> bool:
        if word in self._lexicon.bare:
            return True
        core = self._lexicon.core
        return any(word.endswith(suffix) and word[: -len(suffix)] in core for suffix in _BARE_SUFFIXES)

    def _derived(self, word: str) -> bool:
        spaced = self._lexicon.spaced
        for suffix, stems in _SUFFIXES:
            if word.endswith(suffix) and len(word) >= len(suffix) + 3:
                stem = word[: -len(suffix)]
                if any(stem + ending in spaced for ending in stems):
                    return True
                if len(stem) > 3 and stem[-1] == stem[-2] and stem[:-1] in spaced:
                    return True
        return False

    def _parts(self, word: str, spaced: bool) -> list[str]:
        """Fewest listed parts; any two letters are a part."""
        if not word.isascii():
            return self._scripts.split(word)
        return self._latin(word, spaced)

    def _latin(self, word: str, spaced: bool = False) -> list[str]:
        plain = word
        if not word.isascii():
            plain = _fold(word)
        if len(word) > _LONG_WORD_CHARS:
            return list(chop(word, 3))
        parts, heads = self._lexicon.parts, self._lexicon.spaced
        size = len(word)
        best = [0] + [size + 1] * size
        back = [0] * (size + 1)
        for stop in range(1, size + 1):
            for start in range(max(0, stop - _MAX_PART_CHARS), stop):
                cost = best[start] + 1
                if cost < best[stop]:
                    part = plain[start:stop]
                    if stop - start <= 2 or part in parts or (start == 0 and spaced and part in heads):
                        best[stop], back[stop] = cost, start
        pieces: list[str] = []
        stop = size
        while stop:
            pieces.append(word[back[stop] : stop])
            stop = back[stop]
        return pieces[::-1]

    def _marks(self, cut: str) -> tuple[str, ...]:
        marks = self._lexicon.marks
        pieces: list[str] = []
        start, size = 0, len(cut)
        while start < size:
            stop = start + 1
            for end in range(min(size, start + 6), start + 1, -1):
                if cut[start:end] in marks:
                    stop = end
                    break
            char = cut[stop - 1]
            if stop < size and cut[stop] == char:
                run = stop
                while run < size and run - start < _MAX_PIECE_CHARS and cut[run] == char:
                    run += 1
                if run - start >= 4:
                    stop = run
            pieces.append(cut[start:stop])
            start = stop
        return tuple(pieces)


def _fold(word: str) -> str:
    """Return ``word`` with its accents taken off, of the same length."""
    from unicodedata import normalize

    return "".join(normalize("NFD", char)[0] for char in word)


def chop(text: str, size: int) -> tuple[str, ...]:
    """Cut ``text`` every ``size`` characters.

    >>> chop("abcde", 2)
    ('ab', 'cd', 'e')
    """
    return (text,) if len(text) <= size else tuple(text[i : i + size] for i in range(0, len(text), size))
