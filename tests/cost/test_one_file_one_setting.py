"""Messages of ``price``, ``calibrate`` and options that a reader can act on."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.cli import main
from traces.test_forms import write

PLUGIN = """
from dataclasses import dataclass


@dataclass
class Odd:
    table: dict | None = None
    many: list[int] | None = None

    def decode(self, canvas):
        yield canvas.block(8)
"""


@pytest.mark.parametrize(("key", "kind"), [("table", "dict"), ("many", "list[int]")])
def test_an_option_of_an_odd_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str, kind: str
) -> None:
    (tmp_path / "odd_options.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["compare", "-s", f"odd_options:Odd:{key}=5"]) == 2
    said = f"odd_options:Odd: {key}=5 is not {kind}, which cannot be written as text"
    assert capsys.readouterr() == ("", f"clover-sim compare: error: {said}\n")


def test_an_answer_has_no_length_beside_a_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "--tokens", "16", "--ledger", "l", "-q"]) == 0
    capsys.readouterr()
    assert main(["price", "--ledger", "l", "--output-tokens", "9"]) == 2
    said = "--ledger says which passes there were; leave --output-tokens out"
    assert capsys.readouterr() == ("", f"clover-sim price: error: {said}\n")


def test_two_thresholds_of_one_domain_go_into_no_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [{"committed": [0], "masked": [0, 1], "confidence": [0.99, 0.5]},
             {"committed": [1], "masked": [1], "confidence": [0.7]}]  # fmt: skip
    write(Path("t.jsonl"), *({"block_size": 2, "threshold": bar, "steps": steps} for bar in (0.9, 0.95)))
    assert main(["calibrate", "--trace", "t.jsonl", "--export", "c.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.endswith(
        "1 forced), a file one: choose a domain with --domain, or give a trace of one threshold and block size\n"
    )
