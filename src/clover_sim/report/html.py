"""A report as one page that stands alone: the verdict in words, sortable tables, pictures, and sliders.

Nothing is fetched: the policy in its head forbids it. Whatever comes from files or names is escaped, in the page as
well as in the data that its script reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from clover_sim.columns import COLUMNS, QUALITY, Column
from clover_sim.report import PLAIN, Look, _page, _pictures, _what_if
from clover_sim.report._figures import cells, option_text, unit_of
from clover_sim.report._rows import heading, labels
from clover_sim.report._sweep import PER_1K, metric_column, with_rates
from clover_sim.report._text import clean

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".html", ".htm")

_LEFT_OUT = ("tokens", "draft_passes", "ms_per_pass")
"""Numbers of the usual table that the page's has not: the first stands elsewhere, the others follow from its own."""
_GAINED = ("speedup_time", "tokens_per_s")
"""What the columns of numbers begin with; errors follow."""
_MOST_SHOWN = 400
"""Rows of the table; the pictures and the sliders have all."""


def render(result: Result, look: Look = PLAIN) -> str:
    """The whole page."""
    from clover_sim import __version__

    title, question = _question(result)
    parts = [
        _page.section("Answer", _verdict(result)),
        _page.section("What if", _page.sliders() + _page.note(_about_sliders(result)), "whatif"),
        _page.section("Pictures", _page.note("Pictures scroll sideways.", narrow=True)
                      + _page.pictures(_svgs(result))),
        _page.section("Rows", _table(result)),
        _page.section("Reproduce", f"<pre><code>{_text(command(result))}</code></pre>" + _page.note(
            f"clover-sim {__version__}{_run(result)}, standard library only; the same command, the same figures.")),
        _page.section("Settings and sources", _settings(result) + _sources(result)),
        _page.section("What the columns mean", _meanings()),
    ]  # fmt: skip
    return _page.page(title, question, "".join(parts), _what_if.embedded(result, command(result, point=True)))


def _run(result: Result) -> str:
    """The run id of a comparison; a sweep has none."""
    found = getattr(result, "run_id", "")
    return f", run {found}" if found else ""


def _text(value: Any) -> str:
    return escape(clean(str(value)), quote=True)


def _question(result: Any) -> tuple[str, str]:
    names = list(dict.fromkeys(row["strategy"] for row in result.rows))
    where = " · ".join(heading(result, PLAIN)) if result.rows else "no rows"
    if hasattr(result, "axes"):
        varied = " and ".join(f"{a.key} ({len(a.values)} values)" for a in result.axes if len(a.values) > 1)
        return f"clover-sim sweep: {', '.join(names)}", f"What do {varied or 'these settings'} change? {where}"
    return "clover-sim comparison", f"How do {', '.join(names)} compare? {where}"


def _verdict(result: Any) -> str:
    from clover_sim.report._answer import answer

    said = answer(result)
    notes = "".join(f"<li>{_text(note)}</li>" for note in result.notes)
    if not said and not notes:
        return _page.note("nothing to say")
    return (f'<p class="verdict">{_text(said)}</p>' if said else "") + (f"<ul>{notes}</ul>" if notes else "")


def _svgs(result: Any) -> list[str]:
    rows = list(result.rows)
    if hasattr(result, "axes"):
        found = [_pictures.of_sweep(result, "main"), _pictures.pareto_of(result, "front")]
        found = found if found[0].replace("main-", "front-") != found[1] else found[:1]
    else:
        found = [_pictures.of_comparison(result, "main")]
        if len({row["tokens"] for row in rows}) > 1:
            last = [row for row in rows if (row["stream"], row["tokens"]) == (rows[-1]["stream"], rows[-1]["tokens"])]
            found.append(_pictures.speedups(result, last, "last"))
    return found + _pictures.machine_pictures(result.settings, [row["options"] for row in rows])


def _varied(row: Mapping[str, Any], key: str) -> Any:
    value = (row.get("varied") or {}).get(key)
    return "" if value is None else value


