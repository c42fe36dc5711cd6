"""Pictures: well formed, described, self-contained, and no text over another."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import clover_sim as cs
from clover_sim.comparison import compare
from clover_sim.report import Look, _pictures, _plot_kinds, svg
from clover_sim.report._charts import scatter, spark
from clover_sim.report._plot import width_of
from clover_sim.report._plot_scale import Scale, label_of
from clover_sim.report._plot_trace import timeline
from clover_sim.sweeping import sweep
from clover_sim.trace import trace_block

SVG = "{http://www.w3.org/2000/svg}"
MACHINE = {"model": "clover-35b-a3b", "gpu": "h200", "precision": "bf16"}


def pictures() -> dict[str, str]:
    found = {
        "lengths": svg.render(compare(None)),
        "bars": svg.render(
            compare(["ar", "speculative", "block-diffusion:threshold=0.9", "block-diffusion"], tokens=256)
        ),
        "lines": svg.render(
            sweep(vary={"threshold": "0.8:0.98:0.02", "block_size": [8, 16, 32]}, tokens=200, seeds=range(3))
        ),
        "pareto": svg.render(
            sweep(vary=["threshold=0.5:0.95:0.05", "block_size=4,8,16,32", "lift=0.02,0.05"], tokens=200,
                  profile="tool-call", seeds=range(3))
        ),
        "load": svg.render(sweep(["ar", "speculative", "block-diffusion"], vary="batch_size=1,2,4,8,16,32,64,128",
                                 machine={"model": "sdar-8b"}, speed="latency_s", tokens=64)),
        "names": svg.render(sweep(vary="gpu=h100,h200,b200,rtx-4090", tokens=64, machine={"model": "llada2.0-mini"})),
        "few": svg.render(sweep(vary=["gpu=h100,b200", "batch_size=1,16"], tokens=64)),
        "one-text-several": svg.render(sweep(["ar", "block-diffusion"], vary="gpu=h100,h200,b200", tokens=200,
                                             profile="context")),
        "trace": timeline(trace_block("block-diffusion:threshold=0.9", profile="tool-call", seed=3)),
        "trace-verify": timeline(trace_block("speculative", profile="code", seed=1)),
        "empty": _pictures.empty("nothing", "e"),
    }  # fmt: skip
    found |= {
        "price": cs.price(widths=(1, 8, 32), batch_sizes=(1, 8))._repr_svg_(),
        "speculate": cs.speculate(model="llama-3.1-8b", gpu="h100")._repr_svg_(),
        "agent": cs.agent("coding-agent", tasks=5)._repr_svg_(),
        "serve": cs.serve(traffic=cs.Traffic(requests=20), pool=10)._repr_svg_(),
    }
    options = [{"num_speculative_tokens": 5}, {"block_size": 8}, {"block_size": 32}]
    parts, roof = _pictures.machine_pictures(MACHINE, options)
    return {**found, "parts": parts, "roof": roof}


ALL = pictures()


def words_of(picture: str) -> str:
    root = ElementTree.fromstring(picture)
    return " ".join(text.text or "" for text in root.iter(f"{SVG}text"))


@pytest.mark.parametrize(
    ("name", "speed", "paid"),
    [
        ("lengths", "latency, s", "locked errors per 1,000 tokens"), ("bars", "in time", "locked"),
        ("lines", "speed-up in time", "locked errors per 1,000 tokens"),
        ("pareto", "speed-up in time", "locked errors per 1,000 tokens"),
        ("load", "latency, s", "locked errors per 1,000 tokens"), ("names", "tokens/s", "0 wrong"),
        ("few", "tokens/s", "locked errors per 1,000 tokens"), ("one-text-several", "tokens/s", "locked errors"),
        ("agent", "time of the task, s", "% finished"), ("serve", "tokens/s in all", "wrong of 1,000"),
    ],
)  # fmt: skip
def test_no_speed_stands_without_what_it_was_paid_with(name, speed, paid):
    assert speed in words_of(ALL[name]) and paid in words_of(ALL[name])


def test_lines_of_errors_are_those_of_the_rows():
    found = sweep(vary={"threshold": [0.5, 0.7, 0.9]}, tokens=512, profile="context")
    hints = re.findall(r"<title>block-diffusion: ([\d.]+), ([\d.]+)</title>", svg.render(found))
    assert len(hints) == 6
    for row, (x, wrong) in zip(found.rows, hints[3:], strict=True):
        assert row["varied"]["threshold"] == x
        assert float(wrong) == pytest.approx(1000 * row["locked_errors"] / row["tokens"], rel=1e-3)


@pytest.mark.parametrize("name", ALL)
def test_it_is_a_picture_for_everybody(name):
    root = ElementTree.fromstring(ALL[name])
    assert root.tag == f"{SVG}svg" and root.get("viewBox") and root.get("role") == "img"
    named = root.get("aria-labelledby").split()
    assert [root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")] == named
    assert root.find(f"{SVG}title").text and root.find(f"{SVG}desc").text
    assert "prefers-color-scheme:dark" in ALL[name]
    assert set(re.findall(r"https?://[^\"'\s<]+", ALL[name])) == {"http://www.w3.org/2000/svg"}
    assert "<script" not in ALL[name] and "@import" not in ALL[name] and "url(" not in ALL[name]
    assert "nan" not in ALL[name].lower().replace("nano", "") and "inf\"" not in ALL[name]


def boxes(root):
    """Where each text stands: (left, top, right, bottom, text)."""
    for element in root.iter(f"{SVG}text"):
        size = 15 if "h" in element.get("class").split() else 11 if "n" in element.get("class").split() else 12
        wide = width_of(element.text or "", size) * 0.92
        x, y = float(element.get("x")), float(element.get("y"))
        x -= {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0)
        if element.get("transform"):
            middle = float(element.get("x"))
            yield middle - size + 2, y - wide / 2, middle + 2, y + wide / 2, element.text
        else:
            yield x, y - size * 0.75, x + wide, y + size * 0.2, element.text


@pytest.mark.parametrize("name", ALL)
def test_no_text_lies_over_another_or_leaves_the_picture(name):
    root = ElementTree.fromstring(ALL[name])
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    found = list(boxes(root))
    for i, a in enumerate(found):
        assert a[0] >= -1 and a[2] <= width + 1 and a[1] >= 0 and a[3] <= height, a
        for b in found[i + 1 :]:
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), (a, b)


def eight() -> str:
    return svg.render(sweep(["ar", "mtp", "eagle3", "block-diffusion"], tokens=64, seeds=range(3),
                            vary={"batch_size": [1, 4, 16, 64], "gpu": ["h200", "b200"]}))  # fmt: skip


def test_eight_lines_differ_in_colour_dash_and_sign_and_end_at_their_names():
    from clover_sim.report._plot import DARK, DASHES, LIGHT, SIGNS

    for kinds in (DARK, DASHES, LIGHT, SIGNS):
        assert len(set(kinds)) == len(kinds) == _plot_kinds.MOST_SERIES
    root = ElementTree.fromstring(eight())
    paths = [p for p in root.iter(f"{SVG}path") if p.get("class", "").startswith("l s")]
    above = paths[:8]
    assert len({(p.get("class"), p.get("stroke-dasharray")) for p in above}) == 8
    told = [text for text in root.iter(f"{SVG}text") if "gpu=" in (text.text or "")]
    names = {text.text: (float(text.get("x")), float(text.get("y"))) for text in told}
    assert len(names) == 8 and len({round(x, 1) for x, _ in names.values()}) == 1
    order = [y for _, y in sorted(names.values(), key=lambda place: place[1])]
    assert all(b - a >= 11 for a, b in pairwise(order))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_every_colour_can_be_seen_on_its_paper():
    """Three to one, which WCAG 2 asks of graphics."""
    from clover_sim.report._plot import DARK, LIGHT

    for colours, paper in ((LIGHT, "#ffffff"), (DARK, "#161616")):
        for colour in colours:
            one, other = sorted((luminance(colour), luminance(paper)))
            assert (other + 0.05) / (one + 0.05) >= 3, colour


def test_many_lines_have_bars_for_their_intervals_and_few_have_bands():
    many, few = eight(), ALL["lines"]
    assert re.search(r'<line class="e s\d"', many) and not re.search(r'class="f\d b"', many)
    assert re.search(r'class="f\d b"', few) and not re.search(r'<line class="e s\d"', few)


def test_bars_of_several_seeds_show_their_intervals():
    result = compare(["ar", "mtp", "block-diffusion"], tokens=128, seeds=range(4), profile="tool-call")
    picture = svg.render(result)
    assert picture.count("a h2") >= 3 * 2 * 2 and "mean of 4 seeds, 95 % interval" in words_of(picture)
    row = next(r for r in result.rows if r["strategy"] == "mtp")
    assert f"mtp: {row['speedup_time']:.4g} ± {row['speedup_time_ci95']:.2g}" in picture
    assert "a h2" not in svg.render(compare(["ar", "mtp"], tokens=128)).partition("</style>")[2]


def test_markup_in_names_stays_text():
    bad = '</text><script>alert(1)</script>"&'
    picture = _plot_kinds.bars([(bad, (1.0, 2.0))], (bad, "b"), bad, bad, bad, [bad])
    root = ElementTree.fromstring(picture)
    assert not list(root.iter(f"{SVG}script")) and "<script" not in picture
    assert root.find(f"{SVG}title").text == bad


def test_scales():
    assert Scale.around([0.0, 0.0]).ticks[0] == 0
    assert Scale.around([5, 5]).low < 5 < Scale.around([5, 5]).high
    log = Scale.around([1, 30000], log=True)
    assert log.low == 1 and log.high == 1e5 and log.part(1) == 0
    for values in ([1e-9, 2e-9], [1e12, 5e12], [-3, 7], [0.8, 0.99], [99.5, 100.5]):
        scale = Scale.around(values)
        assert scale.low <= min(values) and scale.high >= max(values) and 2 <= len(scale.ticks) <= 9
        labels = [label_of(v, scale) for v in scale.ticks]
        assert len(set(labels)) == len(labels), labels


def test_terminal_pictures_have_an_ascii_form():
    points = [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 3.0)]
    plain = "\n".join(scatter(points, [0, 2], ("errors", "speed"), Look(unicode=False), 2))
    assert plain.isascii() and "X" in plain and "o" in plain
    assert spark([3, 3, 3], Look(unicode=False)) == "===" and spark([], Look()) == ""
    assert all(len(line) <= 60 for line in scatter(points, [0], ("e", "s"), Look(width=60)))


def test_a_machine_that_is_not_known_by_name_has_no_picture():
    assert _pictures.machine_pictures({"model": "my own"}, []) == []
