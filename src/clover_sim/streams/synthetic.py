"""Synthetic profiles: endless text from seeded grammars, split and classified like any file.

A profile's text is a row of records (a call, a function, a paragraph, a worked problem). Record ``i`` is drawn from its
own substream, so that the first n tokens are the same whatever length is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import count as count_from

from clover_sim.errors import UsageError, suggest
from clover_sim.rng import substream
from clover_sim.streams.files import TokenText
from clover_sim.streams.grammars import GRAMMARS

SYNTHETIC = tuple(GRAMMARS)
"""Names that :func:`synthetic_tokens` takes."""

Draw = Callable[[], float]
"""A source of uniform numbers in [0, 1)."""


def synthetic_record(profile: str, seed: int, index: int) -> str:
    """Return record ``index`` of a profile's text, closing line end included.

    Raises:
        UsageError: for an unknown profile.

    >>> synthetic_record("tool-call", 1, 0)[:9]
    '{"name": '
    """
    return _grammar(profile)(substream(seed, f"text/{profile}/{index}").random, index)


def synthetic_tokens(profile: str, seed: int, count: int, vocabulary: str = "qwen") -> TokenText:
    """Return the first ``count`` tokens of a profile's text under ``seed``, with their classes.

    Args:
        profile: one of :data:`SYNTHETIC`.
        seed: any whole number; another seed is another text of the same kind.
        count: how many tokens, at least 1. The stream of n tokens begins every longer one.
        vocabulary: whose splitting to follow, see :func:`clover_sim.streams.tokenizer.tokenize`.

    Raises:
        UsageError: for an unknown profile or vocabulary, or a count below 1.

    >>> text = synthetic_tokens("math", 3, 40)
    >>> len(text.tokens), len(text.classes), text.tokens == synthetic_tokens("math", 3, 99).tokens[:40]
    (40, 40, True)
    """
    from clover_sim.streams.classes import classify
    from clover_sim.streams.tokenizer import tokenize

    if count < 1:
        raise UsageError(f"{count} tokens: expected a whole number of at least 1")
    grammar = _grammar(profile)
    tokens: list[str] = []
    for index in count_from():
        if len(tokens) >= count:
            break
        # A record ends with a line end and the next begins with a letter or a brace: both split on their own.
        tokens += tokenize(grammar(substream(seed, f"text/{profile}/{index}").random, index), vocabulary)
    del tokens[count:]
    language = GRAMMARS[profile].language
    return TokenText(profile, language, tuple(tokens), classify(tokens, language))


@cache
def _grammar(profile: str) -> Callable[[Draw, int], str]:
    if profile not in GRAMMARS:
        raise UsageError(f"unknown profile {profile!r}{suggest(profile, SYNTHETIC)}")
    record: Callable[[Draw, int], str] = import_module(f"clover_sim.streams.{GRAMMARS[profile].module}").record
    return record
