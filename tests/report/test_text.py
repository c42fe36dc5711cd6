"""Texts on a terminal: harmless, measured, wrapped."""

from __future__ import annotations

import pytest

from clover_sim.report._text import clean, clip, display_width, pad, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\x9b31m", "\\x9b31m"),
        ("exe\u202egpj", "exe\\u202egpj"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\udcff", "\\udcff"),
        ("故乡 café", "故乡 café"),
    ],
)
def test_clean(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("故乡", 4), ("é", 1), ("e\u0301", 1), ("ｱ", 1), ("Ａ", 2)]
)
def test_display_width(text, width):
    assert display_width(text) == width


def test_pad_and_clip_count_columns():
    assert pad("故", 4) == "故  " and pad("故", 4, right=True) == "  故"
    assert clip("故乡故乡", 5) == "故乡~" and display_width(clip("故乡故乡", 4)) <= 4


@pytest.mark.parametrize("width", [2, 5, 11, 40])
@pytest.mark.parametrize(
    "text",
    ["one two three", "averyveryverylongword and more", "故乡故乡故乡故乡 故乡", "", "- note with a_long_name_in_it"],
)
def test_wrap_fits_and_loses_no_character(text, width):
    lines = wrap(text, width)
    assert all(display_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
