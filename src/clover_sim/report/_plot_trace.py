"""A block unlocking, as a picture: positions downwards, passes to the right, coloured by class, forced ones marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clover_sim.report._plot import Figure, width_of
from clover_sim.report._text import clean, clip

if TYPE_CHECKING:
    from clover_sim.report._contract import Trace

_CLASSES = ("structural", "common", "rare", "padding")
_COLOURS = {"structural": 0, "common": 2, "rare": 3, "padding": 6}


def timeline(trace: Trace, name: str = "trace") -> str:
    """The picture of a trace: bars from the first pass to the commit, signs where something happened."""
    passes = trace.passes
    forced = sum(len(p.forced) for p in passes)
    wrong = sum(len(p.wrong) for p in passes)
    title = f"{trace.strategy} on {trace.stream}: positions {trace.start} to {trace.stop - 1} in {len(passes)} passes"
    desc = (
        f"Each line is a position, each column a pass. A bar ends at the pass that committed the position. {forced} "
        f"commits were forced, {wrong} were wrong and stay."
    )
    row = 16.0
    figure = Figure(title, desc, height=0)
    x = 16.0
    y = figure.top + 6
    present = [c for c in _CLASSES if c in trace.classes]
    for kind in present:
        figure.rect(x, y - 10, 12, 12, f"f{_COLOURS[kind]}")
        figure.text(x + 18, y, kind)
        x += 1.15 * width_of(kind) + 40
    for sign, label in ((1, "forced"), (5, "wrong, locked in"), (4, "taken back")):
        used = {1: forced, 5: wrong, 4: sum(len(p.reopened) for p in passes)}[sign]
        if used:
            figure.sign(x + 6, y - 4, 3 if sign == 1 else sign, style="f1" if sign == 1 else "")
            figure.text(x + 18, y, label)
            x += width_of(label) + 36
    top = y + 32
    count = trace.stop - trace.start
    texts = [clip(clean(t), 14) for t in trace.texts]
    left = 16 + 30 + 1.1 * max([width_of(t, 11) for t in texts] + [30]) + 16
    figure.height = top + row * count + 46
    wide = min(72.0, (figure.width - left - 24) / max(len(passes), 1))
    figure.text(16, top - 8, "pos", "m n")
    figure.text(52, top - 8, "token", "m n")
    free = -1e9
    for i, p in enumerate(passes):
        middle = left + (i + 0.5) * wide
        if middle - 8 > free + 6:
            figure.line(middle, top, middle, top + row * count, "g")
            figure.text(middle, top - 8, str(p.index), "m n", "middle")
            free = middle + 8
    done = {q: i for i, p in enumerate(passes) for q in p.committed}
    for k in range(count):
        position, kind = trace.start + k, trace.classes[k]
        base = top + row * k
        figure.text(40, base + 12, str(position), "m n", "end")
        if k < len(texts):
            figure.text(52, base + 12, texts[k], "t n")
        end = done.get(position)
        colour = _COLOURS.get(kind, 6)
        last = len(passes) - 1 if end is None else end
        hint = f"{position} {kind}: " + ("not settled" if end is None else f"committed in pass {passes[end].index}")
        figure.rect(left, base + 3, (last + 0.5) * wide, row - 6, f"f{colour} k", hint)
        for i, p in enumerate(passes):
            middle = left + (i + 0.5) * wide
            if position in p.committed:
                is_forced = position in p.forced
                figure.sign(middle, base + row / 2, 3 if is_forced else 0, hint, 5, "f1" if is_forced else f"f{colour}")
                if position in p.wrong:
                    figure.sign(middle + 12, base + row / 2, 5, f"{position}: wrong, locked in", 4)
            if position in p.reopened:
                figure.sign(middle, base + row / 2, 4, f"{position}: taken back", 4)
    figure.text(left + wide * len(passes) / 2, top + row * count + 26, "pass", "t", "middle")
    return figure.svg(name)
