"""Run strategies over the same streams, count, price, and put the rows side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from clover_sim.arguments import checked
from clover_sim.checks import MOST_TOKENS
from clover_sim.columns import MEASURED as MEASURED
from clover_sim.comparison.runs import Priced, frozen, play, row_of, summarise, with_floor
from clover_sim.cost.window import beyond_window
from clover_sim.errors import UsageError
from clover_sim.notes import explain, file_notes
from clover_sim.prepare import (
    DEFAULT_STRATEGIES,
    RUN_PASSES,
    Rules,
    Strategy,
    asked,
    check_memory,
    check_whole,
    check_work,
    choose_cost,
    describe,
    listed,
    make_strategy,
    several_strategies,
)  # fmt: skip
from clover_sim.request import Run
from clover_sim.sources import Sources


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Rows of one comparison: one a stream length and strategy. ``rows`` hold plain JSON values.

    ``inputs`` name each file read with its sha256; ``settings`` echo model, hardware, engine and rules; ``notes`` are
    the sentences printed under the table, ``warnings`` those for stderr; ``asked`` is all that they follow from, of
    which ``run_id`` is a hash: two results of one id are equal to the byte. ``specs`` are the strategies as asked for.
    ``by_seed`` has, for each row and measured figure, values seed by seed whose mean is the figure and whose spread is
    that of its interval, for paired differences; empty with one seed.

    >>> from clover_sim import compare
    >>> result = compare(["ar", "block-diffusion"], tokens=64)
    >>> result
    <Comparison: 2 rows, clover-35b-a3b on h200; see .to_dicts() and .notes>
    >>> sorted({row["strategy"] for row in result.to_dicts()})
    ['ar', 'block-diffusion']
    """

    rows: tuple[Mapping[str, Any], ...]
    inputs: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    asked: str = ""
    specs: tuple[str, ...] = ()
    by_seed: tuple[Mapping[str, tuple[float, ...]], ...] = ()

    @property
    def run_id(self) -> str:
        """16 hexadecimal digits (of SHA-256) that stand for everything the result follows from."""
        return _sha256(self.asked.encode("utf-8", "backslashreplace"))[:16]

    @property
    def question(self) -> dict[str, Any]:
        """What a report has to ask again where the rows do not say it: strategies whose lengths a schedule chose."""
        return {"strategies": self.specs} if "schedule" in self.settings else {}

    def __repr__(self) -> str:
        where = " on ".join(str(self.settings[k]) for k in ("model", "gpu") if k in self.settings)
        return f"<Comparison: {len(self.rows)} rows{f', {where}' if where else ''}; see .to_dicts() and .notes>"

    def __str__(self) -> str:
        # What shows a result stands above it, and is asked for only here.
        shown: str = import_module("clover_sim.report.table").render(self)
        return shown

    def _repr_html_(self) -> str:
        shown: str = import_module("clover_sim.report._notebook").comparison_html(self)
        return shown

    def _repr_svg_(self) -> str:
        shown: str = import_module("clover_sim.report._notebook").comparison_svg(self)
        return shown

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries, ready for any data-frame library."""
        return [dict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``clover-sim/comparison/1``."""
        from clover_sim import __version__

        return {
            "schema": "clover-sim/comparison/1",
            "version": __version__,
            "run_id": self.run_id,
            "rules": dict(self.settings),
            "seeds": list(self.seeds),
            "inputs": [dict(i) for i in self.inputs],
            "notes": list(self.notes),
            "rows": self.to_dicts(),
        }


