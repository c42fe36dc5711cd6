"""Ledger files that are broken or odd, and ledgers of batches: one line with its number, or what a direct run costs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import clover_sim as cs
from clover_sim.cost import Machine, cost_model, price_groups
from clover_sim.errors import InputError
from clover_sim.ledger_file import COLUMNS, SCHEMA, ledger_lines, price_recorded, read_ledger, read_ledger_file
from clover_sim.specs import load_engine, load_hardware, load_model

HEAD = json.dumps({"schema": SCHEMA, "columns": list(COLUMNS)})
RUN = {
    "stream": "reference", "tokens": 1, "strategy": "ar", "options": {}, "drafter": None, "seed": None,
    "kv_write": "none", "forced_commits": 0, "locked_errors": 0,
}  # fmt: skip
ROW = "[0, 0, \"decode\", 0, 1, 0, 5, 1, 0]"


def on(gpu: str = "h100", model: str = "qwen3-8b") -> Any:
    return cost_model("roofline", Machine(load_model(model), load_hardware(gpu), load_engine("vllm")))


def ledger(*lines: Any) -> list[Any]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return read_ledger(io.StringIO(text + "\n"), "l")


@pytest.mark.parametrize(
    "change",
    [
        {"drafter": 5}, {"drafter": {"model": 5}}, {"drafter": "x"}, {"stream": float("nan")}, {"stream": 5},
        {"strategy": None}, {"seed": float("inf")}, {"seed": [1]}, {"tokens": True}, {"tokens": 1 << 40},
        {"locked_errors": -1}, {"kv_write": {}}, {"padding": 5}, {"padding": {"0": 5}}, {"padding": {"0": [-1]}},
    ],
)  # fmt: skip
def test_what_was_run_is_checked(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"l:2: run.{next(iter(change))}"):
        ledger(HEAD, {"run": {**RUN, **change}}, ROW)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "without a row"),
        (['[0, 0, "decode", 0, 0, 0, 5, 1, 0]'], "l:3: tokens and recompute_tokens are 0"),
        ([ROW, '[0, 1, "draft", 0, 1, 0, 5, 1, 0]'], "l:4: a draft pass in step 0"),
        ([ROW, '[0, 1, "prefill", 0, 1, 0, 5, 1, 0]'], "l:4: a prefill pass in step 0"),
        (["[" + "1," * (1 << 20)], "l:3: a line of"),
    ],
)
def test_rows_are_checked(rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ledger(HEAD, {"run": RUN}, *rows)


def test_columns_of_a_foreign_file_are_cut() -> None:
    with pytest.raises(InputError) as caught:
        ledger({"schema": SCHEMA, "columns": [1] * 10_000}, {"run": RUN})
    assert len(str(caught.value)) < 400


def test_an_endless_line_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a line of"):
        read_ledger_file(str(tmp_path / "l"))


def test_a_drafter_that_is_not_known_is_bad_input() -> None:
    (run,) = ledger(HEAD, {"run": {**RUN, "drafter": {"model": "zzz"}}}, ROW)
    with pytest.raises(InputError, match="unknown model 'zzz'"):
        price_recorded(run, on())


def test_a_step_of_several_kinds_has_the_commonest() -> None:
    rows = ['[0, 0, "denoise", 0, 8, 0, 5, 1, 0]', *(f'[0, {i}, "edit", 0, 8, 0, 5, 1, 0]' for i in (1, 2))]
    (run,) = ledger(HEAD, {"run": RUN}, *rows)
    assert [shape.kind.label for shape, _ in run.shapes] == ["edit"]


def test_widths_of_waiting_requests_are_kept() -> None:
    batch = cs.Batch("lockstep", kv_write="none")
    for length in (16, 64):
        batch.admit(cs.build_strategy("block-diffusion")[1], cs.open_stream("tool-call", length))
    while batch.step() is not None:
        pass
    direct = price_groups(on(), batch.ledger.shapes())
    (run,) = read_ledger(io.StringIO("".join(ledger_lines([(RUN, batch.evict(0))]))), "l")
    assert price_recorded(run, on())["latency_s"] == pytest.approx(direct.latency_s, rel=1e-12)


@pytest.mark.parametrize("gpu", ["h100", "b200", "m3-ultra"])
@pytest.mark.parametrize("model", ["qwen3-8b", "clover-35b-a3b"])
def test_a_batch_of_equal_runs_costs_what_compare_says(gpu: str, model: str) -> None:
    kept: list[Any] = []
    rows = cs.compare(["ar", "speculative", "block-diffusion"], tokens=[64], batch_size=8, cost=on(gpu, model),
                      keep=lambda about, run: kept.append((about, run))).rows  # fmt: skip
    for run, row in zip(read_ledger(io.StringIO("".join(ledger_lines(kept))), "l"), rows, strict=True):
        priced = price_recorded(run, on(gpu, model), 8)
        for column in ("latency_s", "latency_low_s", "latency_high_s", "tokens_per_s"):
            assert priced[column] == pytest.approx(row[column], rel=1e-12), column
