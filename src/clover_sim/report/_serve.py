"""The tables of ``clover-sim serve``, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.notes import draft_notes
from clover_sim.report import PLAIN, Look
from clover_sim.report._grid import Strip, fitted, header, left_out, row, total_width
from clover_sim.report._text import clean, wrap

_COLUMNS: tuple[tuple[str, str, float, str], ...] = (
    ("tokens_per_s", "tok/s", 1, ",.0f"), ("requests_per_s", "req/s", 1, ",.2f"), ("busy_share", "busy", 100, ".0f"),
    ("mean_batch", "mean\nbatch", 1, ".1f"),
    ("first_token_s_p50", "first tok\np50 ms", 1e3, ",.0f"), ("first_token_s_p99", "\np99 ms", 1e3, ",.0f"),
    ("per_token_s_p50", "per tok\np50 ms", 1e3, ",.1f"), ("per_token_s_p90", "\np90 ms", 1e3, ",.1f"),
    ("latency_s_p50", "latency\np50 s", 1, ",.2f"), ("latency_s_p90", "\np90 s", 1, ",.2f"),
    ("latency_s_p99", "\np99 s", 1, ",.2f"), ("goodput_per_s", "good\nreq/s", 1, ",.2f"),
    ("preemptions", "thrown\nout", 1, ",.0f"), ("locked_errors", "locked\nerrors", 1, ",.0f"),
)  # fmt: skip
_POLICIES = {
    "first-done-first-out": "First done, first out: in each step every request takes its next pass and leaves when its "
    "own answer is done; nobody waits for another's block.",
    "lockstep": "Lockstep: a finished block waits for the slowest of its round before anybody goes on.",
}
"""What the policies mean, for those who meet them first here."""

_GROWS, _NEVER_IDLE = 0.02, 0.9
"""Seconds of wait gained a second, and share of the time a machine works, from which a load is too much for it."""

_LADDER = "tokens a second of the machine, by users who always have a request under way"

_FIRST_TO_GO = (
    "preemptions", "per_token_s_p90", "latency_s_p90", "first_token_s_p99", "mean_batch", "requests_per_s",
    "busy_share", "latency_s_p99", "first_token_s_p50", "per_token_s_p50",
)  # fmt: skip
_NAMES = {
    "preemptions": "thrown out", "per_token_s_p90": "per token p90", "latency_s_p90": "latency p90",
    "first_token_s_p99": "first token p99", "mean_batch": "mean batch", "requests_per_s": "req/s", "busy_share": "busy",
    "latency_s_p99": "latency p99", "first_token_s_p50": "first token p50", "per_token_s_p50": "per token p50",
}  # fmt: skip
"""What a narrow terminal leaves out, in this order; the locked errors stay."""


def render_serve(document: Mapping[str, Any], look: Look = PLAIN) -> str:
    """Ladder of users, one load in detail, sentences: who wins where, and why it stops."""
    s = document["settings"]
    machine = f"{s['model']} on {s['gpu']}{look.dot}{s['precision']}" if "model" in s else ""
    if s["cost"] != "roofline":  # given times have no machine
        machine = f"{machine}{look.dot}{s['cost']} cost" if machine and s["cost"] == "floor" else f"{s['cost']} cost"
    low, high = s["output_tokens"]
    prompts = "prompts as logged" if s["prompt_tokens"] is None else f"prompts of {s['prompt_tokens']:,}"
    lines = wrap(
        f"{clean(machine)}{look.dot}{prompts}, answers of {f'{low:,} to ' * (low < high)}{_count(high, 'token')}"
        f"{look.dot}{s['policy']}{look.dot}at most {s['batch']} in a batch", look.width,
    )  # fmt: skip
    if document["ladder"]:
        lines += ["", *(look.paint("1", line) for line in wrap(_LADDER, look.width))]
        lines += _ladder(document["ladder"], look)
    if document["rows"]:
        lines += ["", *(look.paint("1", line) for line in wrap(_load(document["load"]), look.width))]
        lines += _table(document["rows"], s, look)
    lines.append("")
    for sentence in _sentences(document):
        lines += wrap(f"- {clean(sentence)}", look.width, "  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _load(load: Mapping[str, Any]) -> str:
    requests = _count(load["requests"], "request")
    if load["log"]:
        return f"{requests} of a log" + ", all at once" * (not load["log_span_s"] and load["requests"] > 1)
    if load["users"] is not None:
        return f"{requests} of {_count(load['users'], 'user')}, {load['think_s']:g} s between them"
    burst = f" in bursts of {load['burst']}" if load["burst"] > 1 else ""
    return f"{requests} at {load['rate_per_s']:g} a second{burst} (Poisson)"


def _count(number: float, noun: str) -> str:
    """How many, with the noun for one or for several.

    >>> _count(1, "request"), _count(2000, "request")
    ('1 request', '2,000 requests')
    """
    shown = f"{number:,.0f}"
    return f"{shown} {noun}" + "s" * (shown != "1")


def _ladder(ladder: Sequence[Mapping[str, Any]], look: Look) -> list[str]:
    labels = list(ladder[0]["strategies"])
    users = Strip(["users"], [[str(step["users"])] for step in ladder])
    parts: list[list[Strip]] = [[users]]
    for label in labels:
        strips = []
        speeds = [step["strategies"][label]["tokens_per_s"] for step in ladder]
        strips.append(Strip(_heading(label), [[f"{v:,.0f}"] for v in speeds]))
        if label != labels[0]:
            gains = [v / step["strategies"][labels[0]]["tokens_per_s"] for v, step in zip(speeds, ladder, strict=True)]
            styles = ["32" if g > 1 else "31" for g in gains]
            strips.append(Strip(["gain"], [[f"{g:.2f}{look.times}"] for g in gains], styles=styles))
        if look.width is not None and len(parts[-1]) > 1 and total_width([*parts[-1], *strips]) > look.width:
            parts.append([users])
        parts[-1] += strips
    lines: list[str] = []
    for part in parts:  # what does not fit beside the others stands below them
        lines += [""] * bool(lines) + header(part, look)
        for index in range(len(ladder)):
            lines += row(part, index, look)
    return lines


def _heading(label: str) -> list[str]:
    name, _, options = label.partition(":")
    return [name, *options.split(",")] if options else [clean(label)]


def _table(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], look: Look) -> list[str]:
    targets = settings["first_token_target_s"] is not None or settings["per_token_target_s"] is not None
    every = {"strategy": Strip(["strategy"], [[clean(r["strategy"])] for r in rows], right=False)}
    for key, title, scale, form in _COLUMNS:
        if targets or key != "goodput_per_s":
            cells = [["-" if r[key] is None else format(r[key] * scale, form)] for r in rows]
            every[key] = Strip(title.split("\n"), cells)
    strips, gone = fitted(every, _FIRST_TO_GO, look.width)
    lines = header(strips, look)
    for index in range(len(rows)):
        lines += row(strips, index, look)
    return lines + left_out([_NAMES[key] for key in every if key in gone], total_width(list(every.values())), look)


def _sentences(document: Mapping[str, Any]) -> list[str]:
    s, rows = document["settings"], document["rows"]
    said = []
    if document["interrupted"]:
        said.append("Interrupted: what stands above is what was finished.")
    for one in document["crossovers"]:
        said.append(_crossing(one))
    said += _why(document)
    said += _errors(rows)
    most = document["ladder"][-1]["users"] if document["ladder"] else 0
    if most > s["batch"]:
        said.append(f"At most {_count(s['batch'], 'request')} in a batch: with more users on the ladder some of them "
                    "always wait.")  # fmt: skip
    late = [r for r in rows if _falls_behind(r)] if document["load"] and document["load"]["users"] is None else []
    if late:
        growth = ", ".join(f"{r['strategy']} by {r['wait_growth']:.2g} s" for r in late)
        said.append(f"Waits grow with every second of this load ({growth}): fewer requests are answered than come, so "
                    "latencies there say how long the run was, not how fast the machine is.")  # fmt: skip
    for one in rows:
        if one["cache_tokens"] is not None:
            said.append(
                f"Cache for {one['cache_tokens']:,.0f} tokens ({one['strategy']}), "
                + ("a request starts once all it will need is free." if s["cache_rule"] == "queue" else
                   "a request starts once its prompt fits, the youngest is thrown out when it is full.")
            )  # fmt: skip
            break
    said += draft_notes((one["strategy"].partition(":")[0], one["options"]) for one in rows)
    said.append(_POLICIES.get(s["policy"], ""))
    if s["length_groups"] is not None:
        said.append(f"The answers of the log stand in {_count(s['length_groups'], 'group')} of like length, each "
                    "served at its mean; a larger --pool keeps more apart.")  # fmt: skip
    said.append(
        f"Each request draws its passes from a pool of {_count(s['pool_ledgers'], 'ledger')} a strategy that the "
        f"engine made on {s['text']} (of ar one a length, for all are equal); a step is priced as one pass of the "
        "whole batch. Prompts are computed in steps of their own."
    )
    return [one for one in said if one]


def _errors(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the speeds of the ladder, which stand without errors, were paid with."""
    wrong = [
        f"{one['strategy']} {1000 * one['locked_errors'] / one['tokens']:.2g}"
        for one in rows
        if one["tokens"] and one["locked_errors"]
    ]
    return [f"Wrong tokens locked in, of 1,000, with however many users: {', '.join(wrong)}."] if wrong else []


