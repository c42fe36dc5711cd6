"""Whatever the sliders and lists of the page stand on, its figures are those of the table."""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

import pytest

from clover_sim.comparison import compare
from clover_sim.report import _what_if, html
from clover_sim.sweeping import sweep

sys.path.insert(0, str(Path(__file__).parent))
from browser import needed
from test_page import moved

FIGURES = {"speed-up in time": "speedup_time", "in passes": "speedup_passes", "latency": "latency_s",
           "passes": "target_passes", "tokens/s of a request": "tokens_per_s"}  # fmt: skip

CHOOSE = """
function choose(name, value) {
  var label = Array.from(document.querySelectorAll("#controls label")).find(function (l) {
    return l.firstChild.textContent === name;
  });
  if (!label) return;
  var select = label.querySelector("select"), input = label.querySelector("input");
  if (select) {
    select.value = Array.from(select.options).findIndex(function (o) { return o.textContent === String(value); });
    select.dispatchEvent(new Event("change"));
  } else {
    for (var v = 0; v <= Number(input.max); v += 20) {
      input.value = v; input.dispatchEvent(new Event("input"));
      if (Number(label.querySelector("output").textContent) === Number(value)) return;
    }
  }
}
"""


def asked(rows, strategies: bool) -> str:
    """Moves to each row, strategy first, and what the page then says."""
    moves = CHOOSE
    for row in rows:
        if strategies:
            moves += f"choose('strategy', {json.dumps(row['strategy'])});"
        told = {key: value for key, value in row["varied"].items() if value is not None}
        moves += "".join(f"choose({json.dumps(key)}, {json.dumps(value)});" for key, value in told.items())
        moves += "note();"
    return moves


@needed
def test_every_combination_of_the_selectors_says_what_the_table_says(tmp_path):
    found = sweep(
        ["ar", "mtp", "eagle3", "block-diffusion"], tokens=128, seeds=range(3), profile="tool-call",
        vary={"gpu": ["h200", "b200"], "batch_size": [1, 8, 64], "threshold": [0.8, 0.95]},
    )  # fmt: skip
    assert len({row["strategy"] for row in found.rows}) == 4 and len(found.rows) == 3 * 6 + 12
    for row, seen in zip(found.rows, moved(html.render(found), asked(found.rows, True), tmp_path), strict=True):
        assert "A computed row." in seen["text"], row["varied"]
        for name, key in FIGURES.items():
            assert seen[name] == pytest.approx(row[key], rel=1e-3), (row["strategy"], row["varied"], name)
        wrong = 1000 * row["locked_errors"] / row["tokens"]
        assert seen["locked errors per 1000 tokens"] == pytest.approx(wrong, rel=1e-3)
        machine = {key: row["varied"][key] for key in ("gpu", "batch_size")}
        for drafting in ("mtp", "eagle3"):
            own = next(r for r in found.rows if r["strategy"] == drafting and machine.items() <= r["varied"].items())
            (said,) = [v for k, v in seen.items() if k.startswith(f"{drafting} at acceptance")]
            assert said == pytest.approx(own["speedup_time"], rel=1e-3), (drafting, machine)


@needed
def test_lengths_streams_and_options_that_no_slider_was_named_for(tmp_path):
    specs = ["ar", "block-diffusion:comparison=gt", "block-diffusion:comparison=ge,threshold=0.8",
             "speculative:num_speculative_tokens=2", "speculative:num_speculative_tokens=7"]  # fmt: skip
    found = compare(specs, tokens=[64, 200], profile="tool-call")
    rows = [{**row, "varied": {"tokens": row["tokens"], **{k: v for k, v in row["options"].items()
             if k in ("comparison", "threshold", "num_speculative_tokens")}}} for row in found.rows]  # fmt: skip
    for row, seen in zip(rows, moved(html.render(found), asked(rows, True), tmp_path), strict=True):
        for name, key in FIGURES.items():
            assert seen[name] == pytest.approx(row[key], rel=1e-3), (row["strategy"], row["varied"], name)


@needed
def test_another_acceptance_follows_the_formula_for_the_chosen_machine(tmp_path):
    """Against runs at that acceptance, on each card: means of many seeds, so the draws matter little."""
    seeds, vary = range(24), {"gpu": ["h200", "rtx-4090"]}
    machine = {"model": "sdar-8b"}
    found = sweep(["ar", "mtp:num_speculative_tokens=3,acceptance=0.9"], vary=vary, machine=machine, tokens=256,
                  seeds=seeds)  # fmt: skip
    other = sweep(["mtp:num_speculative_tokens=3,acceptance=0.6"], vary=vary, machine=machine, tokens=256, seeds=seeds)
    moves = CHOOSE + "choose('strategy', 'mtp');"
    for gpu in vary["gpu"]:
        moves += f"choose('gpu', '{gpu}');"
        moves += "".join(f"slide('acceptance of mtp', {percent}); note();" for percent in (60, 100))
    seen = moved(html.render(found), moves, tmp_path)
    for place, gpu in enumerate(vary["gpu"]):
        real = next(r for r in other.rows if r["varied"]["gpu"] == gpu)
        assert seen[2 * place]["mtp at acceptance 0.60"] == pytest.approx(real["speedup_time"], rel=0.03), gpu
        at_most = seen[2 * place + 1]["text"].partition("x in time, ")[2].partition(" tokens")[0]
        assert 3.9 < float(at_most) <= 4  # the last cycle of a text is cut


def test_a_stream_of_its_own_length_needs_no_slider_for_it(tmp_path):
    files = []
    for name, text in (("a.json", '{"a": 1}'), ("b.json", '{"b": [1, 2, 3, 4, 5, 6]}')):
        files.append(str(tmp_path / name))
        Path(files[-1]).write_text(text)
    data = json.loads(_what_if.embedded(compare(["ar"], inputs=files), ""))
    assert set(data["settings"]) == {"stream"}


def test_a_missing_row_has_no_gain():
    found = sweep(["ar", "mtp"], vary={"gpu": ["h200", "b200"]}, tokens=64)
    data = json.loads(_what_if.embedded(found, ""))
    assert [d["name"] for d in data["drafts"]] == ["mtp"]
    places = product(range(len(found.rows)), [data["strategies"].index("mtp")])
    assert [data["cycles"][i] is not None for i, _ in places] == [r["strategy"] == "mtp" for r in found.rows]
