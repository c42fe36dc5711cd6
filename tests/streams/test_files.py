"""Reading text files: every way in which one can be wrong gives one line that says how to mend it."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest

from clover_sim.errors import InputError
from clover_sim.streams import files
from clover_sim.streams.files import load_text, text_tokens


def put(tmp_path: Path, data: bytes, name: str = "sample.txt") -> str:
    path = tmp_path / name
    path.write_bytes(data)
    return str(path)


def message(source: str, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load_text(source, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_plain_file(tmp_path: Path) -> None:
    data = "Grüße aus Köln.\n".encode()
    source = load_text(put(tmp_path, data))
    assert (source.name, source.text, source.language) == ("sample.txt", "Grüße aus Köln.\n", "prose")
    assert (source.sha256, source.bytes) == (hashlib.sha256(data).hexdigest(), len(data))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    text = load_text(put(tmp_path, "één\r\ntwo\r\n字\n".encode(encoding))).text
    assert text == "één\ntwo\n字\n"


def test_big_endian_utf16(tmp_path: Path) -> None:
    assert load_text(put(tmp_path, b"\xfe\xff\x00h\x00i")).text == "hi"


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", ["sample.txt: is empty"]),
        (b"\xef\xbb\xbf", ["byte-order mark and no text"]),
        (b"caf\xe9 au lait", ["sample.txt", "byte 0xe9 at byte offset 3 (line 1)", "UTF-8", "iconv -f LATIN1"]),
        (b"ok\nok\n\xff", ["byte 0xff at byte offset 6 (line 3)"]),
        (b"cut \xe5\xad", ["byte offset 4"]),
        (b"\x7fELF\x02\x01\x01\x00\x00", ["NUL at byte offset 7", "binary"]),
        (b"\xff\xfeh\x00i", ["not valid UTF-16", "save it as UTF-8"]),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, data: bytes, parts: list[str]) -> None:
    found = message(put(tmp_path, data))
    assert all(part in found for part in parts), found


def test_missing_and_directory(tmp_path: Path) -> None:
    assert "no such file" in message(str(tmp_path / "nowhere.txt"))
    assert "is a directory" in message(str(tmp_path))
    assert "cannot be read" in message("bad\0name")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path: Path) -> None:
    path = put(tmp_path, b"x")
    os.chmod(path, 0)
    assert "permission denied" in message(path)


def test_standard_input_as_bytes_and_text() -> None:
    assert load_text("-", stdin=io.BytesIO(b"one\r\ntwo")).text == "one\ntwo"
    assert load_text("-", stdin=io.StringIO("één")).text == "één"
    wrapped = io.TextIOWrapper(io.BytesIO("één".encode()), encoding="ascii")
    source = load_text("-", stdin=wrapped)
    assert (source.name, source.text) == ("stdin", "één"), "the bytes count, not the terminal's encoding"
    assert "standard input: is empty" in message("-", stdin=io.BytesIO())


def test_long_files_need_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, b"word " * 2_000_000)
    found = message(path)
    assert "10.0 MB" in found and "2.8 million tokens" in found and "--tokens N" in found and "--allow-long" in found
    assert "over 8 MB" in message("-", stdin=io.BytesIO(b"x" * 9_000_000))
    assert load_text(path, allow_long=True).bytes == 10_000_000
    monkeypatch.setattr(files, "LONG_BYTES", 10_000_000)
    assert load_text(path).bytes == 10_000_000


class Endless(io.RawIOBase):
    """Never ends; counts what is read."""

    served = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "must not ask for everything"
        self.served += size
        return b"word " * (size // 5 + 1)


def test_only_the_beginning_is_read_when_few_tokens_are_wanted() -> None:
    endless = Endless()
    source = load_text("-", max_tokens=100, stdin=endless)
    assert endless.served <= 4 << 20
    assert source.bytes <= 100_000
    assert len(text_tokens(source, "qwen", 100).tokens) == 100


def test_a_cut_inside_a_character_is_no_error(tmp_path: Path) -> None:
    path = put(tmp_path, b"x" + "字".encode() * 60_000)
    source = load_text(path, max_tokens=10)
    assert source.bytes == 10 * 64 + (1 << 16)
    assert set(source.text) == {"x", "字"}
    utf16 = put(tmp_path, "y字".encode("utf-16") * 1 + ("字" * 60_000).encode("utf-16-le"), "wide.txt")
    assert set(load_text(utf16, max_tokens=10).text) == {"y", "字"}


def test_invalid_bytes_are_found_in_a_cut_file_too(tmp_path: Path) -> None:
    path = put(tmp_path, b"ok \xff" + b"x" * 100_000)
    assert "byte 0xff at byte offset 3" in message(path, max_tokens=5)


def test_tokens_of_a_beginning_are_a_prefix(tmp_path: Path) -> None:
    source = load_text(put(tmp_path, b"def f(x):\n    return x + 1\n" * 5_000, "f.py"))
    everything = text_tokens(source)
    beginning = text_tokens(load_text(str(tmp_path / "f.py"), max_tokens=777), "qwen", 777)
    assert beginning.tokens == everything.tokens[:777]
    assert beginning.classes == everything.classes[:777]
    assert (everything.name, everything.language) == ("f.py", "python")
    assert "".join(everything.tokens) == source.text
    assert len(everything.classes) == len(everything.tokens)
