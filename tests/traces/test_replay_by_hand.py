"""Replays of traces small enough to be followed by hand, and where recordings go."""

from __future__ import annotations

import json
import os
import stat
import sys
from array import array
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.decoders._recorded import RecordedOrder
from clover_sim.engine import run
from clover_sim.errors import CloverError, UsageError
from clover_sim.physics.extremes import mixed_stream
from clover_sim.physics.replay import ReplayPhysics, Visits
from clover_sim.recorder import record, record_all, write_records
from clover_sim.recordings import replays
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from traces.test_forms import write


def stream_of(tmp_path: Path, *passes: dict[str, Any], **rest: Any) -> Stream:
    [replay] = replays(write(tmp_path / "t.jsonl", {"block_size": len(passes), "steps": list(passes), **rest}))
    return replay.stream


def totals(stream: Stream, spec: str) -> tuple[int, int, int]:
    found = run(build_strategy(spec)[1], stream, kv_write="none").totals
    return found.target_passes, found.forced_commits, found.locked_errors


def one_by_one(**values: list[list[float]]) -> list[dict[str, Any]]:
    """Three positions settled from left to right; ``values[name][p]`` are those of p at its visits."""
    return [
        {"committed": [v], "masked": list(range(v, 3)), **{k: [row[p][v] for p in range(v, 3)] for k, row in
                                                           values.items()}} for v in range(3)
    ]  # fmt: skip


CONFIDENCE = [[0.9], [0.7, 0.95], [0.7, 0.7, 0.8]]


@pytest.mark.parametrize(("moved", "passes"), [(0.5, 3), (0.001, 2)])
def test_a_rule_of_divergence(tmp_path: Path, moved: float, passes: int) -> None:
    """The first pass has nothing to compare with and takes the best; the second takes what moved by less than 0.01."""
    kl = [[5.0], [5.0, 0.001], [5.0, moved, 0.002]]
    stream = stream_of(tmp_path, *one_by_one(confidence=CONFIDENCE, kl=kl), wrong=[False, False, True])
    spec = "stability:block_size=3,conf_threshold=0.6,kl_threshold=0.01,kl_history_length=1"
    assert totals(stream, spec) == (passes, 1, 1)


@pytest.mark.parametrize(("gamma", "passes", "forced"), [(0.05, 3, 3), (0.15, 2, 1), (0.35, 2, 0), (0.6, 1, 0)])
def test_a_rule_of_entropy(tmp_path: Path, gamma: float, passes: int, forced: int) -> None:
    """Entropies 0.1, 0.4, 0.9, in the second pass 0.2 and 0.3, then 0.1.

    In order of entropy each goes if those before it sum to at most gamma; one above gamma goes alone and forced. At
    0.05 each is above the bar. At 0.15 and 0.35 the first brings the second along (0.1), not the third (0.5), which
    then stands alone at 0.3. At 0.6 all go at once.
    """
    entropy = [[0.1], [0.4, 0.2], [0.9, 0.3, 0.1]]
    stream = stream_of(tmp_path, *one_by_one(confidence=CONFIDENCE, entropy=entropy), wrong=[False] * 3)
    assert totals(stream, f"entropy-bound:block_size=3,gamma={gamma}") == (passes, forced, 0)


def test_the_clairvoyant_takes_what_the_file_says_is_right(tmp_path: Path) -> None:
    """Right are 0 and 2: one pass for both, then one for the wrong one, which has to be guessed."""
    stream = stream_of(tmp_path, *one_by_one(confidence=CONFIDENCE), wrong=[False, True, False])
    assert totals(stream, "clairvoyant:block_size=3") == (2, 1, 1)


def test_values_by_visit() -> None:
    """Each visit has its own value, a position visited more often than recorded keeps the last, and nothing is
    recorded after the end."""
    visits = Visits(
        [array("d", [0.5, 0.6]), array("d", [0.4])], [array("q", [7, 8]), array("q", [9])],
        [array("d", [1.5, 1.0]), array("d", [2.0])], [array("d", [0.3, 0.1]), array("d", [0.2])],
    )  # fmt: skip
    physics = ReplayPhysics(visits, 2, "t.jsonl:1", 0)
    assert physics.provides >= {"entropy", "kl", "changed", "truth"}
    physics.opened(range(3))
    seen = []
    for _ in range(3):
        seen.append([(physics.confidence(p), physics.entropy(p), physics.kl(p), physics.changed(p)) for p in range(3)])
        physics.after([], [], range(3))
    assert seen == [
        [(0.5, 1.5, 0.3, True), (0.4, 2.0, 0.2, True), (1.0, 0.0, 0.0, False)],
        [(0.6, 1.0, 0.1, True), (0.4, 2.0, 0.2, False), (1.0, 0.0, 0.0, False)],
        [(0.6, 1.0, 0.1, False), (0.4, 2.0, 0.2, False), (1.0, 0.0, 0.0, False)],
    ]
    assert physics.right(2) and not physics.wrong(2, True)


