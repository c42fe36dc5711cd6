"""``clover-sim speculate`` as users meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.harness import cli

BASE = ("speculate", "--model", "llama-3.1-8b", "--gpu", "h100")


def test_a_verdict_with_its_figures() -> None:
    done = cli(*BASE, "--acceptance-length", "2.8", "--num-speculative-tokens", "3", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "clover-sim/speculation/1"
    assert found["speedup"] == pytest.approx(found["tokens_per_cycle"] / found["cost_ratio"])
    assert found["acceptance"]["acceptance_length"] == pytest.approx(2.8)
    assert found["verdict"].startswith("Speculation pays")
    assert found["num_speculative_tokens_per_batch_size"][0][0] == 1


def test_both_spellings_and_a_table() -> None:
    texts = [
        cli(*BASE, "--acceptance-rate", "0.6", "--rate-of", "vllm", flag, value).stdout
        for flag, value in (("--num-speculative-tokens", "3"), ("--speculative-num-draft-tokens", "4"))
    ]
    assert texts[0] == texts[1]
    assert "verdict" in texts[0] and "break-even" in texts[0]


def test_a_schedule_by_batch() -> None:
    done = cli(*BASE, "--alpha", "0.7", "--schedule", "[[1,16,3],[17,512,0]]", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = {row["batch_size"]: row["speedup"] for row in json.loads(done.stdout)["speedup_by_batch_scheduled"]}
    assert found[16] > 1
    assert found[32] == 1


def test_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(
        "INFO SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 15.00 tokens/s, Drafted "
        "throughput: 30.00 tokens/s, Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.700, "
        "0.500, 0.300, Avg Draft acceptance rate: 50.0%\n"
    )
    done = cli(*BASE, "--from-log", log, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["num_speculative_tokens"] == 3
    assert found["acceptance"]["acceptance_length"] == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "what is accepted?"),
        (("--acceptance-rate", "0.6", "--num-speculative-tokens", "3"), "which engine printed it?"),
        (("--acceptance-rate", "0.6", "--rate-of", "vllm"), "at how many draft tokens"),
        (("--acceptance-rate", "72"), "72 % is 0.72"),
        (("--alpha", "0.7", "--workload", "code"), "give one of them"),
        (("--alpha", "0.7", "--method", "eagel3"), "did you mean"),
        (("--alpha", "0.7", "--method", "draft-model"), "which model drafts?"),
        (("--workload", "poems"), "no preset"),
        (("--alpha", "0.7", "--batch-size", "99999999999"), "expected 1 to 65536"),
        (("--alpha", "0.7", "--method", "eagle-tree", "--speculative-num-steps", "900"), "at most 64"),
        (("--alpha", "0.7", "--schedule", "1-16:3"), "not a schedule"),
        (("--alpha", "0.7", "--width-ms", "1=8"), "WIDTH:MILLISECONDS"),
        (("--alpha", "0.7", "--num-speculative-tokens", "3", "--speculative-num-draft-tokens", "6"), "contradicts"),
    ],
)
def test_refusals_are_one_line_with_the_question(flags: tuple[str, ...], words: str) -> None:
    done = cli(*BASE, *flags)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_cannot_be_is_said() -> None:
    done = cli(*BASE, "--alpha", "0.7", "--baseline", "1000000")
    assert done.returncode == 3
    assert "under a quarter of its price" in done.stderr
    done = cli(*BASE, "--alpha", "0.7", "--prompt-tokens", "100000000")
    assert done.returncode == 0
    assert "needs" in done.stderr and "but h100 gives" in done.stderr


def test_no_circle_of_imports_for_types_either() -> None:
    """What one module needs of another's types it may import: there is a lower one that holds them."""
    from test_architecture import circles, inside, modules, name_of

    packages = ("speculation", "explain", "claims", "acceptance")
    edges = {
        name_of(path): {name for name, _ in inside(path)} - {name_of(path)}
        for path in modules() if name_of(path).partition(".")[0] in packages
    }  # fmt: skip
    inner = {  # packages name their own modules for type checkers, and load them when asked
        module: {n for n in names if n in edges and n not in packages} if module not in packages else set()
        for module, names in edges.items()
    }
    assert circles(inner) == []
