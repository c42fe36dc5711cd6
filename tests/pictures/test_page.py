"""The report as a page: self-contained, escaped, small; and tried in a browser where there is one."""

from __future__ import annotations

import hashlib
import html as markup
import json
import re
import shlex
import sys
import time
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
    start = time.perf_counter()
    page = html.render(found)
    assert len(page.encode()) < 3_000_000 and time.perf_counter() - start < 2


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
        assert {k for k, _ in seen["changed"]} == {"threshold", "block_size"} and row["varied"]["block_size"] == "8"


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


@needed
def test_markup_in_a_name_does_not_run(grid, tmp_path):
    from dataclasses import replace

    rows = tuple({**row, "strategy": BAD} for row in grid.rows)
    file = tmp_path / "report.html"
    file.write_text(html.render(replace(grid, rows=rows, notes=(BAD,))), encoding="utf-8")
    dom, console = browse(str(file), "--dump-dom")
    assert console == "" and "<img" not in dom
