"""Text on a terminal: made harmless, measured, padded and wrapped by display width."""

from __future__ import annotations

_BETWEEN = "-_/:,="
"""Signs between the parts of a name, after which it may go on in the next line."""


def clean(text: str) -> str:
    r"""``text`` with everything that could steer a terminal written out as an escape.

    Control characters, line breaks, direction marks, invisible characters and lone surrogates become visible;
    everything that prints stays.

    >>> print(clean("a\x1b[31mred\n"), clean("caf\u00e9 \u202egpj"))
    a\x1b[31mred\n café \u202egpj
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """How many columns ``text`` takes: wide East Asian characters count two, combining marks none.

    >>> display_width("abc"), display_width("\u6545\u4e61"), display_width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """``text`` filled with spaces to ``width`` columns; ``right`` aligns it to the right."""
    fill = " " * max(0, width - display_width(text))
    return fill + text if right else text + fill


def clip(text: str, width: int, mark: str = "~") -> str:
    """``text`` cut to ``width`` columns, with ``mark`` where something is missing.

    >>> clip("confidence", 6), clip("short", 6)
    ('confi~', 'short')
    """
    if display_width(text) <= width:
        return text
    kept = ""
    for char in text:
        if display_width(kept + char + mark) > width:
            break
        kept += char
    return kept + mark


def shorten(text: str, most: int) -> str:
    """``text`` cut in the middle to at most ``most`` characters: its beginning and its end say the most.

    >>> shorten("a long message", 9), shorten("short", 9)
    ('a l...age', 'short')
    """
    if len(text) <= most:
        return text
    half = max(0, most - 3) // 2
    return f"{text[:half]}...{text[len(text) - half :]}"


def parts_of(text: str) -> list[str]:
    """The parts of a text that no line break should go through.

    >>> parts_of("qwen3-30b-a3b on h200")
    ['qwen3-', '30b-', 'a3b', 'on', 'h200']
    """
    for sign in _BETWEEN:
        text = text.replace(sign, sign + " ")
    return text.split()


def wrap(text: str, width: int | None, indent: str = "") -> list[str]:
    """The words of ``text`` in lines of at most ``width`` columns; later lines start with ``indent``.

    A longer word is broken, after a sign between its parts where there is one.

    >>> wrap("- one two three", 9, "  "), wrap("llama-3.1-70b", 9)
    (['- one two', '  three'], ['llama-', '3.1-70b'])
    """
    if width is None:
        return [text]
    lines: list[str] = []
    line, started = "", False
    for word in text.split(" "):
        longer = f"{line} {word}" if started else word
        if started and display_width(longer) > width:
            lines.append(line)
            longer = indent + word
        while display_width(longer) > width > display_width(indent) + 1:
            head = clip(longer, width, "")
            part = max(head.rfind(sign, len(indent) + 1) for sign in _BETWEEN) + 1
            head = head[:part] if part > 0 and longer[len(indent)] not in _BETWEEN else head
            lines.append(head)
            longer = indent + longer[len(head) :]
        line, started = longer, True
    return [*lines, line]
