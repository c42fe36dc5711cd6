"""A sweep: the grid, the judgement, and that it does not matter where or in how many pieces it ran."""

from __future__ import annotations

import json
import re
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from clover_sim.comparison import compare
from clover_sim.errors import InputError, UsageError
from clover_sim.report import json as json_format
from clover_sim.sweeping import SweepInterrupted, sweep
from clover_sim.sweeping._axes import parse_vary
from clover_sim.sweeping._judge import difference, pareto, parse_where
from clover_sim.sweeping._plan import Chunk
from clover_sim.sweeping._work import run_chunk

GRID = {"threshold": "0.8:0.95:0.05", "block_size": [8, 16]}


def text(result) -> str:
    return json_format.render(result)


def test_each_row_is_that_of_a_comparison():
    found = sweep(vary=GRID, tokens=[64, 100], seeds=range(3))
    assert len(found.rows) == 16
    for row in found.rows:
        spec = f"block-diffusion:block_size={row['varied']['block_size']},threshold={row['varied']['threshold']}"
        alone = dict(compare(spec, tokens=row["tokens"], seeds=range(3)).rows[0])
        assert {k: v for k, v in row.items() if k != "varied"} == json.loads(json.dumps(alone))


def test_machine_and_run_axes_change_what_they_should():
    found = sweep(
        ["ar", "speculative"], vary=["gpu=a100,h200", "batch_size=1,8"], tokens=64, machine={"model": "sdar-8b"}
    )
    assert len(found.rows) == 8 and found.speed == "tokens_per_s"
    assert len({row["latency_s"] for row in found.rows}) == 8
    alone = sweep("ar", vary=(), tokens=64, machine={"gpu": "a100", "model": "sdar-8b"}, batch_size=8).rows[0]
    same = next(r for r in found.rows if r["strategy"] == "ar" and r["varied"] == {"gpu": "a100", "batch_size": 8})
    assert alone["latency_s"] == same["latency_s"]


def test_a_strategy_without_the_option_is_run_once():
    found = sweep(["ar", "block-diffusion"], vary={"threshold": [0.8, 0.9]}, tokens=64)
    assert [row["strategy"] for row in found.rows] == ["ar", "block-diffusion", "block-diffusion"]


def test_options_of_the_stream():
    found = sweep(vary="lift=0.01:0.04:0.01", tokens=128)
    passes = [row["target_passes"] for row in found.rows]
    assert passes == sorted(passes, reverse=True) and passes[0] > passes[-1]


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ("tresh=1", "did you mean 'threshold'"),
        ("threshold=1:0:0.1", "empty range"),
        ("threshold=0:1:0", "the step is 0"),
        ("threshold=0.5,,0.6", "missing between"),
        ("threshold", "expected KEY="),
        ("threshold=0:1:1e-9", "more than 10,000"),
        ("threshold=0.5,0.5", "given twice"),
        ("block_size=x", "whole number"),
        ("batch_size=0", "batch_size 0"),
        ("gpu=h20000", "unknown gpu"),
        ("tokens=1e9", "not a whole number"),
    ],
)
def test_slips_are_refused_in_one_line(vary, words):
    with pytest.raises(UsageError, match=words) as caught:
        sweep(vary=vary)
    assert "\n" not in str(caught.value)


def test_too_much_is_refused_before_it_is_built():
    with pytest.raises(UsageError, match="cells"):
        sweep(vary=["threshold=0.1:0.9:0.0001", "lift=0.01:0.9:0.0001"])
    with pytest.raises(UsageError, match="passes"):
        sweep(vary="threshold=0.1:0.9:0.0001", tokens=100_000)


def test_what_does_not_fit_is_said_and_the_rest_goes_on():
    found = sweep(vary="batch_size=1,20000", prompt_tokens=8000, tokens=64)
    assert len(found.rows) == 1 and len(found.refused) == 1
    assert "GB" in found.refused[0]["reason"] and "1 of 2 cells" in found.warnings[0]


class Stubborn(Future):
    """As those of some executors: work cannot be taken back."""

    def cancel(self):
        raise NotImplementedError("Cancel not implemented")


