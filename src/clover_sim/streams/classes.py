"""What language a text is in, and how predictable each of its tokens is from form alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from clover_sim.records import TokenClass

LANGUAGES = ("json", "jsonl", "html", "latex", "python", "javascript", "code", "log", "chinese", "prose")
"""What :func:`detect_language` returns."""

_STRUCTURAL, _COMMON, _RARE = int(TokenClass.STRUCTURAL), int(TokenClass.COMMON), int(TokenClass.RARE)
_FRAGILE = 255

_SNIFFED_CHARS = 8192
_BUILT_IN_WORDS = 300
_CONTEXT_TOKENS = 4
_CONTEXTS_KEPT = 1 << 17

_BY_SUFFIX = {
    "json": "json", "geojson": "json", "ipynb": "json", "jsonl": "jsonl", "ndjson": "jsonl", "html": "html",
    "htm": "html", "xhtml": "html", "xml": "html", "svg": "html", "vue": "html", "tex": "latex", "sty": "latex",
    "cls": "latex", "ltx": "latex", "bib": "latex", "py": "python", "pyi": "python", "js": "javascript",
    "mjs": "javascript", "cjs": "javascript", "jsx": "javascript", "ts": "javascript", "tsx": "javascript",
    "log": "log", "c": "code", "h": "code", "cc": "code", "cpp": "code", "hpp": "code", "cs": "code", "go": "code",
    "rs": "code", "java": "code", "kt": "code", "swift": "code", "rb": "code", "php": "code", "sh": "code",
    "scala": "code", "lua": "code", "pl": "code", "sql": "code", "css": "code", "r": "code", "jl": "code",
}  # fmt: skip

_PYTHON = """False None True and as assert async await break class continue def del elif else except finally for from
global if import in is lambda nonlocal not or pass raise return self try while with yield"""
_JAVASCRIPT = """async await break case catch class const continue default delete do else export extends false finally
for from function if import in instanceof interface let new null of return static super switch this throw true try type
typeof undefined var void while yield"""
_CODE = """abstract and as bool break case catch char class const continue def default do double echo elif else end enum
extern false fi finally float fn for foreach func go if impl import in include int interface let long match mod mut
namespace new nil null package private protected pub public return select self short static string struct super switch
then this throw throws trait true try type typedef union unsigned use using var virtual void volatile where while"""
_HTML = """a article aside b blockquote body br button code dd div dl doctype dt em footer form h head header hr html i
iframe img input label li link main meta nav ol option p path pre script section select small span strong style sub sup
svg table tbody td th thead title tr u ul href src rel alt charset xmlns stylesheet nbsp amp lt gt quot"""
_LATEX = """begin end item section subsection subsubsection paragraph document class documentclass use package
usepackage input include new command renewcommand text textbf textit texttt emph label ref cite caption frac left right
math mathrm mathbf mathbb mathcal hspace vspace hline sum int sqrt small large bf it rm tt sc def let"""
_LOG = """trace debug info notice warn warning error err crit critical fatal severe alert emerg"""
_KEYWORDS = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "code": _CODE,
    "html": _HTML,
    "latex": _LATEX,
    "log": _LOG,
    "json": "",
    "jsonl": "",
    "chinese": "",
    "prose": "",
}
# In these languages a keyword may also be an ordinary word of the text, and only stands without a blank before it.
_NEVER_SPACED = frozenset(("html", "latex"))
_SHORT_WORDS = """a an as at be by do go he if in is it me my no of on or so to up us we i 的 了 是 在 不 我 有 他 这 们
一 人 来 说 也 就 上 到 那 着 你 她 和 都 没有 我们 他们 什么 自己 这个 一个"""

_SCRIPT_BEGINNINGS = (
    "var ",
    "const ",
    "let ",
    "function ",
    "function(",
    "!function",
    "(function",
    "(()=>",
    '"use strict"',
)
_CODE_BEGINNINGS = ("def ", "class ", "import ", "from ", "return ", "if ")


def detect_language(name: str, text: str) -> str:
    """Return one of :data:`LANGUAGES` from the name's suffix and, where that says little, the beginning of the text.

    >>> detect_language("a.json", '{"x": 1}\\n{"x": 2}\\n'), detect_language("-", "Once upon a time.")
    ('jsonl', 'prose')
    """
    suffix = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    language = _BY_SUFFIX.get(suffix)
    if language in (None, "json", "jsonl"):
        return _sniff(text[:_SNIFFED_CHARS], language)
    return language


def _sniff(head: str, hint: str | None) -> str:
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    first = lines[0] if lines else ""
    if hint or (first[:1] in "{[" and '"' in head):
        objects = [line for line in lines[:2] if line[:1] == "{" and line[-1:] == "}"]
        if len(objects) == 2 or hint == "jsonl":
            return "jsonl"
        if hint or first[-1:] in "{[,]}":
            return "json"
    lower = first.lower()
    if lower.startswith(("<!doctype", "<html", "<?xml", "<svg")) or head.count("</") > 8:
        return "html"
    if "\\documentclass" in head or "\\begin{" in head:
        return "latex"
    if first.startswith(_SCRIPT_BEGINNINGS):
        return "javascript"
    if first.startswith("#!") or lower.startswith(("<?php", "#include", "package ", "// ", "/*")):
        return "python" if "python" in first else "javascript" if "node" in first else "code"
    letters = sum(map(str.isalpha, head))
    if sum("\u4e00" <= char <= "\u9fff" for char in head) * 4 > max(1, letters):
        return "chinese"
    if _looks_like_log(lines):
        return "log"
    if sum(line.startswith(_CODE_BEGINNINGS) for line in lines) * 8 > len(lines):
        return "python" if any(line.startswith("def ") and line.endswith(":") for line in lines) else "code"
    marks = sum(head.count(mark) for mark in ("{", "}", ";\n", "();", "=>", "function", "const "))
    if marks * 60 > len(head):
        return "javascript" if "function" in head or "=>" in head or "const " in head else "code"
    return "prose"


def _looks_like_log(lines: list[str]) -> bool:
    """Whether most lines carry a clock time near their beginning."""
    stamped = 0
    for line in lines:
        head = line[:48]
        at = head.find(":")
        while at >= 0 and not (head[at - 2 : at].isdigit() and head[at + 1 : at + 3].isdigit()):
            at = head.find(":", at + 1)
        stamped += at >= 0
    return bool(lines) and stamped * 2 > len(lines)


class _Table(dict[str, int]):
    """Class of a token the next time it comes up; a rare word is common from its second time on."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._keywords = frozenset(_KEYWORDS.get(language, "").split())
        self._never_spaced = language in _NEVER_SPACED
        self._words = _frequent_words()

    def __missing__(self, token: str) -> int:
        word = token.strip(" \t\n._(-/'\"<>\\=,:;[{*+&#@$!|)]}?%`^~")
        if not any(map(str.isalnum, word)):
            self[token] = _STRUCTURAL
            return _STRUCTURAL
        lower = word.lower()
        if lower in self._keywords and not (self._never_spaced and token[0] == " "):
            self[token] = _STRUCTURAL
            return _STRUCTURAL
        if lower in self._words and token[0] == " ":
            self[token] = _COMMON
            return _COMMON
        if word.isascii() and (word.isdigit() or (len(word) <= 2 and token[0] != " ")):
            # Digits and scraps of identifiers all come up soon; only what stands around them makes them predictable.
            self[token] = _FRAGILE
            return _FRAGILE
        known = lower in self._words
        self[token] = _COMMON
        return _COMMON if known else _RARE


