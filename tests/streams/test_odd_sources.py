"""Files and texts at the edge of what is read: closed input, no leave, sizes that cannot be asked for, forgetting."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from clover_sim.cli import main
from clover_sim.errors import InputError
from clover_sim.records import TokenClass
from clover_sim.streams.classes import classify, detect_language
from clover_sim.streams.files import load_text

C, R = TokenClass.COMMON, TokenClass.RARE


def test_a_closed_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["compare", "--input", "-"]) == 3
    said = "clover-sim compare: error: standard input: is closed; give a file\n"
    assert capsys.readouterr() == ("", said)


def test_a_file_that_one_may_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for others than root, whom no mode stops."""

    def refuse(*_args: Any, **_options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match=r"^a\.txt: cannot be read \(permission denied\); check its mode$"):
        load_text("a.txt")


def test_a_long_file_whose_size_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"word " * 1_700_000)

    def gone(_path: Any) -> int:
        raise FileNotFoundError(2, "No such file or directory")

    told = "give --tokens N to use only its beginning, or --allow-long"
    with pytest.raises(InputError) as caught:
        load_text(str(path))
    assert str(caught.value) == f"{path}: 8.5 MB would be about 2.4 million tokens; {told}"
    monkeypatch.setattr("os.path.getsize", gone)
    with pytest.raises(InputError) as caught:
        load_text(str(path))
    assert str(caught.value) == f"{path}: over 8 MB would be more than 2 million tokens; {told}"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("let_go();\nx => x + 1;\ny => y + 2;\n", "javascript"),
        ("for (i = 0; i < n; i++) {\n  use(i);\n  keep(i);\n}\nfree(a);\n", "code"),
        ("A sentence (with brackets); and another one.\nIt goes on for a good while without any of those marks.\n",
         "prose"),
    ],
)  # fmt: skip
def test_language_by_its_marks(text: str, language: str) -> None:
    assert detect_language("-", text) == language


def test_digits_are_forgotten_in_very_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number after the same four tokens is common the second time, unless too many others came between."""
    one, other = [" w", " x", " y", " z", "7"], [" a", " b", " c", " d", "8"]
    tokens = [*one, *other, *one, *other]
    digits = [4, 9, 14, 19]
    assert [classify(tokens, "prose")[i] for i in digits] == [R, R, C, C]
    monkeypatch.setattr("clover_sim.streams.classes._CONTEXTS_KEPT", 1)
    assert [classify(tokens, "prose")[i] for i in digits] == [R, R, R, R]
    assert [classify([*one, *one, *other], "prose")[i] for i in digits[:3]] == [R, C, R]
