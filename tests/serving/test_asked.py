"""What is asked of ``serve`` is done or refused in one line; nothing that was given is left out without a word."""

from __future__ import annotations

import json

import pytest

from clover_sim.agents.sizes import Size
from clover_sim.cli import main
from clover_sim.cost import Fixed
from clover_sim.errors import CloverError
from clover_sim.serving.limits import MOST_SERVED_TOKENS
from clover_sim.serving.run import Traffic, serve
from safety.invocations import parser

QUICK = ["--pool", "5", "--requests", "20"]
OUTPUT = {"--format", "--export", "--force", "--color", "--quiet", "--verbose", "--help"}
VALUES = {
    "--log": "log.csv", "--text": "chat", "--policy": "lockstep", "--when-full": "preempt", "--strategy": "ar",
    "--draft-schedule": "1:2", "--kv-write": "fused", "--eos-stop": "early", "--align": "absolute", "--model": "x",
    "--gpu": "x", "--engine": "x", "--precision": "fp8", "--kv-cache-dtype": "fp8", "--cost": "floor",
    "--calibration": "nosuch.json", "--threshold": "0.9",
}  # fmt: skip


def refused(capsys, *words):
    """The one line with which a run is refused."""
    assert main(["serve", *words]) == 2, words
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_published_refuses_every_flag_but_those_of_output(capsys):
    """Found in the parser: a flag that is added is asked too."""
    actions = [a for a in parser("serve")._actions if a.option_strings[-1] not in OUTPUT | {"--published"}]
    assert len(actions) > 35
    for action in actions:
        flag = action.option_strings[-1]
        value = [] if action.nargs == 0 else [VALUES.get(flag, "3")]
        assert f"{flag}: --published has" in refused(capsys, "--published", flag, *value)
    said = refused(capsys, "--published", "--users", "3", "--gpu", "h100", "--log", "nosuch")
    assert "--gpu, --log, --users: " in said and "leave them out" in said


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("timestamp,prompt_tokens,completion_tokens\n" + "".join(f"{i},50,{9 + i}\n" for i in range(4)))
    return str(path)


@pytest.mark.parametrize("flag", ["--requests", "--output-tokens", "--prompt-tokens", "--burst", "--think-s"])
def test_a_log_has_times_and_lengths_of_its_own(flag, log, capsys):
    assert f"{flag}: the requests of --log" in refused(capsys, "--log", log, flag, "7")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--think-s", "1"), "--think-s: only the users of --users"), (("--think-s", "0"), "--think-s: only"),
        (("--users", "2", "--burst", "3"), "--burst: the users of --users"),
        (("--max-new-tokens", "9"), "--max-new-tokens: answers are as long as"),
        (("--batch-size", "1"), "--batch-size: a server makes its own"),
        (("--align", "absolute"), "blocks start at the output"),
        (("--draft-schedule", "1:2", "-s", "ar"), "none of the strategies (ar) has"),
        (("--draft-schedule", "1:2", "-s", "eagle-tree"), "none of the strategies (eagle-tree) has"),
        (("--draft-schedule", "1:2", "--num-speculative-tokens", "3"), "--num-speculative-tokens: --draft-schedule"),
        (("--draft-schedule", "1:2", "--speculative-num-draft-tokens", "3"), "--speculative-num-draft-tokens: --dra"),
        (("--users", "21"), "21 users with 20 requests"),
    ],
)  # fmt: skip
def test_flags_that_would_change_nothing(words, said, capsys):
    assert said in refused(capsys, *QUICK, *words)


def test_given_times_have_no_machine(capsys):
    fixed = ["--cost", "fixed:pass_ms=3", "--ladder", "none", "-s", "ar", *QUICK]
    for words in (("--model", "llama-3.1-8b"), ("--gpu", "h100"), ("--tensor-parallel-size", "2")):
        assert f"{words[0]}: --cost fixed gives" in refused(capsys, *fixed, *words)
    assert main(["serve", *fixed]) == 0
    assert capsys.readouterr().out.startswith("fixed:pass_ms=3 cost · prompts of 1,000")
    assert main(["serve", "--cost", "floor", *fixed[2:]]) == 0
    assert capsys.readouterr().out.startswith("clover-35b-a3b on h200 · bf16 · floor cost · prompts of 1,000")


