"""Slips of a sweep, each told in one whole line; files that cannot be written; executors that fail."""

from __future__ import annotations

import errno
import os
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.comparison import compare
from clover_sim.cost import Fixed, Machine
from clover_sim.errors import CloverError, InputError, UsageError
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.specs.load import DATA
from clover_sim.sweeping import Sweep, sweep

SLIPS: list[tuple[dict[str, Any], str]] = [
    ({"vary": ["threshold=0.8", "threshold=0.9"]}, "vary threshold: given twice; list all values in one"),
    ({"vary": {"threshold": ",".join(map(str, range(10_001)))}},
     "vary threshold: more than 10,000 values; take larger steps"),
    ({"vary": "profile=chat,code", "inputs": __file__},
     "vary profile: files are decoded, which have no profile; leave out --input"),
    ({"vary": "batch_size=1,2", "inputs": "-"},
     "input -: standard input can be read once only; a sweep needs a file"),
    ({"strategies": [5]}, "strategy 5: a sweep takes texts; name a class of yours as module:Class"),
    ({"vary": "params_b=8,x"}, "vary params_b: 8, x are not all numbers"),
    ({"vary": "params_b=inf"}, "model: params is inf; expected a finite number of at least 1"),
    ({"vary": "gpu_bandwidth_tb_s=3", "machine": {"gpu": "h100"}},
     "gpu and gpu_bandwidth_tb_s contradict each other: name the gpu or give its figures"),
    ({"vary": "params_b=8", "machine": {"model": "qwen3-8b"}},
     "model and params_b contradict each other: name the model or give its figures"),
    ({"vary": "tokens=64"}, "vary tokens: tokens are given too; give them in one place"),
    ({"vary": "gpu=h100", "machine": {"gpu": "h100"}}, "vary gpu: gpu is given too; give it in one place"),
    ({"vary": "gpu=h100", "cost": Fixed(0.01)},
     "cost is a machine already made; to vary its parts name them: machine={'gpu': 'h200'}"),
    ({"machine": {"gpus": "h100"}}, "machine: unknown part 'gpus'; did you mean 'gpu'?"),
    ({"batch_sze": 3}, "sweep: unknown argument 'batch_sze'; did you mean 'batch_size'?"),
    ({"seeds": []}, "seeds: the range is empty; give one such as 0:32"),
    ({"seeds": [-1]}, "seeds: -1 is not a whole number of at least 0"),
    ({"seeds": range(10**9)}, "seeds: 1000000000 values are more than can be run; give fewer"),
    ({"speed": "latency_s", "errors": "latency_s"}, "speed and errors are both latency_s; a front needs two figures"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), SLIPS, ids=[said[:60] for _, said in SLIPS])
def test_slips(given: dict[str, Any], said: str) -> None:
    words: dict[str, Any] = {"vary": "threshold=0.8,0.9", "tokens": 64, **given}
    with pytest.raises(CloverError) as caught:
        sweep(words.pop("strategies", None), **words)
    assert str(caught.value) == said
    assert isinstance(caught.value, UsageError) or said.startswith("model:")


def test_a_setting_of_both_is_given_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clover_sim.sweeping._axes.stream_names", lambda *_: ["threshold"])
    said = "^vary threshold: strategies and the stream both have it; give it in -s or --profile instead$"
    with pytest.raises(UsageError, match=said):
        sweep(vary="threshold=0.8", tokens=64)


def test_values_as_python_has_them() -> None:
    """Lists inside a list are one value each, a figure alone is one value; the rows are those of their texts."""
    lists = sweep("speculative:num_speculative_tokens=2", vary={"acceptance": [[0.9, 0.8], (0.7, 0.6)]}, tokens=64)
    for row, value in zip(lists.rows, ("[0.9,0.8]", "[0.7,0.6]"), strict=True):
        one = compare(f"speculative:num_speculative_tokens=2,acceptance={value}", tokens=64).rows[0]
        assert row["varied"] == {"acceptance": value} and row["latency_s"] == one["latency_s"]
    single = sweep(vary={"threshold": 0.8, "block_size": [8]}, tokens=64)
    assert [row["varied"] for row in single.rows] == [{"threshold": "0.8", "block_size": "8"}]


def test_a_cost_that_was_made() -> None:
    machine = Machine(load_model("sdar-8b"), load_hardware("h100"), load_engine("sglang"))
    named = sweep(vary="threshold=0.8,0.9", tokens=64, machine={"model": "sdar-8b", "gpu": "h100", "engine": "sglang"})
    made = sweep(vary="threshold=0.8,0.9", tokens=64, cost=machine)
    assert made.rows == named.rows and made.settings == named.settings
    fixed = sweep("ar", vary="prompt_tokens=0,9", tokens=64, cost=Fixed(0.01))
    assert [row["latency_s"] for row in fixed.rows] == pytest.approx([0.64, 0.64])


