"""The server against the engine's own interleaving, its capacity, arrivals, percentiles and crossovers."""

from __future__ import annotations

import json

import pytest

from clover_sim.agents.sizes import read_sizes
from clover_sim.agents.texts import DEFAULT_TEXT, open_text
from clover_sim.cli import main
from clover_sim.cost import Fixed, price_groups
from clover_sim.engine import Batch, run
from clover_sim.errors import InputError
from clover_sim.prepare import default_cost, make_strategy
from clover_sim.report import Look
from clover_sim.report._serve import render_serve
from clover_sim.rng import substream
from clover_sim.serving.arrivals import Closed, Logged, Open
from clover_sim.serving.core import Server, draw_from
from clover_sim.serving.ladder import crossovers
from clover_sim.serving.lengths import spread
from clover_sim.serving.limits import Limits
from clover_sim.serving.pool import LEAST_POOL, make_pool, passes_of
from clover_sim.serving.pricing import CostPricer
from clover_sim.serving.published import check_published
from clover_sim.serving.run import Traffic, serve

ROOFLINE = default_cost()
BLOCKS = "block-diffusion"
SMALL = {"pool": 60}


@pytest.mark.parametrize(
    ("spec", "policy"),
    [
        ("ar", "first-done-first-out"), ("speculative:parallel_draft=true", "first-done-first-out"),
        # A chain of drafts is kept in step as engines do, which the engine's own batch calls lockstep.
        ("speculative", "lockstep"), (BLOCKS, "first-done-first-out"), (BLOCKS, "lockstep"),
        ("block-diffusion:block_size=8", "lockstep"),
    ],
)  # fmt: skip
def test_within_2_percent_of_full_interleaving(spec, policy):
    strategy = make_strategy(spec, ROOFLINE)
    n = 32
    batch = Batch(policy)
    for seed in range(n):
        batch.admit(strategy.decoder, open_text(DEFAULT_TEXT, 150, seed), prompt_tokens=500)
    while batch.step() is not None:
        pass
    full = price_groups(strategy.cost, batch.ledger.shapes()).latency_s
    sequences = iter([passes_of(run(strategy.decoder, open_text(DEFAULT_TEXT, 150, seed))) for seed in range(n)])
    limits = Limits(n, prefill_tokens=10**9, policy=policy if spec.startswith("block") else "first-done-first-out")
    server = Server(CostPricer(strategy.cost), limits, lambda p, o, d: (next(sequences), 500))
    found = server.run(Closed(n, n))
    assert found.span_s == pytest.approx(full, rel=0.02)
    assert found.tokens == batch.ledger.totals().tokens


def test_passes_add_up():
    for spec in ("ar", "speculative", BLOCKS):
        strategy = make_strategy(spec, ROOFLINE)
        finished = run(strategy.decoder, open_text(DEFAULT_TEXT, 200, 5))
        one = passes_of(finished)
        assert sum(s.units for s in one.segments) == finished.totals.target_passes
        assert sum(s.units * s.drafts for s in one.segments) == finished.totals.draft_passes
        assert sum(s.first_token for s in one.segments) == 1
        alone = Server(CostPricer(strategy.cost), Limits(1), lambda p, o, d, one=one: (one, 0)).run(Closed(1, 1))
        full = price_groups(strategy.cost, finished.ledger.shapes()).latency_s
        assert alone.span_s == pytest.approx(full, rel=1e-3 if spec == "speculative" else 1e-9)


def served(source, pool=None, **limits):
    strategy = make_strategy(BLOCKS, ROOFLINE)
    pool = pool or make_pool(strategy, DEFAULT_TEXT, spread(100, 140, 40))
    draw = substream(1, "test").random
    return Server(CostPricer(strategy.cost), Limits(**limits), draw_from(pool, draw, lambda: 300)).run(source)


@pytest.mark.parametrize("limits", [
    {}, {"batch": 4}, {"policy": "lockstep", "batch": 8}, {"cache_tokens": 2000.0},
    {"cache_tokens": 2000.0, "cache_rule": "preempt"}, {"cache_tokens": 2500.0, "state_tokens": 300.0},
])  # fmt: skip
@pytest.mark.parametrize("make", [lambda: Open(20, 300, 3), lambda: Open(20, 300, 3, burst=10),
                                  lambda: Closed(12, 300, 0.1, 3)])  # fmt: skip
