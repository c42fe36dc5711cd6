"""``sweep``: plan the cells, run what is not yet done, judge the whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from clover_sim.arguments import checked, fitted
from clover_sim.cost.window import beyond_window
from clover_sim.errors import UsageError
from clover_sim.notes import LENGTHS, length_notes
from clover_sim.prepare import (
    RUN_PASSES,
    WORK_LIMIT_PASSES,
    check_work,
    choose_cost,
    describe,
    listed,
    several_strategies,
)
from clover_sim.registry import build_strategy
from clover_sim.sources import DEFAULT_TOKENS, Sources
from clover_sim.sweeping import _judge as judge
from clover_sim.sweeping._assembly import Asked, assemble, figures_of
from clover_sim.sweeping._axes import RUN_KEYS, Axis, option_names, resolve, usual
from clover_sim.sweeping._journal import Journal
from clover_sim.sweeping._plan import Cell, MachineAsk, chunks, fingerprint, is_fixed, make_cells, run_settings
from clover_sim.sweeping._pool import execute
from clover_sim.sweeping._result import Sweep
from clover_sim.sweeping._work import cost_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

USUAL_SEEDS, USUAL_PROFILE = 4, "context"
"""Of the question that is asked where nobody says what to vary, unless they are given: one seed would take luck for an
answer, a stream with one lift for all would flatter large blocks."""

DEFAULT_LENGTH = DEFAULT_TOKENS[2]
"""Tokens of a synthetic stream where no length is asked for."""


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep; ``partial`` is the :class:`Sweep` of the cells that had finished."""

    def __init__(self, partial: Sweep) -> None:
        self.partial = partial
        super().__init__(f"{len(partial.rows)} of {partial.cells} cells had finished")