def test_bandwidths_without_a_card() -> None:
    """A card that is only a bandwidth: what is read takes so much the less time; no card is named."""
    found = sweep("ar", vary="gpu_bandwidth_tb_s=2,4", tokens=64, machine={"cost": "floor"})
    slow, fast = (row["latency_s"] for row in found.rows)
    assert slow == pytest.approx(2 * fast) and "gpu" not in found.settings


def test_conditions_on_what_is_varied() -> None:
    found = sweep(["ar", "block-diffusion"], vary="threshold=0.5,0.8,0.95", where="threshold>=0.8", tokens=64)
    assert [found.rows[i]["varied"] for i in found.front] == [{"threshold": "0.8"}]  # no error in any: fastest of two
    assert found.best is not None and found.rows[found.best]["varied"] == {"threshold": "0.8"}
    words = sweep(vary="comparison=ge,gt", where="comparison>=1", tokens=64)  # no number, so no row meets it
    assert words.best is None and words.front == ()


class Failing(Executor):
    """The first piece of work fails; the others are not begun, and one of them cannot be taken back."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, call: Any, /, *args: Any, **options: Any) -> Future[Any]:
        class Stubborn(Future[Any]):
            def cancel(self) -> bool:
                raise NotImplementedError

        future: Future[Any] = Stubborn() if len(self.futures) == 1 else Future()
        if not self.futures:
            future.set_exception(InputError("the machine is gone"))
        self.futures.append(future)
        return future


def test_what_an_executor_has_not_begun_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 100)
    executor = Failing()
    with pytest.raises(InputError, match=r"^the machine is gone$"):
        sweep(vary="threshold=0.6,0.7,0.8,0.9", tokens=100, executor=executor)
    assert [future.cancelled() for future in executor.futures] == [False, False, True, True]


@pytest.mark.skipif(sys.platform == "win32", reason="record locks of POSIX")
def test_a_file_that_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def taken(*_: Any) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    path = str(tmp_path / "cells.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "lockf", taken)
        with pytest.raises(InputError) as caught:
            sweep(vary="threshold=0.8", tokens=64, resume=path)
    assert str(caught.value) == f"resume {path!r} is being written by another sweep; wait, or name a new file"
    monkeypatch.setitem(sys.modules, "fcntl", None)  # where there is no such module nothing is locked
    assert len(sweep(vary="threshold=0.8", tokens=64, resume=path).rows) == 1


def test_a_disk_that_fills_up_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clover_sim.sweeping._plan.CHUNK_TOKENS", 100)
    path, write, room = tmp_path / "cells.jsonl", os.write, [2_000]

    def full(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(descriptor, data[: room[0]])
        room[0] -= done
        return done

    grid: dict[str, Any] = {"vary": "threshold=0.6,0.7,0.8,0.9", "tokens": 100, "resume": str(path)}
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(InputError) as caught:
            sweep(**grid, jobs=1)
    assert str(caught.value) == f"resume {str(path)!r} cannot be written: No space left on device"
    data = path.read_bytes()
    assert data.endswith(b"\n") and 0 < len(data) <= 2_000
    kept: list[int] = []
    again = sweep(**grid, jobs=1, progress=lambda done, _: kept.append(done))
    assert len(again.rows) == 4 and kept[0] == data.count(b"\n")  # the header is a line too


def test_cells_of_a_changed_machine_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    card, path = tmp_path / "card.toml", str(tmp_path / "cells.jsonl")
    card.write_text((Path(DATA) / "hardware" / "h100.toml").read_text())
    ask: dict[str, Any] = {"vary": "batch_size=1,2", "tokens": 64, "machine": {"gpu": "card.toml"}, "resume": path}
    first: Sweep = sweep("ar", **ask)
    assert sweep("ar", **ask).rows == first.rows
    card.write_text(card.read_text() + "# read again\n")
    with pytest.raises(InputError, match="belongs to another sweep"):
        sweep("ar", **ask)


def test_slips_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--vary", "threshold=0.8", "--seeds", "3:3"],
         "--seeds: '3:3' is an empty range; A:B means the seeds A, ..., B-1"),
        (["--vary", "threshold=0.8", "--input", "-"],
         "input -: standard input can be read once only; a sweep needs a file"),
    ):  # fmt: skip
        assert main(["sweep", *words]) == 2
        assert capsys.readouterr() == ("", f"clover-sim sweep: error: {said}\n")
