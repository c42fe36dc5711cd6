"""llama-bench's table and JSON: the speed of plain decoding, ``tgN``; its prompt and mixed tests are passed over."""

from __future__ import annotations

import re
from typing import Any

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import Identity, Section
from clover_sim.logs._text import number, real

MARKS = ("\u00b1",)

_ROW = re.compile(r"\|\s*(tg\d{1,7}(?: @ d\d{1,8})?)\s*\|\s*([\d.]+)\s*\u00b1\s*[\d.]+\s*\|?$")
_MOST = 1000


class Reader(Base):
    """One section a test."""

    WRITER = "llama.cpp"

    def __init__(self) -> None:
        self._tests: list[tuple[str, float, int]] = []

    def line(self, line: Line) -> Outcome:
        """A row of the table: its last two cells are the test and its speed."""
        found = _ROW.search(line.text)
        return self._add(found[1], number(found[2]), 1) if found else None

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A test as JSON."""
        if "avg_ts" not in document or "n_gen" not in document or "n_prompt" not in document:
            return None
        tokens, prompt = real(document["n_gen"]), real(document["n_prompt"])
        if not tokens or prompt:
            return "a llama-bench test of prompts, not of decoding alone"
        depth = real(document.get("n_depth"))
        return self._add(f"tg{tokens:.0f}" + (f" @ d{depth:.0f}" if depth else ""), real(document["avg_ts"]), lines)

    def _add(self, test: str, speed: float | None, lines: int) -> Outcome:
        if not speed or len(self._tests) >= _MOST:
            return "a llama-bench test without a speed, or one too many"
        self._tests.append((test, speed, lines))
        return True

    def sections(self) -> list[Section]:
        """One a test."""
        return [
            Section(
                engine="llama.cpp", format=f"llama-bench {test}", lines_read=lines, lines_used=lines,
                speculative=False, generation_tokens_per_s=speed, user_tokens_per_s=speed, running_requests=1.0,
                conventions=("plain decoding of one sequence, without server or prompt",),
                identities=(Identity("step time", 1 / speed, None, "s", "one token a step"),),
            )
            for test, speed, lines in self._tests
        ]  # fmt: skip