@checked
def compare(
    strategies: Any = None,
    *,
    tokens: int | Sequence[int] | None = None,
    profile: str = "reference",
    inputs: str | Sequence[str] = (),
    tokenizer: str = "qwen",
    seeds: int | Sequence[int] | None = None,
    model: str | None = None,
    gpu: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    cost: Any = None,
    batch_size: int = 1,
    prompt_tokens: int = 0,
    kv_write: str | None = None,
    eos_stop: str = "block",
    align: str = "relative",
    max_new_tokens: int | None = None,
    schedule: Any = None,
    allow_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[dict[str, Any], Run], None] | None = None,
) -> Comparison:
    """Compare strategies on the same streams.

    Args:
        strategies: a name with options (``"block-diffusion:threshold=0.9"``) or a decoder object, or several.
        tokens: length of the text, >= 1, or several; default: 128, 256, 512, 1024, or the whole of each input.
        profile: a stream profile with options; for inputs its options (``lift``, ``seed``) still apply.
        inputs: files to read (``-`` is standard input) instead of a synthetic stream.
        tokenizer: ``qwen`` or ``o200k``, for inputs.
        seeds: one run a seed; several give means (of ratios the ratio of the sums) with 95 % intervals; 3 is the
            seed 3. Default: the profile's own.
        model, gpu, engine, precision: names as on the command line, for the roofline of that machine.
        cost: instead of these, a cost model of :mod:`clover_sim.cost`, or a ``Machine`` for its roofline.
        batch_size: requests decoded in step; each pass is priced for that many equal ones, counts stay those of one.
        prompt_tokens, kv_write, eos_stop, align, max_new_tokens: see :func:`clover_sim.engine.run`.
        schedule: draft lengths by batch, as in ``[[1, 16, 5], [17, 64, 3]]``: first and last batch, draft tokens with
            the root not counted, 0 for plain decoding. Every strategy that has ``num_speculative_tokens`` drafts as
            many as its run for ``batch_size`` says; ``"auto"``: the fastest length up to its own.
        allow_long: permit more than 10^8 passes.
        progress: called with (runs done, runs in all).
        keep: called with what was run and each run that has a row, for :mod:`clover_sim.ledger_file`.

    Speed-ups are against ``ar`` on the same stream, which is run silently if it was not asked for.

    >>> result = compare(["ar", "block-diffusion:threshold=0.9"], tokens=128, gpu="h100", seeds=range(2))
    >>> plain, blocks = result.rows
    >>> plain["target_passes"], plain["speedup_time"], blocks["speedup_passes"] > blocks["speedup_time"] > 1
    (128.0, 1.0, True)
    """
    rules = Rules(batch_size, prompt_tokens, kv_write, eos_stop, align, max_new_tokens, schedule)
    rules.check()
    cost = choose_cost(cost, model=model, gpu=gpu, engine=engine, precision=precision)
    tokens = [tokens] if isinstance(tokens, int) else None if tokens is None else listed("tokens", tokens)
    inputs = [inputs] if isinstance(inputs, str) else inputs
    chosen = [make_strategy(s, cost) for s in several_strategies(strategies, DEFAULT_STRATEGIES)]
    seed_list = () if seeds is None else (seeds,) if isinstance(seeds, int) else tuple(listed("seeds", seeds))
    if seeds is not None and not seed_list:
        raise UsageError("seeds: the range is empty; give one such as 0:32")
    for seed in seed_list:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seeds: {seed!r} is not a whole number of at least 0")
    sources = Sources(profile, tuple(inputs), tokenizer, tokens, allow_long)
    longest = [rules.longest(n) for n in sources.lengths]
    runs = (len(seed_list) or 1) * (len(chosen) + 1)
    check_work(sum(longest) * runs + len(longest) * runs * RUN_PASSES, allow_long)
    check_whole("tokens", max(longest), 1, MOST_TOKENS)
    chosen, rules, said = prepared(chosen, rules, max(longest))
    entries = with_floor(chosen, chosen[0].cost)
    total, done = len(sources.lengths) * (len(seed_list) or 1) * len(entries), 0
    rows: list[dict[str, Any]] = []
    by_seed: list[Mapping[str, tuple[float, ...]]] = []
    priced: dict[int, Priced] = {}
    for index in range(len(sources.lengths)):
        samples: dict[int, list[dict[str, Any]]] = {id(s): [] for s in entries}
        for seed in seed_list or (None,):
            stream = sources.open(index, seed)
            for strategy, finished, price, figures in play(entries, stream, rules):
                priced[id(strategy)] = (strategy, finished, price)
                samples[id(strategy)].append(figures)
                if keep is not None and any(strategy is s for s in chosen):
                    keep({**strategy.identity(), "seed": seed, **row_of(figures)}, finished)
                done += 1
                if progress is not None:
                    progress(done, total)
        summed = [summarise(s, samples[id(s)]) for s in chosen]
        rows += [row for row, _ in summed]
        by_seed += [each for _, each in summed]
    notes, warnings = explain(rows, list(priced.values()), batch_size, sources.profile)
    settings = {**describe(chosen[0].cost), **rules.echo(), "profile": sources.label}
    if inputs:
        settings |= {"tokenizer": tokenizer} if tokenizer != "qwen" else {}
        settings["profile"] = sources.label if sources.profile == "tool-call" else sources.profile
    streams = [
        sources.profile, sources.lengths, seed_list, sources.described, tokenizer if inputs else "", stream.settings,
        [a for a in getattr(stream.make_physics, "args", ()) if is_dataclass(a)],  # a workload's figures among them
    ]  # fmt: skip
    return Comparison(
        frozen(rows), frozen(sources.described), MappingProxyType(settings), seed_list,
        (*file_notes(sources.described), *said, *notes), tuple(warnings), asked(chosen, rules, streams),
        tuple(s.spec for s in chosen), tuple(by_seed) if len(seed_list) > 1 else (),
    )  # fmt: skip


def prepared(
    chosen: Sequence[Strategy], rules: Rules, longest: int
) -> tuple[list[Strategy], Rules, tuple[str, ...]]:
    """The strategies with the draft lengths of the schedule, if there is one, all of which fit; and what to say of it.

    ``longest`` is the length of the longest run, in tokens.
    """
    said: tuple[str, ...] = ()
    if rules.schedule is not None:
        from clover_sim.prepare.schedule import check_schedule, scheduled

        rules = rules._replace(schedule=check_schedule(rules.schedule))
        context = rules.prompt_tokens + longest // 2
        chosen, sentence = scheduled(chosen, rules.schedule, rules.batch_size, context)
        said = (sentence,)
    for strategy in chosen:
        check_memory(strategy.cost, rules.batch_size, rules.prompt_tokens + longest)
    said += beyond_window((s.cost.machine, rules.prompt_tokens + longest) for s in chosen[:1])
    return [*chosen], rules, said


def _sha256(data: bytes) -> str:
    """As ``hashlib`` has it, but from the module beneath where there is one: ``hashlib`` loads all of OpenSSL first."""
    for name in ("_sha2", "_sha256", "hashlib"):
        try:
            return str(import_module(name).sha256(data).hexdigest())
        except (ImportError, AttributeError):
            continue
    raise AssertionError("hashlib is part of the standard library")