def test_littles_law_is_exact_and_nobody_is_lost(limits, make):
    record = served(make(), **limits)
    found = record.summary()
    assert found["requests"] == 300 and record.inside == 0
    assert found["mean_in_system"] == pytest.approx(found["requests_per_s"] * found["latency_s_mean"], rel=1e-9)
    assert found["first_token_s_p50"] <= found["latency_s_p50"] <= found["latency_s_p99"]
    assert (found["preemptions"] > 0) == (limits.get("cache_rule") == "preempt")


def test_a_full_cache_costs_time():
    free, tight = served(Closed(16, 200)), served(Closed(16, 200), cache_tokens=1500.0)
    assert tight.span_s > free.span_s
    assert tight.summary()["mean_batch"] < free.summary()["mean_batch"]
    with pytest.raises(InputError, match="tokens of cache"):
        served(Closed(1, 1), cache_tokens=100.0)


def test_lockstep_is_slower_for_blocks():
    assert served(Closed(16, 200), policy="lockstep", batch=16).span_s > served(Closed(16, 200), batch=16).span_s


def test_the_same_seed_gives_the_same_bytes():
    traffic = Traffic(requests=100, users_ladder=(1, 4))
    first, second = (json.dumps(serve(traffic=traffic, **SMALL)) for _ in range(2))
    assert first == second


def test_every_one_of_many_requests_is_answered():
    strategy = make_strategy(BLOCKS, ROOFLINE)
    pool = make_pool(strategy, DEFAULT_TEXT, spread(100, 100, 100))
    draw = substream(1, "test").random
    server = Server(CostPricer(strategy.cost), Limits(batch=64), draw_from(pool, draw, lambda: 300))
    assert server.run(Open(8, 20_000, 1)).finished == 20_000


def test_gains_fade_with_users():
    found = serve(["ar", BLOCKS], Traffic(requests=50, users_ladder=(1, 64, 512)), batch=512, **SMALL)
    (one,) = found["crossovers"]
    assert one["gain_of_one_user"] > 1 > one["gain_at_most_users"]
    assert 64 < one["wins_up_to_users"] < 512
    assert found["settings"]["pool_ledgers"] == 60 and LEAST_POOL >= 1000


@pytest.mark.parametrize("users", [4, 32, 128])
def test_the_ladder_and_one_load_in_detail_say_the_same_of_as_many_users(users):
    traffic = Traffic(requests=max(2000, 40 * users), users=users, users_ladder=(users,))
    found = serve(["ar", BLOCKS], traffic, pool=200)
    ladder = found["ladder"][0]["strategies"]
    for row in found.rows:
        assert ladder[row["strategy"]]["tokens_per_s"] == pytest.approx(row["steady_tokens_per_s"], rel=0.025)


def test_crossovers_by_hand():
    def row(users, a, b):
        return {"users": users, "strategies": {"a": {"tokens_per_s": a}, "b": {"tokens_per_s": b}}}

    (one,) = crossovers([row(1, 100, 200), row(4, 400, 200)], 10)
    assert one["wins_up_to_users"] == pytest.approx(2.0)
    assert one["wins_up_to_requests_per_s"] == pytest.approx(20.0)
    (one,) = crossovers([row(1, 100, 50), row(4, 400, 200)], 10)
    assert one["wins_up_to_users"] == 0
    (one,) = crossovers([row(1, 1, 2), row(2, 2, 1), row(4, 1, 2)], 10)
    assert one["wins_up_to_users"] is None and one["loses_within"] == [2]


def test_a_schedule_changes_the_drafts():
    plain, scheduled = (
        serve(["ar", "speculative"], Traffic(requests=50, users_ladder=(1, 64)), schedule=s, pool=20)
        for s in ((), ((1, 5), (16, 0)))
    )
    (a, b) = (list(found["ladder"][1]["strategies"].values())[1]["tokens_per_s"] for found in (plain, scheduled))
    assert a != b
    assert "scheduled" in scheduled["rows"][1]["strategy"]


