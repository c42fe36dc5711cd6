r"""What stands before a line of a log: time stamps, levels, places in code, and who wrote it.

A prefix is taken off piece by piece, and only in the shapes below. The pieces that name a writer (container, pod,
host, process, rank) make up the *origin* of the line: lines of different origins never belong together, such as a
window of one process and the engine line of another, or the running counters of two servers.
"""

from __future__ import annotations

import re

_STAMP = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:\s?(?:Z|[+-]\d\d:?\d\d))?"
_LEVEL = r"(?:INFO|WARN|WARNING|DEBUG|ERROR|NOTICE|CRITICAL|TRACE)"
_LEVELS = frozenset(("INFO", "WARN", "WARNING", "DEBUG", "ERROR", "NOTICE", "CRITICAL", "TRACE", "I", "W", "D", "E"))

_PIECES = (
    # Marks of a quotation, a list, a frame, a shell.
    r">+\s*|[|\u2502*$+\-]\s+",
    # When: brackets or not; SGLang's process (TP0, DP1) and some loggers' level stand behind it in the same brackets.
    rf"[\[(]?{_STAMP}(?P<ranks>(?:\s[A-Z]+\d*)*)[\])]?:?(?:\s+|$)",
    r"\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\]\s+",
    r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:?\s+",
    r"\[?\d{10}(?:\.\d+)?\]?:?\s+",
    r"<\d{1,3}>\d\s+",
    r"\d+\.\d\d\.\d{3}\.\d{3}\s[A-Z]\s",  # llama.cpp's clock
    r"[IWEF]\d{4}\s\d\d:\d\d:\d\d\.\d+\s+\d+\s(?:[\w.]+:\d+\]\s)?",  # glog
    # How grave, and from where in the code.
    rf"{_LEVEL}\s+(?:\d\d-\d\d\s\d\d:\d\d:\d\d\s)?\[[^\]]*\]\s*",
    rf"{_LEVEL}\s+(?:\d\d-\d\d\s\d\d:\d\d:\d\d\s)?[\w./]+:\d+\]\s*",
    rf"{_LEVEL}\s+\d\d-\d\d\s\d\d:\d\d:\d\d\s+",
    rf"{_LEVEL}\s+[a-z_]\w*(?:(?:\.|::)\w+)+:\s+",
    rf"{_LEVEL}:[a-z_][\w.]*:\s*",
    rf"{_LEVEL}\s*(?:[|:]\s*|-\s+|\s)",
    rf"[\w.]+\s-\s(?={_LEVEL})",
    r"[\w.]+:[\w<>.]+:\d+\s-\s",
    r"\[(?:INFO|WARN|WARNING|DEBUG|ERROR|[IWDE]|TRT-LLM|TensorRT-LLM|TRT)\]:?\s*",
    # Which stream, file and line of that file.
    r"(?:stdout|stderr)\s[FP]\s",  # Kubernetes
    r"(?P<file>[\w.\-/]+\.(?:log|txt|out|err|json))(?::\d+)?[:\-]\s*",
    r"\d{1,9}(?:\t|:\s|[:\-](?=\S))",  # of grep and cat, or the task of srun, which cannot be told from them
    # Who wrote it.
    r"\((?P<process>(?:[\w:.\-<>]+\s)?pid=\d+(?:,\s?ip=[\w.:]+)?)\)\s*",
    r"(?P<compose>[\w.\-/]+(?:\|[\w.\-/]+)?)\s*\|\s+",
    r"\[(?P<service>[A-Za-z_][\w.\-/=]*)\]:?\s+",
    r"\[(?P<rank>(?:rank|RANK)?\s?\d{1,6}(?:,\d+)?)\](?:<std(?:out|err)>)?:?\s*(?!\s*[,\]])",
    r"(?P<node>[a-z][a-z.\-]*\d[\w.\-]*):\s+(?=\S*[A-Za-z(\[#=])",
    r"[A-Z][a-z]{2}\s+\d+\s\d\d:\d\d:\d\d\s(?P<syslog>\S+\s[\w.\-/@]+(?:\[\d+\])?):\s",
    r"(?P<host>[\w.\-]+\s[\w.\-/@]+\[\d+\]):\s",
    r"(?P<relay>[\w.\-]+\s[\w.\-/]+\s(?:\d+|-)\s\S+\s-)\s",
    rf"(?P<pod>[a-z0-9\-]+\s[a-z0-9\-]+)\s+(?={_STAMP})",  # stern
)  # fmt: skip
_PIECE = re.compile("(?:" + "|".join(f"(?:{piece})" for piece in _PIECES) + r")\s*")
_MOST_PIECES = 12


def split_prefix(text: str) -> tuple[str, str]:
    """Origin and message of a cleaned line.

    >>> split_prefix("web-1  | [2026-01-02T03:04:05Z] (APIServer pid=7) INFO 01-02 03:04:05 [a.py:1] hello")
    ('web-1/APIServer pid=7', 'hello')
    >>> split_prefix("2026-01-02T03:04:05Z [2026-01-02 03:04:05 DP1 TP0] Decode batch"), split_prefix("Drafts: 12")
    (('DP1 TP0', 'Decode batch'), ('', 'Drafts: 12'))
    """
    at, names = len(text) - len(text.lstrip()), []
    for _ in range(_MOST_PIECES):
        found = _PIECE.match(text, at)
        if found is None or found.end() == at:
            break
        name = found[found.lastgroup] if found.lastgroup else ""
        if found.lastgroup == "ranks":
            name = " ".join(word for word in name.split() if word not in _LEVELS)
        if name:
            names.append(name)
        at = found.end()
    return "/".join(names), text[at:].strip()
