"""Pieces of Python that call the public interface with figures of the right type and any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from random import Random
from typing import Any

from fuzz import words
from fuzz.oracle import Case

WHOLE = ("0", "-1", "1", "2", "3", "5", "17", "10**9", "2**31", "2**63", "10**30", "-(10**30)", "10**400", "True")
FLOATS = ("0.0", "-0.0", "1.0", "0.5", "0.9", "1.5", "-1.0", "2.5", "nan", "inf", "-inf", "1e308", "1e-320", "1e-12",
          "100.0", "1e9", "0.9999999999999999")  # fmt: skip
NAMES = ("''", "' '", "'x'", "'bf16'", "'fp8'", "'int4'", "'3.5'", "'nan'", "'1e309'", "'-1'", "'auto'", "'\\0'",
         "'\\ud800'", "'\\u202e'", "'x' * 5000", "'9' * 5000")  # fmt: skip

_SHOWN = "str(found)\nresult = [found.to_dict(), found.to_dicts()]"


def _whole(rng: Random) -> str:
    return rng.choice(WHOLE) if rng.random() < 0.5 else str(rng.randrange(1, 40))


def _float(rng: Random) -> str:
    return rng.choice(FLOATS) if rng.random() < 0.5 else str(round(rng.random(), 3))


def _small(rng: Random) -> str:
    """A count of something that takes time: small, or absurd."""
    return rng.choice(("0", "-1", "1", "2", "7", "10**30", "10**400", str(rng.randrange(1, 40))))


def _tuple(rng: Random, make: Callable[[Random], str], most: int = 4) -> str:
    return "(" + "".join(f"{make(rng)}, " for _ in range(rng.randrange(most))) + ")"


def _pick(rng: Random, kind: str) -> str:
    return repr(rng.choice(_known()[kind]))


@cache
def _known() -> dict[str, tuple[str, ...]]:
    import clover_sim as cs
    from clover_sim.streams.profiles import PROFILES

    strategies = tuple(name for name, _ in cs.strategy_names())
    return {
        "model": tuple(cs.list_models()), "gpu": tuple(cs.list_hardware()), "engine": tuple(cs.list_engines()),
        "strategy": strategies, "profile": tuple(PROFILES),
    }  # fmt: skip


def _spec(rng: Random) -> str:
    return repr(words.small(words.spec(rng, _known()["strategy"])))


def _profile(rng: Random) -> str:
    return repr(words.small(words.spec(rng, _known()["profile"])))


def _given(rng: Random, **makers: Callable[[Random], str]) -> str:
    """Some of these keywords."""
    return ", ".join(f"{name}={make(rng)}" for name, make in makers.items() if rng.random() < 0.4)


def _kv(rng: Random) -> str:
    return rng.choice(("None", "'none'", "'separate'", "'fused'", "'skip-last'", "''", "'x'"))


def _eos(rng: Random) -> str:
    return rng.choice(("'early'", "'block'", "'canvas'", "'x'"))


def _align(rng: Random) -> str:
    return rng.choice(("'relative'", "'absolute'", "''"))


def _rules(rng: Random) -> str:
    return _given(rng, kv_write=_kv, eos_stop=_eos, align=_align, prompt_tokens=_small, max_new_tokens=_small)


def decode(rng: Random) -> str:
    """A strategy with any options on a stream with any settings; its ledger must add up."""
    tokens = rng.randrange(1, 70)
    return (
        f"stream = cs.open_stream({_profile(rng)}, {tokens}, {rng.choice(('None', '0', '5', '-1', '10**30'))})\n"
        f"decoder = cs.build_strategy({_spec(rng)})[1]\n"
        f"done = cs.run(decoder, stream, {_rules(rng)})\n"
        "totals = done.ledger.audit()\nassert totals == done.totals, 'totals'\n"
        "assert totals.tokens <= len(stream), 'tokens'\n"
        "result = [list(row.values()) for row in done.ledger.rows()]"
    )


def conform(rng: Random) -> str:
    """The checks that every decoder must pass, over options that the strategy itself accepts."""
    return (
        f"decoder = cs.build_strategy({_spec(rng)})[1]\nreport = cs.check_decoder(decoder)\n"
        "result = [(c.name, c.outcome, c.reason) for c in report.checks]"
    )


def acceptance(rng: Random) -> str:
    """Every way to state how many drafts are kept."""
    made = rng.choice((
        f"a.from_survival({_tuple(rng, _float)})", f"a.from_conditional({_tuple(rng, _float)})",
        f"a.from_alpha({_float(rng)}, {_whole(rng)}, {_float(rng)})", f"a.from_alpha({_float(rng)}, {_whole(rng)})",
        f"a.from_length({_float(rng)}, {_whole(rng)}, bonus={rng.random() < 0.5}, rho={_float(rng)})",
        f"a.from_rate({_float(rng)}, {_whole(rng)}, {rng.choice(('None', *map(repr, _rates())))})",
        f"a.clustered({_float(rng)}, {_float(rng)}, {_whole(rng)})",
        f"a.fit_decay(({_whole(rng)}, {_float(rng)}), ({_whole(rng)}, {_float(rng)}))",
        f"a.Acceptance({_tuple(rng, _float)}, 'x', {_float(rng)})",
    ))  # fmt: skip
    return (
        f"from clover_sim import acceptance as a\nmade = {made}\n"
        f"made = made.at({rng.choice(('1', '2', '9', '64'))})\n"
        "assert all(0 <= s <= 1 for s in made.survival) and 1 <= made.length <= made.k + 1.000001, made\n"
        "result = [made.length, made.rate, made.alpha, list(made.conditional), list(made.echo())]"
    )


def _rates() -> tuple[str, ...]:
    from clover_sim.acceptance import RATES

    return RATES


def _machine(rng: Random) -> str:
    precision = rng.choice(NAMES) if rng.random() < 0.3 else "'bf16'"
    more = _given(
        rng, kv_cache_dtype=lambda r: r.choice(NAMES), tensor_parallel_size=_whole, routing_beta=_float,
        drafter=lambda r: f"cs.load_model({_pick(r, 'model')})",
    )  # fmt: skip
    return f"cs.Machine(model, gpu, cs.load_engine({_pick(rng, 'engine')}), {precision}, {more})"


def _changed(rng: Random, made: str, kind: str) -> str:
    """A specification with some fields replaced."""
    import clover_sim as cs

    loaded = {"model": cs.load_model, "gpu": cs.load_hardware}[kind](_known()[kind][0])
    plain = [f for f in fields(loaded) if isinstance(getattr(loaded, f.name), (int, float))]
    if rng.random() < 0.5 or not plain:
        return made
    given = []
    for field in rng.sample(plain, min(len(plain), rng.choice((1, 1, 2)))):
        whole = type(getattr(loaded, field.name)) is int
        given.append(f"{field.name}={_whole(rng) if whole else _float(rng)}")
    return f"replace({made}, {', '.join(given)})"


def price(rng: Random) -> str:
    """A pass of any shape on a machine of any figures."""
    model = _changed(rng, f"cs.load_model({_pick(rng, 'model')})", "model")
    gpu = _changed(rng, f"cs.load_hardware({_pick(rng, 'gpu')})", "gpu")
    return (
        f"from dataclasses import replace\nmodel = {model}\ngpu = {gpu}\n"
        f"machine = {_machine(rng)}\n"
        f"found = cs.price(machine, {_tuple(rng, _whole)}, {_tuple(rng, _whole)}, {_tuple(rng, _whole)}, "
        f"{rng.choice(('None', repr('decode'), repr('prefill'), repr('verify'), repr('x')))}, {_whole(rng)})\n"
        "str(found)\nresult = [found.to_dict(), found.to_dicts()]"
    )


def compare(rng: Random) -> str:
    """Strategies side by side."""
    keywords = _given(
        rng, profile=_profile, seeds=lambda r: r.choice(("None", "()", "(0,)", "range(3)", "(-1,)", "(10**30,)")),
        model=lambda r: _pick(r, "model"), gpu=lambda r: _pick(r, "gpu"), engine=lambda r: _pick(r, "engine"),
        precision=lambda r: r.choice(NAMES), batch_size=_whole, kv_write=_kv, eos_stop=_eos, align=_align,
        prompt_tokens=_whole, max_new_tokens=_small,
    )  # fmt: skip
    names = ", ".join(_spec(rng) for _ in range(rng.randrange(4)))
    return f"found = cs.compare([{names}], tokens={_small(rng)}, {keywords})\n{_SHOWN}"


def sweep(rng: Random) -> str:
    """A small grid."""
    vary = ", ".join(repr(words.small(words.figure_spec(rng, "vary"))) for _ in range(rng.choice((1, 1, 2))))
    keywords = _given(
        rng, where=lambda r: repr(words.figure_spec(r, "where")), best=lambda r: repr(words.figure_spec(r, "best")),
        batch_size=_whole, prompt_tokens=_whole,
    )  # fmt: skip
    return (
        f"found = cs.sweep([{_spec(rng)}], vary=[{vary}], tokens={rng.randrange(1, 12)}, jobs=1, {keywords})\n{_SHOWN}"
    )


def speculate(rng: Random) -> str:
    """Whether drafts pay."""
    keywords = _given(
        rng, batch_size=_whole, context_tokens=_whole, hit_rate=_float, most_k=_small, topk=_small,
        model=lambda r: _pick(r, "model"), gpu=lambda r: _pick(r, "gpu"), engine=lambda r: _pick(r, "engine"),
        schedule=lambda r: _tuple(r, lambda q: _tuple(q, _small)),
    )  # fmt: skip
    method = rng.choice(("eagle3", "mtp", "ngram", "dflash", "draft-model", "eagle-tree", "suffix", "x"))
    shape = rng.choice((repr(method), f"cs.shape_of({method!r}, {_small(rng)})"))
    accepted = rng.choice(("'code'", "'chat'", "'x'", "cs.Acceptance((0.7, 0.5))"))
    return f"found = cs.speculate(None, {shape}, {accepted}, {keywords})\nstr(found)\nresult = found.to_dict()"


def serve(rng: Random) -> str:
    """A small server."""
    kind: dict[str, Any] = {"rate_per_s": _float, "burst": _small}
    if rng.random() < 0.5:
        kind = {"users": _small, "think_s": _float}
    if rng.random() < 0.1:
        kind |= {"burst": _small, "think_s": _float}  # kinds that contradict each other
    traffic = _given(
        rng, prompt_tokens=_whole,
        output_tokens=lambda r: f"({r.choice(('1', '0', '5', '-1'))}, {r.choice(('5', '9', '0', '10**30'))})",
        users_ladder=lambda r: _tuple(r, _small, 3), **kind,
    )  # fmt: skip
    keywords = _given(
        rng, batch=_whole, prefill_tokens=_whole, pool=lambda r: r.choice(("1", "3", "0", "-1")), seed=_whole,
        first_token_target_s=_float, per_token_target_s=_float, schedule=lambda r: "((1, 3), (2, 1))",
        policy=lambda r: r.choice(("'lockstep'", "'x'")), cache_rule=lambda r: r.choice(("'preempt'", "'x'")),
    )  # fmt: skip
    ladder = "" if "users_ladder" in traffic else ", users_ladder=()"
    pool = "" if "pool=" in keywords else ", pool=3"
    requests = rng.choice(("5", "9", "0", "-1", "10**30"))
    asked = f"cs.Traffic(requests={requests}{ladder}, {traffic})"
    return f"found = cs.serve([{_spec(rng)}], {asked}{pool}, {keywords})\n{_SHOWN}"


def agent(rng: Random) -> str:
    """A whole task."""
    failure = _given(rng, structural=_float, value=_float, other=_float, thinking=_float, loop_per_1000=_float)
    keywords = _given(
        rng, retries=_small, seed=_whole, batch_size=_whole, prefix_cache=lambda r: "False",
        failure=lambda r: f"cs.Failure({failure})", gpu=lambda r: _pick(r, "gpu"), model=lambda r: _pick(r, "model"),
    )  # fmt: skip
    task = rng.choice(("ten-turn-tools", "web-task", "joint-decisions"))
    return (
        f"found = cs.agent({task!r}, ['ar'], tasks={rng.choice(('3', '1', '0', '-1', '10**30'))}, {keywords})\n{_SHOWN}"
    )


CALLS: dict[str, Callable[[Random], str]] = {
    "decode": decode, "conform": conform, "acceptance": acceptance, "price": price, "compare": compare,
    "sweep": sweep, "speculate": speculate, "serve": serve, "agent": agent,
}  # fmt: skip


def case_of(name: str) -> Callable[[Random], Case]:
    """Cases of one call."""
    return lambda rng: Case(f"call-{name}", source=CALLS[name](rng))