def test_fixed_prices_and_logs(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(
        json.dumps({"timestamp": 1000 * i, "input_length": 50, "output_length": 10 + i % 3, "hash_ids": []})
        for i in range(30)
    ))  # fmt: skip
    sizes = tuple(read_sizes(str(path), 1000))
    assert sizes[1].time_s == 1.0
    found = serve(["ar"], Traffic(log=sizes, users_ladder=()), cost=Fixed(0.01), pool=30)
    (row,) = found["rows"]
    assert row["requests"] == 30 and row["tokens"] == sum(s.output_tokens for s in sizes)
    assert row["latency_s_p50"] == pytest.approx(0.01 + 0.11)
    assert Logged(sizes, 2.0).peek() == 0.0


class Interrupted(Open):
    def peek(self):
        if self._left < 50:
            raise KeyboardInterrupt
        return super().peek()


def test_an_interruption_keeps_what_is_finished():
    record = served(Interrupted(20, 100, 1))
    assert record.interrupted and 0 < record.finished <= 50


def test_the_command(capsys, tmp_path):
    quick = ["--pool", "20", "--requests", "50", "--ladder", "1,256"]
    assert main(["serve", *quick, "--export", str(tmp_path / "s.json"), "--target-first-token-ms", "500"]) == 0
    out = capsys.readouterr().out
    assert "stops winning at" in out and "pool of 20 ledgers" in out
    assert json.loads((tmp_path / "s.json").read_text())["schema"] == "clover-sim/serve/1"
    assert main(["serve", *quick, "--users", "4", "--think-s", "1", "--policy", "lockstep", "--format", "json"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("code", "args", "said"),
    [
        (2, ["--rate", "1", "--users", "2"], "contradict"), (2, ["--output-tokens", "9:3"], "empty range"),
        (2, ["--batch-size", "4"], "--max-batch"), (2, ["--draft-schedule", "4:2"], "ascending from 1"),
        (3, ["--log", "nothing.csv"], "no such file"), (3, ["--gpu", "rtx-3060"], "needs"),
        (3, ["--prompt-tokens", "400000"], "tokens"), (2, ["--rate", "-1"], "above 0"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(capsys, code, args, said):
    assert main(["serve", *args]) == code
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1


def test_published_curves():
    """Every gain on its side of 1, every level within 20 % but four, which docs/accuracy.md names."""
    found = check_published()
    assert (found["points"], found["gains"], found["same_side"]) == (47, 37, 37)
    off = [(c["name"], p["users"], p["error"]) for c in found["curves"] for p in c["points"] if not p["within"]]
    assert len(off) <= 4 and max(abs(error) for *_, error in off) < 0.35
    assert all("LiveCodeBench" in name or (name.startswith("LLaDA2.1-mini, Ascend") and n == 8) for name, n, _ in off)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--rate", "1e-320"), "from 1e-9 to 1e9"), (("--rate", "1e-308"), "from 1e-9 to 1e9"),
        (("--burst", "999999999999999999"), "expected from 1 to all"), (("--pool", "1000000000"), "give --pool"),
    ],
)  # fmt: skip
def test_figures_beyond_any_server_are_refused_at_once(words, told, capsys):
    assert main(["serve", "--requests", "50", *words]) == 2
    out, err = capsys.readouterr()
    assert not out and told in err and len(err.splitlines()) == 1


def test_what_a_narrow_terminal_shows_of_many_strategies():
    strategies = ["ar", "block-diffusion:threshold=0.9", "block-diffusion:threshold=0.99", "speculative"]
    found = serve(strategies, Traffic(requests=20, users_ladder=(1, 4)), pool=10)
    for width in (40, 60, 80):
        text = render_serve(found, Look(width=width))
        assert max(map(len, text.splitlines())) <= width
        shown = " ".join(text.split())
        assert "locked errors" in shown or ("locked" in shown and "errors" in shown)
        for step in found["ladder"]:
            for figures in step["strategies"].values():
                assert f"{figures['tokens_per_s']:,.0f}" in text


def test_errors_and_drafts_are_told_beside_the_ladder():
    found = serve(["ar", "speculative", BLOCKS], Traffic(requests=50, users_ladder=(1,)), pool=20)
    text = " ".join(render_serve(found, Look(width=100)).split())
    row = found.rows[2]
    assert f"of 1,000, with however many users: {BLOCKS} {1000 * row['locked_errors'] / row['tokens']:.2g}." in text
    assert "one by one, a pass each (parallel_draft=false)" in text
