"""Pictures as SVG, written by hand: a figure, its axes, marks and legend. Nothing in it but text and shapes.

The first three colours are those of Okabe and Ito (2008), which people with any common colour blindness can tell
apart; every series also has a sign and a dash of its own. The style sheet inside has a light and a dark form.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from clover_sim.report._plot_scale import Scale, label_of
from clover_sim.report._text import clean, clip, display_width

CHAR = 6.7
"""Width of a character of the usual size, in units of the picture; a little more than it mostly is."""

LIGHT = ("#0072b2", "#d55e00", "#009e73", "#8a3fb0", "#b07a00", "#222222", "#e0558b", "#7a4a2a")
DARK = ("#56b4e9", "#ff8a3d", "#2fd0a0", "#c98bff", "#f0c040", "#f2f2f2", "#ff9dbb", "#c9a182")
INK = 5
"""The series that is as dark as the text, for what is no series."""
SIGNS = ("circle", "square", "triangle", "diamond", "ring", "cross", "wedge", "star")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "14 4", "4 2", "1 4", "6 2 1 2")


def _colours(colours: Sequence[str], ink: str, grey: str, rule: str, paper: str) -> str:
    rules = [f".p{{fill:{paper}}}.t{{fill:{ink}}}.m{{fill:{grey}}}.g{{stroke:{rule}}}.a{{stroke:{grey}}}"]
    rules += [f".f{i}{{fill:{c}}}.s{i}{{stroke:{c}}}" for i, c in enumerate(colours)]
    return "".join(rules)


STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif}"
    ".h{font-size:15px;font-weight:600}.n{font-size:11px}.g,.a{stroke-width:1;fill:none}"
    ".l{fill:none;stroke-width:2;stroke-linejoin:round}.b{opacity:.18;stroke:none}.w{stroke-width:2;fill:none}"
    ".h2{stroke-width:1.6}.k{opacity:.45}.e{stroke-width:1.3;fill:none;opacity:.6}"
    + _colours(LIGHT, "#1b1b1b", "#5c5c5c", "#e2e2e2", "#ffffff")
    + "@media (prefers-color-scheme:dark){"
    + _colours(DARK, "#eeeeee", "#b4b4b4", "#3a3a3a", "#161616")
    + "}"
)  # fmt: skip


def number(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> number(12.0), number(3.14159)
    ('12', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")


def width_of(text: str, size: float = 12.0) -> float:
    """About how wide a text is."""
    return display_width(text) * CHAR * size / 12


class Figure:
    """An SVG picture in the making. ``title`` is read out and drawn, ``desc`` is read out."""

    def __init__(self, title: str, desc: str, width: float = 720, height: float = 440) -> None:
        self.title, self.desc, self.width, self.height = title, desc, width, height
        self.parts: list[str] = []
        most = int((width - 32) / (CHAR * 1.12 * 15 / 12))
        self.top = 30.0
        for line in _wrapped(clean(title), most)[:3]:
            self.text(16, self.top - 4, line, "t h")
            self.top += 20

    def text(self, x: float, y: float, text: str, style: str = "t", anchor: str = "start", turn: bool = False) -> None:
        """Text with its baseline at ``y``; ``turn`` stands it on end."""
        at = f' text-anchor="{anchor}"' if anchor != "start" else ""
        turned = f' transform="rotate(-90 {number(x)} {number(y)})"' if turn else ""
        self.parts.append(
            f'<text class="{style}" x="{number(x)}" y="{number(y)}"{at}{turned}>{escape(clean(text))}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str, dash: str = "") -> None:
        """A straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line class="{style}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"{dashed}/>'
        )

    def rect(self, x: float, y: float, w: float, h: float, style: str, hint: str = "") -> None:
        """A rectangle, with a ``hint`` for the pointer."""
        shape = (
            f'<rect class="{style}" x="{number(x)}" y="{number(y)}" width="{number(max(w, 0))}" height="{number(h)}"'
        )
        self.parts.append(f"{shape}><title>{escape(clean(hint))}</title></rect>" if hint else f"{shape}/>")

    def path(self, points: Sequence[tuple[float, float]], style: str, dash: str = "", closed: bool = False) -> None:
        """A line through points."""
        if not points:
            return
        text = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + ("Z" if closed else "")
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path class="{style}" d="{text}"{dashed}/>')

    def sign(self, x: float, y: float, index: int, hint: str = "", size: float = 4.0, style: str = "") -> None:
        """The sign of series ``index``."""
        kind, colour = SIGNS[index % len(SIGNS)], index % len(LIGHT)
        fill, stroke = style or f"f{colour}", f"w s{colour}"
        low, high = number(y - size * 1.3), number(y + size * 1.3)
        a, b, c, d = (number(v) for v in (x - size, x + size, y - size, y + size))
        inside = f"<title>{escape(clean(hint))}</title>" if hint else ""
        cx, cy = number(x), number(y)
        shapes = {
            "circle": ("circle", fill, f'cx="{cx}" cy="{cy}" r="{number(size)}"'),
            "ring": ("circle", stroke, f'cx="{cx}" cy="{cy}" r="{number(size)}"'),
            "square": ("path", fill, f'd="M{a} {c}H{b}V{d}H{a}Z"'),
            "triangle": ("path", fill, f'd="M{cx} {number(y - size * 1.2)}L{b} {d}H{a}Z"'),
            "diamond": ("path", fill, f'd="M{cx} {low}L{b} {cy}L{cx} {high}L{a} {cy}Z"'),
            "cross": ("path", stroke, f'd="M{a} {c}L{b} {d}M{a} {d}L{b} {c}"'),
            "wedge": ("path", fill, f'd="M{cx} {number(y + size * 1.2)}L{b} {c}H{a}Z"'),
            "star": ("path", stroke, f'd="M{a} {cy}H{b}M{cx} {c}V{d}"'),
        }  # fmt: skip
        tag, used, attributes = shapes[kind]
        self.parts.append(f'<{tag} class="{used}" {attributes}>{inside}</{tag}>')

    def legend(self, names: Sequence[str], lines: bool = False, swatch: bool = False) -> None:
        """The names of the series in rows under the title; what follows stands below."""
        x, y = 16.0, self.top + 6
        for index, name in enumerate(names):
            label = clip(clean(name), 60)
            need = 30 + width_of(label)
            if x + need > self.width - 8 and x > 16:
                x, y = 16.0, y + 18
            if lines:
                self.line(x, y - 4, x + 20, y - 4, f"l s{index % len(LIGHT)}", DASHES[index % len(DASHES)])
            if swatch:
                self.rect(x + 4, y - 10, 12, 12, f"f{index % len(LIGHT)}")
            else:
                self.sign(x + 10, y - 4, index)
            self.text(x + 25, y, label)
            x += need + 12
        self.top = y + 16

    def svg(self, name: str = "plot") -> str:
        """The whole picture."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(self.width)} {number(self.height)}" '
            f'role="img" aria-labelledby="{name}-t {name}-d" style="max-width:100%;height:auto" '
            f'width="{number(self.width)}" height="{number(self.height)}">'
        )
        return (
            f'{head}\n<title id="{name}-t">{escape(clean(self.title))}</title>\n'
            f'<desc id="{name}-d">{escape(clean(self.desc))}</desc>\n<style>{STYLE}</style>\n'
            f'<rect class="p" width="100%" height="100%"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )


def labels_at(figure: Figure, panel: Panel, ends: Sequence[tuple[float, float, str]], gap: float = 15) -> None:
    """The name of each series at the right, as near the end of its line as the others let it; with its sign.

    ``ends`` are the places of the last points, one a series, in the order of the series.
    """
    x = panel.right + 22
    order = sorted(range(len(ends)), key=lambda i: ends[i][1])
    places: dict[int, float] = {}
    low = panel.top + 4
    for i in order:
        places[i] = low = max(ends[i][1], low)
        low += gap
    high = panel.bottom
    for i in reversed(order):
        places[i] = high = min(places[i], high)
        high -= gap
    for i, y in places.items():
        at_x, at_y, name = ends[i]
        figure.path([(at_x + 5, at_y), (max(at_x + 5, panel.right + 4), at_y), (x - 6, y)], f"e s{i % len(LIGHT)} k")
        figure.sign(x, y, i, "", 3.5)
        figure.text(x + 9, y + 4, name, "t n")


class Panel:
    """A pair of axes in a figure; maps values to places."""

    def __init__(
        self, figure: Figure, box: tuple[float, float, float, float], x: Scale, y: Scale, names: tuple[str, str],
    ) -> None:  # fmt: skip
        self.figure, self.x_scale, self.y_scale = figure, x, y
        self.left, self.top, self.right, self.bottom = box
        labels = [label_of(value, y) for value in y.ticks]
        for value, label in zip(y.ticks, labels, strict=True):
            at = self.y(value)
            figure.line(self.left, at, self.right, at, "g")
            figure.text(self.left - 7, at + 4, label, "m n", "end")
        free = -1e9
        for value in x.ticks:
            at, label = self.x(value), label_of(value, x)
            figure.line(at, self.bottom, at, self.bottom + 4, "a")
            half = width_of(label, 11) / 2
            if at - half > free + 6:
                figure.text(at, self.bottom + 17, label, "m n", "middle")
                free = at + half
        figure.line(self.left, self.bottom, self.right, self.bottom, "a")
        if names[0]:
            figure.text((self.left + self.right) / 2, self.bottom + 36, names[0], "t", "middle")
        beside = self.left - 18 - max(width_of(label, 11) for label in labels)
        figure.text(beside, (self.top + self.bottom) / 2, names[1], "t", "middle", turn=True)

    @staticmethod
    def margin(y: Scale) -> float:
        """What the numbers and the name of the y axis take."""
        return 42 + max(width_of(label_of(value, y), 11) for value in y.ticks)

    def x(self, value: float) -> float:
        """The place of a value on the x axis."""
        return self.left + self.x_scale.part(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        """The place of a value on the y axis."""
        return self.bottom - self.y_scale.part(value) * (self.bottom - self.top)


def panel(figure: Figure, x: Scale, y: Scale, names: tuple[str, str], right: float = 24) -> Panel:
    """Axes that fill what the title and the legend leave."""
    return stack(figure, x, [(y, names[1], 1.0)], names[0], right)[0]


def stack(
    figure: Figure, x: Scale, ys: Sequence[tuple[Scale, str, float]], name_x: str, right: float = 24
) -> list[Panel]:
    """Axes above each other over one x axis, each of ``(scale, name, share of the height)``."""
    left, top, gap = max(Panel.margin(y) for y, _, _ in ys), figure.top + 8, 38.0
    free = figure.height - 50 - top - gap * (len(ys) - 1)
    found = []
    for number, (y, name, share) in enumerate(ys):
        box = (left, top, figure.width - right, top + free * share)
        found.append(Panel(figure, box, x, y, (name_x if number == len(ys) - 1 else "", name)))
        top += free * share + gap
    return found


def _wrapped(text: str, most: int) -> list[str]:
    from clover_sim.report._text import wrap

    return wrap(text, most)