def test_a_trace_without_confidences_has_no_other_order(tmp_path: Path) -> None:
    [replay] = replays(write(tmp_path / "t.jsonl", {"step_map": [1, 1, 2, 3], "block_size": 4}))
    said = "t.jsonl:1: this trace holds no confidences: only its recorded order can be replayed"
    with pytest.raises(CloverError, match=said):
        run(build_strategy("block-diffusion:block_size=4")[1], replay.stream)
    assert repr(replay.decoder) == f"RecordedOrder({tmp_path}/t.jsonl:1)"


@pytest.mark.parametrize("limit", [70, 90, 150])
def test_a_recorded_order_goes_on_in_blocks_of_one_pass(tmp_path: Path, limit: int) -> None:
    _, entry = record(build_strategy("factor")[1], mixed_stream(70), strategy="factor", kv_write="none")
    write_records(path := str(tmp_path / "t.jsonl"), [entry])
    [replay] = replays(path)
    assert isinstance(replay.decoder, RecordedOrder)
    found = run(replay.decoder, replay.stream, max_new_tokens=limit, eos_stop="canvas").totals
    assert found.target_passes == replay.recording.passes + ceil((limit - 70) / 32)
    assert found.tokens == 70


def test_the_prompt_and_what_follows_the_text_are_not_recorded(tmp_path: Path) -> None:
    _, decoder = build_strategy("block-diffusion")
    short, entry = record(decoder, mixed_stream(40), kv_write="none")
    assert record(decoder, mixed_stream(40), kv_write="none", prompt_tokens=100)[1] == entry
    longer, padded = record(decoder, mixed_stream(40), kv_write="none", max_new_tokens=128, eos_stop="canvas")
    assert longer.totals.target_passes > short.totals.target_passes
    assert [b["start"] for b in padded["blocks"]] == [b["start"] for b in entry["blocks"]] == [0, 32]


def test_what_cannot_be_recorded_is_refused() -> None:
    stream = mixed_stream(8)
    causal = [(name, build_strategy(name)[1]) for name in ("ar", "speculative", "eagle3")]
    with pytest.raises(UsageError, match=r"^recording needs a strategy of block diffusion, such as -s block-diffusion"):
        record_all(causal, [stream])
    assert len(record_all([*causal, ("block-diffusion", build_strategy("block-diffusion")[1])], [stream] * 2)) == 2
    with pytest.raises(UsageError, match="max_new_tokens = -1"):
        record_all([("block-diffusion", build_strategy("block-diffusion")[1])], [stream], max_new_tokens=-1)


@pytest.mark.skipif(sys.platform == "win32", reason="modes and devices of POSIX")
def test_where_recordings_go(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text("old")
    kept.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(kept)
    assert write_records(str(link), [{"a": 1}]) == 1
    assert link.is_symlink() and json.loads(kept.read_text()) == {"a": 1}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640  # the file is another one, its mode is not
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept.jsonl", "link.jsonl"]
    assert write_records(os.devnull, [{"a": 1}]) == 1 and not stat.S_ISREG(os.stat(os.devnull).st_mode)


SLIPS = [
    (["--profile", "chat"], "--trace brings streams of its own: leave out --profile"),
    (["--input", "t.jsonl"], "--trace brings streams of its own: leave out --input"),
    (["--tokens", "5"], "--trace brings streams of its own: leave out --tokens"),
    (["--seeds", "0:3"],
     "--seeds: a trace was recorded once; give one seed, which draws the errors it does not hold"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), SLIPS, ids=[words[0] for words, _ in SLIPS])
def test_flags_that_a_trace_answers_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("t.jsonl"), {"step_map": [1, 1, 2, 3], "block_size": 4})
    assert main(["compare", "--trace", "t.jsonl", *words]) == 2
    assert capsys.readouterr() == ("", f"clover-sim compare: error: {said}\n")
