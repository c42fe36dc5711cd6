"""A task under several strategies: time, success, money, and what matters most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum
from typing import Any

from clover_sim.agents.reading import load_agent_workload
from clover_sim.agents.result import AgentResult
from clover_sim.agents.sensitivity import sensitivity
from clover_sim.agents.steps import TEXTS, Failure, Steps
from clover_sim.agents.workload import AgentWorkload, Turn
from clover_sim.arguments import checked, settle
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import (
    Strategy,
    check_memory,
    check_rules,
    check_whole,
    choose_cost,
    describe,
    make_strategy,
    several_strategies,
)
from clover_sim.rng import substream
from clover_sim.stats import mean

SCHEMA = "clover-sim/agent/1"
STRATEGIES = ("ar", "speculative:parallel_draft=true", "block-diffusion", "block-diffusion:threshold=0.99")
"""The published three, and blocks with a bar at which a locked error becomes rare."""

_MOST_TASK_STEPS = 400_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What time and tokens cost.

    Args:
        usd_per_hour: rent of one card, ``None`` if unknown. cards: of them. tdp_w: board power of one card, W.
        input_usd, output_usd: a price list, USD a million tokens, beside the rent.
        source, tokens_source: whose prices these are, and of when.

    >>> Prices(usd_per_hour=2.5, cards=4).cards
    4
    """

    usd_per_hour: float | None = None
    cards: int = 1
    tdp_w: float | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    source: str = ""
    tokens_source: str = ""

    def __post_init__(self) -> None:
        settle(self)
        for name in ("usd_per_hour", "tdp_w", "input_usd", "output_usd"):
            if (getattr(self, name) or 0) < 0:
                raise UsageError(f"prices: {name} {getattr(self, name)!r}: expected at least 0")
        check_whole("cards", self.cards, 1, 1_000_000)


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
        tasks: how many tasks are drawn for medians and percentiles. batch_size: agents in step on the machine.
        failure: what a locked error does to a step (assumptions). prices: default: the card's own.
        texts: profiles of calls and of thinking. rules: ``kv_write``, ``eos_stop``, ``align`` of the runs.
        progress: called with (strategies done, strategies in all).

    Returns:
        the document ``clover-sim/agent/1`` in SI units, one row a strategy; docs/how-to/agents-and-servers.md says
        what each figure assumes.

    Raises:
        InputError: a context beyond the model's window, a model that does not fit, a bad workload.
        UsageError: an unknown name, or a cost beside the name of a machine.

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
    longest = load.longest_context_tokens
    machine = cost.machine
    window = machine.model.max_context_tokens if machine is not None else None
    if window and longest > window:
        raise InputError(
            f"{load.name}: a step ends at {longest} tokens of context, but {machine.model.name} takes {window}; "
            "use fewer turns or another model"
        )
    chosen = [make_strategy(s, cost) for s in several_strategies(strategies, STRATEGIES)]
    lengths = {t.output_tokens for t in load.turns} | {t.thinking_tokens for t in load.turns} - {0}
    tasks = max(1, min(tasks, _MOST_TASK_STEPS // len(load.turns)))
    rows = []
    prices = prices or prices_of(machine)
    for number, strategy in enumerate(chosen):
        check_memory(strategy.cost, batch_size, longest)
        if progress is not None:
            progress(number, len(chosen))
        steps = Steps(strategy, failure, batch_size, texts, lengths, longest, rules)
        row = _row(load, strategy, steps, prefix_cache, retries, tasks, seed, prices)
        if load.decisions is not None:
            row["decisions"] = _decisions(load, steps, prefix_cache)
        rows.append(row)
    return AgentResult({
        "schema": SCHEMA,
        "workload": {
            "name": load.name, "summary": load.summary, "source": load.source, "turns": len(load.turns),
            "system_tokens": load.system_tokens, "output_tokens": load.output_tokens,
            "longest_context_tokens": longest,
            "prompt_tokens_without_cache": sum(t.context_tokens for t in load.turns),
            "prompt_tokens_with_cache": sum(t.new_tokens for t in load.turns), "notes": list(load.notes),
        },
        "settings": {
            **describe(cost), "batch_size": batch_size, "prefix_cache": prefix_cache, "retries": retries,
            "tasks": tasks, "seed": seed, "texts": list(texts),
            "failure": {f: getattr(failure, f) for f in failure.__slots__},
            "prices": {f: getattr(prices, f) for f in prices.__slots__},
        },
        "rows": rows,
    })  # fmt: skip


def prices_of(machine: Any) -> Prices:
    """What the cards of a machine cost by their own data, with whose price that is; unknown without a machine."""
    if machine is None:
        return Prices()
    hardware, mark = machine.hardware, "price: "
    said = next((line.removeprefix(mark) for line in hardware.sources if line.startswith(mark)), "")
    return Prices(hardware.price_usd_per_hour, machine.tensor_parallel_size, hardware.tdp_w, source=said)


def _row(
    load: AgentWorkload, strategy: Strategy, steps: Steps, cache: bool, retries: int, tasks: int, seed: int,
    prices: Prices,
) -> dict[str, Any]:  # fmt: skip
    prefills = [_prefill(steps, t, cache) for t in load.turns]
    again = [steps.prefill_s(0 if cache else t.context_tokens, 0) for t in load.turns]
    tools = [t.tool_s for t in load.turns]
    draw = substream(seed, f"agent/{load.name}").random  # the same draws for every strategy
    step_s: list[float] = []
    task_s: list[float] = []
    all_s = gpu_s = 0.0
    finished = attempts = failures = 0
    for _ in range(tasks):
        total = gpu = 0.0
        done = True
        for i, turn in enumerate(load.turns):
            for attempt in range(retries + 1):
                seconds, sound, _, _ = steps.decode(turn, int(draw() * 1_000_003))
                first = prefills[i] if attempt == 0 else again[i]
                attempts += 1
                gpu += first + seconds
                total += first + seconds + tools[i]
                if attempt == 0:
                    step_s.append(first + seconds + tools[i])
                if draw() < sound:
                    break
                failures += 1
            else:
                done = False
                break
        all_s += total
        gpu_s += gpu
        if done:
            finished += 1
            task_s.append(total)
    p = 1.0 - failures / attempts
    expected = _expected(load, steps)
    return {
        **strategy.identity(),
        "step_s_median": _at(step_s, 0.5), "step_s_p90": _at(step_s, 0.9),
        "task_s_median": _at(task_s, 0.5), "task_s_p90": _at(task_s, 0.9),
        "task_s_per_success": all_s / finished if finished else None,
        "prefill_s": fsum(prefills), "decode_s": expected["decode_s"], "tool_s": fsum(tools),
        "clean_task_s": fsum(prefills) + expected["decode_s"] + fsum(tools),
        "passes": expected["passes"], "locked_errors": expected["errors"],
        "tokens_per_pass": load.output_tokens / expected["passes"] if expected["passes"] else None,
        "step_success": p, "steps_per_failure": 1 / (1 - p) if p < 1 else None,
        "task_success_without_retries": expected["all"], "task_success": finished / tasks,
        "attempts_per_step": attempts / max(1, len(step_s)),
        **_money(load, prices, gpu_s / tasks, all_s / tasks, attempts / max(1, len(step_s)), finished / tasks, cache),
        "sensitivity": sensitivity(len(load.turns), fsum(prefills), expected["decode_s"], fsum(tools), p, retries),
        "samples_per_length": steps.samples,
    }  # fmt: skip


def _prefill(steps: Steps, turn: Turn, cache: bool) -> float:
    if not cache:
        return steps.prefill_s(turn.context_tokens, 0)
    return steps.prefill_s(turn.new_tokens, turn.context_tokens - turn.new_tokens)


def _expected(load: AgentWorkload, steps: Steps) -> dict[str, float]:
    """Means over all samples of each step, without retries."""
    seconds = passes = errors = 0.0
    everything = 1.0
    for turn in load.turns:
        found = [steps.decode(turn, pick) for pick in range(steps.samples)]
        seconds += mean([f[0] for f in found])
        everything *= mean([f[1] for f in found])
        passes += mean([f[2] for f in found])
        errors += mean([f[3] for f in found])
    return {"decode_s": seconds, "all": everything, "passes": passes, "errors": errors}


def _money(
    load: AgentWorkload, prices: Prices, gpu_s: float, task_s: float, attempts: float, success: float, cache: bool
) -> dict[str, float | None]:
    """Dollars and joules of a task; rent for the time the card computes, and for all its time."""
    rent = prices.usd_per_hour
    rate = None if rent is None else rent * prices.cards / 3600
    found: dict[str, float | None] = {
        "gpu_s": gpu_s,
        "usd_per_task": None if rate is None else rate * gpu_s,
        "usd_per_task_card_kept": None if rate is None else rate * task_s,
        "usd_per_success": None if rate is None or not success else rate * gpu_s / success,
        "energy_upper_bound_j": None if prices.tdp_w is None else prices.tdp_w * prices.cards * gpu_s,
        "usd_per_task_by_tokens": None,
    }
    if prices.input_usd is not None and prices.output_usd is not None:
        prompt = sum(t.new_tokens if cache else t.context_tokens for t in load.turns)
        usd = prompt * prices.input_usd + load.output_tokens * prices.output_usd
        found["usd_per_task_by_tokens"] = usd * attempts / 1e6
    return found


def _decisions(load: AgentWorkload, steps: Steps, cache: bool) -> dict[str, Any]:
    """All fields in one block against one request a field."""
    from clover_sim.agents.decisions import Decisions

    linked = load.decisions
    assert linked is not None
    found: dict[str, Any] = {}
    prompt = load.system_tokens + linked.fields * linked.question_tokens
    joint = Turn(prompt, prompt, 0, linked.fields * linked.field_tokens)
    first = load.system_tokens + linked.question_tokens
    single = Turn(first, first, 0, linked.field_tokens)
    for name, turn, requests, correlation in (
        ("jointly", joint, 1, linked.correlation), ("one_by_one", single, linked.fields, 0.0),
    ):  # fmt: skip
        decode = mean([steps.decode(turn, pick)[0] for pick in range(steps.samples)])
        prefill = _prefill(steps, turn, cache)
        later = steps.prefill_s(linked.question_tokens, load.system_tokens) if cache else prefill
        found[name] = {
            "prefill_s": prefill + later * (requests - 1), "decode_s": decode * requests,
            "seconds": prefill + later * (requests - 1) + decode * requests,
            "group_success": Decisions(linked.fields, linked.field_success, correlation).group_success,
        }  # fmt: skip
    return found


def _at(values: list[float], share: float) -> float | None:
    """The value that a share of all do not exceed; ``None`` of none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