def _why(document: Mapping[str, Any]) -> list[str]:
    """What a step takes and brings, alone and with the most users, for the blocks that win alone."""
    for one in document["crossovers"]:
        if not one["strategy"].startswith("block") or (one["gain_of_one_user"] or 0) <= 1:
            continue
        figures = []
        for step in (document["ladder"][0], document["ladder"][-1]):
            block, base = (step["strategies"][label] for label in (one["strategy"], one["against"]))
            figures.append(
                f"with {_count(step['users'], 'user')} a step takes {block['step_s'] * 1e3:.1f} ms against "
                f"{base['step_s'] * 1e3:.1f} ({block['step_s'] / base['step_s']:.1f}x) and brings each user "
                f"{block['tokens_per_step_each']:.1f} tokens against {base['tokens_per_step_each']:.0f}"
            )
        said = [
            f"Why {one['strategy']} wins alone: {figures[0]}; the weights are read once for a whole block, and alone "
            "there is nothing else to share that reading with."
        ]
        stops = one["gain_at_most_users"] <= 1
        if stops or one["gain_at_most_users"] < one["gain_of_one_user"]:
            said.append(
                f"Why {'it stops' if stops else 'its gain falls'}: {figures[-1]}; many users share the reading anyway, "
                "arithmetic becomes the limit, and a block computes each of its positions again in every pass."
            )
        return said
    return []


