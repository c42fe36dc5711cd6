"""A recorded ledger as a file (``clover-sim/ledger/1``), and its price on another machine.

JSON lines: a head with the columns; then, for each run, one object that says what was run and one array a row of the
ledger (one request's share of one step). What was counted once can so be priced anywhere without running it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, Any, NamedTuple

from clover_sim.columns import Counted, column
from clover_sim.cost import CostModel, PricedRun, price_groups
from clover_sim.errors import CloverError, InputError, shown
from clover_sim.ledger import Ledger, Totals
from clover_sim.records import Kind, PassShape
from clover_sim.request import Run

SCHEMA = "clover-sim/ledger/1"
COLUMNS = ("step", "request", "kind", "start", "tokens", "recompute_tokens", "context_tokens", "committed", "reopened")
_RUN_KEYS = (
    "stream", "tokens", "strategy", "options", "drafter", "seed", "kv_write", "forced_commits", "locked_errors",
)  # fmt: skip
_KINDS = {kind.label: kind for kind in Kind}
_MOST = 1 << 32
LONGEST_LINE = 1 << 20
"""Characters of a line; no row has a hundred."""
MOST_KEPT = 4_000_000
"""Figures kept of a file, whatever its size: some for each run and each different pass, one for each of its widths."""
_RUN_FIGURES = 40
_SHAPE_FIGURES = 8


class RecordedRun(NamedTuple):
    """One run read back: what it was, and its passes as groups of equal shape (contexts averaged)."""

    about: dict[str, Any]
    shapes: tuple[tuple[PassShape, int], ...]


def ledger_lines(runs: Iterable[tuple[dict[str, Any], Run]]) -> Iterator[str]:
    """The lines of a ledger file, for runs with a mapping that says what each was (the keys of ``_RUN_KEYS``)."""
    from clover_sim import __version__

    yield json.dumps({"schema": SCHEMA, "version": __version__, "columns": list(COLUMNS)}) + "\n"
    for about, run in runs:
        known = {key: about[key] for key in _RUN_KEYS}
        if run.ledger.padding:
            known["padding"] = {str(step): list(widths) for step, widths in run.ledger.padding.items()}
        yield json.dumps({"run": known}, allow_nan=False) + "\n"
        for row in run.ledger.rows():
            yield json.dumps(list(row.values())) + "\n"


def read_ledger(stream: IO[str], where: str) -> list[RecordedRun]:
    """Read a ledger file line by line; raises :class:`InputError` with the line number and the reason."""
    runs: list[RecordedRun] = []
    folding: _Folding | None = None
    room = MOST_KEPT
    lines = _lines(stream, where)
    head = _decode(next(lines, (1, ""))[1], where, 1)
    if not isinstance(head, dict) or head.get("schema") != SCHEMA:
        raise InputError(f'{where}:1: not a ledger file; compare --ledger writes {{"schema": "{SCHEMA}", ...}} there')
    if head.get("columns") != list(COLUMNS):
        raise InputError(f"{where}:1: columns are {shown(head.get('columns'))}; expected {list(COLUMNS)}")
    for number, line in lines:
        value = _decode(line, where, number)
        if isinstance(value, dict):
            if folding is not None:
                runs.append(folding.finish(number - 1))
                room = folding.room
            folding = _Folding(_about(value, where, number), where, room - _RUN_FIGURES - len(line) // 10)
        elif folding is None:
            raise InputError(f'{where}:{number}: a row before the first {{"run": ...}} line')
        else:
            folding.add(*_row(value, where, number), number)
    if folding is None:
        raise InputError(f"{where}: the ledger holds no run")
    return [*runs, folding.finish(number)]


class _Folding:
    """The rows of one run put together step by step, so that memory holds one step and the different passes alone."""

    def __init__(self, about: dict[str, Any], where: str, room: int) -> None:
        self.about, self.where, self.room = about, where, room
        self._padding: dict[str, list[int]] = about.get("padding") or {}
        self._groups: dict[tuple[Kind, tuple[int, ...], int], list[int]] = {}
        self._step = -1
        self._rows: list[tuple[Kind, int, int, int]] = []

    def add(self, step: int, row: tuple[Kind, int, int, int], number: int) -> None:
        """One more row, of this step or of a later one."""
        if step < self._step:
            raise InputError(
                f"{self.where}:{number}: step {step} after step {self._step}; expected the steps in their order"
            )
        if step > self._step:
            self._close(number - 1)
            self._step = step
        elif _role(self._rows[0][0]) != _role(row[0]):
            label = self._rows[0][0].label
            raise InputError(
                f"{self.where}:{number}: a {row[0].label} pass in step {step}, which is a {label} pass; expected "
                "drafts, prompts and passes of the target in steps of their own"
            )
        self._rows.append(row)
        if len(self._rows) > self.room:
            self._refuse(number)

    def _close(self, number: int) -> None:
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        kinds = [kind for kind, *_ in rows]
        kind = kinds[0] if len(rows) == 1 else max(sorted(set(kinds)), key=kinds.count)  # as Ledger.shapes has it
        widths = *(width for _, width, _, _ in rows), *self._padding.get(str(self._step), ())
        key = (kind, widths, sum(r for _, _, r, _ in rows))
        group = self._groups.get(key)
        if group is None:
            self.room -= _SHAPE_FIGURES + len(widths)
            if self.room < 0:
                self._refuse(number)
            group = self._groups[key] = [0, 0]
        group[0] += 1
        group[1] += sum(context for *_, context in rows)

    def _refuse(self, number: int) -> None:
        raise InputError(
            f"{self.where}:{number}: more runs and different passes than fit into {MOST_KEPT:,} figures; split the "
            "file by run"
        )

    def finish(self, last: int) -> RecordedRun:
        """The run, which ends with line ``last``."""
        if self.about["tokens"] and self._step < 0:
            tokens = self.about["tokens"]
            raise InputError(f"{self.where}:{last}: a run of {tokens} tokens without a row; is the file cut short?")
        self._close(last)
        if self.room < 0:
            self._refuse(last)
        return RecordedRun(
            self.about,
            tuple(
                (PassShape(kind, widths, context / count, recompute), count)
                for (kind, widths, recompute), (count, context) in self._groups.items()
            ),
        )


def _lines(stream: IO[str], where: str) -> Iterator[tuple[int, str]]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise InputError(f"{where}:{number}: a line of {LONGEST_LINE:,} characters or more; not a ledger file")
        yield number, line


def _role(kind: Kind) -> Kind | None:
    return kind if kind in (Kind.DRAFT, Kind.PREFILL) else None


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
        if not _whole(about[key]) and (key == "tokens" or about[key] is not None):  # a trace may not tell its errors
            raise InputError(f"{where}:{number}: run.{key} is {shown(about[key])}; expected a whole number")
    for key in ("stream", "strategy", "kv_write"):
        if not isinstance(about[key], str) or len(about[key]) > 1000:
            raise InputError(f"{where}:{number}: run.{key} is {shown(about[key])}; expected at most 1000 letters")
    if about["seed"] is not None and not _whole(about["seed"], 10**18):
        raise InputError(f"{where}:{number}: run.seed is {shown(about['seed'])}; expected a whole number or null")
    drafter = about["drafter"]
    model = drafter.get("model") if isinstance(drafter, dict) else drafter
    if not isinstance(drafter, dict | None) or not isinstance(model, str | None):
        raise InputError(
            f'{where}:{number}: run.drafter is {shown(drafter)}; expected null or a table such as {{"model": NAME}}'
        )
    padding = about.get("padding") or {}
    lists = padding.values() if isinstance(padding, dict) else [None]
    if not all(isinstance(widths, list) and all(map(_whole, widths)) for widths in lists):
        raise InputError(
            f"{where}:{number}: run.padding is {shown(padding)}; expected widths by step, as in "
            '{"3": [8]}'
        )
    return about


def _whole(value: Any, most: int = _MOST) -> bool:
    return type(value) is int and 0 <= value < most


def _row(value: Any, where: str, number: int) -> tuple[int, tuple[Kind, int, int, int]]:
    if not isinstance(value, list) or len(value) != len(COLUMNS):
        raise InputError(f"{where}:{number}: expected a row of {len(COLUMNS)} values, {', '.join(COLUMNS)}")
    kind = _KINDS.get(value[2]) if isinstance(value[2], str) else None
    if kind is None:
        raise InputError(f"{where}:{number}: kind is {shown(value[2])}; expected one of {', '.join(_KINDS)}")
    for name, figure in zip(COLUMNS, value, strict=True):
        if name != "kind" and not _whole(figure):
            raise InputError(f"{where}:{number}: {name} is {shown(figure)}; expected a whole number from 0")
    if not value[4] + value[5]:
        raise InputError(f"{where}:{number}: tokens and recompute_tokens are 0; a pass computes at least one token")
    return value[0], (kind, value[4], value[5], value[6])


def price_recorded(run: RecordedRun, cost: CostModel, batch_size: int = 1) -> dict[str, Any]:
    """One recorded run on another machine: the columns that follow from the ledger, quality beside speed.

    Args:
        batch_size: how many such runs go together, each pass with ``batch_size`` times its sequences.
    """
    drafter = run.about["drafter"]
    if drafter and cost.machine is not None:
        cost = replace(cost, machine=replace(cost.machine, drafter=_drafter(drafter)))  # type: ignore[type-var]
    shapes = run.shapes
    if batch_size > 1:
        n = batch_size
        widest = max((len(s.widths) for s, _ in shapes), default=1)
        if widest * n > MOST_KEPT:
            raise InputError(f"{n} runs at once with {widest} sequences each: at most {MOST_KEPT:,} sequences a pass")
        shapes = tuple(
            (PassShape(s.kind, s.widths * n, s.context_tokens * n, s.recompute_tokens * n), count)
            for s, count in shapes
        )
    price = price_groups(cost, [(s, n) for s, n in shapes if s.kind is not Kind.PREFILL])
    prefill = price_groups(cost, [(s, n) for s, n in shapes if s.kind is Kind.PREFILL])
    return {**{k: run.about[k] for k in ("stream", "tokens", "strategy", "seed", "kv_write")},
            **_figures(run, price, prefill.latency_s, batch_size), "prefill_s": prefill.latency_s}  # fmt: skip


def _drafter(drafter: dict[str, Any]) -> Any:
    from clover_sim.specs import load_model

    try:
        return load_model(drafter["model"]) if drafter.get("model") else None
    except CloverError as error:
        raise InputError(f"the ledger's drafter cannot be priced: {error}") from None


_PRICED = (
    "target_passes", "draft_passes", "locked_errors", "forced_commits", "latency_s", "latency_low_s", "latency_high_s",
    "tokens_per_s", "bound",
)  # fmt: skip
"""Columns of a comparison that a ledger tells again."""


def _figures(run: RecordedRun, price: PricedRun, prefill_s: float, batch_size: int) -> dict[str, Any]:
    """The columns of a comparison, from what was recorded."""
    about = run.about
    passes = {kind: sum(n for s, n in run.shapes if s.kind is kind) for kind in Kind}
    drafts, target = passes[Kind.DRAFT], sum(passes.values()) - passes[Kind.DRAFT] - passes[Kind.PREFILL]
    totals = Totals(
        tokens=about["tokens"], target_passes=target, draft_passes=drafts, forced_commits=about["forced_commits"],
        locked_errors=about["locked_errors"],
    )  # fmt: skip
    one = Counted(
        Run(0, totals, Ledger(), about["kv_write"], 0, None), price, prefill_s, batch_size, None, totals.tokens,
        target, target + drafts, target, price.latency_s,
    )  # fmt: skip
    return {key: column(key).of(one) for key in _PRICED}
