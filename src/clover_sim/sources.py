"""Which streams a command runs over: a profile at several lengths, or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clover_sim.errors import UsageError
from clover_sim.streams.base import Stream
from clover_sim.streams.profiles import PROFILES, open_stream, profile_settings, with_seed

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
        if inputs and profile == "reference":
            profile = "tool-call"  # the default; any text profile's physics serve any text
        name, self._settings = profile_settings(profile)
        self.profile = profile
        self._read = PROFILES[name].read
        if inputs and self._read is None:
            raise UsageError(f"--profile {name} is a stream of its own; with --input choose a text profile or context")
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
            return open_stream(self.profile, self.lengths[index], seed)
        settings = self._settings if seed is None else with_seed(self._settings, seed)
        assert self._read is not None
        return self._read(self._texts[index], settings)
