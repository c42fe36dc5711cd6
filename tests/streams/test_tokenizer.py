"""The splitter: exact round trips, counts near those of real vocabularies, linear work, no surprises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clover_sim
from clover_sim.errors import UsageError
from clover_sim.streams import tokenizer
from clover_sim.streams.tokenizer import VOCABULARIES, iterate, tokenize
from clover_sim.streams.wordpieces import Lexicon, Splitter

SAMPLES = Path(__file__).parent / "samples"

# (Qwen, o200k) token counts of these exact files, measured with the published vocabularies and split patterns.
MEASURED = {
    "calls.json": (1437, 1173),
    "market.txt": (385, 477),
    "messages.jsonl": (2634, 2397),
    "notes.tex": (712, 712),
    "page.html": (718, 708),
    "server.log": (2273, 1673),
    "shelf.py": (785, 767),
    "story.txt": (352, 347),
    "tool.min.js": (1973, 1892),
}

ADVERSARIAL = {
    "one letter": "a" * 200_000,
    "one mark": "_" * 200_000,
    "blanks": " " * 200_000,
    "blanks and line ends": " \n" * 100_000,
    "carriage returns": "\r" * 1000 + "\r\n" * 1000,
    "quotes": "\"'" * 50_000,
    "letters and digits": "ab9" * 60_000,
    "ideographs": "字" * 100_000,
    "accents": "é" * 100_000,
    "combining accents": "e\u0301" * 50_000,
    "mixed marks": "-=_" * 50_000,
    "contractions": "'s't'll" * 20_000,
    "surrogates": "\ud83d\udc00 \ud83d" * 1000,
    "emoji": "👩‍👩‍👧 😀🎉" * 2000,
    "controls": "".join(map(chr, range(32))) * 100,
    "every plane": "".join(chr(code) for code in range(0, 0x110000, 97)),
    "empty": "",
}


def read(name: str) -> str:
    return (SAMPLES / name).read_bytes().decode("utf-8")


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("name", sorted(MEASURED))
def test_count_is_near_the_real_one(name: str, vocabulary: str) -> None:
    text = read(name)
    measured = MEASURED[name][VOCABULARIES.index(vocabulary)]
    count = len(tokenize(text, vocabulary))
    note = f"{name}, {vocabulary}: {count} tokens, measured {measured}, characters/4 = {len(text) / 4:.0f}"
    print(note)
    assert abs(count / measured - 1) < 0.10, note


def test_characters_by_four_would_not_do() -> None:
    worst = max(abs(len(read(name)) / 4 / measured[0] - 1) for name, measured in MEASURED.items())
    assert worst > 0.5, f"characters/4 is off by up to {worst:.0%}, so that the splitter would not be needed"


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("name", sorted(MEASURED))
def test_pieces_of_files_join_to_the_text(name: str, vocabulary: str) -> None:
    text = read(name)
    pieces = tokenize(text, vocabulary)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("kind", sorted(ADVERSARIAL))
def test_pieces_of_odd_text_join_to_the_text(kind: str, vocabulary: str) -> None:
    text = ADVERSARIAL[kind]
    pieces = tokenize(text, vocabulary)
    assert "".join(pieces) == text
    assert all(pieces)
    assert max(map(len, pieces), default=0) <= 64


def test_digits_stand_alone_or_in_threes() -> None:
    assert tokenize("31415926") == list("31415926")
    assert tokenize("31415926", "o200k") == ["314", "159", "26"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the house", ["the", " house"]),
        ('{"name": "x"}', ['{"', "name", '":', ' "', "x", '"}']),
        ("self.name = None\n", ["self", ".name", " =", " None", "\n"]),
        ("        return", ["       ", " return"]),
        ("I don't", ["I", " don", "'t"]),
        ("getElement", ["get", "Element"]),
        ("a\n\n\nb", ["a", "\n\n\n", "b"]),
        ("----------", ["----------"]),
        ("</div>", ["</", "div", ">"]),
    ],
)
def test_common_shapes(text: str, pieces: list[str]) -> None:
    assert tokenize(text) == pieces


def test_contractions_stay_with_the_word_in_one_vocabulary() -> None:
    assert tokenize("they don't", "o200k") == ["they", " don't"]
    assert tokenize("they don't") == ["they", " don", "'t"]


def test_escapes_split_as_letters_and_digits() -> None:
    assert tokenize(r"\ud83d") == ["\\", "ud", "8", "3", "d"]
    assert tokenize(r"\u00e9") == ["\\u", "0", "0", "e", "9"]


def test_chinese_is_counted_by_words_and_characters() -> None:
    text = read("market.txt")
    for vocabulary, low, high in (("qwen", 0.6, 0.85), ("o200k", 0.75, 1.0)):
        assert low < len(tokenize(text, vocabulary)) / len(text) < high


def test_identifiers_break_finer_than_words() -> None:
    identifier, words = "xqJ7vRk2mZpW9bTn", "something between"
    assert len(tokenize(identifier)) > 3 * len(tokenize(words))


def test_limit_gives_a_prefix() -> None:
    text = read("story.txt")
    assert tokenize(text, limit=50) == tokenize(text)[:50]
    assert tokenize(text, limit=0) == []


def test_long_texts_split_as_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MEASURED:
        text = read(name)
        for vocabulary in VOCABULARIES:
            whole = tokenize(text, vocabulary)
            with monkeypatch.context() as patch:
                patch.setattr(tokenizer, "_CHUNK_CHARS", 37)
                assert list(iterate(text, vocabulary)) == whole, (name, vocabulary)


def test_full_cache_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = read("shelf.py")
    whole = tokenize(text)
    monkeypatch.setattr(tokenizer, "_CACHE_ENTRIES", 5)
    tokenizer._machine.cache_clear()
    assert tokenize(text) == whole
    assert len(tokenizer._machine("qwen")[1]) <= 5
    tokenizer._machine.cache_clear()


def test_unknown_vocabulary_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown vocabulary 'qwem'; did you mean 'qwen'"):
        tokenize("x", "qwem")


class Counting(frozenset[str]):
    """A set that counts look-ups."""

    looked_up = 0

    def __contains__(self, item: object) -> bool:
        Counting.looked_up += 1
        return super().__contains__(item)


@pytest.mark.parametrize("unit", ["a", "Ab", "字", "é", "-=", "qZx", "a字", '"}', "ß"])
def test_work_grows_with_the_length_and_no_faster(unit: str) -> None:
    plain = Lexicon.load()
    counting = Lexicon(
        *(Counting(getattr(plain, name)) for name in ("spaced", "bare", "core", "parts", "marks", "han", "han_qwen"))
    )
    work = []
    for repeats in (2_000, 4_000):
        Counting.looked_up = 0
        splitter = Splitter(counting, "qwen")
        assert "".join(splitter.split(unit * repeats)) == unit * repeats
        work.append(Counting.looked_up)
    assert work[1] <= 2.1 * work[0] + 50
    assert work[1] <= 30 * 4_000 * len(unit)


def test_import_reads_no_word_list() -> None:
    code = "import sys, clover_sim.streams.tokenizer; print([m for m in sys.modules if 'lexicon' in m])"
    assert run(code, "0") == "[]\n"


def test_the_hash_seed_changes_nothing() -> None:
    code = (
        "import hashlib, pathlib\n"
        "from clover_sim.streams.tokenizer import tokenize\n"
        "from clover_sim.streams.classes import classify\n"
        "from clover_sim.streams.synthetic import SYNTHETIC, synthetic_tokens\n"
        "h = hashlib.sha256()\n"
        f"for path in sorted(pathlib.Path({str(SAMPLES)!r}).iterdir()):\n"
        "    for vocabulary in ('qwen', 'o200k'):\n"
        "        tokens = tokenize(path.read_text('utf-8'), vocabulary)\n"
        "        h.update(repr(tokens).encode()); h.update(classify(tokens, 'python'))\n"
        "for profile in SYNTHETIC:\n"
        "    h.update(repr(synthetic_tokens(profile, 5, 2000)).encode())\n"
        "print(h.hexdigest())"
    )
    assert run(code, "1") == run(code, "4242")


def run(code: str, hash_seed: str) -> str:
    source = str(Path(clover_sim.__file__).parents[1])
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=120
    ).stdout
