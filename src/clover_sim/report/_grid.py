"""Columns of text side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clover_sim.report import Look
from clover_sim.report._text import display_width, pad, parts_of, wrap

GAP = 2
_LEAST = 8
"""Columns below which no text is squeezed: what is narrower can no longer be read."""


class Strip:
    """One column of a grid: heading lines, cells (each a list of lines) and an optional style a cell."""

    __slots__ = ("cells", "heading", "right", "styles")

    def __init__(
        self, heading: list[str], cells: list[list[str]], right: bool = True, styles: Sequence[str] = ()
    ) -> None:
        self.heading, self.cells, self.right, self.styles = heading, cells, right, styles

    @property
    def width(self) -> int:
        """Columns of the terminal that the strip takes."""
        lines = [*self.heading, *(line for cell in self.cells for line in cell)]
        return max(map(display_width, lines), default=0)

    @property
    def lines(self) -> int:
        """Lines of all its cells."""
        return sum(map(len, self.cells))


def total_width(strips: Sequence[Strip]) -> int:
    """Columns that the strips take side by side.

    >>> total_width([Strip(["a"], [["xx"]]), Strip(["b"], [["yyy"]])])
    7
    """
    return sum(strip.width for strip in strips) + GAP * max(0, len(strips) - 1)


def squeezed(strips: Sequence[Strip], width: int | None) -> list[Strip]:
    """The strips with texts in several lines until all fit in ``width``, at the price of few lines; figures stay whole.

    >>> [strip.cells for strip in squeezed([Strip(["name"], [["llama-3.1-70b"]], right=False)], 10)]
    [[['llama-3.1-', '70b']]]
    """
    found = list(strips)
    while width is not None and (excess := total_width(found) - width) > 0:
        choices = _choices(found, excess, whole=True) or _choices(found, excess, whole=False)
        if not choices:
            break
        _, i, _, narrow = min(choices, key=lambda c: c[:3])
        found[i] = narrow
    return found


def _choices(strips: Sequence[Strip], excess: int, whole: bool) -> list[tuple[float, int, int, Strip]]:
    """What could be narrower: (lines that a column gained costs, which strip, order, the narrower one).

    ``whole``: no part of a name is broken.
    """
    found = []
    for i, one in enumerate(strips):
        if one.right:
            continue
        least = max(_LEAST, _longest_part(one) if whole else 0)
        for limit in range(max(least, one.width - excess), one.width):
            narrow = _narrowed(one, limit)
            found.append(((narrow.lines - one.lines) / (one.width - narrow.width), i, -limit, narrow))
    return found


def _longest_part(strip: Strip) -> int:
    texts = {*strip.heading, *(line for cell in strip.cells for line in cell)}
    return max((display_width(part) for text in texts for part in parts_of(text)), default=0)


def _narrowed(strip: Strip, limit: int) -> Strip:
    folded: dict[str, list[str]] = {}

    def fold(lines: list[str]) -> list[str]:
        return [part for line in lines for part in folded.setdefault(line, wrap(line, limit))]

    return Strip(fold(strip.heading), [fold(cell) for cell in strip.cells], False, strip.styles)


def fitted(strips: Mapping[str, Strip], first_to_go: Sequence[str], width: int | None) -> tuple[list[Strip], list[str]]:
    """The strips that fit in ``width``, and the keys of those left out: those named first go first.

    What went early comes back where a wider one that went later has left room for it.

    >>> a, b = Strip(["a"], [["1"]]), Strip(["long"], [["2"]])
    >>> fitted({"a": a, "b": b}, ["b"], 6)[1], fitted({"a": a, "b": b}, ["b"], 7)[1]
    (['b'], [])
    """
    gone: list[str] = []

    def fits(without: Sequence[str]) -> bool:
        return width is None or total_width([s for key, s in strips.items() if key not in without]) <= width

    for key in first_to_go:
        if fits(gone):
            break
        gone += [key] * (key in strips)
    for key in gone[::-1]:
        if fits([k for k in gone if k != key]):
            gone.remove(key)
    return squeezed([s for key, s in strips.items() if key not in gone], width), gone


def left_out(names: Sequence[str], needed: int, look: Look) -> list[str]:
    """What to say of columns that there was no room for."""
    if not names:
        return []
    hint = f"left out at {look.width} columns: {', '.join(names)} (all at {needed}, or with --format json)"
    return ["", *(look.paint("2", line) for line in wrap(hint, look.width))]


def header(strips: Sequence[Strip], look: Look) -> list[str]:
    """The heading, standing on the rule below it."""
    height = max((len(strip.heading) for strip in strips), default=0)
    titles = [[""] * (height - len(strip.heading)) + strip.heading for strip in strips]
    lines = [
        _join([(title[level], strip, "1") for title, strip in zip(titles, strips, strict=True)], look)
        for level in range(height)
    ]
    rule = "─" if look.unicode else "-"
    return [*lines, look.paint("2", (" " * GAP).join(rule * strip.width for strip in strips))]


def row(strips: Sequence[Strip], index: int, look: Look) -> list[str]:
    """The lines of one row; the cells of later lines are empty where a cell has but one."""
    height = max(len(strip.cells[index]) for strip in strips)
    lines = []
    for level in range(height):
        parts = []
        for strip in strips:
            cell = strip.cells[index]
            style = strip.styles[index] if strip.styles else ""
            parts.append((cell[level] if level < len(cell) else "", strip, style))
        lines.append(_join(parts, look))
    return lines


def _join(parts: Sequence[tuple[str, Strip, str]], look: Look) -> str:
    """Paint inside the padding, so that colour never underlines or highlights empty space; no blanks at the end."""
    texts = []
    for text, strip, style in parts:
        padded = pad(text, strip.width, right=strip.right)
        texts.append(padded.replace(text, look.paint(style, text), 1) if text else padded)
    return (" " * GAP).join(texts).rstrip()
