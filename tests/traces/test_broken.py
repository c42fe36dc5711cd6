"""Broken traces: each is refused with file, line and reason in one line."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.streams.traces import read, read_trace
from traces.test_forms import sequence, write


def refusal(path: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(str(path))
    message = str(caught.value)
    assert "\n" not in message and re.match(rf"{re.escape(str(path))}(:\d+)?: ", message), message
    return message


def change(record: dict[str, Any], block: int, step: int, **values: Any) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(record))
    copy["blocks"][block]["passes"][step].update(values)
    return copy


def drop(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {k: v for k, v in record.items() if k not in keys}


BROKEN: list[tuple[Callable[[], Any], str]] = [
    (lambda: change(sequence(), 0, 1, committed=[0], masked=[1]), "position 0 is committed twice"),
    (lambda: change(sequence(), 0, 1, committed=[]), "position 1 is never committed"),
    (lambda: change(sequence(), 0, 0, confidence=[1.2, 0.5]), "confidence of position 0 is 1.2"),
    (lambda: change(sequence(), 0, 0, confidence=[float("nan"), 0.5]), "confidence of position 0 is nan"),
    (lambda: change(sequence(), 0, 0, confidence=[-0.1, 0.5]), "expected a number from 0 to 1"),
    (lambda: change(sequence(), 0, 0, confidence=["x", 0.5]), "expected a number from 0 to 1"),
    (lambda: change(sequence(), 0, 0, confidence=[0.9]), "'masked' lists 2 positions, 'confidence' 1 values"),
    (lambda: change(sequence(), 0, 1, masked=[0, 1], confidence=[0.1, 0.7]), "position 0 is masked, but pass 1"),
    (lambda: change(sequence(), 0, 0, committed=[0, 5]), "block 0"),
    (lambda: sequence(block_size=1), "block sizes are mixed"),
    (lambda: sequence(block_size=0), "'block_size' is 0"),
    (lambda: sequence(threshold=1.5), "'threshold' is 1.5"),
    (lambda: sequence(tokens=["a"]), "'tokens' lists 1 entries"),
    (lambda: sequence(token_class=["odd"] * 4), "'token_class' has 'odd'"),
    (lambda: sequence(blocks=[]), "holds no block"),
    (lambda: sequence(blocks=sequence()["blocks"][::-1]), "blocks follow each other"),
    (lambda: sequence(comparison="around"), "'comparison' is 'around'"),
    (lambda: drop(sequence(), "blocks"), "is in no known form"),
    (lambda: 7, "is not an object"),
    (lambda: {"passes": [[0.9, 0.8], [0.9]], "threshold": 0.5}, "pass 2: the pass has 1 entries"),
    (lambda: {"passes": [[0.9, 0.8], [None, 1.8]], "threshold": 0.5}, "pass 2: confidence of position 1 is 1.8"),
    (lambda: {"passes": [[None, 0.8], [0.9, None]], "threshold": 0.5}, "pass 2: position 0 has a confidence"),
    (lambda: {"step_map": []}, "'step_map' is empty"),
    (lambda: {"step_map": [5, 1, 4, 2, 9, 3, 8, 1, 0] * 60}, "fit no block size"),
    (lambda: {"step_map": [0, 1_000_000_000], "block_size": 2}, "cannot be the passes"),
    (lambda: {"block_steps_list": [3, 0]}, "expected a whole number of at least 1"),
    (lambda: {"block_steps_list": [3, 3], "output_len": 100, "block_size": 32}, "are 4 blocks, the list has 2"),
    (lambda: {"raw_forward_calls": 2, "block_steps": [3, 4]}, "4 steps in 2 forward calls"),
]


@pytest.mark.parametrize(("make", "reason"), BROKEN, ids=[reason for _, reason in BROKEN])
def test_records(tmp_path: Path, make: Callable[[], Any], reason: str) -> None:
    path = write(tmp_path / "t.jsonl", sequence(), make())
    message = refusal(path)
    assert reason in message and f"{path}:2: " in message


def test_masks_that_fit_no_comparison(tmp_path: Path) -> None:
    rows = [[0.99, 0.8], [None, 0.97]]
    good = {"threshold": 0.9, "passes": rows}
    assert read_trace(write(tmp_path / "good.json", good))
    message = refusal(write(tmp_path / "t.json", {"threshold": 0.7, "passes": rows}))
    assert "pass 1: position 1 stays masked at confidence 0.8" in message
    assert "> does not fit either" in message and "approximate" in message
    tie = {"threshold": 0.8, "comparison": "ge", "passes": rows}
    assert "> would fit" in refusal(write(tmp_path / "tie.json", tie))


def test_truncated_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(sequence()) + "\n" + json.dumps(sequence())[:100])
    assert ":2: column" in (message := refusal(path)) and "cut off?" in message
    path.write_text(json.dumps(sequence(), indent=1)[:200])
    assert "cut off?" in refusal(path)


def test_truncated_gzip(tmp_path: Path) -> None:
    whole = gzip.compress((json.dumps(sequence()) + "\n").encode() * 3000)
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    assert "cut off" in refusal(path)
    path.write_bytes(whole[:50] + b"\0" * 20 + whole[70:])
    assert "gzip stream is broken" in refusal(path)


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.jsonl")
    assert "is a directory" in refusal(tmp_path)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"")
    assert "holds no record" in refusal(path)
    path.write_bytes(b"\xff\xfe\x00 not text\n")
    assert "is not UTF-8" in refusal(path)
    path.write_text("hello\n")
    assert "is not JSON" in refusal(path)
    path.write_text("[" * 100_000)
    assert "nested too deeply" in refusal(path)


def test_gigabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "LONGEST_BYTES", 5000)
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"step_map": [1]}\n' * 2000))
    assert "unpacks to more than" in refusal(path)
    assert len(read_trace(str(path), allow_long=True)) == 2000
    path.write_bytes(gzip.compress(b"[" + b"1," * 10_000))
    assert ":1: " in refusal(path)


def test_blocks_of_one_request(tmp_path: Path) -> None:
    block = {"request": 0, "block": 0, "start": 0, "steps": [{"committed": [0, 1]}]}
    later = {"request": 0, "block": 2, "start": 2, "steps": [{"committed": [2, 3]}]}
    assert "block 2 of request 0 follows block 0" in refusal(write(tmp_path / "a.jsonl", block, later))
    assert "is there twice" in refusal(write(tmp_path / "b.jsonl", block, block))
    sizes = [[0, 1, 2], [3, 4], [5, 6, 7]]
    mixed = [{"block": b, "start": found[0], "steps": [{"committed": found}]} for b, found in enumerate(sizes)]
    assert "block sizes are mixed" in refusal(write(tmp_path / "c.jsonl", *mixed))