@pytest.mark.parametrize("more", [
    {"rate_per_s": 2.0}, {"users": 3}, {"think_s": 1.0}, {"burst": 2}, {"requests": 7}, {"prompt_tokens": 9},
    {"output_tokens": (1, 2)},
])  # fmt: skip
def test_the_same_from_python_beside_a_log(more):
    with pytest.raises(CloverError, match=f"{next(iter(more))} has no part in log"):
        serve("ar", Traffic(log=(Size(0.0, 1, 5),), users_ladder=(), **more), pool=2)


@pytest.mark.parametrize(("given", "said"), [
    ({"traffic": Traffic(requests=9, think_s=1.0)}, "think_s has no part in arrivals by rate"),
    ({"traffic": Traffic(requests=9, users=2, burst=2)}, "burst has no part in users"),
    ({"traffic": Traffic(requests=9, users=2, rate_per_s=2.0)}, "rate_per_s has no part in users"),
    ({"rules": {"align": "absolute"}}, "align absolute"),
    ({"schedule": ((1, 3),)}, "none of the strategies"),
    ({"schedule": ((2, 3),)}, "ascending from 1"),
    ({"schedule": ((1, 3), (1, 2))}, "ascending from 1"),
])  # fmt: skip
def test_the_same_from_python(given, said):
    with pytest.raises(CloverError, match=said):
        serve("ar", pool=2, **given)


@pytest.mark.parametrize("ladder", ["1,300", "1,4", "2,3"])
def test_every_step_that_was_asked_is_climbed(ladder, capsys):
    words = [*QUICK, "-s", "ar", "-s", "block-diffusion", "--ladder", ladder]
    assert main(["serve", *words, "--max-batch", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    asked = [int(n) for n in ladder.split(",")]
    assert [step["users"] for step in found["ladder"]] == asked
    for step in found["ladder"]:
        for one in step["strategies"].values():
            assert one["mean_batch"] <= 2
            # Little's law of a closed loop without pauses: users = requests a second times latency.
            assert one["tokens_per_s"] * one["latency_s_mean"] / 200 == pytest.approx(step["users"], rel=0.1)
    assert main(["serve", *words, "--max-batch", "2"]) == 0
    assert "with more users on the ladder some of them always wait" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [
    ("--ladder", "1:4096:1", "--max-batch", "4096"), ("--ladder", "1:4096:1", "--output-tokens", "1"),
    ("--ladder", "none", "--requests", "10000000"), ("--requests", "1000000", "--output-tokens", "5000"),
])  # fmt: skip
def test_hours_of_work_are_refused_at_once(words, capsys, monkeypatch):
    monkeypatch.setattr("clover_sim.serving.run.make_pool", None)  # nothing is run before
    assert "--allow-long" in refused(capsys, "--pool", "3", *words)


def test_long_work_is_done_where_it_is_allowed(monkeypatch, capsys):
    monkeypatch.setattr("clover_sim.serving.limits.MOST_SERVED_TOKENS", 1000)
    assert MOST_SERVED_TOKENS == 10**9
    words = [*QUICK, "-s", "ar", "--ladder", "none"]
    assert "--allow-long" in refused(capsys, *words)
    assert main(["serve", *words, "--allow-long"]) == 0


def test_many_draft_lengths_are_many_pools(capsys):
    lengths = ",".join(f"{users}:3" for users in range(1, 60))
    assert "for each of 59 draft lengths" in refused(capsys, "--draft-schedule", lengths)


def test_a_schedule_takes_the_beginning_of_a_survival_list():
    spec = "speculative:num_speculative_tokens=3,acceptance=0.8/0.6/0.4"
    traffic = Traffic(requests=20, users_ladder=())
    (row,) = serve(spec, traffic, schedule=((1, 2), (9, 0)), cost=Fixed(0.01), pool=5).rows
    assert row["requests"] == 20 and row["options"]["num_speculative_tokens"] == "1:2,9:0"
