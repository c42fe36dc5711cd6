"""What ``clover-sim agent`` says of who is first, and of what that rests on: two readings of what spoils a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from clover_sim.agents.failure import CLASHES, IMPLIED_CHANCES
from clover_sim.agents.outlook import LEAST_FINISHED
from clover_sim.agents.sensitivity import IF_LOCKED
from clover_sim.report._text import clean

Row = Mapping[str, Any]

_MOST_ROWS = 4
_BY = (("_by_clashes", "clashes"), ("_by_locked_errors", "locked errors"))


def label(one: Row) -> str:
    """A strategy with the option that tells it from others of its name."""
    bar = one["options"].get("threshold")
    return f"{one['strategy']} {bar:g}" if isinstance(bar, float) else str(one["strategy"])


def share(value: float) -> str:
    """A share in percent, with as many digits as tell it from a whole one.

    >>> share(1.0), share(0.603), share(0.99997), share(1 - 1e-9)
    ('100.0%', '60.3%', '99.997%', '>99.9999%')
    """
    if not 0.9995 <= value < 1:
        return f"{value:.1%}"
    if value > 0.999999:
        return ">99.9999%"
    return f"{value:.{-floor(log10(1 - value)) - 2}%}"


def usd(value: float) -> str:
    """A sum of dollars.

    >>> usd(0.0123), usd(4.5)
    ('0.012 USD', '4.50 USD')
    """
    return f"{value:#.2g} USD" if value < 1 else f"{value:,.2f} USD"


def seconds_of(value: float) -> str:
    """Seconds, or milliseconds where tenths of a second say nothing.

    >>> seconds_of(8.04), seconds_of(0.2051)
    ('8.0 s', '205 ms')
    """
    return f"{value:.1f} s" if value >= 1 else f"{value * 1e3:.0f} ms"


def of_readings(document: Row) -> list[str]:
    """Who is first, by which reading, what both say of each strategy that settles tokens unverified, and where a
    figure is withheld."""
    rows, ranking = document["rows"], document["ranking"]
    lossy = _unverified(rows)
    said = [*_first(rows, ranking, lossy), *_both(lossy[:_MOST_ROWS], document["settings"]["failure"])]
    if lossy:
        said += [_basis(document["settings"]), *_turn(rows, ranking, document["settings"]["failure"])]
    return [*said, *_withheld(rows)]


def of_chances(rows: Sequence[Row], target: Row) -> str:
    """What the failure chances matter, for those strategies that they touch; empty where they touch none."""
    lossy = [r for r in rows if r["locked_errors"] and IF_LOCKED in r["sensitivity"]]
    if not lossy:
        return ""
    saved = ", ".join(f"{label(r)} {r['sensitivity'][IF_LOCKED]:.1%}" for r in lossy[:_MOST_ROWS])
    harm = target["sensitivity"].get("harm of clashes")
    clashes = f"; of the harm that clashes do, {harm:.1%}" if harm is not None and target["locked_errors"] else ""
    return f"{clashes}; of the failure chances, if locked errors count, it saves {saved}"


def _unverified(rows: Sequence[Row]) -> list[Row]:
    """The strategies that settle tokens which nothing verifies: those that a reading makes a difference to."""
    return [
        r for r in rows
        if r["locked_errors"] or r["step_success_by_clashes"] not in (None, r["step_success_by_locked_errors"])
    ]  # fmt: skip


def _first(rows: Sequence[Row], ranking: Row, lossy: Sequence[Row]) -> list[str]:
    best = rows[ranking["order"][0]]
    if best["task_s_per_success"] is None:
        return []
    text = f"Least time for a finished task, failed ones included: {_timed(best)}"
    if best["options"].get("parallel_draft"):
        text += (
            ", in the variant of the published table, which drafts all its tokens in one pass; "
            f"-s {best['strategy']} does not"
        )
        rest = [rows[i] for i in ranking["order"] if not rows[i]["options"].get("parallel_draft")]
        if rest and rest[0]["task_s_per_success"] is not None:
            text += f" (of the others {_timed(rest[0])})"
    if not lossy:
        return [text + "."]
    clashes, locked = ranking["order_by_clashes"], ranking["order_by_locked_errors"]
    if clashes is None:
        return [text + ". This rests on assumed chances that a locked error spoils a step."]
    if len(rows) == 1:
        return [text + "."]
    if clashes[0] == locked[0]:
        return [text + "; the same is first by both readings of what spoils a step."]
    mine, others = (_BY[0], _BY[1]) if ranking["order"] == clashes else (_BY[1], _BY[0])
    other = rows[(locked if others is _BY[1] else clashes)[0]]
    seconds = best["task_s_per_success" + others[0]]
    first = f"{label(other)} is first with {seconds_of(other['task_s_per_success' + others[0]])}"
    spent = f"takes {seconds_of(seconds)}" if seconds is not None else "finishes too few tasks to tell"
    return [
        f"{text}. This rests on an assumption, that {mine[1]} are what spoils a step: if it is {others[1]}, "
        f"{first}, and {label(best)} {spent}."
    ]


def _timed(one: Row) -> str:
    return f"{label(one)}, {seconds_of(one['task_s_per_success'])}"


def _both(lossy: Sequence[Row], failure: Row) -> list[str]:
    found = []
    calls = "calls intact" if not failure["own"] + failure["loop_per_1000"] else "own failures included, calls sound"
    for one in lossy:
        if one["step_success_by_clashes"] is None:
            continue
        found.append(
            f"{label(one)}: {calls} by the damage model fitted on GSM8K: {_reading(one, '_by_clashes')}; if every "
            f"locked error counts: {_reading(one, '_by_locked_errors')}; at {IMPLIED_CHANCES[1]:g} an error, the most "
            f"that published accuracy implies: {share(one['step_success_by_implied_chances'])}."
        )
    return found


def _reading(one: Row, by: str) -> str:
    seconds, dollars = one["task_s_per_success" + by], one["usd_per_success" + by]
    text = share(one["step_success" + by])
    if seconds is None:
        return f"{text}, {share(one['task_success' + by])} of tasks finished"
    return f"{text}, {seconds_of(seconds)}{'' if dollars is None else f' and {usd(dollars)}'} a finished task"


def _basis(settings: Row) -> str:
    f, damage = settings["failure"], settings["damage"]
    locked = (
        f"Locked errors: one spoils a step in a structural token of its call with chance {f['structural']:g}, in a "
        f"value {f['value']:g}, elsewhere {f['other']:g}, in its thinking {f['thinking']:g} (assumptions); errors that "
        "the model makes token by token as well are not counted."
    )
    if damage is None:
        return locked + " This text does not tell which tokens clash, so there is no other reading."
    assumed = f" and assumed for {clean(damage['assumed_for'])}" if damage["assumed_for"] else ""
    chosen = "clashes" if settings["reading"] == CLASHES else "locked errors"
    return (
        "Clashes: unsure tokens settled in one pass may contradict each other, as often as the published accuracy of "
        f"{clean(damage['fitted_on'])} says{assumed}: no accuracy of tool calls by threshold is published. {locked} "
        f"What names no reading follows {chosen} (--failure-reading)."
    )


def _turn(rows: Sequence[Row], ranking: Row, failure: Row) -> list[str]:
    """How much of the chances it takes to change who is first."""
    at = ranking["turns_at_share_of_chances"]
    if ranking["order_by_clashes"] is None:
        return []
    if at is None:
        if not ranking["differs"]:
            return ["The failure chances do not change the order of the strategies."]
        return ["The failure chances change the order of the strategies, but not who is first."]
    return [
        f"The failure chances decide who is first: {label(rows[ranking['order_by_clashes'][0]])} until a locked error "
        f"spoils a step with chance {at * failure['structural']:.2g} in structure and {at * failure['value']:.2g} in a "
        f"value ({share(ranking['turns_at_step_success'])} of its steps ok); published accuracy implies "
        f"{IMPLIED_CHANCES[0]:g} to {IMPLIED_CHANCES[1]:g} an error."
    ]


def _withheld(rows: Sequence[Row]) -> list[str]:
    short = []
    for one in rows:
        told = [f"{share(one['task_success' + by])} by {name}" for by, name in _BY
                if one["task_success" + by] is not None and one["task_s_per_success" + by] is None]  # fmt: skip
        short += [f"{label(one)} ({', '.join(told)})"] * bool(told)
    found = []
    if short:
        found.append(
            f"A dash stands for times and dollars that rest on fewer than {LEAST_FINISHED} finished tasks of 1,000: "
            f"{', '.join(short)}."
        )
    if any(r["task_success"] < 0.9995 for r in rows):
        found.append(
            "finished s: of finished tasks only; s per success: the time of all tasks over the number finished."
        )
    return found
