"""SGLang's ``meta_info`` of a response, or of a request it logs: ``spec_verify_ct`` passes, ``completion_tokens``."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._literal import value_at
from clover_sim.logs._reader import CUT_OFF, STREAMED, Base, Line, Outcome
from clover_sim.logs._section import Section, Survival, ratio
from clover_sim.logs._text import real

MARKS = ("'spec_verify_ct':", "'spec_accept_length':")

_SAYS = {"spec_verify_ct", "spec_accept_length"}
_DRAFTED = ("spec_draft_token_num", "spec_num_proposed_drafts")
_HISTOGRAMS = ("spec_accept_histogram", "spec_acceptance_histogram", "spec_correct_drafts_histogram")
"""Entry n: the passes that accepted n drafts, by the names of the releases."""


class Reader(Base):
    """Adds up responses."""

    WRITER = "SGLang"

    def __init__(self) -> None:
        self._lines = 0
        self._passes = self._tokens = self._drafted = self._seconds = 0.0
        self._counted = True
        self._survival = Survival()

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A response of ``/generate``."""
        meta = document.get("meta_info") if isinstance(document.get("meta_info"), dict) else document
        if not isinstance(meta, dict) or not _SAYS & meta.keys():
            return None
        return self._add(meta, lines)

    def line(self, line: Line) -> Outcome:
        """A ``Finish:`` line (``--log-requests``), which prints the same as a Python value."""
        at = line.text.find("'meta_info': {")
        meta = value_at(line.text, at + len("'meta_info': ")) if at >= 0 else None
        if not isinstance(meta, dict):
            return None
        return self._add(meta, 1) if _SAYS & meta.keys() else CUT_OFF

    def _add(self, meta: dict[str, Any], lines: int) -> Outcome:
        if "finish_reason" in meta and meta["finish_reason"] is None:
            return STREAMED  # its counts grow until the last part
        passes, tokens = real(meta.get("spec_verify_ct")), real(meta.get("completion_tokens"))
        if passes is None and tokens:
            passes = ratio(tokens, real(meta.get("spec_accept_length")))
        if not passes or tokens is None:
            return "a response without verify passes"
        self._lines += lines
        self._passes += passes
        self._tokens += tokens
        drafted = next((value for name in _DRAFTED if (value := real(meta.get(name))) is not None), None)
        self._counted &= drafted is not None
        self._drafted += drafted or 0.0
        self._seconds += real(meta.get("e2e_latency")) or 0.0
        for name in _HISTOGRAMS:
            counts = meta.get(name)
            if isinstance(counts, list) and counts and all(type(n) is int and n >= 0 for n in counts) and sum(counts):
                total = sum(counts)
                self._survival.add(total, [sum(counts[i:]) / total for i in range(1, len(counts))])
                break
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
                user_tokens_per_s=ratio(self._tokens, self._seconds), per_position_survival=self._survival.pooled(),
                conventions=("acceptance length = completion tokens / verify passes: the bonus token is included",),
            )
        ]  # fmt: skip
