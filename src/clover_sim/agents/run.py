"""A task under several strategies: time, success, money, and what matters most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import fsum
from typing import Any

from clover_sim.agents.decisions import linked_fields
from clover_sim.agents.failure import CLASHES, IMPLIED_CHANCES, LOCKED_ERRORS, READINGS, Failure
from clover_sim.agents.money import Prices as Prices
from clover_sim.agents.money import money, usd_by_tokens, usd_per_success
from clover_sim.agents.money import prices_of as prices_of
from clover_sim.agents.outlook import LEAST_FINISHED, Outlook, Times, outlook, ranked, turning_point
from clover_sim.agents.reading import load_agent_workload
from clover_sim.agents.result import AgentResult
from clover_sim.agents.sensitivity import IF_LOCKED, sensitivity
from clover_sim.agents.steps import TEXTS, Steps
from clover_sim.agents.texts import clashes_of
from clover_sim.agents.workload import AgentWorkload
from clover_sim.arguments import checked
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import (
    check_memory,
    check_rules,
    check_whole,
    choose_cost,
    describe,
    make_strategy,
    several_strategies,
)
from clover_sim.rng import substream

SCHEMA = "clover-sim/agent/1"
STRATEGIES = ("ar", "speculative:parallel_draft=true", "block-diffusion", "block-diffusion:threshold=0.99")
"""The published three, and blocks with a bar at which a locked error becomes rare."""

_MOST_TRIES = 400_000
"""Of the steps of all tasks drawn under one strategy; fewer tasks are drawn where more would be needed."""


@checked
def agent(
    workload: AgentWorkload | str = "ten-turn-tools",
    strategies: Any = None,
    *,
    model: str | None = None,
    gpu: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    cost: Any = None,
    prefix_cache: bool = True,
    retries: int = 2,
    tasks: int = 1000,
    seed: int = 0,
    batch_size: int = 1,
    failure: Failure | None = None,
    prices: Prices | None = None,
    texts: tuple[str, str] = TEXTS,
    rules: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AgentResult:
    """Decode a task step by step under each strategy: time, success and money of the whole of it.

    Args:
        workload: a name (``clover-sim list tasks``), a file, or one made by hand.
        strategies: a name with options or a decoder, or several; default :data:`STRATEGIES`.
        model, gpu, engine, precision: names, for the roofline of that machine. cost: a cost model or ``Machine``.
        prefix_cache: whether a step computes only the prompt tokens that no earlier step has.
        retries: how often a spoiled step is tried again before the task is given up.
        tasks: how many tasks are drawn for medians and percentiles. batch_size: agents in step on the machine, which
            share its rent and its energy.
        failure: what spoils a step, and by which reading (assumptions). prices: default: the card's own.
        texts: profiles of calls and of thinking. rules: ``kv_write``, ``eos_stop``, ``align`` of the runs.
        progress: called with (strategies done, strategies in all).

    Returns:
        the document ``clover-sim/agent/1`` in SI units, one row a strategy; docs/how-to/agents-and-servers.md says
        what each figure assumes.

    Raises:
        InputError: a context beyond the model's window, a model that does not fit, a bad workload.
        UsageError: an unknown name, a cost beside the name of a machine, or the reading ``clashes`` asked of a text
            whose confidences do not tell.

    >>> found = agent("web-task", ["ar", "block-diffusion:threshold=0.99"], tasks=10)
    >>> [row["strategy"] for row in found.rows], found.rows[0]["step_success"]
    (['ar', 'block-diffusion'], 1.0)
    """
    load = load_agent_workload(workload) if isinstance(workload, str) else workload
    check_whole("retries", retries, 0, 1000)
    check_whole("tasks", tasks, 1, 1_000_000)
    check_whole("batch_size", batch_size, 1, 1_000_000)
    cost = choose_cost(cost, model=model, gpu=gpu, engine=engine, precision=precision)
    failure, rules = failure or Failure(), check_rules(rules)
    if rules.get("align") == "absolute":
        raise UsageError("align 'absolute': the blocks of a step start at its output; leave it out")
    longest = load.longest_context_tokens
    used = texts if any(t.thinking_tokens for t in load.turns) else texts[:1]
    clashes = clashes_of(used)
    if failure.reading == CLASHES and clashes is None:
        raise UsageError(
            f"failure reading 'clashes': the texts {', '.join(used)} do not tell what clashes; use context, or the "
            "reading locked-errors"
        )
    reading = failure.chosen if clashes is not None else LOCKED_ERRORS
    machine = cost.machine
    window = machine.model.max_context_tokens if machine is not None else None
    if window and longest > window:
        raise InputError(
            f"{load.name}: a step ends at {longest} tokens of context, but {machine.model.name} takes {window}; "
            "use fewer turns or another model"
        )
    chosen = [make_strategy(s, cost) for s in several_strategies(strategies, STRATEGIES)]
    lengths = {t.output_tokens for t in load.turns} | {t.thinking_tokens for t in load.turns} - {0}
    tasks_of: list[_Task] = []
    prices = prices or prices_of(machine)
    for number, strategy in enumerate(chosen):
        check_memory(strategy.cost, batch_size, longest)
        if progress is not None:
            progress(number, len(chosen))
        steps = Steps(strategy, failure, batch_size, texts, lengths, longest, rules)
        tasks_of.append(_Task(load, steps, prefix_cache, retries))
    notes, most = list(load.notes), _MOST_TRIES / max(one.tries(reading) for one in tasks_of)
    if tasks > most:
        notes.append(
            f"{max(1, int(most)):,} of {tasks:,} tasks are drawn, as many as {_MOST_TRIES:,} tries of steps allow: "
            "medians and percentiles rest on so few, all other figures on none of them."
        )
        tasks = max(1, int(most))
    rows = [one.row(reading, clashes is not None, tasks, seed, prices) for one in tasks_of]
    return AgentResult({
        "schema": SCHEMA,
        "workload": {
            "name": load.name, "summary": load.summary, "source": load.source, "turns": len(load.turns),
            "system_tokens": load.system_tokens, "output_tokens": load.output_tokens,
            "longest_context_tokens": longest,
            "prompt_tokens_without_cache": sum(t.context_tokens for t in load.turns),
            "prompt_tokens_with_cache": sum(t.new_tokens for t in load.turns), "notes": notes,
        },
        "settings": {
            **describe(cost), "batch_size": batch_size, "prefix_cache": prefix_cache, "retries": retries,
            "tasks": tasks, "seed": seed, "texts": list(texts),
            "failure": {f: getattr(failure, f) for f in failure.__slots__}, "reading": reading, "damage": clashes,
            "prices": {f: getattr(prices, f) for f in prices.__slots__},
        },
        "rows": rows, "ranking": _ranking(tasks_of, reading, clashes is not None),
    })  # fmt: skip


class _Task:
    """A task under one strategy."""

    def __init__(self, load: AgentWorkload, steps: Steps, cache: bool, retries: int) -> None:
        self.load, self.steps, self.cache, self.retries = load, steps, cache, retries
        again = [steps.prefill_s(0 if cache else t.context_tokens, 0) for t in load.turns]
        found = [steps.mean_decode(turn) for turn in load.turns]
        self.passes, self.errors = fsum(one.passes for one in found), fsum(one.errors for one in found)
        self.times = Times(
            [steps.turn_prefill_s(t, cache) for t in load.turns], again,
            [one.seconds for one in found], [t.tool_s for t in load.turns],
        )  # fmt: skip

    def expect(self, reading: str, failure: Failure | None = None, harm: float = 1.0) -> Outlook:
        """The expected course in a reading, with other chances or a factor on what clashes do."""
        sound = self.steps.mean_sound(self.load.turns, failure or self.steps.failure, reading, harm)
        return outlook(self.times, sound, self.retries)

    def tries(self, reading: str) -> float:
        """Tries of steps to draw for a task: those expected, and no fewer than it has steps."""
        each = [0.0] * len(self.load.turns)
        sound = self.steps.mean_sound(self.load.turns, self.steps.failure, reading)
        return max(len(each), outlook(Times(each, each, [1.0] * len(each), each), sound, self.retries).gpu_s)

    def draw(self, reading: str, tasks: int, seed: int) -> tuple[list[float], list[float]]:
        """Seconds of each first try of a step, and of each finished task; the same draws for every strategy."""
        draw, count = substream(seed, f"agent/{self.load.name}").random, self.steps.samples
        sound = self.steps.sound_by_step(self.load.turns, self.steps.failure, reading)
        step_s: list[float] = []
        task_s: list[float] = []
        for _ in range(tasks):
            total = 0.0
            for turn, chances, first, again, tool in zip(
                self.load.turns, sound, self.times.prefill, self.times.again, self.times.tool, strict=True
            ):
                for attempt in range(self.retries + 1):
                    pick = int(draw() * 1_000_003)
                    seconds = self.steps.decode_s(turn, pick) + tool + (again if attempt else first)
                    total += seconds
                    if attempt == 0:
                        step_s.append(seconds)
                    if draw() < chances[pick % count]:
                        break
                else:
                    break
            else:
                task_s.append(total)
        return step_s, task_s

    def row(self, reading: str, clashes: bool, tasks: int, seed: int, prices: Prices) -> dict[str, Any]:
        """What the document says of the strategy."""
        load, failure, now, agents = self.load, self.steps.failure, self.expect(reading), self.steps.batch_size
        sound = self.steps.mean_sound(load.turns, failure, reading)
        step_s, task_s = self.draw(reading, tasks, seed)
        kept = task_s if len(task_s) >= min(LEAST_FINISHED, tasks) else []
        prefill, decode, tool = (fsum(self.times[i]) for i in (0, 2, 3))
        found = {
            **self.steps.strategy.identity(),
            "step_s_median": _at(step_s, 0.5), "step_s_p90": _at(step_s, 0.9),
            "task_s_median": _at(kept, 0.5), "task_s_p90": _at(kept, 0.9),
            "task_s_per_success": now.s_per_success,
            "prefill_s": prefill, "decode_s": decode, "tool_s": tool, "clean_task_s": prefill + decode + tool,
            "passes": self.passes, "locked_errors": self.errors,
            "tokens_per_pass": load.output_tokens / self.passes if self.passes else None,
            "step_success": now.step_success,
            "steps_per_failure": 1 / (1 - now.step_success) if now.step_success < 1 else None,
            "task_success_without_retries": now.without_retries, "task_success": now.task_success,
            "attempts_per_step": now.attempts_per_step,
            **money(now, prices, agents, usd_by_tokens(load, prices, sound, self.retries, self.cache)),
            "usd_per_success": usd_per_success(now, prices, agents),
        }  # fmt: skip
        for name in READINGS:
            one = self.expect(name) if clashes or name != CLASHES else None
            by = "_by_" + name.replace("-", "_")
            found |= {
                "step_success" + by: one and one.step_success, "task_success" + by: one and one.task_success,
                "task_s_per_success" + by: one and one.s_per_success,
                "usd_per_success" + by: one and usd_per_success(one, prices, agents),
            }
        most = IMPLIED_CHANCES[1]
        implied = replace(failure, structural=most, value=most, other=most, thinking=most)
        found["step_success_by_implied_chances"] = self.expect(LOCKED_ERRORS, implied).step_success
        found["withheld"] = _withheld(found, len(task_s), tasks)
        found["sensitivity"] = sensitivity(
            len(load.turns), prefill, decode, tool, now.step_success, self.retries, self._chances(reading)
        )
        fewer, usual = (self.expect(LOCKED_ERRORS, failure.scaled(by)) for by in (0.9, 1.0))
        if fewer.task_success and usual.task_success:
            found["sensitivity"][IF_LOCKED] = 1 - fewer.task_s / fewer.task_success * usual.task_success / usual.task_s
        found["samples_per_length"] = self.steps.samples
        if load.decisions is not None:
            found["decisions"] = linked_fields(load, self.steps, self.cache)
        return found

    def _chances(self, reading: str) -> dict[str, float]:
        """Success of a step with a tenth less of each failure chance."""
        if reading == CLASHES:
            return {"harm of clashes": self.expect(reading, harm=0.9).step_success}
        return {
            f"failure chance {name}": self.expect(reading, self.steps.failure.scaled(0.9, name)).step_success
            for name in ("structural", "value", "other", "thinking")
        }


def _ranking(tasks: list[_Task], reading: str, clashes: bool) -> dict[str, Any]:
    """Who is first by each reading, as numbers of rows, and at which share of the failure chances that turns."""

    def seconds(name: str, share: float = 1.0) -> list[float | None]:
        return [one.expect(name, one.steps.failure.scaled(share)).s_per_success for one in tasks]

    locked = ranked(seconds(LOCKED_ERRORS))
    sure = ranked(seconds(CLASHES)) if clashes else None
    first = locked[0] if sure is None else sure[0]
    turns = turning_point(first, lambda share: seconds(LOCKED_ERRORS, share)) if sure is not None else None
    at = None if turns is None else tasks[first].expect(LOCKED_ERRORS, tasks[first].steps.failure.scaled(turns))
    return {
        "order": sure if reading == CLASHES else locked, "order_by_clashes": sure, "order_by_locked_errors": locked,
        "differs": sure is not None and sure != locked, "turns_at_share_of_chances": turns,
        "turns_at_step_success": at and at.step_success,
    }  # fmt: skip


def _withheld(row: dict[str, Any], finished: int, tasks: int) -> str | None:
    """Why times and dollars of a finished task are not told, ``None`` where all are."""
    said = []
    if row["task_s_median"] is None:
        said.append(f"task_s_median and task_s_p90: {finished} of {tasks:,} tasks drawn were finished")
    for end in ("", "_by_clashes", "_by_locked_errors"):
        share = row["task_success" + end]
        if share is not None and row["task_s_per_success" + end] is None:
            said.append(
                f"task_s_per_success{end} and usd_per_success{end}: {100 * share:.2g} % of tasks are finished, fewer "
                f"than {LEAST_FINISHED} of 1,000"
            )
    return "; ".join(said) or None


def _at(values: list[float], share: float) -> float | None:
    """The value that a share of all do not exceed; ``None`` of none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