@lru_cache(maxsize=1)
def _frequent_words() -> frozenset[str]:
    from clover_sim.streams.lexicon_core import CORE

    return frozenset([*CORE.split()[:_BUILT_IN_WORDS], *_SHORT_WORDS.split()])


def classify(tokens: Sequence[str], language: str) -> bytes:
    """Return one :class:`~clover_sim.records.TokenClass` byte a token; a token's class depends on those before it only.

    Structural: marks, blanks, and the language's own words (keywords, tags, commands, log levels). Common: a frequent
    word, or one that this text has had before; digits and scraps of one or two letters only when they follow the same
    four tokens as before. Rare: the rest. The time and the memory grow with the number of tokens.

    >>> list(classify(['{"', 'city', '":', ' "', 'Oslo', '",', ' "', 'city', '"}'], "json"))
    [0, 2, 0, 0, 2, 0, 0, 1, 0]
    """
    table = _Table(language)
    classes = bytearray(map(table.__getitem__, tokens))
    seen: set[tuple[str, ...]] = set()
    at = classes.find(_FRAGILE)
    while at >= 0:
        context = tuple(tokens[max(0, at - _CONTEXT_TOKENS) : at + 1])
        if context in seen:
            classes[at] = _COMMON
        else:
            classes[at] = _RARE
            if len(seen) >= _CONTEXTS_KEPT:
                seen.clear()
            seen.add(context)
        at = classes.find(_FRAGILE, at + 1)
    return bytes(classes)
