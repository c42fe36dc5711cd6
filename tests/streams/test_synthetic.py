"""Synthetic profiles: exact lengths, prefixes, and text that is what it says."""

from __future__ import annotations

import ast
import json
import re
from fractions import Fraction

import pytest

from clover_sim.errors import UsageError
from clover_sim.records import TokenClass
from clover_sim.streams.synthetic import SYNTHETIC, synthetic_record, synthetic_tokens
from clover_sim.streams.tokenizer import VOCABULARIES, tokenize


def text_of(profile: str, seed: int, records: int) -> str:
    return "".join(synthetic_record(profile, seed, index) for index in range(records))


@pytest.mark.parametrize("profile", SYNTHETIC)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_exact_length_and_prefix(profile: str, vocabulary: str) -> None:
    long = synthetic_tokens(profile, 3, 4000, vocabulary)
    assert len(long.tokens) == len(long.classes) == 4000
    for count in (1, 2, 63, 1000, 3999):
        short = synthetic_tokens(profile, 3, count, vocabulary)
        assert short.tokens == long.tokens[:count]
        assert short.classes == long.classes[:count]


@pytest.mark.parametrize("profile", SYNTHETIC)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_records_split_as_one_text(profile: str, vocabulary: str) -> None:
    whole = tuple(tokenize(text_of(profile, 11, 300), vocabulary))
    assert synthetic_tokens(profile, 11, len(whole), vocabulary).tokens == whole


@pytest.mark.parametrize("profile", SYNTHETIC)
def test_seeds_differ_and_repeat(profile: str) -> None:
    one = synthetic_tokens(profile, 1, 500)
    assert one == synthetic_tokens(profile, 1, 500)
    assert one.tokens != synthetic_tokens(profile, 2, 500).tokens
    assert one.name == profile


def test_every_call_is_json() -> None:
    text = "".join(synthetic_tokens("tool-call", 8, 40_000).tokens)
    lines = text.split("\n")[:-1]
    calls = [json.loads(line) for line in lines]
    assert all(set(call) in ({"name", "arguments"}, {"name", "arguments", "id"}) for call in calls)
    assert len({call["name"] for call in calls}) >= 12
    values = [value for call in calls for value in call["arguments"].values()]
    assert {type(value) for value in values} >= {str, int, float, bool, list, dict, type(None)}
    assert len(set(lines)) > 0.97 * len(lines), "calls must not repeat"


def test_code_compiles() -> None:
    for seed in range(20):
        text = text_of("code", seed, 120)
        compile(ast.parse(text), "synthetic", "exec")
    assert len(set(re.findall(r"def (\w+)", text_of("code", 0, 400)))) > 200


def test_arithmetic_is_right() -> None:
    checked = 0
    for seed in range(5):
        for line in text_of("math", seed, 400).split("\n"):
            for part in re.split(r": |, |\. |\.$|;", line):
                sides = part.split(" = ")
                values = [value for side in sides if (value := evaluate(side)) is not None]
                if len(values) > 1:
                    checked += 1
                    assert len(set(values)) == 1, line
    assert checked > 3000


def evaluate(side: str) -> Fraction | None:
    """Exact value of the arithmetic at the end of the first, or the start of a later, side."""
    found = re.search(r"(?<![\w.%])[-(\d][-+*/() \d]*$", side) or re.match(r"[-(\d][-+*/() \d]*", side)
    if re.search(r"\dx\b", side):
        return None  # an unknown
    if not found or re.search(r"[a-z]", side[found.start() :]):
        return None
    expression = found.group().strip()
    try:
        if "//" in expression:
            return Fraction(eval(expression, {"__builtins__": {}}))
        return Fraction(eval(re.sub(r"(\d+)", r"F(\1)", expression), {"__builtins__": {}, "F": Fraction}))
    except SyntaxError:
        return None


def test_prose_has_variety() -> None:
    text = text_of("chat", 4, 800)
    sentences = re.split(r"(?<=[.?!])\s+", text)
    assert len(set(sentences)) > 0.85 * len(sentences)
    assert len(set(re.findall(r"[a-z]+", text.lower()))) > 500
    assert not re.search(r"\b[Aa] [aeio]", text), "articles"
    assert "{" not in text and "}" not in text


@pytest.mark.parametrize(
    ("profile", "structural", "rare"),
    [
        ("tool-call", (0.35, 0.55), (0.08, 0.30)),
        ("code", (0.40, 0.60), (0.02, 0.30)),
        ("chat", (0.10, 0.25), (0.02, 0.30)),
        ("math", (0.25, 0.50), (0.03, 0.40)),
    ],
)
def test_shares_are_plausible(profile: str, structural: tuple[float, float], rare: tuple[float, float]) -> None:
    for count in (2_000, 60_000):
        classes = synthetic_tokens(profile, 1, count).classes
        assert structural[0] < classes.count(TokenClass.STRUCTURAL) / count < structural[1]
        assert rare[0] < classes.count(TokenClass.RARE) / count < rare[1]


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'tool-call'"):
        synthetic_tokens("toolcall", 1, 10)
    with pytest.raises(UsageError, match="did you mean 'chat'"):
        synthetic_record("chatt", 1, 0)
    for count in (0, -5):
        with pytest.raises(UsageError, match="at least 1"):
            synthetic_tokens("chat", 1, count)
    with pytest.raises(UsageError, match="unknown vocabulary"):
        synthetic_tokens("chat", 1, 10, "gpt2")
