"""SGLang's ``meta_info`` of a response: ``spec_verify_ct`` passes wrote ``completion_tokens``."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._reader import Base, Outcome
from clover_sim.logs._section import Section, ratio
from clover_sim.logs._text import real

MARKS = ()


class Reader(Base):
    """Adds up responses."""

    def __init__(self) -> None:
        self._lines = 0
        self._passes = self._tokens = self._accepted = self._drafted = self._seconds = 0.0
        self._counted = True

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A response of ``/generate``."""
        meta = document.get("meta_info") if isinstance(document.get("meta_info"), dict) else document
        if not isinstance(meta, dict) or "spec_verify_ct" not in meta:
            return None
        passes, tokens = real(meta["spec_verify_ct"]), real(meta.get("completion_tokens"))
        if not passes or tokens is None:
            return "a response without verify passes"
        self._lines += lines
        self._passes += passes
        self._tokens += tokens
        drafted = real(meta.get("spec_draft_token_num"))
        accepted = real(meta.get("spec_accept_token_num"))
        self._counted &= drafted is not None
        self._drafted += drafted or 0.0
        self._accepted += tokens - passes if accepted is None else accepted
        self._seconds += real(meta.get("e2e_latency")) or 0.0
        return True

    def sections(self) -> list[Section]:
        """All responses together."""
        if not self._lines:
            return []
        drafted = self._drafted if self._counted else None
        k = ratio(drafted, self._passes)
        return [
            Section(
                engine="sglang", format="SGLang response meta_info", lines_read=self._lines, lines_used=self._lines,
                cycles=self._passes, passes=self._passes, output_tokens=self._tokens, draft_tokens=drafted,
                accepted_tokens=self._tokens - self._passes,
                num_speculative_tokens=round(k) if k and abs(k - round(k)) < 1e-6 else None,
                acceptance_rate=ratio(self._tokens - self._passes, drafted),
                acceptance_length=ratio(self._tokens, self._passes), tokens_per_pass=ratio(self._tokens, self._passes),
                user_tokens_per_s=ratio(self._tokens, self._seconds),
                conventions=("acceptance length = completion tokens / verify passes: the bonus token is included",),
            )
        ]  # fmt: skip
