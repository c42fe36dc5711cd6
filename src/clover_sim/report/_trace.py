"""One block in the terminal: a line a position, a column a pass, so that one sees what settles first.

Everything that colour says is also said by a sign, and all signs are ASCII.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clover_sim.report import PLAIN, Look
from clover_sim.report._figures import options_text, said_once
from clover_sim.report._text import clean, clip, display_width, pad, wrap

if TYPE_CHECKING:
    from clover_sim.report._contract import Pass, Trace

_CLASS_STYLES = {"structural": "36", "common": "32", "rare": "35", "padding": "2"}
_LETTERS = {"draft": "d", "decode": "t", "verify": "v", "denoise": "n", "edit": "e", "encode": "c", "kv_write": "w"}
_SHORT = {
    "draft": "draft", "decode": "dec.", "verify": "ver.", "denoise": "den.", "edit": "edit", "encode": "enc.",
    "kv_write": "K/V",
}  # fmt: skip
_TOKEN_WIDTH = 12
_WIDE, _NARROW = 6, 2


def render_trace(trace: Trace, look: Look = PLAIN) -> str:
    """The block, pass by pass. Many passes get a narrow column each, too many for the width go into panels below."""
    labels = _labels(trace, look)
    room = (look.width or 10_000) - display_width(labels[0][0]) - 1
    wide = len(trace.passes) * _WIDE <= room
    per_panel = max(1, len(trace.passes) if wide else room // _NARROW)
    lines = _heading(trace, look)
    for first in range(0, len(trace.passes), per_panel):
        lines += ["", *_panel(trace, trace.passes[first : first + per_panel], labels, wide, look)]
    lines += ["", *_commits(trace, wide, look), "", *_legend(trace, wide, look)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _heading(trace: Trace, look: Look) -> list[str]:
    options = options_text(said_once(trace.options))
    kinds = _kinds(trace)
    noun = f"{_word(kinds[0])} pass" if len(kinds) == 1 else "pass"
    passes = f"{len(trace.passes)} {noun}{'es' * (len(trace.passes) != 1)}"
    title = look.dot.join([
        clean(trace.strategy), f"{clean(trace.stream)} stream", f"positions {trace.start} to {trace.stop - 1}", passes,
    ])  # fmt: skip
    return [
        *(look.paint("1", line) for line in wrap(title, look.width)),
        *(look.paint("2", line) for line in wrap(options.replace(",", ", "), look.width, "  ") if options),
    ]


def _kinds(trace: Trace) -> list[str]:
    return list(dict.fromkeys(p.kind for p in trace.passes))


def _word(kind: str) -> str:
    """The kind of a pass as it is written in a heading."""
    return "K/V" if kind == "kv_write" else kind


def _labels(trace: Trace, look: Look) -> list[tuple[str, str]]:
    """For each position, and first for the heading: the text at the left (plain, painted)."""
    digits = max(3, len(str(trace.stop - 1)))
    heading = f"{'pos':>{digits}}  {pad('class', 10)}  {pad('token', _TOKEN_WIDTH)}"
    found = [(heading, look.paint("1", heading))]
    for offset, (text, name) in enumerate(zip(trace.texts, trace.classes, strict=True)):
        token = pad(clip(clean(text), _TOKEN_WIDTH), _TOKEN_WIDTH)
        style = _CLASS_STYLES.get(name, "")
        plain = f"{trace.start + offset:>{digits}}  {pad(name, 10)}  {token}"
        found.append((plain, f"{trace.start + offset:>{digits}}  {look.paint(style, f'{pad(name, 10)}  {token}')}"))
    return found


def _panel(trace: Trace, passes: Sequence[Pass], labels: list[tuple[str, str]], wide: bool, look: Look) -> list[str]:
    size = _WIDE if wide else _NARROW
    numbers = [str(p.index) if wide or p.index % 5 == 0 or p is passes[0] else "" for p in passes]
    lines = []
    if len(_kinds(trace)) > 1:
        names = [(_SHORT if wide else _LETTERS).get(p.kind, "?") for p in passes]
        kinds = "".join(f"{name:>{size - 1}} " for name in names)
        lines.append(look.paint("2", pad("", display_width(labels[0][0]) + (1 if wide else 2)) + kinds))
    lines.append(f"{labels[0][1]} {look.paint('1', _ruler(numbers, size))}")
    for offset, position in enumerate(range(trace.start, trace.stop)):
        cells = [_cell(position, trace.classes[offset], p, wide, look) for p in passes]
        lines.append(f"{labels[offset + 1][1]} {''.join(cells)}")
    return lines


def _ruler(numbers: Sequence[str], size: int) -> str:
    """Pass numbers that end where their column ends; a number wider than its column runs into the empty one before."""
    line = ""
    for i, number in enumerate(numbers):
        line = line.ljust((i + 1) * size)
        if number:
            line = line[: len(line) - len(number)] + number
    return line


def _cell(position: int, name: str, p: Pass, wide: bool, look: Look) -> str:
    """Confidence before the pass, and what the pass did; empty once the position is settled."""
    style = _CLASS_STYLES.get(name, "")
    size = _WIDE if wide else _NARROW
    confidence = p.confidence.get(position)
    if position in p.committed:
        wrong, forced = position in p.wrong, position in p.forced
        style = "1;7;31" if wrong else "1;7;33" if forced else f"1;7;{style}"
        if not wide:
            text = "x" if wrong else "?" if forced else "#"
        else:
            shown = " + " if confidence is None else _two_digits(confidence)
            text = (f"<{shown}>" if forced else f"[{shown}]") + ("x" if wrong else "")
            return " " * (size - 1 - len(text.rstrip("x"))) + look.paint(style, text) + " " * (not wrong)
    elif position in p.reopened:
        text, style = ("open " if wide else "o"), "1;33"
    elif confidence is None:
        text, style = "", ""
    else:
        text, style = (f"{_two_digits(confidence)}  " if wide else str(min(9, int(confidence * 10)))), f"2;{style}"
    return " " * (size - len(text)) + look.paint(style, text)


def _two_digits(confidence: float) -> str:
    """Cut, not rounded: what stays below a threshold must not look as if it had reached it.

    >>> _two_digits(0.9499), _two_digits(1.0), _two_digits(0.29)
    ('.94', '1.0', '.29')
    """
    return "1.0" if confidence >= 1 else f".{int(confidence * 100 + 1e-9):02d}"


def _commits(trace: Trace, wide: bool, look: Look) -> list[str]:
    """How many positions of each class settle in each pass, under the columns of the passes; in words if narrow."""
    lines = []
    digits = max(3, len(str(trace.stop - 1)))
    for name, style in _CLASS_STYLES.items():
        positions = {trace.start + i for i, c in enumerate(trace.classes) if c == name}
        counts = {p.index: len(positions.intersection(p.committed)) for p in trace.passes}
        if not positions:
            continue
        label = f"{len(positions):>{digits}}  {look.paint(style, f'{name:<10}')}  {'committed':<{_TOKEN_WIDTH}} "
        if wide:
            lines.append(label + "".join(f"{number or '-':>{_WIDE - 1}} " for number in counts.values()))
            continue
        passes = [index for index, number in counts.items() if number]
        span = "never" if not passes else f"in pass {passes[0]}" + f" to {passes[-1]}" * (len(passes) > 1)
        lines.append(label + span)
    return lines


def _legend(trace: Trace, wide: bool, look: Look) -> list[str]:
    signs = (
        "[.97] committed, <.78> forced: the best guess of a pass in which no rule was met, x wrong and locked in, "
        "open: taken back, .61 still masked, with its confidence before the pass"
        if wide
        else "# committed, ? forced: the best guess of a pass in which no rule was met, x wrong and locked in, "
        "o taken back, 0-9 still masked, with the first digit of its confidence"
    )
    if wide and any(q not in p.confidence for p in trace.passes for q in p.committed):
        signs += ", + exact: needs no confidence"
    if not wide and len(_kinds(trace)) > 1:
        signs += "; above: " + ", ".join(f"{_LETTERS.get(kind, '?')} {_word(kind)}" for kind in _kinds(trace))
    return [look.paint("2", line) for line in wrap(signs, look.width)]
