"""A recorded ledger as a file (``clover-sim/ledger/1``), and its price on another machine.

JSON lines: a head with the columns; then, for each run, one object that says what was run and one array a row of the
ledger (one request's share of one step). What was counted once can so be priced anywhere without running it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, Any, NamedTuple

from clover_sim.cost import CostModel, PricedRun, price_groups
from clover_sim.errors import InputError
from clover_sim.records import Kind, PassShape
from clover_sim.request import Run

SCHEMA = "clover-sim/ledger/1"
COLUMNS = ("step", "request", "kind", "start", "tokens", "recompute_tokens", "context_tokens", "committed", "reopened")
_RUN_KEYS = (
    "stream", "tokens", "strategy", "options", "drafter", "seed", "kv_write", "forced_commits", "locked_errors",
)  # fmt: skip
_KINDS = {kind.label: kind for kind in Kind}
_MOST = 1 << 32


class RecordedRun(NamedTuple):
    """One run read back: what it was, and its passes as groups of equal shape (contexts averaged)."""

    about: dict[str, Any]
    shapes: tuple[tuple[PassShape, int], ...]


def ledger_lines(runs: Iterable[tuple[dict[str, Any], Run]]) -> Iterator[str]:
    """The lines of a ledger file, for runs with a mapping that says what each was (the keys of ``_RUN_KEYS``)."""
    from clover_sim import __version__

    yield json.dumps({"schema": SCHEMA, "version": __version__, "columns": list(COLUMNS)}) + "\n"
    for about, run in runs:
        yield json.dumps({"run": {key: about[key] for key in _RUN_KEYS}}, allow_nan=False) + "\n"
        for row in run.ledger.rows():
            yield json.dumps(list(row.values())) + "\n"


def read_ledger(stream: IO[str], where: str) -> list[RecordedRun]:
    """Read a ledger file line by line; raises :class:`InputError` with the line number and the reason."""
    runs: list[RecordedRun] = []
    about: dict[str, Any] | None = None
    steps: dict[int, list[tuple[Kind, int, int, int]]] = {}
    lines = enumerate(stream, 1)
    head = _decode(next(lines, (1, ""))[1], where, 1)
    if not isinstance(head, dict) or head.get("schema") != SCHEMA:
        raise InputError(f'{where}:1: not a ledger file; compare --ledger writes {{"schema": "{SCHEMA}", ...}} there')
    if head.get("columns") != list(COLUMNS):
        raise InputError(f"{where}:1: columns are {head.get('columns')}; expected {list(COLUMNS)}")
    for number, line in lines:
        value = _decode(line, where, number)
        if isinstance(value, dict):
            if about is not None:
                runs.append(RecordedRun(about, _grouped(steps)))
            about, steps = _about(value, where, number), {}
        elif about is None:
            raise InputError(f'{where}:{number}: a row before the first {{"run": ...}} line')
        else:
            step, row = _row(value, where, number)
            steps.setdefault(step, []).append(row)
    if about is None:
        raise InputError(f"{where}: the ledger holds no run")
    return [*runs, RecordedRun(about, _grouped(steps))]


def read_ledger_file(path: str) -> list[RecordedRun]:
    """Read a ledger file by its path."""
    try:
        with open(path, encoding="utf-8") as stream:
            return read_ledger(stream, path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a ledger file, since it is not UTF-8 text") from None


def _decode(line: str, where: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}:{number}: not a line of JSON; is the file cut short?") from None


def _about(value: dict[str, Any], where: str, number: int) -> dict[str, Any]:
    about = value.get("run")
    missing = [key for key in _RUN_KEYS if not isinstance(about, dict) or key not in about]
    if missing:
        raise InputError(f"{where}:{number}: run lacks {', '.join(missing)}")
    assert isinstance(about, dict)
    for key in ("tokens", "forced_commits", "locked_errors"):
        if type(about[key]) is not int or not 0 <= about[key] < _MOST:
            raise InputError(f"{where}:{number}: run.{key} is {about[key]!r:.40}; expected a whole number")
    return about


def _row(value: Any, where: str, number: int) -> tuple[int, tuple[Kind, int, int, int]]:
    if not isinstance(value, list) or len(value) != len(COLUMNS):
        raise InputError(f"{where}:{number}: expected a row of {len(COLUMNS)} values, {', '.join(COLUMNS)}")
    kind = _KINDS.get(value[2]) if isinstance(value[2], str) else None
    if kind is None:
        raise InputError(f"{where}:{number}: kind is {value[2]!r:.40}; expected one of {', '.join(_KINDS)}")
    for name, figure in zip(COLUMNS, value, strict=True):
        if name != "kind" and (type(figure) is not int or not 0 <= figure < _MOST):
            raise InputError(f"{where}:{number}: {name} is {figure!r:.40}; expected a whole number from 0")
    return value[0], (kind, value[4], value[5], value[6])


def _grouped(steps: dict[int, list[tuple[Kind, int, int, int]]]) -> tuple[tuple[PassShape, int], ...]:
    groups: dict[tuple[Kind, tuple[int, ...], int], list[int]] = {}
    for rows in steps.values():
        key = (rows[0][0], tuple(width for _, width, _, _ in rows), sum(r for _, _, r, _ in rows))
        group = groups.setdefault(key, [0, 0])
        group[0] += 1
        group[1] += sum(context for *_, context in rows)
    return tuple(
        (PassShape(kind, widths, context / count, recompute), count)
        for (kind, widths, recompute), (count, context) in groups.items()
    )


def price_recorded(run: RecordedRun, cost: CostModel) -> dict[str, Any]:
    """One recorded run on another machine: the columns that follow from the ledger, quality beside speed."""
    drafter = run.about["drafter"]
    if drafter and cost.machine is not None:
        from clover_sim.specs import load_model

        model = load_model(drafter["model"]) if drafter.get("model") else None
        cost = replace(cost, machine=replace(cost.machine, drafter=model))  # type: ignore[type-var]
    price = price_groups(cost, [(s, n) for s, n in run.shapes if s.kind is not Kind.PREFILL])
    prefill = price_groups(cost, [(s, n) for s, n in run.shapes if s.kind is Kind.PREFILL])
    return {**{k: run.about[k] for k in ("stream", "tokens", "strategy", "seed", "kv_write")}, **_figures(run, price),
            "prefill_s": prefill.latency_s}  # fmt: skip


def _figures(run: RecordedRun, price: PricedRun) -> dict[str, Any]:
    drafts = sum(n for s, n in run.shapes if s.kind is Kind.DRAFT)
    prefills = sum(n for s, n in run.shapes if s.kind is Kind.PREFILL)
    seconds = price.latency_s
    return {
        "target_passes": sum(n for _, n in run.shapes) - drafts - prefills, "draft_passes": drafts,
        "locked_errors": run.about["locked_errors"], "forced_commits": run.about["forced_commits"],
        "latency_s": seconds, "latency_low_s": price.low_s, "latency_high_s": price.high_s,
        "tokens_per_s": run.about["tokens"] / seconds if seconds else None, "bound": price.bound,
    }  # fmt: skip