@checked
def sweep(
    strategies: Any = None,
    *,
    vary: Mapping[str, Any] | Sequence[str] | str | None = None,
    tokens: int | Sequence[int] | None = None,
    profile: str | None = None,
    inputs: str | Sequence[str] = (),
    tokenizer: str = "qwen",
    seeds: int | Sequence[int] | None = None,
    cost: Any = None,
    machine: Mapping[str, Any] | None = None,
    where: str | Sequence[str] | None = None,
    best: str | None = None,
    speed: str | None = None,
    errors: str = "locked_errors_per_1k",
    jobs: int | None = None,
    executor: Executor | None = None,
    resume: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    allow_long: bool = False,
    **run: Any,
) -> Sweep:
    """Compare strategies under every combination of the varied settings.

    Args:
        strategies: names with options; default ``block-diffusion``. They are texts, so that any process can build them.
        vary: ``{"threshold": "0.8:0.95:0.05", "block_size": [8, 32]}`` or texts such as ``"threshold=0.8,0.9"``; any
            option of the strategies or the stream, of the run (``tokens``, ``batch_size``, ``kv_write``, ...) or of the
            machine (``model``, ``gpu``, ``precision``, ``tensor_parallel_size``, ...). Default, unless several lengths
            or inputs are given: the usual thresholds, block sizes or draft lengths, of what the strategies leave open,
            on :data:`USUAL_PROFILE` over :data:`USUAL_SEEDS` seeds.
        tokens: length of the text, >= 1, or several; default: 512, or the whole of each input.
        profile, inputs, tokenizer, seeds: as in :func:`clover_sim.comparison.compare`; all cells meet the same seeds.
        cost: a cost model or a ``Machine``; or ``machine``: its parts by name, as in ``{"gpu": "b200"}``.
        where: conditions for ``best`` and the Pareto front, such as ``"locked_errors_per_1k<=1"``; ``"none"`` or ``()``
            for none. Default: for ``best`` alone at most 10 locked errors in 1000 tokens.
        best: the figure that decides; default: ``speed``.
        speed, errors: the figures of the Pareto front. Default for ``speed``: ``best``, else ``tokens_per_s`` where the
            machine or the batch varies, else the speed that ``where`` names, else ``speedup_time``.
        jobs: processes; default: as many as the work pays for. executor: any ``concurrent.futures.Executor`` instead.
        resume: a file to which every finished cell is appended; what is there already is not run again.
        progress: called with (cells done, cells in all).
        allow_long: permit more than 10^8 passes.
        run: ``batch_size``, ``prompt_tokens``, ``max_new_tokens``, ``kv_write``, ``eos_stop``, ``align``.

    Raises:
        UsageError: an unknown key, an empty range, too many cells. InputError: a file that cannot be used.
        SweepInterrupted: Ctrl-C; it carries what had finished.

    >>> found = sweep("block-diffusion", vary={"threshold": [0.8, 0.95]}, tokens=64)
    >>> len(found.rows), found.rows[0]["varied"]
    (2, {'threshold': '0.8'})
    """
    specs = several_strategies(strategies, ("block-diffusion",))
    for spec in specs:
        if not isinstance(spec, str):
            raise UsageError(f"strategy {spec!r}: a sweep takes texts; name a class of yours as module:Class")
    inputs = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    cost = None if cost is None else choose_cost(cost)
    if "-" in inputs:
        raise UsageError("input -: standard input can be read once only; a sweep needs a file")
    lengths = [tokens] if isinstance(tokens, int) else None if tokens is None else listed("tokens", tokens)
    said: list[str] = []
    if vary is None and len(lengths or ()) < 2 and len(inputs) < 2:
        vary = _usual_question(specs, said)
        seeds = range(USUAL_SEEDS) if seeds is None else seeds
        profile = USUAL_PROFILE if profile is None and not inputs else profile
    given = {*RUN_KEYS} & {*run, *(() if profile is None else ("profile",))}
    vary, seed_list, profile = vary or (), _seeds(seeds), profile or "reference"
    axes = resolve(vary, specs, profile, bool(inputs))
    names = [axis.key for axis in axes]
    for key in names:
        if key in given:
            raise UsageError(f"vary {key}: {key} is given too; give it in one place")
    said += _default_lengths(specs, names)
    bars, bound = judge.conditions(where, names)
    if lengths is not None and "tokens" in names:
        raise UsageError("vary tokens: tokens are given too; give them in one place")
    sizes = next((list(axis.values) for axis in axes if axis.key == "tokens"), lengths)
    sources = Sources(profile, inputs, tokenizer, sizes or (None if inputs else [DEFAULT_LENGTH]), allow_long)
    speed, errors, best = figures_of(axes, speed, errors, best, bars)
    cost_of.cache_clear()  # a file that names a machine may have changed since the last sweep of this process
    base = {"profile": profile, **run_settings(run, [n for n in signature(sweep).parameters if n != "run"])}
    asked = _machine(machine, cost, axes)
    runs = len(seed_list) or 1
    most = WORK_LIMIT_PASSES // RUN_PASSES * (100 if allow_long else 1)
    cells = make_cells(specs, axes, base, asked, lengths or [None if inputs else DEFAULT_LENGTH], inputs, most)
    longest = max(sources.lengths)
    check_work(sum((dict(c.run)["tokens"] or longest) + RUN_PASSES for c in cells) * runs, allow_long)
    _check_cells(cells, cost)
    said += beyond_window(
        ((cost or cost_of(c.machine)).machine, max(run["tokens"] or longest, run["max_new_tokens"] or 0)
         + run["prompt_tokens"]) for c in cells for run in [dict(c.run)]
    )
    common: dict[str, Any] = {"tokenizer": tokenizer, "seeds": seed_list or None, "allow_long": True}
    if cost is not None:
        common["cost"] = cost
    inputs_read = tuple(MappingProxyType(i) for i in sources.described)
    settings = {
        **describe(_described(cost, asked)), **{k: v for k, v in base.items() if k not in names},
        "kv_write": base["kv_write"] or "default",
    }  # fmt: skip
    if {"params_b", "active_b"} & set(names):  # there is no one model then
        settings |= {"model": None, "params_b": asked.params_b, "active_b": asked.active_b}
    if "gpu_bandwidth_tb_s" in names:
        settings["gpu"] = None
    settings = {key: value for key, value in settings.items() if key not in names and value is not None}
    if inputs:
        settings["profile"] = "input"

    records: dict[int, Any] = {}  # read as they come, while the processes work on: afterwards nothing runs beside it

    def model_of(index: int) -> Any:
        priced = (cost if cost is not None else cost_of(cells[index].machine)).machine
        return priced and priced.model

    def result() -> Sweep:
        return assemble(records, Asked(
            len(cells), axes, speed, errors, best, bars, bound, settings, inputs_read, seed_list,
            {"strategies": tuple(specs), "tokens": lengths}, said, model_of,
        ))  # fmt: skip

    journal = Journal(resume, fingerprint(cells, common, sources.described), len(cells)) if resume else None
    with journal or nullcontext():
        if journal is not None:
            records.update((index, json.loads(line)) for index, line in journal.lines.items())

        def finished(new: list[str]) -> None:
            if journal is not None:
                journal.add(new)
            for line in new:
                record = json.loads(line)
                records[record["cell"]] = record
            if progress is not None:
                progress(len(records), len(cells))

        work = list(chunks(cells, frozenset(records), common, runs, longest))
        try:
            execute(work, jobs, executor, finished)
        except KeyboardInterrupt:
            raise SweepInterrupted(result()) from None
    return result()


