"""The table of ``clover-sim agent``, and what it says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from clover_sim.agents.sensitivity import IF_LOCKED
from clover_sim.notes import draft_notes
from clover_sim.report import PLAIN, Look
from clover_sim.report._agent_words import label as label
from clover_sim.report._agent_words import of_chances, of_readings, share, usd
from clover_sim.report._grid import Strip, fitted, header, left_out, row, total_width
from clover_sim.report._text import clean, wrap

_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("tokens_per_pass", "tok/\npass", ".2f"),
    ("prefill_s", "prefill\ns", ".2f"), ("decode_s", "decode\ns", ".2f"), ("tool_s", "tool\ns", ".1f"),
    ("step_s_median", "step s\nmedian", ".2f"), ("step_s_p90", "step s\np90", ".2f"),
    ("task_s_median", "finished\ns median", "brief"), ("task_s_p90", "finished\ns p90", "brief"),
    ("step_success_by_clashes", "step ok\nclashes", "share"),
    ("step_success_by_locked_errors", "step ok\nlocked", "share"),
    ("task_success_without_retries", "task ok\n1 try", "share"), ("task_success", "task ok\nretries", "share"),
    ("task_s_per_success", "s per\nsuccess", "brief"),
    ("task_s_per_success_by_clashes", "s if\nclashes", "brief"),
    ("task_s_per_success_by_locked_errors", "s if\nlocked", "brief"),
    ("usd_per_success", "USD per\n1,000 ok", "thousand"),
    ("energy_upper_bound_j", "kJ at\nmost", "kilo"),
)  # fmt: skip
_FIRST_TO_GO = (
    "energy_upper_bound_j", "step_s_p90", "task_s_p90", "step_s_median", "task_success_without_retries", "prefill_s",
    "tool_s", "tokens_per_pass", "task_s_median", "usd_per_success",
)  # fmt: skip
"""What a narrow terminal leaves out, and after it the reading that the others do not follow: the time of a task never
stands without its success."""


def render_agent(document: Mapping[str, Any], look: Look = PLAIN) -> str:
    """Heading, one row a strategy, then sentences: who wins and why, what bounds the gain, what matters most."""
    load, settings, rows = document["workload"], document["settings"], document["rows"]
    cached = "prefix cache on" if settings["prefix_cache"] else "prefix cache off"
    prompt = load["prompt_tokens_with_cache" if settings["prefix_cache"] else "prompt_tokens_without_cache"]
    machine = f"{settings['model']} on {settings['gpu']}" if "model" in settings else settings["cost"]
    lines = wrap(
        look.paint("1", clean(load["name"])) + f": {clean(load['summary'])}; {load['turns']:,} steps, "
        f"{prompt:,} prompt tokens computed ({cached}), {load['output_tokens']:,} written, context up to "
        f"{load['longest_context_tokens']:,}", look.width,
    )  # fmt: skip
    precision = f"{look.dot}{settings['precision']}" if "precision" in settings else ""
    agents = f"{look.dot}{settings['batch_size']:,} agents in step" if settings["batch_size"] > 1 else ""
    lines += wrap(
        f"{clean(machine)}{precision}{agents}{look.dot}{settings['retries']} retries a step{look.dot}"
        f"{settings['tasks']:,} tasks drawn", look.width,
    )  # fmt: skip
    lines.append("")
    lines += _table(rows, look, settings["reading"])
    if any("decisions" in r for r in rows):
        lines += ["", *_decisions(rows, look)]
    lines.append("")
    for sentence in _sentences(document):
        lines += wrap(f"- {sentence}", look.width, "  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(rows: Sequence[Mapping[str, Any]], look: Look, reading: str) -> list[str]:
    mine = "_by_" + reading.replace("-", "_")
    every = {"strategy": Strip(["strategy"], [[clean(label(r))] for r in rows], right=False)}
    every |= {
        key: Strip(title.split("\n"), [[text] for text in _cells([r[key] for r in rows], form)])
        for key, title, form in _COLUMNS
        if any(r[key] is not None for r in rows) and key != "task_s_per_success" + mine
    }
    last = [f"{key}{by}" for by in sorted(("_by_clashes", "_by_locked_errors"), key=lambda by: by == mine)
            for key in ("task_s_per_success", "step_success")]  # fmt: skip
    strips, gone = fitted(every, (*_FIRST_TO_GO, *last), look.width)
    lines = header(strips, look)
    for index in range(len(rows)):
        lines += row(strips, index, look)
    titles = {key: " ".join(title.split("\n")).replace("/ ", "/") for key, title, _ in _COLUMNS}
    return lines + left_out([titles[key] for key in titles if key in gone], total_width(list(every.values())), look)


def _cells(values: Sequence[float | None], form: str) -> list[str]:
    if form == "thousand":
        least = min((v * 1e3 for v in values if v), default=1.0)
        places = min(4, max(0, 2 - floor(log10(least))))
        return ["-" if v is None else f"{v * 1e3:,.{places}f}" for v in values]
    if form == "brief":
        form = f".{max(1, 1 - floor(log10(min((v for v in values if v), default=1.0))))}f"
    if form == "share":
        return ["-" if v is None else share(v) for v in values]
    scale = 1e3 if form == "kilo" else 1.0
    return ["-" if v is None else format(v / scale, ",.2f" if form == "kilo" else form) for v in values]


def _decisions(rows: Sequence[Mapping[str, Any]], look: Look) -> list[str]:
    lines = [look.paint("1", "linked fields: all in one block against one request each")]
    for one in rows:
        joint, single = one["decisions"]["jointly"], one["decisions"]["one_by_one"]
        lines += wrap(
            f"  {clean(label(one))}: jointly {joint['seconds'] * 1e3:.0f} ms and {joint['group_success']:.1%} of "
            f"groups right, one by one {single['seconds'] * 1e3:.0f} ms and {single['group_success']:.1%}",
            look.width, "    ",
        )  # fmt: skip
    return lines


def _sentences(document: Mapping[str, Any]) -> list[str]:
    rows, load, settings = document["rows"], document["workload"], document["settings"]
    said = [*load["notes"]]
    base = next((r for r in rows if r["strategy"] == "ar"), None)
    done = [r for r in rows if r["task_s_per_success"]]
    said += of_readings(document)
    if base is not None:
        rest = base["prefill_s"] + base["tool_s"]
        most = (rest + base["decode_s"]) / rest if rest else None
        if most is not None:
            said.append(
                f"Prompts and tools take {rest:.2f} s whatever decodes (prefill {base['prefill_s']:.2f}, tools "
                f"{base['tool_s']:.2f}), so no strategy can make this task more than {most:.1f}x as fast."
            )
        for one in rows:
            if one is base or not one["decode_s"]:
                continue
            faster = base["decode_s"] / one["decode_s"]
            said.append(
                f"{label(one)}: {one['tokens_per_pass']:.1f} tokens a pass at {_pass_cost(base, one):.1f}x the price "
                f"of a one-token pass (drafts included), so decoding is {faster:.2f}x as fast as token by token, a "
                f"task without failures {base['clean_task_s'] / one['clean_task_s']:.2f}x"
                + _with_failures(base, one, settings["retries"])
            )
    worst = min(rows, key=lambda r: r["step_success"])
    if worst["step_success"] < 1:
        every = (
            f", and all {load['turns']} steps succeed at the first try in "
            f"{share(worst['task_success_without_retries'])} of tasks"
        )
        said.append(
            f"Success compounds: {share(worst['step_success'])} a step is a failure every "
            f"{worst['steps_per_failure']:,.1f} steps{every if load['turns'] > 1 else ''} ({label(worst)})."
        )
    target = done[0] if len(done) == 1 else min(done, key=lambda r: r["task_s_per_success"], default=None)
    if target and target["sensitivity"]:
        order = sorted(target["sensitivity"].items(), key=lambda item: -item[1])
        said.append(
            f"What matters most for {label(target)}: a tenth less of "
            + ", ".join(f"{name} saves {value:.1%}" for name, value in order if value >= 0.0005 and name != IF_LOCKED)
            + f"{of_chances(rows, target)}."
        )  # fmt: skip
    said += draft_notes((one["strategy"], one["options"]) for one in rows)
    return [*said, *_money(document, target)]


def _money(document: Mapping[str, Any], one: Mapping[str, Any] | None) -> list[str]:
    """What the dollars are: whose prices, of when, and what they leave out."""
    prices, machine, said = document["settings"]["prices"], document["settings"].get("gpu", "card"), []
    if prices["usd_per_hour"] is not None and one is not None:
        whose = f" ({clean(prices['source'])})" if prices["source"] else ""
        cards = f", {prices['cards']} cards" if prices["cards"] > 1 else ""
        agents = document["settings"]["batch_size"]
        shared = f", divided among the {agents:,} agents in step" if agents > 1 else ""
        said.append(
            f"USD: rent of one {clean(str(machine))} at {prices['usd_per_hour']:g} USD an hour{cards}{whose}, for the "
            f"time it computes{shared}, failed tasks included: {usd(one['usd_per_success'])} a finished task with "
            f"{label(one)}; {usd(one['usd_per_task_card_kept'] / one['task_success'])} if it is kept while tools run. "
            "--price-per-hour takes yours."
        )
    elif prices["usd_per_hour"] is None and "gpu" in document["settings"]:
        said.append(f"No price of {clean(str(machine))} is known: --price-per-hour gives one.")
    base = document["rows"][0]
    if base["usd_per_task_by_tokens"] is not None:
        whose = f" ({clean(prices['tokens_source'])})" if prices["tokens_source"] else ""
        said.append(
            f"By the token price list{whose}, {prices['input_usd']:g} USD a million prompt tokens and "
            f"{prices['output_usd']:g} written, a task costs {usd(base['usd_per_task_by_tokens'])}, retries of "
            f"{label(base)} included."
        )
    return said


def _pass_cost(base: Mapping[str, Any], one: Mapping[str, Any]) -> float:
    """Time of a pass over that of a pass of plain decoding."""
    return float(one["decode_s"] / one["passes"] / (base["decode_s"] / base["passes"]))


def _with_failures(base: Mapping[str, Any], one: Mapping[str, Any], retries: int) -> str:
    if one["step_success"] >= 1 or not base["task_s_per_success"]:
        return "."
    if not one["task_s_per_success"]:
        return (
            f"; but with {share(one['step_success'])} of steps sound and {retries} retries only "
            f"{share(one['task_success'])} of tasks are finished."
        )
    ratio = base["task_s_per_success"] / one["task_s_per_success"]
    return f", a finished one with its failures {ratio:.2f}x."
