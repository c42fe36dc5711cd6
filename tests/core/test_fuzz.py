"""Decoders that move at random: whatever they try, the engine refuses it by name or its ledger adds up."""

from __future__ import annotations

import random
from typing import Any

import pytest

from clover_sim.canvas import Canvas
from clover_sim.engine import POLICIES, Batch, run
from clover_sim.errors import CloverError
from clover_sim.records import BLOCK, CAUSAL, DRAFT, EOS_STOPS, KV_WRITE_RULES, Drafter, Forward, Kind
from clover_sim.rng import mix
from core.scripted import decoder, scripted_stream

NEEDS = {"truth", "entropy", "kl", "changed", "edits", "draft-confidence", "proposals"}


def random_decoder(seed: int, reckless: float) -> Any:
    """Mostly legal moves; with chance ``reckless`` any of them is drawn without a thought for the rules."""
    rng = random.Random(seed)
    revises, idle = rng.random() < 0.6, rng.choice((0, 3, 50))

    def request(canvas: Canvas) -> Any:
        limit, frontier = canvas.limit, canvas.frontier
        if rng.random() < reckless:
            start = rng.randrange(-1, limit + 1)
            return Forward(
                start, start + rng.randrange(0, 9), rng.choice((CAUSAL, BLOCK)), rng.choice((0, DRAFT)),  # type: ignore[arg-type]
                rng.choice((None, 3, 9)), rng.choice((0, 0, 2)),
            )  # fmt: skip
        kind = rng.randrange(7)
        written = canvas._written  # a real decoder knows what it has asked for; this one does not remember
        room = next((p for p in range(frontier, limit) if canvas.filled(p)), limit) - frontier
        if kind == 0:
            return canvas.next(1)
        if kind == 1 and canvas._drafted < limit:
            return canvas.draft(rng.randrange(1, 4), rng.choice((None, 9)))
        if kind == 2:
            return canvas.next(min(canvas.propose(rng.randrange(1, 5)) + 1, room))
        if kind == 3 and written < frontier:
            return canvas.span(written, rng.randrange(written, frontier) + 1, CAUSAL)
        start = rng.choice((written, frontier, rng.randrange(written, frontier + 1)))
        recompute = rng.choice((0, 0, 0, start, start // 2, max(0, start - 1)))
        return canvas.span(start, start + rng.randrange(1, 9), recompute=recompute, tokens=rng.choice((None, 20)))

    def choose(canvas: Canvas, view: Any) -> Any:
        kind = rng.randrange(6)
        if kind == 0:
            return view.above(rng.random())
        if kind == 1:
            return view.right()
        if kind == 2:
            return view.where(lambda p: view.entropy(p) < rng.random())
        if kind == 3:
            return view.changed()
        if kind == 4 and rng.random() < reckless:
            return rng.sample(range(canvas.limit), 2) if canvas.limit > 1 else [7]
        return view.best(rng.randrange(1, 4))

    def decode(canvas: Canvas) -> Any:
        while canvas.remaining:
            forward = request(canvas)
            view = yield forward
            if forward.role is DRAFT:
                continue
            if forward.attend is CAUSAL:
                if forward.stop > canvas.frontier:
                    canvas.commit(view.agreed())
                continue
            filled = [p for p in range(forward.start, forward.stop) if canvas.filled(p)]
            if revises and filled and rng.random() < 0.4:
                canvas.reopen(rng.sample(filled, 1) if rng.random() < 0.5 else view.edits(0.8))
            if rng.random() < 0.9 or not idle:
                canvas.commit(choose(canvas, view) or view.best())

    return decoder(
        decode, revises=revises, max_idle_passes=idle, needs=NEEDS, draft_source=Drafter(None, (0.7, 0.4)),
        kv_write=rng.choice(KV_WRITE_RULES),
    )  # fmt: skip


def random_stream(seed: int, tokens: int) -> Any:
    return scripted_stream(
        tokens, lambda p, v: min(1.0, mix(seed, p, v) + 0.1 * v), wrong=lambda p, forced: mix(seed, p, 77) < 0.3,
        agrees=lambda p: mix(seed, p, 78) < 0.6, entropy=lambda p, v: mix(seed, p, v + 100),
        kl=lambda p, v: mix(seed, p, v + 200), changed=lambda p, v: mix(seed, p, v + 300) < 0.3,
        edit=lambda p, v: mix(seed, p, v + 400) if mix(seed, p, v + 401) < 0.3 else 0.0,
        draft_confidence=lambda p: mix(seed, p, 79), proposes=lambda p, n: int(n * mix(seed, p, 80)),
    )  # fmt: skip


def check_ledger(result: Any, prompt: int) -> None:
    """Beyond the audit: what the columns must satisfy, whatever was decoded."""
    ledger, totals = result.ledger, result.ledger.audit()
    assert totals == result.totals
    written = 0
    for row in ledger.rows():
        assert row["context_tokens"] >= 0 and row["tokens"] >= 1
        if row["kind"] == "prefill":
            continue
        assert row["context_tokens"] + row["recompute_tokens"] <= prompt + row["start"]
        if result.kv_write not in ("separate", "skip-last"):
            continue
        if row["kind"] in ("kv_write", "encode"):  # each position's K/V are written once, in order
            assert row["start"] == written and row["committed"] == 0
            written = row["start"] + row["tokens"]
        elif row["kind"] in ("decode", "verify"):
            assert row["start"] == written
            written = row["start"] + row["committed"]
        elif row["kind"] in ("denoise", "edit"):
            assert row["start"] == written
    if result.kv_write == "separate":
        assert written >= totals.tokens + totals.padding  # what was opened after the end is written along
    assert ledger.count(Kind.PREFILL) == int(prompt > 0 and totals.tokens + totals.padding > 0)


@pytest.mark.parametrize("reckless", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("batch", range(4))
def test_random_moves(reckless: float, batch: int) -> None:
    finished = refused = 0
    for seed in range(150 * batch, 150 * batch + 150):
        rng = random.Random(f"{seed}/{reckless}")
        tokens, prompt = rng.randrange(1, 40), rng.choice((0, 0, 5))
        options = {
            "prompt_tokens": prompt, "eos_stop": rng.choice(EOS_STOPS), "align": rng.choice(("relative", "absolute")),
            "kv_write": rng.choice((None, *KV_WRITE_RULES)), "max_new_tokens": tokens + rng.choice((0, 0, 3, 20, -1)),
        }  # fmt: skip
        try:
            result = run(random_decoder(seed, reckless), random_stream(seed, tokens), **options)
        except CloverError as error:
            assert "\n" not in str(error)
            assert error.location is None or "test_fuzz.py" in error.location, str(error)  # type: ignore[attr-defined]
            refused += 1
            continue
        assert result.totals.tokens == min(tokens, options["max_new_tokens"]), (seed, options)
        check_ledger(result, prompt)
        finished += 1
    assert finished > (60 if reckless < 0.1 else 0) and (refused or not reckless)


@pytest.mark.parametrize("policy", POLICIES)
def test_random_moves_in_a_batch(policy: str) -> None:
    for seed in range(20):
        batch = Batch(policy, eos_stop=EOS_STOPS[seed % 3])
        for i in range(5):
            batch.admit(random_decoder(10 * seed + i, 0.0), random_stream(i, 20), prompt_tokens=i, max_new_tokens=25)
        for _ in range(2000):
            try:
                if batch.step() is None:
                    break
            except CloverError:
                break
        else:
            pytest.fail("the batch does not come to an end")
