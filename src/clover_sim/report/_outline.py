"""Headed blocks of rows: what ``explain`` and ``speculate`` print."""

from __future__ import annotations

from collections.abc import Sequence

from clover_sim.report import PLAIN, Look
from clover_sim.report._text import clean, display_width, pad, wrap

Block = tuple[str, list[tuple[str, str, str]], list[str]]


def render_outline(blocks: Sequence[Block], look: Look = PLAIN) -> str:
    """Each block: a heading, rows of a name, a figure and a remark, then sentences.

    >>> print(render_outline([("speed", [("gain", "1.5", "x"), ("cost", "12", "ms")], ["It pays."])]), end="")
    speed
      gain  1.5  x
      cost   12  ms
    It pays.
    """
    lines: list[str] = []
    for heading, rows, sentences in blocks:
        lines += [""] * bool(lines) + [look.paint("1", line) for line in wrap(clean(heading), look.width)]
        names = max((display_width(name) for name, _, _ in rows), default=0)
        figures = max((display_width(figure) for _, figure, _ in rows), default=0)
        for name, figure, remark in rows:
            start = f"  {pad(name, names)}  {pad(figure, figures, right=True)}"
            lines += wrap(f"{start}  {clean(remark)}".rstrip(), look.width, " " * (names + figures + 6))
        for sentence in sentences:
            lines += wrap(clean(sentence), look.width, "  ")
    return "\n".join(lines) + "\n"
