"""A sweep says only what it knows: changed files, conditions that nothing meets, figures not kept seed by seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clover_sim.errors import InputError
from clover_sim.sweeping import sweep

WORKLOAD = 'name = "w"\nsummary = "s"\nsource = "x"\ntext = "tool-call"\n[confidence]\nmu = {}\nsd = 4.0\n'


def test_cells_of_a_changed_workload_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.toml").write_text(WORKLOAD.format("6.0"))
    ask: dict[str, Any] = {"vary": "threshold=0.8", "tokens": 64, "profile": "context:workload=w.toml"}
    first = sweep(**ask, resume="cells.jsonl")
    assert sweep(**ask, resume="cells.jsonl").rows == first.rows
    Path("w.toml").write_text(WORKLOAD.format("2.0"))
    assert sweep(**ask).rows[0]["target_passes"] != first.rows[0]["target_passes"]
    with pytest.raises(InputError, match="belongs to another sweep"):
        sweep(**ask, resume="cells.jsonl")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("threshold>=2", "None of 3 rows has threshold>=2; closest: block-diffusion, threshold=0.95: speedup_time "),
        ("locked_errors<0", "None of 3 rows has locked_errors<0; closest: block-diffusion, threshold=0.5: "
         "locked_errors 0, speedup_time "),
    ],
)  # fmt: skip
def test_what_comes_closest(where: str, said: str) -> None:
    assert sweep(vary="threshold=0.5,0.8,0.95", tokens=64, where=where).notes[-1].startswith(said)


def test_a_condition_on_words() -> None:
    found = sweep(vary="kv_write=separate,none", tokens=64, where="kv_write>=1")
    assert found.best is None
    assert found.notes[-1] == "No row has a number for kv_write, which kv_write>=1 asks for."


def test_nothing_is_said_of_figures_that_are_not_kept_by_seed() -> None:
    grid: dict[str, Any] = {"vary": "threshold=0.5,0.8,0.95", "tokens": 64, "seeds": range(3)}
    best = sweep(["ar", "block-diffusion"], best="kv_write_passes", **grid)
    assert not any("differs from the best" in note for note in best.notes)
    assert any("kv_write_passes is not kept seed by seed" in note for note in best.notes)
    front = sweep(["ar", "block-diffusion"], speed="tokens_per_denoise_pass", **grid)
    assert not any("may belong there" in note for note in front.notes)
