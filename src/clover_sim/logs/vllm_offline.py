"""What vLLM's ``examples/offline_inference/spec_decode.py`` and its predecessors print after a run.

Newer ones print counts and ``acceptance at token i``; the oldest printed the bonus token as token 0 (always 1.00).
One variant counts ``num_tokens_generated_without_sd``: tokens of passes that had no draft, one each. Another prints a
framed table ``Speculative Decoding Stats``.
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Identity,
    Section,
    counted,
    length,
    ratio,
)
from clover_sim.logs._text import number

_NAMES = {
    "total_num_output_tokens": "output",
    "total output tokens": "output",
    "num_drafts": "drafts",
    "number of drafts": "drafts",
    "num_draft_tokens": "drafted",
    "draft tokens generated": "drafted",
    "num_accepted_tokens": "accepted",
    "accepted tokens": "accepted",
    "mean acceptance length": "length",
    "mean acceptance length (including bonus tokens)": "length",
    "num_tokens_generated_without_sd": "without",
    "output token throughput (tok/s)": "speed",
    "output_throughput": "speed",
    "draft utilization rate": "utilisation",
    "seq normalized acceptance length": "normalised",
}
MARKS = (
    "total_num_output_tokens", "num_drafts", "num_draft_tokens", "num_accepted_tokens", "ean acceptance length",
    "num_tokens_generated_without_sd", "acceptance at token", "Speculative Decoding Stats", "Number of drafts:",
    "Draft tokens generated:", "seq normalized acceptance length", "output_throughput:",
)  # fmt: skip

_ROW = re.compile(r"([A-Za-z_][\w ()/]*?):\s*([-+.\w]+)(?: tokens/s)?$")
_TOKEN = re.compile(r"acceptance at token (\d{1,4}):\s*([\d.]+|nan)$")
_STARTS = ("output", "drafts", "length")


class Reader(Base):
    """Collects runs; a figure that comes again begins the next one."""

    WRITER = "vLLM"

    def __init__(self) -> None:
        self._runs: list[dict[str, float]] = []
        self._tokens: list[dict[int, float]] = []
        self._lines: list[int] = []
        self._fresh = True
        self.active = False

    def start(self) -> None:
        """A run does not go on in the next file."""
        self._fresh, self.active = True, False

    def line(self, line: Line) -> Outcome:
        """A row of the summary: nothing but a name and a number."""
        text = line.message
        if "Speculative Decoding Stats" in text and text.startswith("="):
            self._begin()
            self.active = True
            return True
        if self.active and text and set(text) == {"="}:
            self.active = False
            return True
        if found := _TOKEN.match(text):
            if self._fresh or not self._runs:
                self._begin()
            self._tokens[-1][int(found[1])] = number(found[2]) or 0.0
            self._lines[-1] += 1
            return True
        found = _ROW.match(text)
        key = _NAMES.get(found[1].lower()) if found else None
        if found is None or key is None:
            return None
        if self._fresh or not self._runs or key in self._runs[-1]:
            if key not in _STARTS:
                return None
            self._begin()
        value = number(found[2])
        if value is not None:
            self._runs[-1][key] = value
        self._lines[-1] += 1
        return True

    def _begin(self) -> None:
        self._runs.append({})
        self._tokens.append({})
        self._lines.append(0)
        self._fresh = False

    def sections(self) -> list[Section]:
        """One a run that says anything about drafts."""
        together = zip(self._runs, self._tokens, self._lines, strict=True)
        return [_section(run, tokens, lines) for run, tokens, lines in together if {"drafts", "length"} & run.keys()]


def _section(run: dict[str, float], tokens: dict[int, float], lines: int) -> Section:
    drafts, drafted, accepted = run.get("drafts"), run.get("drafted"), run.get("accepted")
    output, without = run.get("output"), run.get("without")
    measured = length(accepted, drafts)
    conventions, identities = [OVER_DRAFTED, WITH_BONUS, SURVIVAL], []
    survival = [tokens[i] for i in sorted(tokens)]
    printed = run.get("length")
    if measured is None and drafts is None:
        measured = printed
    k = (
        round(drafted / drafts)
        if drafts and drafted and abs(drafted / drafts - round(drafted / drafts)) < 1e-6
        else None
    )
    if (
        len(survival) > 1
        and survival[0] >= 0.995
        and (k == len(survival) - 1 or (measured is not None and abs(sum(survival) - measured) < 0.3))
    ):
        survival = survival[1:]
        conventions.append("the row of token 0 is the bonus token (always 1.00) and was left out")
    k = len(survival) or k
    if survival and measured:
        identities.append(Identity("acceptance length", 1 + sum(survival), measured, "", "1 + sum of the positions"))
    per_pass = passes = None
    if without is not None and drafts is not None:
        passes = drafts + without
        per_pass = ratio(output if output is not None else drafts + (accepted or 0.0) + without, passes)
        conventions.append("tokens generated without speculation come from passes without a draft, one each")
        if run.get("normalised"):
            how = "output tokens / (cycles + passes without a draft)"
            identities.append(Identity("tokens per pass", per_pass or 0.0, run["normalised"], "", how))
    elif measured is not None:
        per_pass = measured
        conventions.append(NO_PLAIN_PASSES)
    return counted(
        "vllm",
        "vLLM offline script",
        (lines, lines),
        cycles=drafts,
        drafted=drafted,
        accepted=accepted,
        length=measured,
        k=k,
        survival=None if drafts == 0 else survival,
        passes=passes,
        output_tokens=output,
        tokens_per_pass=per_pass,
        generation_tokens_per_s=run.get("speed"),
        conventions=tuple(conventions),
        identities=tuple(identities),
    )
