"""Languages and token classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.records import TokenClass
from clover_sim.streams.classes import LANGUAGES, classify, detect_language
from clover_sim.streams.tokenizer import tokenize

SAMPLES = Path(__file__).parent / "samples"

S, C, R = TokenClass.STRUCTURAL, TokenClass.COMMON, TokenClass.RARE


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("calls.json", "jsonl"),
        ("messages.jsonl", "jsonl"),
        ("page.html", "html"),
        ("notes.tex", "latex"),
        ("shelf.py", "python"),
        ("tool.min.js", "javascript"),
        ("server.log", "log"),
        ("market.txt", "chinese"),
        ("story.txt", "prose"),
    ],
)
def test_language_of_the_samples(name: str, language: str) -> None:
    text = (SAMPLES / name).read_text("utf-8")
    assert detect_language(name, text) == language
    assert detect_language("-", text) == language, "from the text alone"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "prose"),
        ("\n\n", "prose"),
        ('{\n  "a": [1, 2]\n}\n', "json"),
        ('[{"a": 1}]', "json"),
        ("<svg xmlns='x'></svg>", "html"),
        ("#!/bin/sh\necho hello\n", "code"),
        ("#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("package main\n\nfunc main() {}\n", "code"),
        ("12:30 lunch is served\n", "log"),
        ("The clock said a:b and nothing else.", "prose"),
    ],
)
def test_language_from_the_text(text: str, language: str) -> None:
    assert detect_language("-", text) == language


@pytest.mark.parametrize("suffix", ["go", "rs", "java", "c", "sh"])
def test_source_code_by_suffix(suffix: str) -> None:
    assert detect_language(f"dir.d/main.{suffix.upper()}", "anything") == "code"


def kinds(tokens: list[str], language: str) -> list[TokenClass]:
    return [TokenClass(value) for value in classify(tokens, language)]


def test_json_signs_are_structural() -> None:
    tokens = ['{"', "city", '":', ' "', "Oslo", '",', ' "', "city", '":', ' "', "Turku", '"}\n', "    "]
    assert kinds(tokens, "json") == [S, R, S, S, R, S, S, C, S, S, R, S, S]


def test_words_of_the_language_are_structural_there_only() -> None:
    assert kinds([" return", " lambda"], "python") == [S, S]
    assert S not in kinds([" return", " lambda"], "prose")
    assert kinds(["INFO", "\\", "begin"], "log")[0] == S
    assert kinds(["\\", "begin", "{"], "latex") == [S, S, S]
    assert kinds(["</", "nav", ">", " nav"], "html") == [S, S, S, R]


def test_second_time_is_common() -> None:
    assert kinds([" zebra", " zebra", ".", " zebra"], "prose") == [R, C, S, C]
    assert kinds([" the", " and"], "prose") == [C, C]


def test_digits_are_common_only_where_they_repeat() -> None:
    stamp = ["[", "2", "0", "2", "1", "-"]
    first, second = kinds(stamp * 2, "log")[:6], kinds(stamp * 3, "log")[12:]
    assert first == [S, R, R, R, R, S]
    assert second == [S, C, C, C, C, S]
    assert kinds(["7", "1", "7", "3", "7", "9", "7"], "prose") == [R] * 7


@pytest.mark.parametrize("language", [*LANGUAGES, "unheard of"])
def test_one_class_a_token_and_no_padding(language: str) -> None:
    tokens = tokenize((SAMPLES / "shelf.py").read_text("utf-8"))
    classes = classify(tokens, language)
    assert len(classes) == len(tokens)
    assert set(classes) <= {S, C, R}


def test_a_class_depends_on_what_came_before_only() -> None:
    tokens = tokenize((SAMPLES / "server.log").read_text("utf-8"))
    whole = classify(tokens, "log")
    for size in (0, 1, 7, 500):
        assert classify(tokens[:size], "log") == whole[:size]


def test_shares_are_plausible() -> None:
    for name, low, high in (("calls.json", 0.3, 0.6), ("shelf.py", 0.4, 0.7), ("story.txt", 0.08, 0.25)):
        text = (SAMPLES / name).read_text("utf-8")
        classes = classify(tokenize(text), detect_language(name, text))
        assert low < classes.count(S) / len(classes) < high, name
        assert classes.count(R) and classes.count(C), name
