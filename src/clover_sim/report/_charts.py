"""Pictures in a terminal: sparklines and a scatter of characters, with an ASCII form of each."""

from __future__ import annotations

from collections.abc import Sequence

from clover_sim.report import Look
from clover_sim.report._plot_scale import Scale, label_of

_BLOCKS = "▁▂▃▄▅▆▇█"
_LETTERS = "_.-=+*#@"


def spark(values: Sequence[float | None], look: Look) -> str:
    """One character a value, from the lowest to the highest; a blank where there is none.

    >>> from clover_sim.report import PLAIN, Look
    >>> spark([1, 2, 3, None, 8], PLAIN), spark([1, 2, 3, None, 8], Look(unicode=False))
    ('▁▂▃ █', '_.- @')
    """
    signs = _BLOCKS if look.unicode else _LETTERS
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    span = high - low
    return "".join(" " if value is None else signs[round((value - low) / span * 7) if span else 3] for value in values)


def scatter(
    points: Sequence[tuple[float, float]], front: Sequence[int], names: tuple[str, str], look: Look,
    chosen: int | None = None, height: int = 12,
) -> list[str]:  # fmt: skip
    """Points with the front marked: ``·`` a row, ``●`` one of the front, ``◆`` the best (``.``, ``o``, ``X``)."""
    if len(points) < 2:
        return []
    dot, ring, best = ("·", "●", "◆") if look.unicode else (".", "o", "X")
    x_scale, y_scale = Scale.around([x for x, _ in points]), Scale.around([y for _, y in points])
    ticks = {round((1 - y_scale.part(v)) * (height - 1)): label_of(v, y_scale) for v in y_scale.ticks}
    margin = max(map(len, ticks.values()))
    width = max(20, min((look.width or 80) - margin - 3, 72))
    grid = [[" "] * width for _ in range(height)]

    def put(i: int, sign: str) -> None:
        x, y = points[i]
        grid[round((1 - y_scale.part(y)) * (height - 1))][round(x_scale.part(x) * (width - 1))] = sign

    for i in range(len(points)):
        put(i, dot)
    for i in front:
        put(i, ring)
    if chosen is not None:
        put(chosen, best)
    bar, corner, rule = ("│", "└", "─") if look.unicode else ("|", "+", "-")
    lines = [f"{names[1]}"]
    lines += [f"{ticks.get(r, ''):>{margin}} {bar}{''.join(cells)}".rstrip() for r, cells in enumerate(grid)]
    lines.append(f"{'':{margin}} {corner}{rule * width}")
    lines.append(" " * (margin + 2) + _ruler(x_scale, width))
    lines.append(f"{names[0]:>{margin + 2 + width}}")
    key = f"{dot} a row   {ring} on the front" + (f"   {best} the best" if chosen is not None else "")
    return [*lines, look.paint("2", key)]


def _ruler(scale: Scale, width: int) -> str:
    """The numbers under an axis, each under its place, none over another."""
    line = ""
    for value in scale.ticks:
        text = label_of(value, scale)
        at = min(round(scale.part(value) * (width - 1)) - len(text) // 2, width - len(text))
        if at > len(line) or not line:
            line = line.ljust(max(at, 0)) + text
    return line
