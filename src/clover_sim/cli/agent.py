"""``clover-sim agent``: a whole task, step by step: time, success, money."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import Any

from clover_sim.cli import _export, _flags
from clover_sim.cli._console import Console
from clover_sim.cli._numbers import number, positive, whole
from clover_sim.cli._parser import choice, common_flags, typed
from clover_sim.errors import UsageError
from clover_sim.report import _flat

SUMMARY = "Price a whole agent task: steps, retries, success, dollars."
EXAMPLES = """\
examples:
  clover-sim agent
  clover-sim agent coding-agent --no-prefix-cache
  clover-sim agent transcript.jsonl --gpu b200 --precision fp8 -s ar -s block-diffusion:threshold=0.99
  clover-sim agent my-task.toml --retries 1 --format json
"""

DEFAULT = "ten-turn-tools"


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    parser.usage = "clover-sim agent [WORKLOAD] [OPTIONS]"
    parser.add_argument("workload", metavar="WORKLOAD", nargs="?", default=DEFAULT,
                        help="a preset (ten-turn-tools, web-task, coding-agent, long-50, joint-decisions), a TOML or "
                        "JSON file, a transcript, or a log of request sizes")  # fmt: skip
    add = parser.add_argument_group("task").add_argument
    add("--no-prefix-cache", action="store_true", help="compute the whole prompt again in every step")
    add("--retries", metavar="N", type=typed(lambda t: whole(t, 0)), default=2,
        help="tries after a spoiled step (default 2)")  # fmt: skip
    add("--tasks", metavar="N", type=typed(whole), default=1000, help="tasks drawn for percentiles (default 1000)")
    add("--seed", metavar="N", type=typed(lambda t: whole(t, 0)), default=0, help="seed of these draws (default 0)")
    add("--tool-seconds", metavar="S", type=typed(_at_least_0),
        help="time of each tool call of a transcript (default 0)")  # fmt: skip
    add("--text", metavar="PROFILE", help="text of calls and answers (default the workload tool-call)")
    add("--thinking-text", metavar="PROFILE", help="text of thinking (default the workload thinking)")
    add("--tokenizer", metavar="NAME", type=choice("qwen", "o200k"),
        help="how a transcript is split: qwen (default) or o200k")  # fmt: skip
    add = parser.add_argument_group("failures").add_argument
    add("--failure-reading", metavar="NAME", type=choice("clashes", "locked-errors"),
        help="what spoils a step: clashes (default: of tokens settled together, as often as published accuracy on "
        "GSM8K says) or locked-errors (each with a chance below; the default where one of them is given)")  # fmt: skip
    add("--structural-failure", metavar="P", type=typed(_share),
        help="chance that a locked error in structure spoils a step (default 1)")  # fmt: skip
    add("--value-failure", metavar="P", type=typed(_share), help="the same in a value (default 0.3)")
    add("--other-failure", metavar="P", type=typed(_share), help="the same elsewhere (default 0.05)")
    add("--thinking-failure", metavar="P", type=typed(_share),
        help="the same in the thinking before a call (default 0)")  # fmt: skip
    add("--own-failure", metavar="P", type=typed(_share), default=0.0,
        help="chance that a step fails by the model's own fault (default 0)")  # fmt: skip
    add("--loop-hazard", metavar="P", type=typed(_share), default=0.0,
        help="chance of endless repetition in 1000 tokens (default 0)")  # fmt: skip
    add("--count-forced", action="store_true", help="count errors of forced commits too")
    add = parser.add_argument_group("prices").add_argument
    add("--price-per-hour", metavar="USD", type=typed(positive), help="rent of one card (default: its list price)")
    add("--token-price", metavar="IN/OUT|NAME", type=typed(_token_price),
        help="a price list in USD a million tokens, as 0.20/0.75, or mercury-2.5")  # fmt: skip
    _flags.strategy_flags(parser)
    _flags.machine_flags(parser)
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Read, decode, price, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    if args.prompt_tokens:
        raise UsageError("--prompt-tokens: the workload says how long its prompts are; set system_tokens in a file")
    if args.max_new_tokens:
        raise UsageError("--max-new-tokens: the workload says how much each step writes; set output_tokens in a file")
    if args.align == "absolute":
        raise UsageError("--align absolute: the blocks of a step start at its output; leave it out")
    strategies, cost = _flags.strategies(args), _flags.cost(args)
    from clover_sim.agents.reading import load_agent_workload
    from clover_sim.agents.run import agent, prices_of
    from clover_sim.agents.steps import TEXTS, Failure
    from clover_sim.prepare import default_cost

    load = load_agent_workload(args.workload, args.tokenizer, args.tool_seconds)
    cost = default_cost() if cost is None else cost
    given = {
        "structural": args.structural_failure, "value": args.value_failure, "other": args.other_failure,
        "thinking": args.thinking_failure, "forced": args.count_forced or None,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    failure = Failure(
        **given, loop_per_1000=args.loop_hazard, own=args.own_failure,
        reading=args.failure_reading or ("locked-errors" if given else "auto"),
    )  # fmt: skip
    prices = prices_of(cost.machine)
    if args.price_per_hour:
        prices = replace(prices, usd_per_hour=args.price_per_hour, source="as given")
    if args.token_price:
        paid, written, whose = args.token_price
        prices = replace(prices, input_usd=paid, output_usd=written, tokens_source=whose)
    rules = {"kv_write": args.kv_write, "eos_stop": args.eos_stop, "align": args.align}
    with console.progress("strategies") as progress:
        found = agent(
            load, strategies, cost=cost, prefix_cache=not args.no_prefix_cache, retries=args.retries,
            tasks=args.tasks, seed=args.seed, batch_size=args.batch_size, failure=failure, prices=prices,
            texts=(args.text or TEXTS[0], args.thinking_text or TEXTS[1]), rules=rules, progress=progress,
        )  # fmt: skip

    def text(name: str, look: Any) -> str:
        from clover_sim.report._agent import render_agent

        return _flat.render(name, look, found.to_dict, found.to_dicts, lambda look: render_agent(found, look))

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _at_least_0(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1e6:
        raise UsageError(f"{text!r} is out of range: expected 0 to 1e6 seconds")
    return value


def _share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise UsageError(f"{text!r} is not a chance from 0 to 1")
    return value


def _token_price(text: str) -> tuple[float, float, str]:
    if "/" in text:
        given, _, written = text.partition("/")
        return positive(given), positive(written), "as given"
    import os

    from clover_sim.errors import suggest
    from clover_sim.specs.load import DATA, read_table

    lists = read_table(os.path.join(DATA, "prices", "tokens.toml"))
    if text not in lists:
        raise UsageError(f"price list {text!r} is not known{suggest(text, lists)}; or give IN/OUT such as 0.20/0.75")
    found = lists[text]
    return float(found["input_usd"]), float(found["output_usd"]), str(found["source"])
