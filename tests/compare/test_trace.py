"""trace_block(): what each pass showed and did, against the ledger of a plain run."""

from __future__ import annotations

import json

import pytest

import clover_sim as cs
from clover_sim.errors import UsageError
from clover_sim.streams.reference import reference_stream


def test_passes_match_the_ledger_of_a_plain_run():
    stream = reference_stream(96)
    ledger = cs.run(cs.build_strategy("block-diffusion")[1], stream).ledger
    for block in range(3):
        trace = cs.trace_block("block-diffusion", tokens=96, block=block)
        rows = [i for i in range(len(ledger)) if ledger.start[i] == 32 * block]
        assert [p.committed for p in trace.passes] == [ledger.settled(i) for i in rows]
        assert (trace.start, trace.stop) == (32 * block, 32 * block + 32)


def test_committed_positions_are_those_above_the_bar():
    trace = cs.trace_block("block-diffusion:threshold=0.9")
    for step in trace.passes:
        above = {p for p, c in step.confidence.items() if c >= 0.9}
        assert set(step.committed) == above or (not above and len(step.committed) == 1 and step.forced)


def test_structure_is_committed_before_values_in_tool_calls():
    trace = cs.trace_block("block-diffusion", profile="tool-call")
    by_pass = [[trace.classes[p - trace.start] for p in step.committed] for step in trace.passes if step.committed]
    assert by_pass[0].count("structural") == trace.classes.count("structural") > 0
    assert "rare" not in by_pass[0] and "rare" in by_pass[-1]


def test_the_write_pass_is_shown_where_it_is_counted():
    kinds = [p.kind for p in cs.trace_block("block-diffusion", tokens=64, kv_write="separate").passes]
    assert kinds[-1] == "kv_write" and kinds.count("kv_write") == 1


def test_draft_and_verify_are_shown_in_a_window():
    trace = cs.trace_block("speculative:parallel_draft=true", tokens=64)
    assert [p.kind for p in trace.passes[:2]] == ["draft", "verify"]
    assert sorted(p for step in trace.passes for p in step.committed)[:32] == list(range(32))


def test_it_is_plain_json():
    assert json.loads(json.dumps(cs.trace_block("clover").to_dict()))["schema"] == "clover-sim/trace/1"


@pytest.mark.parametrize("block", [-1, 5])
def test_a_block_that_is_not_there_is_refused(block):
    with pytest.raises(UsageError, match="block"):
        cs.trace_block("block-diffusion", tokens=64, block=block)
