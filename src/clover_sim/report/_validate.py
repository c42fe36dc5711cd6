"""The table of ``clover-sim validate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.report import PLAIN, Look
from clover_sim.report._grid import Strip, header, squeezed
from clover_sim.report._grid import row as row_lines
from clover_sim.report._text import clean, clip, wrap

MOST_WORST = 10
"""Rows shown of those that are furthest off."""

_LONG = ("family", "hardware")
"""Groups that are many: shown with the rows, and where no rows are."""


def render_validation(
    document: Mapping[str, Any], which: str, left_out: Mapping[str, Any] | None, look: Look = PLAIN
) -> str:
    """The summary and its parts, what was left out, and rows: ``worst``, ``distinct``, ``all`` or ``none``."""
    lines: list[str] = []
    brief = which == "worst"
    if which in ("distinct", "all"):
        lines += [*_rows(document["rows"], which == "distinct", look), ""]
        if document["several_devices"]:
            lines += [look.paint("1", "on several devices, judged apart")]
            lines += [*_rows(document["several_devices"], True, look), ""]
    summary = document["summary"]
    rows = [["all", summary]]
    for key, group in summary["by"].items():
        if not brief or (key not in _LONG and len(group) > 1):
            rows += [[f"{key} {name}", one] for name, one in group.items()]
    rows += [["several devices", summary["several_devices"]]] if summary["several_devices"]["rows"] else []
    lines += _summary(rows, look)
    if summary["skipped"]:
        lines += ["", look.paint("1", "left out"), *(f"  {n:5d}  {why}" for why, n in summary["skipped"].items())]
    lines += _speculative(summary["speculative"], look)
    lines += _diffusion(summary["diffusion"], look)
    if left_out is not None:
        shown = [["left out one by one", left_out["summary"]], *left_out["by_kind"].items(), *left_out["folds"].items()]
        lines += ["", look.paint("1", f"fitted again without each {left_out['what']}"), *_summary(shown, look)]
    if brief and document["rows"]:
        worst = sorted(document["rows"], key=lambda row: -abs(row["error"]))[:MOST_WORST]
        lines += ["", look.paint("1", f"furthest off, of {len(document['rows'])} rows on one device")]
        lines += _rows(worst, True, look)
    lines += ["", *_legend(summary, which, look)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _legend(summary: Mapping[str, Any], which: str, look: Look) -> list[str]:
    """What the columns mean, of those that are there."""
    said = [
        "error: predicted over measured, less one, with the defaults alone. median and 9 in 10: the size of the "
        "error that half of the rows, and nine in ten, do not exceed; bias: the median with its sign; distinct: rows "
        "without those that give one measurement again."
    ]
    if which in ("distinct", "all", "worst"):
        said.append("predicted and measured: tokens a second of all requests of the batch together.")
    if summary["speculative"]["rows"]:
        said.append(
            "Speed-ups by drafts take the published acceptance as given. side of 1: share of rows whose speed-up is "
            "rightly predicted above or below 1; losses found: rows slower than plain decoding that are predicted so."
        )
    if summary["diffusion"]["rows"]:
        said.append("Block diffusion takes the published tokens per pass as given.")
    if which == "worst":
        said.append("--rows distinct shows every row, and the error by card and by family of models.")
    return [line for text in said for line in wrap(f"- {text}", look.width, "  ")]


def validation_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every row of the document as a flat dictionary, with the ``table`` it is of."""
    tables = ("rows", "several_devices", "speculative", "diffusion")
    return [{"table": "one_device" if name == "rows" else name, **row} for name in tables for row in document[name]]


def _rows(rows: Sequence[Mapping[str, Any]], once: bool, look: Look) -> list[str]:
    """One line a row; rows that repeat one measurement are shown once, with how many there are."""
    counts: dict[tuple[Any, ...], int] = {}
    keys = ("model", "hardware", "engine", "precision", "batch_size", "context_tokens", "measured")
    for row in rows:
        key = tuple(row[k] for k in keys)
        counts[key] = counts.get(key, 0) + 1
    seen: set[tuple[Any, ...]] = set()
    cells = []
    for row in rows:
        key = tuple(row[k] for k in keys)
        if once and key in seen:
            continue
        seen.add(key)
        repeated = f"{look.times}{counts[key]}" if once and counts[key] > 1 else ""
        cards = f"{row['devices']}{look.times}" if row["devices"] > 1 else ""
        cells.append([
            clean(row["model"]), cards + clean(row["hardware"]), clean(row["engine"]), clean(row["precision"]),
            str(row["batch_size"]), f"{row['predicted']:.4g}", f"{row['measured']:.4g}", f"{row['error']:+.1%}",
            repeated,
        ])  # fmt: skip
    heading = ["model", "hardware", "engine", "format", "batch", "predicted", "measured", "error", ""]
    if not any(cell[-1] for cell in cells):
        heading, cells = heading[:-1], [cell[:-1] for cell in cells]
    return _table(heading, cells, 4, look)


def _speculative(found: Mapping[str, Any], look: Look) -> list[str]:
    """Speed-ups of speculative decoding, apart from the speeds of plain decoding."""
    groups = [("with a plain speed", found)]
    groups += [(f"method {name}", one) for name, one in found["by"]["method"].items()]
    groups.append(("no plain speed published", found["without_plain_speed"]))
    cells = [
        [
            name, str(one["rows"]), f"{one['median_abs_error']:.1%}", f"{one['p90_abs_error']:.1%}",
            f"{one['bias']:+.1%}", f"{one['side_right']:.0%}", f"{one['losing_predicted']} of {one['losing_rows']}",
        ]
        for name, one in groups if one["rows"]
    ]  # fmt: skip
    heading = ["speed-up by drafts", "rows", "median", "9 in 10", "bias", "side of 1", "losses found"]
    return ["", *_table(heading, cells, 1, look)] if cells else []


def _diffusion(found: Mapping[str, Any], look: Look) -> list[str]:
    """Speeds of block diffusion at the published tokens per pass, apart from the others."""
    if not found["rows"]:
        return []
    errors = [f"{found['median_abs_error']:.1%}", f"{found['p90_abs_error']:.1%}", f"{found['bias']:+.1%}"]
    cells = [["one stream, tokens per pass given", str(found["rows"]), *errors, str(sum(found["skipped"].values()))]]
    return ["", *_table(["block diffusion", "rows", "median", "9 in 10", "bias", "left out"], cells, 1, look)]


def _summary(rows: Sequence[Sequence[Any]], look: Look) -> list[str]:
    cells = []
    for name, one in rows:
        if not one["rows"]:
            continue
        cells.append([
            clip(clean(str(name)), 44), str(one["rows"]), str(one["distinct_rows"]), f"{one['median_abs_error']:.1%}",
            f"{one['p90_abs_error']:.1%}", f"{one['bias']:+.1%}",
        ])  # fmt: skip
    return _table(["tokens a second", "rows", "distinct", "median", "9 in 10", "bias"], cells, 1, look)


def _table(heading: Sequence[str], cells: Sequence[Sequence[str]], left: int, look: Look) -> list[str]:
    """The cells under a heading; the first ``left`` columns are texts, which take more lines where there is no room."""
    strips = squeezed(
        [Strip([name], [[row[i]] for row in cells], right=i >= left) for i, name in enumerate(heading)], look.width
    )
    return [*header(strips, look)[:-1], *(line for i in range(len(cells)) for line in row_lines(strips, i, look))]
