"""What is recorded can be replayed: the same passes, commits and forced flags, for every kind of strategy."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.decoders._recorded import RecordedOrder
from clover_sim.errors import InputError, UsageError
from clover_sim.physics.extremes import extreme_stream, mixed_stream
from clover_sim.recorder import record, write_records
from clover_sim.recordings import check_strategy, notes, replays
from clover_sim.registry import build_strategy
from clover_sim.streams.base import Stream
from clover_sim.streams.profiles import open_stream
from clover_sim.streams.workloads import ContextSettings, open_context
from core.scripted import run_audited

STREAMS = {
    "reference": open_stream("reference", 100),
    "tool-call": open_stream("tool-call", 100),
    "context": open_context("context", 100, ContextSettings("code", 3)),
    "restless": extreme_stream("restless", 100),
}
STRATEGIES = {
    "block-diffusion:block_size=16,threshold=0.9": "block-diffusion", "clover": "block-diffusion",
    "factor": "recorded", "sdar": "recorded", "hierarchy": "recorded", "pipelined": "recorded",
    "entropy-bound": "recorded", "llada2.1-speed": "recorded", "wino": "recorded", "diffusiongemma": "recorded",
}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", STREAMS)
def test_round_trip(tmp_path: Path, name: str, strategy: str) -> None:
    stream, (_, decoder) = STREAMS[name], build_strategy(strategy)
    if getattr(decoder, "needs", frozenset()) - stream.physics().provides:
        pytest.skip("the stream does not provide what the strategy needs")
    first, entry = record(decoder, stream, strategy=strategy)
    path = str(tmp_path / "t.jsonl.gz")
    assert write_records(path, [entry, entry]) == 2
    for replay in replays(path):
        assert replay.strategy == STRATEGIES[strategy]
        again = run_audited(replay.decoder, replay.stream)
        assert list(again.ledger.positions[0].row) == list(first.ledger.positions[0].row)
        assert again.ledger.positions[0].taken_back == first.ledger.positions[0].taken_back
        assert again.totals.forced_commits == first.totals.forced_commits
        assert again.kv_write == first.kv_write or first.kv_write == "fused"
        writes = [run.totals.target_passes - run.totals.kv_write_passes for run in (first, again)]
        assert writes[0] == writes[1]


def test_recording_changes_nothing() -> None:
    _, decoder = build_strategy("block-diffusion")
    stream = mixed_stream(77)
    assert record(decoder, stream)[0].totals == run_audited(decoder, stream).totals


def test_padding_leaves_the_order_to_be_replayed(tmp_path: Path) -> None:
    _, decoder = build_strategy("block-diffusion")
    first, entry = record(decoder, mixed_stream(40), max_new_tokens=64, eos_stop="canvas")
    write_records(path := str(tmp_path / "t.jsonl"), [entry])
    [replay] = replays(path)
    assert replay.strategy == "recorded"
    rows = list(run_audited(replay.decoder, replay.stream).ledger.positions[0].row)
    assert rows == list(first.ledger.positions[0].row)[:40]
    assert any("name no threshold" in note for note in notes([replay.recording]))


def test_causal_strategies_are_not_recorded() -> None:
    with pytest.raises(UsageError, match="settles causally"):
        record(build_strategy("ar")[1], mixed_stream(8), strategy="ar")


def test_a_recording_without_entropies_refuses_entropy_rules(tmp_path: Path) -> None:
    _, entry = record(build_strategy("block-diffusion")[1], mixed_stream(40))
    write_records(path := str(tmp_path / "t.jsonl"), [entry])
    [replay] = replays(path)
    with pytest.raises(InputError, match="needs the entropy of every masked position"):
        check_strategy(replay.recording, "entropy-bound", build_strategy("entropy-bound")[1])
    check_strategy(replay.recording, "factor", build_strategy("factor")[1])
    check_strategy(replay.recording, "recorded", RecordedOrder(replay.recording))


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_records(str(tmp_path / "no" / "t.jsonl"), [])


def test_the_limit_may_cut_a_recorded_order(tmp_path: Path) -> None:
    _, entry = record(build_strategy("factor")[1], mixed_stream(70), strategy="factor")
    write_records(path := str(tmp_path / "t.jsonl"), [entry])
    [replay] = replays(path)
    stream: Stream = replay.stream
    for limit in (1, 33, 70, 90):
        totals = run_audited(replay.decoder, stream, max_new_tokens=limit).totals
        assert totals.tokens == min(limit, 70)
