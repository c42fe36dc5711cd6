"""Every form a trace may have, read and replayed: the passes that come out are those that were recorded."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.engine import run
from clover_sim.errors import InputError
from clover_sim.recordings import check_strategy, notes, replays, unknown_columns
from clover_sim.registry import build_strategy
from clover_sim.streams.traces import read_trace


def write(path: Path, *values: Any, indent: int | None = None) -> str:
    path.write_text("\n".join(json.dumps(v, indent=indent) for v in values) + "\n", encoding="utf-8")
    return str(path)


def denoise(path: str) -> list[int]:
    """Denoise and edit passes of each sequence under its own rule."""
    counts = []
    for replay in replays(path):
        totals = run(replay.decoder, replay.stream).totals
        assert totals.tokens == len(replay.recording)
        counts.append(totals.target_passes - totals.kv_write_passes)
    return counts


# The rule's three plain cases: nothing reaches the bar, a mixture, everything at once (threshold 0.95, 4 positions).
NOTHING = [[0.6, 0.9, 0.4, 0.5], [0.7, None, 0.5, 0.6], [None, None, 0.6, 0.7], [None, None, 0.8, None]]
MIXED = [[0.99, 0.4, 0.96, 0.3], [None, 0.8, None, 0.9], [None, 0.97, None, None]]
AT_ONCE = [[0.99, 0.98, 0.97, 0.96]]


@pytest.mark.parametrize(("rows", "forced"), [(NOTHING, 4), (MIXED, 1), (AT_ONCE, 0)])
def test_matrix(tmp_path: Path, rows: Any, forced: int) -> None:
    path = write(tmp_path / "t.json", {"block_size": 4, "threshold": 0.95, "passes": rows}, indent=1)
    [replay] = replays(path)
    result = run(replay.decoder, replay.stream)
    assert replay.strategy == "block-diffusion"
    assert (result.totals.target_passes, result.totals.forced_commits) == (len(rows), forced)
    assert run(replay.decoder, replay.stream, kv_write="separate").totals.target_passes == len(rows) + 1


def test_matrix_at_another_threshold(tmp_path: Path) -> None:
    [replay] = replays(write(tmp_path / "t.json", {"block_size": 4, "threshold": 0.95, "passes": NOTHING}))
    _, looser = build_strategy("block-diffusion:block_size=4,threshold=0.5")
    assert run(looser, replay.stream).totals.target_passes == 2
    assert any("is approximate" in note for note in notes([replay.recording], [looser]))
    assert not any("is approximate" in note for note in notes([replay.recording], [replay.decoder]))


@pytest.mark.parametrize(("tie_commits", "comparison"), [(True, "ge"), (False, "gt")])
def test_the_comparison_that_fits_is_found(tmp_path: Path, tie_commits: bool, comparison: str) -> None:
    rows = [[0.99, 0.95], [None, 0.97]] if not tie_commits else [[0.99, 0.95]]
    [found] = read_trace(write(tmp_path / "t.json", {"threshold": 0.95, "passes": rows}))
    assert found.comparison == comparison


def sequence(**changes: Any) -> dict[str, Any]:
    """Two blocks of two positions in the form of pass records."""
    record = {
        "id": "s", "block_size": 2, "threshold": 0.9, "tokens": ["{", "x", "}", "7"],
        "token_class": ["structural", "rare", "structural", "digit"],
        "blocks": [
            {"start": 0, "passes": [
                {"masked": [0, 1], "confidence": [0.99, 0.5], "committed": [0], "fallback": False, "top1": [3, 4]},
                {"masked": [1], "confidence": [0.7], "committed": [1], "fallback": True, "top1": [5]},
            ]},
            {"start": 2, "passes": [
                {"masked": [2, 3], "confidence": [0.95, 0.93], "committed": [2, 3], "fallback": False, "top1": [1, 2]},
            ]},
        ],
    }  # fmt: skip
    return {**record, **changes}


def test_pass_records(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    with gzip.open(path, "wt") as stream:
        stream.write(json.dumps(sequence()) + "\n" + json.dumps(sequence(id="again", domain="tool")) + "\n")
    first, second = replays(str(path))
    assert (first.recording.name, second.recording.name, second.recording.domain) == ("s", "again", "tool")
    assert first.recording.holds == {"passes", "order", "confidence", "guess"}
    assert first.stream.kv_write == "none" and first.stream.texts == ("{", "x", "}", "7")
    assert bytes(first.stream.classes) == b"\x00\x02\x00\x02"
    result = run(first.decoder, first.stream)
    assert [row["committed"] for row in result.ledger.rows()] == [1, 1, 2]
    assert result.totals.forced_commits == 1
    physics = first.stream.physics()
    assert "changed" in physics.provides and "entropy" not in physics.provides


def test_one_record_a_block_with_cache_writes_and_edits(tmp_path: Path) -> None:
    blocks = [
        {"request": 7, "block": 3, "start": 96, "size": 2, "threshold": 0.9, "steps": [
            {"forward": 1, "kind": "denoise", "confidence": {"96": 0.99, "97": 0.95}, "committed": [96, 97]},
            {"forward": 2, "kind": "denoise", "confidence": {}, "committed": [], "edited": [96]},
            {"forward": 3, "kind": "kv_commit"}]},
        {"request": 7, "block": 4, "start": 98, "size": 2, "threshold": 0.9, "steps": [
            {"kind": "denoise", "confidence": {"98": 0.99, "99": 0.5}, "committed": [98], "forced": False},
            {"kind": "denoise", "confidence": {"99": 0.6}, "committed": [99], "forced": True},
            {"kind": "kv_commit"}]},
    ]  # fmt: skip
    path = write(tmp_path / "t.jsonl", blocks[1], blocks[0])
    [replay] = replays(path)
    assert (replay.recording.name, len(replay.recording), replay.strategy) == ("7", 4, "recorded")
    assert replay.recording.kv_write == "separate"
    totals = run(replay.decoder, replay.stream).totals
    assert (totals.target_passes, totals.kv_write_passes, totals.reopened, totals.forced_commits) == (6, 2, 1, 1)


def test_a_request_that_begins_in_the_middle_of_a_block(tmp_path: Path) -> None:
    """The end of the prompt shares the first block: its first pass has fewer masks."""
    steps = [{"confidence": {"5": 0.99, "6": 0.99, "7": 0.99}, "committed": [5, 6, 7]}]
    rest = [{"confidence": {str(p): 0.99 for p in range(8, 16)}, "committed": list(range(8, 16))}]
    blocks = [{"start": 0, "passes": steps}, {"start": 8, "passes": rest}]
    path = write(tmp_path / "t.jsonl", {"block_size": 8, "threshold": 0.9, "blocks": blocks})
    assert denoise(path) == [2]


def test_step_map(tmp_path: Path) -> None:
    whole = {"step_map": [1, 1, 2, 3, 4, 6, 4, 4], "block_size": 4, "pieces": list("abcdefgh"), "is_special": [0] * 8}
    anew = {"step_map": [0, 1, 0, 2, 0, 0, 0, 0], "block_size": 4}
    path = write(tmp_path / "t.jsonl", whole, anew)
    first, second = replays(path)
    assert denoise(path) == [6, 4]  # 1-3 and 4-6, where 5 settled nothing; 0-2 and 0
    assert first.recording.texts == tuple("abcdefgh")
    assert first.recording.answers() == ("passes and tokens per pass", "which positions each pass settled")
    assert unknown_columns(second.recording) == ("forced_commits", "locked_errors")
    with pytest.raises(InputError, match=r"t\.jsonl:1: strategy x needs the confidence .* can tell: passes"):
        check_strategy(first.recording, "x", build_strategy("block-diffusion")[1])
    check_strategy(first.recording, "ar", build_strategy("ar")[1])
    check_strategy(first.recording, "speculative", build_strategy("speculative")[1])


def test_step_map_without_a_block_size(tmp_path: Path) -> None:
    steps = [s + 10 * (p // 8) for p, s in enumerate([1, 5, 2, 4, 3, 1, 2, 5] * 4)]
    [found] = read_trace(write(tmp_path / "t.jsonl", {"first_unmask_times": steps}))
    assert found.block_size == 8 and found.passes == 20


def test_step_maps_a_block(tmp_path: Path) -> None:
    records = [{"request": 0, "block": b, "size": 4, "step_map": [1, 2, 2, 3]} for b in range(3)]
    assert denoise(write(tmp_path / "t.jsonl", *records)) == [9]


def test_block_steps_list(tmp_path: Path) -> None:
    record = {"request_id": "r1", "output_len": 70, "ttfb_ms": 10, "latency_ms": 90, "block_steps_list": [3, 4, 40]}
    path = write(tmp_path / "t.jsonl", record)
    [found] = read_trace(path)
    assert (len(found), found.block_size, found.holds) == (70, 32, {"passes"})
    assert denoise(path) == [47]


def test_step_log(tmp_path: Path) -> None:
    log = [
        {"raw_forward_calls": 3, "unmask_steps": 2, "block_steps": [2], "kv_saved": [True]},
        {"raw_forward_calls": 6, "unmask_steps": 5, "block_steps": [5], "kv_saved": [True]},
    ]
    path = write(tmp_path / "t.jsonl", *log)
    [replay] = replays(path)
    totals = run(replay.decoder, replay.stream).totals
    assert (totals.target_passes, totals.kv_write_passes) == (9, 2)
    rows = [{"raw_forward_calls": 4, "unmask_steps": 3, "block_steps": [3, 4, 2]}] * 2
    assert denoise(write(tmp_path / "b.jsonl", *rows)) == [6, 8, 4]


def test_all_steps(tmp_path: Path) -> None:
    def token(p: int, c: float, kl: float) -> dict[str, Any]:
        return {"position": 100 + p, "token_id": p, "confidence": c, "kl_divergence": kl}

    steps = [
        {"step": 0, "decoded_tokens": [token(0, 0.9, 1.0)],
         "all_tokens": [token(p, 0.9 - p / 10, 1.0) for p in range(3)]},
        {"step": 1, "decoded_tokens": [token(2, 0.8, 0.1), token(1, 0.7, 0.2)],
         "all_tokens": [token(1, 0.7, 0.2), token(2, 0.8, 0.1)]},
    ]  # fmt: skip
    path = write(tmp_path / "all_steps_0.json", steps, indent=1)
    [found] = read_trace(path)
    assert found.holds == {"passes", "order", "confidence", "kl", "guess"} and found.form == "all_steps"
    assert denoise(path) == [2]


def test_wrong_tokens_of_the_file_are_the_errors(tmp_path: Path) -> None:
    [replay] = replays(write(tmp_path / "t.jsonl", sequence(wrong=[False, True, False, True])))
    assert run(replay.decoder, replay.stream).totals.locked_errors == 2


def test_beyond_the_recording_lies_padding(tmp_path: Path) -> None:
    [replay] = replays(write(tmp_path / "t.jsonl", sequence()))
    for stop, passes in (("block", 3), ("canvas", 4)):
        result = run(replay.decoder, replay.stream, max_new_tokens=6, eos_stop=stop)
        assert (result.totals.tokens, result.totals.target_passes) == (4, passes)
    assert run(replay.decoder, replay.stream, max_new_tokens=3).totals.tokens == 3


def test_a_softmax_that_rounds_above_one_is_one(tmp_path: Path) -> None:
    rows = [[1.0000001, 0.4], [None, 1.0]]
    record = {"block_size": 2, "threshold": 0.9, "passes": rows}
    listed = {"threshold": 0.9, "block_size": 2, "blocks": [{"start": 0, "passes": [
        {"masked": [0, 1], "confidence": rows[0], "committed": [0]},
        {"masked": [1], "confidence": [1], "committed": [1]},
    ]}]}  # fmt: skip
    for number, content in enumerate((record, listed)):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(content))
        (recording,) = read_trace(str(path))
        assert recording.passes == 2 and recording.visits is not None
        assert [list(row) for row in recording.visits.confidence] == [[1.0], [0.4, 1.0]]