def _usual_question(specs: Sequence[str], said: list[str]) -> list[str]:
    """What is varied when nobody says what, and a sentence about it."""
    found = usual(specs)
    if not found:
        known = ", ".join(dict.fromkeys(name for spec in specs for name in option_names(spec)))
        raise UsageError(
            "nothing is varied: say what, as in --vary batch_size=1,8,64 or --vary gpu=h100,h200"
            + (f", or an option of {', '.join(specs)}: {known}" if known else f"; {', '.join(specs)} has no option")
        )
    said.append(
        f"Nothing was said to vary, so the usual question is asked: {', '.join(found)}; --vary, --profile, --seeds and "
        "--where ask another."
    )
    return found


def _default_lengths(specs: Sequence[str], varied: Sequence[str]) -> list[str]:
    """A sentence about the strategies that draft as much as they do by default."""
    if LENGTHS & {*varied}:
        return []
    made = [(spec, *build_strategy(spec)) for spec in specs]
    return length_notes((name, spec, getattr(decoder, "num_speculative_tokens", None)) for spec, name, decoder in made)


def _seeds(seeds: int | Sequence[int] | None) -> tuple[int, ...]:
    found = () if seeds is None else (seeds,) if isinstance(seeds, int) else tuple(listed("seeds", seeds))
    if seeds is not None and not found:
        raise UsageError("seeds: the range is empty; give one such as 0:32")
    for seed in found:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seeds: {seed!r} is not a whole number of at least 0")
    return found


def _machine(machine: Mapping[str, Any] | None, cost: Any, axes: Sequence[Axis]) -> MachineAsk:
    fields, varied = MachineAsk._fields, [axis.key for axis in axes]
    if cost is not None and (machine or set(fields) & set(varied)):
        raise UsageError("cost is a machine already made; to vary its parts name them: machine={'gpu': 'h200'}")
    for key in machine or {}:
        if key not in fields:
            from clover_sim.errors import suggest

            raise UsageError(f"machine: unknown part {key!r}{suggest(key, fields)}")
        if key in varied:
            raise UsageError(f"vary {key}: {key} is given too; give it in one place")
    costs = next((axis.values for axis in axes if axis.key == "cost"), ((machine or {}).get("cost"),))
    unused = [f"vary {key}" for key in varied if key in fields and key != "cost"]
    unused += [key for key, value in (machine or {}).items() if key != "cost" and value is not None]
    if unused and all(map(is_fixed, costs)):
        raise UsageError(f"{', '.join(unused)}: a fixed cost is the time of a pass on any machine; leave it out")
    kinds = MachineAsk.__annotations__
    return MachineAsk(**{key: fitted("machine", key, value, kinds[key]) for key, value in (machine or {}).items()})


def _described(cost: Any, asked: MachineAsk) -> Any:
    if cost is None:
        return cost_of(asked if asked.active_b is None or asked.params_b is not None else MachineAsk())
    return cost


def _check_cells(cells: Sequence[Cell], cost: Any) -> None:
    """Every strategy, stream and machine is made once before the work begins, so that a slip is found at once."""
    from clover_sim.streams.profiles import profile_settings

    for spec in dict.fromkeys(cell.spec for cell in cells):
        build_strategy(spec)
    for run in dict.fromkeys(cell.run for cell in cells):
        given = dict(run)
        profile = given["profile"]
        reference = profile.partition(":")[0] == "reference"
        profile_settings(profile.replace("reference", "tool-call", 1) if "inputs" in given and reference else profile)
    if cost is None:
        for machine in dict.fromkeys(cell.machine for cell in cells):
            cost_of(machine)