def _table(result: Any) -> str:
    rows = list(result.rows)
    axes = [axis.key for axis in getattr(result, "axes", ())]
    front = set(getattr(result, "front", ()))
    best = {*getattr(result, "best_at", ()), getattr(result, "best", None)} - {None}
    names = [row["strategy"] for row in rows] if axes else labels(rows)
    shown = range(len(rows))
    if len(rows) > _MOST_SHOWN:
        kept = front | best
        step = -(-len(rows) // (_MOST_SHOWN - min(len(kept), _MOST_SHOWN // 2)))
        shown = sorted(kept | set(range(0, len(rows), step)))  # type: ignore[assignment]
    numbers = _numbers(result, rows)
    rows = [with_rates(row, [c.key for c in numbers]) for row in rows]
    told = [key for key in ("stream", "tokens", "strategy") if rows and len({row[key] for row in rows}) == 1]
    if not axes and "strategy" in told:
        told.remove("strategy")  # the only name that a row of a comparison has
    if "stream" not in told and "tokens" in told:
        told.remove("tokens")  # the heading says them of one stream only
    first = [key for key in ("stream", "tokens", "strategy") if key not in told]
    texts = [cells(c, rows, PLAIN) for c in numbers]
    head = [*first, *axes, *(c.heading + (f" ({unit_of(c, rows, PLAIN)[0]})" if c.form == "seconds" else "")
                             for c in numbers)]  # fmt: skip
    lines = []
    for i in shown:
        row = rows[i]
        values = [(names[i] if key == "strategy" else row[key], "") for key in first]
        values += [(_varied(row, key), "") for key in axes]
        values += [(row.get(c.key), texts[n][i].strip()) for n, c in enumerate(numbers)]
        line = [_cell(value, text, called) for (value, text), called in zip(values, head, strict=True)]
        style = ' class="best"' if i in best else ' class="front"' if i in front else ""
        lines.append(f"<tr{style}>{''.join(line)}</tr>")
    hint = ""
    if len(lines) < len(rows):
        hint = _page.note(f"{len(lines)} of {len(rows):,} rows: the Pareto front and an even choice of the others; "
                          "CSV and JSON exports have all.")  # fmt: skip
    return hint + _page.table(head, lines, len(first) + len(axes))


def _numbers(result: Any, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The columns of numbers: what was gained and what it cost first; none that is empty, or 0 in every row."""
    judged = [getattr(result, key) for key in ("speed", "errors", "best_by") if hasattr(result, key)]
    keys = [*_GAINED, *judged]
    if not any(key.endswith(PER_1K) for key in judged):
        keys.append(QUALITY[0])
    usual = [c.key for c in COLUMNS if c.numeric and c.priority is not None]
    left_out = {*_LEFT_OUT, *(key.removesuffix(PER_1K) for key in judged if key.endswith(PER_1K))} - set(judged)
    found = []
    for key in dict.fromkeys([*keys, *(key for key in usual if key not in left_out)]):
        counted = [v for row in rows if (v := row.get(key.removesuffix(PER_1K))) is not None]
        if counted and (key in keys or any(counted)):
            found.append(metric_column(key))
    return found


def _cell(value: Any, figure: str, heading: str) -> str:
    """A cell with its heading, which a narrow screen shows beside it; ``figure`` is a number as it is written."""
    start = f'<td data-h="{_text(heading)}"'
    if value is None:
        return f"{start}>-</td>"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        shown, mark, half = (figure or option_text(value)).partition("±")
        plus = f" <small>{mark}{half}</small>" if mark else ""
        return f'{start} class="r" data-v="{value!r}"><span>{_text(shown)}{plus}</span></td>'
    text = option_text(value)
    try:
        return f'{start} class="r" data-v="{float(text)!r}">{_text(text)}</td>'
    except ValueError:
        return f"{start}>{_text(text)}</td>"


def _about_sliders(result: Any) -> str:
    """How the sliders come to their figures, and what is missing."""
    said = (
        "On computed values the sliders show the computed row; between them straight lines between its neighbours, "
        "marked with \u2248. At its own acceptance a strategy shows its row on the machine, batch and length chosen "
        "above; at another what it wrote beyond one token a cycle goes with E - 1, E = (1 - a^(k+1)) / (1 - a) being "
        "the tokens of a cycle of independent drafts."
    )
    if not hasattr(result, "axes"):
        said += (
            " A threshold or a block size that was not run has no figure; clover-sim sweep --vary "
            "threshold=0.8:0.99:0.01 --vary block_size=8,16,32 makes a report with sliders for both."
        )
    return said


def command(result: Any, point: bool = False) -> str:
    """The command line that gives this result again, rebuilt from its settings.

    Args:
        point: leave out what is varied and judged, and the batch, so that one point can be asked for.
    """
    from shlex import quote

    rows, settings = result.rows, result.settings
    axes = list(getattr(result, "axes", ()))
    words = ["clover-sim", "sweep" if hasattr(result, "axes") else "compare"]
    question = dict(getattr(result, "question", {}))
    specs = question.get("strategies") or [
        row["strategy"]
        + (":" if row["options"] else "")
        + ",".join(f"{k}={option_text(v)}" for k, v in row["options"].items())
        for row in rows
    ]
    for spec in dict.fromkeys(specs):
        words += ["-s", spec]
    for axis in [] if point else axes:
        words += ["--vary", f"{axis.key}={','.join(map(option_text, axis.values))}"]
    recorded = settings.get("profile") == "trace"
    for source in result.inputs:
        words += ["--trace" if recorded else "--input", str(source["name"])]
    if not recorded and not any(axis.key == "tokens" for axis in axes):
        words += ["--tokens", ",".join(str(t) for t in dict.fromkeys(round(row["tokens"]) for row in rows))]
    defaults = {
        "profile": ("reference", "input", "trace"), "cost": ("roofline",), "batch_size": (1,), "prompt_tokens": (0,),
        "tensor_parallel_size": (1,), "kv_write": ("default",), "eos_stop": ("block",), "align": ("relative",),
        "precision": ("bf16",), "kv_cache_dtype": ("bf16",),
    }  # fmt: skip
    for key, value in settings.items():
        if value not in defaults.get(key, ()) and not (point and key == "batch_size"):
            words += _bare(key, str(value)) or [f"--{key.replace('_', '-')}", str(value)]
    seeds = result.seeds
    if seeds:
        words += ["--seeds", f"{seeds[0]}:{seeds[-1] + 1}" if len(seeds) > 1 else str(seeds[0])]
    for bar in () if point else getattr(result, "where", ()):
        words += ["--where", str(bar)]
    if hasattr(result, "where") and not point and not result.where and result.bound is None:
        words += ["--where", "none"]
    if hasattr(result, "axes") and not point:
        words += ["--pareto", f"{result.speed},{result.errors}", "--best", result.best_by]
    return " ".join(quote(word) for word in words)


def _bare(key: str, name: str) -> list[str]:
    """The flags of a model or a card that was given by bare figures, whose name says them; empty for any other.

    >>> _bare("model", "35b-a3b"), _bare("gpu", "1.5-tb-s"), _bare("gpu", "h200")
    (['--params-b', '35', '--active-b', '3'], ['--gpu-bandwidth-tb-s', '1.5'], [])
    """
    import re

    if key == "gpu" and (found := re.fullmatch(r"([\d.]+)-tb-s", name)):
        return ["--gpu-bandwidth-tb-s", found[1]]
    if key == "model" and (found := re.fullmatch(r"([\d.]+)b(?:-a([\d.]+)b)?", name)):
        return ["--params-b", found[1], *(["--active-b", found[2]] if found[2] else [])]
    return []


def _settings(result: Any) -> str:
    pairs = [(key, option_text(value)) for key, value in result.settings.items()]
    pairs += [(f"input {source['name']}", f"sha256 {source['sha256']}") for source in result.inputs]
    if result.seeds:
        pairs.append(("seeds", ", ".join(map(str, result.seeds[:64])) + (" ..." if len(result.seeds) > 64 else "")))
    return _page.pairs([(_text(k), _text(v)) for k, v in pairs])


def _sources(result: Any) -> str:
    """Where the constants behind the prices come from, by name."""
    from clover_sim.errors import CloverError

    try:
        machine = _pictures.machine_of(result.settings)
    except CloverError:
        return ""
    found = []
    for what, spec in (("model", machine.model), ("card", machine.hardware), ("engine", machine.engine)):
        said = "; ".join([*spec.sources, *([spec.note] if spec.note else [])])
        found.append((f"{what} {_text(spec.name)}", _text(said or "packaged data file of that name")))
    return "<h3>Sources of the constants</h3>" + _page.pairs(found)


def _meanings() -> str:
    return _page.pairs([(_text(c.key), _text(f"{c.meaning} {f'Unit: {c.unit}.' if c.unit else ''}")) for c in COLUMNS])