class Foreign(Executor):
    """Not of the standard library: runs a call when its result is near, through pickled bytes, last one first."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, call, /, *args, **options):
        import pickle

        self.count += 1
        future = Stubborn()
        again, given = pickle.loads(pickle.dumps((call, args)))
        future.set_result(again(*given, **options))
        return future


@pytest.mark.parametrize("seeds", [None, range(3)])
def test_who_runs_it_does_not_matter(seeds, monkeypatch):
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 700)
    want = text(sweep(vary=GRID, tokens=100, seeds=seeds, jobs=1))
    foreign = Foreign()
    assert text(sweep(vary=GRID, tokens=100, seeds=seeds, executor=foreign)) == want and foreign.count > 1
    assert text(sweep(vary=GRID, tokens=100, seeds=seeds, jobs=2)) == want
    with ThreadPoolExecutor(2) as threads:
        assert text(sweep(vary=GRID, tokens=100, seeds=seeds, executor=threads)) == want


def test_files_are_swept_and_named(tmp_path):
    file = tmp_path / "calls.json"
    file.write_text('{"name": "search", "arguments": {"query": "block diffusion", "limit": 5}}\n' * 5)
    found = sweep(vary={"threshold": [0.8, 0.95]}, inputs=[str(file)])
    assert found.inputs[0]["name"] == "calls.json" and len(found.inputs[0]["sha256"]) == 64
    assert {row["stream"] for row in found.rows} == {"calls.json"} and str(tmp_path) not in text(found)


def test_the_front_by_hand():
    rows = [
        {"speedup_time": s, "locked_errors": e, "tokens": 1000} for s, e in ((1, 0), (2, 1), (1.5, 1), (3, 5), (3, 6))
    ]
    assert pareto(rows, range(5), "speedup_time", "locked_errors_per_1k") == [3, 1, 0]


def test_a_front_says_how_sure_it_is():
    loose = sweep(vary="threshold=0.6:0.98:0.02", profile="tool-call", seeds=range(3), tokens=256)
    assert len(loose.front) > 1 and any("may belong there" in note for note in loose.notes)


def test_conditions():
    bar = parse_where("locked_errors_per_1k<=1")
    assert bar.holds({"locked_errors": 1, "tokens": 1000}) and not bar.holds({"locked_errors": 1, "tokens": 500})
    found = sweep(vary="threshold=0.5:0.95:0.05", profile="tool-call", where="locked_errors_per_1k<=30", tokens=256)
    assert found.best is not None and found.rows[found.best]["locked_errors"] / 0.256 <= 30
    none = sweep(vary="threshold=0.5,0.6", where="speedup_time>99", tokens=64)
    assert none.best is None
    assert none.notes[-1].startswith("None of 2 rows has speedup_time>99; closest: block-diffusion")
    for text_, words in (
        ("speedup_time", "expected FIGURE"),
        ("speed<=1", "not a figure"),
        ("latency_s<=nan", "finite"),
    ):
        with pytest.raises(UsageError, match=words):
            parse_where(text_)


def test_pairs_tell_more_than_intervals_do():
    samples = {0: {"latency_s": [1.0, 2.0, 3.0]}, 1: {"latency_s": [1.1, 2.1, 3.1]}, 2: {"latency_s": [3.0, 1.0, 2.0]}}
    gap = difference("latency_s", 1, 0, [{}, {}, {}], samples)
    assert gap[0] == pytest.approx(0.1) and gap[1] < 1e-9
    far = difference("latency_s", 2, 0, [{}, {}, {}], samples)
    assert abs(far[0]) < far[1]


def test_honest_about_what_cannot_be_told_apart():
    few = sweep(vary="threshold=0.94,0.95", profile="tool-call", seeds=range(3), tokens=128, where="none")
    assert few.alike and any("Not distinguishable" in note for note in few.notes)
    one = sweep(vary="threshold=0.5,0.95", tokens=128)
    assert any("One seed" in note for note in one.notes)
    clear = sweep(vary="threshold=0.5,0.95", tokens=512, seeds=range(4), best="latency_s")
    assert not clear.alike and any("Every other row differs" in note for note in clear.notes)


def test_rows_for_data_frames():
    rows = sweep(vary=GRID, tokens=64).to_dicts()
    assert rows[0]["threshold"] == 0.8 and rows[0]["block_size"] == 8 and isinstance(rows[0]["pareto"], bool)


def test_ctrl_c_keeps_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 300)
    full = text(sweep(vary=GRID, tokens=100))
    file = str(tmp_path / "cells.jsonl")

    def stop(done: int, total: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(SweepInterrupted) as caught:
        sweep(vary=GRID, tokens=100, resume=file, progress=stop)
    assert 3 <= len(caught.value.partial.rows) < 8 == caught.value.partial.cells
    assert text(sweep(vary=GRID, tokens=100, resume=file)) == full


def test_cut_off_anywhere_the_file_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 300)
    file = tmp_path / "cells.jsonl"
    full = text(sweep(vary=GRID, tokens=100, seeds=range(2), resume=str(file)))
    data = file.read_bytes()
    for cut in [0, 1, 20, 100, 140, len(data) // 3, len(data) // 2, len(data) - 1, len(data)]:
        file.write_bytes(data[:cut])
        whole = data[:cut].count(b"\n") - 1
        kept: list[int] = []
        again = sweep(
            vary=GRID, tokens=100, seeds=range(2), resume=str(file), progress=lambda d, n, kept=kept: kept.append(d)
        )
        assert text(again) == full
        assert not kept or kept[0] > max(whole, 0)  # what was finished is not run again
        assert sorted(file.read_bytes().splitlines()) == sorted(data.splitlines())


def test_a_file_of_something_else_is_left_alone(tmp_path):
    file = tmp_path / "cells.jsonl"
    sweep(vary=GRID, tokens=64, resume=str(file))
    before = file.read_bytes()
    with pytest.raises(InputError, match="another sweep"):
        sweep(vary=GRID, tokens=65, resume=str(file))
    assert file.read_bytes() == before
    file.write_text("my thesis\n")
    with pytest.raises(InputError, match="not that of a sweep"):
        sweep(vary=GRID, tokens=64, resume=str(file))
    assert file.read_text() == "my thesis\n"
    file.write_bytes(before.replace(b'{"cell":3', b'{"cell:3'))
    with pytest.raises(InputError, match="line 5 is damaged"):
        sweep(vary=GRID, tokens=64, resume=str(file))


def test_a_worker_needs_nothing_but_its_piece():
    from clover_sim.sweeping._plan import MachineAsk

    run = (("profile", "reference"), ("batch_size", 1), ("tokens", 64))
    chunk = Chunk({"seeds": None}, ((run, MachineAsk(), ((7, "ar", ()),)),))
    assert json.loads(run_chunk(chunk)[0])["cell"] == 7


def test_ranges():
    assert parse_vary("x=1:0.9:-0.05")[1] == ("1", "0.95", "0.9")
    assert parse_vary("x=[0.9,0.8],[0.7]")[1] == ("[0.9,0.8]", "[0.7]")


def test_the_usual_question_is_asked_where_nobody_says_what():
    found = sweep(tokens=64)
    assert [axis.key for axis in found.axes] == ["threshold", "block_size"] and len(found.rows) == 15
    assert len(found.seeds) == 4 and "usual question" in found.notes[0]
    assert found.settings["profile"].startswith("context") and str(found.bound) == "locked_errors_per_1k<=10"
    few = sweep(tokens=512)
    assert few.best is not None and few.rows[few.best]["locked_errors"] * 1000 / 512 <= 10
    half = sweep("block-diffusion:threshold=0.9", tokens=64, seeds=[1])
    assert [axis.key for axis in half.axes] == ["block_size"] and half.seeds == (1,)
    asked = sweep(tokens=64, profile="tool-call", where="locked_errors_per_1k<=500")
    assert asked.settings["profile"] == "tool-call"
    assert [str(bar) for bar in asked.where] == ["locked_errors_per_1k<=500"]
    drafts = sweep(["ar", "eagle3"], tokens=64)
    assert [axis.key for axis in drafts.axes] == ["num_speculative_tokens"]
    assert sweep(["ar"], tokens=[32, 64]).axes == () and sweep("ar", vary=(), tokens=64).axes == ()
    with pytest.raises(UsageError, match="nothing is varied: say what, as in --vary"):
        sweep("ar", tokens=64)


def test_a_fitted_stream_needs_no_warning_about_block_sizes():
    found = sweep(vary="block_size=8,32", profile="context", tokens=64)
    assert not any("Do not choose a block size" in note for note in found.notes)
    lifted = sweep(vary="block_size=8,32", profile="tool-call", tokens=64)
    assert any("Do not choose a block size" in note for note in lifted.notes)


def test_a_changed_file_of_a_machine_is_read_again(tmp_path):
    from clover_sim.specs.load import DATA

    text = (Path(DATA) / "hardware" / "h100.toml").read_text()
    card = tmp_path / "card.toml"
    found = []
    for faster in (1, 2):
        bandwidth = re.search(r"^memory_bandwidth_gbs = (\d+)", text, re.MULTILINE)
        card.write_text(text.replace(bandwidth[0], f"memory_bandwidth_gbs = {int(bandwidth[1]) * faster}"))
        found.append(sweep("ar", vary=(), tokens=64, machine={"gpu": str(card)}, jobs=1).rows[0]["latency_s"])
    assert found[1] < found[0]


def test_each_row_is_measured_against_ar_on_its_own_machine_and_batch():
    found = sweep(["ar", "block-diffusion"], vary=["gpu=h100,b200", "batch_size=1,32"], tokens=128)
    for row in found.rows:
        alone = compare(["ar", row["strategy"]], tokens=128, gpu=row["varied"]["gpu"],
                        batch_size=row["varied"]["batch_size"]).rows  # fmt: skip
        assert row["speedup_time"] == pytest.approx(alone[0]["latency_s"] / row["latency_s"], rel=1e-12)
    text = str(found)
    assert "speed-up" in text.split("\n\n")[1]
    assert "over ar on the same machine, at the same batch" in " ".join(text.split())
    best = found.rows[found.best]
    assert f"speedup_time {best['speedup_time']:.4g}." in " ".join(text.split())
    only = sweep("block-diffusion", vary="gpu=h100,b200", tokens=64)
    assert all(f"{row['speedup_time']:.2f}x" in str(only) for row in only.rows)


def test_a_sweep_says_how_drafts_are_made():
    assert "a pass each (parallel_draft=false)" in " ".join(sweep("speculative", tokens=32).notes)