def _falls_behind(one: Mapping[str, Any]) -> bool:
    """Whether a machine that is never idle lets its requests wait longer and longer."""
    return (one["wait_growth"] or 0) > _GROWS and (one["busy_share"] or 0) > _NEVER_IDLE


def _crossing(one: Mapping[str, Any]) -> str:
    name, base, users = one["strategy"], one["against"], one["wins_up_to_users"]
    least, most = one["least_users"], one["most_users"]
    alone = f"{one['gain_at_least_users']:.2f}x for {'one user' if least == 1 else _count(least, 'user')}"
    if least == most:
        text = f"{name} {'beats' if users is None else 'does not beat'} {base} on the one step of the ladder ({alone})"
    elif users is None:
        text = f"{name} beats {base} up to the {_count(most, 'user')} of the ladder ({alone}, " \
               f"{one['gain_at_most_users']:.2f}x there)"  # fmt: skip
    elif users == 0:
        text = f"{name} never beats {base} here ({alone})"
    else:
        text = (
            f"{name} stops winning at {_count(users, 'user')}, {one['wins_up_to_requests_per_s']:.1f} requests/s "
            f"({alone}, at best {one['best_gain']:.2f}x at {one['best_gain_users']}, "
            f"{one['gain_at_most_users']:.2f}x at {most})"
        )
    if one["loses_within"]:
        text += f"; it also loses at {', '.join(map(str, one['loses_within']))}"
    return text + "."


def published_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of all curves as flat dictionaries."""
    return [
        {"curve": curve["name"], "measure": curve["measure"], **point, "source": curve["source"]}
        for curve in document["curves"]
        for point in curve["points"]
    ]


def render_published(document: Mapping[str, Any], look: Look = PLAIN) -> str:
    """Each published curve with its predictions; points that are off are marked."""
    lines: list[str] = []
    for curve in document["curves"]:
        what = "gain over plain decoding" if curve["measure"] == "gain" else "speed over that of one user"
        lines += [look.paint("1", clean(curve["name"])), *wrap(f"  {what}; {curve['source']}", look.width, "  ")]
        points = curve["points"]
        strips = [
            Strip(["users"], [[str(p["users"])] for p in points]),
            Strip(["published"], [[f"{p['published']:.2f}"] for p in points]),
            Strip(["predicted"], [[f"{p['predicted']:.2f}"] for p in points]),
            Strip(["error"], [[f"{p['error']:+.0%}"] for p in points]),
            Strip([""], [[_mark(p)] for p in points], right=False),
        ]
        for index in range(len(points)):
            lines += [f"  {line}" for line in (header(strips, look) if index == 0 else []) + row(strips, index, look)]
        lines += [*wrap(f"  {curve['note']}.", look.width, "  ")] if curve["note"] else []
        lines.append("")
    lines += wrap(
        f"{document['within']} of {document['points']} points within {document['tolerance']:.0%}; side of 1.0 right in "
        f"{document['same_side']} of {document['gains']} gains.", look.width,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _mark(point: Mapping[str, Any]) -> str:
    said = [] if point["within"] else ["off"]
    return ", ".join([*said, *(["wrong side"] if point["same_side"] is False else [])])
