"""Dirt, files and limits: colours, prefixes, compression, cut ends, prose, size."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import random
import tracemalloc
from contextlib import suppress

import pytest

from clover_sim.errors import InputError
from clover_sim.logs import read_logs
from clover_sim.logs._stream import Source
from logs.lines import BENCH_SPEC, decode, engine, one, read, v0, v1, zipped

WINDOW = v1(200, [160, 100])
BODY = WINDOW.split(" ", 2)[2]


@pytest.mark.parametrize("escape", ["\x1b[", "^[[", "ESC[", "\\x1b[", "\\033[", "["])
def test_colours_in_every_spelling(tmp_path, escape):
    tag = f"{escape}1;36m(APIServer pid=3){escape}0;0m "
    coloured = BODY.replace("SpecDecoding metrics:", f"{escape}32mSpecDecoding metrics:{escape}0m")
    s = one(tmp_path, tag + engine(480.0, 8, pid=3).split(" ", 2)[2] + tag + coloured)
    assert s.cycles == 200 and s.cycle_time_s is not None


@pytest.mark.parametrize(
    "prefix",
    [
        "vllm-server-1  | ", "[2026-02-03T04:05:06Z] ", "[service]: ", "> ", "2026-02-03T04:05:06.123456789Z stdout F ",
        "Feb  3 04:05:06 host docker[17]: ", "(APIServer pid=1) (EngineCore_DP0 pid=276) ", "> **note** ",
        "2026-02-03 04:05:06,789 ",
    ],
)  # fmt: skip
def test_prefixes(tmp_path, prefix):
    assert one(tmp_path, prefix + WINDOW).cycles == 200
    assert one(tmp_path, prefix + decode(1, 9, 9.0, 2.0, 0.5) + prefix + decode(2, 89, 80.0, 2.0, 0.5)).cycles == 40
    rows = "".join(prefix + row + "\n" for row in BENCH_SPEC.splitlines()) if "**" not in prefix else BENCH_SPEC
    assert one(tmp_path, rows).cycles == 400


def test_windows_line_ends_and_caret_m(tmp_path):
    assert one(tmp_path, WINDOW.replace("\n", "\r\n") * 2).cycles == 400
    assert one(tmp_path, WINDOW.replace("\n", "^M\n") + BENCH_SPEC.replace("\n", "\r\n")[:0]).cycles == 200
    assert one(tmp_path, BENCH_SPEC.replace("\n", "\r\n")).cycles == 400


def test_lines_wrapped_in_json_by_a_collector(tmp_path):
    text = "".join(
        json.dumps({"log": line, "stream": "stdout", "time": "t"}) + "\n" for line in (engine(480.0, 8), WINDOW)
    )
    s = one(tmp_path, text)
    assert s.cycles == 200 and s.generation_tokens_per_s == 480.0


def test_several_engines_and_formats_in_one_file(tmp_path):
    text = WINDOW + v0(3, 500, 900, 720) + decode(1, 9, 9.0, 2.0, 0.5) + decode(2, 89, 80.0, 2.0, 0.5) + BENCH_SPEC
    text += (
        "draft acceptance rate = 0.50000 (   80 accepted /   160 generated)\n" + '{"forward_passes": 3, "tokens": 9}\n'
    )
    reading = read(tmp_path, text)
    assert {s.engine for s in reading.sections} == {"vllm", "sglang", "llama.cpp"} and len(reading.sections) == 6


PROSE = [
    "The acceptance rate: 0.8 looked fine, and acceptance length: 2.5 too.",
    "We saw SpecDecoding metrics: and wondered.",
    "Acceptance length: 5.36 was what they reported",
    "accept len: 2.17, accept rate: 0.54 in their issue",
    "Mean acceptance length (including the bonus) is 2.4 according to the paper",
    "draft acceptance rate = high, about 70 accepted of 304 generated",
    "Draft acceptance rate: 0.642, System efficiency: 0.598 were the figures",
    "- Accepted tokens: 12784",
    "Drafts: 19982 were made",
    "n_drafted and n_accept are printed at the end; accept = good",
    "[AL] AVERAGE: 2.05",
    "Decode batch lines have #running-req and accept len",
    "eval time is 5 ms / 10 tokens",
    "num_drafts is a counter",
    "vllm:spec_decode_num_drafts_total is the counter to watch",
    "| Inter Token Latency (ms) | 5.0 |",
    "Average time-per-output-token [TPOT] (ms): 10.0 we think",
    "mean acceptance length: see below",
]


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_never_matched(tmp_path, line):
    with pytest.raises(InputError, match="none of 1 lines"):
        read(tmp_path, line + "\n")
    assert read(tmp_path, WINDOW + line + "\n").lines_used == 1


def test_compressed_files(tmp_path):
    text = WINDOW * 3
    (tmp_path / "b.bz2").write_bytes(bz2.compress(text.encode()))
    (tmp_path / "c.xz").write_bytes(lzma.compress(text.encode()))
    for path in (zipped(tmp_path / "a.log.gz", text), str(tmp_path / "b.bz2"), str(tmp_path / "c.xz")):
        assert read_logs([path]).sections[0].cycles == 600


def test_a_gzip_that_ends_early_is_used_as_far_as_it_goes(tmp_path):
    random.seed(3)
    text = "".join(f"{random.random()} noise\n{WINDOW}" for _ in range(30_000))
    path = zipped(tmp_path / "a.gz", text)
    data = (tmp_path / "a.gz").read_bytes()
    (tmp_path / "a.gz").write_bytes(data[: len(data) * 9 // 10])
    reading = read_logs([path])
    assert reading.lines_used > 1000 and "end early" in reading.warnings[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"), (b"\x89PNG\x00\x00", "is not text"), (b"\x28\xb5\x2f\xfdxxxx", "zstd"),
        (b"PK\x03\x04xx", "zip"),
        (b"\x1f\x8bnot really", "cannot be unpacked"), (b"hello\n", "none of 1 lines can be used"),
        (v1(10, [8])[:150].encode(), "cut off"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, data, words):
    path = tmp_path / "x.log"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        read_logs([str(path)])
    assert "\n" not in str(caught.value)


def test_one_useless_file_among_others_is_a_warning(tmp_path):
    reading = read(tmp_path, WINDOW, "nothing\n", "")
    assert reading.sections[0].cycles == 200 and len(reading.warnings) == 2


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(OSError):
        read_logs([str(tmp_path / "none.log")])
    with pytest.raises(OSError):
        read_logs([str(tmp_path)])
    with pytest.raises(InputError):
        read_logs([""])


def test_standard_input(tmp_path):
    stream = io.TextIOWrapper(io.BytesIO(WINDOW.encode()))
    assert read_logs(["-"], stdin=stream).sections[0].cycles == 200
    with pytest.raises(InputError):
        read_logs(["-"])


def test_utf16_and_byte_order_marks(tmp_path):
    path = tmp_path / "x.log"
    for encoding in ("utf-16", "utf-8-sig"):
        path.write_bytes((WINDOW * 2).encode(encoding))
        assert read_logs([str(path)]).sections[0].cycles == 400


def test_invalid_bytes_do_not_matter(tmp_path):
    path = tmp_path / "x.log"
    path.write_bytes(b"\xff\xfe\xfa broken \x80\n"[2:] + WINDOW.encode() + b"\xc3\x28\n")
    assert read_logs([str(path)]).lines_used == 1


def test_every_line_is_accounted_for(tmp_path):
    text = "noise\n" * 5 + WINDOW + "noise\n" + v1(10, [8])[:140] + "\n" + "noise"
    reading = read(tmp_path, text)
    assert reading.lines_read == 9 == reading.lines_used + sum(s.lines for s in reading.skipped)
    first = {s.reason: s.first.rpartition(":")[2] for s in reading.skipped}
    assert first["no known format"] == "1" and set(first.values()) == {"1", "8"}


def test_a_json_document_that_is_cut_off_hides_nothing_after_it(tmp_path):
    reading = read(tmp_path, '{\n  "a": 1,\n' + WINDOW + '{"b": \n')
    assert reading.lines_used == 1 and reading.sections[0].cycles == 200


def test_a_large_file_takes_bounded_memory_and_reports_progress(tmp_path):
    path = tmp_path / "big.log"
    noise = "2026-02-03 04:05:06 GET /health 200 OK and some more text to make the line longer\n" * 50
    with path.open("w") as stream:
        for _ in range(4000):
            stream.write(noise + WINDOW)
    seen: list[tuple[int, int]] = []
    tracemalloc.start()
    reading = read_logs([str(path)], progress=lambda done, total: seen.append((done, total)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reading.sections[0].cycles == 800_000 and reading.lines_read == 204_000
    assert peak < 12e6 and seen[-1][0] == seen[-1][1]


def test_a_line_that_is_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("clover_sim.logs._stream.LONGEST_LINE_BYTES", 1 << 21)
    reading = read(tmp_path, WINDOW + "x" * (5 << 20) + "\n" + WINDOW)
    assert reading.lines_read == 3 and reading.sections[0].cycles == 400
    assert reading.skipped[0].reason.startswith("longer")


def test_blocks_end_where_lines_end(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"".join(b"%d\n" % i for i in range(400_000)))
    assert all(block.data.endswith(b"\n") for block in Source(str(path)).blocks())


def test_garbled_lines_never_raise_anything_else(tmp_path):
    from logs.test_others import CLI, NEW, RATES, TABLE, TRT, record, timings
    from logs.test_vllm import OFFLINE, page

    whole = (
        WINDOW + engine(4.0, 3) + v0(3, 500, 900, 720) + decode(1, 9, 9.0, 2.0, 0.5) + decode(2, 89, 80.0, 2.0, 0.5)
        + BENCH_SPEC + OFFLINE + CLI + TRT + TABLE + timings(9, 5.0) + record([2.0, 3.0], 5) + page(9, [8, 7])
        + NEW.format(task=7, name="mean acceptance length", rest=RATES)
    )  # fmt: skip
    rng = random.Random(11)
    path = tmp_path / "x.log"
    for _ in range(150):
        text = list(whole)
        for _ in range(rng.randint(1, 60)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 30)] = rng.choice(
                ["", "0", "-", "nan", "9" * 20, ":", ",", "\n", "{", "1e999", "}"]
            )
        path.write_text("".join(text))
        with suppress(InputError):
            read_logs([str(path)])
