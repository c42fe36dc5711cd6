"""The report as a page: self-contained, escaped, small; and tried in a browser where there is one."""

from __future__ import annotations

import hashlib
import html as markup
import json
import re
import shlex
import sys
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clover_sim.cli import main
from clover_sim.comparison import compare
from clover_sim.report import html
from clover_sim.sweeping import sweep

sys.path.insert(0, str(Path(__file__).parent))
from browser import browse, needed

BAD = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>'


@pytest.fixture(scope="module")
def comparison():
    return compare(["ar", "speculative", "block-diffusion"], tokens=[64, 128])


@pytest.fixture(scope="module")
def grid():
    return sweep(vary={"threshold": "0.5:0.95:0.05", "block_size": [8, 16, 32]}, tokens=128, profile="tool-call",
                 seeds=range(3))  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("which", ["comparison", "grid"])
def test_it_stands_alone(which, request):
    page = html.render(request.getfixturevalue(which))
    tags = Tags(page).tags
    assert not [a for _, attrs in tags for a in attrs if a in ("src", "href", "srcset", "action") or a.startswith("on")]
    assert {tag for tag, _ in tags}.isdisjoint({"link", "iframe", "object", "embed", "base", "img", "form"})
    assert set(re.findall(r"https?://[^\"'\s<)]+", page)) <= {"http://www.w3.org/2000/svg"}
    policy = next(a["content"] for t, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    assert f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert "Unit: s." in page and "locked_errors" in page and "kernel terms" in page


def test_the_command_gives_the_same_again(comparison, grid, capsys):
    machine = {"gpu_bandwidth_tb_s": 1.5, "cost": "floor"}
    bare = sweep(vary={"params_b": [1, 8]}, machine=machine, tokens=64, batch_size=4)
    for result in (comparison, grid, bare):
        words = shlex.split(html.command(result))
        assert words[0] == "clover-sim"
        assert main([*words[1:], "--format", "json", "-q"]) == 0
        again = json.loads(capsys.readouterr().out)
        mine = result.to_dict()
        assert again["rows"] == json.loads(json.dumps(mine["rows"])) and again["seeds"] == mine["seeds"]
        assert again.get("best") == mine.get("best")


def test_names_from_files_stay_text(comparison, grid):
    from dataclasses import replace

    for result in (comparison, grid):
        rows = tuple({**row, "strategy": BAD, "stream": BAD, "options": {BAD: BAD, "block_size": 8},
                      **({"varied": {BAD: BAD}} if "varied" in row else {})} for row in result.rows)  # fmt: skip
        settings = {**result.settings, "model": BAD, "gpu": BAD, BAD: BAD}
        inputs = ({"name": BAD, "sha256": BAD},)
        page = html.render(replace(result, rows=rows, settings=settings, inputs=inputs, notes=(BAD, BAD)))
        tags = Tags(page).tags
        assert not [t for t, _ in tags if t == "img"] and [t for t, _ in tags].count("script") == 2
        assert not [a for _, attrs in tags for a in attrs if a.startswith("on")]
        assert markup.escape(BAD) in page


def test_a_large_sweep_is_a_small_page():
    grid = {"threshold": "0.5:0.99:0.01", "block_size": [8, 16, 32, 64], "batch_size": range(1, 11)}
    found = sweep(vary=grid, tokens=64)
    assert len(found.rows) == 2000
    assert len(html.render(found).encode()) < 3_000_000


SELF_TEST = """
window.addEventListener("error", function (e) { seen.errors.push(String(e.message)); });
var seen = {errors: [], moved: 0, before: document.getElementById("answer").textContent, changed: []};
document.querySelectorAll("#controls input[type=range]").forEach(function (input) {
  var was = document.getElementById("answer").textContent;
  input.value = input.value === input.max ? input.min : input.max;
  input.dispatchEvent(new Event("input"));
  seen.moved += 1;
  seen.changed.push([input.dataset.key, was !== document.getElementById("answer").textContent]);
});
var button = document.querySelectorAll("th button")[3];
button.click(); button.click();
seen.sorted = Array.from(document.querySelectorAll("tbody tr"), function (r) { return Number(r.cells[3].dataset.v); });
seen.row = document.getElementById("answer").dataset.row;
seen.told = Array.from(document.querySelectorAll("#controls label"), function (l) {
  return [l.firstChild.textContent, l.lastChild.textContent];
});
var pre = document.createElement("pre");
pre.id = "selftest"; pre.textContent = JSON.stringify(seen);
document.body.appendChild(pre);
"""


def with_self_test(page: str) -> str:
    digest = b64encode(hashlib.sha256(SELF_TEST.encode()).digest()).decode()
    page = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    return page.replace("</body>", f"<script>{SELF_TEST}</script></body>")


@needed
@pytest.mark.parametrize("which", ["comparison", "grid"])
def test_sliders_and_tables_work_in_a_browser(which, request, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(with_self_test(html.render(request.getfixturevalue(which))), encoding="utf-8")
    dom, console = browse(str(file), "--dump-dom")
    assert console == ""
    seen = json.loads(markup.unescape(re.search(r'<pre id="selftest">(.*?)</pre>', dom, re.DOTALL).group(1)))
    assert seen["errors"] == [] and seen["moved"] >= 2 and seen["before"]
    assert all(changed for _, changed in seen["changed"]), seen["changed"]
    assert seen["sorted"] == sorted(seen["sorted"], reverse=True) and len(set(seen["sorted"])) > 1
    if which == "grid":
        row = request.getfixturevalue(which).rows[int(seen["row"])]
        assert {k for k, _ in seen["changed"]} == {"threshold", "block_size", "batch"}
        assert dict(seen["told"]).items() >= {k: row["varied"][k] for k in ("threshold", "block_size")}.items()


@needed
def test_it_fits_a_phone_and_prints_on_a4(grid, tmp_path):
    file, frame = tmp_path / "report.html", tmp_path / "frame.html"
    page = html.render(grid)
    file.write_text(page, encoding="utf-8")
    frame.write_text(
        f'<iframe id="f" width="360" height="800" style="border:0" srcdoc="{markup.escape(page)}"></iframe><script>'
        'f.onload=function(){var d=f.contentDocument.documentElement;document.title=d.clientWidth+" "+d.scrollWidth}'
        "</script>",
        encoding="utf-8",
    )
    dom, _ = browse(str(frame), "--dump-dom")
    assert re.search(r"<title>(.*?)</title>", dom).group(1) == "360 360"
    pdf = tmp_path / "report.pdf"
    browse(str(file), f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    data = pdf.read_bytes()
    assert data.startswith(b"%PDF")
    sizes = {tuple(float(v) for v in m.split()) for m in re.findall(rb"/MediaBox \[0 0 ([\d.]+ [\d.]+)\]", data)}
    assert sizes and all(abs(w - 595) < 2 and abs(h - 842) < 2 for w, h in sizes)


WIDTHS = """
var wide = document.querySelector(".wide"), told = [wide.scrollWidth <= wide.clientWidth];
told.push(document.documentElement.scrollWidth <= innerWidth);
told.push(Array.from(document.querySelectorAll("tbody td")).every(function (td) {
  return td.scrollWidth <= td.clientWidth + 1 && td.getBoundingClientRect().right <= innerWidth;
}));
document.title = told.join(" ");
"""


@needed
@pytest.mark.parametrize("size", ["1280,900", "500,900"])
@pytest.mark.parametrize("which", ["many", "grid", "machines"])
def test_no_figure_of_the_table_is_cut_off(which, size, request, tmp_path):
    made = {
        "grid": lambda: request.getfixturevalue("grid"),
        "many": lambda: compare(["ar", "mtp", "eagle3", "speculative", "block-diffusion:threshold=0.8",
                                 "block-diffusion:threshold=0.95"], tokens=[256, 512], seeds=range(4),
                                profile="tool-call"),
        "machines": lambda: sweep(["ar", "mtp", "block-diffusion"], tokens=64, seeds=range(3),
                                  vary={"batch_size": [1, 64], "gpu": ["h200", "rtx-pro-6000"],
                                        "threshold": [0.8, 0.9], "block_size": [16, 32]}),
    }[which]()  # fmt: skip
    digest = b64encode(hashlib.sha256(WIDTHS.encode()).digest()).decode()
    page = html.render(made).replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    (tmp_path / "r.html").write_text(page.replace("</body>", f"<script>{WIDTHS}</script></body>"), encoding="utf-8")
    dom, _ = browse(str(tmp_path / "r.html"), "--dump-dom", size=size)
    assert re.search(r"<title>(.*?)</title>", dom).group(1) == "true true true"


def test_what_was_gained_and_what_it_cost_stand_first_and_nothing_empty(grid, comparison):
    for result in (grid, comparison):
        head = re.findall(r"<th[^>]*><button[^>]*>(.*?)</button>", html.render(result))
        first = next(i for i, name in enumerate(head) if name == "speed-up time")
        assert head[first + 1] == "tok/s" and head[first + 2].startswith("locked errors")
        assert set(head[:first]) <= {"stream", "tokens", "strategy", "threshold", "block_size"}
    plain = html.render(compare(["ar", "mtp"], tokens=64))
    assert "forced commits" not in re.findall(r"<th[^>]*><button[^>]*>(.*?)</button>", plain)


def test_the_answer_is_in_words(grid, comparison):
    for result in (grid, comparison, sweep(vary={"threshold": [0.5, 0.9]}, tokens=64), compare(["ar"], tokens=64)):
        said = re.search(r'<p class="verdict">(.*?)</p>', html.render(result))
        if said is None:
            assert len(result.rows) == 1
            continue
        words = markup.unescape(said.group(1))
        assert "times as fast as token by token" in words and "wrong token" in words
        assert not re.search(r"locked_errors|speedup_|_per_|_ci95|tokens_per", words), words
    fastest = max(comparison.rows, key=lambda r: (r["tokens"], r["speedup_time"]))
    assert markup.unescape(html.render(comparison)).partition('class="verdict">')[2].startswith(fastest["strategy"])


@needed
def test_markup_in_a_name_does_not_run(grid, tmp_path):
    from dataclasses import replace

    rows = tuple({**row, "strategy": BAD} for row in grid.rows)
    file = tmp_path / "report.html"
    file.write_text(html.render(replace(grid, rows=rows, notes=(BAD,))), encoding="utf-8")
    dom, console = browse(str(file), "--dump-dom")
    assert console == "" and "<img" not in dom


MOVE = """
var seen = [];
function slide(key, value) {
  var input = document.querySelector("#controls input[data-key='" + key + "']");
  input.value = value; input.dispatchEvent(new Event("input"));
}
function note() {
  var answer = document.getElementById("answer"), found = {row: answer.dataset.row, text: answer.textContent};
  answer.querySelectorAll("span > b").forEach(function (b) {
    found[b.previousSibling.textContent.trim()] = Number(b.textContent.replace(/[^0-9.]/g, ""));
  });
  seen.push(found);
}
MOVES
var pre = document.createElement("pre");
pre.id = "selftest"; pre.textContent = JSON.stringify(seen);
document.body.appendChild(pre);
"""


def moved(page: str, moves: str, folder: Path) -> list[dict]:
    """What the page says after each ``note()`` among the moves."""
    script = MOVE.replace("MOVES", moves)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    file = folder / "moved.html"
    file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    dom, console = browse(str(file), "--dump-dom")
    assert console == ""
    return json.loads(markup.unescape(re.search(r'<pre id="selftest">(.*?)</pre>', dom, re.DOTALL).group(1)))


@needed
def test_between_computed_rows_the_page_draws_straight_lines_and_says_so(grid, tmp_path):
    moves = "slide('batch', 0); slide('block_size', 0); slide('threshold', 0); note(); slide('threshold', 10); note();"
    exact, between = moved(html.render(grid), moves + "slide('block_size', 10); note();", tmp_path)[:2]
    rows = {(r["varied"]["threshold"], r["varied"]["block_size"]): r for r in grid.rows}
    low, high = rows["0.5", "8"], rows["0.55", "8"]
    assert exact["speed-up in time"] == pytest.approx(low["speedup_time"], rel=1e-3)
    assert exact["row"] is not None and "A computed row." in exact["text"]
    assert "row" not in between and "not a simulation" in between["text"] and "≈" in between["text"]
    assert between["latency"] == pytest.approx((low["latency_s"] + high["latency_s"]) / 2, rel=1e-3)
    plain = sum(r["speedup_time"] * r["latency_s"] for r in (low, high))
    assert between["speed-up in time"] == pytest.approx(plain / (low["latency_s"] + high["latency_s"]), rel=1e-3)
    wrong = (low["locked_errors"] + high["locked_errors"]) / 2 / 128 * 1000
    assert between["locked errors per 1000 tokens"] == pytest.approx(wrong, rel=1e-3)


@needed
def test_the_command_for_a_point_between_runs_and_gives_that_point(grid, tmp_path, capsys):
    moves = "slide('block_size', 10); slide('threshold', 7); slide('batch', 80); note();"
    (seen,) = moved(html.render(grid), moves, tmp_path)
    words = shlex.split(seen["text"].partition("To compute it: ")[2])
    assert words[0] == "clover-sim" and main([*words[1:], "--format", "json", "-q"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["options"]["block_size"] == 12 and 0.5 < row["options"]["threshold"] < 0.55
    assert row["total_tokens_per_s"] == pytest.approx(16 * row["tokens_per_s"])


@needed
def test_the_batch_slider_prices_the_passes_as_the_program_does(comparison, tmp_path):
    """The table of prices against a comparison that was really priced at that batch."""
    for steps, batch in ((0, 1), (80, 16), (160, 256), (92, 24)):
        real = compare(["ar", "speculative", "block-diffusion"], tokens=[64, 128], batch_size=batch)
        (seen,) = moved(html.render(comparison), f"slide('batch', {steps}); slide('tokens', 20); note();", tmp_path)
        row = real.rows[-1]
        assert seen["latency"] == pytest.approx(row["latency_s"], rel=0.03), batch
        assert seen["speed-up in time"] == pytest.approx(row["speedup_time"], rel=0.03), batch


def test_tables_of_a_draft_and_verify_strategy_follow_its_cycle(comparison):
    from clover_sim.report import _what_if

    data = json.loads(_what_if.embedded(comparison, ""))
    place = next(i for i, row in enumerate(comparison.rows) if row["strategy"] == "speculative")
    table = data["batch"]["tables"][data["batch"]["of"][place]]
    real = compare(["speculative"], tokens=64, batch_size=64).rows[0]["latency_s"]
    asked = table[data["batch"]["values"].index(64)]
    assert asked == pytest.approx(real / comparison.rows[place]["latency_s"], rel=0.03)


@needed
def test_names_are_chosen_and_a_missing_row_is_said_to_be_missing(tmp_path):
    """Cards get a list, not a slider; a cell that was refused has no row, and the page says so."""
    swept = sweep(["ar", "block-diffusion"], vary={"gpu": ["rtx-4090", "h200"], "batch_size": [1, 64, 4096]}, tokens=64,
                  machine={"model": "sdar-8b"}, prompt_tokens=4000)  # fmt: skip
    assert swept.refused
    choose = "var s = document.querySelectorAll('#controls select'); s[1].value = GPU; "
    choose += "s[1].dispatchEvent(new Event('change'));"
    moves = "note(); " + "".join(choose.replace("GPU", str(g)).replace("var s", f"var s{g}").replace(
        "s[1]", f"s{g}[1]") + " slide('batch_size', 40); note();" for g in (0, 1))  # fmt: skip
    first, *seen = moved(html.render(swept), moves, tmp_path)
    assert "A computed row." in first["text"]
    assert any("No row was computed there" in one["text"] for one in seen), seen
