"""Which streams a command runs over: a profile at several lengths, or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clover_sim.errors import UsageError
from clover_sim.streams.base import Stream
from clover_sim.streams.profiles import open_stream, profile_settings, text_stream, with_seed

DEFAULT_TOKENS = (128, 256, 512, 1024)
"""Lengths of the published pass-count table."""


class Sources:
    """The streams of a comparison: a profile at several lengths, or files (each read and split once)."""

    def __init__(
        self, profile: str, inputs: tuple[str, ...], tokenizer: str, tokens: Sequence[int] | None, allow_long: bool
    ) -> None:
        for n in tokens or ():
            if type(n) is not int or n < 1:
                raise UsageError(f"tokens {n!r}: expected whole numbers of at least 1")
        self._name, self._settings = profile_settings(profile if not inputs else _input_profile(profile))
        self._profile = profile
        self._texts: list[Any] = []
        self.described: list[dict[str, Any]] = []
        if not inputs:
            self.lengths = list(tokens or DEFAULT_TOKENS)
            self.label = profile
            return
        from clover_sim.streams.files import load_text, text_tokens

        most = max(tokens) if tokens else None
        self.lengths = []
        for source in inputs:
            loaded = load_text(source, max_tokens=most, allow_long=allow_long)
            text = text_tokens(loaded, tokenizer, most)
            self.described.append(
                {"name": loaded.name, "sha256": loaded.sha256, "tokens": len(text.tokens), "language": loaded.language}
            )
            for n in tokens or (len(text.tokens),):
                if n > len(text.tokens):
                    raise UsageError(f"--tokens {n}: {loaded.name} has only {len(text.tokens)} tokens; give fewer")
                self._texts.append(replace(text, tokens=text.tokens[:n], classes=text.classes[:n]))
                self.lengths.append(n)
        self.label = "input"

    def open(self, index: int, seed: int | None) -> Stream:
        if not self._texts:
            return open_stream(self._profile, self.lengths[index], seed)
        settings = self._settings if seed is None else with_seed(self._settings, seed)
        return text_stream(self._texts[index], settings)


def _input_profile(profile: str) -> str:
    """Files always use classed physics; the default profile's name stands for its defaults."""
    return "tool-call" if profile == "reference" else profile
