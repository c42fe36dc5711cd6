"""What a trace may get wrong, told in one whole line with file, line, block and pass; and what it may leave out."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.engine import run
from clover_sim.errors import InputError
from clover_sim.recordings import replays
from clover_sim.registry import build_strategy
from clover_sim.streams.traces import read_trace
from traces.test_forms import sequence, write


def block(number: int, **values: Any) -> dict[str, Any]:
    record = copy.deepcopy(sequence())
    record["blocks"][number].update(values)
    return record


def step(number: int, index: int, **values: Any) -> dict[str, Any]:
    record = copy.deepcopy(sequence())
    record["blocks"][number]["passes"][index].update(values)
    return record


def plain(*passes: dict[str, Any]) -> dict[str, Any]:
    return {"block_size": 2, "steps": list(passes)}


def decoded(**token: Any) -> list[dict[str, Any]]:
    return [{"decoded_tokens": [token], "all_tokens": []}]


WHOLE = "expected a whole number of at least 0"
REFUSED: list[tuple[Any, str]] = [
    (block(0, size=3), "block 0: 'size' is 3, others 2: block sizes are mixed"),
    (block(0, passes=[]), "block 0: the block commits nothing"),
    (block(0, passes=[{"kind": "kv_commit"}]), "block 0: the block commits nothing"),
    (block(0, start=1), "block 0: position 0 lies before the block's start 1"),
    (block(1, size=1), "block 1: position 3 lies outside the block 2..2"),
    (step(0, 1, reopened=[1]), "block 0: pass 2: position 1 is taken back, but it was not committed before"),
    (plain({"committed": [0, 1]}, {"committed": [1]}), "block 0: pass 2: position 1 is committed twice (before in pass "
     "1); list a replaced token as 'edited'"),
    (step(0, 0, masked=[0], confidence=[0.9]),
     "block 0: pass 1: position 1 is not committed yet, but has no confidence"),
    (plain({"span": [0, 2], "masked": [0], "confidence": [0.9], "committed": [0, 1]}),
     "block 0: pass 1: position 1 is committed, but was not scored"),
    (sequence(wrong=[True]), "'wrong' has 1 entries: expected true or false for each of 4"),
    (plain({}), "block 0: pass 1: 'committed' is missing: expected the list of positions this pass settled"),
    (plain({"committed": 5}), "block 0: pass 1: 'committed' is 5: expected a list of positions"),
    (plain({"committed": [-1]}), f"block 0: pass 1: a position in 'committed' is -1: {WHOLE}"),
    (plain({"committed": [0], "confidence": {"x": 0.9}}), "block 0: pass 1: a key of 'confidence' is not a position"),
    (plain({"committed": [0], "confidence": 5}), "block 0: pass 1: 'confidence' is 5: expected a list beside 'masked', "
     "or an object by position"),
    (plain({"committed": [0], "confidence": [0.9]}), "block 0: pass 1: 'masked' is missing"),
    (plain({"committed": [0], "confidence": [0.9], "masked": 0}),
     "block 0: pass 1: 'masked' is 0: expected a list"),
    (plain({"committed": [0], "confidence": [0.9, 0.8], "masked": [0, 0]}),
     "block 0: pass 1: 'masked' names a position twice"),
    (plain({"committed": [0], "confidence": {"0": 0.9}, "entropy": {"0": -1}}),
     "block 0: pass 1: 'entropy' of position 0 is -1: expected a number of at least 0"),
    ({"blocks": [5]}, "block 0: 5 is not an object"),
    ({"blocks": [{"start": 0}]}, "block 0: 'passes' is missing"),
    ({"block_steps_list": []}, "'block_steps_list' is empty: expected the passes of each block"),
    ({"block_steps_list": [3, 3000], "block_size": 4}, "block 1: 3000 passes for 4 positions"),
    ([{"decoded_tokens": []}], "no step decodes a token"),
    ([{"decoded_tokens": 5}], "step 1: 'decoded_tokens' is 5: expected a list"),
    ([{"all_tokens": []}], "step 1: 'decoded_tokens' is missing"),
    (decoded(), f"step 1: 'position' is None: {WHOLE}"),
    (decoded(position=0, confidence=0.9, kl_divergence=-1),
     "step 1: KL of position 0 is -1: expected a number of at least 0"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_the_whole_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, record: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("t.jsonl"), sequence(), record)
    assert main(["compare", "--trace", "t.jsonl", "-s", "ar"]) == 3
    assert capsys.readouterr() == ("", f"clover-sim compare: error: t.jsonl:2: {said}\n")


def test_records_that_contradict_each_other(tmp_path: Path) -> None:
    def refusal(*records: Any) -> str:
        with pytest.raises(InputError) as caught:
            read_trace(write(tmp_path / "t.jsonl", *records))
        return str(caught.value).removeprefix(f"{tmp_path}/")

    steps = [{"request": 0, "block": b, "threshold": bar, "steps": [{"committed": [2 * b, 2 * b + 1]}]}
             for b, bar in ((0, 0.9), (1, 0.8))]  # fmt: skip
    assert refusal(*steps) == "t.jsonl:2: 'threshold' is 0.8, before 0.9"
    log = [{"raw_forward_calls": 3, "unmask_steps": 2, "block_size": size} for size in (16, 8)]
    assert refusal(*log) == "t.jsonl:1: block sizes are mixed: 8, 16"
    maps = [{"request": 0, "block": b, "size": 4, "step_map": [1, 2, 2, 3][: 4 - 2 * (b == 1)]} for b in range(3)]
    assert refusal(*maps).endswith("block 1: the step map has 2 entries, others 4: block sizes are mixed")


def test_files_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"^a\x00b: cannot be read \(embedded null byte\)$"):
        read_trace("a\0b")
    path = tmp_path / "t.jsonl"
    path.write_text("\n" * 100_001 + json.dumps(sequence()))
    with pytest.raises(InputError, match=r"t\.jsonl:100001: over 100,000 empty lines in a row; not a trace$"):
        read_trace(str(path))
    path.write_text("\n" * 100_000 + json.dumps(sequence()))
    assert read_trace(str(path))[0].where == f"{path}:100001"


def test_a_sequence_of_steps_needs_no_blocks(tmp_path: Path) -> None:
    """One block, whole numbers as some writers put them, and values by position instead of beside ``masked``."""
    bare = plain({"committed": [0.0, 1]})
    full = plain({"committed": [0], "confidence": {"0": 0.99, "1": 0.5}, "entropy": {"0": 0.1, "1": 2.0}},
                 {"committed": [1], "confidence": {"1": 0.6}, "entropy": {"1": 1.5}})  # fmt: skip
    half = copy.deepcopy(full)
    half["steps"][1]["entropy"] = {}
    first, second, third = read_trace(write(tmp_path / "t.jsonl", bare, full, half))
    assert (first.passes, first.blocks[0].passes[0].committed, first.holds) == (1, (0, 1), {"passes", "order"})
    assert second.holds == {"passes", "order", "confidence", "entropy"} and second.visits is not None
    assert second.visits.entropy is not None
    assert [list(row) for row in second.visits.entropy] == [[0.1], [2.0, 1.5]]
    assert third.holds == {"passes", "order", "confidence"}  # one pass without them: none can be asked for


@pytest.mark.parametrize(
    ("record", "tokens", "size"),
    [
        ({"block_steps_list": [3, 4]}, 64, 32),  # SGLang's block size
        ({"block_steps_list": [3, 4], "output_len": 50}, 50, 32),
        ({"block_steps_list": [3, 4], "output_len": 10}, 10, 5),  # two blocks of 32 would be one too many
    ],
)
def test_counts_of_passes_without_a_block_size(tmp_path: Path, record: Any, tokens: int, size: int) -> None:
    [replay] = replays(write(tmp_path / "t.jsonl", record))
    assert (len(replay.recording), replay.recording.block_size, replay.recording.passes) == (tokens, size, 7)
    totals = run(replay.decoder, replay.stream).totals
    assert (totals.tokens, totals.target_passes) == (tokens, 7)


def test_scores_of_later_blocks_are_left_out(tmp_path: Path) -> None:
    """A step that lists every masked token of the canvas says the same as one that lists those of its block."""

    def token(p: int, c: float) -> dict[str, Any]:
        return {"position": 20 + p, "token_id": p, "confidence": c, "kl_divergence": 0.5}

    def trace(everything: bool) -> Any:
        first, second = range(4), range(4, 8)
        later = [token(p, 0.3) for p in second] * everything
        # two passes over the first block, the surest position alone first, and one over the second
        return [
            {"decoded_tokens": [token(0, 0.9)], "all_tokens": [token(p, 0.9 - p / 10) for p in first] + later},
            {"decoded_tokens": [token(p, 0.95) for p in (1, 2, 3)],
             "all_tokens": [token(p, 0.95) for p in (1, 2, 3)] + later},
            {"decoded_tokens": [token(p, 0.97) for p in second], "all_tokens": [token(p, 0.97) for p in second]},
        ]  # fmt: skip

    [whole], [own] = (read_trace(write(tmp_path / f"{n}.json", trace(n > 0))) for n in (1, 0))
    assert whole.visits == own.visits and whole.blocks == own.blocks
    assert [len(b.passes) for b in whole.blocks] == [2, 1] and whole.block_size == 4
    assert whole.holds == {"passes", "order", "confidence", "kl", "guess"}
    _, rule = build_strategy("block-diffusion:block_size=4,threshold=0.9")
    # 0.9, 0.8, 0.7, 0.6: one at the bar; then three of 0.95; then four of 0.97
    assert run(rule, whole.stream(), kv_write="none").totals.target_passes == 3
