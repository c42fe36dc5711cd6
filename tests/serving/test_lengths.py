"""Answers as long as what was asked: those of a log add up to the log's tokens, whatever the pool."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from clover_sim.agents.sizes import Size
from clover_sim.agents.texts import DEFAULT_TEXT, open_text
from clover_sim.cli import main
from clover_sim.cost import Fixed
from clover_sim.engine import run
from clover_sim.errors import InputError, UsageError
from clover_sim.prepare import make_strategy
from clover_sim.serving.lengths import grouped, spread
from clover_sim.serving.pool import cut, make_pool, passes_of
from clover_sim.serving.run import Traffic, serve

BLOCKS = "block-diffusion"


def log_of(lengths, prompt=100):
    return tuple(Size(float(i), prompt, n) for i, n in enumerate(lengths))


def a_long_tail(n, seed=1):
    draw = Random(seed)
    return [1 + int(draw.lognormvariate(4, 1.2)) for _ in range(n)]


@pytest.mark.parametrize("pool", [8, 60, 1000])
def test_a_long_answer_among_short_ones_is_served(pool, tmp_path, capsys):
    lengths = [100 + i % 7 for i in range(2999)] + [20_000]
    path = tmp_path / "log.csv"
    path.write_text("timestamp,prompt_tokens,completion_tokens\n" + "".join(
        f"{i},100,{n}\n" for i, n in enumerate(lengths)
    ))  # fmt: skip
    words = ["serve", "--log", str(path), "--pool", str(pool), "--ladder", "none", "-s", "ar", "-s", BLOCKS]
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["tokens"] for row in found["rows"]] == [sum(lengths)] * 2
    assert found["settings"]["output_tokens"] == [100, 20_000] and found["settings"]["length_groups"] is None


@pytest.mark.parametrize("pool", [1, 2, 3, 5, 20, 100])
def test_the_tokens_of_a_log_whatever_the_pool(pool):
    lengths = a_long_tail(1500)
    distinct = len(set(lengths))
    assert distinct > 100
    found = serve(["ar", BLOCKS], Traffic(log=log_of(lengths), users_ladder=()), cost=Fixed(0.01), pool=pool)
    asked, served = sum(lengths), [row["tokens"] for row in found.rows]
    assert served[0] == served[1]  # the same answers for all
    assert served[0] == pytest.approx(asked, rel=0.005)
    assert found["settings"]["length_groups"] <= pool < distinct
    assert f"stand in {found['settings']['length_groups']} group" in str(found).replace("\n  ", " ")


def test_plain_decoding_alone_needs_no_pool():
    lengths = a_long_tail(800)
    found = serve("ar", Traffic(log=log_of(lengths), users_ladder=()), cost=Fixed(0.01), pool=1)
    assert found.rows[0]["tokens"] == sum(lengths)
    assert sorted(Counter(lengths)) == list(grouped(log_of(lengths), 1, apart=True).served)


def test_groups_keep_their_tokens_and_their_ends():
    log = log_of(a_long_tail(5000, seed=3))
    for pool in (3, 10, 200):
        made = grouped(log, pool)
        assert len(made.ledgers) == pool and set(made.ledgers) == set(made.served)
        assert made.served[0] == min(n for _, _, n in log) and made.served[-1] == max(n for _, _, n in log)
        by_top = Counter()
        sizes = Counter()
        for _, _, n in log:
            group = next(i for i, top in enumerate(made.tops) if n <= top)
            assert made.of(n) == made.served[group]
            by_top[group] += n
            sizes[group] += 1
        for group, mean in enumerate(made.served):
            assert abs(by_top[group] / sizes[group] - mean) <= 0.5


def test_the_ladder_draws_from_the_log():
    """Two kinds of requests, one of them hard on the prompt: the ladder is between the two, near their mix."""
    short, long = [Size(0.0, 4000, 10)] * 30, [Size(0.0, 10, 400)] * 30
    mean = {}
    for name, log in (("short", short), ("long", long), ("both", short + long)):
        step = serve("ar", Traffic(log=tuple(log), users_ladder=(1,)), pool=10)["ladder"][0]["strategies"]["ar"]
        mean[name] = step["latency_s_mean"]
    assert mean["both"] == pytest.approx((mean["short"] + mean["long"]) / 2, rel=0.05)


@pytest.mark.parametrize(("low", "high"), [(100, 300), (7, 7), (1, 2), (1, 5000)])
@pytest.mark.parametrize("pool", [1, 2, 10, 1000])
def test_a_range_is_even_in_a_small_pool_too(low, high, pool):
    ledgers = spread(low, high, pool).ledgers
    assert len(ledgers) == pool and low <= ledgers[0] <= ledgers[-1] <= high
    assert sum(ledgers) / pool == pytest.approx((low + high) / 2, abs=1)


@pytest.mark.parametrize("rules", [{}, {"kv_write": "separate"}, {"kv_write": "fused"}, {"eos_stop": "canvas"}])
def test_cutting_plain_decoding_is_running_it(rules):
    strategy = make_strategy("ar", Fixed(0.01))
    longest = passes_of(run(strategy.decoder, open_text(DEFAULT_TEXT, 300, 0), **rules))
    pool = make_pool(strategy, DEFAULT_TEXT, spread(1, 300, 300), rules)
    for tokens in (1, 2, 3, 31, 299, 300):
        alone = passes_of(run(strategy.decoder, open_text(DEFAULT_TEXT, tokens, tokens), **rules))
        assert cut(longest, tokens) == alone == pool.draw((tokens - 0.5) / 300)


def test_a_prompt_of_the_log_counts_for_the_window():
    log = (Size(0.0, 100, 10), Size(1.0, 300_000, 10))
    with pytest.raises(InputError, match=r"a request has 300010 tokens, but .* takes"):
        serve("ar", Traffic(log=log, users_ladder=()), pool=2)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ((Size(0.0, 1, 0),), "at least one token"), ((Size(0.0, 1, True),), "whole numbers"),
        ((Size(0.0, 1, 1), Size(None, 1, 1)), "1 of 2 requests have a time"),
        ((Size(2.0, 1, 1), Size(1.0, 1, 1)), "goes back"),
    ],
)  # fmt: skip
def test_logs_that_cannot_be_served(log, said):
    with pytest.raises((UsageError, InputError), match=said):
        serve("ar", Traffic(log=log, users_ladder=()), pool=2)
