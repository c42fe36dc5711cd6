"""Columns of text side by side."""

from __future__ import annotations

from collections.abc import Sequence

from clover_sim.report import Look
from clover_sim.report._text import display_width, pad

GAP = 2


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


def total_width(strips: Sequence[Strip]) -> int:
    """Columns that the strips take side by side.

    >>> total_width([Strip(["a"], [["xx"]]), Strip(["b"], [["yyy"]])])
    7
    """
    return sum(strip.width for strip in strips) + GAP * max(0, len(strips) - 1)


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
