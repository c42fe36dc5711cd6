"""A tree of drafts: its length is no chain's, its rate is over nodes that cannot all be kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.acceptance import Acceptance, DraftTree, from_length
from clover_sim.acceptance.trees import alpha_on, on_tree
from clover_sim.draft_trees import best_first
from clover_sim.errors import InputError
from logs.test_measured_cycle import ask

GPU = ("--gpu", "h100")


def log(length: float, *, steps: int = 5, topk: int = 8, tokens: int = 32, algorithm: str = "EAGLE3",
        start: bool = True, speed: float = 800.0) -> str:  # fmt: skip
    head = (
        f"server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', speculative_algorithm='{algorithm}', "
        f"speculative_num_steps={steps}, speculative_eagle_topk={topk}, speculative_num_draft_tokens={tokens})\n"
    )
    return head * start + "".join(
        f"[2026-02-03 04:05:0{i}] Decode batch, #running-req: 8, #token: {3000 + 800 * i}, token usage: 0.10, accept "
        f"len: {length:.2f}, accept rate: {length / tokens:.2f}, cuda graph: True, gen throughput (token/s): "
        f"{speed:.2f}, #queue-req: 0, \n"
        for i in range(4)
    )


@pytest.mark.parametrize("alpha", [0.1, 0.42, 0.6, 0.9])
@pytest.mark.parametrize("tree", [(5, 8, 32), (3, 1, 4), (2, 4, 4), (7, 10, 60)])
def test_a_tree_goes_back_to_the_chance_of_a_token(alpha: float, tree: tuple[int, int, int]) -> None:
    """Against the best-first tree itself, and in closed form for a chain."""
    shape, length = DraftTree(*tree), best_first(alpha, *tree).length
    assert alpha_on(length, shape) == pytest.approx(alpha, abs=1e-6)
    made = Acceptance(on_tree(alpha, shape), tree=shape)
    assert made.alpha == pytest.approx(alpha, abs=1e-6) and made.length == pytest.approx(length)
    assert made.at(3).length == pytest.approx(1 + alpha + alpha**2 + alpha**3, abs=1e-5)
    assert made.rate == pytest.approx((length - 1) / (tree[2] - 1)) and made.rate <= tree[0] / (tree[2] - 1)


def test_a_chain_goes_onto_a_tree_by_the_same_chance() -> None:
    chain = from_length(1 + 0.5 + 0.25, 2)
    assert chain.on(DraftTree(5, 8, 32)).length == pytest.approx(best_first(0.5, 5, 8, 32).length, abs=1e-6)


def test_a_length_beyond_the_levels_is_refused() -> None:
    with pytest.raises(InputError, match="on a tree of 5 levels: expected 1 to 6"):
        alpha_on(6.5, DraftTree(5, 8, 32))


def test_a_shorter_chain_is_priced_by_the_chance_of_a_token(tmp_path: Path) -> None:
    """2.36 tokens on a tree of 32 are about 0.42 a token: a chain of 3 writes 1.67, not 2.18 as of its first levels."""
    answer, _ = ask(tmp_path, log(2.36), *GPU, "--method", "eagle3", "--speculative-num-draft-tokens", "4",
                    command="speculate")  # fmt: skip
    alpha = alpha_on(2.36, DraftTree(5, 8, 32))
    assert answer["acceptance"]["acceptance_length"] == pytest.approx(1 + alpha + alpha**2 + alpha**3, abs=1e-3)
    assert answer["lengths"][0]["tokens_per_cycle"] == pytest.approx(1 + alpha, abs=1e-3)
    other, _ = ask(tmp_path, log(2.36), *GPU, "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
                   command="speculate")  # fmt: skip
    assert (other["verify_width"], other["tree"]) == (4, {"levels": 3, "topk": 1, "budget": 4})
    lengths = [each["acceptance"]["acceptance_length"] for each in (other, answer)]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-6)
    assert other["speedup"] == pytest.approx(answer["speedup"], rel=1e-6)
    smaller, _ = ask(tmp_path, log(2.36), *GPU, "--speculative-num-draft-tokens", "8", command="speculate")
    assert smaller["acceptance"]["acceptance_length"] == pytest.approx(best_first(alpha, 5, 8, 8).length, abs=1e-3)


def test_a_chain_of_a_log_on_a_tree(tmp_path: Path) -> None:
    text = log(1.75, steps=2, topk=1, tokens=3)
    answer, _ = ask(tmp_path, text, *GPU, "--method", "eagle-tree", "--speculative-num-steps", "5",
                    "--speculative-eagle-topk", "8", "--speculative-num-draft-tokens", "32",
                    command="speculate")  # fmt: skip
    assert answer["acceptance"]["acceptance_length"] == pytest.approx(best_first(0.5, 5, 8, 32).length, abs=2e-3)


def test_both_commands_give_one_rate_and_one_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = log(2.36)
    document, _ = ask(tmp_path, text, *GPU)
    (section,) = document["sections"]
    answer, _ = ask(tmp_path, text, *GPU, command="speculate")
    assert section["tree"] == answer["tree"] == {"levels": 5, "topk": 8, "budget": 32}
    assert answer["acceptance"]["acceptance_rate"] == pytest.approx(section["acceptance_rate"], rel=1e-6)
    assert section["acceptance_rate"] == pytest.approx(1.36 / 31, rel=1e-3)
    assert answer["wasted_drafts_per_1000_tokens"] == pytest.approx(1000 * (31 - 1.36) / 2.36, rel=1e-3)
    from clover_sim.cli import main

    assert main(["explain", str(tmp_path / "server.log"), "--color", "never"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "of at most 6" in told and "of at most 32" not in told and "so 16.1% at most" in told
    assert "num_speculative_tokens 31" not in told and "low acceptance" not in told and "for nothing" not in told
    assert any("it cannot exceed 16.1%" in line for line in answer["acceptance"]["conventions"])


@pytest.mark.parametrize(("length", "low"), [(1.15, True), (2.36, False), (3.4, False)])
def test_low_is_low_for_a_tree(length: float, low: bool, tmp_path: Path) -> None:
    warnings = ask(tmp_path, log(length))[0]["warnings"]
    assert any("low acceptance" in warning for warning in warnings) == low


def test_alternatives_in_the_flags_of_the_logs_engine(tmp_path: Path) -> None:
    """Levels, never a bare draft length; and a chain is named beside the tree."""
    document, _ = ask(tmp_path, log(2.36, speed=500.0), *GPU)
    found, verdict = document["sections"][0]["prediction"], document["verdict"]
    assert found["chain_setting"].startswith("--speculative-num-steps") and "--speculative-eagle-topk 1 " in verdict
    assert found["chain_setting"] in verdict and "draft length" not in verdict
    answer, _ = ask(tmp_path, log(2.36, speed=500.0), *GPU, command="speculate")
    chain = answer["best_chain"]
    assert chain["topk"] == 1 and chain["budget"] == chain["levels"] + 1 and chain["setting"] in answer["verdict"]
    alpha = alpha_on(2.36, DraftTree(5, 8, 32))
    tokens = 1 + sum(alpha**n for n in range(1, chain["levels"] + 1))
    assert chain["tokens_per_cycle"] == pytest.approx(tokens, abs=1e-3)
    alone, _ = ask(tmp_path, log(2.36, speed=500.0), *GPU, "--speculative-num-steps", str(chain["levels"]),
                   "--speculative-eagle-topk", "1", command="speculate")  # fmt: skip
    assert alone["speedup"] == pytest.approx(chain["speedup"], rel=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (log(2.4, steps=5, topk=1, tokens=6), "--speculative-num-draft-tokens"),
        ("vllm", "num_speculative_tokens "),
        ("llama", "--draft-max "),
    ],
    ids=["sglang", "vllm", "llama.cpp"],
)
def test_a_length_in_the_words_of_its_engine(text: str, words: str, tmp_path: Path) -> None:
    from logs.lines import engine, v1
    from logs.test_wrong_machine import TIMINGS

    flags: tuple[str, ...] = ("--model", "llama-3.1-8b", "--method", "eagle3", *GPU)
    if text == "vllm":
        text = engine(1000.0, 32) + v1(5000, [2750, 1320, 595, 275, 135, 65, 35])
    elif text == "llama":
        text, flags = TIMINGS, ("--model", "qwen3-8b", "--method", "mtp")
    document, _ = ask(tmp_path, text, *flags)
    answer, _ = ask(tmp_path, text, *flags, command="speculate")
    assert words in document["sections"][0]["prediction"]["fastest_setting"] == answer["fastest_setting"]


def test_layers_of_the_target_in_a_tree(tmp_path: Path) -> None:
    """SGLang's NEXTN with several children is a tree of its own layer's drafts."""
    text = log(2.2, steps=2, topk=4, tokens=4, algorithm="NEXTN")
    document, _ = ask(tmp_path, text, *GPU)
    found = document["sections"][0]["prediction"]
    assert found["verify_width"] == 4 and "mtp-head in 2 passes" in found["note"]
    answer, _ = ask(tmp_path, text, *GPU, command="speculate")
    assert (answer["verify_width"], answer["draft_passes"]) == (4, 2) and "mtp-head" in answer["drafter"]
    assert answer["speedup"] == pytest.approx(document["sections"][0]["estimated"]["speedup"], rel=2e-3)


def test_fewer_tokens_than_levels(tmp_path: Path) -> None:
    """SGLang takes them: the tree then has as many levels as drafts at most."""
    text = log(2.0, steps=5, topk=8, tokens=4)
    (section,) = ask(tmp_path, text, *GPU)[0]["sections"]
    answer, _ = ask(tmp_path, text, *GPU, command="speculate")
    assert section["tree"] == answer["tree"] == {"levels": 3, "topk": 8, "budget": 4}
    assert answer["speedup"] == pytest.approx(section["estimated"]["speedup"], rel=2e-3)


def test_a_tree_whose_levels_are_not_stated(tmp_path: Path) -> None:
    text = log(2.36).replace("speculative_num_steps=5, ", "")
    assert any("may be those of a tree" in w for w in ask(tmp_path, text, *GPU)[0]["warnings"])
    given = ask(tmp_path, text, *GPU, "--speculative-num-steps", "5", "--speculative-eagle-topk", "8")[0]
    assert given["sections"][0]["tree"]["levels"] == 5 and not any("those of a tree" in w for w in given["warnings"])


def test_no_shape_gains_more_than_it_writes(tmp_path: Path) -> None:
    """A cycle far below its price must not make others shorter than the plain step that they hold."""
    answer, _ = ask(tmp_path, log(2.36, steps=64, topk=256, tokens=512, speed=2400.0), *GPU, command="speculate")
    assert answer["cycle_factor"] < 0.5
    assert answer["best_chain"]["speedup"] <= answer["best_chain"]["tokens_per_cycle"]


def test_a_tree_that_the_log_does_not_describe_is_asked_for(tmp_path: Path) -> None:
    flags = (*GPU, "--model", "llama-3.1-8b", "--method", "eagle3")
    text = log(2.36, start=False).replace("accept rate: 0.07", "accept rate: 0.0738")
    document, _ = ask(tmp_path, text, *flags, "--speculative-num-draft-tokens", "32")
    assert any("give --speculative-num-steps and --speculative-eagle-topk" in w for w in document["warnings"])
    given = ("--speculative-num-draft-tokens", "32", "--speculative-num-steps", "5", "--speculative-eagle-topk", "8")
    described, _ = ask(tmp_path, text, *flags, *given)
    stated, _ = ask(tmp_path, log(2.36), *GPU)
    keys = ("cycle_s", "fitted_speedup", "best_num_speculative_tokens")
    ours, theirs = (d["sections"][0]["prediction"] for d in (described, stated))
    assert [ours[k] for k in keys] == pytest.approx([theirs[k] for k in keys])


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--speculative-num-steps", "5"), "give both"),
        (("--speculative-num-steps", "40", "--speculative-eagle-topk", "8"), "as many tokens as levels"),
        (("--speculative-num-steps", "4", "--speculative-eagle-topk", "8"), "the log states 5 and 8"),
    ],
)
def test_a_tree_that_cannot_be(flags: tuple[str, ...], words: str, tmp_path: Path) -> None:
    import contextlib
    import io

    from clover_sim.cli import main

    path, err = tmp_path / "server.log", io.StringIO()
    path.write_text(log(2.36))
    with contextlib.redirect_stderr(err):
        assert main(["explain", str(path), *flags]) == 2
    assert words in err.getvalue() and err.getvalue().count("\n") == 1


def test_levels_that_were_counted_are_taken_as_they_are(tmp_path: Path) -> None:
    """A histogram of requests counts the levels of the tree itself."""
    meta: dict[str, Any] = {"meta_info": {
        "completion_tokens": 250, "spec_verify_ct": 100, "spec_draft_token_num": 3100, "e2e_latency": 2.0,
        "spec_accept_histogram": [30, 30, 20, 10, 10, 0],
    }}  # fmt: skip
    document, _ = ask(tmp_path, log(2.36).splitlines()[0] + "\n" + json.dumps(meta) + "\n", *GPU)
    (section,) = document["sections"]
    assert section["tree"] == {"levels": 5, "topk": 8, "budget": 32}
    assert section["per_position_survival"] == pytest.approx([0.7, 0.4, 0.2, 0.1, 0.0])
    assert "of at most 32" not in document["verdict"]
